"""What the pages of recruiting and of the inbox promise to a recruiter, a reviewer, and to those who may less."""

from __future__ import annotations

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from ats import services
from ats.models import Application, CriterionVerdict, CVDocument, Evaluation, EvaluationRun
from ats.states import VerdictState
from nekibu.approvals.models import ApprovalRequest
from nekibu.files.models import ParsedText, StoredFile
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from samples import generate
from tests.integration.ats.conftest import work

pytestmark = pytest.mark.django_db(transaction=True)
PLACE = re.compile(r'href="(?:\?tab=text)?#(ev-\d+-\d+)"')


@pytest.fixture
def sign_in(client, person_of):
    """`sign_in(tenant, role)` → the browser of that person, reading English."""

    def enter(tenant, role):
        client.force_login(
            User.objects.get(pk=person_of(tenant, role).user_id),
            backend="django.contrib.auth.backends.ModelBackend",
        )
        client.cookies["nekibu_language"] = "en"
        return client

    return enter


@pytest.fixture
def samples():
    """Few, but of every kind: hidden text, contradictory dates, a scan, DOCX, TXT and two plain PDFs."""
    every = [s for s in generate.generate(count=24) if s.truth["job"] == "buyer"]

    def first(fits):
        return next(s for s in every if fits(s))

    chosen = [
        first(lambda s: s.truth["hidden"]),
        first(lambda s: s.truth["criteria"]["experience"]["state"] == "conflict"),
        first(lambda s: s.truth["quality"] == "needs_ocr"),
        first(lambda s: s.name.endswith(".docx")),
        first(lambda s: s.name.endswith(".txt")),
        *[s for s in every if s.name.endswith(".pdf")][:2],
    ]
    return list({s.name: s for s in chosen}.values())


@pytest.fixture
def evaluated(tenant, job, person_of, gateway, no_doorbell, samples):
    """A job whose CVs have been read and evaluated."""
    recruiter = person_of(tenant, "recruiter")
    made = job(tenant)
    with tenant_scope(tenant.id):
        for sample in samples:
            services.add_cv(actor=recruiter, job=made, name=sample.name, chunks=[sample.body])
    work(tenant)
    with tenant_scope(tenant.id):
        services.start_evaluations(actor=recruiter, job=made)
    work(tenant)
    return made


def html(answer) -> str:
    assert answer.status_code == 200, answer.content[:2000]
    page = answer.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)", page), "an inline script"
    assert not re.search(r"\sstyle=|\son\w+=\"", page), "an inline style or handler"
    return page


def many(tenant, job, person, numbers):
    """Rows as an evaluation leaves them, without running one."""
    with tenant_scope(tenant.id):
        rubric = job.rubrics.get(status="approved")
        run = EvaluationRun.objects.create(
            job=job, rubric=rubric, clock="batch", requested_by_id=person.user_id
        )
        for n in numbers:
            stored = StoredFile.objects.create(
                name=f"cv{n}.txt", size=3, sha256=f"{n:064d}", storage_key=f"k{n}"
            )
            parsed = ParsedText.objects.create(
                file=stored, parser_id="text", parser_version="1", quality="ok", text="abc"
            )
            candidate = Application._meta.get_field("candidate").related_model.objects.create(
                name=f"Person {n}"
            )
            application = Application.objects.create(job=job, candidate=candidate)
            CVDocument.objects.create(
                application=application,
                job=job,
                file=stored,
                sha256=stored.sha256,
                status="parsed",
                parsed=parsed,
            )
            evaluation = Evaluation.objects.create(
                run=run,
                application=application,
                rubric=rubric,
                parsed=parsed,
                key=str(application.id),
                status="completed",
            )
            for criterion in rubric.criteria.all():
                CriterionVerdict.objects.create(
                    evaluation=evaluation, criterion=criterion, state="verified", verdict="not_stated"
                )


def test_an_empty_company_is_told_what_comes_next(tenant, sign_in):
    page = html(sign_in(tenant, "recruiter").get(reverse("ats-jobs")))
    assert "No jobs yet" in page


