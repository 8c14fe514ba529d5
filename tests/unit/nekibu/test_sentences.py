"""A sentence of the record is recognised with what stands at its places, and told in another language."""

from __future__ import annotations

import pytest

from ats.rules import Flaw, Reason
from inference.reasons import EngineNote, Noted
from nekibu.sentences import Sentence, recognise, retold

TURKISH = {
    "the CV states %(levels)s": "özgeçmişteki düzey: %(levels)s",
    "the CV states %(levels)s, required %(level)s": "özgeçmişteki düzey: %(levels)s, istenen: %(level)s",
}


@pytest.mark.parametrize("known", [Reason, Flaw, Noted, EngineNote], ids=lambda known: known.__name__)
def test_every_sentence_is_recognised_by_what_it_says(known):
    for sentence in known:
        named = {place: f"the {place}" for place in places(sentence)}
        assert recognise(sentence.say(**named), known) == (sentence, named)


def test_the_longer_sentence_is_meant_where_a_shorter_one_would_fit_too():
    found = recognise("the CV states A2, B1, required B2", Reason)
    assert found == (Reason.LEVEL, {"levels": "A2, B1", "level": "B2"})


def test_a_sentence_is_retold_with_its_values():
    said = Reason.LEVEL.say(levels="native", level="B2")
    assert retold(said, Reason, TURKISH.__getitem__) == "özgeçmişteki düzey: native, istenen: B2"
    words = {"native": "ana dil"}
    assert (
        retold(said, Reason, TURKISH.__getitem__, lambda name, value: words.get(value, value))
        == "özgeçmişteki düzey: ana dil, istenen: B2"
    )


@pytest.mark.parametrize("text", ["", "The CV says B2.", "the CV states ", "x the CV states B2"])
def test_what_nobody_here_said_is_left_alone(text):
    assert retold(text, Reason, TURKISH.__getitem__) is None


def test_a_value_may_hold_signs_of_a_format_and_of_a_pattern():
    said = Reason.TERM.say(terms="C++ (100 %), .NET%s")
    assert retold(said, Reason, str) == said


def places(sentence: Sentence) -> list[str]:
    return [part.split(")")[0] for part in sentence.value.split("%(")[1:]]
