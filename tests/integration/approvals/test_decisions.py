"""A decision that waits: what people agree to is what was proposed, from the passages that were read, under the task as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference import bodies, registry
from inference.models import Decision, DecisionStep
from inference.selectors import outcome_of
from inference.trace import verify_seals
from inference.types import Approval, ServicePolicy
from nekibu.approvals import services
from nekibu.approvals.models import ApprovalRequest, Verdict
from nekibu.errors import InvalidInput, NotPermitted
from nekibu.tenants.scope import tenant_scope
from tests.integration.inference import conftest as inference

ask, gateway, lines = inference.ask, inference.gateway, inference.lines  # the fixtures of the path


@pytest.fixture
def several(lines):
    """The task, asking two people who did not ask themselves."""
    policy = ServicePolicy(approval=Approval(mode="always", groups=("reviewer",), quorum=2, four_eyes=True))
    lines.slug = f"{lines.slug}.several"
    registry.register(replace(lines.spec(slug=lines.slug), policy=policy))
    return lines


def waiting(tenant):
    with tenant_scope(tenant.id):
        return ApprovalRequest.objects.get(status="pending")


def said(actor, request, verdict="approve", **more):
    with tenant_scope(actor.tenant_id):
        row = services.decide(
            actor=actor,
            approval_id=request.id,
            verdict=verdict,
            reason="I looked",
            params=request.params_hash,
            **more,
        )
        return row, outcome_of(Decision.objects.get(pk=request.subject_id))


def test_two_agree_to_one_answer_and_the_record_names_both(ask, several, tenant, person):
    outcome = ask()
    assert outcome.status == "awaiting_approval"
    request, ada, ben = waiting(tenant), person("Ada"), person("Ben")
    assert (request.quorum, request.four_eyes, request.roles) == (2, True, ["reviewer"])
    assert said(ada, request)[1].status == "awaiting_approval"
    row, outcome = said(ben, request)
    assert (row.status, outcome.status, outcome.decided_by, outcome.valid) == (
        "approved",
        "accepted",
        "model",
        True,
    )
    with tenant_scope(tenant.id):
        step = DecisionStep.objects.get(decision_id=outcome.decision_id, stage="person")
        assert step.payload["approvers"] == [str(ada.user_id), str(ben.user_id)]
        assert step.payload["params_hash"] == request.params_hash
        assert verify_seals() is None


def test_a_changed_answer_goes_to_all_again_and_is_then_a_persons(ask, several, tenant, person):
    ask()
    request, ada, ben, can = waiting(tenant), person("Ada"), person("Ben"), person("Can")
    said(ada, request)
    row, outcome = said(ben, request, "change", value={"verdict": "not_met", "pieces": ["E2"]})
    assert (row.status, outcome.status) == ("changed", "awaiting_approval")
    again = waiting(tenant)
    assert again.supersedes_id == request.id
    assert (again.parameters["value"]["verdict"], outcome.approval_id) == ("not_met", again.id)
    assert [s["evidence_id"] for s in again.parameters["sources"]] == ["E2"]
    with tenant_scope(tenant.id):
        word = Verdict.objects.get(verdict="change")
        assert word.new_params_hash == again.params_hash
        assert {c["path"] for c in word.diff} >= {"/value/verdict", "/sources"}
    with pytest.raises(NotPermitted):
        said(ben, again)
    said(ada, again)
    row, outcome = said(can, again)
    assert (outcome.status, outcome.decided_by, outcome.valid) == ("accepted", "person", True)
    assert outcome.value["verdict"] == "not_met"
    with tenant_scope(tenant.id):
        assert verify_seals() is None


def test_an_answer_that_was_changed_behind_the_application_is_void_and_asked_again(
    ask,
    several,
    tenant,
    person,
):
    ask()
    request, ada = waiting(tenant), person("Ada")
    with tenant_scope(tenant.id):
        held = bodies.read(Decision.objects.get().id, "outcome")
        bodies.keep(
            Decision.objects.get().id, "outcome", {**held, "value": {**held["value"], "verdict": "not_met"}}
        )
    row, outcome = said(ada, request)
    assert (row.status, outcome.status) == ("void", "awaiting_approval")
    assert waiting(tenant).parameters["value"]["verdict"] == "not_met"


def test_a_passage_that_reads_otherwise_now_voids_what_was_asked(ask, several, tenant, person):
    ask()
    request = waiting(tenant)
    several.documents["a"] = several.documents["a"].replace("Python", "Cobol_")
    row, outcome = said(person("Ada"), request)
    assert (row.status, outcome.status) == ("void", "awaiting_approval")
    again = waiting(tenant)
    assert again.parameters["sources"] != request.parameters["sources"]


def test_a_task_whose_terms_changed_voids_what_was_asked_under_the_old_ones(
    ask,
    several,
    tenant,
    person,
    monkeypatch,
):
    ask()
    request = waiting(tenant)
    spec = registry.find(several.slug)
    stricter = replace(spec, policy=replace(spec.policy, approval=replace(spec.policy.approval, quorum=3)))
    monkeypatch.setitem(registry._specs, (spec.slug, spec.version), stricter)
    row, _outcome = said(person("Ada"), request)
    assert row.status == "void"
    assert waiting(tenant).quorum == 3


def test_whoever_asked_the_question_does_not_approve_its_answer(ask, several, tenant, person):
    ada = person("Ada", "recruiter", "reviewer")
    ask(actor=ada)
    with pytest.raises(NotPermitted) as refused:
        said(ada, waiting(tenant))
    assert refused.value.error_code == "four_eyes"


def test_an_impossible_answer_leaves_everything_as_it_was(ask, several, tenant, person):
    ask()
    request = waiting(tenant)
    with pytest.raises(InvalidInput):
        said(person("Ada"), request, "change", value={"verdict": "excellent"})
    assert waiting(tenant).id == request.id
