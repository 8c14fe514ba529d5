"""The order a person reads a page in: columns one after another, tables row by row, whatever the drawing order."""

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


def test_a_table_without_rules_ends_where_its_columns_end(tmp_path: Path) -> None:
    jobs = [("2019-2024", "ACME A.Ş.", ["• Bütçeyi yönetti", "• Raporladı", "• Alım yaptı"]), ("2015-2019", "BETA", ["• Depo", "• Sayım"])]  # fmt: skip
    places: list[tuple[float, float, str]] = [(50, 745, "İŞ DENEYİMİ")]
    expected, top = ["İŞ DENEYİMİ"], 730
    for years, firm, tasks in jobs:
        places += [
            (50, top, years),
            (130, top, firm),
            *((220, top - 12 * n, task) for n, task in enumerate(tasks)),
        ]
        expected += [f"{years}\t{firm}\t{tasks[0]}", *tasks[1:]]
        top -= 12 * len(tasks)
    places += [(50, top - 10, "EĞİTİM"), (50, top - 24, "ODTÜ 2008-2012")]
    assert read(sheets.placed(tmp_path / "u.pdf", places)).text.splitlines() == [
        *expected,
        "EĞİTİM",
        "ODTÜ 2008-2012",
    ]


def test_dated_lines_beside_a_column_of_skills_are_no_table(tmp_path: Path) -> None:
    left = [("2019-2024", "ACME A.Ş."), ("", "Satınalma uzmanı"), ("2015-2019", "BETA"), ("", "Uzman")]
    places = [
        (x, 760 - 15 * n, text)
        for n, row in enumerate(left)
        for x, text in zip((50, 120), row, strict=True)
        if text
    ]
    skills = ["BECERİLER", "SAP MM", "Excel", "DİLLER", "İngilizce: C1", "Almanca: A2"]
    places += [(350, 760 - 15 * n, text) for n, text in enumerate(skills)]
    read_lines = read(sheets.placed(tmp_path / "s.pdf", places)).text.splitlines()
    assert read_lines[-6:] == skills and [line.split()[-1] for line in read_lines[:4]] == [
        "A.Ş.",
        "uzmanı",
        "BETA",
        "Uzman",
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
