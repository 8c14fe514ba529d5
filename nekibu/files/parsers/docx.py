"""DOCX: headers, body and tables in document order, text boxes where they hang, footnotes and footers; hidden runs apart."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lxml.etree import _Element as Element

from nekibu.files.parsers.archive import Archive
from nekibu.files.parsers.base import DOCX, MAX_CHARACTERS, Hidden, Parsed, PieceKind, Unreadable
from nekibu.files.parsers.docx_styles import WHITE, Grounds, Styles
from nekibu.files.parsers.markup import anywhere, child, children, is_on, name_of, rgb, value
from nekibu.files.parsers.plain import TextOfBlocks
from nekibu.files.parsers.quality import letters_lost, overall, text_findings
from nekibu.files.parsers.unseen import without_unseen

ID, VERSION = "docx", "1"

_WRAPPERS = (
    "hyperlink",
    "ins",
    "moveTo",
    "smartTag",
    "fldSimple",
    "customXml",
    "dir",
    "bdo",
    "sdtContent",
    "oMath",
    "oMathPara",
)
_GONE = ("del", "moveFrom")
_BROAD_CELL = 8
_LONG_CELL = 800
_LONG_LINE = 120
_DEEPEST = 30
_SCAN_TEXT = 50


def parse_docx(path: Path) -> Parsed:
    """Read a DOCX. Raises Unreadable with `corrupt`, `encrypted`, `macros`, `zip_bomb`, `unsupported_type`, `empty`, `too_large`."""
    archive = Archive(path)
    try:
        return _Document(archive).parsed()
    finally:
        archive.close()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a paragraph stands: in words for the reviewer, what lies under it, and how its pieces are marked."""

    name: str
    grounds: Grounds
    kind: PieceKind | None = None
    boxed: bool = False
    hidden: str = ""
    depth: int = 0

    def inside(self) -> _Place:
        if self.depth >= _DEEPEST:
            raise Unreadable("corrupt")
        return replace(self, depth=self.depth + 1)


