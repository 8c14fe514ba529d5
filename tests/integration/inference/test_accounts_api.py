"""The accounts over REST: a window and a slice in, figures as JSON or CSV out, each with the decisions behind it."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest
from django.utils import timezone

from inference.ledger import keeping
from inference.ledger.chains import replay
from inference.ledger.slices import DIMENSIONS
from inference.models import Price
from inference.usage import Usage
from inference.wire import Aborted, Phases
from nekibu.tenants.scope import tenant_scope
from tests.integration.inference.test_accounts import MET, done

ACCOUNTS = "/api/v1/inference/accounts/"


@pytest.fixture
def story(ask, gateway, tenant):
    """Three decisions: one holds, one was cut off twice, one broke and was asked again. A second costs 1."""
    with tenant_scope(tenant.id):
        Price.objects.create(
            kind="cpu_hour", provider="self-hosted", currency="USD", amount=3600,
            effective_from=timezone.now() - timedelta(days=1),
        )  # fmt: skip
    lost = Aborted(
        "engine_lost", True, Usage(100, 0, 5, 0, 0), Phases(0.0, 0.0, 0.5, 0.5), None, None, 0, "r", "f", "s"
    )
    asked = {}
    for name, answers in {
        "holds": [done(MET)],
        "cut": [done('{"pieces": [', finish="length")] * 2,
        "again": [lost, done(MET)],
    }.items():
        gateway.stumbles = list(answers)
        asked[name] = ask(name, correlation={"node": f"=node {name}"})
    with tenant_scope(tenant.id):
        while keeping.keep_up():
            pass
    return asked


def test_the_figures_of_a_day_are_told_whole_and_by_group(story, browser, tenant):
    said = browser(tenant).get(ACCOUNTS, {"by": "node"}).json()
    assert (said["percentiles"], said["pending"], said["by"]) == ("samples", 0, ["node"])
    total = said["total"]
    assert (total["decisions"], total["valid"], total["attempts"]) == (3, 2, 5)
    assert total["attempts_per_valid"] == 2.5
    assert total["failures"] == {"truncated": 2, "schema_failed": 0, "broken": 1, "usage_refused": 0}
    assert total["cost"] == [
        {
            "currency": "USD", "amount": "3.8", "state": "stale", "known": "3.8", "unknown_attempts": 0, "stale_attempts": 5,
            "per_valid": {**total["cost"][0]["per_valid"], "amount": "1.9", "state": "stale"},
        }
    ]  # fmt: skip
    assert total["times"]["ttft"]["p95"] == {"value": None, "low": None, "high": None, "n": 4, "needed": 59}
    assert total["boundary"] == "gateway"
    assert total["dominant"]["phase"] is None and total["dominant"]["needed"] == 59
    assert [row["key"]["node"] for row in said["rows"]] == ["=node again", "=node cut", "=node holds"]
    assert sum(Decimal(row["cost"][0]["amount"]) for row in said["rows"]) == Decimal("3.8")
    cut = said["rows"][1]
    assert cut["cost"][0]["per_valid"]["state"] == "undefined"
    assert set(said["values"]) == set(DIMENSIONS)
    assert said["values"]["node"] == ["=node again", "=node cut", "=node holds"]


def test_every_figure_leads_to_the_decisions_behind_it(story, browser, tenant):
    client = browser(tenant)
    said = client.get(ACCOUNTS, {"by": "node"}).json()

    def behind(link):
        return [row["decision_id"] for row in client.get(link).json()["results"]]

    ids = {name: str(outcome.decision_id) for name, outcome in story.items()}
    links = said["total"]["links"]
    assert behind(links["decisions"]) == [ids["again"], ids["cut"], ids["holds"]]
    assert behind(links["valid"]) == [ids["again"], ids["holds"]]
    assert behind(links["invalid"]) == behind(links["truncated"]) == [ids["cut"]]
    assert behind(links["broken"]) == [ids["again"]]
    assert behind(links["unknown_cost"]) == behind(links["schema_failed"]) == []
    assert behind(links["stale_cost"]) == [ids["again"], ids["cut"], ids["holds"]]
    for row, name in zip(said["rows"], ("again", "cut", "holds"), strict=True):
        assert behind(row["links"]["decisions"]) == [ids[name]]
        assert parse_qs(urlsplit(row["links"]["valid"]).query)["figure"] == ["valid"]


def test_decisions_are_listed_by_how_long_something_took(story, browser, tenant):
    client = browser(tenant)

    def listed(**asked):
        return len(client.get(f"{ACCOUNTS}decisions/", asked).json()["results"])

    assert listed(time="decode", over="0.5") == 2  # both attempts of a decision count together
    assert listed(time="decode", under="0.5") == 1
    assert listed(figure="attempts", time="ttft", over="0.5", under="0.7") == 3
    assert client.get(f"{ACCOUNTS}decisions/", {"figure": "none"}).status_code == 400
    assert client.get(f"{ACCOUNTS}decisions/", {"time": "none", "over": "1"}).status_code == 400
    assert client.get(f"{ACCOUNTS}decisions/", {"time": "e2e", "over": "long"}).status_code == 400


def test_a_slice_and_a_window_narrow_what_is_told(story, browser, tenant):
    client = browser(tenant)
    one = client.get(ACCOUNTS, {"node": ["=node cut", "=node holds"]}).json()
    assert one["total"]["decisions"] == 2
    assert client.get(ACCOUNTS, {"node": "=node cut", "tier": "person"}).json()["total"]["decisions"] == 0
    now = timezone.now()
    before = client.get(
        ACCOUNTS, {"from": (now - timedelta(days=3)).isoformat(), "to": (now - timedelta(days=2)).isoformat()}
    )
    assert before.json()["total"]["decisions"] == 0
    today = client.get(ACCOUNTS, {"from": timezone.localdate().isoformat(), "by": "day,clock"}).json()
    assert [row["key"] for row in today["rows"]] == [
        {"day": timezone.localdate().isoformat(), "clock": "online"}
    ]
    day = client.get(today["rows"][0]["links"]["decisions"]).json()
    assert len(day["results"]) == 3
    hours = client.get(ACCOUNTS, {"window": "3h", "by": "hour"}).json()
    assert sum(row["decisions"] for row in hours["rows"]) == 3


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"window": "a while"}, "window"),
        ({"window": "1d", "from": "2026-01-01"}, "window"),
        ({"from": "yesterday"}, "from"),
        ({"from": "2026-02-02", "to": "2026-01-01"}, "from"),
        ({"from": "2020-01-01", "to": "2026-01-01"}, "from"),
        ({"by": "weather"}, "by"),
        ({"by": "task,node,risk"}, "by"),
        ({"by": "hour,day"}, "by"),
        ({"include": "everything"}, "include"),
    ],
)
def test_a_question_that_makes_no_sense_names_its_parameter(browser, tenant, asked, field):
    response = browser(tenant).get(ACCOUNTS, asked)
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == [field]


def test_the_same_figures_as_a_table_with_a_line_for_each_group(story, browser, tenant):
    client = browser(tenant)
    response = client.get(ACCOUNTS, {"by": "node", "format": "csv"})
    assert response["Content-Type"].startswith("text/csv")
    lines = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [line["node"] for line in lines] == ["'=node again", "'=node cut", "'=node holds", "*"]
    assert [line["cost"] for line in lines] == ["1.7", "1.4", "0.7", "3.8"]
    assert lines[1]["cost_per_valid"] == "" and lines[1]["cost_per_valid_state"] == "undefined"
    assert (lines[-1]["ttft_p95_value"], lines[-1]["ttft_p95_n"]) == ("", "4")
    assert client.get(ACCOUNTS, {"format": "csv", "by": "weather"}).status_code == 400


def test_the_ceiling_comes_when_it_is_asked_for(ask, gateway, browser, tenant):
    for n, term in enumerate(["Python", "SQL", "German"]):
        ask(f"k{n}", term=term)
    with tenant_scope(tenant.id):
        keeping.keep_up()
        replay()
    client = browser(tenant)
    assert "ceiling" not in client.get(ACCOUNTS).json()
    found = client.get(ACCOUNTS, {"include": "ceiling"}).json()["ceiling"]
    assert (found["replayed"], found["complete"], found["granularity"], found["granularity_state"]) == (
        3, True, 1, "unknown",
    )  # fmt: skip
    steps = found["steps"]
    assert steps["free"] - steps["isolation"] == pytest.approx(steps["kept"])
    assert steps["kept"] - steps["too_small"] - steps["lost"] == pytest.approx(steps["actual"])


def test_an_empty_window_has_no_figures_instead_of_zeros(browser, tenant):
    total = browser(tenant).get(ACCOUNTS).json()["total"]
    assert (total["decisions"], total["attempts_per_valid"]) == (0, None)
    assert (total["hits"]["by_tokens"], total["targets"]["attainment"]) == (None, None)
    assert total["cost"][0]["per_valid"]["state"] == "undefined"
    assert total["times"]["e2e"]["p50"]["value"] is None


def test_accounts_are_for_those_who_may_read_them(browser, tenant):
    assert browser(tenant, "interviewer").get(ACCOUNTS).status_code == 403
    assert browser(tenant, "reviewer").get(f"{ACCOUNTS}decisions/").status_code == 403
    assert browser(tenant, "recruiter").get(ACCOUNTS).status_code == 200


def test_what_is_not_yet_written_down_is_said_to_be_pending(ask, gateway, browser, tenant):
    gateway.stumbles = [done(MET)]
    ask()
    said = browser(tenant).get(ACCOUNTS).json()
    assert (said["pending"], said["total"]["decisions"]) == (1, 0)
    with tenant_scope(tenant.id):
        keeping.keep_up()
    assert json.loads(browser(tenant).get(ACCOUNTS).content)["pending"] == 0
