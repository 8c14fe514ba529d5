"""Every code that a part of the product writes has words for people: none is shown as it is."""

from __future__ import annotations

import ast
import re
from datetime import date

from ats.rules import judge
from ats.states import EvaluationStatus
from ats.web import words as ats
from inference.router.rules import AGREE, RULES
from inference.web import words as inference
from nekibu.env import PROJECT
from nekibu.language.intervals import FindingCode


def calls(name: str, *folders: str) -> set[str]:
    """The first argument of every call of `name`, where it is a literal or a choice of two."""
    found: set[str] = set()
    for folder in folders:
        place = PROJECT / folder
        for path in [place] if place.is_file() else sorted(place.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                called = node.func if isinstance(node, ast.Call) else None
                if getattr(called, "id", getattr(called, "attr", "")) == name and node.args:
                    first = node.args[0]
                    options = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
                    found |= {o.value for o in options if isinstance(o, ast.Constant)}
    return {code for code in found if isinstance(code, str)}


def test_why_a_file_cannot_be_read():
    codes = calls("Unreadable", "nekibu/files/parsers")
    assert len(codes) > 6
    assert codes - ats.FILE_REASONS.keys() == set()


def test_what_a_check_finds():
    codes = calls("Finding", "inference/checks", "inference/pipeline.py", "ats")
    assert len(codes) > 10
    assert codes - inference.FINDINGS.keys() == set()


def test_why_a_route_was_chosen():
    named = {name for name, _tier, _rule in RULES}
    assert named | set(AGREE) <= inference.RULE_HITS.keys()
    ends = calls("Route", "inference/router")
    assert {name for name, tier, _rule in RULES if tier != "strong"} <= inference.ROUTE_REASONS.keys()
    assert "no_strong_tier" in inference.ROUTE_REASONS
    assert ends <= inference.TIERS.keys()


def test_which_dates_cannot_be():
    assert set(FindingCode.__args__) == ats.DATE_FLAWS.keys()


def test_why_an_evaluation_was_not_possible():
    said = (PROJECT / "ats/services.py").read_text()
    codes = set(re.findall(r'return "([a-z_]+)"', said[said.index("def _block") : said.index("def _key")]))
    assert codes | {"needs_ocr", "unreadable"} == ats.BLOCKS.keys()
    assert set(EvaluationStatus.values) - {"superseded"} <= ats.STATUS_TONES.keys()


def test_every_rule_has_a_sentence():
    rules = [
        {"type": "experience_months", "min": 60},
        {"type": "language_level", "language": "en", "min": "B2"},
        {"type": "licence", "class": "B"},
        {"type": "term", "any": ["SAP"]},
    ]
    for rule in rules:
        said = ats.rule_words(rule)
        assert said.endswith(".")
        reason = judge(rule, "", date(2026, 1, 1)).reason
        assert ats.reasoning_words(reason)
