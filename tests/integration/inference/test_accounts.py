"""The accounts of many decisions: every attempt paid once, every figure with its n, cut by anything, and listed behind it."""

from __future__ import annotations

import importlib
import json
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inference import services, tasks
from inference.collecting import collect_attempts
from inference.errors import GatewayLost
from inference.ledger import keeping, selectors
from inference.ledger.chains import ceiling_for, replay
from inference.ledger.figures import to_json
from inference.ledger.slices import DIMENSIONS, Cut, Window, midnight
from inference.metrics.stats import least_n
from inference.models import (
    Attempt,
    Decision,
    Fact,
    FactDue,
    PrefixChain,
    Price,
    Rollup,
    RollupDay,
    Slice,
    Subtotal,
)
from inference.usage import Usage
from inference.wire import Aborted, AttemptRecord, Done, Phases
from nekibu.errors import InvalidInput
from nekibu.ids import new_id
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from tests.cases import case

DAY = timedelta(days=1)
HOURLY = Decimal("3600")  # a second of the engine costs 1


@pytest.fixture
def price(transactional_db, tenant):
    with tenant_scope(tenant.id):
        return Price.objects.create(
            kind="cpu_hour",
            provider="self-hosted",
            currency="USD",
            amount=HOURLY,
            effective_from=timezone.now() - DAY,
        )


@pytest.fixture
def books(tenant):
    """`books(by=…, only=…)` → the accounts of the last day, with everything that is due written down."""

    def read(by=(), window=None, **only):
        now = timezone.now()
        with tenant_scope(tenant.id):
            while keeping.keep_up():
                pass
            cut = Cut(window or Window(now - DAY, now + DAY), {k: (v,) for k, v in only.items()}, tuple(by))
            return selectors.accounts_for(Actor.system(tenant.id, "test"), cut)

    return read


def done(text, *, usage=None, phases=None, finish="stop"):
    return Done(
        finish, text, usage or Usage(100, 20, 10, 0, 0), phases or Phases(0.1, 0.2, 0.3, 0.4), 0.5, 0.01, 0, "r", "f", "s"
    )  # fmt: skip


MET = json.dumps({"pieces": ["E1"], "counter_pieces": [], "reasoning": "", "verdict": "met"})


# --- every attempt is paid, every decision counts once -----------------------------------------------------------


@case("ACC-27")
def test_a_failed_attempt_and_its_successor_are_two_attempts_of_one_decision(ask, gateway, price, books, row):
    """Both costs are in it, and one request is one decision."""
    broken = Aborted(
        "engine_lost",
        True,
        Usage(100, 0, 200, 0, 0),
        Phases(0.0, 0.0, 0.5, 1.5),
        None,
        None,
        0,
        "r",
        "f",
        "s",
    )
    gateway.stumbles = [broken, done(MET, phases=Phases(0.0, 0.0, 0.25, 0.75))]
    ask()
    found = books().total
    assert (found.counts["decisions"], found.counts["attempts"], found.counts["valid"]) == (1, 2, 1)
    assert found.counts["broken"] == 1
    assert found.spent[0].cost.amount == Decimal(3)
    assert found.spent[0].per_valid.amount == Decimal(3)
    assert found.tokens["output"] == 210


@case("ACC-27")
def test_requests_give_exactly_as_many_decisions_also_without_an_id_of_their_own(
    ask, gateway, price, books, row
):
    """N requests are N decisions; the attempt's id is the gateway's and may be empty elsewhere."""
    for n in range(5):
        gateway.stumbles = [done(MET)]
        ask(f"key {n}")
        ask(f"key {n}")  # asked again, it is the same one
    found = books().total
    assert (found.counts["decisions"], found.counts["attempts"]) == (5, 5)


