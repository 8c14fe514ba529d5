"""From a CV's bytes to verdicts with places: the promises of an evaluation, on the fake engine with real files."""

from __future__ import annotations

import pytest

from ats import selectors, services
from ats.models import Application, CriterionVerdict, Evaluation
from ats.states import EvaluationStatus, VerdictState
from inference.models import Attempt, Decision
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.services import decide as decide_approval
from nekibu.errors import InvalidInput, TooLarge
from nekibu.files.models import ParsedText, StoredFile
from nekibu.files.selectors import original
from nekibu.tenants.scope import tenant_scope
from samples import generate
from tests.integration.ats.conftest import work

pytestmark = pytest.mark.django_db(transaction=True)


def upload(tenant, job, recruiter, samples):
    with tenant_scope(tenant.id):
        for sample in samples:
            services.add_cv(actor=recruiter, job=job, name=sample.name, chunks=[sample.body])


def evaluated(tenant, job, recruiter, samples, clock="batch"):
    upload(tenant, job, recruiter, samples)
    work(tenant)
    with tenant_scope(tenant.id):
        run = services.start_evaluations(actor=recruiter, job=job, clock=clock)
    work(tenant)
    return run


@pytest.fixture
def buyers():
    return [s for s in generate.generate(count=24) if s.truth["job"] == "buyer"]


def test_every_shown_passage_is_the_stored_text_and_every_other_verdict_is_stated_or_asked(
    tenant, job, person_of, gateway, no_doorbell, buyers
):
    recruiter = person_of(tenant, "recruiter")
    evaluated(tenant, job(tenant), recruiter, buyers)
    cited = 0
    with tenant_scope(tenant.id):
        assert (
            Evaluation.objects.filter(status__in=[EvaluationStatus.QUEUED, EvaluationStatus.RUNNING]).count()
            == 0
        )
        for row in CriterionVerdict.objects.all():
            for place in row.evidence:
                text = ParsedText.objects.get(pk=place["version"]).text
                assert text[place["start"] : place["end"]] == place["quote"]
                cited += 1
            if not row.evidence:
                assert row.verdict == "not_stated" or row.state == VerdictState.NEEDS_PERSON
            if row.state == VerdictState.NEEDS_PERSON:
                assert (
                    ApprovalRequest.objects.filter(subject_id=str(row.decision_id), status="pending").count()
                    == 1
                )
    assert cited > 20


def test_the_original_is_kept_byte_for_byte_and_the_same_file_is_one_application(
    tenant, job, person_of, gateway, no_doorbell, buyers
):
    recruiter = person_of(tenant, "recruiter")
    post = job(tenant)
    upload(tenant, post, recruiter, buyers[:1])
    with tenant_scope(tenant.id):
        stored = StoredFile.objects.get()
        assert original(stored).read_bytes() == buyers[0].body
        with pytest.raises(services.AlreadyApplied) as repeated:
            services.add_cv(actor=recruiter, job=post, name="again.pdf", chunks=[buyers[0].body])
        assert repeated.value.data["application_id"] == str(Application.objects.get().id)


def test_a_scan_is_blocked_and_costs_nothing(tenant, job, person_of, gateway, no_doorbell, buyers):
    scan = [s for s in buyers if s.truth["layout"] == "pdf-scan"]
    evaluated(tenant, job(tenant), person_of(tenant, "recruiter"), scan)
    with tenant_scope(tenant.id):
        row = Evaluation.objects.get()
        assert (row.status, row.block_reason) == (EvaluationStatus.BLOCKED, "needs_ocr")
        assert Decision.objects.count() == 0
    assert gateway.engine.calls == []


def test_hidden_text_reaches_no_prompt_and_a_person(tenant, job, person_of, gateway, no_doorbell, buyers):
    hidden = [s for s in buyers if s.truth["hidden"]][:1]
    evaluated(tenant, job(tenant), person_of(tenant, "recruiter"), hidden)
    secret = hidden[0].truth["hidden"][0]["text"]
    assert not any(secret in prompt for prompt in gateway.engine.calls)
    with tenant_scope(tenant.id):
        states = set(
            CriterionVerdict.objects.filter(criterion__method="model").values_list("state", flat=True)
        )
        assert states == {VerdictState.NEEDS_PERSON}
        text = ParsedText.objects.get()
        assert secret not in text.text
        assert any(secret in found["text"] for found in text.hidden)


def test_the_name_and_the_address_of_a_person_reach_no_prompt(
    tenant, job, person_of, gateway, no_doorbell, buyers
):
    chosen = buyers[:3]
    recruiter, post = person_of(tenant, "recruiter"), job(tenant)
    with tenant_scope(tenant.id):
        for s in chosen:
            services.add_cv(
                actor=recruiter,
                job=post,
                name=s.name,
                chunks=[s.body],
                candidate_name=s.truth["person"]["name"],
            )
    work(tenant)
    with tenant_scope(tenant.id):
        services.start_evaluations(actor=recruiter, job=post)
    work(tenant)
    for s in chosen:
        for said in (s.truth["person"]["name"], s.truth["person"]["email"]):
            assert not any(said in prompt for prompt in gateway.engine.calls)


