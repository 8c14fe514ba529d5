"""The text of a CV with its cited places and the numbers of its passages."""

from __future__ import annotations

import re

from ats.web.marks import Place, marked

TEXT = "Ayşe <b>\nSatın alma\n"


def stripped(markup: str) -> str:
    """What a reader sees: without numbers, tags or escapes."""
    words = re.sub(r"<button.*?</button>|<[^>]+>", "", markup)
    return words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def test_nothing_of_the_text_is_lost_added_or_left_unescaped() -> None:
    for places in ([], [Place(0, 8, False, "a"), Place(5, 14, True, "b")]):
        markup = marked(TEXT, places, [("E1", 0), ("E2", 9)])
        assert stripped(markup) == TEXT
        assert "<b>" not in markup


def test_each_passage_has_one_number_before_its_first_letter() -> None:
    markup = marked(TEXT, [Place(9, 14, False, "x")], [("E1", 0), ("E2", 9)])
    assert re.findall(r'data-piece="(\w+)">\1</button>(.)', markup) == [("E1", "A"), ("E2", "<")]
    assert markup.index("E2</button>") < markup.index("<mark") < markup.index("Satın")
    assert marked(TEXT, []).count("data-piece") == 0


def test_a_place_that_crosses_a_passage_keeps_one_anchor_and_all_its_words() -> None:
    markup = marked(TEXT, [Place(2, 14, False, "x")], [("E1", 0), ("E2", 9)])
    assert markup.count('id="ev-2-14"') == 1
    inside = re.findall(r'<mark[^>]*data-evidence="ev-2-14"[^>]*>(.*?)</mark>', markup, re.S)
    assert stripped("".join(inside)) == TEXT[2:14]
