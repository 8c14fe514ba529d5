"""Numbers as they are written in Turkish and English: grouped digits, short forms such as `2,5 milyon`, and words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from nekibu.language.turkish import key

Locale = Literal["tr", "en"]
Asked = Locale | Literal["open"]  # "open": it was looked for and the document does not tell


@dataclass(frozen=True, slots=True)
class FoundNumber:
    """A number and its place. Two readings (`2.750` without a locale) are kept, none is guessed."""

    start: int
    end: int
    raw: str
    canonical: str
    value: Decimal | None
    ambiguous: bool = False
    alternatives: tuple[str, ...] = ()
    in_words: bool = False


_UNITS = dict(
    zip(
        ["sifir", "bir", "iki", "uc", "dort", "bes", "alti", "yedi", "sekiz", "dokuz"], range(10), strict=True
    )
)
_TENS = dict(
    zip(
        ["on", "yirmi", "otuz", "kirk", "elli", "altmis", "yetmis", "seksen", "doksan"],
        range(10, 100, 10),
        strict=True,
    )
)
_SCALES = {"bin": 10**3, "milyon": 10**6, "milyar": 10**9, "trilyon": 10**12}
_SHORT_SCALES = {
    **_SCALES,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "mn": 10**6,
    "mio": 10**6,
    "bn": 10**9,
    "k": 10**3,
}
_WORDS = {**_UNITS, **_TENS, "yuz": 100, **_SCALES}
_HALVES = {"bucuk": Decimal("0.5"), "yarim": Decimal("0.5"), "ceyrek": Decimal("0.25")}
_WORD = "(?:" + "|".join(sorted([*_WORDS, *_HALVES], key=len, reverse=True)) + ")"
_WORD_RUN = rf"(?<!\w){_WORD}(?:[ \-]?{_WORD})*(?!\w)"
FIGURE = r"(?:\d{1,3}(?:(?P<g>[ .,'])\d{3})(?:(?P=g)\d{3})*(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?|(?<!\d)[.,]\d+)(?:[.,]-)?"
_SCALE = r"(?:" + "|".join(sorted(_SHORT_SCALES, key=len, reverse=True)) + r")(?!\w)"
_QUANTITY = re.compile(
    rf"(?P<paren>\()?(?P<sign>(?<![\w.,)])(?<!\d )[\-−+](?=\d))?(?<![\w.,])(?P<figure>{FIGURE})(?![.,]\d|\d)(?P<scale> ?{_SCALE})?"
    rf"(?P<more>(?: \d{{1,3}}(?: ?{_SCALE})?(?![\w.,]\d|\d))*)(?P<minus>(?<=[.,]\d\d)-(?![\w ]*\d))?(?(paren)(?P<close>\)))"
    rf"|(?P<words>{_WORD_RUN})"
)


def parse_words(text: str) -> Decimal | None:
    """The number that Turkish words say, also when written together: `onikibinbeşyüz`, `iki buçuk milyon`."""
    folded = key(text).text.strip().replace("-", " ")
    if not folded or not re.fullmatch(rf"{_WORD}(?: ?{_WORD})*", folded):
        return None
    tokens = re.findall(_WORD, folded)
    if "".join(tokens) != folded.replace(" ", ""):
        return None
    return _value_of(tokens)


def read_number(raw: str, locale: Locale | None = None) -> tuple[Decimal, ...]:
    """Every value that the figure can mean; one if its signs or the locale decide, none if it is no number.

    `1.234,56` and `1,234.56` have one reading each, `2.750` has two unless the locale is known.
    """
    figure = key(raw).text.strip()
    negative = figure.startswith(("-", "−")) or (figure.endswith("-") and figure[-2:-1] not in (",", "."))
    if figure.startswith("(") and figure.endswith(")"):
        negative, figure = True, figure[1:-1]
    figure = re.sub(r"[.,]-$", "", figure).strip("-−+ ")
    if not re.fullmatch(r"(?:\d[\d .,']*)?[.,]?\d+", figure):
        return ()
    readings = _readings(re.sub(r"(?<=\d)[ '](?=\d{3}(?!\d))", "", figure), locale)
    return tuple(-value if negative else value for value in readings)


def find_numbers(text: str, locale: Asked | None = None) -> list[FoundNumber]:
    """Numbers in figures, in mixed form (`12 bin 500`) and in words; a lone word such as `bir` or `on` is none.

    Without a locale the document decides (`document_locale`), and what it leaves open stays ambiguous.
    """
    decided = settled(text, locale)
    return [one for one in quantities(text, decided) if not one.in_words or _is_clear(one.raw)]


def settled(text: str, locale: Asked | None) -> Locale | None:
    """The way of writing that was given, or the text's own; None keeps every reading."""
    return None if locale == "open" else locale or document_locale(text)


