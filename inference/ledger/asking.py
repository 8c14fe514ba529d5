"""What a query asks of the accounts: a window and a slice out of an address, and the address of a part of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _

from inference.ledger.slices import DIMENSIONS, TIMES, Cut, Window, day_of, midnight
from nekibu.errors import InvalidInput

LONGEST = timedelta(days=400)
DEFAULT = "24h"
_SPAN = re.compile(r"(\d{1,4})([hd])")
_OFFSET = re.compile(r"(:\d\d(?:\.\d+)?) (\d\d:\d\d)$")  # a plus sign that was not escaped arrives as a blank


def cut_of(asked: QueryDict | Mapping[str, Any]) -> Cut:
    """The window and the slice of a query. Raises InvalidInput with the parameter that is wrong."""
    lists = asked if isinstance(asked, QueryDict) else QueryDict(urlencode(asked, doseq=True))
    by = tuple(dict.fromkeys(part for part in lists.get("by", "").split(",") if part))
    if len(by) > 2 or set(by) - {*DIMENSIONS, *TIMES} or {*TIMES} <= set(by):
        raise wrong("by", _("List by at most two dimensions, and by hours or days, not both."))
    return Cut(_window(lists), {name: tuple(lists.getlist(name)) for name in DIMENSIONS if name in lists}, by)


def whole_days(days: int, now: datetime) -> Window:
    """Today and the days before it, from local midnight: closed days are then read from their sums."""
    return Window(midnight(day_of(now) - timedelta(days - 1)), now)


def asked_for(cut: Cut) -> list[tuple[str, str]]:
    """A window and a slice as the parameters of an address."""
    return [
        ("from", cut.window.start.isoformat()),
        ("to", cut.window.end.isoformat()),
        *((name, value) for name, values in cut.only.items() for value in values),
    ]


def narrowed(cut: Cut, key: tuple[str, ...]) -> Cut:
    """The window and the slice of one group."""
    window, only = cut.window, dict(cut.only)
    for name, value in zip(cut.by, key, strict=True):
        if name == "day":
            start = midnight(date.fromisoformat(value))
            window = _within(window, start, midnight(date.fromisoformat(value) + timedelta(1)))
        elif name == "hour":
            start = datetime.fromisoformat(value)
            window = _within(window, start, start + timedelta(hours=1))
        else:
            only[name] = (value,)
    return Cut(window, only)


def _window(asked: QueryDict) -> Window:
    now = timezone.now()
    if "from" in asked or "to" in asked:
        if "window" in asked:
            raise wrong("window", _("Give a window, or a start and an end, not both."))
        end = _moment(asked, "to") or now
        start = _moment(asked, "from") or end - timedelta(days=1)
    else:
        match = _SPAN.fullmatch(asked.get("window", DEFAULT))
        if match is None:
            raise wrong("window", _("Give a number of hours or days, such as 24h or 7d."))
        unit = {"h": timedelta(hours=1), "d": timedelta(days=1)}[match[2]]
        start, end = now - int(match[1]) * unit, now
    if not timedelta(0) < end - start <= LONGEST:
        raise wrong(
            "from", _("The start must lie before the end, and at most %(n)d days.") % {"n": LONGEST.days}
        )
    return Window(start, end)


def _moment(asked: QueryDict, name: str) -> datetime | None:
    text = asked.get(name)
    if not text:
        return None
    text = _OFFSET.sub(r"\1+\2", text)
    try:
        day = parse_date(text)
        found = midnight(day) if day else parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise wrong(name, _("Give a date or a time in ISO 8601."))
    return found if timezone.is_aware(found) else timezone.make_aware(found)


def _within(window: Window, start: datetime, end: datetime) -> Window:
    return Window(max(window.start, start), min(window.end, end))


def wrong(name: str, message: str) -> InvalidInput:
    """The refusal of one parameter."""
    return InvalidInput(errors=[{"field": name, "code": "invalid", "message": message}])
