"""The generator keeps its promises: same bytes, true sentences, real sizes, truth that no product code computed."""

from __future__ import annotations

import io
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pypdfium2
import pytest
from docx import Document
from docx.oxml.ns import qn

from samples import generate, timeline
from samples.generate import Sample
from samples.rubrics import JOBS
from samples.timeline import Span


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return list(generate.generate())


def pdf_text(body: bytes) -> str:
    with pypdfium2.PdfDocument(body) as document:
        return "\n".join(page.get_textpage().get_text_range() for page in document)


def docx_text(body: bytes) -> str:
    """Every `w:t` of body and header that is not hidden, paragraph by paragraph."""
    document = Document(io.BytesIO(body))
    roots = [document.sections[0].header._element, document.element.body]
    paragraphs: list[str] = []
    for root in roots:
        for paragraph in root.iter(qn("w:p")):
            runs = [r for r in paragraph.iter(qn("w:r")) if not list(r.iter(qn("w:vanish")))]
            paragraphs.append("".join(t.text or "" for r in runs for t in r.findall(qn("w:t"))))
    return "\n".join(paragraphs)


def text_of(sample: Sample) -> str:
    if sample.name.endswith(".pdf"):
        return pdf_text(sample.body)
    return docx_text(sample.body) if sample.name.endswith(".docx") else sample.body.decode()


