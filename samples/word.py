"""Writes a CV as DOCX (paragraphs, tables, text boxes, hidden runs) or as plain text, the same bytes each time."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator
from datetime import datetime
from html import escape

from docx import Document
from docx.document import Document as DocumentType
from docx.oxml import OxmlElement, parse_xml

from samples.content import CV, Line, Section
from samples.shown import Hidden, Rendered, Shown

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
STAMP = datetime(2026, 1, 5, 9, 0, 0)
SIDEBAR = ("skills", "languages")
STYLES = {"bullet": "List Bullet", "head": "Heading 2"}
NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def render(cv: CV) -> Rendered:
    """The CV as DOCX in its plan's layout; the same CV gives the same bytes."""
    document = Document()
    properties = document.core_properties
    properties.author, properties.title = cv.person.name, cv.person.name
    properties.created = properties.modified = properties.last_printed = STAMP
    layout = cv.plan.layout
    document.add_heading(cv.name.text, level=1)
    if layout == "docx-boxes":
        _boxes(document, cv)
    else:
        _body(document, cv, tables=layout == "docx-table", sidebar=layout == "docx-sidebar")
    hidden = tuple(Hidden(text, 1, "vanish") for text in cv.hidden)
    buffer = io.BytesIO()
    document.save(buffer)
    shown = (Shown(line, 1, (line.text,)) for line in _reading_order(cv))
    return Rendered(frozen(buffer.getvalue()), MEDIA_TYPE, 1, tuple(shown), hidden)


def render_text(cv: CV) -> Rendered:
    """The CV as UTF-8 text, one line a line, with a blank line before each section."""
    lines: list[str] = [cv.name.text, cv.headline.text, cv.contact.text]
    for section in cv.sections:
        lines.append("")
        lines.extend(("- " if line.style == "bullet" else "") + line.text for line in section.all_lines())
    body = ("\n".join(lines) + "\n").encode()
    return Rendered(body, "text/plain", 1, tuple(Shown(line, 1, (line.text,)) for line in cv.all_lines()))


def frozen(archive: bytes) -> bytes:
    """The same archive with fixed time stamps, so that equal content is equal bytes."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(archive)) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            entry = zipfile.ZipInfo(name, date_time=(2026, 1, 5, 9, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o600 << 16
            target.writestr(entry, source.read(name))
    return out.getvalue()


def _reading_order(cv: CV) -> Iterator[Line]:
    """Contact first where it stands in the page header; table rows put the dates before the role."""
    if cv.plan.layout != "docx-table":
        yield from cv.all_lines()
        return
    yield from (cv.contact, cv.name, cv.headline)
    for section in cv.sections:
        yield section.title
        yield from section.lines
        for entry in section.entries:
            yield from (entry.dates, entry.head, *entry.bullets)


def _body(document: DocumentType, cv: CV, *, tables: bool, sidebar: bool) -> None:
    document.add_paragraph(cv.headline.text)
    if "contact_in_header" in cv.plan.traps:
        document.sections[0].header.paragraphs[0].text = cv.contact.text
    else:
        document.add_paragraph(cv.contact.text)
    for section in cv.sections:
        if tables and section.entries:
            document.add_paragraph(section.title.text, style="Heading 2")
            _table(document, section)
        elif sidebar and section.key in SIDEBAR:
            document.add_paragraph()._p.append(_vml_box(section.all_lines()))
        else:
            for line in section.all_lines():
                document.add_paragraph(line.text, style=STYLES.get(line.style))
        if section.key == "summary":
            for text in cv.hidden:
                _hidden_run(document, text)


def _hidden_run(document: DocumentType, text: str) -> None:
    run = document.paragraphs[-1].add_run(f" {text}")
    properties = run._r.get_or_add_rPr()
    properties.append(OxmlElement("w:vanish"))


def _table(document: DocumentType, section: Section) -> None:
    table = document.add_table(rows=0, cols=2, style="Table Grid")
    for entry in section.entries:
        left, right = table.add_row().cells
        left.text = entry.dates.text
        right.text = entry.head.text
        for bullet in entry.bullets:
            right.add_paragraph(bullet.text, style="List Bullet")


def _boxes(document: DocumentType, cv: CV) -> None:
    """Everything but the name in text boxes, each written twice as Word does: new shape and old fallback."""
    first = [cv.headline, cv.contact]
    for lines in (first, *(list(section.all_lines()) for section in cv.sections)):
        new = (
            f"<mc:Choice Requires='wps'><w:drawing><wp:inline><wp:extent cx='5400000' cy='900000'/>"
            f"<wp:docPr id='1' name='Box'/><a:graphic><a:graphicData "
            f"uri='http://schemas.microsoft.com/office/word/2010/wordprocessingShape'><wps:wsp><wps:cNvSpPr/>"
            f"<wps:spPr/><wps:txbx><w:txbxContent>{_paragraphs(lines)}</w:txbxContent></wps:txbx><wps:bodyPr/>"
            f"</wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice>"
        )
        old = f"<mc:Fallback>{_pict(lines)}</mc:Fallback>"
        run = f"<w:r {NAMESPACES}><mc:AlternateContent>{new}{old}</mc:AlternateContent></w:r>"
        document.add_paragraph()._p.append(parse_xml(run))


def _vml_box(lines: Iterable[Line]) -> object:
    return parse_xml(f"<w:r {NAMESPACES}>{_pict(lines)}</w:r>")


def _pict(lines: Iterable[Line]) -> str:
    return (
        "<w:pict><v:shape style='width:420pt;height:90pt'><v:textbox><w:txbxContent>"
        f"{_paragraphs(lines)}</w:txbxContent></v:textbox></v:shape></w:pict>"
    )


def _paragraphs(lines: Iterable[Line]) -> str:
    return "".join(
        f"<w:p><w:r><w:t xml:space='preserve'>{escape(line.text)}</w:t></w:r></w:p>" for line in lines
    )
