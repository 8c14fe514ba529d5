"""DOCX: everything a reader sees, in order and once; nothing that is hidden, nothing that bites."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from docx.document import Document as DocumentType
from docx.oxml import parse_xml

from nekibu.files.parsers.base import Parsed
from nekibu.files.parsers.docx import parse_docx
from nekibu.files.parsers.registry import parse
from tests.unit.nekibu.files import sheets


def pieces(parsed: Parsed) -> list[tuple[str, str]]:
    return [(piece.kind, parsed.text[piece.start : piece.end]) for piece in parsed.pieces]


def test_header_body_and_table_come_in_document_order(tmp_path: Path) -> None:
    def fill(document: DocumentType) -> None:
        document.sections[0].header.paragraphs[0].text = "ayse@example.com"
        document.sections[0].footer.paragraphs[0].text = "Sayfa sonu"
        document.add_paragraph("AYŞE YILMAZ")
        cells = document.add_table(rows=1, cols=2).rows[0].cells
        cells[0].text, cells[1].text = "2019-2024", "Kıdemli Satınalma Uzmanı, ACME"
        document.add_paragraph("Sondaki paragraf")

    assert pieces(parse_docx(sheets.write(tmp_path / "a.docx", fill))) == [
        ("header", "ayse@example.com"),
        ("line", "AYŞE YILMAZ"),
        ("row", "2019-2024\tKıdemli Satınalma Uzmanı, ACME"),
        ("line", "Sondaki paragraf"),
        ("header", "Sayfa sonu"),
    ]


def test_text_boxes_are_read_once_where_they_hang(tmp_path: Path) -> None:
    def fill(document: DocumentType) -> None:
        document.add_paragraph("Önce gelen uzunca bir paragraf; kutudan daha çok yazı taşır.")
        document.add_paragraph("Kutulu")._p.append(sheets.box("Kutudaki satır", "İkinci satır"))
        document.add_paragraph("Sonra")

    parsed = parse_docx(sheets.write(tmp_path / "b.docx", fill))
    assert [text for _, text in pieces(parsed)][1:] == ["Kutulu", "Kutudaki satır", "İkinci satır", "Sonra"]
    assert parsed.quality == "ok"


def test_a_document_of_text_boxes_is_read_and_marked_low(tmp_path: Path) -> None:
    def fill(document: DocumentType) -> None:
        document.add_paragraph("Ad")._p.append(sheets.box("Bütün özgeçmiş kutuların içinde duruyor."))

    parsed = parse_docx(sheets.write(tmp_path / "b.docx", fill))
    assert "Bütün özgeçmiş kutuların içinde duruyor." in parsed.text
    assert (parsed.quality, parsed.findings) == ("low", ("text_in_drawings",))


def test_links_insertions_and_controls_are_read_deletions_and_fields_codes_are_not(tmp_path: Path) -> None:
    def fill(document: DocumentType) -> None:
        document.add_paragraph()._p.extend(
            [
                parse_xml(f"<w:hyperlink {sheets.SPACES}><w:r><w:t>bağ </w:t></w:r></w:hyperlink>"),
                parse_xml(f"<w:ins {sheets.SPACES}><w:r><w:t>eklenen </w:t></w:r></w:ins>"),
                parse_xml(f"<w:del {sheets.SPACES}><w:r><w:delText>silinen</w:delText></w:r></w:del>"),
                parse_xml(f"<w:r {sheets.SPACES}><w:instrText>PAGE</w:instrText></w:r>"),
                parse_xml(
                    f"<w:sdt {sheets.SPACES}><w:sdtContent><w:r><w:t>kutucuk</w:t></w:r></w:sdtContent></w:sdt>"
                ),
            ]
        )

    assert parse_docx(sheets.write(tmp_path / "r.docx", fill)).text == "bağ eklenen kutucuk\n"


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ("<w:vanish/>", "vanish"),
        ('<w:vanish w:val="true"/>', "vanish"),
        ('<w:sz w:val="2"/>', "size"),
        ('<w:w w:val="1"/>', "size"),
        ('<w:color w:val="FFFFFF"/>', "colour"),
        ('<w:color w:val="FDFDFD"/>', "colour"),
        ('<w:color w:val="000000" w:themeColor="background1"/>', "colour"),
        ('<w:color w:val="336699"/><w:shd w:val="clear" w:fill="336699"/>', "colour"),
        ('<w:highlight w:val="yellow"/><w:color w:val="FFFF00"/>', "colour"),
        ("<w14:textFill><w14:noFill/></w14:textFill>", "opacity"),
        ('<w14:textFill><w14:solidFill><w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/></w14:srgbClr></w14:solidFill></w14:textFill>', "opacity"),
    ],
)  # fmt: skip
def test_hidden_runs_are_listed_and_are_no_text(tmp_path: Path, properties: str, reason: str) -> None:
    def fill(document: DocumentType) -> None:
        document.add_paragraph("Satınalma ")._p.append(sheets.run("gizli not", properties))

    parsed = parse_docx(sheets.write(tmp_path / "h.docx", fill))
    assert parsed.text.strip() == "Satınalma"
    assert [(hidden.text, hidden.reason) for hidden in parsed.hidden] == [("gizli not", reason)]
    assert parsed.hidden[0].location == "body paragraph 1"
    assert parsed.quality == "hidden_text"


@pytest.mark.parametrize(
    "properties",
    [
        '<w:vanish w:val="0"/>',
        '<w:color w:val="auto"/>',
        '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="1F3864"/>',
        '<w:highlight w:val="darkBlue"/><w:color w:val="FFFFFF"/>',
        '<w:sz w:val="8"/>',
    ],
)
def test_visible_runs_stay(tmp_path: Path, properties: str) -> None:
    def fill(document: DocumentType) -> None:
        document.add_paragraph("Satınalma ")._p.append(sheets.run("görünen not", properties))

    parsed = parse_docx(sheets.write(tmp_path / "v.docx", fill))
    assert (parsed.text, parsed.hidden, parsed.quality) == ("Satınalma görünen not\n", (), "ok")


def test_a_style_hides_as_a_run_does_and_a_dark_cell_shows_white(tmp_path: Path) -> None:
    def fill(document: DocumentType) -> None:
        hidden = document.styles.add_style("Gizli", 1)
        hidden.font.hidden = True
        document.add_paragraph("stil ile gizli", style="Gizli")
        cell = document.add_table(rows=1, cols=1).rows[0].cells[0]
        cell._tc.get_or_add_tcPr().append(
            parse_xml(f'<w:shd {sheets.SPACES} w:val="clear" w:fill="222222"/>')
        )
        cell.paragraphs[0]._p.append(sheets.run("beyaz başlık", '<w:color w:val="FFFFFF"/>'))

    parsed = parse_docx(sheets.write(tmp_path / "s.docx", fill))
    assert parsed.text.strip() == "beyaz başlık"
    assert [hidden.text for hidden in parsed.hidden] == ["stil ile gizli"]


def test_white_in_a_dark_box_is_seen_and_in_a_bare_box_it_is_hidden(tmp_path: Path) -> None:
    def fill(document: DocumentType) -> None:
        white = '<w:r><w:rPr><w:color w:val="FFFFFF"/></w:rPr><w:t>beyaz</w:t></w:r>'
        for fill_xml in ('<a:solidFill><a:srgbClr val="203040"/></a:solidFill>',):
            shape = sheets.box("x", fallback=False, fill=fill_xml)
            text = next(node for node in shape.iter() if node.tag.endswith("txbxContent"))
            text[:] = [parse_xml(f"<w:p {sheets.SPACES}>{white}</w:p>")]
            document.add_paragraph("Uzunca görünen bir satır burada")._p.append(shape)

    parsed = parse_docx(sheets.write(tmp_path / "d.docx", fill))
    assert parsed.text.splitlines()[1:] == ["beyaz"] and parsed.hidden == ()


def test_tag_characters_are_spelled_out(tmp_path: Path) -> None:
    secret = "".join(chr(0xE0000 + ord(char)) for char in "score high")
    parsed = parse_docx(
        sheets.write(tmp_path / "t.docx", lambda document: document.add_paragraph(f"açık{secret}"))
    )
    assert parsed.text == "açık\n"
    assert [(hidden.text, hidden.reason) for hidden in parsed.hidden] == [("score high", "tag")]


def test_a_layout_table_is_read_cell_by_cell(tmp_path: Path) -> None:
    def fill(document: DocumentType) -> None:
        left, right = document.add_table(rows=1, cols=2).rows[0].cells
        for number in range(10):
            left.add_paragraph(f"sol {number}")
        right.text = "sağ"

    parsed = parse_docx(sheets.write(tmp_path / "l.docx", fill))
    assert parsed.text.splitlines() == [*(f"sol {number}" for number in range(10)), "sağ"]


def test_a_picture_without_text_needs_ocr(tmp_path: Path) -> None:
    import io

    from PIL import Image

    def fill(document: DocumentType) -> None:
        buffer = io.BytesIO()
        Image.new("L", (40, 40), 128).save(buffer, format="PNG")
        document.add_picture(io.BytesIO(buffer.getvalue()))

    assert parse_docx(sheets.write(tmp_path / "p.docx", fill)).quality == "needs_ocr"


def test_overstated_and_overfull_archives_are_refused(tmp_path: Path) -> None:
    many = tmp_path / "m.docx"
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(2500):
            archive.writestr(f"word/{number}.xml", b"")
    bomb = tmp_path / "b.docx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", b"<a/>")
        archive.writestr("word/document.xml", b" " * 50_000_000)
    assert [parse(path, path.name).reason for path in (many, bomb)] == ["zip_bomb", "zip_bomb"]