def test_the_table_of_a_job_costs_the_same_for_3_and_for_30_applications(
    tenant, job, person_of, sign_in, gateway
):
    made, person = job(tenant), person_of(tenant, "recruiter")
    browser = sign_in(tenant, "recruiter")
    counts = []
    for numbers in (range(3), range(3, 30)):
        many(tenant, made, person, numbers)
        with CaptureQueriesContext(connection) as seen:
            page = html(browser.get(reverse("ats-job", args=[made.id])))
        assert page.count('id="row-') == numbers.stop
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 30


def test_every_quote_leads_to_a_mark_with_the_same_words(tenant, evaluated, sign_in):
    browser = sign_in(tenant, "recruiter")
    followed = 0
    with tenant_scope(tenant.id):
        rows = list(Application.objects.select_related("cv__parsed"))
    for row in rows:
        page = html(browser.get(reverse("ats-application", args=[row.id])))
        assert "rejects a candidate by itself" in page
        for place in set(PLACE.findall(page)):
            start, end = map(int, place.split("-")[1:])
            assert page.count(f'id="{place}"') == 1
            assert escape(row.cv.parsed.text[start:end].split("\n")[0].strip()) in page
            followed += 1
    assert followed > 8


def test_polling_happens_only_while_something_moves(tenant, job, sign_in, gateway, no_doorbell, samples):
    made, browser = job(tenant), sign_in(tenant, "recruiter")
    browser.post(
        reverse("ats-upload", args=[made.id]), {"file": SimpleUploadedFile(samples[0].name, samples[0].body)}
    )
    rows = reverse("ats-job-rows", args=[made.id])
    assert "every 3s" in html(browser.get(rows))
    work(tenant)
    assert "every 3s" not in html(browser.get(rows))


def test_upload_answers_the_script_and_the_plain_form(tenant, job, sign_in, no_doorbell, samples):
    made, browser = job(tenant), sign_in(tenant, "recruiter")
    there = reverse("ats-upload", args=[made.id])
    json = {"accept": "application/json"}
    first = browser.post(there, {"file": SimpleUploadedFile(samples[0].name, samples[0].body)}, headers=json)
    assert (first.status_code, first.json()["name"]) == (201, samples[0].name)
    again = browser.post(there, {"file": SimpleUploadedFile("twice.pdf", samples[0].body)}, headers=json)
    assert (again.status_code, again.json()["code"], again.json()["url"]) == (
        409,
        "already_applied",
        first.json()["url"],
    )
    nothing = browser.post(there, {}, headers=json)
    assert (nothing.status_code, nothing.json()["message"]) == (400, "Choose a file.")
    files = [SimpleUploadedFile(s.name, s.body) for s in samples[:3]] + [SimpleUploadedFile("empty.pdf", b"")]
    page = html(browser.post(there, {"file": files}, follow=True))
    assert "2 CVs received" in page
    assert "empty.pdf" in page
    assert page.count('id="row-') == 3


def test_evaluate_starts_a_run_and_shows_its_progress(tenant, job, sign_in, gateway, no_doorbell, samples):
    made, browser = job(tenant), sign_in(tenant, "recruiter")
    browser.post(
        reverse("ats-upload", args=[made.id]), {"file": SimpleUploadedFile(samples[0].name, samples[0].body)}
    )
    work(tenant)
    page = html(browser.post(reverse("ats-evaluate", args=[made.id]), follow=True))
    assert "data-live-url" in page
    assert "data-live-working" in page
    work(tenant)
    with tenant_scope(tenant.id):
        run = EvaluationRun.objects.get()
    assert "data-live-working" not in html(browser.get(reverse("ats-run", args=[run.id])))


