"""What the policy does to a load, on the toy engine: orderings of policies, conservation, fairness, waits, predictions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest

from inference.gateway.policy import FIRST_COME, Policy
from inference.gateway.simulator import (
    INPUTS,
    OUTPUTS,
    SHARES,
    Report,
    ToyEngine,
    arrivals,
    drawn,
    flood,
    simulate,
    slower,
)
from inference.metrics.stats import percentile
from inference.slo import Band

SEEDS, COUNT = range(4), 1_200
FULL, OVER = 6.5, 7.5  # requests a second: about what the toy engine can do, and 15 % more
NO_RULES = Policy(fair=False, due=False, admission=False, hold_back=False)
POLICIES = {
    "first come": FIRST_COME,
    "bands": NO_RULES,
    "due": replace(NO_RULES, bands=False, due=True),
    "all": Policy(),
    "all but fair": Policy(fair=False),
    "bands and due": replace(NO_RULES, due=True),
}
TENANTS = (("a", 0.5), ("b", 0.3), ("c", 0.2))


@cache
def run(policy: str, rate: float, seed: int) -> Report:
    return simulate(arrivals(rate, COUNT, seed, TENANTS), POLICIES[policy])


@cache
def flooded(policy: str, seed: int) -> Report:
    """Tenant A asks for more than the engine can do, tenant B for a quarter of it."""
    return simulate(flood({"A": 8.0, "B": 1.5}, COUNT, seed), POLICIES[policy])


def attained(policy: str, rate: float, band: Band = Band.INTERACTIVE) -> float:
    return sum(run(policy, rate, seed).attainment(band) for seed in SEEDS) / len(SEEDS)


# --- orderings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [FULL, OVER])
def test_people_are_served_best_by_all_rules_and_worst_without_any(rate):
    ours, bands, due, none = (attained(p, rate) for p in ("all", "bands", "due", "first come"))
    assert none < min(bands, due) - 0.2
    assert ours > max(bands, due)
    assert ours > 0.975


def test_deadlines_alone_fall_below_bands_when_there_is_too_much_and_putting_off_repairs_it():
    assert attained("due", OVER) < attained("bands", OVER) < attained("all", OVER)
    assert attained("bands and due", OVER) < attained("all", OVER)


def test_standard_work_does_not_pay_for_it():
    for rate in (FULL, OVER):
        assert attained("all", rate, Band.STANDARD) > attained("bands", rate, Band.STANDARD)


def test_what_batch_pays_is_bounded_and_little_is_put_off():
    for rate in (FULL, OVER):
        ours = sum(run("all", rate, seed).makespan for seed in SEEDS)
        assert ours <= 1.07 * sum(run("first come", rate, seed).makespan for seed in SEEDS)
        assert sum(run("all", rate, seed).count("demoted") for seed in SEEDS) <= 0.02 * COUNT * len(SEEDS)


# --- a flood ----------------------------------------------------------------------------------------------------------


def test_a_tenant_who_asks_for_too_much_pays_for_it_alone():
    ours, unfair, plain = (
        [flooded(policy, seed) for seed in SEEDS] for policy in ("all", "all but fair", "bands and due")
    )

    def share(reports: list[Report], tenant: str) -> float:
        return sum(r.attainment(Band.INTERACTIVE, tenant) for r in reports) / len(reports)

    assert share(plain, "B") < 0.3
    assert share(ours, "B") > 0.9
    assert share(ours, "B") > share(unfair, "B") + 0.1
    assert share(ours, "B") > share(ours, "A") + 0.2


# --- what must always hold --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", list(POLICIES))
def test_each_request_ends_exactly_once(policy):
    reports = [run(policy, OVER, seed) for seed in SEEDS] + [flooded("all", seed) for seed in SEEDS]
    for report in reports:
        assert len(report.told) == COUNT
        assert all(len(one.ends) == 1 for one in (*report.told, *report.later))
        assert len(report.later) == report.count("demoted")


@pytest.mark.parametrize("policy", list(POLICIES))
def test_no_room_stays_free_that_the_first_in_order_could_use(policy):
    assert [run(policy, OVER, seed).idle_beside_work for seed in SEEDS] == [0] * len(SEEDS)


def test_nobody_waits_longer_than_allowed_and_batch_is_served_in_the_end():
    load = [replace(a, ttl=60.0) for a in arrivals(1.5 * FULL, COUNT, 3, TENANTS)]
    report = simulate(load)
    waits = [one.left - one.arrival.at for one in (*report.told, *report.later) if one.left is not None]
    assert len(waits) == len(report.told) + len(report.later)
    assert max(waits) <= 60.0 + 0.5  # and one step of the clock
    assert any(one.ends == ["done"] for one in report.middle(Band.BATCH))


def test_an_aged_batch_item_is_served_although_people_never_stop_asking():
    people = [replace(a, band=Band.INTERACTIVE, ttft=1.0) for a in arrivals(FULL * 1.3, 900, 5)]
    item = replace(people[0], band=Band.BATCH, ttft=None, ttl=70.0)
    report = simulate([item, *people])
    assert report.told[0].ends == ["done"]


def test_the_same_seed_gives_the_same_run_and_another_one_another():
    load = arrivals(OVER, 400, 1, TENANTS)
    assert simulate(load) == simulate(arrivals(OVER, 400, 1, TENANTS))
    assert simulate(load) != simulate(arrivals(OVER, 400, 2, TENANTS))


def test_a_clock_of_half_the_speed_changes_nothing():
    load, policy = arrivals(OVER, 800, 1, TENANTS), Policy()
    slow = replace(policy, near=2 * policy.near, span=2 * policy.span, memory=2 * policy.memory)
    plain, double = simulate(load, policy), simulate(slower(load, 2.0), slow, ToyEngine().slower(2.0))
    for band in (Band.INTERACTIVE, Band.STANDARD):
        assert double.attainment(band) == pytest.approx(plain.attainment(band), abs=0.01)
    assert double.makespan == pytest.approx(2 * plain.makespan, rel=0.01)


# --- predictions ------------------------------------------------------------------------------------------------------


def test_hardly_anybody_is_put_off_who_could_have_been_served_in_time():
    put_off = in_time = 0
    for seed in SEEDS:
        load, report = arrivals(OVER, COUNT, seed, TENANTS), run("all", OVER, seed)
        for place in [n for n, one in enumerate(report.told) if one.ends == ["demoted"]][:8]:
            stayed = [replace(a, on_miss="serve_late") if n == place else a for n, a in enumerate(load)]
            put_off += 1
            in_time += simulate(stayed).told[place].met
    assert put_off >= 10
    assert in_time <= 0.05 * put_off


def test_what_is_predicted_is_of_the_size_of_what_comes():
    for seed in SEEDS:
        served = [
            one
            for one in run("all", FULL, seed).told
            if one.arrival.ttft is not None and one.predicted is not None and one.ttft is not None
        ]
        said = percentile([one.predicted for one in served], 0.95)
        assert said == pytest.approx(percentile([one.ttft for one in served], 0.95), rel=0.5)


# --- the load ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "mean"), [(INPUTS, 1_155), (OUTPUTS, 211)])
def test_the_lengths_follow_their_table(table, mean):
    found = [drawn(table, n / 20_000) for n in range(1, 20_001)]
    assert [drawn(table, share) for share in SHARES] == list(table)
    assert all(a <= b for a, b in pairwise(found))
    assert sum(found) / len(found) == pytest.approx(mean, rel=0.1)


def test_the_load_arrives_at_its_rate_and_mix():
    load = arrivals(5.0, 4_000, 1, TENANTS)
    assert 4_000 / load[-1].at == pytest.approx(5.0, rel=0.05)
    assert sum(a.band == Band.INTERACTIVE for a in load) / 4_000 == pytest.approx(0.4, abs=0.03)
    assert sum(a.tenant == "a" for a in load) / 4_000 == pytest.approx(0.5, abs=0.03)
