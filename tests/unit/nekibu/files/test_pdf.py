"""PDF: letters, pieces and their places, and pages that could not be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from nekibu.files.parsers.base import Parsed
from nekibu.files.parsers.pdf import parse_pdf
from tests.unit.nekibu.files import sheets


def read(path: Path) -> Parsed:
    return parse_pdf(path, pages=40)


def test_letters_set_wide_are_words_and_letters_printed_twice_are_one(tmp_path: Path) -> None:
    def paint(canvas: object) -> None:
        canvas.drawString(50, 700, "SATINALMA UZMANI", charSpace=5)
        canvas.drawString(50, 680, "Ö Z G E Ç M İ Ş")
        canvas.drawString(50, 660, "Kalın yazı")
        canvas.drawString(50.3, 660, "Kalın yazı")
        canvas.drawString(50, 640, "Ehliyet sınıfı A B C D E")

    parsed = read(sheets.draw(tmp_path / "w.pdf", paint))
    assert parsed.text.splitlines() == [
        "SATINALMA UZMANI",
        "ÖZGEÇMİŞ",
        "Kalın yazı",
        "Ehliyet sınıfı A B C D E",
    ]
    assert parsed.quality == "ok"


def test_only_the_shown_part_of_a_cropped_page_counts(tmp_path: Path) -> None:
    def paint(canvas: object) -> None:
        canvas.drawString(120, 600, "İçeride")
        canvas.drawString(120, 750, "Kırpılan")

    parsed = read(sheets.draw(tmp_path / "k.pdf", paint, cropBox=(100, 100, 500, 700)))
    assert parsed.text == "İçeride\n" and [hidden.text for hidden in parsed.hidden] == ["Kırpılan"]
    assert (parsed.pages[0].width, parsed.pages[0].height) == (400, 600)
    box = parsed.pieces[0].bbox
    assert box and box[0] == pytest.approx(20, abs=1) and box[1] == pytest.approx(498, abs=3)


def test_bullets_stay_with_their_items_and_wrapped_lines_make_one_paragraph(tmp_path: Path) -> None:
    parsed = read(
        sheets.placed(
            tmp_path / "b.pdf",
            [
                (50, 700, "•"), (70, 700, "Tedarikçi yönetimi"), (50, 684, "•"), (70, 684, "Maliyet analizi"),
                (50, 668, "•"), (70, 668, "Sözleşmeler"),
                (50, 600, "Bu uzun paragraf sağ kenara kadar uzanan birkaç satıra bölünmüş bir metindir, burada"),
                (50, 586, "devam eder ve biter. İkinci cümle ikinci satırda başlar ve yine kenara kadar uzanarak"),
                (50, 572, "sona erer."),
            ],
        )
    )  # fmt: skip
    quotes = [parsed.text[piece.start : piece.end] for piece in parsed.pieces]
    assert quotes[:3] == ["• Tedarikçi yönetimi", "• Maliyet analizi", "• Sözleşmeler"]
    assert len(quotes) == 5 and quotes[3].endswith("burada\ndevam eder ve biter.")
    assert quotes[4].startswith("İkinci cümle") and quotes[4].endswith("sona erer.")


def test_every_piece_is_exact_placed_and_together_they_cover_the_text(tmp_path: Path) -> None:
    parsed = read(
        sheets.lines(tmp_path / "p.pdf", "Dr. Ali Ltd. Şti. kurdu. Sonra sattı.", "İki  boşluk", "x")
    )
    covered: set[int] = set()
    for number, piece in enumerate(parsed.pieces, start=1):
        quote = parsed.text[piece.start : piece.end]
        assert quote == quote.strip() != ""
        assert piece.number == number and piece.bbox is not None
        assert 0 <= piece.bbox[0] < piece.bbox[2] <= 595 and 0 <= piece.bbox[1] < piece.bbox[3] <= 842
        covered |= set(range(piece.start, piece.end))
    assert all(at in covered or char.isspace() for at, char in enumerate(parsed.text))
    assert [parsed.text[p.start : p.end] for p in parsed.pieces][:2] == [
        "Dr. Ali Ltd. Şti. kurdu.",
        "Sonra sattı.",
    ]


def test_ligatures_and_line_end_hyphens_keep_their_characters(tmp_path: Path) -> None:
    parsed = read(
        sheets.lines(tmp_path / "l.pdf", "veriﬁcation workﬂow", "Satınalma ve tedarik zin-", "ciri yönetimi")
    )
    assert parsed.text.splitlines() == ["veriﬁcation workﬂow", "Satınalma ve tedarik zin-", "ciri yönetimi"]


@pytest.mark.parametrize(
    "text", ["veri\ufffdcation of invoices", "veri(cid:141)cation of invoices", "R üş vet suçu de ği l"]
)
def test_lost_letters_and_torn_words_make_the_page_low(tmp_path: Path, text: str) -> None:
    parsed = read(sheets.lines(tmp_path / "c.pdf", text))
    assert (parsed.quality, parsed.pages[0].quality) == ("low", "low")
    assert "glyphs_lost" in parsed.findings


def scan(canvas: object) -> None:
    canvas.drawImage(sheets.picture(), 0, 0, 595, 842)


def test_a_scan_needs_ocr_and_gives_no_text(tmp_path: Path) -> None:
    def paint(canvas: object) -> None:
        for _ in range(2):
            scan(canvas)
            canvas.showPage()

    parsed = read(sheets.draw(tmp_path / "s.pdf", paint))
    assert (parsed.quality, parsed.text, parsed.pieces) == ("needs_ocr", "", ())
    assert [page.quality for page in parsed.pages] == ["needs_ocr", "needs_ocr"]


def test_one_scanned_page_among_written_ones_is_named(tmp_path: Path) -> None:
    def paint(canvas: object) -> None:
        canvas.drawString(50, 700, "Birinci sayfada yazı var.")
        canvas.showPage()
        scan(canvas)
        canvas.showPage()

    parsed = read(sheets.draw(tmp_path / "m.pdf", paint))
    assert (parsed.quality, [page.quality for page in parsed.pages]) == ("low", ["ok", "needs_ocr"])
    assert "page_needs_ocr" in parsed.findings
    assert parsed.text.strip() == "Birinci sayfada yazı var."


def test_text_drawn_as_outlines_only_needs_ocr(tmp_path: Path) -> None:
    parsed = read(sheets.draw(tmp_path / "o.pdf", lambda canvas: canvas.circle(200, 500, 40, fill=1)))
    assert parsed.quality == "needs_ocr"


def test_pages_follow_one_another_in_the_text(tmp_path: Path) -> None:
    def paint(canvas: object) -> None:
        for number in (1, 2, 3):
            canvas.setFont(sheets.FONT, 10)
            if number != 2:
                canvas.drawString(50, 700, f"Sayfa {number}")
            canvas.showPage()

    parsed = read(sheets.draw(tmp_path / "3.pdf", paint))
    assert [parsed.text[page.start : page.end] for page in parsed.pages] == ["Sayfa 1", "", "Sayfa 3"]
    assert [(piece.page, parsed.text[piece.start : piece.end]) for piece in parsed.pieces] == [
        (1, "Sayfa 1"),
        (3, "Sayfa 3"),
    ]
    assert [page.kind for page in parsed.pages] == ["text", "blank", "text"] and parsed.quality == "ok"


def test_what_was_typed_into_a_form_is_read(tmp_path: Path) -> None:
    def paint(canvas: object) -> None:
        canvas.drawString(50, 700, "Ad:")
        canvas.acroForm.textfield(
            name="ad", x=100, y=690, width=200, height=20, value="Zeynep Kara", fontName="Helvetica"
        )

    assert "Zeynep Kara" in read(sheets.draw(tmp_path / "f.pdf", paint)).text