def evidence_lines(sample: Sample) -> Iterator[str]:
    for criterion in sample.truth["criteria"].values():
        for evidence in criterion["evidence"]:
            if not evidence["scanned"]:
                yield from evidence["lines"]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_other_people(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        generate.write(tmp_path / folder, seed=11)
    names = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert names == sorted(p.name for p in (tmp_path / "b").iterdir())
    assert len(names) == 25
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    first = {s.truth["person"]["email"] for s in generate.generate(seed=11)}
    assert len(first & {s.truth["person"]["email"] for s in generate.generate(seed=12)}) < 6


def test_a_smaller_count_is_the_beginning_of_a_larger_one(samples: list[Sample]) -> None:
    assert [s.body for s in generate.generate(count=5)] == [s.body for s in samples[:5]]


def test_every_supporting_line_stands_in_the_visible_text(samples: list[Sample]) -> None:
    checked = 0
    for sample in samples:
        text = text_of(sample)
        for line in evidence_lines(sample):
            assert line in text, (sample.name, line)
            checked += 1
    assert checked > 100


def test_the_whole_reading_order_stands_in_the_file(samples: list[Sample]) -> None:
    """Ligatures are compared decomposed, because pdfium spells them out."""
    for sample in samples:
        text = unicodedata.normalize("NFKC", text_of(sample))
        for line in sample.truth["reading_order"]:
            assert unicodedata.normalize("NFKC", line) in text, (sample.name, line)


def test_what_is_not_stated_really_is_absent(samples: list[Sample]) -> None:
    for sample in samples:
        text = text_of(sample)
        for key, answer in sample.truth["criteria"].items():
            if answer["verdict"] == "not_stated":
                for term in JOBS[sample.truth["job"]].criterion(key).terms:
                    assert term not in text, (sample.name, key, term)


def test_a_stated_verdict_has_evidence_and_its_terms(samples: list[Sample]) -> None:
    for sample in samples:
        for key, answer in sample.truth["criteria"].items():
            if answer["verdict"] == "not_stated":
                continue
            assert answer["evidence"], (sample.name, key)
            terms = JOBS[sample.truth["job"]].criterion(key).terms
            if terms:
                cited = " ".join(e["text"] for e in answer["evidence"]).casefold()
                assert any(term.casefold() in cited for term in terms), (sample.name, key, cited)


def test_a_scan_has_no_text_and_a_mixed_file_only_its_first_page(samples: list[Sample]) -> None:
    scan = next(s for s in samples if s.truth["layout"] == "pdf-scan")
    assert pdf_text(scan.body).strip() == ""
    assert set(scan.truth["page_quality"]) == {"needs_ocr"}
    mixed = next(s for s in samples if s.truth["layout"] == "pdf-mixed")
    with pypdfium2.PdfDocument(mixed.body) as document:
        texts = [page.get_textpage().get_text_range().strip() for page in document]
    assert [bool(text) for text in texts] == [True, False]
    assert mixed.truth["page_quality"] == ["ok", "needs_ocr"]


def test_hidden_text_is_in_the_file_and_not_in_the_reading_order(samples: list[Sample]) -> None:
    found = set()
    for sample in samples:
        for hidden in sample.truth["hidden"]:
            found.add(hidden["how"])
            assert not any(hidden["text"] in line for line in sample.truth["reading_order"])
            if sample.name.endswith(".pdf"):
                assert hidden["text"] in pdf_text(sample.body)
            else:
                assert hidden["text"] in "".join(
                    t.text or "" for t in Document(io.BytesIO(sample.body)).element.body.iter(qn("w:t"))
                )
                assert hidden["text"] not in docx_text(sample.body)
    assert found == {"white_1pt", "render_mode_3", "vanish"}


def test_length_fits_a_small_model_and_a_real_cv(samples: list[Sample]) -> None:
    for sample in samples:
        if sample.truth["layout"] in ("pdf-scan", "pdf-mixed"):
            continue
        text = "\n".join(sample.truth["reading_order"])
        assert 250 <= len(text.split()) <= 450, sample.name
        assert len(text) < (3500 if sample.truth["language"] == "tr" else 5000), sample.name


def test_columns_are_drawn_in_the_order_the_layout_says(samples: list[Sample]) -> None:
    def summary_before_education(layout: str) -> tuple[int, int, int]:
        sample = next(s for s in samples if s.truth["layout"] == layout and s.truth["language"] == "en")
        with pypdfium2.PdfDocument(sample.body) as document:
            text = document[0].get_textpage().get_text_range()
        return text.index("SUMMARY"), text.index("EDUCATION"), text.index("EXPERIENCE")

    summary, education, experience = summary_before_education("pdf-two-rows")
    assert summary < education < experience
    summary, education, experience = summary_before_education("pdf-two-columns")
    assert summary < experience < education


def test_each_person_has_an_address_of_their_own() -> None:
    people = [s.truth["person"] for s in generate.generate(count=60)]
    assert len({p["email"] for p in people}) == 60
    assert all(p["email"].endswith("@example.com") for p in people)
    assert all(p["phone_e164"].startswith(("+90555000", "+447700900")) for p in people)


def test_truth_file_names_every_file(tmp_path: Path) -> None:
    generate.write(tmp_path, count=24)
    truth = json.loads((tmp_path / "truth.json").read_text(encoding="utf-8"))
    assert {cv["file"] for cv in truth["cvs"]} == {p.name for p in tmp_path.iterdir()} - {"truth.json"}
    assert {cv["job"] for cv in truth["cvs"]} == set(JOBS)
    verdicts = {a["verdict"] for cv in truth["cvs"] for a in cv["criteria"].values()}
    assert verdicts == {"met", "partly", "not_met", "not_stated"}


@pytest.mark.parametrize(
    ("spans", "months"),
    [
        ([Span((2018, 1), (2020, 12)), Span((2020, 1), (2021, 12))], (48, 48)),
        ([Span((2012, 6), (2013, 5)), Span((2014, 6), (2016, 5))], (36, 36)),
        ([Span((2019, None), (2021, None))], (14, 36)),
        ([Span((2022, 1), None)], (59, 59)),
        ([Span((2020, 9), (2018, 4))], (0, 0)),
    ],
)
def test_months_are_a_union_and_years_a_range(spans: list[Span], months: tuple[int, int]) -> None:
    assert timeline.months_of(spans, (2026, 11)) == months
