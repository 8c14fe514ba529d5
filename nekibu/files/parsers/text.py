"""Plain text: its encoding found by content."""

from __future__ import annotations

import codecs
from pathlib import Path

from nekibu.files.parsers.base import CannotRead, Line

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def looks_like_text(head: bytes) -> bool:
    """Whether these first bytes can be text at all."""
    if any(head.startswith(bom) for bom, _name in _BOMS):
        return True
    control = sum(byte < 9 or 13 < byte < 32 for byte in head)
    return b"\0" not in head and control <= len(head) // 100


def read(path: Path) -> list[Line]:
    """One line each. Raises CannotRead when no encoding fits."""
    content = path.read_bytes()
    names = [name for bom, name in _BOMS if content.startswith(bom)] or ["utf-8", "windows-1254"]
    for name in names:
        try:
            text = content.decode(name)
            break
        except UnicodeDecodeError:
            continue
    else:
        raise CannotRead("corrupt")
    return [Line(line.rstrip()) for line in text.splitlines()]
