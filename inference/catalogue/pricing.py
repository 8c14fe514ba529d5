"""What one attempt costs under a price of the catalogue."""

from __future__ import annotations

from decimal import Decimal

from inference.metrics.cost import (
    MachinePrice,
    Price,
    Priced,
    from_our_cache,
    price_seconds,
    price_tokens,
)
from inference.types import Cost
from inference.usage import Usage
from inference.wire import Phases


def price_attempt(
    usage: Usage, phases: Phases, price: Price | None, *, served_from: str = "engine"
) -> Priced:
    """The cost of an attempt: unknown without a price, nothing where nothing was computed.

    The own engine is paid by the seconds in which it worked for the attempt, or by tokens where a price of tokens was
    entered for it. An answer from our own cache costs no model money.
    """
    if price is None:
        return Priced(Cost(None, "", "unknown"), "", ("price",))
    if usage.uncached == 0 and usage.cache_read == 0 and usage.output == 0:
        return Priced(Cost(Decimal(0), price.currency, price.state), price.version)
    if isinstance(price, MachinePrice):
        priced = price_seconds((phases.prefill, phases.decode), price)
    else:
        priced = price_tokens(usage, price)
    return from_our_cache(priced) if served_from == "response_cache" else priced
