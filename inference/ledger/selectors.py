"""Reads of the accounts: a window and a slice in, figures out, in a constant number of queries and bounded memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import (
    Aggregate,
    BinaryField,
    Count,
    F,
    FloatField,
    Func,
    IntegerField,
    Q,
    QuerySet,
    Sum,
)
from django.db.models.functions import Cast, NullIf, TruncDay, TruncHour
from django.utils.translation import gettext as _

from inference.ledger.cells import BLOCKS, COUNTS, OF_ATTEMPT, TOKENS, Cell, merged
from inference.ledger.figures import Figures
from inference.ledger.slices import DIMENSIONS, TIMES, Cut, Window, day_of, midnight
from inference.ledger.summed import of_slices, of_values
from inference.metrics.goodput import Attainment
from inference.metrics.hits import Reads
from inference.metrics.phases import PARTS
from inference.metrics.stats import Floats
from inference.models import Fact, FactDue, RollupDay, Slice
from nekibu.errors import InvalidInput
from nekibu.permissions.actor import Actor

EXACT = 20_000  # facts of days that are summed up, above which their sums are read instead
MOST = 400_000  # facts that are read at once
GROUPS = 500  # rows of one answer
CLUSTERS = 14  # a day's subtotal is one cluster of an interval; fewer days than this are read by slice
PACKED = (*OF_ATTEMPT, *PARTS, "e2e")
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one group; `key` has a value for each name of the cut's `by`."""

    key: Key
    figures: Figures


@dataclass(frozen=True, slots=True)
class Accounts:
    """What was asked for, and what it rests on."""

    cut: Cut
    total: Figures
    rows: tuple[Row, ...]
    values: dict[str, tuple[str, ...]]  # what each dimension can be cut by
    exact: bool  # percentiles come from raw samples
    pending: int  # decisions whose facts are not yet written


class Packed(Aggregate):
    """A column of a group as one run of big-endian floats; NULL is NaN. All such columns of a query have one order."""

    function = "string_agg"
    template = "string_agg(float8send(coalesce(%(expressions)s, 'NaN'::float8)), ''::bytea)"
    output_field = BinaryField()


class Block(Func):
    """Into which of the `BLOCKS` groups a decision falls: by the random end of its id."""

    template = f"mod(get_byte(uuid_send(%(expressions)s), 15), {BLOCKS})"
    output_field = IntegerField()


@dataclass(slots=True)
class _Group:
    cell: Cell = field(default_factory=Cell)
    raw: list[dict[str, Floats]] = field(default_factory=list)


def accounts_for(actor: Actor, cut: Cut, *, sums: bool = False) -> Accounts:
    """The figures of a window, whole and by group. Raises InvalidInput where that is too much to read at once.

    With `sums` closed days are read from their sums however few facts they hold: what shows a course over many days
    wants many small groups, which are dear to make from samples.
    """
    slices = dict(_slices())
    chosen = _chosen(slices, cut)
    ids = None if len(chosen) == len(slices) else list(chosen)
    rolled, pieces = _plan(cut, 0 if sums else EXACT)
    exact = not rolled
    groups: dict[Key, _Group] = defaultdict(_Group)
    for piece in pieces:
        for key, cell, raw in _read(piece, ids, chosen, cut):
            if exact:
                groups[key].raw.append(raw)
            else:
                cell.observe(raw)
            groups[key].cell.add(cell)
    for key, cell in _summed(rolled, ids, chosen, cut):
        groups[key].cell.add(cell)
    if len(groups) > GROUPS:
        raise InvalidInput(
            _("That would be more than %(n)d rows. Choose less to list by, or a slice.") % {"n": GROUPS}
        )
    seconds = cut.window.seconds
    return Accounts(
        cut=cut,
        total=_figures(groups.values(), seconds, exact),
        rows=tuple(Row(key, _figures([groups[key]], _seconds_of(key, cut), exact)) for key in sorted(groups))
        if cut.by
        else (),
        values=_values(slices.values()),
        exact=exact,
        pending=FactDue.objects.count(),
    )


def regrouped(accounts: Accounts, names: tuple[str, ...]) -> tuple[Row, ...]:
    """The same figures listed by fewer names: what was read once is added up again, and nothing is read anew."""
    places = [accounts.cut.by.index(name) for name in names]
    groups: dict[Key, list[Figures]] = defaultdict(list)
    for row in accounts.rows:
        groups[tuple(row.key[at] for at in places)].append(row.figures)
    cut = Cut(accounts.cut.window, accounts.cut.only, names)
    return tuple(Row(key, _together(groups[key], _seconds_of(key, cut))) for key in sorted(groups))


