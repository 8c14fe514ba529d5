"""The ZIP around an Office document: judged by what it declares before anything is unpacked."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from lxml import etree

from nekibu.files.parsers.base import Unreadable

MOST_RATIO = 100
MOST_ENTRIES = 2_000
MOST_BYTES = 300 * 1024 * 1024
MOST_PART_BYTES = 30 * 1024 * 1024
_SMALL = 1024 * 1024
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, ValueError)


class Archive:
    """An open, vetted archive. Raises Unreadable with `corrupt`, `encrypted`, `zip_bomb`."""

    def __init__(self, path: Path) -> None:
        try:
            self.zip = zipfile.ZipFile(path)
        except _BROKEN as broken:
            raise Unreadable("corrupt") from broken
        self.entries = {entry.filename: entry for entry in self.zip.infolist()}
        self._vet(path.stat().st_size)

    def _vet(self, size: int) -> None:
        entries = self.zip.infolist()
        total = sum(entry.file_size for entry in entries)
        packed = sum(entry.compress_size for entry in entries)
        if (
            len(entries) > MOST_ENTRIES
            or total > MOST_BYTES
            or total > MOST_RATIO * max(size, 1)
            or packed > size
        ):
            raise Unreadable("zip_bomb")
        for entry in entries:
            if entry.file_size > _SMALL and entry.file_size > MOST_RATIO * max(entry.compress_size, 1):
                raise Unreadable("zip_bomb")
            if entry.flag_bits & 0x1:
                raise Unreadable("encrypted")

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def read(self, name: str) -> bytes:
        """One part. Raises Unreadable when it is too large or damaged."""
        entry = self.entries.get(name)
        if entry is None:
            raise Unreadable("corrupt")
        if entry.file_size > MOST_PART_BYTES:
            raise Unreadable("zip_bomb")
        try:
            with self.zip.open(entry) as stream:
                content = stream.read(entry.file_size + 1)
        except (*_BROKEN, RuntimeError) as broken:
            raise Unreadable("corrupt") from broken
        if len(content) > entry.file_size:
            raise Unreadable("zip_bomb")
        return content

    def xml(self, name: str) -> etree._Element:
        """One XML part, without entities, DTD or network. Raises Unreadable with `corrupt` for a part that has a DTD."""
        content = self.read(name)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        try:
            tree = etree.fromstring(content, parser)
        except (etree.XMLSyntaxError, ValueError) as broken:
            raise Unreadable("corrupt") from broken
        if tree.getroottree().docinfo.doctype:
            raise Unreadable("corrupt")
        return tree

    def close(self) -> None:
        """Close the file."""
        self.zip.close()
