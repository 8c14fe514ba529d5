"""How well a page was read: lost letters, broken words, and the one word that sums a file up."""

from __future__ import annotations

import re

from nekibu.files.parsers.base import Hidden, Page, Quality
from nekibu.files.parsers.injection import suspicions
from nekibu.language.search import looks_broken

_CID = re.compile(r"\(cid:\d+\)")
_PRIVATE_IN_WORD = re.compile(r"[^\W\d_][\ue000-\uf8ff]|[\ue000-\uf8ff][^\W\d_]")


def letters_lost(text: str) -> bool:
    """Whether letters are missing, unnamed or torn from their words."""
    return (
        "\ufffd" in text
        or bool(_CID.search(text))
        or bool(_PRIVATE_IN_WORD.search(text))
        or looks_broken(text)
    )


def text_findings(text: str, hidden: tuple[Hidden, ...]) -> list[str]:
    """What a reviewer must be told about any text, whatever its format."""
    found = []
    if hidden:
        found.append("hidden_text")
    if suspicions(text) or any(suspicions(segment.text) for segment in hidden):
        found.append("injection_suspected")
    return found


def overall(pages: tuple[Page, ...], hidden: tuple[Hidden, ...]) -> Quality:
    """The worst that holds for the file: nothing to read, partly read, hidden text, ok."""
    written = [page for page in pages if page.kind != "blank"]
    if written and all(page.quality == "needs_ocr" for page in written):
        return "needs_ocr"
    if any(page.quality != "ok" for page in written):
        return "low"
    return "hidden_text" if hidden else "ok"
