"""A recruiter's day in Turkish: a job, a pile of CVs, an evaluation that moves by itself, and a word against the machine's."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect

from benchmarks.product import Api
from samples import generate, hostile
from tests.e2e.conftest import Desk
from tests.e2e.visitor import Visitor

PDF, DOCX, TXT = 0, 1, 12  # plans of the catalogue
REASON = "Özgeçmişteki süre yetmiyor; Iğdır'daki görüşmede de doğruladı (İŞKUR belgesi: ğüşıöç)."
REJECTED = re.compile(r"\b(rejected|reddedildi|elendi)\b", re.IGNORECASE)
HOSTILE = {h.name: h for h in hostile.HOSTILE}
READING = {"ok": "file-check", "unreadable": "file-x", "hidden_text": "eye-off"}  # the icon beside the word


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A recruiter's folder: three CVs of three kinds, one behind a password, one with words off the page, one empty."""
    where = tmp_path_factory.mktemp("cvs")
    made = list(generate.generate(count=TXT + 1))
    files = {kind: (made[n].name, made[n].body) for kind, n in (("pdf", PDF), ("docx", DOCX), ("txt", TXT))}
    for kind, name in (("locked", "şifreli.pdf"), ("hidden", "kenar dışı.pdf"), ("empty", "boş.pdf")):
        files[kind] = (name, HOSTILE[name].build())
    for name, body in files.values():
        (where / name).write_bytes(body)
    return {kind: where / name for kind, (name, _body) in files.items()}


@pytest.fixture(scope="module")
def evaluated(folder: dict[str, Path], desk: Desk) -> tuple[str, dict[str, dict[str, object]]]:
    """A job with the three CVs and the one with hidden words, evaluated: its id, and application by kind of file."""
    job = desk.job("experience", "negotiation", "licence")
    for kind in ("pdf", "docx", "txt", "hidden"):
        desk.upload(job, folder[kind].name, folder[kind].read_bytes())
    desk.evaluate(job)
    kinds = {path.name: kind for kind, path in folder.items()}
    return job, {kinds[row["cv"]["name"]]: row for row in desk.read(job)}


def test_a_folder_of_cvs_becomes_verdicts_while_the_recruiter_watches(
    visitor: Callable[[str], Visitor], desk: Desk, folder: dict[str, Path], admin: Api
) -> None:
    job = desk.job("experience", "negotiation", "licence")
    recruiter = visitor("recruiter")
    page = recruiter.page
    expect(page.locator("html")).to_have_attribute("lang", "tr")
    expect(page.locator(".engine-state")).to_have_attribute("data-state", "ready")
    recruiter.look("jobs")

    page.click(f"a[href='/ats/jobs/{job}/']")
    expect(page.locator("#content ol.list-decimal li")).to_have_count(3)
    recruiter.look("job-empty")
    page.click(f"a[href='/ats/jobs/{job}/rubric/']")
    expect(page.locator("#version-1 .criterion")).to_have_count(3)
    expect(page.locator("#version-1")).to_contain_text("En az beş yıl (60 ay) iş deneyimi.")
    recruiter.look("rubric")

    page.goto(f"/ats/jobs/{job}/")
    page.set_input_files("[data-upload] input[type=file]", list(folder.values()))
    told = page.locator(".upload-item")
    expect(told).to_have_count(6)
    expect(page.locator(".upload-item[data-state=done]")).to_have_count(5)
    refused = page.locator(".upload-item[data-state=failed]")
    expect(refused).to_contain_text(folder["empty"].name)
    expect(page.locator("#applications tbody tr")).to_have_count(5)
    with recruiter.bearing("409"):
        page.set_input_files("[data-upload] input[type=file]", [folder["pdf"]])
        expect(page.locator(".upload-item[data-state=failed] a")).to_have_attribute(
            "href", re.compile(r"/ats/applications/")
        )
    for kind, quality in (
        ("pdf", "ok"),
        ("docx", "ok"),
        ("txt", "ok"),
        ("locked", "unreadable"),
        ("hidden", "hidden_text"),
    ):
        line = row(page, folder[kind].name)
        expect(line.locator(f"use[href$='#{READING[quality]}']")).to_have_count(1, timeout=30_000)
    recruiter.look("job-read")

    frames: list[dict[str, int]] = []

    def connected(socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: frames.append(json.loads(frame)))

    page.on("websocket", connected)
    page.click(f"form[action='/ats/jobs/{job}/evaluate/'] button.btn-primary")
    page.wait_for_url("**/ats/runs/*/")
    page.evaluate("window.watched = []")
    page.evaluate(
        "new MutationObserver(() => window.watched.push(document.querySelector('[data-live$=percent]').textContent))"
        ".observe(document.querySelector('[data-live-url]'), {subtree: true, childList: true, characterData: true})"
    )
    recruiter.look("run-moving")
    expect(page.locator("progress.bar")).to_have_attribute("value", "100", timeout=120_000)
    expect(page.locator("[data-live=ended]")).to_have_text("5")
    seen = [int(value) for value in page.evaluate("window.watched")]  # empty had the page been loaded again
    assert seen == sorted(seen)
    assert len({value for value in seen if value < 100}) >= 2, seen
    assert frames[-1]["ended"] == frames[-1]["total"] == 5
    expect(page.locator("#evaluations tbody tr")).to_have_count(5)
    expect(page.locator("#evaluations use[href$='#clock'], #evaluations .spin")).to_have_count(0)
    expect(page.locator("[data-live-working]")).to_be_hidden()
    recruiter.look("run-done")

    page.click(f".heading a[href^='/ats/jobs/{job}/']")
    expect(row(page, folder["pdf"].name).locator(".chip[title]")).not_to_have_count(0)
    recruiter.look("job-evaluated")
    applications = {a["cv"]["name"]: a for a in admin.rows("ats/applications/", job=job)}
    assert {a["status"] for a in applications.values()} == {"active"}
    locked = admin.get(f"ats/evaluations/{applications[folder['locked'].name]['evaluation']}/")
    assert (locked["status"], locked["verdicts"]) == ("blocked", [])
    texts = page.inner_text("main")
    for application in applications.values():
        page.goto(f"/ats/applications/{application['id']}/")
        texts += page.inner_text("main")
    assert REJECTED.findall(texts) == []


