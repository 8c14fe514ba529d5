"""The operations area: every figure of a page leads to exactly the decisions it counts, and each of these to its trace."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse
from django.utils import timezone

from inference import services
from inference.errors import GatewayLost
from inference.ledger import keeping
from inference.models import Decision, Price
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from tests.integration.inference.test_accounts import MET, done

pytestmark = pytest.mark.usefixtures("gateway")  # the header of a page asks it

PAGES = (
    "operations",
    "operations-service",
    "operations-phases",
    "operations-cache",
    "operations-cost",
    "operations-routes",
)
SPEC = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)


@pytest.fixture
def story(ask, gateway, tenant):
    """Three decisions: two hold, one was cut off twice. A second costs 1."""
    with tenant_scope(tenant.id):
        Price.objects.create(
            kind="cpu_hour", provider="self-hosted", currency="USD", amount=Decimal(3600),
            effective_from=timezone.now() - timedelta(days=1),
        )  # fmt: skip
    ids = []
    for key, answers in {
        "one": [done(MET)],
        "two": [done(MET)],
        "cut": [done('{"pieces": [', finish="length")] * 2,
    }.items():
        gateway.stumbles = answers
        ids.append(str(ask(key).decision_id))
    with tenant_scope(tenant.id):
        keeping.keep_up()
    return dict(zip(("one", "two", "cut"), ids, strict=True))


def charts(response):
    """The charts of a page, by the name of their figure in the markup."""
    page = response.content.decode()
    keys = re.findall(r'data-chart="([\w-]+)"', page)
    specs = [json.loads(found) for found in SPEC.findall(page)]
    drawn = [key for key in keys if f'data-chart="{key}">\n  \n  <div' in page]
    return dict(zip(drawn or keys, specs, strict=False))


def listed(response):
    """The decisions of a list, by id."""
    return set(re.findall(r"/decisions/([0-9a-f-]{36})/", response.content.decode()))


def test_a_bar_leads_to_exactly_its_decisions_and_from_there_to_the_trace(story, browser, tenant):
    client = browser(tenant)
    page = client.get(reverse("operations"))
    outcomes = charts(page)["outcomes"]
    by_name = {one["name"]: one for one in outcomes["series"]}
    assert sum(value for one in outcomes["series"] for value in one["values"]) == 3
    link = next(
        url for url, n in zip(by_name["Accepted"]["links"], by_name["Accepted"]["values"], strict=True) if n
    )
    assert listed(client.get(link)) == {story["one"], story["two"]}
    assert (
        f'href="{link.replace("&", "&amp;")}"' in page.content.decode()
    )  # the table has the same way, for keys
    behind = reverse("operations-decisions")
    assert listed(client.get(behind, {"figure": "invalid", "window": "7d"})) == {story["cut"]}
    trace = client.get(reverse("decision", args=[story["cut"]]))
    assert trace.status_code == 200
    assert story["cut"] in trace.content.decode()


def test_the_table_under_a_chart_has_its_figures(story, browser, tenant):
    page = browser(tenant).get(reverse("operations-routes"))
    spec = charts(page)["routes"]
    cells = re.findall(r"<td class=\"num\"><a href=\"[^\"]+\">(\d+)</a>", page.content.decode())
    assert [str(n) for one in spec["series"] for n in one["values"] if n] == ["3"]
    assert "3" in cells


def test_filters_in_the_address_narrow_every_figure_and_stay_in_every_link(story, browser, tenant, lines):
    client = browser(tenant)
    for name in PAGES:
        there = client.get(reverse(name), {"window": "24h", "task": lines.slug})
        assert there.status_code == 200
        assert there.context["total"].counts["decisions"] == 3
        tab = there.context["tabs"][1]["url"]
        assert parse_qs(urlsplit(tab).query) == {"window": ["24h"], "task": [lines.slug]}
        nothing = client.get(reverse(name), {"task": "none.such"})
        assert nothing.context["total"].counts["decisions"] == 0
        assert "No decisions in this window" in nothing.content.decode()


@pytest.mark.parametrize(
    "asked", [{"window": "8d"}, {"from": "not a day"}, {"by": "weather"}], ids=["window", "from", "by"]
)
def test_a_parameter_that_cannot_be_read_is_refused(asked, browser, tenant):
    assert browser(tenant).get(reverse("operations-phases"), asked).status_code == 400


@pytest.mark.parametrize(
    "asked", [{"figure": "weather"}, {"time": "weather"}, {"time": "e2e", "over": "long"}]
)
def test_a_list_of_what_there_is_not_is_refused(asked, browser, tenant):
    assert browser(tenant).get(reverse("operations-decisions"), asked).status_code == 400


def test_too_few_measurements_give_no_percentile_but_their_number(story, browser, tenant):
    page = browser(tenant).get(reverse("operations-service")).content.decode()
    assert "too few (3)" in page or "too few (4)" in page
    found = browser(tenant).get(reverse("operations-phases"))
    assert not found.context["dominant"]["known"]
    assert "too few requests: 3 of 59" in found.content.decode()


def test_what_was_slow_is_listed_by_its_limit(story, browser, tenant):
    client = browser(tenant)
    asked = {"figure": "decisions", "time": "decode", "window": "7d"}
    assert listed(client.get(reverse("operations-decisions"), {**asked, "over": "0.1"})) == set(
        story.values()
    )
    assert listed(client.get(reverse("operations-decisions"), {**asked, "over": "100"})) == set()


def test_a_correction_is_counted_and_listed(story, browser, tenant, person_of):
    with tenant_scope(tenant.id):
        new = services.override(
            actor=person_of(tenant, "admin"),
            decision_id=Decision.objects.get(pk=story["one"]).pk,
            value={"verdict": "not_stated", "pieces": [], "counter_pieces": [], "reasoning": ""},
            reason="seen otherwise",
            key="again",
        )
    client = browser(tenant)
    page = client.get(reverse("operations-routes"))
    assert page.context["overrides"] == 1
    link = charts(page)["overrides"]["series"][0]["links"][0]
    assert listed(client.get(link)) == {str(new.decision_id)}


def test_without_a_gateway_the_page_says_so_and_shows_the_figures(
    story, browser, tenant, gateway, monkeypatch
):
    def lost():
        raise GatewayLost

    monkeypatch.setattr(gateway.inner, "state", lost)
    client = browser(tenant)
    assert "The gateway does not answer." in client.get(reverse("operations-live")).content.decode()
    page = client.get(reverse("operations"))
    assert page.context["total"].counts["decisions"] == 3


def test_slots_and_queues_are_the_gateways(browser, tenant, gateway):
    page = browser(tenant).get(reverse("operations-live")).content.decode()
    assert "Slots in use" in page
    assert gateway.inner.state().running == 0


def test_who_may_not_read_accounts_sees_no_page_and_no_entry(story, browser, tenant):
    client = browser(tenant, "interviewer")
    assert [client.get(reverse(name)).status_code for name in PAGES] == [403] * len(PAGES)
    assert reverse("operations") not in client.get(reverse("engine")).content.decode()


def test_a_company_sees_only_its_own_figures(story, browser, tenant, other_tenant):
    here, there = browser(tenant), browser(other_tenant)
    assert here.get(reverse("operations")).context["total"].counts["decisions"] == 3
    assert there.get(reverse("operations")).context["total"].counts["decisions"] == 0
    assert listed(there.get(reverse("operations-decisions"), {"window": "7d"})) == set()


def test_the_actor_of_the_accounts_is_asked(story, tenant):
    from inference.ledger.behind import overrides_for
    from inference.ledger.slices import Cut, Window
    from nekibu.errors import NotPermitted

    now = timezone.now()
    cut = Cut(Window(now - timedelta(days=1), now), {}, ("day", "task"))
    nobody = Actor(tenant_id=tenant.id, name="n", user_id=None, roles=frozenset())
    with tenant_scope(tenant.id), pytest.raises(NotPermitted):
        overrides_for(nobody, cut)