@case("ACC-28")
def test_a_stream_that_the_client_cut_is_stored_and_billed(ask, gateway, price, books, tenant, row):
    partial = Aborted(
        "client_cancelled",
        False,
        Usage(100, 0, 3, 0, 0),
        Phases(0.0, 0.0, 0.5, 0.5),
        0.5,
        0.1,
        0,
        "r",
        "f",
        "s",
    )
    gateway.stumbles = [partial]

    def leave(kind, data):
        if kind == "queued":
            services.cancel(
                actor=Actor.system(tenant.id, "x"),
                decision_id=UUID(data["decision_id"]),
                reason="client_cancelled",
            )

    assert ask(on_event=leave).status == "cancelled"
    with tenant_scope(tenant.id):
        attempt = Attempt.objects.get()
        assert (attempt.cause, attempt.output, attempt.cost_amount) == ("client_cancelled", 3, Decimal(1))
        assert Decision.objects.get().cost_amount == Decimal(1)
    found = books().total
    assert found.spent[0].cost.amount == Decimal(1)
    assert found.statuses == {"cancelled": 1}
    assert (found.targets.sent, found.targets.cancelled) == (0, 1)
    assert found.spent[0].per_valid.state == "undefined"


@case("ACC-12")
def test_what_the_gateway_kept_speaks_for_the_attempt_and_is_counted_once(
    ask, gateway, price, books, tenant, row
):
    """What was seen is recovered from the spool, and the decision's facts are written anew."""
    gateway.stumbles = [GatewayLost(), done(MET, phases=Phases(0.0, 0.0, 0.5, 0.5))]
    ask()
    before = books().total
    assert (before.spent[0].cost.state, before.spent[0].unknown) == ("unknown", 1)
    assert before.spent[0].known == Decimal(1)
    lost = gateway.tickets[0]
    kept = AttemptRecord(
        lost.attempt_id, lost.decision_id, lost.tenant, lost.band, 1.0, "abort", "client_disconnected",
        Usage(70, 5, 3), Phases(0.0, 0.0, 0.2, 0.8), None, None, 0, "rev", "f", "s",
    )  # fmt: skip
    gateway.attempts = lambda: [kept]
    gateway.acknowledge = lambda ids: None
    collect_attempts()
    after = books().total
    assert (after.counts["decisions"], after.counts["attempts"]) == (1, 2)
    assert after.spent[0].cost.amount == Decimal(2)
    assert after.tokens["output"] == 13


@case("ACC-29")
def test_the_cost_of_a_valid_decision_is_all_spending_over_those_that_hold(ask, gateway, price, books, row):
    """10 decisions, 8 hold, 0.0460 in all."""
    for n in range(10):
        seconds = Phases(0.0, 0.0, 0.0023, 0.0023)
        text = (
            MET
            if n < 8
            else json.dumps({"pieces": ["E30"], "counter_pieces": [], "reasoning": "", "verdict": "met"})
        )
        gateway.stumbles = [done(text, phases=seconds)]
        ask(f"k{n}")
    found = books().total
    assert (found.counts["decisions"], found.counts["valid"]) == (10, 8)
    spent = found.spent[0]
    assert spent.cost.amount == Decimal("0.0460")
    assert spent.per_valid.amount == Decimal("0.00575")
    assert spent.interval[0] <= 0.00575 <= spent.interval[1]


@case("ACC-29")
def test_without_a_valid_decision_the_cost_of_one_is_undefined_and_the_spending_is_shown(
    ask, gateway, price, books, row
):
    """Undefined, not 0."""
    gateway.stumbles = [done('{"pieces": ["E1"', finish="length")] * 2
    ask()
    spent = books().total.spent[0]
    assert (spent.per_valid.state, spent.per_valid.amount) == ("undefined", None)
    assert spent.per_valid.spent == spent.cost.amount == Decimal("1.4")


@case("ACC-49")
def test_a_cut_answer_is_in_its_own_bucket_and_no_failure_of_the_schema(ask, gateway, price, books, row):
    """Brackets are never closed; it is invalid, still billed, and not the model's schema failure."""
    gateway.stumbles = [done('{"items":["a","b"', finish="length")] * 2
    assert ask("cut").reason == "TRUNCATED"
    gateway.stumbles = [done('{"verdict": "met"}')] * 2
    assert ask("wrong").reason == "SCHEMA"
    found = books().total
    assert (found.counts["truncated"], found.counts["schema_failed"], found.counts["valid"]) == (2, 1, 0)
    assert found.spent[0].cost.amount == Decimal("2.8")