def test_a_citation_leads_to_its_words_in_the_text_and_on_the_page_of_the_pdf(
    visitor: Callable[[str], Visitor],
    evaluated: tuple[str, dict[str, dict[str, object]]],
    folder: dict[str, Path],
) -> None:
    _job, applications = evaluated
    recruiter = visitor("recruiter")
    page = recruiter.page
    page.goto(f"/ats/applications/{applications['pdf']['id']}/")
    recruiter.look("application")
    quotes = page.locator("#criteria .quote")
    assert quotes.count() >= 2
    for number in range(quotes.count()):
        quote = quotes.nth(number)
        quote.click()
        anchor = quote.get_attribute("data-evidence")
        marks = page.locator(f"[data-document] mark[data-evidence~='{anchor}']")
        assert "".join(marks.all_inner_texts()) == words_of(quote)
        expect(marks.first).to_have_class(re.compile("is-active"))
        expect(marks.first).to_be_in_viewport()
    recruiter.look("application-cited")

    page.click(".tabs-line a[href$='tab=original']")
    expect(page.locator(".viewer-page canvas")).not_to_have_count(0, timeout=30_000)
    recruiter.look("application-original")
    original = pypdfium2.PdfDocument(io.BytesIO(folder["pdf"].read_bytes()))
    checked = 0
    for number in range(quotes.count()):
        quote = quotes.nth(number)
        quote.click()
        box = page.locator(f".viewer-box[data-mark='{quote.get_attribute('data-evidence')}']").first
        expect(box).to_have_class(re.compile("is-active"))
        expect(box).to_be_in_viewport()
        for drawn, printed in zip(placed(box), line_of(original, words_of(quote)), strict=True):
            assert drawn == pytest.approx(printed, abs=0.006), words_of(
                quote
            )  # of the page's width or height
        checked += 1
    assert checked >= 2
    page.locator(".viewer-box").first.click()
    expect(page.locator("#criteria .quote.is-active")).not_to_have_count(0)

    page.goto(f"/ats/applications/{applications['hidden']['id']}/?tab=hidden")
    expect(page.locator(".document-text .quote")).to_contain_text(HOSTILE[folder["hidden"].name].hidden)
    recruiter.look("application-hidden")


