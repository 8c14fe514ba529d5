"""A reviewer's inbox: a question, a word with its reason, the next question; and the application then shows that word."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from benchmarks.product import Api
from tests.e2e.conftest import Desk
from tests.e2e.visitor import Visitor

LETTERS = "Yurt dışı tedarikçilerle İngilizce yazışmaları yürüttü."
SILENT = f"Selin Örnek\nDepo sorumlusu\n2019 - 2021 Depo, Çorlu\n{LETTERS}\nİlgi alanları: bağlama, yürüyüş\n"
PASSAGE = "E4"  # the line above, by its number
REASON = "Yazışmaları İngilizce yürütmüş; düzeyi yazmıyor, görüşmede sorulacak (ığüşöç İĞÜŞÖÇ)."


@pytest.fixture(scope="module")
def asking(desk: Desk) -> dict[str, str]:
    """An evaluation with two open questions: a must and a knockout criterion that the CV does not answer."""
    job = desk.job("english", "licence")
    application = desk.upload(job, "özgeçmiş_Selin.txt", SILENT.encode(), "Selin Örnek")
    evaluation = desk.evaluate(job)[application]
    assert evaluation["status"] == "needs_review"
    assert [v["state"] for v in evaluation["verdicts"]] == ["needs_person", "needs_person"]
    return {"application": application, "evaluation": evaluation["id"]}


def test_the_inbox_leads_from_question_to_question_and_the_word_of_a_person_stands(
    visitor: Callable[[str], Visitor], asking: dict[str, str], admin: Api
) -> None:
    reviewer = visitor("reviewer")
    page = reviewer.page
    page.click(".nav-wide a[href='/inbox/']")
    own = page.locator(
        "section", has=page.locator(f"h2 a[href='/ats/applications/{asking['application']}/']")
    )
    expect(own.locator(".row-link")).to_have_count(2)
    waiting = int(page.locator(".nav-wide .count").inner_text())
    reviewer.look("inbox")

    own.locator(".row-link", has_text="İngilizce").click()
    first = page.url
    assert page.locator("input[name=answer]:checked").count() == 0  # nothing is chosen beforehand
    reviewer.look("question")
    page.check("input[name=answer][value=partly]")
    page.fill("input[name=pieces]", PASSAGE)
    page.fill("textarea[name=reason]", REASON)
    page.click("main form button[type=submit]")
    page.wait_for_url(lambda url: re.search(r"/inbox/[0-9a-f-]{36}/$", url) is not None and url != first)
    expect(page.locator("h1")).to_contain_text(
        "sürücü belgesi"
    )  # the other question of the same case comes next
    expect(page.locator(".nav-wide .count")).to_have_text(str(waiting - 1))
    second = page.url

    page.goto(first)
    expect(page.locator("main .notice")).to_contain_text(REASON)  # decided once; it cannot be decided again
    assert page.locator("main form").count() == 0
    reviewer.look("question-closed")

    page.goto(f"/ats/applications/{asking['application']}/")
    said = page.locator(".criterion", has_text="İngilizce dil düzeyi")
    expect(said.locator("[data-verdict=partly]")).to_be_visible()
    expect(said).to_contain_text("Mert Demir")
    expect(said).to_contain_text(REASON)
    expect(said.locator(".quote")).to_contain_text(LETTERS)
    open_still = page.locator(".criterion", has_text="sürücü belgesi")
    expect(open_still.locator("details form")).to_have_count(1)
    reviewer.look("application-reviewed")
    verdicts = {v["criterion"]: v for v in admin.get(f"ats/evaluations/{asking['evaluation']}/")["verdicts"]}
    assert (verdicts["english"]["verdict"], verdicts["english"]["decided_by"]) == ("partly", "person")
    assert verdicts["licence"]["state"] == "needs_person"

    page.goto(second)
    page.check("input[name=answer][value=approve]")
    page.fill("textarea[name=reason]", "Sürücü belgesinden söz etmiyor.")
    page.click("main form button[type=submit]")
    page.wait_for_url(lambda url: url != second)
    assert admin.get(f"ats/evaluations/{asking['evaluation']}/")["status"] == "reviewed"
