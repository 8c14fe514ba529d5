"""Virtual token counters: how much of a band's service each tenant had, so that the one with least goes next. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from inference.slo import Band

OUTPUT_WEIGHT = 2.0  # a token that is written, in tokens that are read


class Counters:
    """Service in tokens read, divided by the tenant's share, for each band and tenant.

    Who comes back after a pause starts at the least of those who wait, so nobody saves up service by being away.
    """

    def __init__(self) -> None:
        self._had: dict[tuple[Band, str], float] = {}
        self._last: dict[Band, str] = {}  # the last tenant of a band whose work ran out

    def join(self, band: Band, tenant: str, others: Iterable[str]) -> None:
        """The tenant has work again, beside `others` who have some."""
        level = min((self.had(band, other) for other in others), default=None)
        if level is None:
            last = self._last.get(band)
            level = self.had(band, last) if last is not None else 0.0
        self._had[band, tenant] = max(self.had(band, tenant), level)

    def leave(self, band: Band, tenant: str) -> None:
        """The tenant's work has run out."""
        self._last[band] = tenant

    def charge(self, band: Band, tenant: str, tokens: float, share: float) -> None:
        """It was served so much, or so much less than was thought."""
        self._had[band, tenant] = self.had(band, tenant) + tokens / share

    def had(self, band: Band, tenant: str) -> float:
        """Its service so far."""
        return self._had.get((band, tenant), 0.0)

    def spread(self, band: Band, tenants: Iterable[str]) -> float:
        """How far those who wait are apart."""
        levels = [self.had(band, tenant) for tenant in tenants]
        return max(levels) - min(levels) if levels else 0.0
