"""Money, exactly: what an attempt costs under a price, what a decision costs, and what a valid one does. Unknown is not zero."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction
from typing import Final, Literal, cast

from inference.types import Cost, CostState
from inference.usage import Usage

PER_TOKENS: Final = 1_000_000
SECONDS_OF_HOUR: Final = 3_600
STEP: Final = Decimal("0.000000000001")  # the smallest part of a currency that is kept
_ORDER: Final[dict[CostState, int]] = {"current": 0, "stale": 1, "unknown": 2}


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """Money for a million tokens of each bucket. None is "nobody stated it"; 0 is a price.

    The price of a write stands in place of the input's, and so does that of a read.
    """

    version: str
    currency: str
    state: CostState = "current"
    input: Decimal | None = None
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None
    output: Decimal | None = None

    def of(self, bucket: str) -> Decimal | None:
        """The price of a bucket of the partition."""
        found: Decimal | None = getattr(self, "input" if bucket == "uncached" else bucket)
        return found


@dataclass(frozen=True, slots=True)
class MachinePrice:
    """Money for an hour of the machine that the engine runs on."""

    version: str
    currency: str
    hour: Decimal
    kind: Literal["cpu_hour", "gpu_hour"]
    state: CostState = "current"


Price = TokenPrice | MachinePrice


@dataclass(frozen=True, slots=True)
class Priced:
    """One attempt under one price. `unknown` names the buckets without a figure or without a price."""

    cost: Cost
    version: str
    unknown: tuple[str, ...] = ()
    saved: Cost | None = None  # what an answer from our own cache would have cost; neither spend nor revenue


def price_tokens(usage: Usage, price: TokenPrice) -> Priced:
    """Σ bucket × its price. A bucket that was not reported, or is not empty and has no price, makes the whole unknown."""
    unknown, amount = [], Decimal(0)
    with localcontext() as exact:
        exact.prec = 60
        for bucket in ("uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output"):
            tokens, each = getattr(usage, bucket), price.of(bucket)
            if tokens is None or (tokens and each is None):
                unknown.append(bucket)
            elif tokens and each is not None:
                amount += tokens * each / PER_TOKENS
        if _undivided(usage, price):
            unknown.append("cache_write_5m")
    if unknown:
        return Priced(Cost(None, price.currency, "unknown"), price.version, tuple(dict.fromkeys(unknown)))
    return Priced(Cost(_kept(amount), price.currency, price.state), price.version)


def price_seconds(seconds: Iterable[float | None], price: MachinePrice) -> Priced:
    """Seconds that the machine worked, at its hourly price. A phase that was not observed makes the cost unknown.

    A second that several requests share is charged to each of them in full, so the figure is an upper bound.
    """
    worked = list(seconds)
    if any(part is None for part in worked):
        return Priced(Cost(None, price.currency, "unknown"), price.version, ("seconds",))
    with localcontext() as exact:
        exact.prec = 60
        whole = sum((Decimal(repr(part)) for part in cast("list[float]", worked)), Decimal(0))
        amount = whole * price.hour / SECONDS_OF_HOUR
    return Priced(Cost(_kept(amount), price.currency, price.state), price.version)


def from_our_cache(priced: Priced) -> Priced:
    """The same attempt answered from our own answer cache: the model costs nothing, what was saved stands apart."""
    return Priced(Cost(Decimal(0), priced.cost.currency, "current"), priced.version, (), saved=priced.cost)


def total(costs: Iterable[Cost], currency: str = "") -> Cost:
    """All parts together. One unknown part makes the sum unknown, and so do two currencies; no part at all costs nothing."""
    parts = list(costs)
    state: CostState = max((part.state for part in parts), key=_ORDER.__getitem__, default="current")
    currencies = sorted({part.currency for part in parts if part.currency})
    named = currencies[0] if currencies else currency
    if state == "unknown" or len(currencies) > 1:
        return Cost(None, named, "unknown")
    with localcontext() as exact:
        exact.prec = 60
        return Cost(sum((part.amount or Decimal(0) for part in parts), Decimal(0)), named, state)


def supports_a_claim(cost: Cost) -> bool:
    """Whether a saving may be claimed from it: neither a stale nor an unknown price can carry one."""
    return cost.state == "current"


@dataclass(frozen=True, slots=True)
class PerValid:
    """The cost of a valid decision: everything that was spent over the decisions that hold.

    Without a valid decision it is undefined, which is not 0; what was spent is shown all the same.
    """

    amount: Decimal | None
    currency: str
    state: Literal["current", "stale", "unknown", "undefined"]
    spent: Decimal | None
    valid: int


def per_valid(spent: Cost, valid: int) -> PerValid:
    """`spent` holds all attempts: retries, repairs, failed and cancelled ones too."""
    if spent.amount is None:
        return PerValid(None, spent.currency, "unknown", None, valid)
    if not valid:
        return PerValid(None, spent.currency, "undefined", spent.amount, 0)
    with localcontext() as exact:
        exact.prec = 60
        return PerValid(_kept(spent.amount / valid), spent.currency, spent.state, spent.amount, valid)


def break_even(write: Decimal, read: Decimal) -> int | None:
    """After how many uses in all a cached prefix is cheaper than none: the least n with w + (n - 1)·r < n.

    Both are factors of the plain price. None where it never is.
    """
    w, r = Fraction(write), Fraction(read)
    if r >= 1:
        return 1 if w < 1 else None
    return max(1, (w - r) // (1 - r) + 1)


def _undivided(usage: Usage, price: TokenPrice) -> bool:
    """Whether writes of an unknown time to live could cost this or that."""
    return bool(
        usage.unsplit
        and usage.cache_write_5m
        and price.cache_write_1h is not None
        and price.cache_write_1h != price.cache_write_5m
    )


def _kept(amount: Decimal) -> Decimal:
    return amount.quantize(STEP, rounding=ROUND_HALF_EVEN).normalize() + Decimal(0)
