"""Small questions to Office XML, by local name, so that the transitional and the strict dialect read the same."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.etree import _Element as Element

from nekibu.files.parsers.drawings import Color

_HIGHLIGHTS: dict[str, Color] = {
    "black": (0, 0, 0), "blue": (0, 0, 255), "cyan": (0, 255, 255), "green": (0, 255, 0), "magenta": (255, 0, 255),
    "red": (255, 0, 0), "yellow": (255, 255, 0), "white": (255, 255, 255), "darkBlue": (0, 0, 128),
    "darkCyan": (0, 128, 128), "darkGreen": (0, 128, 0), "darkMagenta": (128, 0, 128), "darkRed": (128, 0, 0),
    "darkYellow": (128, 128, 0), "darkGray": (128, 128, 128), "lightGray": (192, 192, 192),
}  # fmt: skip


def name_of(element: Element) -> str:
    """The local name; empty for comments and processing instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def children(element: Element | None, *names: str) -> Iterator[Element]:
    """Direct children with one of these local names."""
    if element is not None:
        for child in element:
            if name_of(child) in names:
                yield child


def child(element: Element | None, *path: str) -> Element | None:
    """The first child along a path of local names."""
    for step in path:
        element = next(children(element, step), None)
    return element


def anywhere(element: Element, *names: str) -> Iterator[Element]:
    """Descendants with one of these local names, in document order."""
    for found in element.iter():
        if name_of(found) in names:
            yield found


def value(element: Element | None, name: str = "val") -> str | None:
    """An attribute by local name."""
    if element is None:
        return None
    for key, text in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(text)
    return None


def is_on(element: Element | None) -> bool:
    """A toggle: present and not switched off."""
    return element is not None and (value(element) or "true").lower() not in ("0", "false", "off", "none")


def rgb(text: str | None) -> Color | None:
    """`FF8800` or `#ff8800` as a colour; `auto`, names and nonsense are None."""
    if text is None:
        return None
    digits = text.lstrip("#").split(" ")[0]
    if digits.lower() in ("white", "black"):
        return (255, 255, 255) if digits.lower() == "white" else (0, 0, 0)
    if len(digits) == 3:
        digits = "".join(2 * digit for digit in digits)
    try:
        number = int(digits, 16)
    except ValueError:
        return None
    return (number >> 16 & 255, number >> 8 & 255, number & 255) if len(digits) == 6 else None


def highlight(name: str | None) -> Color | None:
    """The colour of a text marker."""
    return _HIGHLIGHTS.get(name or "")