def document_locale(text: str) -> Locale | None:
    """How the document writes numbers: by its figures with one reading, then by currency and letters; None in doubt."""
    turkish = len(
        re.findall(
            r"(?<![\d.,])\d{1,3}(?:\.\d{3})+,\d|(?<![\d.,])\d+,\d{1,2}(?![\d.,])|%\s?\d+,\d|\d\.\d{3}\.\d{3}",
            text,
        )
    )
    english = len(
        re.findall(
            r"(?<![\d.,])\d{1,3}(?:,\d{3})+\.\d|\d,\d{3},\d{3}|[$€£]\s?\d+\.\d\d(?![\d.])|(?<![\d.,])\d+\.\d{1,2}\s?%",
            text,
        )
    )
    if turkish or english:
        return "tr" if turkish and not english else "en" if english and not turkish else None
    if (
        re.search(_TURKISH_WORDS, text.lower())
        or re.search(r"₺|\bTL\b|\bTRY\b|[Tt]ürk [Ll]iras|\b[Ll]ira", text)
        or len(re.findall(r"[ğışİĞŞ]", text)) >= 2
    ):
        return "tr"
    return None


_TURKISH_WORDS = (
    r"(?<!\w)(?:ve|ile|için|bir|olarak|tutar\w*|fatura\w*|ödeme\w*|toplam|belge\w*|türk\w*)(?!\w)"
)


def number_key(value: Decimal) -> str:
    """One text for one value: `1250000`, `1250.5`; what an index of amounts stores."""
    plain = format(value.normalize(), "f")
    return "0" if plain in ("-0", "0") else plain


def search_keys(text: str) -> frozenset[str]:
    """The keys under which the numbers of a text or of a query are found, with every reading of a figure."""
    keys: set[str] = set()
    for one in quantities(text, None):
        keys.update((one.canonical, *one.alternatives))
    return frozenset(keys - {""})


def quantities(text: str, locale: Locale | None) -> Iterator[FoundNumber]:
    """Every number of a text, in order; also lone number words, which only a unit beside them makes a number."""
    folded = key(text, collapse=False)
    waiting: FoundNumber | None = None  # a figure with a scale, which words may go on: 1 milyon iki yüz bin
    scale = 0
    for match in _QUANTITY.finditer(folded.text):
        if match["words"]:
            value = parse_words(match["words"])
            readings: tuple[Decimal, ...] = () if value is None else (value,)
            span = folded.span(*match.span("words"))
        else:
            readings = _mixed(match, locale)
            first = match.start("sign") if match["sign"] else match.start("figure")
            last = match.end("minus") if match["minus"] else match.end("more")
            span = folded.span(match.start(), match.end()) if match["close"] else folded.span(first, last)
        if not readings:
            continue
        if (
            waiting
            and waiting.value
            and match["words"]
            and readings[0] < scale
            and text[waiting.end : span[0]] == " "
        ):
            span, readings = (waiting.start, span[1]), (waiting.value + readings[0],)
            yield _made(text, span, readings, False)
            waiting = None
            continue
        if waiting:
            yield waiting
        found = _made(text, span, readings, bool(match["words"]))
        scale = _SHORT_SCALES[match["scale"].strip()] if match["scale"] and not match["more"] else 0
        waiting = found if scale else None
        if not scale:
            yield found
    if waiting:
        yield waiting


