"""The shipped fake: its tree, its answers, and what only the local gateway can show step by step."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.fake import FakeEngine, LocalGateway
from inference.fake.engine import PrefixTree
from inference.wire import Delta, Done, Queued, Refused, Started
from tests.unit.inference.gateway.tickets import TOKENIZER, ids_of, long_answer, ticket

IDS = st.lists(st.integers(0, 3), min_size=1, max_size=12)


@given(st.lists(IDS, max_size=6), IDS)
def test_the_tree_knows_the_longest_prefix_it_has_seen_but_never_the_last_token(seen, asked):
    tree = PrefixTree()
    for ids in seen:
        tree.insert(ids)

    def shared(one, other):
        return next(
            (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
        )

    longest = max((shared(ids, asked) for ids in seen), default=0)
    assert tree.match(asked) == min(longest, len(asked) - 1)


@given(st.text(max_size=40), st.integers(1, 60))
def test_an_answer_streams_whole_characters_and_is_cut_after_so_many_tokens(text, bound):
    raw = text.encode()
    found = FakeEngine(script=lambda _prompt, _schema: text or "ok").generate((5,), "s", bound, None)
    raw = (text or "ok").encode()
    chunks = list(found.chunks())
    assert sum(len(ids) for _text, ids in chunks) == len(found.ids) == min(bound, len(raw) + 1)
    assert found.finish == ("stop" if len(raw) < bound else "length")
    assert "".join(said for said, _ids in chunks) == found.text == raw[:bound].decode(errors="ignore")
    assert all(1 <= len(ids) <= 8 for _text, ids in chunks)


def test_it_cites_the_pieces_that_name_a_term_and_says_so_when_none_does():
    prompt = "[E1] Python, 5 yıl\n[E2] Türkçe ve İngilizce\n[E3] python\nTerms: python; go"
    schema = json.dumps({"type": "object", "properties": {"pieces": {}, "counter_pieces": {}, "verdict": {}}})
    engine = FakeEngine()
    found = json.loads(engine.generate(ids_of(prompt), "s", 500, schema).text)
    assert found == {"pieces": ["E1", "E3"], "counter_pieces": [], "verdict": "met"}
    found = json.loads(engine.generate(ids_of(prompt.replace("python; go", "rust")), "s", 500, schema).text)
    assert found == {"pieces": [], "counter_pieces": [], "verdict": "not_stated"}


def test_the_same_prompt_has_the_same_answer():
    asked = ids_of("[E1] a\nTerms: a")
    assert {FakeEngine().generate(asked, salt, 50, None).ids for salt in ("a", "b", "a")} == {
        (*TOKENIZER.encode("ok", data=True), 2)
    }


@pytest.mark.parametrize(
    ("options", "hits"), [({}, [0, 4, 0, 4]), ({"leaky": True}, [0, 4, 4, 4]), ({"forgetful": True}, [0] * 4)]
)
def test_it_keeps_namespaces_apart_unless_it_was_told_not_to(options, hits):
    engine = FakeEngine(**options)
    assert [engine.generate(ids_of("Hello"), salt, 5, None).cached for salt in "aabb"] == hits


def test_a_prompt_is_reused_once_it_is_computed_and_not_before():
    engine = FakeEngine()
    engine.generate(ids_of("Hello"), "s", 5, None, remember=False)
    assert engine.generate(ids_of("Hello"), "s", 5, None, remember=False).cached == 0
    engine.remember(ids_of("Hello"), "s")
    assert engine.generate(ids_of("Hello"), "s", 5, None, remember=False).cached == 4


@pytest.mark.parametrize("frames", [1, 2])
def test_who_leaves_before_anything_was_computed_leaves_no_record(frames):
    gateway = LocalGateway()
    life = gateway.generate(ticket())
    for _ in range(frames):
        next(life)
    life.close()
    assert gateway.attempts() == []
    assert gateway.engine.calls == []
    assert gateway.state().running == 0


def test_who_leaves_after_the_last_delta_has_paid_for_all_of_it():
    gateway = LocalGateway()
    life = gateway.generate(ticket(max_out=20, json_schema=long_answer(300)))
    deltas = [next(life) for _ in range(5)][2:]
    assert [type(frame) for frame in deltas] == [Delta] * 3
    life.close()
    [record] = gateway.attempts()
    assert record.usage.output == 20


def test_once_drained_it_takes_nothing_new_and_lets_what_runs_end():
    gateway = LocalGateway()
    life = gateway.generate(ticket())
    next(life)
    gateway.drain()
    assert list(gateway.generate(ticket())) == [Refused("draining", retry_after=10.0)]
    assert [type(frame) for frame in life] == [Started, Delta, Done]
    assert not gateway.state().ready


def test_a_script_answers_in_its_place():
    gateway = LocalGateway(FakeEngine(script=lambda prompt, _schema: "evet" if "Soru" in prompt else None))
    assert [list(gateway.generate(ticket(text)))[-1].text for text in ("Soru", "Other")] == ["evet", "ok"]
    assert isinstance(next(gateway.generate(ticket())), Queued)
