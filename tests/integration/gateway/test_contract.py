"""What a gateway is, whichever it is: the one in this process and the real one behind its socket give the same frames.

Tests that need no socket use the local one; here it is held to what the real one does.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable
from typing import Any

import pytest

from inference.fake import LocalGateway
from inference.slo import Band
from inference.tokens import CONTROL
from inference.wire import Aborted, Delta, Done, EngineState, Message, Queued, Refused, Started, Ticket
from tests.gateway import until
from tests.unit.inference.gateway.tickets import ids_of, long_answer, ticket

VERDICT = '{"type": "object", "properties": {"pieces": {}, "verdict": {}, "reasoning": {}}}'
CASES: dict[str, Callable[[], Ticket]] = {
    "a short answer": ticket,
    "a long answer": lambda: ticket(max_out=500, json_schema=long_answer(300)),
    "an answer that is cut off": lambda: ticket(max_out=20, json_schema=long_answer(300)),
    "an answer that just fits": lambda: ticket(max_out=3),
    "an answer whose end does not fit": lambda: ticket(max_out=2),
    "one token": lambda: ticket(max_out=1),
    "an answer that cites": lambda: ticket("[E1] Python, 5 yıl\n[E2] Çince\nTerms: çince", json_schema=VERDICT),
    "an answer that finds nothing": lambda: ticket("[E1] Python\nTerms: Go", json_schema=VERDICT),
    "control tokens": lambda: ticket(input_ids=(CONTROL["<|im_start|>"], *ids_of("Terms: a"), CONTROL["<|im_end|>"])),
    "in the background": lambda: ticket(band=Band.BATCH),
    "sharing switched off": lambda: ticket(cache="off"),
    "no tenant": lambda: ticket(tenant=None),
    "no class": lambda: ticket(trust_class=""),
    "a token beyond the vocabulary": lambda: ticket(input_ids=(5, 259)),
    "a token below it": lambda: ticket(input_ids=(5, -1)),
    "a prompt that is too long": lambda: ticket(input_ids=(5,) * 131_072),
    "no room for the answer": lambda: ticket("x" * 100, max_out=131_072),
}  # fmt: skip


def told(message: Message) -> dict[str, Any]:
    """A frame, a record or a state without what may differ: how long it took, and which digits name a namespace."""
    said = message.to_json()
    for name in ("ttft", "tpot", "ended_at", "since"):
        if said.get(name) is not None:
            said[name] = "a time"
    if "phases" in said:
        said["phases"] = {name: None if value is None else "a time" for name, value in said["phases"].items()}
    if said.get("salt_id") not in {None, "once"}:
        assert len(said["salt_id"]) == 16
        said["salt_id"] = "a namespace"
    said.pop("counters", None)
    said.pop("policy", None)
    return said


@pytest.fixture
def both(gateway):
    """The two, with a tenant that neither has seen."""
    return LocalGateway(), gateway.client


@pytest.fixture(params=["local", "real"])
def one(request, both):
    """Each of the two."""
    return dict(zip(("local", "real"), both, strict=True))[request.param]


@pytest.mark.parametrize("case", CASES)
def test_the_same_ticket_has_the_same_frames(both, case):
    asked = CASES[case]()
    if asked.tenant:
        asked = dataclasses.replace(asked, tenant=uuid.uuid4().hex)
    local, real = ([told(frame) for frame in gateway.generate(asked)] for gateway in both)
    assert local == real


def test_the_same_namespace_hits_and_another_does_not_in_both(both):
    text, tenant = "The same document for all. " * 4, uuid.uuid4().hex
    asks = [
        {}, {}, {"tenant": "other"}, {"trust_class": "acl:1"}, {"acl_epoch": "2"}, {"cache": "off"}, {"cache": "off"},
        {"tenant": None}, {"tenant": None}, {"text": text + "And a question"}, {"text": text[:40]}, {},
    ]  # fmt: skip
    found = []
    for gateway in both:
        ids: dict[str, int] = {}
        row = []
        for ask in asks:
            done = list(gateway.generate(ticket(**{"text": text, "tenant": tenant, **ask})))[-1]
            namespace = "once" if done.salt_id == "once" else ids.setdefault(done.salt_id, len(ids))
            row.append((namespace, done.usage))
        found.append(row)
    assert found[0] == found[1]
    assert [usage.cache_read for _ns, usage in found[0]] == [0, 107, 0, 0, 0, 0, 0, 0, 0, 108, 39, 107]


def test_deltas_make_the_text_and_their_tokens_the_output(one):
    frames = list(one.generate(ticket(max_out=500, json_schema=long_answer(300), tenant=uuid.uuid4().hex)))
    deltas = [frame for frame in frames if isinstance(frame, Delta)]
    done = frames[-1]
    assert [type(frame) for frame in frames] == [Queued, Started, *[Delta] * len(deltas), Done]
    assert "".join(delta.text for delta in deltas) == done.text == '"' + "x" * 300 + '"'
    assert sum(delta.tokens for delta in deltas) == done.usage.output == 303
    assert len(deltas) == 38


def test_who_leaves_in_the_middle_leaves_one_record_until_it_is_acknowledged(both):
    asked = ticket(max_out=9_000, json_schema=long_answer(8_000), tenant=uuid.uuid4().hex, band=Band.STANDARD)
    records = []
    for gateway in both:
        life = gateway.generate(asked)
        for _ in range(4):
            next(life)
        life.close()
        [record] = until(gateway.attempts)
        assert 16 <= record.usage.output < 8_000  # the real one may have been a little ahead
        records.append(told(dataclasses.replace(record, usage=dataclasses.replace(record.usage, output=16))))
        assert gateway.attempts() == [record]
        gateway.acknowledge(["f" * 32])
        assert gateway.attempts() == [record]
        gateway.acknowledge([record.attempt_id])
        assert gateway.attempts() == []
    assert records[0] == records[1]
    usage = records[0]["usage"]
    assert (usage["uncached"], usage["cache_read"], usage["inclusive"]) == (len("Hello"), 0, len("Hello"))


def test_a_cancelled_attempt_ends_with_what_was_heard(both):
    asked = ticket(max_out=9_000, json_schema=long_answer(8_000), tenant=uuid.uuid4().hex)
    ends = []
    for gateway in both:
        frames = []
        for frame in gateway.generate(asked):
            frames.append(frame)
            if len(frames) == 4:
                assert gateway.cancel(asked.attempt_id)
        aborted = frames[-1]
        assert isinstance(aborted, Aborted)
        assert (
            aborted.usage.output == sum(frame.tokens for frame in frames if isinstance(frame, Delta)) < 8_000
        )
        assert not gateway.cancel(asked.attempt_id)
        assert gateway.attempts() == []
        ends.append(told(dataclasses.replace(aborted, usage=dataclasses.replace(aborted.usage, output=16))))
    assert ends[0] == ends[1]


def test_an_attempt_that_runs_is_refused_a_second_time_and_goes_on(one):
    asked = ticket(max_out=500, json_schema=long_answer(300))
    life = one.generate(asked)
    next(life)
    next(life)
    assert list(one.generate(asked)) == [Refused("duplicate", retry_after=None)]
    assert isinstance(list(life)[-1], Done)
    assert isinstance(list(one.generate(asked))[-1], Done)


def test_what_is_not_here_cannot_be_cancelled(one):
    assert one.cancel("f" * 32) is False


def test_they_say_the_same_of_themselves(both):
    local, real = (told(gateway.state()) for gateway in both)
    real["slots"] = local["slots"]  # the shared one was told how many it has
    assert local == real
    assert EngineState.from_json({**local, "since": 0.0}).ready
