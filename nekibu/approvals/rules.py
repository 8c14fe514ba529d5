"""Arithmetic of approvals: canonical parameters and their hash, what was changed, when to remind, who may stand in for whom."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

Json = Any
EXACT = 2**53 - 1  # integers up to here are the same number for every reader of JSON


class NotCanonical(ValueError):
    """A value has no canonical form: not JSON, not finite, or not the same number for every reader."""


def canonical(value: Json) -> str:
    """RFC 8785: equal values give equal bytes, on every machine and in every language that reads them."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value) if abs(value) <= EXACT else _large(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise NotCanonical("a name that is not text")
        ordered = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(name)}:{canonical(value[name])}" for name in ordered) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical(part) for part in value) + "]"
    raise NotCanonical(f"{type(value).__name__} is not JSON")


def digest(value: Json) -> str:
    """SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def _text(value: str) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise NotCanonical("half a character")
    return json.dumps(value, ensure_ascii=False)


def _large(value: int) -> str:
    """Only what a reader of doubles writes in the same way again."""
    try:
        text = _number(float(value))
    except OverflowError:
        text = "0"
    if Decimal(text) != value:
        raise NotCanonical(f"{value} is another number for readers that know only doubles; write it as text")
    return text


def _number(value: float) -> str:
    """As ECMAScript writes a number."""
    if not math.isfinite(value):
        raise NotCanonical("not a finite number")
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    figures, power = "".join(map(str, digits)), len(digits) + int(exponent)
    minus = "-" if sign else ""
    if len(figures) <= power <= 21:
        return minus + figures.ljust(power, "0")
    if 0 < power <= 21:
        return f"{minus}{figures[:power]}.{figures[power:]}"
    if -6 < power <= 0:
        return f"{minus}0.{'0' * -power}{figures}"
    rest = f".{figures[1:]}" if len(figures) > 1 else ""
    return f"{minus}{figures[0]}{rest}e{'+' if power > 0 else '-'}{abs(power - 1)}"


# --- what a person changed -------------------------------------------------------------------------------------------


def diff(before: Json, after: Json, path: str = "") -> list[dict[str, Json]]:
    """What differs, by JSON Pointer: `was` is absent for what is new, `is` for what is gone. Lists are one value."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        found: list[dict[str, Json]] = []
        for name in sorted({*before, *after}):
            there = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name not in before:
                found.append({"path": there, "is": after[name]})
            elif name not in after:
                found.append({"path": there, "was": before[name]})
            else:
                found += diff(before[name], after[name], there)
        return found
    return [] if canonical(before) == canonical(after) else [{"path": path, "was": before, "is": after}]


# --- quorum ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """One word that still stands: of which kind, by which person, in whose name."""

    kind: Literal["approve", "change", "reject"]
    person: UUID
    seat: UUID  # the person, or the one for whom the person spoke


def approvals(words: Iterable[Said]) -> int:
    """How many approvals count: no person and no seat counts twice."""
    people: set[UUID] = set()
    counted = 0
    for word in words:
        if word.kind == "approve" and not {word.person, word.seat} & people:
            people |= {word.person, word.seat}
            counted += 1
    return counted


# --- reminders -------------------------------------------------------------------------------------------------------

SHARES = (0.5, 0.8, 0.95)  # of the time until it expires
AFTER = (timedelta(days=1), timedelta(days=3), timedelta(days=7))  # where it never expires


def reminders(asked: datetime, expires: datetime | None) -> tuple[datetime, ...]:
    """When to remind, in order."""
    if expires is None:
        return tuple(asked + pause for pause in AFTER)
    return tuple(asked + (expires - asked) * share for share in SHARES)


def next_reminder(asked: datetime, expires: datetime | None, now: datetime) -> datetime | None:
    """The first reminder that lies ahead; those that were missed are not made up for."""
    return next((moment for moment in reminders(asked, expires) if moment > now), None)


# --- standing in for somebody ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Handing:
    """One delegation: who hands over to whom, from when until when, everything or one request."""

    principal: UUID
    delegate: UUID
    starts: datetime
    ends: datetime
    request: UUID | None = None

    def meets(self, other: Handing) -> bool:
        """Whether both hold at some moment, for the same thing."""
        return self.request == other.request and self.starts < other.ends and other.starts < self.ends


Obstacle = Literal["self", "backwards", "cycle", "chain", "twice", "away"]


def obstacle(new: Handing, held: Sequence[Handing]) -> Obstacle | None:
    """What forbids a delegation: depth is one, so whoever stands in for somebody hands nothing on, and no circle can close.

    `away` means that the delegate has handed everything over for a part of that time.
    """
    if new.principal == new.delegate:
        return "self"
    if new.ends <= new.starts:
        return "backwards"
    meeting = [one for one in held if new.meets(one)]
    if any((one.principal, one.delegate) == (new.principal, new.delegate) for one in meeting):
        return "twice"
    if any((one.principal, one.delegate) == (new.delegate, new.principal) for one in meeting):
        return "cycle"
    if any(one.principal == new.delegate or one.delegate == new.principal for one in meeting):
        return "chain"
    if new.request is not None and any(
        one.principal == new.delegate
        and one.request is None
        and one.starts < new.ends
        and new.starts < one.ends
        for one in held
    ):
        return "away"
    return None
