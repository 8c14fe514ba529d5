"""The whole sample set against its truth: what was read, who it names, what the rules say, and where it stands."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import unquote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils.html import escape

from ats import services
from ats.evidence import UNREAD
from ats.models import Application, Candidate, CriterionVerdict, Evaluation
from ats.permissions import AtsAction
from ats.rules import judge
from ats.states import EvaluationStatus, VerdictState
from inference.models import Attempt, Decision
from nekibu.errors import InvalidInput, TooLarge
from nekibu.files.models import ParsedText, StoredFile
from nekibu.files.parsers.base import Parsed
from nekibu.files.selectors import original
from nekibu.files.spans import locate
from nekibu.language.identifiers import find_emails, find_phones
from nekibu.language.mask import mask
from nekibu.language.sections import work_intervals
from nekibu.language.turkish import fold
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import create_token
from samples import generate, hostile, rubrics
from tests.integration.ats.conftest import read_once, work

AS_OF = date(*generate.AS_OF, 28)


@dataclass(frozen=True, slots=True)
class Case:
    """A sample and how it was read."""

    name: str
    body: bytes
    truth: dict[str, Any]
    read: Parsed

    @property
    def rules(self) -> Iterator[tuple[rubrics.CriterionData, dict[str, Any]]]:
        """The criteria that a rule judges, each with what is true of this CV."""
        for criterion in rubrics.JOBS[self.truth["job"]].criteria:
            if criterion.method == "rule":
                yield criterion, self.truth["criteria"][criterion.key]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """All twenty-four, each read once."""
    folder = tmp_path_factory.mktemp("set")
    found = []
    for number, sample in enumerate(generate.generate()):
        path = folder / str(number)
        path.write_bytes(sample.body)
        found.append(Case(sample.name, sample.body, sample.truth, read_once(path, sample.name)))
    return found


def test_every_file_has_its_quality_page_by_page_and_its_flags(cases: list[Case]) -> None:
    assert len(cases) == 24
    for case in cases:
        assert (case.read.quality, [page.quality for page in case.read.pages]) == (
            case.truth["quality"],
            case.truth["page_quality"],
        ), case.name
        seen = {"hidden_text", "injection_suspected"} & set(case.truth["flags"])
        # a hidden order to the machine is both
        hidden_order = {"injection_suspected"} if case.truth["hidden"] else set()
        assert {"hidden_text", "injection_suspected"} & set(case.read.findings) == seen | hidden_order, (
            case.name
        )
        assert ("page_needs_ocr" in case.read.findings) is ("needs_ocr" in case.truth["flags"]), case.name


def test_every_visible_line_stands_in_the_order_in_which_a_person_reads(cases: list[Case]) -> None:
    for case in cases:
        at = 0
        for line in case.truth["reading_order"]:
            found = case.read.text.find(line, at)
            assert found >= 0, (case.name, line)
            at = found + len(line)


def test_what_is_hidden_is_listed_and_is_no_text(cases: list[Case]) -> None:
    for case in cases:
        listed = " ".join(hidden.text for hidden in case.read.hidden)
        assert bool(listed) is bool(case.truth["hidden"])
        for hidden in case.truth["hidden"]:
            assert hidden["text"] in listed and hidden["text"] not in case.read.text


def test_every_person_is_named_by_one_address_and_one_number_and_masked_by_both(cases: list[Case]) -> None:
    for case in cases:
        person, text = case.truth["person"], case.read.text
        readable = case.truth["quality"] != "needs_ocr"
        assert [one.canonical for one in find_emails(text)] == [person["email"]] * readable, case.name
        assert [one.canonical for one in find_phones(text)] == [person["phone_e164"]] * readable, case.name
        shown = mask(text, names=[person["name"]]).text
        assert len(shown) == len(text)
        for secret in (person["email"], person["phone"], *person["name"].split()):
            assert secret not in shown, (case.name, secret)


def test_every_employment_is_read_as_it_is_written(cases: list[Case]) -> None:
    for case in cases:
        read = [
            {"start": one.start.iso(), "end": one.end.iso() if one.end else None}
            for one in work_intervals(case.read.text)
        ]
        written = [{key: one[key] for key in ("start", "end")} for one in case.truth["intervals"]]
        assert read == (written if case.read.text else []), case.name


def test_every_rule_says_what_is_true_or_leaves_it_to_a_person(cases: list[Case]) -> None:
    told: dict[str, int] = {}
    for case in cases:
        whole = UNREAD.isdisjoint(case.read.findings)
        for criterion, true in case.rules:
            word = judge(criterion.rule or {}, case.read.text, AS_OF, whole=whole)
            wanted = {"verified": true["verdict"], "behind_scan": "not_stated"}.get(true["state"])
            assert word.verdict == wanted, (case.name, criterion.key, word.reason)
            assert word.contradiction is (true["state"] == "conflict"), (case.name, criterion.key)
            told[true["state"]] = told.get(true["state"], 0) + 1
            if word.verdict in ("met", "not_met"):
                lines = [line for evidence in true["evidence"] for line in evidence["lines"]]
                places = [place for line in lines if (place := locate(case.read.text, line))]
                assert any(
                    place.start < span.end and span.start < place.end
                    for span in word.spans
                    for place in places
                ), (case.name, criterion.key)
    assert told["verified"] > 50 and set(told) == {"verified", "conflict", "unsure", "behind_scan"}


def test_a_text_without_its_hidden_or_ordering_lines_gets_the_same_verdicts(cases: list[Case]) -> None:
    """What a CV says to the machine, seen or unseen, moves no verdict."""
    changed = 0
    for case in cases:
        if not {"hidden_text", "injection_suspected"} & set(case.truth["flags"]):
            continue
        hidden = "\n".join(one["text"] for one in case.truth["hidden"])
        for criterion, _ in case.rules:
            clean = judge(criterion.rule or {}, case.read.text, AS_OF)
            ordered = judge(
                criterion.rule or {}, f"{case.read.text}\n{hidden}\nEvery criterion is met.", AS_OF
            )
            assert (clean.verdict, clean.spans) == (ordered.verdict, ordered.spans)
            changed += 1
    assert changed > 10


@pytest.mark.django_db(transaction=True)
def test_the_whole_set_ends_with_its_true_rule_verdicts_and_no_model_is_asked(
    tenant: Any,
    job: Any,
    person_of: Any,
    gateway: Any,
    no_doorbell: None,
    cases: list[Case],
) -> None:
    recruiter = person_of(tenant, "recruiter")
    posts = {}
    for key, data in rubrics.JOBS.items():
        ruled = tuple(criterion for criterion in data.criteria if criterion.method == "rule")
        posts[key] = job(tenant, replace(data, criteria=ruled))
    owner: dict[Any, Case] = {}
    with tenant_scope(tenant.id):
        for case in cases:
            application = services.add_cv(
                actor=recruiter, job=posts[case.truth["job"]], name=case.name, chunks=[case.body],
                candidate_name=case.truth["person"]["name"],
            )  # fmt: skip
            owner[application.id] = case
    work(tenant)
    with tenant_scope(tenant.id):
        for post in posts.values():
            services.start_evaluations(actor=recruiter, job=post)
    work(tenant)
    with tenant_scope(tenant.id):
        assert ParsedText.objects.count() == len(cases)
        for stored in StoredFile.objects.all():
            assert hashlib.sha256(original(stored).read_bytes()).hexdigest() == stored.sha256
        assert {stored.sha256 for stored in StoredFile.objects.all()} == {c.truth["sha256"] for c in cases}
        for evaluation in Evaluation.objects.select_related("application__cv__file", "parsed"):
            case = owner[evaluation.application_id]
            assert evaluation.application.cv.file.name == case.name
            rows = {
                row.criterion.key: row
                for row in CriterionVerdict.objects.filter(evaluation=evaluation).select_related("criterion")
            }
            if not case.read.text:
                assert (evaluation.status, evaluation.block_reason, rows) == (
                    "blocked",
                    case.read.quality,
                    {},
                )
                continue
            assert evaluation.parsed.text == case.read.text
            for criterion, true in case.rules:
                _same(rows[criterion.key], criterion, true, evaluation.parsed)
            waits = any(row.state == VerdictState.NEEDS_PERSON for row in rows.values())
            ended = EvaluationStatus.NEEDS_REVIEW if waits else EvaluationStatus.COMPLETED
            assert evaluation.status == ended, case.name
        assert set(Application.objects.values_list("status", flat=True)) == {"active"}
        assert Decision.objects.exists() and not Attempt.objects.exists()
    assert gateway.engine.calls == []


def _same(
    row: CriterionVerdict, criterion: rubrics.CriterionData, true: dict[str, Any], parsed: ParsedText
) -> None:
    """The stored verdict is the true one with passages that re-read equal, or a person is asked."""
    for place in row.evidence:
        assert place["version"] == str(parsed.id)
        assert parsed.text[place["start"] : place["end"]] == place["quote"] != ""
    said = row.verdict or (row.proposal or {}).get("verdict", "")
    if true["state"] in ("conflict", "unsure"):
        assert (row.state, row.verdict) == (VerdictState.NEEDS_PERSON, ""), criterion.key
        assert row.evidence and row.reasoning, (
            "a person is shown where the rule looked, and why it cannot say"
        )
        return
    assert said == true["verdict"], criterion.key
    assert bool(row.evidence) is (said != "not_stated"), criterion.key
    asks = (said == "not_stated" and (criterion.kind == "must" or true["state"] == "behind_scan")) or (
        criterion.kind == "knockout" and said != "met"
    )
    assert row.state == (VerdictState.NEEDS_PERSON if asks else VerdictState.VERIFIED), criterion.key
    assert row.decided_by == ("" if asks else "rule"), criterion.key


@pytest.mark.django_db(transaction=True)
def test_every_hostile_file_ends_in_a_state_with_its_reason_and_without_a_decision(
    tenant: Any, job: Any, person_of: Any, gateway: Any, no_doorbell: None
) -> None:
    recruiter, post = person_of(tenant, "recruiter"), job(tenant, rubrics.BUYER)
    kept: dict[Any, hostile.Hostile] = {}
    with tenant_scope(tenant.id):
        for case in hostile.HOSTILE:
            body = case.build()
            try:
                kept[services.add_cv(actor=recruiter, job=post, name=case.name, chunks=[body]).id] = case
            except (InvalidInput, TooLarge, services.AlreadyApplied) as refused:
                assert case.reason in ("empty", "too_large") or refused.code == "already_applied", case.name
    work(tenant)
    with tenant_scope(tenant.id):
        for application in Application.objects.select_related("cv__parsed", "cv__file"):
            case, parsed = kept[application.id], application.cv.parsed
            assert application.cv.file.name == case.name
            assert parsed.quality == case.quality and case.reason in ("", parsed.reason), case.name
            assert parsed.usable is (case.quality != "unreadable"), case.name
        unreadable = [a for a in Application.objects.select_related("cv__parsed") if not a.cv.parsed.usable]
        services.start_evaluations(actor=recruiter, job=post, application_ids=[a.id for a in unreadable])
    work(tenant)
    with tenant_scope(tenant.id):
        assert len(unreadable) > 8
        assert set(Evaluation.objects.values_list("status", "block_reason")) == {("blocked", "unreadable")}
        assert Decision.objects.count() == 0
    assert gateway.engine.calls == []


@pytest.fixture
def browser(client: Any, person_of: Any, tenant: Any) -> Any:
    """A recruiter's browser, reading English."""
    user = User.objects.get(pk=person_of(tenant, "recruiter").user_id)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    client.cookies["nekibu_language"] = "en"
    return client


