"""Counters and histograms of a group of facts: what is added up over slices and days, and all that a rollup keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from inference.metrics.cost import STEP
from inference.metrics.goodput import Attainment
from inference.metrics.histogram import LOG_LINEAR, Histogram, place_of
from inference.metrics.hits import Reads
from inference.metrics.phases import PARTS
from inference.metrics.stats import Floats

OF_ATTEMPT = ("ttft", "tpot")
OF_DECISION = (*PARTS, "e2e", "model")
TIMES = (*OF_ATTEMPT, *OF_DECISION)
TOKENS = ("uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output", "reasoning", "input_total")
COUNTS = (
    "facts", "attempts", "decisions", "valid", "truncated", "broken", "schema_failed", "usage_refused", "estimated",
    "tokens_reported",
)  # fmt: skip
WIDE = len(LOG_LINEAR) + 1  # buckets of one time
BLOCKS = 64  # decisions are dealt into so many groups, which are the clusters of the cost's interval
COARSE = 10  # so many fine buckets make one of those in which shares of phases are kept

# Little-endian records, so that hundreds of cells are added up in one step: how many samples fell into a bucket; what a
# block of decisions cost, in the smallest part of a currency, and how many of them hold; and by coarse bucket of the
# whole, and by whether it holds the waiting for people, how many requests there were and the sum of each phase's share.
BUCKETS_TYPE = np.dtype([("time", "<u2"), ("bucket", "<u2"), ("n", "<u4")])
BLOCKS_TYPE = np.dtype([("block", "<u4"), ("valid", "<u4"), ("cost", "<i8")])
SHARES_TYPE = np.dtype([("place", "<u4"), ("n", "<f4"), ("sums", "<f4", (len(PARTS),))])
KINDS = 2  # of wholes: with the waiting for people, and without
Records = npt.NDArray[Any]


@dataclass(slots=True)
class Cell:
    """Everything that adds up. Money is exact: known amounts by (currency, state), and how many facts each is of."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    statuses: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TOKENS, 0))
    money: dict[tuple[str, str], tuple[Decimal, int]] = field(default_factory=dict)
    reads: Reads = field(default_factory=Reads)
    targets: Attainment = field(default_factory=lambda: Attainment(0, 0, 0))
    buckets: list[bytes] = field(default_factory=list)
    blocks: list[bytes] = field(default_factory=list)
    shares: list[bytes] = field(default_factory=list)  # one for each cluster that is drawn as a whole

    def add(self, other: Cell) -> None:
        """Take another cell in."""
        for name in COUNTS:
            self.counts[name] += other.counts[name]
        for name in TOKENS:
            self.tokens[name] += other.tokens[name]
        for status, n in other.statuses.items():
            self.statuses[status] = self.statuses.get(status, 0) + n
        for kind, (amount, n) in other.money.items():
            held, so_far = self.money.get(kind, (Decimal(0), 0))
            self.money[kind] = (held + amount, so_far + n)
        self.reads = self.reads + other.reads
        self.targets = self.targets + other.targets
        self.buckets += other.buckets
        self.blocks += other.blocks
        self.shares += other.shares

    def observe(self, times: Mapping[str, Floats]) -> None:
        """Take raw times in: a histogram for each, and the shares of the phases in each request's whole."""
        values = np.concatenate([times[name] for name in TIMES])
        numbers = np.repeat(np.arange(len(TIMES)), [len(times[name]) for name in TIMES])
        seen = ~np.isnan(values)
        places, n = np.unique(numbers[seen] * WIDE + place_of(values[seen]), return_counts=True)
        records = np.zeros(len(places), dtype=BUCKETS_TYPE)
        records["time"], records["bucket"], records["n"] = places // WIDE, places % WIDE, n
        self.buckets.append(records.tobytes())
        self.shares.append(_shares(times).tobytes())

    def cost_of_block(self, block: int, cost: Decimal, valid: int) -> None:
        """What a block of decisions cost."""
        held = np.zeros(1, dtype=BLOCKS_TYPE)
        held["block"], held["valid"], held["cost"] = block, valid, int(cost / STEP)
        self.blocks.append(held.tobytes())

    def histograms(self) -> dict[str, Histogram]:
        """The times, added up."""
        table = counted(self.buckets)
        found = {}
        for number, name in enumerate(TIMES):
            places = np.nonzero(table[number])[0]
            found[name] = Histogram(
                LOG_LINEAR, dict(zip(places.tolist(), table[number, places].tolist(), strict=True))
            )
        return found

    def clusters(self) -> Floats:
        """Cost and valid decisions of each block that has any."""
        records = np.frombuffer(b"".join(self.blocks), dtype=BLOCKS_TYPE)
        if not len(records):
            return np.zeros((0, 2))
        cost = np.bincount(records["block"], weights=records["cost"] * float(STEP), minlength=BLOCKS)
        valid = np.bincount(records["block"], weights=records["valid"], minlength=BLOCKS)
        seen = np.bincount(records["block"], minlength=BLOCKS) > 0
        found: Floats = np.column_stack([cost, valid])[seen].astype(np.float64)
        return found

    def counters(self) -> dict[str, Any]:
        """What a rollup keeps as JSON."""
        reads, targets = self.reads, self.targets
        return {
            "counts": [self.counts[name] for name in COUNTS],
            "statuses": self.statuses,
            "tokens": [self.tokens[name] for name in TOKENS],
            "money": [
                [currency, state, str(amount), n] for (currency, state), (amount, n) in sorted(self.money.items())
            ],
            "reads": [reads.requests, reads.reported, reads.hits, reads.input, reads.read, reads.ratios],
            "targets": [targets.met, targets.sent, targets.cancelled],
        }  # fmt: skip

    def packed(self) -> tuple[bytes, bytes, bytes]:
        """What a rollup keeps as records: buckets, blocks and shares, each place once."""
        table = counted(self.buckets)
        times, places = np.nonzero(table)
        buckets = np.zeros(len(times), dtype=BUCKETS_TYPE)
        buckets["time"], buckets["bucket"], buckets["n"] = times, places, table[times, places]
        shares = np.frombuffer(b"".join(self.shares), dtype=SHARES_TYPE)
        return buckets.tobytes(), b"".join(self.blocks), _gathered(shares).tobytes()

    @classmethod
    def stored(cls, counters: Mapping[str, Any], buckets: bytes, blocks: bytes, shares: bytes) -> Cell:
        """A cell as a rollup kept it."""
        return cls(
            counts=dict(zip(COUNTS, counters["counts"], strict=True)),
            statuses=counters["statuses"],
            tokens=dict(zip(TOKENS, counters["tokens"], strict=True)),
            money={
                (currency, state): (Decimal(amount), n) for currency, state, amount, n in counters["money"]
            },
            reads=Reads(*counters["reads"]),
            targets=Attainment(*counters["targets"]),
            buckets=[buckets],
            blocks=[blocks],
            shares=[shares],
        )


