"""What a reader sees of a page: its words, without markup, data of the record and text in another language."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from nekibu.env import PROJECT

SPOKEN = {"title", "aria-label", "placeholder", "alt", "data-label", "data-copied", "data-key-label", "label"}
SILENT = {"script", "style", "pre", "kbd", "datalist"}
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "use", "wbr"}
DATA = {"code", "quote"}  # classes of elements that show the record or a document as it is
PLACE = re.compile(r"%\(\w+\)[sd]|%%")


@cache
def catalogue(language: str = "tr") -> Catalog:
    """The translations of a language, as they are in the sources."""
    with (PROJECT / f"locale/{language}/LC_MESSAGES/django.po").open("rb") as file:
        return read_po(file)


@cache
def foreign_words() -> list[tuple[str, re.Pattern[str]]]:
    """Each English text whose Turkish differs, and how to find it: by its longest stretch of words of its own."""
    texts = set()
    for message in catalogue():
        ids = message.id if isinstance(message.id, tuple) else (message.id,)
        strings = message.string if isinstance(message.string, tuple) else (message.string,)
        texts |= {text for text in ids if text and text not in strings}
    found = []
    for text in sorted(texts):
        part = max(PLACE.split(re.sub(r"<[^>]+>", "", text)), key=len).strip(" .,:;()“”")
        if len(re.findall(r"[A-Za-z]", part)) >= (3 if PLACE.search(text) else 2):
            found.append((text, re.compile(rf"(?<![\w-]){re.escape(part)}(?![\w-])")))
    return found


def english_in(page: str, *data: str) -> list[str]:
    """English texts that a Turkish page shows although they have a translation. `data`: patterns of what is not ours."""
    words = PLACE.sub("·", "\n".join(seen(page)))
    for pattern in data:
        words = re.sub(pattern, "·", words)
    return [text for text, pattern in foreign_words() if pattern.search(words)]


def seen(page: str) -> list[str]:
    """The words of a page, one stretch of text or one spoken attribute at a time."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    return reader.words


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.closed: list[bool] = []  # for each open element, whether its text is not ours to translate

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        quiet = (
            tag in SILENT
            or bool(DATA & set((said.get("class") or "").split()))
            or ("lang" in said and tag != "html")
        )
        shut = quiet or (bool(self.closed) and self.closed[-1])
        if tag not in VOID:
            self.closed.append(shut)
        if not shut:
            spoken = [v for k, v in attrs if v and (k in SPOKEN or k.startswith("data-text-"))]
            self.words += [" ".join(v.split()) for v in spoken]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.closed.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self.closed:
            self.closed.pop()

    def handle_data(self, data: str) -> None:
        text = " ".join(data.split())
        if text and not (self.closed and self.closed[-1]):
            self.words.append(text)