@case("ACC-15")
def test_a_figure_that_contradicts_another_is_counted_as_refused_and_nothing_is_made_of_it(
    ask, gateway, price, books, tenant, row
):
    """Prompt 59,946, cached 122,884 after a retraction."""
    from inference.usage import settle

    refused = settle({"prompt_tokens": 59946, "cached_tokens": 122884, "completion_tokens": 9})
    gateway.stumbles = [done(MET, usage=refused)]
    ask()
    found = books().total
    assert found.counts["usage_refused"] == 1
    assert (found.reads.requests, found.reads.reported, found.reads.coverage) == (1, 0, 0.0)
    assert found.tokens["input_total"] == 0 and found.counts["tokens_reported"] == 0
    with tenant_scope(tenant.id):
        attempt = Attempt.objects.get()
        assert (attempt.usage_refused, attempt.cache_read, attempt.output) == ("cached_tokens", None, None)


@case("ACC-14", "ACC-33")
def test_an_engine_that_does_not_report_reads_lowers_the_coverage_and_not_the_rate(
    ask, gateway, price, books, row
):
    reported = Usage(100, 900, 10, 0, 0)
    silent = Usage(None, None, 10, 0, 0, inclusive=5000)
    for n, usage in enumerate([reported, Usage(100, 0, 10, 0, 0), silent]):
        gateway.stumbles = [done(MET, usage=usage)]
        ask(f"k{n}")
    found = books(by=["cache"])
    reads = found.total.reads
    assert reads.by_tokens == pytest.approx(900 / 1100)
    assert (reads.by_requests, reads.mean_ratio) == (0.5, pytest.approx(0.45))
    assert (reads.requests, reads.reported) == (3, 2)
    assert [row.key for row in found.rows] == [("hit",), ("miss",), ("unreported",)]


def test_a_rule_asks_no_model_and_is_in_no_hit_rate_and_no_attainment(
    transactional_db, tenant, lines, gateway, books
):
    from inference import registry
    from inference.types import Solved
    from tests.unit.inference.specs import request

    solved = Solved({"pieces": [], "counter_pieces": [], "reasoning": "", "verdict": "not_stated"}, "r")
    registry.register(lines.spec(slug=f"{lines.slug}.solved", solve=lambda *_: solved))
    services.decide(request("k", task=f"{lines.slug}.solved", actor=Actor.system(tenant.id, "worker")))
    found = books().total
    assert (found.counts["decisions"], found.counts["attempts"], found.counts["valid"]) == (1, 0, 1)
    assert (found.reads.requests, found.targets.sent) == (0, 0)
    assert (found.spent[0].cost.amount, found.spent[0].cost.state) == (Decimal(0), "current")


def test_a_later_correction_by_a_person_is_no_request_of_its_own(
    ask, gateway, price, books, tenant, person_of
):
    gateway.stumbles = [done(MET)]
    outcome = ask()
    with tenant_scope(tenant.id):
        services.override(
            actor=person_of(tenant, "recruiter"),
            decision_id=outcome.decision_id,
            value={"pieces": [], "counter_pieces": [], "reasoning": "", "verdict": "not_stated"},
            reason="seen",
            key="o1",
        )
        assert Decision.objects.count() == 2
    assert books().total.counts["decisions"] == 1


@case("ACC-48")
def test_two_teams_with_the_same_request_share_no_answer_and_no_token(
    ask, gateway, price, books, tenant, other_tenant, row
):
    first = ask("the same key")
    second = ask("the same key", actor=Actor.system(other_tenant.id, "worker"))
    assert first.decision_id != second.decision_id
    assert len(gateway.tickets) == 2  # each was answered for itself
    assert gateway.tickets[0].input_ids == gateway.tickets[1].input_ids
    assert gateway.tickets[0].tenant != gateway.tickets[1].tenant
    for owner in (tenant, other_tenant):
        with tenant_scope(owner.id):
            assert Attempt.objects.get().cache_read == 0
    assert books().total.counts["decisions"] == 1


