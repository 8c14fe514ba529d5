"""Plain text: the encoding from the bytes, the paragraphs from the lines."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from nekibu.files.parsers import sentences
from nekibu.files.parsers.base import MAX_CHARACTERS, TEXT, Hidden, Parsed, PieceKind, Unreadable
from nekibu.files.parsers.plain import TextOfBlocks
from nekibu.files.parsers.quality import letters_lost, overall, text_findings
from nekibu.files.parsers.unseen import without_unseen

ID, VERSION = "text", "1"

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WRAPPED = 60
_UNUSUAL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def parse_text(path: Path) -> Parsed:
    """Read a text file. Raises Unreadable with `unsupported_type`, `too_large` or `empty`."""
    text, _ = decode(path.read_bytes())
    if len(text) > MAX_CHARACTERS:
        raise Unreadable("too_large")
    lines = re.split(r"\r\n|[\n\r\f\v\x85\u2028\u2029]", text)
    hidden: list[Hidden] = []
    cleaned: list[str] = []
    for number, line in enumerate(lines, start=1):
        kept, unseen = without_unseen(line)
        hidden += [Hidden(1, run.text, run.reason, f"line {number}") for run in unseen]
        cleaned.append(_UNUSUAL.sub("\ufffd", kept).rstrip())
    if not any(line.strip() for line in cleaned):
        raise Unreadable("empty")
    blocks = TextOfBlocks()
    for paragraph in _paragraphs(cleaned):
        kind: PieceKind = "row" if len(paragraph) == 1 and "\t" in paragraph[0].strip() else "line"
        blocks.add("\n".join(paragraph), "paragraph" if len(paragraph) > 1 else kind)
    stored, findings = blocks.text, []
    if letters_lost(stored):
        findings.append("glyphs_lost")
    page = blocks.page("low" if findings else "ok", "text")
    listed = tuple(hidden)
    quality = overall((page,), listed)
    reason = findings[0] if findings else "" if quality == "ok" else quality
    findings += text_findings(stored, listed)
    return Parsed(
        TEXT,
        ID,
        VERSION,
        stored,
        (page,),
        blocks.pieces,
        listed,
        tuple(findings),
        quality,
        reason,
        len(stored),
    )


def decode(content: bytes) -> tuple[str, str]:
    """The text and its encoding: a byte order mark, UTF-16 by its zero bytes, UTF-8 if valid, else Turkish eight bits.

    windows-1254 and ISO-8859-9 differ in 0x80 to 0x9F only, where the latter has no letters; 0x80 to 0x9F decide.
    Raises Unreadable with `unsupported_type` for bytes that are no text.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace"), encoding
    if (wide := _utf16(content)) is not None:
        return content.decode(wide, "replace"), wide
    if content.count(0) or len(re.findall(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f]", content)) > len(content) // 100:
        raise Unreadable("unsupported_type")
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        # One bad byte in a long UTF-8 file is damage, not another encoding.
        good = len(re.findall(rb"[\xc2-\xf4][\x80-\xbf]+", content))
        bad = content.decode("utf-8", "replace").count("\ufffd")
        if good > 8 * bad:
            return content.decode("utf-8", "replace"), "utf-8"
        encoding = "cp1254" if re.search(rb"[\x80-\x9f]", content) else "iso8859-9"
    return content.decode(encoding, "replace"), encoding


def _utf16(content: bytes) -> str | None:
    """UTF-16 without a mark shows itself by zeros in every second byte."""
    sample = content[:4096]
    if len(sample) < 4 or len(content) % 2:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > 0.6 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _paragraphs(lines: list[str]) -> list[list[str]]:
    """Hard-wrapped lines together; an empty line stays a line of its own."""
    groups: list[list[str]] = []
    for line in lines:
        last = groups[-1][-1] if groups else ""
        following = line.lstrip()
        wraps = len(last) >= _WRAPPED and following[:1].islower() and not sentences.is_item(line)
        if wraps and "\t" not in last and "\t" not in line and last[-1] not in ".!?:;":
            groups[-1].append(line)
        else:
            groups.append([line])
    while groups and not groups[-1][0].strip():
        groups.pop()
    return groups