def test_an_override_needs_a_reason_and_then_stands_once(tenant, evaluated, sign_in):
    browser = sign_in(tenant, "recruiter")
    with tenant_scope(tenant.id):
        verdict = (
            CriterionVerdict.objects.filter(state=VerdictState.VERIFIED, verdict="met")
            .select_related("evaluation")
            .first()
        )
    page = html(browser.get(reverse("ats-application", args=[verdict.evaluation.application_id])))
    action = reverse("ats-override", args=[verdict.id])
    key = re.search(rf'action="{action}".*?name="key" value="([^"]+)"', page, re.S).group(1)
    sent = {"verdict": "not_met", "key": key, "cited": [verdict.evidence[0]["piece"]], "reason": ""}
    assert "Reason" in html(browser.post(action, sent, follow=True))
    with tenant_scope(tenant.id):
        assert CriterionVerdict.objects.get(pk=verdict.pk).verdict == "met"
    for _time in range(2):
        page = html(browser.post(action, sent | {"reason": "The project was an internship."}, follow=True))
    assert "Person: Recruiter" in page
    with tenant_scope(tenant.id):
        held = CriterionVerdict.objects.get(pk=verdict.pk)
        assert (held.verdict, held.state, held.decided_by) == ("not_met", VerdictState.OVERRIDDEN, "person")
        assert held.decision_id != verdict.decision_id


def form_of(page: str) -> dict[str, str]:
    form = page[max(page.index('name="nonce"') - 200, 0) :]
    assert "checked" not in form[: form.index("</form>")], "a choice was made beforehand"
    return {"nonce": re.search(r'name="nonce" value="([^"]+)"', form).group(1), "reason": "I read the CV."}


def test_the_inbox_leads_from_question_to_question(tenant, evaluated, sign_in):
    browser = sign_in(tenant, "reviewer")
    with tenant_scope(tenant.id):
        waiting = list(ApprovalRequest.objects.filter(status="pending").order_by("id"))
    page = html(browser.get(reverse("inbox")))
    assert len(waiting) > 2
    assert page.count('class="row-link"') == len(waiting)
    with tenant_scope(tenant.id):
        asked = CriterionVerdict.objects.select_related("criterion").get(decision_id=waiting[0].subject_id)
    assert escape(asked.criterion.statement_en) in page
    code = waiting[0].reasons[0]
    filtered = html(browser.get(reverse("inbox"), {"reason": code}))
    assert filtered.count('class="row-link"') == sum(code in w.reasons for w in waiting)
    first = waiting[0]
    there = reverse("approval", args=[first.id])
    sent = form_of(html(browser.get(there)))
    none = browser.post(there, sent | {"answer": "not_stated", "reason": " "})
    assert none.status_code == 400
    answer = browser.post(there, sent | {"answer": "not_stated"})
    assert answer.status_code == 302
    assert answer.url.startswith("/inbox/")
    assert str(first.id) not in answer.url
    with tenant_scope(tenant.id):
        row = CriterionVerdict.objects.get(decision_id=first.subject_id)
        assert (row.verdict, row.decided_by) == ("not_stated", "person")
    again = browser.post(there, sent | {"answer": "met"})
    assert again.status_code == 409
    assert "Reviewer decided before" in again.content.decode()


def test_confirming_a_proposal_makes_it_count(tenant, evaluated, sign_in):
    browser = sign_in(tenant, "reviewer")
    with tenant_scope(tenant.id):
        waiting = next(
            w
            for w in ApprovalRequest.objects.filter(status="pending").order_by("id")
            if w.parameters["value"]
        )
        case = CriterionVerdict.objects.select_related("evaluation").get(decision_id=waiting.subject_id)
    dossier = reverse("ats-application", args=[case.evaluation.application_id])
    page = html(browser.get(dossier))
    form = page[page.index(reverse("approval", args=[waiting.id])) :]
    sent = form_of(form) | {"answer": "approve", "next": dossier}
    assert browser.post(reverse("approval", args=[waiting.id]), sent).url == dossier
    with tenant_scope(tenant.id):
        held = CriterionVerdict.objects.get(pk=case.pk)
        assert held.verdict == waiting.parameters["value"]["verdict"]


