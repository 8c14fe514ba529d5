"""How a DOCX run is painted: its own properties, those of its styles, the theme; and whether a reader sees it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml.etree import _Element as Element

from nekibu.files.parsers.drawings import Color
from nekibu.files.parsers.hidden import LEAST_CONTRAST, LEAST_SIZE, contrast, luminance_of
from nekibu.files.parsers.markup import anywhere, child, children, highlight, is_on, rgb, value

Grounds = tuple[Color, ...]
"""Backgrounds that may lie under a text; empty where that cannot be known."""

WHITE: Grounds = ((255, 255, 255),)
_THEME = {
    "dark1": "dk1", "text1": "dk1", "tx1": "dk1", "light1": "lt1", "background1": "lt1", "bg1": "lt1",
    "dark2": "dk2", "text2": "dk2", "tx2": "dk2", "light2": "lt2", "background2": "lt2", "bg2": "lt2",
    "hyperlink": "hlink", "followedHyperlink": "folHlink",
}  # fmt: skip
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """Why a run is hidden (empty when it is not), and whether its colour could not be judged."""

    reason: str = ""
    unsure: bool = False


class Styles:
    """The style sheet and the theme of one document."""

    def __init__(self, sheet: Element | None, theme: Element | None) -> None:
        self._styles = {value(style, "styleId"): style for style in children(sheet, "style")}
        self._defaults = child(sheet, "docDefaults", "rPrDefault", "rPr")
        self._standard = next(
            (
                value(s, "styleId")
                for s in children(sheet, "style")
                if value(s, "default") == "1" and value(s, "type") == "paragraph"
            ),
            None,
        )
        self._colors: dict[str, Color] = {}
        scheme = next(anywhere(theme, "clrScheme"), None) if theme is not None else None
        for entry in scheme if scheme is not None else ():
            for color in children(entry, "srgbClr", "sysClr"):
                found = rgb(value(color, "lastClr") or value(color))
                if found:
                    self._colors[str(entry.tag).rpartition("}")[2]] = found

    def seen(self, run: Element, paragraph: Element | None, grounds: Grounds) -> Seen:
        """Whether a reader sees this run on these backgrounds."""
        sheets = list(self._sheets(run, paragraph))
        if is_on(_first(sheets, "vanish")):
            return Seen("vanish")
        size = _number(value(_first(sheets, "sz")))
        if size is not None and size / 2 < LEAST_SIZE:
            return Seen("size")
        width = _number((value(_first(sheets, "w")) or "").rstrip("%") or None)
        if width is not None and width < 10:
            return Seen("size")
        fill = _first(sheets, "textFill")
        if fill is not None and child(fill, "noFill") is not None:
            return Seen("opacity")
        for alpha in anywhere(fill, "alpha") if fill is not None else ():
            if (_number(value(alpha)) or 0) >= 95_000:
                return Seen("opacity")
        color = self._text_color(sheets)
        if color is None:
            return Seen()
        under = self._own_ground(sheets) or self._paragraph_ground(paragraph) or grounds
        if not under:
            return Seen(unsure=_alike(color, WHITE[0]))
        return Seen("colour" if all(_alike(color, ground) for ground in under) else "")

    def shading(self, properties: Element | None) -> Color | None:
        """The fill that `w:shd` in these properties gives."""
        shade = child(properties, "shd")
        if shade is None:
            return None
        if value(shade) == "solid":
            return self._themed(value(shade, "themeColor"), None, None) or rgb(value(shade, "color"))
        themed = self._themed(
            value(shade, "themeFill"), value(shade, "themeFillTint"), value(shade, "themeFillShade")
        )
        return themed or rgb(value(shade, "fill"))

    def table_grounds(self, properties: Element | None) -> Grounds:
        """Every fill that a table and its style may lay under a cell."""
        found = [self.shading(properties)]
        for style in self._chain(value(child(properties, "tblStyle"))):
            found += [self.shading(part) for part in anywhere(style, "tcPr", "tblPr")]
        return tuple(color for color in found if color)

    def shape_color(self, holder: Element | None) -> Color | None:
        """The colour inside a DrawingML fill."""
        for color in children(holder, "srgbClr", "schemeClr", "sysClr", "prstClr"):
            return self._themed(value(color), None, None) or rgb(value(color, "lastClr") or value(color))
        return None

    def _sheets(self, run: Element, paragraph: Element | None) -> Iterator[Element]:
        own = child(run, "rPr")
        if own is not None:
            yield own
            for style in self._chain(value(child(own, "rStyle"))):
                yield from children(style, "rPr")
        for style in self._chain(value(child(paragraph, "pPr", "pStyle")) or self._standard):
            yield from children(style, "rPr")
        if self._defaults is not None:
            yield self._defaults

    def _chain(self, style_id: str | None) -> Iterator[Element]:
        for _ in range(_DEEPEST):
            style = self._styles.get(style_id) if style_id else None
            if style is None:
                return
            yield style
            style_id = value(child(style, "basedOn"))

    def _text_color(self, sheets: list[Element]) -> Color | None:
        color = _first(sheets, "color")
        return self._themed(
            value(color, "themeColor"), value(color, "themeTint"), value(color, "themeShade")
        ) or rgb(value(color))

    def _own_ground(self, sheets: list[Element]) -> Grounds:
        for properties in sheets:
            ground = highlight(value(child(properties, "highlight"))) or self.shading(properties)
            if ground:
                return (ground,)
        return ()

    def _paragraph_ground(self, paragraph: Element | None) -> Grounds:
        properties = child(paragraph, "pPr")
        sheets = [properties] + [
            child(s, "pPr") for s in self._chain(value(child(properties, "pStyle")) or self._standard)
        ]
        for sheet in sheets:
            ground = self.shading(sheet)
            if ground:
                return (ground,)
        return ()

    def _themed(self, theme: str | None, tint: str | None, shade: str | None) -> Color | None:
        color = self._colors.get(_THEME.get(theme or "", theme or ""))
        if color is None:
            return (255, 255, 255) if theme in ("background1", "light1", "bg1") else None
        lighter, darker = _share(tint), _share(shade)
        red, green, blue = (round((255 - (255 - c) * lighter) * darker) for c in color)
        return red, green, blue


def _first(sheets: list[Element], name: str) -> Element | None:
    """The nearest sheet's word on a property."""
    for properties in sheets:
        found = child(properties, name)
        if found is not None:
            return found
    return None


def _share(hexadecimal: str | None) -> float:
    """A tint or shade as a share of one; 1 when there is none."""
    try:
        return int(hexadecimal, 16) / 255 if hexadecimal else 1.0
    except ValueError:
        return 1.0


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _alike(one: Color, other: Color) -> bool:
    return contrast(luminance_of(one), luminance_of(other)) <= LEAST_CONTRAST
