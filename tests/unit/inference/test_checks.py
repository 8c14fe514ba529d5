"""What an answer must survive."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from inference.checks import Answer, run_checks
from inference.protected import numbers, scan
from inference.types import Completion, Subject
from tests.unit.inference.specs import Lines, pieces, request

DOCUMENT = "Python 2019-2024\nSQL, 5 yıl\nGerman B2"
LINES = Lines(doc=DOCUMENT)
EVIDENCE = pieces(*DOCUMENT.split("\n"))


def answer(text=None, finish="stop", evidence=EVIDENCE, spec=None, **value):
    body = {"pieces": [], "counter_pieces": [], "reasoning": "", "verdict": "not_stated", **value}
    completion = Completion("a" * 32, 1, "primary", text if text is not None else json.dumps(body), finish)
    return run_checks(
        Answer(
            spec or LINES.spec(),
            request(),
            Subject("lines", "doc", "Lines"),
            evidence,
            completion,
            package_figures=numbers(scan(DOCUMENT)),
            figures=numbers,
            scan=scan,
        )
    )


def codes(report):
    return [f.code for f in report.findings]


def test_a_verdict_with_a_reread_source_passes():
    report = answer(verdict="met", pieces=["E1"], reasoning="Python from 2019 on")
    assert (report.verdict, report.valid, codes(report)) == ("pass", True, [])
    assert [(c.evidence_id, c.quote, c.pointer) for c in report.citations] == [
        ("E1", "Python 2019-2024", "/pieces/0")
    ]
    assert dict(report.ran) == dict.fromkeys(
        ["truncation", "schema", "sources", "protected", "evidence", "rules"], True
    )


@pytest.mark.parametrize("verdict", ["met", "partly", "not_met"])
def test_no_evidence_no_verdict(verdict):
    report = answer(verdict=verdict)
    assert report.verdict == "escalate"
    assert codes(report) == ["NO_EVIDENCE"]


def test_not_stated_stands_without_a_source_and_falls_with_one():
    assert answer().valid
    assert codes(answer(pieces=["E2"])) == ["EVIDENCE_WITHOUT_VERDICT"]


def test_an_id_beyond_the_package_is_dropped_and_escalates():
    report = answer(verdict="met", pieces=["E1", "E17"])
    assert report.verdict == "escalate"
    assert report.value["pieces"] == ["E1"]
    assert codes(report) == ["UNKNOWN_SOURCE"]
    assert (report.claims, report.supported) == (2, 1)


def test_a_changed_span_is_no_source():
    other = (replace(EVIDENCE[0], text_hash="0" * 64), *EVIDENCE[1:])
    report = answer(evidence=other, verdict="met", pieces=["E1"])
    assert codes(report) == ["SOURCE_DIFFERS", "NO_EVIDENCE"]
    gone = (replace(EVIDENCE[0], document_id="erased"), *EVIDENCE[1:])
    assert codes(answer(evidence=gone, verdict="met", pieces=["E1"])) == ["SOURCE_GONE", "NO_EVIDENCE"]


def test_a_counter_piece_is_a_conflict():
    assert codes(answer(verdict="met", pieces=["E1"], counter_pieces=["E2"])) == ["COUNTER_EVIDENCE"]


@pytest.mark.parametrize(
    "text",
    [
        "```json\n{}\n```",
        '{"pieces":[],"pieces":[],"counter_pieces":[],"reasoning":"","verdict":"met"}',
        '{"a": NaN}',
        "[]",
        '{"verdict":"met"} and more',
        "",
        '{"pieces":[],"counter_pieces":[],"reasoning":"","verdict":"excellent"}',
        '{"pieces":[],"counter_pieces":[],"reasoning":"","verdict":"met","score":100}',
    ],
)
def test_what_is_not_the_agreed_json_may_be_repaired_once(text):
    report = answer(text=text)
    assert report.verdict == "repairable"
    assert report.value is None


def test_a_cut_answer_is_no_schema_failure():
    report = answer(text='{"items":["a","b"', finish="length")
    assert (report.verdict, codes(report)) == ("truncated", ["TRUNCATED"])


def test_prose_that_names_an_attribute_of_a_person_is_dropped():
    report = answer(verdict="met", pieces=["E1"], reasoning="A 35 years old woman with Python")
    assert report.value["reasoning"] == ""
    assert codes(report) == ["PROTECTED_ATTRIBUTE"]
    assert report.verdict == "pass"


def test_an_invented_figure_escalates():
    report = answer(verdict="met", pieces=["E1"], reasoning="Python since Mart 2011")
    assert codes(report) == ["INVENTED_FIELD"]
    assert report.verdict == "escalate"
