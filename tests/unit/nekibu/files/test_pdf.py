"""PDF: the order a person reads, the places of what was read, and pages that could not be read."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from reportlab.lib import colors
from reportlab.platypus import Table

from nekibu.files.parsers.base import Parsed
from nekibu.files.parsers.pdf import parse_pdf
from tests.unit.nekibu.files import sheets

LEFT = ["ACME 2019-2024", "Python developer", "BETA 2015-2019", "Tester"]
RIGHT = ["SKILLS", "SQL", "GERMAN B2", "Kubernetes"]


def read(path: Path) -> Parsed:
    return parse_pdf(path, pages=40)


def two_columns(shift: float = 0.0) -> list[tuple[float, float, str]]:
    return [(50, 760 - 14 * n, text) for n, text in enumerate(LEFT)] + [
        (320, 760 - shift - 14 * n, text) for n, text in enumerate(RIGHT)
    ]


@pytest.mark.parametrize("shift", [0.0, 5.0])
def test_two_columns_read_left_then_right_whatever_the_drawing_order(tmp_path: Path, shift: float) -> None:
    places = two_columns(shift)
    by_row = sorted(places, key=lambda place: (-place[1], place[0]))
    shuffled = random.Random(7).sample(places, len(places))
    texts = {
        read(sheets.placed(tmp_path / f"{n}.pdf", order)).text
        for n, order in enumerate([places, by_row, shuffled])
    }
    assert texts == {"\n".join(LEFT + RIGHT) + "\n"}


def test_a_title_over_both_columns_stays_first_and_a_line_under_them_last(tmp_path: Path) -> None:
    title = "AYŞE YILMAZ – Kıdemli Yazılım Geliştirme Uzmanı, İstanbul, Türkiye"
    foot = "Referanslar istek üzerine verilir; bilgiler 01.02.2026 tarihinde güncellendi, hepsi doğrudur."
    parsed = read(sheets.placed(tmp_path / "t.pdf", [*two_columns(), (60, 690, foot), (60, 800, title)]))
    assert parsed.text.splitlines() == [title, *LEFT, *RIGHT, foot]


def test_three_columns_read_one_after_the_other(tmp_path: Path) -> None:
    names = [
        ["Ada yazdı kod", "Efe sattı mal", "Ece çizdi ev", "Can kurdu ağ"],
        ["bir ay", "iki yıl", "üç gün"],
        ["kuzey yol", "güney yol", "doğu yol", "batı yol"],
    ]
    places = [
        (50 + 180 * c, 700 - 15 * r - 4 * c, text)
        for c, column in enumerate(names)
        for r, text in enumerate(column)
    ]
    assert read(sheets.placed(tmp_path / "3.pdf", places[::-1])).text.splitlines() == [
        *names[0],
        *names[1],
        *names[2],
    ]


def test_dates_beside_roles_stay_on_one_line(tmp_path: Path) -> None:
    rows = [
        ("2019-2024", "Kıdemli Satınalma Uzmanı, ACME"),
        ("2015 – 2019", "Satınalma Uzmanı, BETA"),
        ("Oca 2012 - halen", "Uzman, GAMA"),
    ]
    places = [
        (x, 700 - 16 * n, text) for n, row in enumerate(rows) for x, text in zip((50, 200), row, strict=True)
    ]
    parsed = read(sheets.placed(tmp_path / "d.pdf", places))
    assert parsed.text.splitlines() == ["\t".join(row) for row in rows]
    assert [piece.kind for piece in parsed.pieces] == ["row"] * 3


def test_dates_and_places_at_the_right_edge_stay_with_their_lines(tmp_path: Path) -> None:
    places: list[tuple[float, float, str]] = []
    expected: list[str] = []
    for number, firm in enumerate(["ACME A.Ş.", "BETA Ltd. Şti.", "GAMA"]):
        top = 700 - 60 * number
        places += [(50, top, firm), (480, top, f"201{number} – 201{number + 3}"), (50, top - 14, "Uzman")]
        places += [
            (480, top - 14, "İstanbul"),
            (60, top - 28, "Yıllık bütçeyi yönetti, ekibi kurdu ve geliştirdi."),
        ]
        places += [(60, top - 42, "Raporladı.")]
        expected += [f"{firm}\t201{number} – 201{number + 3}", "Uzman\tİstanbul"]
        expected += ["Yıllık bütçeyi yönetti, ekibi kurdu ve geliştirdi.", "Raporladı."]
    assert read(sheets.placed(tmp_path / "e.pdf", places)).text.splitlines() == expected


def test_numbered_headings_stay_with_their_numbers(tmp_path: Path) -> None:
    rows = [("2.1", "Tedarik"), ("2.2", "Sözleşme"), ("2.3", "Bütçe"), ("2.4", "Rapor")]
    places = [
        (x, 700 - 15 * n, text) for n, row in enumerate(rows) for x, text in zip((50, 90), row, strict=True)
    ]
    assert read(sheets.placed(tmp_path / "n.pdf", places)).text.splitlines() == [
        "\t".join(row) for row in rows
    ]


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


def test_a_ruled_table_gives_a_line_a_row_with_wrapped_cells_joined(tmp_path: Path) -> None:
    cells = [["Dönem", "Firma"], ["2019-2024", "ACME A.Ş.\nSatınalma"], ["2015", "BETA"]]

    def paint(canvas: object) -> None:
        canvas.drawString(50, 780, "Deneyim")
        table = Table(
            cells,
            style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("FONT", (0, 0), (-1, -1), sheets.FONT)],
        )
        table.wrapOn(canvas, 400, 200)
        table.drawOn(canvas, 50, 600)

    parsed = read(sheets.draw(tmp_path / "g.pdf", paint))
    assert parsed.text.splitlines() == [
        "Deneyim",
        "Dönem\tFirma",
        "2019-2024\tACME A.Ş. Satınalma",
        "2015\tBETA",
    ]
    assert [piece.kind for piece in parsed.pieces] == ["line", "row", "row", "row"]


@pytest.mark.parametrize("count", [5, 25])
def test_a_long_cell_stays_in_its_row_and_what_follows_the_table_after_it(tmp_path: Path, count: int) -> None:
    tasks = [f"• {n}. görevi bitirdi ve raporladı" for n in range(count)]
    cells = [["2019-2024", "BETA", "• Depo"], ["2015-2019", "ACME A.Ş.\nUzman", "\n".join(tasks)]]

    def paint(canvas: object) -> None:
        table = Table(
            cells,
            style=[
                ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
                ("FONT", (0, 0), (-1, -1), sheets.FONT, 8),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ],
        )
        _, height = table.wrapOn(canvas, 500, 700)
        table.drawOn(canvas, 50, 780 - height)
        canvas.drawString(50, 760 - height, "EĞİTİM")
        canvas.drawString(50, 745 - height, "ODTÜ 2008-2012")

    text = read(sheets.draw(tmp_path / "l.pdf", paint)).text
    order = ("2019-2024", "BETA", "• Depo", "2015-2019", "ACME A.Ş.", "Uzman", *tasks, "EĞİTİM", "ODTÜ 2008")
    places = [text.index(part) for part in order]
    assert places == sorted(places)


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


def test_boxes_and_order_hold_on_a_rotated_page(tmp_path: Path) -> None:
    def paint(canvas: object) -> None:
        canvas.setPageRotation(90)  # reportlab lays the sheet down: 842 wide in the file, 595 as it is shown
        canvas.rotate(90)
        canvas.drawString(60, -100, "Üstteki satır")
        canvas.drawString(60, -130, "Alttaki satır")

    parsed = read(sheets.draw(tmp_path / "r.pdf", paint))
    assert (parsed.pages[0].width, parsed.pages[0].height) == (595, 842)
    assert parsed.text.splitlines() == ["Üstteki satır", "Alttaki satır"]
    upper, lower = (piece.bbox for piece in parsed.pieces)
    assert upper and lower and lower[3] <= upper[1] + 5
    assert upper[0] == pytest.approx(60, abs=1) and upper[2] - upper[0] > upper[3] - upper[1]


def test_vertical_writing_at_the_margin_is_kept_after_the_page(tmp_path: Path) -> None:
    def paint(canvas: object) -> None:
        canvas.saveState()
        canvas.translate(30, 300)
        canvas.rotate(90)
        canvas.drawString(0, 0, "Kenar yazısı")
        canvas.restoreState()
        canvas.drawString(60, 700, "Asıl metin burada")

    assert read(sheets.draw(tmp_path / "v.pdf", paint)).text.splitlines() == [
        "Asıl metin burada",
        "Kenar yazısı",
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
