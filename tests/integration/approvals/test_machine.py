"""Any order of asking, deciding, changing, taking back, handing over, tampering, stopping and waiting keeps the promises."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from nekibu.approvals import registry, services
from nekibu.approvals.models import ApprovalRequest, Delegation, Verdict
from nekibu.approvals.refusals import collected, write
from nekibu.approvals.states import CLOSED, Status
from nekibu.audit.chain import verify_chain
from nekibu.audit.models import AuditEvent
from nekibu.errors import NekibuError
from nekibu.permissions.actor import Actor
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import add_member
from tests.integration.approvals.conftest import AT_ONCE, LATER, Bank

TEAM = {"Ada": "reviewer", "Ben": "reviewer", "Can": "reviewer", "Dan": "recruiter", "Boss": "admin"}
NAMES = st.sampled_from(sorted(TEAM))
RARELY = st.sampled_from([False, False, False, True])
KINDS = {"reject": Status.REJECTED, "change": Status.CHANGED, "approve": Status.APPROVED}


class Approvals(RuleBasedStateMachine):
    """One company, five people, one clock."""

    requests = Bundle("requests")

    @initialize()
    def open_the_company(self) -> None:
        self.bank = Bank()
        registry.register(AT_ONCE, self.bank.handler(at_once=True))
        registry.register(LATER, self.bank.handler(at_once=False))
        self.tenant = Tenant.objects.create(slug=f"t-{uuid4().hex[:12]}", name="Anka")
        self.now = timezone.now()
        self.system = Actor.system(self.tenant.id, "test")
        self.people: dict[str, Actor] = {}
        self.closed: dict[UUID, tuple[Any, ...]] = {}
        self.acts: Counter[str] = Counter()
        with tenant_scope(self.tenant.id):
            for name, role in TEAM.items():
                user = User.objects.create_user(f"{name}@{self.tenant.slug}.example", name, None)
                add_member(actor=self.system, user=user, role=role)
                self.people[name] = Actor(self.tenant.id, name, user.id, frozenset({role}))

    def attempt(self, tag: str, act: Any) -> Any:
        """Do it as a request does: a refusal rolls back, and then is in the record."""
        with collected() as refusals:
            try:
                with tenant_scope(self.tenant.id):
                    done = act()
            except NekibuError as refused:
                assert 400 <= refused.status < 500
                done = refused
        write(refusals)
        self.acts["approvals:request:refused" if isinstance(done, NekibuError) else tag] += 1
        return done

    # --- what can happen -----------------------------------------------------------------------------------------------

    @rule(
        target=requests,
        name=NAMES,
        quorum=st.sampled_from([1, 2, 2, 3]),
        four_eyes=RARELY,
        life=st.none() | st.integers(6, 40),
        kind=st.sampled_from([AT_ONCE, LATER]),
    )
    def ask(self, name: str, quorum: int, four_eyes: bool, life: int | None, kind: str) -> UUID:
        subject = str(uuid4())
        self.bank.facts[subject] = {"amount": "100", "to": subject[:6]}
        asker = self.people[name]
        self.bank.terms[subject] = {
            "kind": kind, "subject_type": "test.transfer", "subject_id": subject, "title": subject, "reasons": [],
            "roles": ["reviewer"], "quorum": quorum, "four_eyes": four_eyes, "requester": asker,
            "expires_at": self.now + timedelta(hours=life) if life else None,
        }  # fmt: skip
        with tenant_scope(self.tenant.id):
            made = services.request_approval(
                actor=asker, parameters=self.bank.facts[subject], now=self.now, **self.bank.terms[subject]
            )
        return made.id

    def newest(self, approval_id: UUID) -> ApprovalRequest:
        """The request, or the last one that took its place."""
        with tenant_scope(self.tenant.id):
            row = ApprovalRequest.objects.get(pk=approval_id)
            while (later := ApprovalRequest.objects.filter(supersedes=row).first()) is not None:
                row = later
            return row

    @rule(request=requests, name=st.sampled_from(["Ada", "Ben", "Can"]))
    def agree(self, request: UUID, name: str) -> None:
        self.decide(request, name, "approve", "5", False)

    @rule(request=requests, name=NAMES, verdict=st.sampled_from(["approve", "approve", "change", "reject"]),
          amount=st.sampled_from(["5", "7", "x"]), stale=RARELY)  # fmt: skip
    def say(self, request: UUID, name: str, verdict: str, amount: str, stale: bool) -> None:
        self.decide(request, name, verdict, amount, stale)

    def decide(self, request: UUID, name: str, verdict: str, amount: str, stale: bool) -> None:
        row, actor = self.newest(request), self.people[name]
        done = self.attempt(
            "void" if self.bank.facts[row.subject_id] != row.parameters else "approvals:word:given",
            lambda: services.decide(
                actor=actor, approval_id=row.id, verdict=verdict, reason="seen", now=self.now,
                value={"amount": amount}, params="0" * 64 if stale else row.params_hash,
            ),
        )  # fmt: skip
        if isinstance(done, NekibuError):
            return
        assert not stale and row.status == Status.PENDING
        assert row.expires_at is None or self.now < row.expires_at
        assert done.status in {Status.VOID, Status.PENDING, KINDS[verdict]}

    @rule(request=requests, name=NAMES)
    def take_back(self, request: UUID, name: str) -> None:
        row = self.newest(request)
        self.attempt(
            "approvals:word:taken_back",
            lambda: services.take_back(actor=self.people[name], approval_id=row.id, now=self.now),
        )

    @rule(request=requests)
    def execute(self, request: UUID) -> None:
        row = self.newest(request)
        self.attempt("execute", lambda: services.execute(actor=self.system, approval_id=row.id, now=self.now))

    @rule(request=requests, really=RARELY)
    def the_facts_change(self, request: UUID, really: bool) -> None:
        if not really:
            return
        row = self.newest(request)
        self.bank.facts[row.subject_id] = {**(self.bank.facts[row.subject_id] or {}), "to": uuid4().hex[:6]}

    @rule(principal=NAMES, delegate=NAMES, start=st.integers(0, 5), length=st.integers(1, 12))
    def hand_over(self, principal: str, delegate: str, start: int, length: int) -> None:
        self.attempt(
            "approvals:delegation:created",
            lambda: services.delegate(
                actor=self.people[principal],
                user_id=self.people[delegate].user_id,
                starts_at=self.now + timedelta(hours=start),
                ends_at=self.now + timedelta(hours=start + length),
                now=self.now,
            ),
        )

    @rule(hours=st.integers(1, 6))
    def time_passes(self, hours: int) -> None:
        self.now += timedelta(hours=hours)
        with tenant_scope(self.tenant.id):
            services.expire_due(actor=self.system, now=self.now)
            services.remind_due(actor=self.system, now=self.now)

    @precondition(lambda self: self.acts["approvals:word:given"] > 1)
    @rule(name=NAMES, request=requests)
    def stop_for_a_while(self, name: str, request: UUID) -> None:
        engaged = self.attempt(
            "approvals:stop:engaged", lambda: services.stop(actor=self.people[name], reason="stop")
        )
        if isinstance(engaged, NekibuError):
            assert name != "Boss"
            return
        refused = self.attempt(
            "approvals:word:given",
            lambda: services.decide(
                actor=self.people["Ben"], approval_id=self.newest(request).id, verdict="approve", reason="seen",
                params=self.newest(request).params_hash, now=self.now,
            ),
        )  # fmt: skip
        assert isinstance(refused, NekibuError)
        self.execute(request)
        self.attempt(
            "approvals:stop:released",
            lambda: services.release(actor=self.people["Boss"], stop_id=engaged.id),
        )

    # --- what always holds ---------------------------------------------------------------------------------------------

    @invariant()
    def the_promises_hold(self) -> None:
        if not hasattr(self, "tenant"):
            return
        with tenant_scope(self.tenant.id):
            rows = list(ApprovalRequest.objects.prefetch_related("verdicts__retraction"))
            assert verify_chain().broken_at is None
            tags = Counter(AuditEvent.objects.values_list("tag", flat=True))
            stand_ins = {(d.delegate_id, d.principal_id): d for d in Delegation.objects.order_by("id")}
        for row in rows:
            self._check(row, stand_ins)
        carried_out = [subject for subject, verdict, _what in self.bank.done if verdict != "reject"]
        assert len(carried_out) == len(set(carried_out))  # at most one effect for each subject
        assert tags["approvals:request:executed"] == len(self.bank.done)
        assert tags["approvals:request:created"] == len(rows)
        for tag, n in self.acts.items():
            if tag.startswith("approvals:"):
                assert tags[tag] == n, tag

    def _check(self, row: ApprovalRequest, stand_ins: dict[Any, Delegation]) -> None:
        words: list[Verdict] = [w for w in row.verdicts.all() if getattr(w, "retraction", None) is None]
        for word in row.verdicts.all():
            assert word.params_hash == row.params_hash  # nobody spoke about something else
            if word.on_behalf_of_id:
                assert (word.person_id, word.on_behalf_of_id) in stand_ins
            if row.four_eyes:
                barred = {str(row.requester_id), *row.editors}
                assert not {str(word.person_id), str(word.on_behalf_of_id)} & barred
        approvals = [w for w in words if w.verdict == "approve"]
        people = [w.person_id for w in approvals]
        seats = [w.on_behalf_of_id or w.person_id for w in approvals]
        assert len(set(people)) == len(people) and len(set(seats)) == len(seats)
        if row.status == Status.APPROVED:
            assert len(approvals) >= row.quorum
        if row.status == Status.PENDING:
            assert len(approvals) < row.quorum and len(words) == len(approvals)
        if row.executed_at is not None:
            assert row.status in {Status.APPROVED, Status.CHANGED, Status.REJECTED}
        if row.status in {Status.EXPIRED, Status.VOID, Status.WITHDRAWN}:
            assert row.executed_at is None
        if row.status in CLOSED:
            now = (row.status, row.params_hash, row.decided_at, len(row.verdicts.all()))
            before = self.closed.setdefault(row.id, now)
            # What is closed stays as it is; only what was agreed and not carried out may still become void.
            assert now == before or (
                before[0] in {Status.APPROVED, Status.CHANGED} and row.status == Status.VOID
            )

    def teardown(self) -> None:
        for kind in (AT_ONCE, LATER):
            registry._handlers.pop(kind, None)


@pytest.mark.django_db(transaction=True)
def test_no_order_of_acts_breaks_a_promise() -> None:
    run_state_machine_as_test(
        Approvals,
        settings=settings(
            max_examples=20,
            stateful_step_count=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