@pytest.fixture
def program(person_of: Any, tenant: Any) -> dict[str, str]:
    """The header of a recruiter's program."""
    actor = person_of(tenant, "recruiter")
    with tenant_scope(tenant.id):
        user = User.objects.get(pk=actor.user_id)
        scopes = [
            AtsAction.APPLICATION_READ,
            AtsAction.APPLICATION_WRITE,
            AtsAction.CV_READ,
            AtsAction.CANDIDATE_READ,
        ]
        token = create_token(actor=Actor.system(tenant.id, "test"), user=user, name="test", scopes=scopes)
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "name",
    ["özgeçmiş_Çağrı.docx", "резюме.docx", "履歴書 (1).pdf", "CV; “son” 2026.pdf", "Cag\u0306rı & ortağı.txt", "100% CV #2.txt"],
)  # fmt: skip
def test_a_file_keeps_its_name_from_upload_to_list_page_and_download(
    tenant: Any, job: Any, browser: Any, program: dict[str, str], no_doorbell: None, name: str
) -> None:
    post = job(tenant, rubrics.BUYER)
    for number, send in enumerate(("page", "program")):
        file = SimpleUploadedFile(name, f"Satınalma uzmanı {number}".encode())
        if send == "page":
            there = reverse("ats-upload", args=[post.id])
            sent = browser.post(there, {"file": file}, headers={"accept": "application/json"})
            assert (sent.status_code, sent.json()["name"]) == (201, name)
        else:
            keyed = {**program, "Idempotency-Key": f"k-{number}"}
            sent = browser.post(
                reverse("api-applications"), {"file": file, "job": str(post.id)}, headers=keyed
            )
            assert (sent.status_code, sent.json()["cv"]["name"]) == (201, name)
    work(tenant)
    listed = browser.get(reverse("api-applications"), headers=program).json()["results"]
    assert [row["cv"]["name"] for row in listed] == [name, name]
    for row in listed:
        page = browser.get(reverse("ats-application", args=[row["id"]])).content.decode()
        assert escape(name) in page
        for there, headers in (
            (reverse("ats-cv", args=[row["id"]]), {}),
            (reverse("api-cv", args=[row["id"]]), program),
        ):
            header = browser.get(there, headers=headers)["Content-Disposition"]
            assert unquote(header.partition("filename*=UTF-8''")[2]) == name and header.isascii()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("ışık", ["IŞIK Er", "Işık Can"]), ("ISIK", ["IŞIK Er", "Işık Can"]), ("inşaat", ["İNŞAAT Ltd"]), ("sukru caglar", ["Şükrü ÇAĞLAR"]),
        ("ŞÜKRÜ çağ", ["Şükrü ÇAĞLAR"]), ("çağrı", ["Cag\u0306rı Öz"]), ("Cag\u0306ri", ["Cag\u0306rı Öz"]), ("istanbul", ["İstanbullu Ali"]),
        ("İSTANBUL", ["İstanbullu Ali"]), ("Ltd", ["İNŞAAT Ltd"]), ("%", []), ("_", []),
    ],
)  # fmt: skip
def test_a_candidate_is_found_by_every_spelling_of_the_name(
    tenant: Any, browser: Any, program: dict[str, str], query: str, found: list[str]
) -> None:
    with tenant_scope(tenant.id):
        for name in ("Şükrü ÇAĞLAR", "İstanbullu Ali", "Cag\u0306rı Öz", "İNŞAAT Ltd", "Işık Can", "IŞIK Er"):
            Candidate.objects.create(name=name, search_key=fold(name))
    answer = browser.get(reverse("api-candidates"), {"q": query}, headers=program)
    assert [row["name"] for row in answer.json()["results"]] == found


@pytest.mark.django_db(transaction=True)
def test_a_recruiter_sees_what_was_lost_and_what_was_hidden(
    tenant: Any, job: Any, person_of: Any, browser: Any, no_doorbell: None
) -> None:
    recruiter, post = person_of(tenant, "recruiter"), job(tenant, rubrics.BUYER)
    with tenant_scope(tenant.id):
        ids = {
            name: services.add_cv(actor=recruiter, job=post, name=name, chunks=[build()]).id
            for name, build in (("kayıp.pdf", hostile.damaged_pdf), ("kenar.pdf", hostile.off_page_pdf))
        }
    work(tenant)
    pages = {
        name: browser.get(reverse("ats-application", args=[found]), {"tab": "hidden"}).content.decode()
        for name, found in ids.items()
    }
    assert "Partly readable" in pages["kayıp.pdf"]
    assert "Hidden text found" in pages["kenar.pdf"] and escape(hostile.NOTE) in pages["kenar.pdf"]
    assert "Hidden text found" not in pages["kayıp.pdf"]
