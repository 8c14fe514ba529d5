"""Word documents: body in order with tables and text boxes, headers and footers; hidden runs apart; archives checked first."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
from docx.opc.exceptions import PackageNotFoundError
from lxml.etree import XMLSyntaxError

from nekibu.files.parsers.base import CannotRead, Hidden, Line
from nekibu.files.parsers.hidden import CONTRAST, SMALLEST, contrast

MAX_RATIO, MAX_UNPACKED, MAX_ENTRIES = 100, 200 * 1024 * 1024, 3000
W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"


def check_archive(path: Path) -> zipfile.ZipFile:
    """Open an Office archive only when what it declares is harmless. Raises CannotRead: corrupt, zip_bomb, macros."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as broken:
        raise CannotRead("corrupt") from broken
    entries = archive.infolist()
    packed, unpacked = sum(e.compress_size for e in entries), sum(e.file_size for e in entries)
    if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED or unpacked > MAX_RATIO * max(packed, 1):
        raise CannotRead("zip_bomb")
    if any(e.filename.lower().endswith("vbaproject.bin") for e in entries):
        raise CannotRead("macros")
    return archive


def read(path: Path) -> tuple[list[Line], list[Hidden]]:
    """Lines in document order, and hidden text."""
    check_archive(path).close()
    try:
        document = docx.Document(str(path))
    except (PackageNotFoundError, KeyError, ValueError, XMLSyntaxError, zipfile.BadZipFile) as broken:
        raise CannotRead("corrupt") from broken
    hidden: list[Hidden] = []
    lines: list[Line] = []
    seen: set[int] = set()
    for section in document.sections:
        for part in (section.header, section.footer):
            if part.is_linked_to_previous or id(part._element) in seen:
                continue
            seen.add(id(part._element))
            lines += [Line(line.text, kind="header") for line in _block(part._element, hidden)]
    lines += _block(document.element.body, hidden)
    return lines, hidden


def _block(element: Any, hidden: list[Hidden]) -> list[Line]:
    lines: list[Line] = []
    for child in element:
        if child.tag == f"{W}p":
            text, boxes = _paragraph(child, hidden)
            if text.strip():
                lines.append(Line(text.strip(), kind="paragraph"))
            for box in boxes:
                lines += [Line(line.text, kind="box") for line in _block(box, hidden)]
        elif child.tag == f"{W}tbl":
            for row in child.iter(f"{W}tr"):
                cells = [" ".join(line.text for line in _block(cell, hidden)) for cell in row.findall(f"{W}tc")]
                said = "\t".join(c for c in cells if c.strip())
                if said:
                    lines.append(Line(said, kind="row"))
        elif child.tag in {f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}smartTag"}:
            lines += _block(child, hidden)
    return lines


def _paragraph(paragraph: Any, hidden: list[Hidden]) -> tuple[str, list[Any]]:
    text, boxes = "", []
    for run in _runs(paragraph):
        boxes += [box for box in run.iter(f"{W}txbxContent") if not _in_fallback(box, run)]
        said = "".join(_texts(run))
        reason = _hidden_reason(run, paragraph)
        if said.strip() and reason:
            hidden.append(Hidden(None, said.strip(), reason, "paragraph"))
        else:
            text += said
    return text, boxes


def _runs(paragraph: Any) -> Iterator[Any]:
    for child in paragraph:
        if child.tag == f"{W}r":
            yield child
        elif child.tag in {f"{W}hyperlink", f"{W}ins", f"{W}smartTag", f"{W}sdt", f"{W}sdtContent", f"{W}fldSimple"}:
            yield from _runs(child)


def _texts(run: Any) -> Iterator[str]:
    for child in run:
        if child.tag == f"{W}t":
            yield child.text or ""
        elif child.tag == f"{W}tab":
            yield "\t"
        elif child.tag in {f"{W}br", f"{W}cr"}:
            yield "\n"
        elif child.tag == f"{W}noBreakHyphen":
            yield "-"


def _hidden_reason(run: Any, paragraph: Any) -> str:
    properties = run.find(f"{W}rPr")
    if properties is None:
        return ""
    vanish = properties.find(f"{W}vanish")
    if vanish is not None and vanish.get(f"{W}val", "1") not in {"0", "false", "off"}:
        return "vanish"
    size = properties.find(f"{W}sz")
    if size is not None and size.get(f"{W}val", "22").isdigit() and int(size.get(f"{W}val")) / 2 < SMALLEST:
        return "tiny"
    colour = _rgb(properties.find(f"{W}color"), "val")
    if colour is None:
        return ""
    ground = _rgb(properties.find(f"{W}shd"), "fill") or _rgb(paragraph.find(f"{W}pPr/{W}shd"), "fill") or _cell_ground(paragraph) or (255, 255, 255)
    return "same_colour" if contrast(colour, ground) <= CONTRAST else ""


def _cell_ground(paragraph: Any) -> tuple[int, int, int] | None:
    parent = paragraph.getparent()
    return _rgb(parent.find(f"{W}tcPr/{W}shd"), "fill") if parent is not None and parent.tag == f"{W}tc" else None


def _rgb(element: Any, name: str) -> tuple[int, int, int] | None:
    value = element.get(f"{W}{name}", "") if element is not None else ""
    try:
        return (int(value[0:2], 16), int(value[2:4], 16), int(value[4:6], 16)) if len(value) == 6 else None
    except ValueError:
        return None


def _in_fallback(box: Any, run: Any) -> bool:
    parent = box.getparent()
    while parent is not None and parent is not run:
        if parent.tag == f"{MC}Fallback":
            return True
        if parent.tag == f"{W}txbxContent":
            return True  # a box in a box is read with the outer one
        parent = parent.getparent()
    return False
