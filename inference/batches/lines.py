"""The lines of a batch: read one at a time, and what is wrong with one said by its number and with what to do next."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from inference.registry import TaskSpec, find
from inference.shape import shape_errors
from nekibu.errors import NotFound
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import decide

ENDPOINT = "/v1/decisions"
MOST_LINES = 20_000
LONGEST_LINE = 256 * 1024
LONGEST_ID = 200
_BOM = b"\xef\xbb\xbf"
_WORD = r"^[^\u0000-\u001f\u007f\ud800-\udfff]+$"  # what a column can keep and a person can read
_LINE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "custom_id": {"type": "string", "maxLength": LONGEST_ID, "pattern": _WORD},
        "method": {"enum": ["POST"]},
        "url": {"enum": [ENDPOINT]},
        "body": {
            "type": "object",
            "properties": {
                "task": {"type": "string", "maxLength": 100},
                "task_version": {"type": ["integer", "null"], "minimum": 1},
                "subject": {
                    "type": "object",
                    "properties": {
                        "type": {"type": "string", "maxLength": 100, "pattern": _WORD},
                        "id": {"type": "string", "maxLength": 64, "pattern": _WORD},
                    },
                    "required": ["type", "id"],
                    "additionalProperties": False,
                },
                "inputs": {"type": "object"},
                "as_of": {"type": ["string", "null"], "maxLength": 40},
                "locale": {"enum": ["tr", "en"]},
                "correlation": {
                    "type": "object",
                    "additionalProperties": {"type": "string", "maxLength": 200, "pattern": _WORD},
                    "propertyNames": {"maxLength": 60, "pattern": _WORD},
                    "maxProperties": 16,
                },
            },
            "required": ["task", "subject"],
            "additionalProperties": False,
        },
    },
    "required": ["custom_id", "method", "url", "body"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line lies in its file, and the hash of its bytes."""

    line: int
    offset: int
    length: int
    hash: str


@dataclass(frozen=True, slots=True)
class Question:
    """A line that can be asked."""

    place: Place
    custom_id: str
    spec: TaskSpec
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LineError:
    """What is wrong with a line, where in it, and what to do about it."""

    line: int
    code: str
    field: str
    message: str
    custom_id: str = ""


class _Wrong(ValueError):
    """A line that is no agreed JSON."""


def read(file: BinaryIO) -> Iterator[tuple[Place, bytes]]:
    """Each line that is not blank. Of one that is too long only its beginning is held; its place tells its length."""
    number = offset = 0
    while raw := file.readline(LONGEST_LINE + 1):
        number, start, size = number + 1, offset, len(raw)
        held = raw
        while not raw.endswith(b"\n") and (raw := file.readline(LONGEST_LINE + 1)):
            size += len(raw)
        offset += size
        if number == 1 and held.startswith(_BOM):
            held, start, size = held[len(_BOM) :], start + len(_BOM), size - len(_BOM)
        if not held.strip():
            continue
        held = held.rstrip(b"\r\n")
        length = size if size > LONGEST_LINE + 1 else len(held)
        yield Place(number, start, length, hash_of(held)), held


def questions(file: BinaryIO, actor: Actor) -> Iterator[Question | LineError]:
    """What each line asks, or everything that is wrong with it. Needs no database: subjects are loaded when they are asked about."""
    seen: dict[str, int] = {}
    count = 0
    for place, raw in read(file):
        count += 1
        if count > MOST_LINES:
            yield LineError(
                place.line,
                "too_many_lines",
                "",
                _("At most %(most)d lines can be asked at once. Split the file into several batches.")
                % {"most": MOST_LINES},
            )
            return
        found = question(place, raw, actor)
        if isinstance(found, Question):
            first = seen.setdefault(found.custom_id, place.line)
            if first != place.line:
                yield LineError(
                    place.line,
                    "custom_id_repeated",
                    "custom_id",
                    _("Line %(first)d has the same custom_id. Give each line one of its own.")
                    % {"first": first},
                    found.custom_id,
                )
                continue
            yield found
        else:
            yield from found
    if not count:
        yield LineError(1, "no_lines", "", _("The file has no line. Write one question in each line."))


def question(place: Place, raw: bytes, actor: Actor) -> Question | list[LineError]:
    """What one line asks this actor to ask, or all that is wrong with it."""
    try:
        value = parse(raw, place.length)
    except _Wrong as unreadable:
        code, message = unreadable.args
        return [LineError(place.line, code, "", message)]
    named = value.get("custom_id") if isinstance(value, dict) else None
    named = named[:LONGEST_ID] if isinstance(named, str) and named.isprintable() else ""

    def error(code: str, field: str, message: str) -> LineError:
        return LineError(place.line, code, field, message, named)

    wrong = [error(e["code"], e["field"].replace("/", "."), e["message"]) for e in shape_errors(_LINE, value)]
    if wrong:
        return wrong
    body = value["body"]
    try:
        spec = find(body["task"], body.get("task_version"))
    except NotFound:
        return [
            error(
                "unknown_task",
                "body.task",
                _("There is no such task. Check its name and version."),
            )
        ]
    if not decide(actor, spec.permission):
        return [
            error(
                "not_permitted",
                "body.task",
                _("You do not have the right to ask this task. Ask an administrator, or leave the line out."),
            )
        ]
    for bad in shape_errors(spec.input_schema, body.get("inputs", {})):
        field = ".".join(filter(None, ("body.inputs", bad["field"].replace("/", "."))))
        wrong.append(error(bad["code"], field, bad["message"]))
    if body.get("as_of") and _moment(body["as_of"]) is None:
        wrong.append(
            error(
                "as_of",
                "body.as_of",
                _("Write a date and time with its offset, for example 2026-03-01T09:00:00+03:00."),
            )
        )
    return wrong or Question(place, value["custom_id"], spec, body)


def parse(raw: bytes, length: int) -> Any:
    """Strict JSON of one line. Raises with a code and a sentence."""
    if length > LONGEST_LINE:
        raise _Wrong(
            "line_too_long",
            _(
                "The line is longer than %(most)d KB. Name documents by their ids instead of copying their text."
            )
            % {"most": LONGEST_LINE // 1024},
        )
    try:
        value = json.loads(raw.decode(), object_pairs_hook=_once, parse_constant=_no_number)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeError:
        raise _Wrong(
            "not_utf8", _("The line is not valid UTF-8. Save the file as UTF-8 and try again.")
        ) from None
    except (ValueError, RecursionError):
        raise _Wrong(
            "not_json",
            _(
                "The line is not one JSON object. Write each question as one object in one line, without repeated names."
            ),
        ) from None
    return value


def hash_of(raw: bytes) -> str:
    """The hash by which a line is known again when it is asked."""
    return hashlib.sha256(raw).hexdigest()


def as_of(body: Mapping[str, Any]) -> datetime | None:
    """The moment that a line names."""
    return _moment(body["as_of"]) if body.get("as_of") else None


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("repeated name")
    return value


def _no_number(name: str) -> Any:
    raise ValueError(name)
