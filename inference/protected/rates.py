"""Rates: `%2,75`, `yüzde 20`, `20%`, `binde 2`; in percent."""

from __future__ import annotations

from collections.abc import Iterator

from inference.protected.found import Found, Writing
from nekibu.language.rates import find_rates


def find(clause: str, writing: Writing) -> Iterator[Found]:
    """Every rate of a clause."""
    for rate in find_rates(clause, writing):
        yield Found("rate", rate.start, rate.end, rate.alternatives or (rate.canonical,))