def _made(text: str, span: tuple[int, int], readings: tuple[Decimal, ...], in_words: bool) -> FoundNumber:
    keys = tuple(number_key(reading) for reading in readings)
    several = len(keys) > 1
    value = None if several else readings[0]
    return FoundNumber(*span, text[slice(*span)], keys[0], value, several, keys if several else (), in_words)


def _mixed(match: re.Match[str], locale: Locale | None) -> tuple[Decimal, ...]:
    """`2,5 milyon`, `12 bin 500`: each part is smaller than the scale before it."""
    scale = _SHORT_SCALES[match["scale"].strip()] if match["scale"] else 1
    negative = bool(match["close"] or match["minus"] or (match["sign"] and "+" not in match["sign"]))
    readings = read_number(match["figure"], locale)
    if match["close"] and match["scale"] is None and not re.search(r"[.,]\d", match["figure"]):
        negative = False  # "(3)" is a footnote more often than a debt
    total = [reading * scale for reading in readings]
    if match["scale"] and len(total) > 1:  # "2.750 milyon" is never two thousand millions
        total = [min(total)]
    for part in re.finditer(rf"(\d{{1,3}})(?: ?({_SCALE}))?", match["more"]):
        step = int(part[1]) * (_SHORT_SCALES[part[2]] if part[2] else 1)
        if not match["scale"] or step >= scale:
            return ()
        total = [value + step for value in total]
    return tuple(-value if negative else value for value in total)


def _readings(figure: str, locale: Locale | None) -> tuple[Decimal, ...]:
    dots, commas = figure.count("."), figure.count(",")
    if dots and commas:
        decimal = "," if figure.rfind(",") > figure.rfind(".") else "."
        group = "." if decimal == "," else ","
        whole, fraction = figure.rsplit(decimal, 1)
        if decimal in whole or not re.fullmatch(rf"\d{{1,3}}(?:\{group}\d{{3}})+", whole):
            return ()
        return (Decimal(f"{whole.replace(group, '')}.{fraction}"),)
    sign = "." if dots else ","
    if not dots and not commas:
        return (Decimal(figure),)
    if figure.count(sign) > 1:
        grouped = re.fullmatch(rf"\d{{1,3}}(?:\{sign}\d{{3}})+", figure)
        return (Decimal(figure.replace(sign, "")),) if grouped else ()
    whole, fraction = figure.split(sign)
    as_decimal = Decimal(f"{whole or '0'}.{fraction}")
    if len(fraction) != 3 or not 1 <= len(whole) <= 3 or whole.startswith("0"):
        return (as_decimal,)
    as_group = Decimal(whole + fraction)
    if locale is None:
        return (as_group, as_decimal)
    return (as_group,) if (locale == "tr") == (sign == ".") else (as_decimal,)


def _value_of(words: list[str]) -> Decimal | None:
    """Sum of the words, refused where they do not follow one another: `yirmi iki`, never `iki yirmi`."""
    total = Decimal(0)
    part = Decimal(0)
    lowest, last_scale, empty = 1000, 10**15, True
    for word in words:
        if word in _HALVES:
            if part != int(part) or (word != "bucuk" and not empty):
                return None
            part += _HALVES[word]
            lowest = 0
        elif word in _SCALES:
            scale = _SCALES[word]
            if scale >= last_scale or (empty and word != "bin"):
                return None
            total += (part if not empty else 1) * scale
            part, lowest, last_scale, empty = Decimal(0), 1000, scale, True
            continue
        elif word == "yuz":
            if lowest <= 100 and not (0 < part < 10 and lowest == 1):
                return None
            part = (part or Decimal(1)) * 100
            lowest = 100
        else:
            size = 10 if word in _TENS else 1
            if lowest <= size or (word == "sifir" and len(words) > 1):
                return None
            part += _WORDS[word]
            lowest = size
        empty = False
    return total + part


def _is_clear(raw: str) -> bool:
    """Whether words are a number without a unit beside them: `on`, `yüz`, `altı` alone mean other things too."""
    return len(re.findall(_WORD, key(raw).text)) > 1