def test_a_form_never_leads_out_of_the_site(tenant, evaluated, sign_in):
    browser = sign_in(tenant, "reviewer")
    with tenant_scope(tenant.id):
        waiting = ApprovalRequest.objects.filter(status="pending").order_by("id").first()
    there = reverse("approval", args=[waiting.id])
    sent = form_of(html(browser.get(there))) | {"answer": "not_stated", "next": "//evil.example/"}
    assert browser.post(there, sent).url.startswith("/inbox/")


def test_rubric_is_shown_in_words_and_approved_by_those_who_may(tenant, person_of, job, sign_in):
    made = job(tenant)
    with tenant_scope(tenant.id):
        criteria = [{
            "key": "english", "statement_tr": "İngilizce", "statement_en": "English", "kind": "must", "method": "rule",
            "rule": {"type": "language_level", "language": "en", "min": "B2"},
        }]  # fmt: skip
        draft = services.create_rubric(actor=person_of(tenant, "recruiter"), job=made, criteria=criteria)
    there, approve = reverse("ats-rubrics", args=[made.id]), reverse("ats-rubric-approve", args=[draft.id])
    browser = sign_in(tenant, "recruiter")
    page = html(browser.get(there))
    assert "English at level B2 or better" in page
    assert approve not in page
    assert browser.post(approve).status_code == 403
    browser = sign_in(tenant, "hiring_manager")
    assert approve in html(browser.get(there))
    page = html(browser.post(approve, follow=True))
    assert "Version 2 is approved" in page
    assert "Retired" in page


def test_the_original_comes_back_byte_for_byte_and_inline_only_what_is_harmless(
    tenant, evaluated, sign_in, samples
):
    browser = sign_in(tenant, "recruiter")
    bodies = {s.name: s.body for s in samples}
    with tenant_scope(tenant.id):
        cvs = list(CVDocument.objects.select_related("file", "parsed"))
    for cv in cvs:
        there = reverse("ats-cv", args=[cv.application_id])
        answer, inline = browser.get(there), browser.get(there, {"inline": "1"})
        assert answer.content == bodies[cv.file.name]
        assert answer["Content-Disposition"].startswith("attachment")
        assert inline["Content-Disposition"].startswith(
            "inline" if cv.parsed.media_type in {"application/pdf", "text/plain"} else "attachment"
        )
        tab = html(browser.get(reverse("ats-application", args=[cv.application_id]), {"tab": "original"}))
        assert ("data-viewer=" in tab) == (cv.parsed.media_type == "application/pdf")


def test_hidden_text_is_shown_with_its_reason(tenant, evaluated, sign_in):
    browser = sign_in(tenant, "reviewer")
    with tenant_scope(tenant.id):
        cv = next(c for c in CVDocument.objects.select_related("parsed") if c.parsed.hidden)
    page = html(browser.get(reverse("ats-application", args=[cv.application_id]), {"tab": "hidden"}))
    assert escape(cv.parsed.hidden[0]["text"]) in page


def test_an_interviewer_sees_neither_names_nor_verdicts(tenant, evaluated, sign_in):
    browser = sign_in(tenant, "interviewer")
    with tenant_scope(tenant.id):
        row = Application.objects.select_related("candidate").first()
    page = html(browser.get(reverse("ats-job", args=[evaluated.id])))
    assert row.candidate.name not in page
    for name, key in (("ats-job-rows", evaluated.id), ("ats-application", row.id), ("ats-cv", row.id)):
        assert browser.get(reverse(name, args=[key])).status_code == 403


def test_another_company_finds_nothing(tenant, other_tenant, evaluated, sign_in):
    with tenant_scope(tenant.id):
        row = Application.objects.first()
        waiting = ApprovalRequest.objects.first()
        run = EvaluationRun.objects.first()
    browser = sign_in(other_tenant, "admin")
    for name, key in (
        ("ats-job", evaluated.id),
        ("ats-application", row.id),
        ("ats-cv", row.id),
        ("ats-run", run.id),
        ("approval", waiting.id),
    ):
        assert browser.get(reverse(name, args=[key])).status_code == 404