# --- times and phases ----------------------------------------------------------------------------------------------


@case("ACC-37", "ACC-39")
def test_the_first_token_counts_from_the_gateways_door(ask, gateway, price, books, tenant, row):
    """Its waiting in the queue is in it; the figure names its boundary."""
    gateway.stumbles = [done(MET, phases=Phases(1.5, 0.0, 0.3, 0.4))]
    ask()
    found = books().total
    one = found.time("ttft", 0.5)
    assert (one.n, one.value, one.needed) == (1, None, 5)  # one sample is no percentile
    assert to_json(found)["boundary"] == "gateway"
    with tenant_scope(tenant.id):
        assert Fact.objects.get().ttft == pytest.approx(1.5 + 0.5)


@case("ACC-36")
def test_a_first_token_that_was_not_observed_is_no_sample(ask, gateway, price, books, tenant, row):
    """It is absent, not the whole duration."""
    unseen = Done(
        "stop", MET, Usage(100, 20, 10, 0, 0), Phases(0.1, 0.2, 0.3, 0.4), None, None, 0, "r", "f", "s"
    )
    gateway.stumbles = [unseen]
    ask()
    assert books().total.time("ttft", 0.5).n == 0
    with tenant_scope(tenant.id):
        fact = Fact.objects.get()
        assert (fact.ttft, fact.tpot) == (None, None)
        assert fact.target == "missed"  # a first token was promised and nobody saw one


@case("ACC-43")
def test_phases_and_what_is_left_over_are_the_whole(ask, gateway, price, books, tenant, row):
    gateway.stumbles = [done(MET, phases=Phases(0.04, 0.01, 0.12, 0.8))]
    ask()
    books()
    with tenant_scope(tenant.id):
        fact = Fact.objects.get()
        parts = (
            "backlog",
            "prepare",
            "gateway_queue",
            "engine_queue",
            "prefill",
            "decode",
            "validate",
            "approve",
        )
        seen = [value for name in parts if (value := getattr(fact, name)) is not None]
        assert sum(seen) + fact.unattributed == pytest.approx(fact.e2e)
        assert (fact.gateway_queue, fact.engine_queue, fact.prefill, fact.decode) == (0.04, 0.01, 0.12, 0.8)
        assert fact.ttft == pytest.approx(0.54)
        assert fact.approve is None


# --- percentiles from samples and from sums -----------------------------------------------------------------------


def make(tenant, n, *, at, task="t", model="m", cache_read=50, seed=1, valid=True, **more):
    """Facts of `n` decisions with one attempt each, without the record behind them."""
    rng = np.random.default_rng(seed)
    with tenant_scope(tenant.id):
        held = Slice.objects.filter(task=task, model=model).first() or Slice.objects.create(
            product="p", task=task, model=model, tier="economic", clock="online", band="standard", cache="hit"
        )
        decisions, attempts, facts = [], [], []
        for k in range(n):
            decision = Decision(
                endpoint="internal", idempotency_key=str(new_id()), request_hash="", task=task, task_version=1, product="p",
                spec_hash="", subject_type="s", subject_id="1", actor={}, mode="online", locale="tr", status="accepted",
            )  # fmt: skip
            attempt = Attempt(
                decision=decision,
                attempt_id=new_id().hex,
                attempt_no=1,
                round=1,
                kind="primary",
                finish="stop",
            )
            phases = rng.exponential(0.2, 4)
            values = {
                "ttft": float(rng.lognormal(-1, 0.7)), "tpot": 0.02, "input_total": 100, "cache_read": cache_read, "output": 10,
                "cost_amount": Decimal("0.001"), "cost_currency": "USD", "cost_state": "current", "status": "accepted",
                "valid": valid, "target": "met", "gateway_queue": phases[0], "engine_queue": 0.001, "prefill": phases[1],
                "decode": phases[2] * 5, "validate": 0.01, "e2e": phases[0] + phases[1] + phases[2] * 5 + 0.011, "unattributed": 0.0,
            }  # fmt: skip
            facts.append(
                Fact(
                    decision=decision,
                    attempt=attempt,
                    slice=held,
                    asked_at=at + k * timedelta(seconds=1),
                    closing=True,
                    **{**values, **more},
                )
            )
            decisions.append(decision)
            attempts.append(attempt)
        Decision.objects.bulk_create(decisions)
        Attempt.objects.bulk_create(attempts)
        Fact.objects.bulk_create(facts)


