"""Small PDF and DOCX files, each drawn for the one thing a test asks about."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from docx import Document
from docx.document import Document as DocumentType
from docx.oxml import parse_xml
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

FONT = "DejaVuSans"
SIZE = (595, 842)
SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def draw(path: Path, paint: Callable[[Canvas], None], **options: object) -> Path:
    """A PDF that `paint` draws on an A4 canvas with DejaVu Sans at 10 points."""
    if FONT not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont(FONT, f"/usr/share/fonts/truetype/dejavu/{FONT}.ttf"))
    canvas = Canvas(str(path), pagesize=SIZE, invariant=1, **options)
    canvas.setFont(FONT, 10)
    paint(canvas)
    canvas.save()
    return path


def lines(path: Path, *texts: str, x: float = 50, top: float = 780) -> Path:
    """A PDF with one line under the other."""

    def paint(canvas: Canvas) -> None:
        for number, text in enumerate(texts):
            canvas.drawString(x, top - 16 * number, text)

    return draw(path, paint)


def placed(path: Path, places: list[tuple[float, float, str]]) -> Path:
    """A PDF with texts at places, drawn in the given order."""

    def paint(canvas: Canvas) -> None:
        for x, y, text in places:
            canvas.drawString(x, y, text)

    return draw(path, paint)


def picture(grey: int = 200, size: tuple[int, int] = (60, 80)) -> ImageReader:
    """A plain grey picture."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("L", size, grey).save(buffer, format="PNG")
    buffer.seek(0)
    return ImageReader(buffer)


def write(path: Path, fill: Callable[[DocumentType], None]) -> Path:
    """A DOCX that `fill` fills."""
    document = Document()
    fill(document)
    document.save(str(path))
    return path


def run(text: str, properties: str = "") -> object:
    """A run with these properties, as XML."""
    return parse_xml(f'<w:r {SPACES}><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>')


def box(*texts: str, fallback: bool = True, fill: str = "") -> object:
    """A run with a text box as Word writes it: a new shape and, for old readers, the same again."""
    inner = "".join(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>" for text in texts)
    old = f"<w:pict><v:shape><v:textbox><w:txbxContent>{inner}</w:txbxContent></v:textbox></v:shape></w:pict>"
    return parse_xml(
        f"<w:r {SPACES}><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wp:inline>"
        f"<wp:docPr id='1' name='b'/><a:graphic><a:graphicData uri='u'><wps:wsp><wps:spPr>{fill}</wps:spPr>"
        f"<wps:txbx><w:txbxContent>{inner}</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic>"
        f"</wp:inline></w:drawing></mc:Choice>{f'<mc:Fallback>{old}</mc:Fallback>' if fallback else ''}"
        "</mc:AlternateContent></w:r>"
    )