def merged(cells: Iterable[Cell]) -> Cell:
    """All of them as one."""
    found = Cell()
    for cell in cells:
        found.add(cell)
    return found


def counted(buckets: Sequence[bytes]) -> npt.NDArray[np.int64]:
    """How many samples of each time fell into each bucket."""
    records = np.frombuffer(b"".join(buckets), dtype=BUCKETS_TYPE)
    places = records["time"].astype(np.int64) * WIDE + records["bucket"]
    found = np.bincount(places, weights=records["n"], minlength=len(TIMES) * WIDE)
    return found.astype(np.int64).reshape(len(TIMES), WIDE)


def shares_above(cell: Cell, share: float, *, people: bool) -> tuple[int, Floats]:
    """How many requests there are, and for each cluster those of the bucket in which this share lies and of all above it.

    A row is how many they are and the sum of each phase's share. They are a few more than the slowest, since the
    bucket is taken whole.
    """
    records = np.frombuffer(b"".join(cell.shares), dtype=SHARES_TYPE)
    owner = np.repeat(
        np.arange(len(cell.shares)), [len(part) // SHARES_TYPE.itemsize for part in cell.shares]
    )
    wanted = records["place"] % KINDS == int(not people)
    records, owner = records[wanted], owner[wanted]
    n = int(records["n"].sum())
    if not n:
        return 0, np.zeros((0, 1 + len(PARTS)))
    buckets = (records["place"] // KINDS).astype(np.int64)
    reached = np.cumsum(np.bincount(buckets, weights=records["n"]))
    slow = buckets >= int(np.searchsorted(reached, share * n - 1e-6))
    rows = np.zeros((len(cell.shares), 1 + len(PARTS)))
    np.add.at(rows, owner[slow], np.column_stack([records["n"], records["sums"]])[slow])
    return n, rows[rows[:, 0] > 0]


def table_of(times: Mapping[str, Floats], *, people: bool) -> tuple[Floats, Floats]:
    """Seconds of each part for each request that took any time, and their sums; without people, their waiting is none."""
    table = np.nan_to_num(np.column_stack([times[name] for name in PARTS]), nan=0.0).clip(min=0.0)
    if not people:
        table[:, PARTS.index("approve")] = 0.0
    whole = table.sum(axis=1)
    return table[whole > 0], whole[whole > 0]


def _shares(times: Mapping[str, Floats]) -> Records:
    parts = []
    for people in (True, False):
        table, whole = table_of(times, people=people)
        records = np.zeros(len(whole), dtype=SHARES_TYPE)
        records["place"] = place_of(whole) // COARSE * KINDS + int(not people)
        records["n"] = 1
        records["sums"] = table / whole[:, None]
        parts.append(records)
    return _gathered(np.concatenate(parts))


def _gathered(records: Records) -> Records:
    """One record for each place."""
    places, owner = np.unique(records["place"], return_inverse=True)
    found = np.zeros(len(places), dtype=SHARES_TYPE)
    found["place"] = places
    np.add.at(found["n"], owner, records["n"])
    np.add.at(found["sums"], owner, records["sums"])
    return found
