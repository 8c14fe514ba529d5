"""The statistics of the product, and interleaved runs of several arms."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

from inference.metrics.stats import at_least, bootstrap, paired_ratio, percentile, quantile, ratio

__all__ = ["at_least", "bootstrap", "interleaved", "paired_ratio", "percentile", "quantile", "ratio"]

Arm = TypeVar("Arm")


def interleaved(arms: Sequence[Arm], rounds: int, *, seed: int = 7) -> Iterator[tuple[int, Arm]]:
    """Every arm once a round, in a shuffled order, so that a drift of the machine falls on all of them alike."""
    rng = random.Random(seed)
    for number in range(rounds):
        order = list(arms)
        rng.shuffle(order)
        for arm in order:
            yield number, arm
