"""Canonical parameters, what was changed, quorum, reminders, and who may stand in for whom."""

from __future__ import annotations

import json
import struct
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nekibu.approvals.rules import (
    EXACT,
    Handing,
    NotCanonical,
    Said,
    approvals,
    canonical,
    diff,
    digest,
    next_reminder,
    obstacle,
    reminders,
)

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-EXACT, EXACT)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=5)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


# --- canonical form --------------------------------------------------------------------------------------------------


@given(JSON)
def test_the_canonical_form_is_json_of_the_same_value_and_stays_as_it_is(value: Any) -> None:
    text = canonical(value)
    assert json.loads(text, parse_int=float) == json.loads(json.dumps(value), parse_int=float)
    assert canonical(json.loads(text)) == text


@given(st.dictionaries(TEXT, JSON, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_names_does_not_matter(value: dict[str, Any], random: Any) -> None:
    names = list(value)
    random.shuffle(names)
    assert digest({name: value[name] for name in names}) == digest(value)


@given(OBJECT, OBJECT)
def test_two_values_have_one_hash_only_when_they_are_equal(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert (digest(one) == digest(other)) == (diff(one, other) == [])


@pytest.mark.parametrize(
    ("bits", "text"),
    [  # RFC 8785, appendix B
        ("0000000000000000", "0"), ("8000000000000000", "0"), ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"), ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"), ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"), ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"), ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"), ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"), ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"), ("becbf647612f3696", "-0.0000033333333333333333"),
    ],
)  # fmt: skip
def test_a_number_is_written_as_the_standard_writes_it(bits: str, text: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(number) == text


@pytest.mark.parametrize("number", [36523618076188570, 10**22, -(2**53), 10**308])
def test_a_large_whole_number_that_doubles_know_is_written_as_its_double(number: int) -> None:
    assert canonical(number) == canonical(float(number))


def test_names_are_ordered_by_their_utf_16_units_and_text_keeps_its_letters() -> None:
    named = {"€": 1, "\r": 2, "\ufb33": 3, "1": 4, "😀": 5, "\u0080": 6, "ö": 7}
    assert list(json.loads(canonical(named))) == ["\r", "1", "\u0080", "ö", "€", "😀", "\ufb33"]
    assert canonical("İğdır\u2028\n\x01/") == '"İğdır\u2028\\n\\u0001/"'


@pytest.mark.parametrize(
    "bad",
    [float("nan"), float("inf"), 2**53 + 1, 36523618076188568, 10**400, "\ud800", {1: 2}, object(), b"x"],
)
def test_what_readers_would_read_differently_has_no_canonical_form(bad: Any) -> None:
    with pytest.raises(NotCanonical):
        canonical({"value": bad} if not isinstance(bad, dict) else bad)


# --- what was changed ------------------------------------------------------------------------------------------------


@given(OBJECT, OBJECT)
def test_the_changes_turn_what_was_into_what_is_and_back(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    changes = diff(before, after)
    assert applied(before, changes, "was", "is") == after
    assert applied(after, changes, "is", "was") == before


def applied(value: Any, changes: list[dict[str, Any]], out: str, into: str) -> Any:
    """The value with each change made, checking that what goes out was there."""
    value = json.loads(json.dumps(value))
    for change in changes:
        if change["path"] == "":
            return change[into]
        *way, last = [part.replace("~1", "/").replace("~0", "~") for part in change["path"].split("/")[1:]]
        place = value
        for part in way:
            place = place[part]
        assert (last in place) == (out in change)
        if into in change:
            place[last] = change[into]
        else:
            del place[last]
    return value


# --- quorum ----------------------------------------------------------------------------------------------------------

PEOPLE = [UUID(int=n) for n in range(1, 6)]
WORDS = st.lists(
    st.builds(Said, st.sampled_from(["approve", "change", "reject"]), st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)),
    max_size=12,
)  # fmt: skip


@given(WORDS)
def test_nobody_counts_twice_neither_as_a_person_nor_as_a_principal(words: list[Said]) -> None:
    counted = approvals(words)
    assert counted <= len({w.person for w in words if w.kind == "approve"})
    assert counted <= len({w.seat for w in words if w.kind == "approve"})
    assert approvals([*words, *words]) == counted


def test_a_stand_in_and_the_one_they_stand_in_for_are_one_voice() -> None:
    a, b, c = PEOPLE[:3]
    assert approvals([Said("approve", b, a), Said("approve", a, a)]) == 1
    assert approvals([Said("approve", b, a), Said("approve", b, b)]) == 1
    assert approvals([Said("approve", b, a), Said("approve", c, c)]) == 2
    assert approvals([Said("reject", a, a), Said("change", b, b)]) == 0


# --- reminders -------------------------------------------------------------------------------------------------------


@given(st.none() | st.integers(60, 400 * 86400), st.integers(0, 500 * 86400))
def test_reminders_come_in_order_between_the_question_and_its_end_and_never_twice(
    life: int | None, passed: int
) -> None:
    ends = NOW + timedelta(seconds=life) if life else None
    moments = reminders(NOW, ends)
    assert list(moments) == sorted(moments) and len(set(moments)) == 3
    assert all(moment > NOW and (ends is None or moment < ends) for moment in moments)
    now = NOW + timedelta(seconds=passed)
    following = next_reminder(NOW, ends, now)
    assert following == next((m for m in moments if m > now), None)


# --- standing in -----------------------------------------------------------------------------------------------------

HANDINGS = st.builds(
    lambda p, d, start, length, request: Handing(
        p, d, NOW + timedelta(hours=start), NOW + timedelta(hours=start + length), request
    ),
    st.sampled_from(PEOPLE), st.sampled_from(PEOPLE), st.integers(0, 20), st.integers(-1, 12),
    st.none() | st.just(UUID(int=99)),
)  # fmt: skip


@given(st.lists(HANDINGS, max_size=14))
def test_what_is_accepted_is_never_deeper_than_one_and_never_a_circle(asked: list[Handing]) -> None:
    held: list[Handing] = []
    for new in asked:
        if obstacle(new, held) is None:
            held.append(new)
    for hour in range(-1, 35):
        moment = NOW + timedelta(hours=hour)
        for scope in (None, UUID(int=99)):
            in_force = [h for h in held if h.request == scope and h.starts <= moment < h.ends]
            assert not {h.principal for h in in_force} & {h.delegate for h in in_force}
            pairs = [(h.principal, h.delegate) for h in in_force]
            assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize(
    ("principal", "delegate", "start", "end", "request_", "expected"),
    [
        (0, 0, 0, 1, None, "self"),
        (0, 1, 3, 3, None, "backwards"),
        (1, 0, 4, 6, None, "cycle"),
        (1, 2, 4, 6, None, "chain"),  # 1 stands in for 0 and hands nothing on
        (2, 0, 4, 6, None, "chain"),  # 0 is away
        (0, 1, 9, 12, None, "twice"),
        (0, 2, 4, 6, None, None),  # several may stand in
        (1, 0, 10, 12, None, None),  # another time
        (2, 0, 4, 6, 99, "away"),  # one question for somebody who is away
        (2, 3, 4, 6, 99, None),
    ],
)
def test_what_stands_in_the_way_of_a_delegation(
    principal: int, delegate: int, start: int, end: int, request_: int | None, expected: str | None
) -> None:
    held = [Handing(PEOPLE[0], PEOPLE[1], NOW, NOW + timedelta(hours=10))]
    new = Handing(
        PEOPLE[principal], PEOPLE[delegate], NOW + timedelta(hours=start), NOW + timedelta(hours=end),
        UUID(int=request_) if request_ else None,
    )  # fmt: skip
    assert obstacle(new, held) == expected