def facts_in(cut: Cut) -> QuerySet[Fact]:
    """The facts of a window and a slice."""
    rows = Fact.objects.filter(asked_at__gte=cut.window.start, asked_at__lt=cut.window.end)
    if any(cut.only.values()):
        rows = rows.filter(**{f"slice__{name}__in": values for name, values in cut.only.items() if values})
    return rows


def cells_of(window: Window) -> list[tuple[UUID, Cell]]:
    """The facts of a window added up by slice, as a rollup keeps them."""
    slices = dict(_slices())
    ids = {key: slice_id for slice_id, key in slices.items()}
    found = []
    for key, cell, raw in _read(window, None, slices, Cut(window, {}, DIMENSIONS)):
        cell.observe(raw)
        found.append((ids[key], cell))
    return found


def _plan(cut: Cut, exact: int) -> tuple[list[date], list[Window]]:
    """Which days are read from their sums, and which pieces of the window from facts."""
    window = cut.window
    held = dict(
        RollupDay.objects.filter(day__gte=day_of(window.start), day__lte=day_of(window.end)).values_list(
            "day", "facts"
        )
    )
    whole = sorted(
        day for day in held if window.start <= midnight(day) and midnight(day + timedelta(1)) <= window.end
    )
    if "hour" in cut.by or sum(held[day] for day in whole) <= exact:
        whole = []
    pieces, at = [], window.start
    for day in whole:
        if at < midnight(day):
            pieces.append(Window(at, midnight(day)))
        at = midnight(day + timedelta(1))
    if at < window.end:
        pieces.append(Window(at, window.end))
    return whole, pieces


def _slices() -> Iterable[tuple[UUID, Key]]:
    for row in Slice.objects.values_list("id", *DIMENSIONS):
        yield row[0], tuple(row[1:])


def _chosen(slices: dict[UUID, Key], cut: Cut) -> dict[UUID, Key]:
    wanted = [(DIMENSIONS.index(name), set(values)) for name, values in cut.only.items() if values]
    return {
        slice_id: key for slice_id, key in slices.items() if all(key[at] in values for at, values in wanted)
    }


def _values(slices: Iterable[Key]) -> dict[str, tuple[str, ...]]:
    columns = list(zip(*slices, strict=True))
    return {name: tuple(sorted(set(columns[n]))) if columns else () for n, name in enumerate(DIMENSIONS)}


def _group_key(slice_key: Key, cut: Cut, at: datetime | date | None) -> Key:
    return tuple(
        (at.isoformat() if at is not None else "") if name in TIMES else slice_key[DIMENSIONS.index(name)]
        for name in cut.by
    )


def _read(
    piece: Window, ids: list[UUID] | None, slices: dict[UUID, Key], cut: Cut
) -> Iterable[tuple[Key, Cell, dict[str, Floats]]]:
    """The facts of a piece of the window in groups: what adds up in SQL, times as raw samples."""
    rows = Fact.objects.filter(asked_at__gte=piece.start, asked_at__lt=piece.end)
    if ids is not None:
        rows = rows.filter(slice__in=ids)
    if rows.values("pk")[: MOST + 1].count() > MOST:
        raise InvalidInput(_("That is too much to read at once. Choose a shorter time or a slice."))
    trunc: dict[str, Any] = {}
    if "hour" in cut.by:
        trunc = {"at": TruncHour("asked_at")}
    elif "day" in cut.by:
        trunc = {"at": TruncDay("asked_at")}
    named = ("slice_id", *trunc)
    grouped = rows.annotate(**trunc).order_by()
    found: dict[tuple[UUID, Any], Cell] = {}
    samples: dict[tuple[UUID, Any], list[dict[str, Floats]]] = defaultdict(list)
    for row in grouped.values(*named, "cost_currency", "cost_state", "status").annotate(**_SUMS, **_PACKS):
        place = (row["slice_id"], row.get("at"))
        found.setdefault(place, Cell()).add(_cell(row))
        samples[place].append(_samples(row))
    blocks = grouped.annotate(block=Block("decision_id")).values(*named, "block")
    for row in blocks.annotate(cost=Sum("cost_amount"), valid_ones=Count("pk", filter=Q(valid=True))):
        cell = found.setdefault((row["slice_id"], row.get("at")), Cell())
        cell.cost_of_block(row["block"], row["cost"] or Decimal(0), row["valid_ones"])
    for (slice_id, at), cell in found.items():
        if slice_id not in slices:  # made after the slices were read
            continue
        moment = at.date() if at is not None and "day" in cut.by else at
        yield _group_key(slices[slice_id], cut, moment), cell, _joined(samples[slice_id, at])