class _Document:
    """One reading. Paragraphs go to the text as they come; text boxes wait until their paragraph is written."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.main = _main_part(archive)
        self.links = self._relations(self.main)
        self.styles = Styles(self._linked("styles"), self._linked("theme"))
        self.body = archive.xml(self.main)
        self.blocks = TextOfBlocks()
        self.hidden: list[Hidden] = []
        self.findings: list[str] = []
        self.boxed = 0
        self.notes: list[str] = []
        self.filled_shapes = any(True for _ in anywhere(self.body, "solidFill", "gradFill", "blipFill"))

    def parsed(self) -> Parsed:
        """The whole reading."""
        paper = rgb(value(child(self.body, "background"), "color"))
        page = _Place("", (paper,) if paper else WHITE)
        self._margins("headerReference", page)
        self._content(child(self.body, "body"), replace(page, name="body"))
        self._footnotes(page)
        self._margins("footerReference", page)
        text, hidden = self.blocks.text, tuple(self.hidden)
        written = sum(not char.isspace() for char in text)
        pictures = any(name.startswith("word/media/") for name in self.archive.entries)
        if not written and not hidden and not pictures:
            raise Unreadable("empty")
        if pictures and written < _SCAN_TEXT:
            self.findings.append("page_needs_ocr")
            quality = "needs_ocr"
        else:
            quality = self._quality(text, written)
        sheet = self.blocks.page(quality, "document")
        worst = overall((sheet,), hidden)
        findings = tuple(dict.fromkeys([*self.findings, *text_findings(text, hidden)]))
        if not written and worst != "needs_ocr":
            return Parsed(DOCX, ID, VERSION, "", (sheet,), (), hidden, findings, "unreadable", "empty", 0)
        reason = self.findings[0] if worst == "low" else "" if worst == "ok" else worst
        return Parsed(
            DOCX, ID, VERSION, text, (sheet,), self.blocks.pieces, hidden, findings, worst, reason, len(text)
        )

    def _quality(self, text: str, written: int) -> str:
        if letters_lost(text):
            self.findings.append("glyphs_lost")
        if self.boxed > written / 2:
            self.findings.append("text_in_drawings")
        return "low" if self.findings else "ok"

    # Parts

    def _relations(self, part: str) -> dict[str, tuple[str, str]]:
        folder, name = posixpath.split(part)
        sheet = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
        if sheet not in self.archive:
            return {}
        links: dict[str, tuple[str, str]] = {}
        for link in children(self.archive.xml(sheet), "Relationship"):
            if value(link, "TargetMode") != "External":
                target = value(link, "Target") or ""
                path = (
                    target.lstrip("/")
                    if target.startswith("/")
                    else posixpath.normpath(posixpath.join(folder, target))
                )
                links[value(link, "Id") or ""] = ((value(link, "Type") or "").rpartition("/")[2], path)
        return links

    def _linked(self, kind: str) -> Element | None:
        for found, path in self.links.values():
            if found == kind and path in self.archive:
                return self.archive.xml(path)
        return None

    def _margins(self, reference: str, page: _Place) -> None:
        """Headers or footers that a section uses, each part once, equal texts once."""
        seen: set[str] = set()
        for link in anywhere(self.body, reference):
            _, path = self.links.get(value(link, "id") or "", ("", ""))
            if path in seen or path not in self.archive:
                continue
            seen.add(path)
            root, before = self.archive.xml(path), self.links
            self.links = self._relations(path)
            self._content(
                root, replace(page, name=(name_of(root) == "ftr" and "footer") or "header", kind="header")
            )
            self.links = before

    def _footnotes(self, page: _Place) -> None:
        for kind in ("footnotes", "endnotes"):
            root = self._linked(kind)
            for note in children(root, "footnote", "endnote"):
                if value(note, "type") in (None, "normal"):
                    self._content(note, replace(page, name="footnote"))

    # Blocks

    def _content(self, holder: Element | None, place: _Place) -> None:
        """Paragraphs and tables of a body, header, cell or text box, in order."""
        number = 0
        for block in holder if holder is not None else ():
            name = name_of(block)
            if name == "p":
                number += 1
                label = (
                    f"{place.name} paragraph {number}"
                    if place.name in ("body", "header", "footer")
                    else place.name
                )
                self._paragraph(block, replace(place, name=label))
            elif name == "tbl":
                self._table(block, place.inside())
            elif name == "sdt":
                self._content(child(block, "sdtContent"), place.inside())
            elif name in ("ins", "moveTo", "customXml", "sdtContent"):
                self._content(block, place.inside())
            elif name in ("altChunk", "object"):
                self._unread()
            elif name == "AlternateContent":
                self._content(_alternative(block), place.inside())

    def _paragraph(self, paragraph: Element, place: _Place) -> None:
        text, drawings = self._read(paragraph, place)
        for line in text.split("\n"):
            if line.strip():
                kind = place.kind or (
                    "paragraph" if len(line) > _LONG_LINE else "row" if "\t" in line.strip() else "line"
                )
                self._write(line, kind, place)
        self._boxes(drawings, place)

    def _write(self, line: str, kind: PieceKind, place: _Place) -> None:
        self.blocks.add(line, kind)
        if place.boxed:
            self.boxed += sum(not char.isspace() for char in line)
        if len(self.blocks) > MAX_CHARACTERS:
            raise Unreadable("too_large")

    def _table(self, table: Element, place: _Place) -> None:
        styled = self.styles.table_grounds(child(table, "tblPr"))
        place = replace(place, grounds=(*place.grounds, *styled) if place.grounds else ())
        for number, row in enumerate(_through(table, "tr"), start=1):
            if is_on(child(row, "trPr", "hidden")) or child(row, "trPr", "del") is not None:
                continue
            self._row(row, replace(place, name=f"{place.name} table row {number}".replace("body ", "")))

    def _row(self, row: Element, place: _Place) -> None:
        """A row on one line, its cells apart by tabs; a row that lays out the page is read cell by cell."""
        cells = list(_through(row, "tc"))
        layout = any(
            len(list(_through(cell, "p"))) > _BROAD_CELL
            or child(cell, "tbl") is not None
            or sum(len(t.text or "") for t in anywhere(cell, "t")) > _LONG_CELL
            for cell in cells
        )
        texts: list[str] = []
        waiting: list[tuple[list[Element], _Place]] = []
        for cell in cells:
            shade = self.styles.shading(child(cell, "tcPr"))
            here = replace(place, grounds=(shade,)) if shade else place
            if layout:
                self._content(cell, here.inside())
                continue
            parts = []
            for paragraph in _through(cell, "p"):
                text, drawings = self._read(paragraph, here)
                parts.append(" ".join(text.split()))
                waiting.append((drawings, here))
            texts.append(" ".join(part for part in parts if part))
        line = "\t".join(text for text in texts if text)
        if line:
            self._write(line, place.kind or ("row" if "\t" in line else "line"), place)
        for drawings, here in waiting:
            self._boxes(drawings, here)

    def _boxes(self, drawings: Iterable[Element], place: _Place) -> None:
        """Text boxes and diagrams that hang on a paragraph."""
        for drawing in drawings:
            unseen = any(
                is_on(docpr) and value(docpr, "hidden") in ("1", "true")
                for docpr in anywhere(drawing, "docPr")
            )
            for shape in anywhere(drawing, "txbxContent"):
                if _nested(shape, drawing):
                    continue
                inside = replace(
                    place.inside(), name="text box", grounds=self._ground(shape, place), boxed=True
                )
                self._content(shape, replace(inside, hidden="vanish") if unseen else inside)
            for art in anywhere(drawing, "textpath"):
                if text := " ".join((value(art, "string") or "").split()):
                    self._write(text, place.kind or "line", replace(place, boxed=True))
            for diagram in anywhere(drawing, "relIds"):
                self._diagram(value(diagram, "dm") or "", place)
            if any(True for _ in anywhere(drawing, "OLEObject")):
                self._unread()

    def _diagram(self, link: str, place: _Place) -> None:
        _, path = self.links.get(link, ("", ""))
        if path not in self.archive:
            self._unread()
            return
        for paragraph in anywhere(self.archive.xml(path), "p"):
            if line := "".join(t.text or "" for t in anywhere(paragraph, "t")).strip():
                self._write(line, place.kind or "line", replace(place, boxed=True))

    def _ground(self, content: Element, place: _Place) -> Grounds:
        """What lies under a text box: its fill, else the page, unless other shapes may lie between."""
        for holder in content.iterancestors():
            name = name_of(holder)
            if name in ("shape", "rect", "roundrect", "oval"):
                if value(holder, "filled") in ("f", "false", "0"):
                    return () if self.filled_shapes else place.grounds
                return (rgb(value(holder, "fillcolor")) or (255, 255, 255),)
            if name == "wsp":
                own = child(holder, "spPr")
                solid = self.styles.shape_color(child(own, "solidFill"))
                if solid:
                    return (solid,)
                if child(own, "noFill") is None and (
                    styled := self.styles.shape_color(child(holder, "style", "fillRef"))
                ):
                    return (styled,)
                return () if self.filled_shapes else place.grounds
        return place.grounds

    def _unread(self) -> None:
        if "part_unread" not in self.findings:
            self.findings.append("part_unread")

    # Runs

    def _read(self, paragraph: Element, place: _Place) -> tuple[str, list[Element]]:
        """The visible text of a paragraph and the drawings in it; what is hidden is listed on the way."""
        visible: list[str] = []
        drawings: list[Element] = []
        unseen: list[tuple[str, str]] = []
        for run in self._runs(paragraph, place.depth):
            text = "".join(_letters(run, drawings))
            if not text:
                continue
            seen = self.styles.seen(run, paragraph, place.grounds)
            if seen.unsure and text.strip() and "colour_unsure" not in self.findings:
                self.findings.append("colour_unsure")
            reason = place.hidden or seen.reason
            if reason and text.strip():
                if unseen and unseen[-1][1] == reason:
                    unseen[-1] = (unseen[-1][0] + text, reason)
                else:
                    unseen.append((text, reason))
            elif not reason:
                visible.append(text)
        self.hidden += [Hidden(1, " ".join(text.split()), reason, place.name) for text, reason in unseen]
        kept, shapeless = without_unseen("".join(visible))
        self.hidden += [Hidden(1, run.text, run.reason, place.name) for run in shapeless]
        return kept, drawings

    def _runs(self, holder: Element, depth: int) -> Iterator[Element]:
        if depth > _DEEPEST:
            raise Unreadable("corrupt")
        for element in holder:
            name = name_of(element)
            if name == "r":
                yield element
            elif name == "sdt":
                inner = child(element, "sdtContent")
                if inner is not None:
                    yield from self._runs(inner, depth + 1)
            elif name in _WRAPPERS:
                yield from self._runs(element, depth + 1)
            elif name == "AlternateContent":
                chosen = _alternative(element)
                if chosen is not None:
                    yield from self._runs(chosen, depth + 1)


def _letters(run: Element, drawings: list[Element]) -> Iterator[str]:
    """The characters of a run; its drawings are put aside."""
    for element in run:
        name = name_of(element)
        if name == "t":
            yield _clean(element.text or "")
        elif name == "tab":
            yield "\t"
        elif name in ("br", "cr"):
            yield "\n"
        elif name == "noBreakHyphen":
            yield "\u2011"
        elif name == "sym":
            yield _symbol(value(element, "char"))
        elif name in ("drawing", "pict", "object"):
            drawings.append(element)
        elif name == "AlternateContent":
            chosen = _alternative(element)
            if chosen is not None:
                yield from _letters(chosen, drawings)


def _clean(text: str) -> str:
    return "".join(char if char >= " " or char == "\t" else " " for char in text)


def _symbol(code: str | None) -> str:
    try:
        number = int(code or "", 16)
    except ValueError:
        return "\ufffd"
    return "•" if 0xF000 <= number <= 0xF0FF else chr(number) if 0x20 <= number < 0xD800 else "\ufffd"


def _alternative(element: Element) -> Element | None:
    """One of several forms of the same content: the first with text, else the first."""
    forms = [*children(element, "Choice"), *children(element, "Fallback")]
    return next(
        (form for form in forms if any(t.text for t in anywhere(form, "t"))), forms[0] if forms else None
    )


def _through(holder: Element, name: str) -> Iterator[Element]:
    """Children of one kind, looking through content controls and insertions but not into deletions."""
    for element in holder:
        found = name_of(element)
        if found == name:
            yield element
        elif found in ("sdt", "sdtContent", "ins", "moveTo", "customXml"):
            yield from _through(element, name)


def _nested(shape: Element, drawing: Element) -> bool:
    """Whether this text box lies inside another one or in the form that was not chosen."""
    for holder in shape.iterancestors():
        if holder is drawing:
            return False
        if name_of(holder) == "txbxContent":
            return True
        outer = holder.getparent()
        if outer is not None and name_of(outer) == "AlternateContent" and _alternative(outer) is not holder:
            return True
    return False


def _main_part(archive: Archive) -> str:
    """The document part. Raises Unreadable with `macros` or `unsupported_type`."""
    names = [name.lower() for name in archive.entries]
    if "[Content_Types].xml" not in archive:
        raise Unreadable("unsupported_type")
    types = archive.read("[Content_Types].xml")
    if b"macroenabled" in types.lower() or any(
        "vbaproject" in name or name.endswith("vbadata.xml") for name in names
    ):
        raise Unreadable("macros")
    if "_rels/.rels" in archive:
        for link in children(archive.xml("_rels/.rels"), "Relationship"):
            if (value(link, "Type") or "").endswith("/officeDocument"):
                part = (value(link, "Target") or "").lstrip("/")
                if part in archive and b"wordprocessingml" in types:
                    return part
    if "word/document.xml" in archive:
        return "word/document.xml"
    raise Unreadable("unsupported_type")
