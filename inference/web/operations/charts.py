"""A chart as a value: what the page's script draws, and the table with the same figures under it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal

from django.utils.dateformat import format as date_format
from django.utils.translation import gettext as _

Kind = Literal["lines", "bars", "stack", "rows", "steps", "flow"]
Unit = Literal["count", "percent", "seconds", "money"]


@dataclass(frozen=True, slots=True)
class Series:
    """A figure for each category; None is "not known". Bounds and links, where there are any, one for each too."""

    name: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()
    links: tuple[str, ...] = ()
    tone: str = ""  # a colour that means something: success, warning, error


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over categories. `first` heads the table's first column; `aim` is a line that should be reached."""

    key: str
    kind: Kind
    unit: Unit
    first: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    said: str  # one sentence for those who do not see it
    currency: str = ""
    aim: float | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(value is not None for one in self.series for value in one.values)

    @property
    def spec(self) -> dict[str, Any]:
        """What the script reads."""
        return {
            "kind": self.kind,
            "unit": self.unit,
            "currency": self.currency,
            "categories": list(self.categories),
            "series": [asdict(one) for one in self.series],
            "aim": self.aim,
            "words": {
                "unknown": _("not known"),
                "aim": _("target"),
                "ms": _("%(number)s ms"),
                "s": _("%(number)s s"),
            },
        }

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table: a line for each category, a cell for each series."""
        return [
            {
                "name": name,
                "cells": [
                    {
                        "value": one.values[n],
                        "low": one.low[n] if one.low else None,
                        "high": one.high[n] if one.high else None,
                        "link": one.links[n] if one.links else "",
                        "label": one.name,
                    }
                    for one in self.series
                ],
            }
            for n, name in enumerate(self.categories)
        ]


def point_name(time: str, key: str) -> str:
    """A moment of the time axis, as people write it: 7 Dec, or 7 Dec 14:00."""
    if time == "hour":
        return date_format(datetime.fromisoformat(key), "j M H:i")
    return date_format(date.fromisoformat(key), "j M")


def number(value: Decimal | float | None) -> float | None:
    """What JSON can hold."""
    return None if value is None else float(value)


def shared(values: Sequence[int]) -> tuple[float | None, ...]:
    """Counts as shares of their sum."""
    whole = sum(values)
    return tuple(value / whole if whole else None for value in values)
