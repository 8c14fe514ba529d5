"""Joins the vendored icons into one SVG sprite; `make css` runs it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).parent
TARGET = HERE.parent / "static" / "nekibu" / "icons.svg"
SVG = "{http://www.w3.org/2000/svg}"


def attributes(shape: ElementTree.Element) -> str:
    """The attributes of a shape, as written."""
    return " ".join(f'{name}="{value}"' for name, value in shape.attrib.items())


def symbol(path: Path) -> str:
    """One icon as a `<symbol>` with the file's name as its id."""
    root = ElementTree.parse(path).getroot()  # noqa: S314
    shapes = "".join(f"<{child.tag.removeprefix(SVG)} {attributes(child)}/>" for child in root)
    return (
        f'<symbol id="{path.stem}" viewBox="{root.attrib["viewBox"]}">{re.sub(r"  +", " ", shapes)}</symbol>'
    )


def build() -> None:
    """Write the sprite. The same icons give the same bytes."""
    symbols = "\n".join(symbol(path) for path in sorted(HERE.glob("icons/*.svg")))
    TARGET.write_text(f'<svg xmlns="http://www.w3.org/2000/svg">\n{symbols}\n</svg>\n', encoding="utf-8")


if __name__ == "__main__":
    build()
