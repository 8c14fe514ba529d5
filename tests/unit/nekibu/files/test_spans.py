"""Places count characters of the stored text, whatever letters a search had to fold."""

from __future__ import annotations

import pytest

from nekibu.files import spans


def test_a_quote_is_verified_letter_by_letter() -> None:
    text = "İstanbul Sözleşmesi"
    assert spans.verify(text, 9, 19, "Sözleşmesi")
    assert not spans.verify(text, 9, 19, "sözleşmesi")
    assert not spans.verify(text, 10, 20, "özleşmesi")
    assert not spans.verify(text, 0, 0, "")
    assert not spans.verify(text, -10, 19, "Sözleşmesi")


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("İstanbul Sözleşmesi", "sözleşmesi", (9, 19)),
        ("ücret: 1.250,00 TL", "1.250,00", (7, 15)),
        ("veriﬁcation workﬂow", "verification", (0, 11)),
        ("veriﬁcation workﬂow", "workflow", (12, 19)),
        ("IĞDIR İLİ", "ığdır ili", (0, 9)),
        ("Cag\u0306rı geldi", "çağrı", (0, 6)),
        ("R üş vet suçu", "rüşvet", (0, 8)),
        ("zin-\nciri yönetimi", "zinciri", (0, 9)),
    ],
)
def test_a_search_gives_the_place_in_the_original(text: str, query: str, found: tuple[int, int]) -> None:
    assert [(span.start, span.end) for span in spans.find(text, query)] == [found]


def test_bytes_are_counted_apart() -> None:
    text = "ücret: 1.250,00 TL"
    span = spans.find(text, "1.250,00")[0]
    assert (span.of(text), span.utf8(text)) == ("1.250,00", (8, 16))


def test_a_quote_with_other_blanks_and_case_is_located() -> None:
    text = "Görev:\nTedarik zin-\nciri  yönetimi ve İhracat"
    span = spans.locate(text, "tedarik zinciri yönetimi")
    assert span is not None and span.of(text) == "Tedarik zin-\nciri  yönetimi"
    literal = spans.locate(text, "İhracat", 10)
    assert literal is not None and literal.level == "exact" and literal.of(text) == "İhracat"
    assert spans.locate(text, "PMP sertifikası") is None
    assert spans.locate(text, "Görev", 3) is None
    assert spans.locate(text, "  ") is None
