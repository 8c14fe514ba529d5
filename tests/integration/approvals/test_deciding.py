"""A word counts once, on exactly what was shown, by somebody who may give it; and what is carried out is what was agreed to."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import override_settings
from django.utils import timezone

from nekibu.approvals import services, tasks
from nekibu.approvals.errors import (
    DecidingStopped,
    OtherParameters,
    ParametersNeeded,
    StepUpNeeded,
)
from nekibu.approvals.models import ApprovalRequest, Notice, Verdict
from nekibu.approvals.nonces import LIFE, FormExpired, FormUnknown, FormUsed
from nekibu.approvals.rules import digest
from nekibu.approvals.services.deciding import RECENT
from nekibu.errors import AlreadyDecided, Conflict, Gone, InvalidInput, NotFound, NotPermitted
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from tests.integration.approvals.conftest import LATER


def fresh(request):
    with tenant_scope(request.tenant_id):
        return ApprovalRequest.objects.select_related("superseded_by").get(pk=request.pk)


def words(request):
    with tenant_scope(request.tenant_id):
        return list(Verdict.objects.filter(request=request))


# --- quorum, roles, groups, four eyes --------------------------------------------------------------------------------


def test_what_needs_two_people_is_carried_out_after_the_second_and_once(bank, transfer, person, say, audit):
    ada, ben = person("Ada"), person("Ben")
    request = transfer(quorum=2)
    assert say(ada, request).status == "pending"
    assert bank.done == []
    with pytest.raises(AlreadyDecided) as twice:
        say(ada, request)
    assert (twice.value.error_code, twice.value.status) == ("already_spoken", 409)
    assert say(ben, request).status == "approved"
    assert bank.done == [(request.subject_id, "approve", bank.facts[request.subject_id])]
    with pytest.raises(AlreadyDecided) as late:
        say(person("Can"), request)
    assert (late.value.data["by"], late.value.data["status"]) == ("Ben", "approved")
    assert fresh(request).executed_at is not None
    assert [r.payload["verdict"] for r in audit("approvals:word:given")] == ["approve", "approve"]
    assert len(audit("approvals:request:executed")) == 1


def test_one_rejection_ends_it_however_many_have_agreed(bank, transfer, person, say):
    request = transfer(quorum=3)
    say(person("Ada"), request)
    assert say(person("Ben"), request, "reject").status == "rejected"
    assert [verdict for _subject, verdict, _what in bank.done] == ["reject"]


def test_a_word_can_be_taken_back_until_the_others_have_spoken(bank, transfer, person, say, audit):
    ada, ben, can = person("Ada"), person("Ben"), person("Can")
    request = transfer(quorum=2)
    say(ada, request)
    with tenant_scope(ada.tenant_id):
        services.take_back(actor=ada, approval_id=request.id)
        with pytest.raises(Conflict):
            services.take_back(actor=ada, approval_id=request.id)
    assert say(ben, request).status == "pending"
    assert say(ada, request).status == "approved"  # she may speak again, and counts once
    with tenant_scope(ada.tenant_id), pytest.raises(AlreadyDecided):
        services.take_back(actor=ada, approval_id=request.id)
    assert len(words(request)) == 3  # what was said stays
    assert len(audit("approvals:word:taken_back")) == 1
    assert can


@pytest.mark.parametrize("role", ["recruiter", "hiring_manager"])
def test_another_role_cannot_decide(transfer, person, say, role):
    with pytest.raises(NotPermitted) as refused:
        say(person("Ada", role), transfer())
    assert refused.value.error_code == "wrong_person"


def test_a_group_decides_across_roles(bank, transfer, person, say):
    admin, ada, ben = person("Yönetici", "admin"), person("Ada", "recruiter"), person("Ben", "recruiter")
    with tenant_scope(admin.tenant_id):
        group = services.create_group(actor=admin, key="treasury", name="Hazine")
        services.join_group(actor=admin, group_id=group.id, user_id=ada.user_id)
        with pytest.raises(InvalidInput):
            services.create_group(actor=admin, key="reviewer", name="a role's name")
        with pytest.raises(Conflict):
            services.create_group(actor=admin, key="treasury", name="again")
    request = transfer(roles=["treasury"])
    with pytest.raises(NotPermitted):
        say(ben, request)
    assert say(ada, request).status == "approved"
    other = transfer(roles=["treasury"])
    with tenant_scope(admin.tenant_id):
        services.leave_group(actor=admin, group_id=group.id, user_id=ada.user_id)
    with pytest.raises(NotPermitted):
        say(ada, other)


def test_whoever_asked_does_not_decide_where_four_eyes_are_needed(transfer, person, say):
    ada, boss = person("Ada"), person("Yönetici", "admin")
    with pytest.raises(NotPermitted) as refused:
        say(ada, transfer(ada, four_eyes=True))
    assert refused.value.error_code == "four_eyes"
    with pytest.raises(NotPermitted):
        say(boss, transfer(boss, four_eyes=True))  # not even an administrator
    assert say(ada, transfer(ada, four_eyes=False)).status == "approved"
    assert say(boss, transfer(ada, four_eyes=True)).status == "approved"


def test_nobody_but_a_person_decides(transfer, tenant, say):
    with pytest.raises(NotPermitted):
        say(Actor.system(tenant.id, "worker"), transfer())


# --- changes ---------------------------------------------------------------------------------------------------------


def test_a_change_by_one_is_carried_out_and_kept_as_a_difference_with_its_reason(bank, transfer, person, say):
    request = transfer()
    done = say(person("Ada"), request, "change", value={"amount": "80"}, reason="too much")
    assert done.status == "changed"
    assert bank.done == [(request.subject_id, "change", {"amount": "80"})]
    (word,) = words(request)
    assert word.diff == [{"path": "/amount", "was": "100", "is": "80"}]
    assert (word.params_hash, word.reason) == (request.params_hash, "too much")
    assert word.new_params_hash == digest({**request.parameters, "amount": "80"})


def test_a_change_among_several_is_put_to_all_again_and_the_editor_is_not_among_them(
    bank, transfer, person, say, tenant
):
    ada, ben, can, dan = person("Ada"), person("Ben"), person("Can"), person("Dan")
    request = transfer(quorum=2, four_eyes=True, expires_at=timezone.now() + timedelta(hours=5))
    say(ada, request)
    assert say(ben, request, "change", value={"amount": "80"}).status == "changed"
    assert bank.done == []
    again = fresh(request).superseded_by
    assert (again.parameters["amount"], again.status, again.quorum) == ("80", "pending", 2)
    assert again.params_hash == words(request)[-1].new_params_hash
    assert again.expires_at == request.expires_at  # a change buys no time
    with pytest.raises(NotPermitted) as editor:
        say(ben, again)
    assert editor.value.error_code == "four_eyes"
    assert say(ada, again).status == "pending"  # her first word was about something else
    assert say(can, again).status == "approved"
    assert bank.done == [(request.subject_id, "approve", again.parameters)]
    with tenant_scope(tenant.id):
        told = Notice.objects.get(person_id=ada.user_id, kind="asked_again")
        assert told.facts["by"] == "Ben"
    with pytest.raises(AlreadyDecided):
        say(dan, request)


def test_an_impossible_change_changes_nothing(bank, transfer, person, say):
    request = transfer()
    with pytest.raises(InvalidInput):
        say(person("Ada"), request, "change", value={"amount": "a lot"})
    assert (fresh(request).status, bank.done, words(request)) == ("pending", [], [])


@pytest.mark.parametrize(
    ("more", "field"), [({"reason": "  "}, "reason"), ({"verdict": "perhaps"}, "verdict")]
)
def test_a_word_needs_a_reason_and_a_meaning(transfer, person, say, more, field):
    with pytest.raises(InvalidInput) as refused:
        say(person("Ada"), transfer(), **more)
    assert [e["field"] for e in refused.value.data["errors"]] == [field]


# --- exactly what was shown ------------------------------------------------------------------------------------------


def test_what_has_changed_since_is_void_and_asked_again(bank, transfer, person, say, audit):
    ada = person("Ada")
    request = transfer()
    bank.facts[request.subject_id] = {**request.parameters, "amount": "100000"}
    void = say(ada, request)
    again = fresh(request).superseded_by
    assert (void.status, bank.done, bank.voided) == ("void", [], [request.subject_id])
    assert (again.status, again.parameters["amount"]) == ("pending", "100000")
    assert say(ada, again).status == "approved"
    assert bank.done[-1][2]["amount"] == "100000"
    assert [r.payload["to"] for r in audit("approvals:request:moved")] == ["void", "approved"]


def test_what_is_gone_is_void_and_not_asked_again(bank, transfer, person, say):
    request = transfer()
    bank.facts[request.subject_id] = None
    assert say(person("Ada"), request).status == "void"
    assert getattr(fresh(request), "superseded_by", None) is None
    assert bank.done == []


@pytest.mark.parametrize(
    "tampered",
    [
        {"parameters": {"amount": "999"}},
        {"quorum": 1},
        {"roles": ["reviewer", "recruiter"]},
        {"four_eyes": False},
        {"risk": ""},
        {"expires_at": None},
        {"requested_by": {"name": "Somebody", "channel": "web"}},
        {"seal": ""},
    ],
)
def test_a_row_that_was_changed_behind_the_application_is_noticed(bank, transfer, person, say, tampered):
    ada = person("Ada")
    request = transfer(quorum=2, four_eyes=True, risk="R1", expires_at=timezone.now() + timedelta(days=1))
    with tenant_scope(request.tenant_id):
        ApprovalRequest.objects.filter(pk=request.pk).update(**tampered)
    assert say(ada, fresh(request), params=request.params_hash).status == "void"
    again = fresh(request).superseded_by
    assert (again.quorum, again.four_eyes, again.roles) == (2, True, ["reviewer"])
    assert bank.done == []


def test_the_installations_secret_may_be_replaced_while_questions_wait(transfer, person, say, settings):
    request, old = transfer(), settings.SECRET_KEY
    with override_settings(SECRET_KEY="another-secret-of-the-same-installation", SECRET_KEY_FALLBACKS=[old]):
        assert say(person("Ada"), request).status == "approved"
    other = transfer()
    with override_settings(SECRET_KEY="a-secret-that-never-knew-the-first-one", SECRET_KEY_FALLBACKS=[]):
        assert say(person("Ben"), other).status == "void"


def test_a_word_names_what_it_is_about(transfer, person, say):
    ada, request = person("Ada"), transfer()
    with pytest.raises(OtherParameters) as other:
        say(ada, request, params="0" * 64)
    with pytest.raises(ParametersNeeded) as none:
        say(ada, request, params=None)
    assert (other.value.status, none.value.status) == (412, 428)
    assert fresh(request).status == "pending"


def test_a_form_works_once_for_one_person_one_question_and_for_a_while(transfer, person, say):
    ada, ben, now = person("Ada"), person("Ben"), timezone.now()
    request, other = transfer(quorum=2), transfer()

    def form(actor, about):
        with tenant_scope(actor.tenant_id):
            return services.nonce_for(about, actor)

    nonce = form(ada, request)
    with pytest.raises(FormUnknown):
        say(ben, request, params=None, nonce=nonce)
    with pytest.raises(FormUnknown):
        say(ada, other, params=None, nonce=nonce)
    with pytest.raises(FormUnknown):
        say(ada, request, params=None, nonce="guessed")
    with pytest.raises(FormExpired):
        say(ada, request, params=None, nonce=nonce, now=now + LIFE + timedelta(minutes=1))
    with pytest.raises(InvalidInput):
        say(ada, request, params=None, nonce=nonce, reason="")
    assert say(ada, request, params=None, nonce=nonce).status == "pending"  # a refused form was not used up
    with tenant_scope(ada.tenant_id):
        services.take_back(actor=ada, approval_id=request.id)
    with pytest.raises(FormUsed):
        say(ada, request, params=None, nonce=nonce)
    assert say(ada, request, params=None, nonce=form(ada, request)).status == "pending"


def test_high_risk_asks_for_the_password_again_and_soon_enough(transfer, person, say):
    ada, now = person("Ada"), timezone.now()
    request = transfer(risk="R3")
    for confirmed in (None, now - RECENT - timedelta(seconds=1), now + timedelta(hours=1)):
        with pytest.raises(StepUpNeeded):
            say(ada, request, confirmed_at=confirmed, now=now)
    assert say(ada, request, confirmed_at=now - RECENT, now=now).status == "approved"
    assert words(request)[0].stepped_up


# --- carried out later, and the switch -------------------------------------------------------------------------------


def execute(request, actor=None):
    with tenant_scope(request.tenant_id):
        return services.execute(
            actor=actor or Actor.system(request.tenant_id, "worker"), approval_id=request.id
        )


def test_what_is_carried_out_later_is_carried_out_once_and_only_as_agreed(bank, transfer, person, say):
    ada = person("Ada")
    first, second = transfer(kind=LATER), transfer(kind=LATER)
    with pytest.raises(Conflict):
        execute(first)
    say(ada, first), say(ada, second)
    assert bank.done == []
    assert execute(first).executed_at is not None
    with pytest.raises(AlreadyDecided):
        execute(first)
    bank.facts[second.subject_id] = {**second.parameters, "to": "TR-elsewhere"}
    assert execute(second).status == "void"
    assert [subject for subject, _v, _w in bank.done] == [first.subject_id]
    assert fresh(second).superseded_by.status == "pending"


def test_the_switch_stops_deciding_and_voids_what_was_agreed_but_not_carried_out(
    bank, transfer, person, say, audit
):
    ada, boss = person("Ada"), person("Yönetici", "admin")
    agreed, done, waiting = transfer(kind=LATER), transfer(), transfer()
    say(ada, agreed), say(ada, done)
    with tenant_scope(boss.tenant_id):
        with pytest.raises(NotPermitted):
            services.stop(actor=ada, reason="not mine")
        engaged = services.stop(actor=boss, reason="a wrong model")
        with pytest.raises(Conflict):
            services.stop(actor=boss, reason="again")
    assert (fresh(agreed).status, fresh(done).status, fresh(waiting).status) == (
        "void",
        "approved",
        "pending",
    )
    with pytest.raises(DecidingStopped) as stopped:
        say(ada, waiting)
    assert (stopped.value.data["by"], stopped.value.data["reason"]) == ("Yönetici", "a wrong model")
    with tenant_scope(boss.tenant_id):
        services.release(actor=boss, stop_id=engaged.id)
    assert say(ada, waiting).status == "approved"
    assert fresh(agreed).status == "void"
    assert [subject for subject, _v, _w in bank.done] == [done.subject_id, waiting.subject_id]
    assert audit("approvals:stop:engaged")[0].payload["voided"] == 1


def test_a_switch_of_one_kind_leaves_the_others_alone(bank, transfer, person, say):
    ada, boss = person("Ada"), person("Yönetici", "admin")
    stopped, free = transfer(kind=LATER), transfer()
    with tenant_scope(boss.tenant_id):
        services.stop(actor=boss, reason="only these", kind=LATER)
    with pytest.raises(DecidingStopped):
        say(ada, stopped)
    assert say(ada, free).status == "approved"


# --- time ------------------------------------------------------------------------------------------------------------


def test_time_running_out_blocks_before_and_after_beat_has_noticed(
    bank, transfer, person, say, tenant, audit
):
    ada, now = person("Ada"), timezone.now()
    request = transfer(expires_at=now + timedelta(hours=1))
    with pytest.raises(Gone) as before:
        say(ada, request, now=now + timedelta(hours=1))
    beat = Actor.system(tenant.id, "beat")
    with tenant_scope(tenant.id):
        assert services.expire_due(actor=beat, now=now + timedelta(minutes=59)) == 0
        assert services.expire_due(actor=beat, now=now + timedelta(hours=1)) == 1
        assert services.expire_due(actor=beat, now=now + timedelta(hours=2)) == 0
    with pytest.raises(Gone) as after:
        say(ada, request, now=now)
    assert before.value.status == after.value.status == 410
    assert (bank.expired, bank.done, fresh(request).status) == ([request.subject_id], [], "expired")
    moved = audit("approvals:request:moved")
    assert [(r.payload["to"], r.actor["name"]) for r in moved] == [("expired", "beat")]


def test_reminders_come_when_they_are_due_once_each_and_as_one_notice_a_person(
    transfer, person, tenant, audit
):
    ada, ben, now = person("Ada"), person("Ben"), timezone.now()
    person("Eda", "recruiter")
    three = [transfer(expires_at=now + timedelta(hours=10), now=now) for _ in range(3)]
    beat = Actor.system(tenant.id, "beat")

    def remind(hours):
        with tenant_scope(tenant.id):
            return services.remind_due(actor=beat, now=now + timedelta(hours=hours))

    assert [remind(4), remind(6), remind(6)] == [0, 3, 0]
    with tenant_scope(tenant.id):
        services.assign(actor=person("Yönetici", "admin"), approval_id=three[0].id, user_id=ben.user_id)
    assert remind(8.1) == 3
    with tenant_scope(tenant.id):
        told = {n.person_id: n.facts["n"] for n in Notice.objects.filter(kind="reminder")}
    assert told == {ada.user_id: 2, ben.user_id: 3}  # the one that was given to Ben reminds only him
    assert [remind(9.6), remind(9.7), remind(11)] == [3, 0, 0]
    assert len(audit("approvals:request:reminded")) == 9


def test_whoever_asked_is_told_how_much_expired_in_one_notice(transfer, person, tenant):
    ada, now = person("Ada"), timezone.now()
    for _ in range(4):
        transfer(ada, expires_at=now + timedelta(hours=1))
    with tenant_scope(tenant.id):
        services.expire_due(actor=Actor.system(tenant.id, "beat"), now=now + timedelta(hours=2))
        (told,) = Notice.objects.filter(person_id=ada.user_id)
    assert (told.kind, told.facts["n"]) == ("expired", 4)


def test_beat_reminds_and_expires_in_every_company(bank, transfer, person, tenant, other_tenant):
    soon, past = timezone.now() + timedelta(hours=1), timezone.now() - timedelta(days=9)
    asked = [
        transfer(person("Ada", of=company), now=past, expires_at=end)
        for company in (tenant, other_tenant)
        for end in (soon, timezone.now() - timedelta(seconds=1))
    ]
    tasks.expire()
    tasks.remind()
    seen = []
    for request in asked:
        with tenant_scope(request.tenant_id):
            row = ApprovalRequest.objects.get(pk=request.pk)
            seen.append((row.status, row.reminded_at is not None))
    assert seen == [("pending", True), ("expired", False)] * 2


# --- the record ------------------------------------------------------------------------------------------------------


def test_a_refusal_stays_in_the_record_though_its_act_was_rolled_back(transfer, person, tenant, audit):
    ada, request = person("Ada"), transfer()
    with tenant_scope(tenant.id), pytest.raises(OtherParameters):
        services.decide(
            actor=ada, approval_id=request.id, verdict="approve", reason="I looked", params="1" * 64
        )
    (row,) = audit("approvals:request:refused")
    assert (row.subject_id, row.actor["user_id"]) == (str(request.id), str(ada.user_id))
    assert row.payload == {
        "act": "decide",
        "code": "other_parameters",
        "status": 412,
        "sent": {"verdict": "approve", "params": "1" * 64},
    }


def test_another_tenants_request_does_not_exist_and_the_attempt_is_in_the_strangers_record(
    transfer, person, other_tenant, audit
):
    stranger, request = person("Ada", "admin", of=other_tenant), transfer()
    with tenant_scope(other_tenant.id), pytest.raises(NotFound):
        services.decide(
            actor=stranger,
            approval_id=request.id,
            verdict="approve",
            reason="I looked",
            params=request.params_hash,
        )
    assert fresh(request).status == "pending"
    (row,) = audit("approvals:request:refused", of=other_tenant)
    assert (row.payload["status"], row.subject_id) == (404, str(request.id))
    assert audit("approvals:request:refused") == []