_REPORTED = Q(input_total__isnull=False, cache_read__isnull=False)
_SUMS: dict[str, Any] = {
    "facts": Count("pk"),
    "attempts": Count("attempt"),
    "decisions": Count("pk", filter=Q(closing=True)),
    "valid_ones": Count("pk", filter=Q(valid=True)),
    "cut_off": Count("pk", filter=Q(truncated=True)),
    "broke": Count("pk", filter=Q(broken=True)),
    "schemas": Count("pk", filter=Q(schema_failed=True)),
    "refused": Count("pk", filter=Q(usage_refused=True)),
    "guessed": Count("pk", filter=Q(estimated=True)),
    "told": Count("pk", filter=_REPORTED & Q(output__isnull=False)),
    "met": Count("pk", filter=Q(target="met")),
    "missed": Count("pk", filter=Q(target="missed")),
    "cancelled": Count("pk", filter=Q(target="cancelled")),
    "cost": Sum("cost_amount"),
    **{f"sum_{name}": Sum(name) for name in TOKENS},
    "reported": Count("pk", filter=_REPORTED),
    "hits": Count("pk", filter=_REPORTED & Q(cache_read__gt=0)),
    "read_input": Sum("input_total", filter=_REPORTED),
    "read_read": Sum("cache_read", filter=_REPORTED),
    "read_ratios": Sum(
        Cast(F("cache_read"), FloatField()) / NullIf(Cast(F("input_total"), FloatField()), 0.0),
        filter=_REPORTED,
    ),
}
_PACKS: dict[str, Any] = {
    f"times_{name}": Packed(name, filter=Q(attempt__isnull=False) if name in OF_ATTEMPT else Q(closing=True))
    for name in PACKED
}
_COUNTED = dict(
    zip(
        COUNTS,
        (
            "facts",
            "attempts",
            "decisions",
            "valid_ones",
            "cut_off",
            "broke",
            "schemas",
            "refused",
            "guessed",
            "told",
        ),
        strict=True,
    )
)


def _cell(row: dict[str, Any]) -> Cell:
    cell = Cell(counts={name: row[column] for name, column in _COUNTED.items()})
    if row["decisions"]:
        cell.statuses[row["status"]] = row["decisions"]
    cell.tokens = {name: int(row[f"sum_{name}"] or 0) for name in TOKENS}
    cell.money[row["cost_currency"], row["cost_state"]] = (row["cost"] or Decimal(0), row["facts"])
    cell.reads = Reads(
        row["attempts"], row["reported"], row["hits"], int(row["read_input"] or 0), int(row["read_read"] or 0),
        float(row["read_ratios"] or 0.0),
    )  # fmt: skip
    cell.targets = Attainment(row["met"], row["met"] + row["missed"], row["cancelled"])
    return cell


def _samples(row: dict[str, Any]) -> dict[str, Floats]:
    found = {
        name: np.frombuffer(row[f"times_{name}"] or b"", dtype=">f8").astype(np.float64) for name in PACKED
    }
    found["model"] = found["e2e"] - np.nan_to_num(found["approve"], nan=0.0)
    return found


def _joined(samples: Sequence[Mapping[str, Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate([one[name] for one in samples]) for name in samples[0]}


def _summed(
    days: list[date], ids: list[UUID] | None, slices: dict[UUID, Key], cut: Cut
) -> Iterable[tuple[Key, Cell]]:
    """The days that are read from their sums: of the values of one dimension where no other is asked for."""
    if not days:
        return
    named = {name for name in cut.by if name not in TIMES} | {name for name, v in cut.only.items() if v}
    if len(named) <= 1 and len(days) >= CLUSTERS:
        name = next(iter(named), "")
        only = cut.only.get(name) or None
        for day, value, cell in of_values(days, name, only):
            yield tuple(day.isoformat() if part in TIMES else value for part in cut.by), cell
        return
    for day, slice_id, cell in of_slices(days, ids):
        if slice_id in slices:
            yield _group_key(slices[slice_id], cut, day), cell


def _figures(groups: Iterable[_Group], seconds: float, exact: bool) -> Figures:
    held = list(groups)
    whole = held[0].cell if len(held) == 1 else merged(group.cell for group in held)
    if not exact:
        return Figures(whole, seconds, None)
    raw = [samples for group in held for samples in group.raw]
    empty: dict[str, Floats] = {name: np.zeros(0) for name in (*PACKED, "model")}
    return Figures(whole, seconds, _joined(raw) if raw else empty)


def _together(parts: Sequence[Figures], seconds: float) -> Figures:
    raw = [part.raw for part in parts if part.raw is not None]
    return Figures(
        merged(part.cell for part in parts), seconds, _joined(raw) if len(raw) == len(parts) else None
    )


def _seconds_of(key: Key, cut: Cut) -> float:
    if "hour" in cut.by:
        return 3600.0
    if "day" in cut.by:
        return 86_400.0
    return cut.window.seconds
