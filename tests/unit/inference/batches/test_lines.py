"""Lines of a batch: each that is wrong is named by its number, and what can be asked is found again byte for byte."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference import registry
from inference.batches import lines
from inference.batches.lines import LineError, Question, questions, read
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import grant
from tests.unit.inference.specs import TENANT, Lines, LinesAction

ASKER = Actor(tenant_id=TENANT, name="Ada", roles=frozenset({"recruiter"}))


@pytest.fixture(autouse=True)
def _task(monkeypatch):
    monkeypatch.setattr(registry, "_specs", dict(registry._specs))
    grant("recruiter", LinesAction.LINES_ASK)
    registry.register(Lines(a="Python").spec(slug="lines.batch"))


def line(custom_id="one", **changes):
    body = {
        "task": "lines.batch",
        "subject": {"type": "lines", "id": "a"},
        "inputs": {"term": "Python"},
        **changes.pop("body", {}),
    }
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/decisions", "body": body, **changes}


def found(*rows, actor=ASKER):
    text = b"\n".join(r if isinstance(r, bytes) else json.dumps(r).encode() for r in rows)
    return list(questions(io.BytesIO(text), actor))


def test_good_lines_become_questions_in_order():
    got = found(line("one"), line("two"))
    assert [(q.custom_id, q.place.line) for q in got] == [("one", 1), ("two", 2)]
    assert all(isinstance(q, Question) for q in got)


def test_blank_lines_and_a_byte_order_mark_are_no_lines_but_keep_the_numbers():
    got = found(b"\xef\xbb\xbf" + json.dumps(line("one")).encode(), b"", b"   ", line("two"))
    assert [(q.custom_id, q.place.line) for q in got] == [("one", 1), ("two", 4)]


@pytest.mark.parametrize(
    ("row", "code", "field"),
    [
        (b"{", "not_json", ""),
        (b'"\xff"', "not_utf8", ""),
        (b'{"custom_id": "\\ud800"}', "not_utf8", ""),
        (b'{"custom_id": "a", "custom_id": "b"}', "not_json", ""),
        (b"[" * 100_000, "not_json", ""),
        (b'{"custom_id": NaN}', "not_json", ""),
        (b"[]", "type", ""),
        (b"x" * (lines.LONGEST_LINE + 5), "line_too_long", ""),
        (line(""), "pattern", "custom_id"),
        (line("a\nb"), "pattern", "custom_id"),
        (line("x" * 201), "maxLength", "custom_id"),
        (line(method="GET"), "enum", "method"),
        (line(url="/v1/chat/completions"), "enum", "url"),
        (line(extra=1), "additionalProperties", ""),
        (line(body={"model": "larger"}), "additionalProperties", "body"),
        (line(body={"mode": "online"}), "additionalProperties", "body"),
        (line(body={"task": "no.such"}), "unknown_task", "body.task"),
        (line(body={"task_version": 9}), "unknown_task", "body.task"),
        (line(body={"inputs": {}}), "required", "body.inputs"),
        (line(body={"inputs": {"term": 3}}), "type", "body.inputs.term"),
        (line(body={"as_of": "yesterday"}), "as_of", "body.as_of"),
        (line(body={"as_of": "2026-03-01T09:00:00"}), "as_of", "body.as_of"),
        (line(body={"subject": {"type": "lines", "id": "a\u0000"}}), "pattern", "body.subject.id"),
    ],
)
def test_what_is_wrong_is_said_by_line_and_field(row, code, field):
    first, wrong, last = found(line("first"), row, line("last"))
    assert isinstance(first, Question) and isinstance(last, Question)
    assert (wrong.line, wrong.code, wrong.field) == (2, code, field)
    assert wrong.message


def test_a_repeated_custom_id_names_the_line_that_had_it_first():
    wrong = found(line("one"), line("two"), line("one"))[2]
    assert (wrong.line, wrong.code) == (3, "custom_id_repeated")
    assert "1" in wrong.message


def test_whoever_may_not_ask_the_task_is_told_so_by_line():
    auditor = Actor(tenant_id=TENANT, name="Ada", roles=frozenset({"auditor"}))
    assert [e.code for e in found(line(), actor=auditor)] == ["not_permitted"]


def test_an_empty_file_and_one_that_is_too_long_are_said_so(monkeypatch):
    assert [e.code for e in found(b"\n\n")] == ["no_lines"]
    monkeypatch.setattr(lines, "MOST_LINES", 2)
    got = found(line("a"), line("b"), line("c"), line("d"))
    assert [getattr(e, "code", "") for e in got] == ["", "", "too_many_lines"]


@given(st.lists(st.binary(max_size=60).filter(lambda b: b"\n" not in b), max_size=12), st.booleans())
def test_a_place_leads_back_to_the_bytes_that_were_read(parts, ended):
    text = b"\n".join(parts) + (b"\n" if ended else b"")
    for place, raw in read(io.BytesIO(text)):
        again = text[place.offset : place.offset + place.length]
        assert again == raw and lines.hash_of(again) == place.hash
        assert raw.strip()


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda s: st.lists(s) | st.dictionaries(st.text(max_size=5), s), max_leaves=8))  # fmt: skip
def test_any_json_is_a_question_or_an_error_and_never_a_crash(value):
    for one in found(json.dumps(value).encode()):
        assert isinstance(one, LineError) and one.line == 1 and one.message