@pytest.fixture
def yesterday():
    return midnight(timezone.localdate()) - DAY + timedelta(hours=2)


@case("ACC-46")
def test_too_few_samples_have_no_percentile_and_say_how_many_are_needed(tenant, books, yesterday, row):
    """58 and 59 for p95, 298 and 299 for p99."""
    window = Window(yesterday - DAY, yesterday + DAY)
    make(tenant, 58, at=yesterday)
    p95 = books(window=window).total.time("ttft", 0.95)
    assert (p95.value, p95.n, p95.needed) == (None, 58, 59)
    make(tenant, 1, at=yesterday)
    found = books(window=window).total
    assert found.time("ttft", 0.95).value is not None
    assert found.time("ttft", 0.99).value is None
    assert found.time("ttft", 0.99).needed == least_n(0.99) == 299
    assert found.dominant.phase == "decode"


@case("ACC-44")
def test_shards_are_combined_by_their_samples(tenant, books, yesterday, row):
    """900 at 100 ms and 100 at 1,000 ms, in two slices."""
    window = Window(yesterday - DAY, yesterday + DAY)
    make(tenant, 900, at=yesterday, model="one", ttft=0.1)
    make(tenant, 100, at=yesterday, model="two", ttft=1.0)
    found = books(by=["model"], window=window)
    assert found.exact
    assert found.total.time("ttft", 0.95).value == 1.0
    assert [row.figures.time("ttft", 0.95).value for row in found.rows] == [0.1, 1.0]


@case("ACC-47")
def test_failures_are_misses_and_goodput_is_over_the_window(tenant, books, yesterday, row):
    """200 sent in 50 s, 180 of them met."""
    make(tenant, 180, at=yesterday)
    make(tenant, 20, at=yesterday, target="missed", valid=False)
    make(tenant, 3, at=yesterday, target="cancelled")
    targets = books(window=Window(yesterday - DAY, yesterday + DAY)).total.targets
    assert (targets.met, targets.sent, targets.cancelled) == (180, 200, 3)
    assert targets.share == pytest.approx(0.9)
    assert targets.goodput(50) == pytest.approx(3.6)


def test_a_summed_day_says_what_its_facts_say(tenant, books, yesterday, monkeypatch):
    """Counts and money exactly, percentiles within their stated error; and the same whichever pieces it is read from."""
    window = Window(yesterday - 2 * DAY, yesterday + DAY)
    make(tenant, 300, at=yesterday, model="one", seed=1)
    make(tenant, 200, at=yesterday, model="two", seed=2, cache_read=0, cost_state="stale")
    make(tenant, 150, at=yesterday - DAY, model="one", seed=3, valid=False, target="missed")
    exact = books(by=["model", "day"], window=window)
    with tenant_scope(tenant.id):
        assert keeping.roll_up(timezone.now()) == 2
        assert keeping.roll_up(timezone.now()) == 0
        assert sum(RollupDay.objects.values_list("facts", flat=True)) == 650
    assert books(window=window).exact  # few enough to read the samples all the same
    monkeypatch.setattr(selectors, "EXACT", 100)
    summed = books(by=["model", "day"], window=window)
    assert exact.exact and not summed.exact
    assert [row.key for row in summed.rows] == [row.key for row in exact.rows]
    for one, other in zip(
        (exact.total, *(r.figures for r in exact.rows)),
        (summed.total, *(r.figures for r in summed.rows)),
        strict=True,
    ):
        assert (one.counts, one.statuses, one.tokens, one.targets) == (
            other.counts,
            other.statuses,
            other.tokens,
            other.targets,
        )
        assert [(s.cost, s.known, s.per_valid) for s in one.spent] == [
            (s.cost, s.known, s.per_valid) for s in other.spent
        ]
        assert other.reads.by_tokens == one.reads.by_tokens
        for name, quantiles in one.times.items():
            for raw, read in zip(quantiles, other.times[name], strict=True):
                assert (raw.n, raw.needed) == (read.n, read.needed)
                if raw.value is not None:
                    assert read.bucket[0] <= raw.value <= read.bucket[1]
                    assert read.error <= 0.0126
        if one.dominant.phase is not None:
            assert other.dominant.shares[0].phase == one.dominant.shares[0].phase == "decode"
    assert summed.total.spent[0].cost.state == "stale"


