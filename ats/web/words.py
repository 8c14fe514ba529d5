"""What the codes of recruiting mean, in words for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from ats.rules import Reason
from nekibu.sentences import retold

QUALITY_TONES = {
    "ok": "success",
    "low": "warning",
    "needs_ocr": "warning",
    "hidden_text": "warning",
    "unreadable": "error",
}
QUALITY_ICONS = {
    "ok": "file-check",
    "low": "file-question-mark",
    "needs_ocr": "scan-text",
    "hidden_text": "eye-off",
    "unreadable": "file-x",
}
STATUS_TONES = {
    "blocked": "warning",
    "queued": "",
    "running": "info",
    "completed": "success",
    "needs_review": "info",
    "reviewed": "success",
}
STATUS_ICONS = {
    "blocked": "ban", "queued": "clock", "running": "loader-circle", "completed": "circle-check", "needs_review": "user-round-search",
    "reviewed": "user-check", "superseded": "history",
}  # fmt: skip
BLOCKS: dict[str, str | Promise] = {
    "opt_out": gettext_lazy("The candidate does not want a machine to judge. People read this CV."),
    "not_read_yet": gettext_lazy(
        "The CV had not been read yet when the evaluation started. Start it again in a moment."
    ),
    "needs_ocr": gettext_lazy(
        "The CV is a scan without text. Ask for a file with text, or read it yourself."
    ),
    "unreadable": gettext_lazy("The file cannot be read. Ask the candidate for another one."),
}
FILE_REASONS: dict[str, str | Promise] = {
    "encrypted": gettext_lazy("The file is protected with a password."),
    "corrupt": gettext_lazy("The file is damaged."),
    "empty": gettext_lazy("The file holds no text."),
    "too_large": gettext_lazy("The file is too large to be read."),
    "unsupported_type": gettext_lazy("This kind of file cannot be read. Use PDF, DOCX or TXT."),
    "macros": gettext_lazy("The file holds macros, so it is not opened."),
    "zip_bomb": gettext_lazy("The file unpacks to far more than it should, so it is not opened."),
    "timeout": gettext_lazy("Reading the file took too long."),
    "too_many_pages": gettext_lazy("The file has too many pages."),
    "needs_ocr": gettext_lazy("The file is a scan without text."),
    "page_needs_ocr": gettext_lazy("Some pages are scans without text. What stands there was not read."),
    "ocr_layer": gettext_lazy("The text was recognised by a scanner. Compare it with the picture."),
    "page_unread": gettext_lazy("Some pages are damaged and were not read."),
    "part_unread": gettext_lazy("A part of the file, such as an embedded object, was not read."),
    "glyphs_lost": gettext_lazy("Letters are missing or torn apart in the text of the file."),
    "text_in_drawings": gettext_lazy("Most of the text stands in text boxes. Check its order."),
    "colour_unsure": gettext_lazy("Pale text stands on a drawing. Check whether it can be seen."),
    "hidden_text": gettext_lazy("The file holds text that no reader sees. It was left out."),
}
HIDDEN_REASONS: dict[str, str | Promise] = {
    "colour": gettext_lazy("in the colour of its background"),
    "opacity": gettext_lazy("transparent"),
    "size": gettext_lazy("too small to be read"),
    "off_page": gettext_lazy("outside the page"),
    "clipped": gettext_lazy("cut away by a frame"),
    "covered": gettext_lazy("under something else"),
    "render_mode": gettext_lazy("written without ink"),
    "unpainted": gettext_lazy("written without ink"),
    "vanish": gettext_lazy("formatted as hidden"),
    "hidden": gettext_lazy("formatted as hidden"),
    "zero_width": gettext_lazy("characters without width"),
    "bidi": gettext_lazy("characters that turn the direction of reading"),
    "tag": gettext_lazy("characters that no font shows"),
    "invisible_characters": gettext_lazy("characters that no font shows"),
}
DATE_FLAWS: dict[str, str | Promise] = {
    "end_before_start": gettext_lazy("an end before its start"),
    "starts_in_future": gettext_lazy("a start in the future"),
    "ends_in_future": gettext_lazy("an end in the future"),
}
LEVELS: dict[str, str | Promise] = {"native": gettext_lazy("native")}
LICENCES: dict[str, str | Promise] = {"none": gettext_lazy("no licence")}
LANGUAGES: dict[str, str | Promise] = {
    "en": gettext_lazy("English"), "tr": gettext_lazy("Turkish"), "de": gettext_lazy("German"), "fr": gettext_lazy("French"),
    "es": gettext_lazy("Spanish"), "it": gettext_lazy("Italian"), "ru": gettext_lazy("Russian"), "ar": gettext_lazy("Arabic"),
}  # fmt: skip


def block_words(code: str) -> str:
    """Why an evaluation was not possible; an unknown code is shown as it is, never hidden."""
    return str(BLOCKS.get(code, code))


def file_words(code: str) -> str:
    """Why a file could not be read well."""
    return str(FILE_REASONS.get(code, code))


def hidden_words(code: str) -> str:
    """Why a passage is seen by no reader."""
    return str(HIDDEN_REASONS.get(code, code))


def rule_words(rule: Mapping[str, Any] | None) -> str:
    """A rule of a rubric as a sentence."""
    match dict(rule or {}):
        case {"type": "experience_months", "min": months}:
            return ngettext(
                "At least %(n)s month of work, counted from the dates; overlapping stays count once.",
                "At least %(n)s months of work, counted from the dates; overlapping stays count once.",
                int(months),
            ) % {"n": months}
        case {"type": "language_level", "language": language, "min": level}:
            return _("%(language)s at level %(level)s or better, as stated.") % {
                "language": LANGUAGES.get(language, language),
                "level": level,
            }
        case {"type": "licence", "class": wanted}:
            return _("Driving licence of class %(wanted)s.") % {"wanted": wanted}
        case {"type": "term", "any": terms}:
            return _("One of these terms: %(terms)s.") % {"terms": ", ".join(map(str, terms))}
        case other:
            return str(other.get("type", ""))


def reasoning_words(text: str) -> str | None:
    """What a rule gave as its reason, in the reader's language; None for what a model or a person wrote."""
    return retold(text, Reason, _, _named)


def _named(name: str, value: str) -> str:
    if name == "reason":
        return reasoning_words(value) or value
    if name == "years":
        return number_format(value)
    tables = {
        "which": DATE_FLAWS,
        "levels": LEVELS,
        "level": LEVELS,
        "classes": LICENCES,
        "language": LANGUAGES,
    }
    table = tables.get(name, {})
    return ", ".join(str(table.get(part, part)) for part in value.split(", ")) if table else value


def in_language(said: Any) -> str:
    """A text that is kept in two languages."""
    if isinstance(said, Mapping):
        return str(said.get(get_language() or "tr") or said.get("tr") or said.get("en") or "")
    return str(said)
