"""The trace of one decision of the model: every stage in order, the time, the tokens, the checks, and never the salt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from benchmarks.product import Api, Installation
from inference.gateway.config import salt_key
from inference.gateway.salt import salt_of
from inference.slo import Band
from inference.wire import Ticket
from tests.e2e.conftest import LETTER, Desk
from tests.e2e.visitor import Visitor

ORDER = ["classify", "retrieve", "protect", "compress", "assemble", "key", "route", "schedule"]


@pytest.fixture(scope="module")
def trace(desk: Desk, admin: Api) -> dict[str, Any]:
    """The trace of a decision that the model took part in."""
    job = desk.job("negotiation")
    application = desk.upload(job, "letter.txt", LETTER.encode())
    verdict = desk.evaluate(job)[application]["verdicts"][0]
    return dict(admin.get(f"decisions/{verdict['decision_id']}/trace/"))


def test_the_trace_shows_the_whole_way_of_a_decision(
    visitor: Callable[[str], Visitor], trace: dict[str, Any], product: Installation
) -> None:
    recorded = [step["stage"] for step in trace["steps"]]
    assert [stage for stage in recorded if stage in ORDER] == ORDER
    recruiter = visitor("recruiter")
    page = recruiter.page
    page.goto("/decisions/")
    recruiter.look("decisions")
    page.click(f"a[href='/decisions/{trace['decision_id']}/']")
    recruiter.look("trace")

    stages = page.locator(".timeline > li")
    shown = [int(re.match(r"(\d+)\.", text)[1]) for text in page.locator(".timeline-title").all_inner_texts()]  # type: ignore[index]
    assert shown == list(range(1, stages.count() + 1))
    assert stages.count() >= len(ORDER) + 2  # and the answer, and its checks
    for name, tile in (("uncached", 0), ("cache_read", 1), ("output", 2)):
        figure = re.sub(r"\D", "", page.locator(".stat-tile .stat-value").nth(tile).inner_text())
        assert int(figure) == trace["usage"][name]
    assert trace["usage"]["uncached"] > 0 and trace["usage"]["output"] > 0
    phases = page.locator(".waterfall > li")
    assert phases.count() == 6
    for number, (name, seconds) in enumerate(trace["phases"].items()):
        assert (phases.nth(number).locator("rect").count() == 1) == bool(float(seconds or 0)), name
    checks = page.locator(".timeline > li", has=page.locator("use[href$='#list-checks']"))
    expect(checks.locator("tbody tr")).to_have_count(len(trace["checks"]))
    attempt = trace["attempts"][0]
    expect(page.locator(".timeline")).to_contain_text(attempt["salt_id"])

    key = salt_key(product.state)
    record = json.dumps(trace)
    parts = next(s["payload"] for s in trace["steps"] if s["stage"] == "key")
    namespace = parts["namespace"]
    salt = salt_of(
        key,
        Ticket(
            attempt_id=attempt["attempt_id"],
            decision_id=trace["decision_id"],
            band=Band(trace["route"]["band"]),
            queue_ttl=1,
            input_ids=(1,),
            max_out=1,
            tenant=namespace["tenant"],
            trust_class=namespace["trust_class"],
            acl_epoch=namespace["acl_epoch"],
        ),
    )
    assert salt.id == attempt["salt_id"]  # so this is the salt that was used
    assert salt.value not in page.content() + record
    assert key.hex() not in page.content() + record


def test_the_header_tells_which_engine_and_model_answer(
    visitor: Callable[[str], Visitor], admin: Api
) -> None:
    engine = admin.get("inference/status/")
    assert (engine["state"], engine["kind"]) == ("ready", "sglang")
    recruiter = visitor("recruiter")
    page = recruiter.page
    expect(page.locator(".engine-state")).to_have_attribute("data-state", "ready")
    expect(page.locator(".engine-model")).to_contain_text(engine["model"])
    page.click("button.engine")
    panel = page.locator("#engine-panel")
    expect(panel).to_be_visible()
    for fact in (engine["engine"], engine["model"], engine["device"]):
        expect(panel).to_contain_text(fact)
    page.keyboard.press("Escape")
    page.goto("/engine/")
    expect(page.locator("#engine-page")).to_contain_text(engine["model"])
    recruiter.look("engine")