def test_a_change_of_an_old_decision_puts_its_day_back_to_its_facts(ask, gateway, price, books, tenant):
    gateway.stumbles = [done(MET)]
    outcome = ask()
    books()
    with tenant_scope(tenant.id):
        decision = Decision.objects.get(pk=outcome.decision_id)
        Decision.objects.filter(pk=decision.pk).update(created_at=decision.created_at - 3 * DAY)
        keeping.due(decision)
    window = Window(timezone.now() - 10 * DAY, timezone.now() + DAY)
    books(window=window)
    with tenant_scope(tenant.id):
        keeping.roll_up(timezone.now())
        assert RollupDay.objects.count() == 1 and Rollup.objects.count() == 1
        keeping.due(decision)
    books(window=window)
    with tenant_scope(tenant.id):
        assert not RollupDay.objects.exists()
        assert keeping.roll_up(timezone.now()) == 1
    assert books(window=window).total.counts["decisions"] == 1


def test_days_with_their_sums_and_the_pieces_around_them_are_the_window(
    tenant, books, yesterday, monkeypatch
):
    monkeypatch.setattr(selectors, "EXACT", 0)
    make(tenant, 40, at=yesterday - 2 * DAY)
    make(tenant, 30, at=yesterday - DAY)
    make(tenant, 20, at=yesterday)
    with tenant_scope(tenant.id):
        keeping.sum_up(timezone.localdate(yesterday) - DAY)
    start = yesterday - 2 * DAY + timedelta(seconds=10)  # ten of the first day are outside
    found = books(window=Window(start, yesterday + timedelta(seconds=5)))
    assert not found.exact
    assert found.total.counts["decisions"] == 30 + 30 + 5
    with pytest.raises(InvalidInput):
        monkeypatch.setattr(selectors, "MOST", 10)
        books(window=Window(start, yesterday + DAY))


def test_a_dimension_is_read_from_subtotals_and_says_what_the_slices_say(
    tenant, books, yesterday, monkeypatch
):
    monkeypatch.setattr(selectors, "EXACT", 0)
    make(tenant, 40, at=yesterday - DAY, model="one", seed=1)
    make(tenant, 30, at=yesterday, model="two", seed=2, valid=False)
    with tenant_scope(tenant.id):
        assert keeping.roll_up(timezone.now()) == 2
        assert set(Subtotal.objects.values_list("dimension", flat=True)) == {"", *DIMENSIONS}
    window = Window(yesterday - 2 * DAY, yesterday + DAY)
    asked = ((), ("model",), ("day",), ("model", "day"))
    by_slice = [books(by=by, window=window) for by in asked]
    only_slice = books(by=("day",), window=window, model="one")
    monkeypatch.setattr(selectors, "CLUSTERS", 1)
    with tenant_scope(tenant.id):
        Rollup.objects.all().delete()  # the subtotals alone must do
    by_value = [books(by=by, window=window) for by in asked]
    only_value = books(by=("day",), window=window, model="one")
    for one, other in zip([*by_slice, only_slice], [*by_value, only_value], strict=True):
        assert [row.key for row in one.rows] == [row.key for row in other.rows]
        for left, right in zip(
            (one.total, *(r.figures for r in one.rows)),
            (other.total, *(r.figures for r in other.rows)),
            strict=True,
        ):
            assert (left.counts, left.statuses, left.tokens, left.targets, left.times) == (
                right.counts, right.statuses, right.tokens, right.targets, right.times,
            )  # fmt: skip
            assert [(s.cost, s.per_valid) for s in left.spent] == [(s.cost, s.per_valid) for s in right.spent]


