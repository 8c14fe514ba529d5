"""The pages. Each reads the accounts once, and adds up what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from inference.catalogue import selectors as catalogue
from inference.catalogue.templates import SELF_HOSTED
from inference.errors import EngineDown, GatewayLost
from inference.ledger.asking import wrong
from inference.ledger.behind import overrides_for
from inference.ledger.chains import ceiling_for
from inference.ledger.figures import Figures
from inference.ledger.selectors import Accounts, Row, accounts_for, regrouped
from inference.permissions import InferenceAction
from inference.services import gateway
from inference.slo import Band
from inference.web.operations import drawn
from inference.web.operations.charts import Chart
from inference.web.operations.filters import (
    SPANS,
    Scope,
    actor_of,
    choices_of,
    scope_of,
    tabs,
    value_word,
)
from inference.web.words import (
    DIMENSION_NAMES,
    LEVERS,
    QUEUES,
    counters,
    word,
)
from nekibu.permissions.policies import decide
from nekibu.users.access import page

PER_PAGE = 50
LISTED = ("product", "task", "node", "risk", "band", "tier", "model", "cache", "language")
TIMES_SHOWN = ("ttft", "tpot", "model")


@page(InferenceAction.ACCOUNT_READ)
def overview(request: HttpRequest) -> HttpResponse:
    """How it goes: what is being worked on now, and the window's figures at a glance."""
    scope = scope_of(request)
    accounts = accounts_for(actor_of(request), scope.by(scope.time, "band"), sums=True)
    total = accounts.total
    charts = [
        drawn.outcomes(scope, regrouped(accounts, (scope.time,))),
        drawn.attainment(scope, _bands(accounts)),
    ]
    currency = drawn.currency_of(total)
    spent = next(one for one in total.spent if one.cost.currency == currency)
    return _render(
        request,
        "overview",
        scope,
        accounts,
        charts=charts,
        live=_live(),
        spent=spent,
        valid_share=total.counts["valid"] / total.counts["decisions"] if total.counts["decisions"] else None,
        first=total.time("ttft", 0.95),
        links={name: scope.behind(name) for name in ("decisions", "invalid", "missed", "valid")},
    )


@page(InferenceAction.ACCOUNT_READ)
def live(request: HttpRequest) -> HttpResponse:
    """The part of the overview that follows the gateway, asked for every few seconds."""
    return render(request, "inference/operations/live.html", {"live": _live()})


@page(InferenceAction.ACCOUNT_READ)
def service(request: HttpRequest) -> HttpResponse:
    """Whether what was promised was given, by urgency."""
    scope = scope_of(request)
    accounts = accounts_for(actor_of(request), scope.by(scope.time, "band"), sums=True)
    bands = _bands(accounts)
    over_time = [row for row in accounts.rows if row.key[1]]
    return _render(
        request,
        "service",
        scope,
        accounts,
        charts=[
            drawn.attainment(scope, bands),
            drawn.attainment_over_time(scope, over_time, [row.key[0] for row in bands]),
        ],
        bands=[
            {
                "name": value_word("band", row.key[0]),
                "targets": row.figures.targets,
                "goodput": (row.figures.targets.goodput(scope.cut.window.seconds) or 0.0) * 3600,
                "quantiles": _times(row.figures, ("ttft", "tpot", "model")),
                "missed": scope.behind("missed", {"band": row.key[0]}),
                "missed_n": row.figures.targets.sent - row.figures.targets.met,
            }
            for row in bands
        ],
    )


@page(InferenceAction.ACCOUNT_READ)
def phases(request: HttpRequest) -> HttpResponse:
    """Where the time goes, and what makes the slow ones slow."""
    scope = scope_of(request)
    by = request.GET.get("by", "task")
    if by not in LISTED:
        raise wrong("by", _("There is no such dimension."))
    accounts = accounts_for(actor_of(request), scope.by(by))
    found = accounts.total.dominant_machine
    return _render(
        request,
        "phases",
        scope,
        accounts,
        charts=[drawn.phases(found), drawn.waterfall(scope, accounts.total)],
        dominant=_dominant(found),
        by=by,
        by_word=word(DIMENSION_NAMES, by),
        dimensions=[(name, word(DIMENSION_NAMES, name)) for name in LISTED],
        time_names=[drawn.part_word(name) for name in TIMES_SHOWN],
        slices=[
            {
                "name": value_word(by, row.key[0]),
                "n": row.figures.counts["decisions"],
                "times": _times(row.figures, TIMES_SHOWN),
                "dominant": _dominant(row.figures.dominant_machine),
                "link": scope.behind("decisions", {by: row.key[0]}),
            }
            for row in accounts.rows
        ],
    )