def test_a_person_changes_a_verdict_and_the_page_says_who_and_why_in_both_languages(
    visitor: Callable[[str], Visitor], evaluated: tuple[str, dict[str, dict[str, object]]], admin: Api
) -> None:
    _job, applications = evaluated
    recruiter = visitor("recruiter")
    page = recruiter.page
    page.goto(f"/ats/applications/{applications['docx']['id']}/")
    rule = admin.get(f"ats/evaluations/{applications['docx']['evaluation']}/")["verdicts"][0]
    assert (rule["criterion"], rule["verdict"], rule["decided_by"]) == ("experience", "met", "rule")
    criterion = page.locator(f"#criterion-{rule['id']}")
    criterion.locator("summary").click()
    recruiter.look("application-override")
    criterion.locator("input[name=verdict][value=partly]").check()
    page.locator(".piece", has_text=re.compile("^E1$")).click()
    cited = page.locator(".piece[aria-pressed=true]")
    expect(cited).to_have_text(["E1"])
    expect(criterion.locator("input[name=pieces]")).to_have_value("E1")
    first_line = page.locator("[data-document]").inner_text().split("E1", 1)[1].split("E2", 1)[0].strip()
    criterion.locator("textarea[name=reason]").fill(REASON)
    criterion.locator("form button[type=submit]").click()
    page.wait_for_url(f"**#criterion-{rule['id']}")

    expect(criterion.locator("[data-verdict=partly]")).to_be_visible()
    expect(criterion).to_contain_text("Elif Kaya")
    expect(criterion).to_contain_text(REASON)
    expect(criterion.locator(".quote")).to_have_count(1)
    assert words_of(criterion.locator(".quote")) == first_line
    recruiter.look("application-overridden")
    expect(page.locator(".nav-wide")).to_contain_text("Gelen kutusu")
    recruiter.switch_to("en")
    expect(page.locator(".nav-wide")).to_contain_text("Inbox")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(criterion).to_contain_text("Partly met")
    expect(criterion).to_contain_text("Changed by a person")
    expect(criterion).to_contain_text("Elif Kaya")
    expect(criterion).to_contain_text("At least five years (60 months) of work experience.")

    now = admin.get(f"ats/evaluations/{applications['docx']['evaluation']}/")["verdicts"][0]
    assert (now["verdict"], now["state"], now["decided_by"]) == ("partly", "overridden", "person")
    earlier = admin.get(f"decisions/{rule['decision_id']}/")
    assert earlier["value"]["verdict"] == "met"  # the machine's word stays
    assert earlier["superseded_by"] == now["decision_id"]


def row(page: Page, file: str) -> Locator:
    """The line of the applications' table with that file."""
    return page.locator("#applications tbody tr", has_text=file)


def words_of(quote: Locator) -> str:
    """A quotation without its marks and its source."""
    text: str = quote.evaluate("(e) => e.firstChild.textContent")
    return text.strip().removeprefix("“").removesuffix("”")


def placed(box: Locator) -> tuple[float, float, float, float]:
    """Where a box lies on its sheet: left, top, right, bottom as shares of the sheet."""
    drawn: list[float] = box.evaluate(
        """(e) => { const b = e.getBoundingClientRect(), p = e.parentElement.getBoundingClientRect();
        return [(b.left - p.left) / p.width, (b.top - p.top) / p.height, (b.right - p.left) / p.width, (b.bottom - p.top) / p.height]; }"""
    )
    return tuple(drawn)  # type: ignore[return-value]


def line_of(original: pypdfium2.PdfDocument, words: str) -> tuple[float, float, float, float]:
    """Where the words are printed in the original itself, as shares of the page from its upper left corner."""
    for sheet in original:
        text = sheet.get_textpage()
        found = text.search(words, match_case=True).get_next()
        if found is None:
            continue
        boxes = [text.get_charbox(found[0] + n) for n in range(found[1])]
        width, height = sheet.get_size()
        left, bottom = min(b[0] for b in boxes), min(b[1] for b in boxes)
        right, top = max(b[2] for b in boxes), max(b[3] for b in boxes)
        return left / width, 1 - top / height, right / width, 1 - bottom / height
    raise AssertionError(f"{words!r} is not printed in the original")