def test_listed_by_fewer_names_the_figures_add_up(tenant, books, yesterday):
    make(tenant, 40, at=yesterday - DAY, model="one", seed=1)
    make(tenant, 30, at=yesterday, model="two", seed=2)
    window = Window(yesterday - 2 * DAY, yesterday + DAY)
    both, alone = books(by=["day", "model"], window=window), books(by=["model"], window=window)
    again = selectors.regrouped(both, ("model",))
    assert [row.key for row in again] == [row.key for row in alone.rows]
    for one, other in zip(again, alone.rows, strict=True):
        assert (one.figures.counts, one.figures.times) == (other.figures.counts, other.figures.times)


def test_by_the_hour_the_samples_are_read_and_by_the_day_local_midnight_counts(tenant, books, yesterday):
    make(tenant, 10, at=midnight(timezone.localdate(yesterday)))
    make(tenant, 10, at=midnight(timezone.localdate(yesterday)) - timedelta(hours=1))
    window = Window(yesterday - 2 * DAY, yesterday + DAY)
    days = books(by=["day"], window=window)
    assert [row.figures.counts["decisions"] for row in days.rows] == [10, 10]
    assert [datetime.fromisoformat(row.key[0]).date() for row in days.rows] == [
        timezone.localdate(yesterday) - DAY,
        timezone.localdate(yesterday),
    ]
    hours = books(by=["hour"], window=window)
    assert len(hours.rows) == 2
    assert hours.rows[0].figures.seconds == 3600


def test_figures_are_cut_by_every_dimension_and_parts_add_up_to_the_whole(ask, gateway, price, books, tenant):
    for n, mode in enumerate(["online", "batch", "online"]):
        gateway.stumbles = [done(MET)]
        ask(f"k{n}", mode=mode, correlation={"node": f"n{n % 2}"})
    whole = books().total
    for name in ("product", "task", "node", "risk", "language", "model", "tier", "clock", "band", "cache"):
        cut = books(by=[name])
        assert sum(row.figures.counts["decisions"] for row in cut.rows) == 3
        assert sum(row.figures.spent[0].cost.amount for row in cut.rows) == whole.spent[0].cost.amount
        assert {row.key[0] for row in cut.rows} <= set(cut.values[name])
        one = books(**{name: cut.rows[0].key[0]})
        assert one.total.counts == cut.rows[0].figures.counts
    assert [row.key for row in books(by=["clock", "node"]).rows] == [
        ("batch", "n1"),
        ("online", "n0"),
    ]
    assert books(node="nobody").total.counts["decisions"] == 0


def test_reading_takes_the_same_few_queries_for_one_decision_and_for_many(tenant, books, yesterday):
    window = Window(yesterday - DAY, yesterday + DAY)
    counted = []
    for n in (1, 60):
        for model in ("one", "two", "three")[: 1 if n == 1 else 3]:
            make(tenant, n, at=yesterday, model=model)
        with tenant_scope(tenant.id), CaptureQueriesContext(connection) as queries:
            selectors.accounts_for(Actor.system(tenant.id, "t"), Cut(window, {}, ("model",)))
        counted.append(len(queries))
    assert counted[0] == counted[1] <= 6


def test_facts_of_another_tenant_are_in_nobodys_accounts(tenant, other_tenant, books, yesterday):
    make(other_tenant, 7, at=yesterday)
    make(tenant, 3, at=yesterday)
    found = books(by=["task"], window=Window(yesterday - DAY, yesterday + DAY))
    assert found.total.counts["decisions"] == 3