@page(InferenceAction.ACCOUNT_READ)
def cache(request: HttpRequest) -> HttpResponse:
    """Why the hit rate is what it is."""
    scope = scope_of(request)
    accounts = accounts_for(actor_of(request), scope.by(scope.time), sums=True)
    found = ceiling_for(scope.cut)
    steps = drawn.ceiling_steps(found)
    return _render(
        request,
        "cache",
        scope,
        accounts,
        charts=[drawn.hits(scope, accounts.rows), *([steps] if steps else [])],
        reads=accounts.total.reads,
        ceiling=found,
        of_ceiling=found.steps.actual / found.steps.kept if found.steps and found.steps.kept else None,
    )


@page(InferenceAction.ACCOUNT_READ)
def cost(request: HttpRequest) -> HttpResponse:
    """Where the money goes, and how far that can be relied on."""
    scope, actor = scope_of(request), actor_of(request)
    accounts = accounts_for(actor, scope.by(scope.time, "task"), sums=True)
    currency = drawn.currency_of(accounts.total)
    tasks = regrouped(accounts, ("task",))
    return _render(
        request,
        "cost",
        scope,
        accounts,
        charts=[
            drawn.cost_per_valid(scope, regrouped(accounts, (scope.time,)), currency),
            drawn.spending(scope, accounts.rows, "task", currency),
        ],
        spents=accounts.total.spent,
        tasks=[
            {
                "name": value_word("task", row.key[0]),
                "counts": row.figures.counts,
                "spents": row.figures.spent,
                "link": scope.behind("decisions", {"task": row.key[0]}),
            }
            for row in tasks
        ],
        unknown=scope.behind("unknown_cost"),
        stale=scope.behind("stale_cost"),
        engine_unpriced=catalogue.in_force(SELF_HOSTED, (), scope.cut.window.end, kinds=catalogue.ENGINE)
        is None,
        may_read_prices=bool(decide(actor, InferenceAction.PRICE_READ)),
    )


@page(InferenceAction.ACCOUNT_READ)
def routes(request: HttpRequest) -> HttpResponse:
    """Who answers, what becomes of it, and where people disagreed afterwards."""
    scope, actor = scope_of(request), actor_of(request)
    accounts = accounts_for(actor, scope.by(scope.time, "tier"), sums=True)
    tiers = regrouped(accounts, ("tier",))
    corrected = overrides_for(actor, scope.by(scope.time, "task"))
    whole = sum(row.figures.counts["decisions"] for row in tiers)
    return _render(
        request,
        "routes",
        scope,
        accounts,
        charts=[
            drawn.routes(scope, accounts.rows),
            drawn.flow(scope, tiers),
            drawn.overrides(scope, corrected),
        ],
        tiers=[
            {
                "name": value_word("tier", row.key[0]),
                "n": row.figures.counts["decisions"],
                "share": row.figures.counts["decisions"] / whole if whole else None,
                "valid": row.figures.counts["valid"],
                "link": scope.behind("decisions", {"tier": row.key[0]}),
            }
            for row in tiers
        ],
        overrides=sum(corrected.values()),
    )


def _render(
    request: HttpRequest, name: str, scope: Scope, accounts: Accounts, *, charts: list[Chart], **more: Any
) -> HttpResponse:
    here = "operations" if name == "overview" else f"operations-{name}"
    return render(
        request,
        f"inference/operations/{name}.html",
        {
            "scope": scope,
            "accounts": accounts,
            "total": accounts.total,
            "charts": {chart.key.replace("-", "_"): chart for chart in charts},
            "tabs": tabs(scope, here),
            "choices": choices_of(scope, accounts.values),
            "spans": list(SPANS.items()),
            "filtered": any(scope.cut.only.values()) or not scope.span,
            "here": reverse(here),
            "may_list": bool(decide(actor_of(request), InferenceAction.DECISION_READ)),
            **more,
        },
    )


def _bands(accounts: Accounts) -> list[Row]:
    """What was sent to a model, by urgency, the most urgent first."""
    held = {row.key[0]: row for row in regrouped(accounts, ("band",))}
    return [held[band] for band in Band if band in held]


def _times(figures: Figures, names: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"label": drawn.part_word(name), "p50": figures.time(name, 0.5), "p95": figures.time(name, 0.95)}
        for name in names
    ]


def _dominant(found: Any) -> dict[str, Any]:
    """The phase that the slow ones spend most on, with its interval and what could be done about it."""
    lead = found.shares[0] if found.shares else None
    return {
        "known": found.phase is not None,
        "mixed": found.phase == "mixed",
        "phase": drawn.part_word(lead.phase) if lead else "",
        "lead": lead,
        "n": found.n,
        "needed": found.needed,
        "levers": [word(LEVERS, name) for name in found.levers],
    }


def _live() -> dict[str, Any] | None:
    """What the gateway says now: slots, queues, counters. None while it does not answer."""
    try:
        state = gateway().state()
    except (EngineDown, GatewayLost):
        return None
    return {
        "state": state,
        "queues": [(word(QUEUES, band), n) for band, n in state.queues.items()],
        "waiting": sum(state.queues.values()),
        "counters": counters({name: int(n) for name, n in state.counters.items()}),
    }
