"""Characters that have no shape: zero width, direction and tag characters. They leave the visible text and are listed."""

from __future__ import annotations

from dataclasses import dataclass

_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ZERO_WIDTH = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0"
)


@dataclass(frozen=True, slots=True)
class Unseen:
    """A run of shapeless characters at `at` in the cleaned text; `text` spells tags out and names the others."""

    at: int
    text: str
    reason: str


def kind_of(char: str) -> str:
    """`zero_width`, `bidi` or `tag` for a character without a shape, else the empty string."""
    if char < "\u034f":
        return ""
    if char in _ZERO_WIDTH:
        return "zero_width"
    if char in _BIDI:
        return "bidi"
    code = ord(char)
    if 0xE0000 <= code <= 0xE0FFF or 0x206A <= code <= 0x206F or 0x1BCA0 <= code <= 0x1BCA3:
        return "tag" if code >= 0xE0000 else "bidi"
    return ""


def without_unseen(text: str) -> tuple[str, tuple[Unseen, ...]]:
    """The text without shapeless characters, and those by run. Emoji keep their joiners; Persian keeps its non-joiner."""
    kept: list[str] = []
    found: list[Unseen] = []
    place = 0
    while place < len(text):
        reason = kind_of(text[place])
        if not reason or _belongs(text, place):
            kept.append(text[place])
            place += 1
            continue
        end = place
        while end < len(text) and kind_of(text[end]) == reason:
            end += 1
        found.append(Unseen(len(kept), spelled(text[place:end]), reason))
        place = end
    return "".join(kept), tuple(found)


def spelled(run: str) -> str:
    """A run as a person can read it: tag characters as the letters they carry, others by number."""
    if all(0xE0020 <= ord(char) <= 0xE007E for char in run):
        return "".join(chr(ord(char) - 0xE0000) for char in run)
    return " ".join(
        chr(ord(char) - 0xE0000) if 0xE0020 <= ord(char) <= 0xE007E else f"U+{ord(char):04X}" for char in run
    )


def _belongs(text: str, place: int) -> bool:
    before = text[place - 1] if place else ""
    after = text[place + 1] if place + 1 < len(text) else ""
    if text[place] == "\u200d":
        return bool(before and after) and (before > "\u2190" and after > "\u2190" and not kind_of(after))
    if text[place] == "\u200c":
        return "\u0600" <= before <= "\u0dff" and "\u0600" <= after <= "\u0dff"
    return False
