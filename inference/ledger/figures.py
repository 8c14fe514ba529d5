"""From added-up facts to the figures that are shown: each with its n, and none where there are too few."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from inference.ledger.cells import TIMES, Cell, shares_above, table_of
from inference.metrics.cost import PerValid, per_valid
from inference.metrics.goodput import Attainment
from inference.metrics.hits import Reads
from inference.metrics.phases import PARTS, TAIL, Dominant, dominant, of_shares
from inference.metrics.stats import (
    Floats,
    Quantile,
    cluster_bootstrap,
    least_n,
    quantiles,
    ratio_of_sums,
)
from inference.types import Cost, CostState

SHOWN = (0.5, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Spent:
    """Money of one currency. `amount` is None while a part of it is unknown; `known` is what is known all the same."""

    cost: Cost
    known: Decimal
    unknown: int  # attempts whose cost nobody knows
    stale: int  # attempts whose price nobody has compared lately
    per_valid: PerValid
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Figures:
    """Everything that is known of one group over a window of so many seconds, each figure worked out when it is asked for.

    With raw samples percentiles are exact; without, they come from histograms and carry their error.
    """

    cell: Cell
    seconds: float
    raw: Mapping[str, Floats] | None

    @property
    def counts(self) -> Mapping[str, int]:
        """How many of each kind."""
        return self.cell.counts

    @property
    def statuses(self) -> Mapping[str, int]:
        """Decisions by state."""
        return self.cell.statuses

    @property
    def tokens(self) -> Mapping[str, int]:
        """Tokens by bucket."""
        return self.cell.tokens

    @property
    def reads(self) -> Reads:
        """What the prefix cache gave."""
        return self.cell.reads

    @property
    def targets(self) -> Attainment:
        """Whether what was promised was given."""
        return self.cell.targets

    @cached_property
    def spent(self) -> tuple[Spent, ...]:
        """Money by currency."""
        return _spent(self.cell)

    @cached_property
    def times(self) -> Mapping[str, tuple[Quantile, ...]]:
        """Percentiles of every time."""
        if self.raw is None:
            held = self.cell.histograms()
            return {name: tuple(held[name].quantiles(SHOWN)) for name in TIMES}
        return {name: tuple(quantiles(self.raw[name][~np.isnan(self.raw[name])], SHOWN)) for name in TIMES}

    @cached_property
    def dominant(self) -> Dominant:
        """What the slowest twentieth spends its time on."""
        return _dominant(self.cell, self.raw, people=True)

    @cached_property
    def dominant_machine(self) -> Dominant:
        """The same without the waiting for people."""
        return _dominant(self.cell, self.raw, people=False)

    def time(self, name: str, share: float) -> Quantile:
        """One percentile."""
        return next(q for q in self.times[name] if q.share == share)


def _spent(cell: Cell) -> tuple[Spent, ...]:
    """By currency. Free answers have none and go with the only one that there is; an unknown cost makes every sum unknown."""
    currencies = sorted({currency for currency, _state in cell.money if currency}) or [""]
    unknown = sum(n for (_currency, state), (_amount, n) in cell.money.items() if state == "unknown")
    valid = cell.counts["valid"]
    found = []
    for currency in currencies:
        amounts = {s: cell.money.get((currency, s), (Decimal(0), 0)) for s in ("current", "stale")}
        known, stale = amounts["current"][0] + amounts["stale"][0], amounts["stale"][1]
        mixed = bool(unknown) or len(currencies) > 1
        state: CostState = "unknown" if mixed else "stale" if stale else "current"
        cost = Cost(None if mixed else known, currency, state)
        interval = None
        if not mixed and valid:
            interval = cluster_bootstrap(cell.clusters(), ratio_of_sums)
        found.append(Spent(cost, known, unknown, stale, per_valid(cost, valid), interval))
    return tuple(found)


def _dominant(cell: Cell, raw: Mapping[str, Floats] | None, *, people: bool) -> Dominant:
    """From raw samples exactly; else by the coarse bucket of the p95 and all above it, a stored cell being a cluster."""
    if raw is not None:
        return dominant(table_of(raw, people=people)[0], PARTS)
    n, rows = shares_above(cell, TAIL, people=people)
    if n < least_n(TAIL):
        return Dominant(None, n, least_n(TAIL))
    return of_shares(rows, PARTS, n=n)


def to_json(figures: Figures) -> dict[str, Any]:
    """As the API tells it: money as text, rates and seconds as numbers, null where nothing is known."""
    targets, reads = figures.targets, figures.reads
    interval = targets.interval
    return {
        **{name: figures.counts[name] for name in ("decisions", "valid", "attempts")},
        "statuses": dict(sorted(figures.statuses.items())),
        "attempts_per_valid": _ratio(figures.counts["attempts"], figures.counts["valid"]),
        "failures": {
            name: figures.counts[name] for name in ("truncated", "schema_failed", "broken", "usage_refused")
        },
        "tokens": {**figures.tokens, "reported": figures.counts["tokens_reported"], "estimated": figures.counts["estimated"]},
        "cost": [_spent_json(spent) for spent in figures.spent],
        "hits": {
            "by_tokens": reads.by_tokens,
            "by_requests": reads.by_requests,
            "mean_ratio": reads.mean_ratio,
            "coverage": reads.coverage,
            "requests": reads.requests,
            "reported": reads.reported,
            "input": reads.input,
            "read": reads.read,
        },
        "targets": {
            "met": targets.met,
            "sent": targets.sent,
            "cancelled": targets.cancelled,
            "attainment": targets.share,
            "low": interval[0] if interval else None,
            "high": interval[1] if interval else None,
            "goodput": targets.goodput(figures.seconds),
        },
        "times": {
            name: {_percent(q.share): _quantile_json(q) for q in found} for name, found in figures.times.items()
        },
        "boundary": "gateway",
        "dominant": _dominant_json(figures.dominant),
        "dominant_machine": _dominant_json(figures.dominant_machine),
    }  # fmt: skip


def _spent_json(spent: Spent) -> dict[str, Any]:
    each = spent.per_valid
    low, high = spent.interval or (None, None)
    return {
        "currency": spent.cost.currency,
        "amount": _money(spent.cost.amount),
        "state": spent.cost.state,
        "known": _money(spent.known),
        "unknown_attempts": spent.unknown,
        "stale_attempts": spent.stale,
        "per_valid": {"amount": _money(each.amount), "state": each.state, "low": low, "high": high},
    }


def _quantile_json(found: Quantile) -> dict[str, Any]:
    said: dict[str, Any] = {
        "value": found.value, "low": found.low, "high": found.high, "n": found.n, "needed": found.needed,
    }  # fmt: skip
    if found.bucket is not None:
        said |= {
            "bucket": [edge if np.isfinite(edge) else None for edge in found.bucket],
            "error": found.error,
        }
        said |= {
            name: None for name in ("low", "high") if said[name] is not None and not np.isfinite(said[name])
        }
    return said


def _dominant_json(found: Dominant) -> dict[str, Any]:
    return {
        **asdict(found),
        "shares": [asdict(share) for share in found.shares],
        "levers": list(found.levers),
    }


def _ratio(above: int, below: int) -> float | None:
    return above / below if below else None


def _money(amount: Decimal | None) -> str | None:
    return None if amount is None else format(amount.normalize(), "f")


def _percent(share: float) -> str:
    return f"p{round(share * 100)}"