def test_everything_that_rests_is_due_again_after_a_new_definition_and_gives_the_same_facts(
    ask, gateway, price, books, tenant
):
    for n in range(3):
        gateway.stumbles = [done(MET)]
        ask(f"k{n}")
    before = to_json(books().total)
    with tenant_scope(tenant.id):
        assert keeping.all_due() == FactDue.objects.count() == 3
    assert books().total.counts["decisions"] == 3
    after = to_json(books().total)
    assert {k: v for k, v in after.items() if k != "targets"} == {
        k: v for k, v in before.items() if k != "targets"
    }


def test_the_beat_writes_what_is_due_and_sums_up_closed_days_of_every_tenant(
    ask, gateway, price, tenant, other_tenant, yesterday
):
    make(other_tenant, 5, at=yesterday)
    gateway.stumbles = [done(MET)] * 2
    ask()
    ask(actor=Actor.system(other_tenant.id, "worker"))
    tasks.keep_accounts()
    tasks.sum_up_accounts()
    for owner, facts, days in ((tenant, 1, 0), (other_tenant, 6, 1)):
        with tenant_scope(owner.id):
            assert (FactDue.objects.count(), Fact.objects.count(), RollupDay.objects.count()) == (
                0,
                facts,
                days,
            )


def test_what_came_to_rest_before_there_were_accounts_is_due_after_the_migration(
    ask, gateway, price, tenant, other_tenant
):
    gateway.stumbles = [done(MET)] * 3
    for key, owner in (("a", tenant), ("b", tenant), ("c", other_tenant)):
        ask(key, actor=Actor.system(owner.id, "worker"))
    for owner in (tenant, other_tenant):
        with tenant_scope(owner.id):
            FactDue.objects.all().delete()
    migration = importlib.import_module("inference.migrations.0003_accounts_of_decisions")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(migration.ALL_DUE)
    for owner, due in ((tenant, 2), (other_tenant, 1)):
        with tenant_scope(owner.id):
            assert FactDue.objects.count() == due


# --- the ceiling ---------------------------------------------------------------------------------------------------


def test_the_ceiling_is_replayed_with_and_without_salts(ask, gateway, price, books, tenant):
    """Three questions about one document share it; a second document shares the instructions only."""
    for n, (subject, term) in enumerate([("a", "Python"), ("a", "SQL"), ("a", "German"), ("b", "Go")]):
        ask(f"k{n}", subject=subject, term=term)
    books()
    now = timezone.now()
    with tenant_scope(tenant.id):
        before = ceiling_for(Cut(Window(now - DAY, now + DAY)))
        assert (before.steps, before.waiting, before.complete) == (None, 4, False)
        assert (replay(), replay()) == (4, 0)
        found = ceiling_for(Cut(Window(now - DAY, now + DAY)))
        steps = found.steps
        assert (found.replayed, found.complete, found.granularity) == (4, True, 1)
        assert steps.requests == 4
        assert steps.free == steps.kept > 0 and steps.isolation == 0.0
        assert steps.kept - 1e-9 <= steps.actual <= steps.kept + steps.spread + 1e-9
        # The same prompts under salts of their own could not have shared anything.
        for number, row in enumerate(PrefixChain.objects.order_by("id")):
            PrefixChain.objects.filter(pk=row.pk).update(salt_id=f"salt {number}", shared_kept=None)
        replay()
        apart = ceiling_for(Cut(Window(now - DAY, now + DAY))).steps
        assert apart.kept == 0.0
        assert apart.isolation == pytest.approx(steps.free)
        nothing = ceiling_for(Cut(Window(now - DAY, now + DAY), {"task": ("none",)}))
        assert nothing.steps is None


def test_prefix_hashes_are_kept_for_a_week_and_say_nothing_of_the_prompt(ask, gateway, tenant):
    ask()
    with tenant_scope(tenant.id):
        row = PrefixChain.objects.get()
        assert len(bytes(row.blocks)) == row.tokens // 16 * 8
        assert b"Python" not in bytes(row.blocks)
        assert keeping.drop_chains(timezone.now() + 6 * DAY) == 0
        assert keeping.drop_chains(timezone.now() + 8 * DAY) == 1
