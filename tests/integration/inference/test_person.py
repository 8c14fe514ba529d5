"""A person's word: agreed, changed, rejected, overridden; the record keeps both."""

from __future__ import annotations

import pytest

from inference import services
from inference.models import Decision
from inference.selectors import outcome_of
from inference.trace import verify_seals
from nekibu.approvals import services as approvals
from nekibu.approvals.models import ApprovalRequest
from nekibu.errors import Conflict, InvalidInput
from nekibu.tenants.scope import tenant_scope


@pytest.fixture
def proposed(ask, lines):
    """A decision that waits for approval, because the document holds hidden text."""
    lines.flags = frozenset({"hidden_text"})
    outcome = ask()
    assert (outcome.status, outcome.value["verdict"]) == ("awaiting_approval", "met")
    return outcome


def say(actor, verdict, value=None):
    with tenant_scope(actor.tenant_id):
        waiting = ApprovalRequest.objects.get(status="pending")
        approvals.decide(
            actor=actor,
            approval_id=waiting.id,
            verdict=verdict,
            reason="I looked",
            value=value,
            params=waiting.params_hash,
        )
        return outcome_of(Decision.objects.get(pk=waiting.subject_id))


def test_agreement_makes_a_proposal_count(proposed, lines, tenant, person_of):
    outcome = say(person_of(tenant, "reviewer"), "approve")
    assert (outcome.status, outcome.valid, outcome.decided_by) == ("accepted", True, "model")
    assert [s.outcome.status for s in lines.settled] == ["awaiting_approval", "accepted"]
    with tenant_scope(tenant.id):
        assert verify_seals() is None


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ({"verdict": "partly"}, True),  # the proposal's source is kept
        ({"verdict": "not_met", "pieces": ["E2"]}, True),
        (
            {"verdict": "met", "pieces": []},
            False,
        ),  # a verdict without evidence is a person's word, but not a valid decision
    ],
)
def test_a_changed_answer_is_weighed_like_any_other(proposed, tenant, person_of, value, valid):
    outcome = say(person_of(tenant, "reviewer"), "change", value)
    assert (outcome.status, outcome.decided_by, outcome.valid) == ("accepted", "person", valid)
    assert outcome.value["verdict"] == value["verdict"]


def test_a_rejection_ends_it(proposed, lines, tenant, person_of):
    assert say(person_of(tenant, "reviewer"), "reject").status == "rejected"
    assert lines.settled[-1].outcome.valid is False


@pytest.mark.parametrize("value", [{"verdict": "excellent"}, {"score": 3, "verdict": "met"}, "met", None])
def test_an_answer_that_the_schema_does_not_know_is_refused(proposed, tenant, person_of, value):
    with pytest.raises(InvalidInput):
        say(person_of(tenant, "reviewer"), "change", value)
    with tenant_scope(tenant.id):
        assert Decision.objects.get().status == "awaiting_approval"


def test_there_is_nothing_to_approve_where_no_machine_answered(ask, lines, tenant, person_of):
    lines.opt_out = True
    ask()
    reviewer = person_of(tenant, "reviewer")
    with pytest.raises(InvalidInput):
        say(reviewer, "approve")
    outcome = say(
        reviewer, "change", {"verdict": "met", "pieces": ["E1"], "counter_pieces": [], "reasoning": ""}
    )
    assert (outcome.status, outcome.decided_by, outcome.valid) == ("accepted", "person", True)


def test_a_closed_decision_is_superseded_and_stays_as_it_was(ask, lines, tenant, person_of):
    old = ask()
    reviewer = person_of(tenant, "reviewer")
    value = {"verdict": "not_met", "pieces": ["E2"]}
    new = services.override(
        actor=reviewer, decision_id=old.decision_id, value=value, reason="misread", key="o1"
    )
    again = services.override(
        actor=reviewer, decision_id=old.decision_id, value=value, reason="misread", key="o1"
    )
    assert new.decision_id == again.decision_id != old.decision_id
    assert (new.status, new.decided_by, new.value["verdict"]) == ("accepted", "person", "not_met")
    told = lines.settled[-1]
    assert (told.correction, told.supersedes) == (True, old.decision_id)
    with tenant_scope(tenant.id):
        before = Decision.objects.get(pk=old.decision_id)
        assert outcome_of(before).value["verdict"] == "met"
        assert before.seals.count() == 2
        assert verify_seals() is None
    with pytest.raises(Conflict):
        services.override(actor=reviewer, decision_id=old.decision_id, value=value, reason="again", key="o2")


def test_an_override_needs_a_reason(ask, tenant, person_of):
    old = ask()
    with pytest.raises(InvalidInput):
        services.override(
            actor=person_of(tenant, "reviewer"),
            decision_id=old.decision_id,
            value={"verdict": "met"},
            reason=" ",
            key="o",
        )
