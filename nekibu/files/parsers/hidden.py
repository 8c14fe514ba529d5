"""What a reader cannot see: by colour, size, mode, place, or as characters without a shape."""

from __future__ import annotations

import re

INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
SMALLEST = 3.0  # points
CONTRAST = 1.1

RGB = tuple[int, int, int]


def contrast(one: RGB, other: RGB) -> float:
    """Contrast ratio of two colours (WCAG 2.2), 1 to 21."""
    first, second = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


def _luminance(colour: RGB) -> float:
    parts = []
    for value in colour:
        share = value / 255
        parts.append(share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def without_invisible(text: str) -> tuple[str, str]:
    """The text without shapeless characters, and a readable form of what was taken out (tag characters as their letters)."""
    found = INVISIBLE.findall(text)
    if not found:
        return text, ""
    shown = "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) <= 0xE007E else f"U+{ord(c):04X} " for c in found)
    return INVISIBLE.sub("", text), shown.strip()
