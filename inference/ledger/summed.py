"""Closed days as they are summed up: of each slice, and of each value of each dimension, so that a page reads a few rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from uuid import UUID

from inference.ledger.cells import Cell
from inference.ledger.slices import DIMENSIONS
from inference.models import Rollup, Slice, Subtotal

COLUMNS = ("counters", "buckets", "blocks", "shares")
WHOLE = ""  # the dimension of a day's only row of everything


def write(day: date, cells: Sequence[tuple[UUID, Cell]]) -> None:
    """Replace what is summed up of a day."""
    Rollup.objects.filter(day=day).delete()
    Subtotal.objects.filter(day=day).delete()
    Rollup.objects.bulk_create(
        (Rollup(day=day, slice_id=slice_id, **_columns(cell)) for slice_id, cell in cells), batch_size=200
    )
    keys = {row[0]: row[1:] for row in Slice.objects.values_list("id", *DIMENSIONS)}
    values: dict[tuple[str, str], Cell] = defaultdict(Cell)
    for slice_id, cell in cells:
        values[WHOLE, ""].add(cell)
        for name, value in zip(DIMENSIONS, keys[slice_id], strict=True):
            values[name, value].add(cell)
    Subtotal.objects.bulk_create(
        (
            Subtotal(day=day, dimension=name, value=value, **_columns(cell))
            for (name, value), cell in values.items()
        ),
        batch_size=200,
    )


def of_values(
    days: Sequence[date], dimension: str, only: Sequence[str] | None
) -> Iterator[tuple[date, str, Cell]]:
    """The days cut by one dimension, or whole."""
    rows = Subtotal.objects.filter(day__in=days, dimension=dimension)
    if only is not None:
        rows = rows.filter(value__in=only)
    for day, value, *cell in rows.values_list("day", "value", *COLUMNS):
        yield day, value, Cell.stored(*cell)


def of_slices(days: Sequence[date], ids: Iterable[UUID] | None) -> Iterator[tuple[date, UUID, Cell]]:
    """The days by slice."""
    rows = Rollup.objects.filter(day__in=days)
    if ids is not None:
        rows = rows.filter(slice__in=ids)
    for day, slice_id, *cell in rows.values_list("day", "slice_id", *COLUMNS).iterator(chunk_size=500):
        yield day, slice_id, Cell.stored(*cell)


def _columns(cell: Cell) -> dict[str, object]:
    buckets, blocks, shares = cell.packed()
    return {"counters": cell.counters(), "buckets": buckets, "blocks": blocks, "shares": shares}
