"""A file of questions in the browser: wrong lines are named before anything is asked, then it runs, and its results come down."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from benchmarks.product import Api
from tests.e2e.conftest import LETTER, Desk
from tests.e2e.visitor import Visitor

NOBODY = str(UUID(int=0))


@pytest.fixture
def questions(desk: Desk) -> list[dict[str, Any]]:
    """One question about each criterion of a letter, and one about something that does not exist."""
    job = desk.job("experience", "negotiation", "licence")
    application = desk.upload(job, "letter.txt", LETTER.encode())
    verdicts = desk.evaluate(job)[application]["verdicts"]
    asked = [(v["criterion"], v["id"]) for v in verdicts] + [("nobody", NOBODY)]
    return [
        {
            "custom_id": f"soru-{name}",
            "method": "POST",
            "url": "/v1/decisions",
            "body": {
                "task": "ats.criterion_first_pass",
                "subject": {"type": "ats.application", "id": application},
                "inputs": {"verdict_id": verdict},
            },
        }
        for name, verdict in asked
    ]


def test_a_file_of_questions_is_checked_asked_and_its_results_come_down(
    visitor: Callable[[str], Visitor], questions: list[dict[str, Any]], admin: Api, tmp_path: Path
) -> None:
    recruiter = visitor("recruiter")
    page = recruiter.page
    page.goto("/operations/batches/")
    expect(page.locator("html")).to_have_attribute("lang", "tr")
    recruiter.look("batches")

    spoilt = [*questions[:1], questions[0], {**questions[1], "method": "GET"}]
    upload(page, tmp_path, spoilt)
    wrong = page.locator("#content tbody tr")
    expect(wrong).to_have_count(2)
    expect(wrong.nth(0)).to_contain_text("1. satırda aynı custom_id var")
    expect(wrong.nth(1)).to_contain_text("method")
    expect(page.locator("#content form")).to_have_count(0)
    recruiter.look("batch-refused")

    page.goto("/operations/batches/")
    upload(page, tmp_path, questions)
    expect(page.locator("#content dl.facts dd")).to_have_text("4")
    page.locator("input[name=window][value='1h']").check()
    page.fill("input[name=name]", "Mayıs mektupları")
    recruiter.look("batch-check")
    page.click("#content form button[type=submit]")
    page.wait_for_url(re.compile(r"/operations/batches/[0-9a-f-]{36}/$"))
    batch = page.url.rstrip("/").rsplit("/", 1)[-1]
    expect(page.locator("progress.bar")).to_have_attribute("value", "100", timeout=120_000)
    expect(page.locator("a[href$='/answers/']")).to_be_visible(timeout=60_000)
    expect(page.locator("h1")).to_have_text("Mayıs mektupları")
    recruiter.look("batch-done")

    good, bad = download(page, "answers", tmp_path), download(page, "failures", tmp_path)
    assert [row["custom_id"] for row in good] == [line["custom_id"] for line in questions[:-1]]
    assert [(row["custom_id"], row["error"]["code"]) for row in bad] == [("soru-nobody", "not_found")]
    decisions = {row["response"]["request_id"] for row in good}
    assert len(decisions) == len(good)
    for row in good:
        told = admin.get(f"decisions/{row['response']['request_id']}/")
        assert told["correlation"] == {"batch": batch, "custom_id": row["custom_id"]}

    page.click("#batch-retry-open")
    recruiter.look("batch-retry")
    page.click("#batch-retry button[type=submit]")
    page.wait_for_url(lambda url: batch not in url)
    expect(page.locator("a[href$='/failures/']")).to_be_visible(timeout=60_000)
    expect(page.locator(f"#batch a[href$='{batch}/']")).to_be_visible()


def upload(page: Page, folder: Path, lines: list[dict[str, Any]]) -> None:
    """Through the form of the list; ends on the page that says what would be asked."""
    file = folder / "sorular.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    page.set_input_files("#batch-file", file)
    page.click("#content form button[type=submit]")
    page.wait_for_url("**/operations/batches/files/*/")


def download(page: Page, part: str, folder: Path) -> list[dict[str, Any]]:
    """The lines of one file of results."""
    with page.expect_download() as coming:
        page.click(f"a[href$='/{part}/']")
    file = folder / f"{part}.jsonl"
    coming.value.save_as(file)
    return [json.loads(line) for line in file.read_text().splitlines()]
