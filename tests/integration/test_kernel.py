"""The kernel's promises: tenants never see each other, history cannot be changed, work is done once."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from ats.models import Job
from ats.permissions import AtsAction, AtsTag
from nekibu.audit.chain import verify_chain
from nekibu.audit.models import AuditEvent
from nekibu.audit.record import record
from nekibu.errors import NotSignedIn
from nekibu.jobs import leases
from nekibu.jobs.models import Outbox
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import Denied, decide
from nekibu.tenants.scope import CrossTenant, Unscoped, tenant_scope
from nekibu.users.authentication import actor_of_token
from nekibu.users.models import ApiToken, Membership, User
from nekibu.users.services import create_token, revoke_token

pytestmark = pytest.mark.django_db


def make_job(tenant, title="Alıcı"):
    with tenant_scope(tenant.id):
        return Job.objects.create(title_tr=title, title_en=title)


def test_rows_outside_a_scope_are_refused_even_for_a_count():
    with pytest.raises(Unscoped):
        Job.objects.count()


def test_row_security_hides_other_tenants_rows_from_raw_sql(tenant, other_tenant):
    make_job(tenant)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM ats_job")
        assert cursor.fetchone() == (0,)
        with tenant_scope(other_tenant.id):
            cursor.execute("SELECT count(*) FROM ats_job")
            assert cursor.fetchone() == (0,)
        with tenant_scope(tenant.id):
            cursor.execute("SELECT count(*) FROM ats_job")
            assert cursor.fetchone() == (1,)
        cursor.execute("SELECT count(*) FROM ats_job")
        assert cursor.fetchone() == (0,)


def test_every_tenant_table_has_forced_row_security():
    from django.apps import apps

    from nekibu.tenants.models import TenantModel

    tables = [m._meta.db_table for m in apps.get_models() if issubclass(m, TenantModel)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relrowsecurity AND relforcerowsecurity")
        guarded = {row[0] for row in cursor.fetchall()}
        cursor.execute("SELECT tableowner, current_user FROM pg_tables WHERE tablename = 'ats_job'")
        owner, user = cursor.fetchone()
    assert len(tables) > 15
    assert set(tables) <= guarded
    assert owner != user == "nekibu_app"


def test_a_row_of_one_tenant_cannot_be_saved_in_the_scope_of_another(tenant, other_tenant):
    job = make_job(tenant)
    with tenant_scope(other_tenant.id), pytest.raises(CrossTenant):
        job.save()
    with tenant_scope(tenant.id), pytest.raises(CrossTenant), tenant_scope(other_tenant.id):
        pass


def test_audit_rows_cannot_be_changed_and_the_chain_notices_a_forgery(tenant):
    actor = Actor.system(tenant.id, "test")
    job = make_job(tenant)
    with tenant_scope(tenant.id):
        for _n in range(3):
            record(actor, AtsTag.JOB_CREATED, job, title="x")
        assert verify_chain().broken_at is None
        assert verify_chain().events == 3
        for change in (
            lambda: AuditEvent.objects.update(payload={}),
            lambda: AuditEvent.objects.all().delete(),
        ):
            with pytest.raises(DatabaseError), transaction.atomic():
                change()
        last = AuditEvent.objects.order_by("-seq").first()
        AuditEvent(
            seq=4,
            at=timezone.now(),
            tag=last.tag,
            actor={},
            subject_type="x",
            subject_id="x",
            prev_hash=last.hash,
            hash="0" * 64,
        ).save()
        assert verify_chain().broken_at == 4


def test_a_token_acts_within_its_scopes_until_it_is_revoked(tenant, other_tenant, person_of):
    recruiter = person_of(tenant, "recruiter")
    user = User.objects.get(pk=recruiter.user_id)
    system = Actor.system(tenant.id, "test")
    with tenant_scope(tenant.id):
        text = create_token(actor=system, user=user, name="ci", scopes=[AtsAction.JOB_READ])
        stored = ApiToken.objects.get()
    assert text not in str(vars(stored))
    actor = actor_of_token(f"Bearer {text}")
    assert (actor.tenant_id, actor.channel) == (tenant.id, "api")
    assert decide(actor, AtsAction.JOB_READ)
    assert decide(actor, AtsAction.JOB_WRITE) == Denied("token_scope")
    assert decide(recruiter, AtsAction.RUBRIC_APPROVE) == Denied("role")
    assert decide(recruiter, AtsAction.JOB_READ, make_job(other_tenant)) == Denied("foreign_tenant")
    with tenant_scope(tenant.id):
        revoke_token(actor=system, token=stored)
    for bad in (f"Bearer {text}", "Bearer nkb_unknown", "Basic x"):
        with pytest.raises(NotSignedIn):
            actor_of_token(bad)


def test_memberships_are_visible_only_to_their_person_before_a_tenant_is_known(tenant, person_of):
    person_of(tenant, "recruiter")
    assert Membership.everywhere.count() == 0


def test_work_is_claimed_once_and_a_zombie_cannot_finish_it(tenant):
    with tenant_scope(tenant.id):
        work = Outbox.objects.create(name="x", actor=Actor.system(tenant.id, "test").to_json())
        first = leases.claim(work.id)
        assert leases.claim(work.id) is None
        Outbox.objects.filter(pk=work.id).update(lease_until=timezone.now() - leases.LEASE)
        second = leases.claim(work.id)
        assert second.fence == first.fence + 1
        assert not leases.finish(first)
        assert leases.finish(second)
        assert leases.claim(work.id) is None