def test_starting_again_asks_nothing_twice(tenant, job, person_of, gateway, no_doorbell, buyers):
    recruiter, post = person_of(tenant, "recruiter"), job(tenant)
    evaluated(tenant, post, recruiter, buyers[:2])
    calls = len(gateway.engine.calls)
    with tenant_scope(tenant.id):
        run = services.start_evaluations(actor=recruiter, job=post)
    work(tenant)
    assert len(gateway.engine.calls) == calls
    with tenant_scope(tenant.id):
        assert Evaluation.objects.filter(current=True).count() == 2
        assert selectors.progress(run).percent == 100


def test_the_rubric_and_the_cv_are_shared_prefixes_and_another_tenant_shares_none(
    tenant, other_tenant, job, person_of, gateway, no_doorbell, buyers
):
    sample = [s for s in buyers if s.truth["quality"] == "ok"][:2]
    for one in (tenant, other_tenant):
        evaluated(one, job(one), person_of(one, "recruiter"), sample)
    for one in (tenant, other_tenant):
        with tenant_scope(one.id):
            attempts = list(Attempt.objects.order_by("id"))
            assert attempts[0].cache_read == 0
            assert all(a.cache_read > 0 for a in attempts[1:])


def test_a_persons_word_settles_the_same_decision_and_reviews_the_evaluation(
    tenant, job, person_of, gateway, no_doorbell, buyers
):
    recruiter, reviewer = person_of(tenant, "recruiter"), person_of(tenant, "reviewer")
    evaluated(tenant, job(tenant), recruiter, [s for s in buyers if s.truth["hidden"]][:1])
    with tenant_scope(tenant.id):
        for request in ApprovalRequest.objects.filter(status="pending"):
            with pytest.raises(InvalidInput):
                decide_approval(
                    actor=reviewer,
                    approval_id=request.id,
                    verdict="approve",
                    reason=" ",
                    params=request.params_hash,
                )
            row = CriterionVerdict.objects.get(decision_id=request.subject_id)
            value = {"pieces": [], "counter_pieces": [], "reasoning": "", "verdict": "not_stated"}
            decide_approval(
                actor=reviewer,
                approval_id=request.id,
                verdict="change",
                reason="Not in the CV.",
                value=value,
                params=request.params_hash,
            )
            row.refresh_from_db()
            assert (row.verdict, row.decided_by) == ("not_stated", "person")
            assert Decision.objects.get(pk=row.decision_id).status == "accepted"
        assert Evaluation.objects.get().status == EvaluationStatus.REVIEWED


def test_an_override_of_a_finished_verdict_is_a_new_decision_and_the_machines_word_stays(
    tenant, job, person_of, gateway, no_doorbell, buyers
):
    recruiter = person_of(tenant, "recruiter")
    evaluated(tenant, job(tenant), recruiter, [s for s in buyers if s.truth["quality"] == "ok"][:1])
    with tenant_scope(tenant.id):
        row = CriterionVerdict.objects.filter(state=VerdictState.VERIFIED).first()
        before = row.decision_id
        services.override_verdict(
            actor=recruiter, verdict=row, said="not_stated", reason="Misread.", pieces=[], key="k1"
        )
        row.refresh_from_db()
        assert (row.verdict, row.state) == ("not_stated", VerdictState.OVERRIDDEN)
        assert row.decision_id != before
        assert Decision.objects.get(pk=row.decision_id).supersedes_id == before


def test_nothing_rejects_a_candidate_by_itself(tenant, job, person_of, gateway, no_doorbell, buyers):
    evaluated(tenant, job(tenant), person_of(tenant, "recruiter"), buyers)
    with tenant_scope(tenant.id):
        assert set(Application.objects.values_list("status", flat=True)) == {"active"}


def test_files_that_are_empty_or_too_large_are_refused_in_words(
    tenant, job, person_of, gateway, no_doorbell, settings
):
    settings.FILE_MAX_BYTES = 1000
    recruiter, post = person_of(tenant, "recruiter"), job(tenant)
    with tenant_scope(tenant.id):
        with pytest.raises(InvalidInput):
            services.add_cv(actor=recruiter, job=post, name="empty.pdf", chunks=[])
        with pytest.raises(TooLarge):
            services.add_cv(actor=recruiter, job=post, name="big.pdf", chunks=[b"x" * 600, b"x" * 600])
        assert StoredFile.objects.count() == 0
