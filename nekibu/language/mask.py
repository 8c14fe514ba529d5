"""Personal data hidden from the model: same length, same offsets, a typed placeholder, reversible for those who may."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nekibu.language.identifiers import find_identifiers
from nekibu.language.protected_attributes import find_attributes
from nekibu.language.sections import find_sections, section_at
from nekibu.language.turkish import fold, key

PAD = "*"  # runs of it are few tokens


@dataclass(frozen=True, slots=True)
class Mask:
    """One hidden stretch; kind says exactly what it was, the placeholder only as much as a model may know."""

    start: int
    end: int
    kind: str
    placeholder: str


@dataclass(frozen=True, slots=True)
class Masked:
    """A text of the same length as the original, equal to it outside the masks."""

    text: str
    spans: tuple[Mask, ...]

    def touches(self, start: int, end: int) -> bool:
        """Whether a stretch reaches into a mask: a quotation there is void."""
        return any(span.start < end and start < span.end for span in self.spans)


@dataclass(frozen=True, slots=True)
class Tokenised:
    """A text with numbered tokens for personal values: the same value has the same token."""

    text: str
    values: Mapping[str, str]
    occurrences: tuple[tuple[str, str], ...]

    def restore(self) -> str:
        """The original, byte for byte, also where one value was spelled in several ways."""
        parts: list[str] = []
        at = 0
        for token, raw in self.occurrences:
            place = self.text.index(token, at)
            parts += [self.text[at:place], raw]
            at = place + len(token)
        return "".join(parts) + self.text[at:]

    def fill(self, answer: str) -> str:
        """Another text, such as a model's answer, with the values in place of their tokens."""
        return re.sub(r"\[[A-Z]+_\d+\]", lambda match: self.values.get(match.group(), match.group()), answer)


@dataclass(frozen=True, slots=True)
class _Find:
    start: int
    end: int
    kind: str
    canonical: str


# What a model may see of a kind. Everything that would itself give away a protected attribute is only PERSONAL.
_LABELS = {
    "name": "NAME", "email": "EMAIL", "phone": "PHONE", "tckn": "TCKN", "vkn": "VKN", "iban": "IBAN", "card": "CARD",
    "plate": "PLATE", "url": "LINK", "address": "ADDRESS", "graduation_year": "YEAR", "birth": "BIRTH",
}  # fmt: skip


def mask(
    text: str, names: Iterable[str] = (), *, attributes: bool = True, graduation_years: bool = True
) -> Masked:
    """The text with personal data hidden at unchanged offsets.

    `names` are masked in every spelling; without them only names that stand after their label are. With
    `attributes` the protected ones of a CV (birth, sex, family, service, nationality, belief, health, address)
    go too, and with `graduation_years` the years of study, which tell the age.
    """
    found = _personal(text, tuple(names), attributes, graduation_years and attributes)
    parts: list[str] = []
    spans: list[Mask] = []
    at = 0
    for one in found:
        hidden = _placeholder(text[one.start : one.end], _LABELS.get(one.kind, "PERSONAL"))
        spans.append(Mask(one.start, one.end, one.kind, hidden))
        parts += [text[at : one.start], hidden]
        at = one.end
    return Masked("".join(parts) + text[at:], tuple(spans))


def unmask(masked: Masked, original: str) -> str:
    """The original stretches put back into a masked text, from the stored text at the same offsets."""
    parts: list[str] = []
    at = 0
    for span in masked.spans:
        parts += [masked.text[at : span.start], original[span.start : span.end]]
        at = span.end
    return "".join(parts) + masked.text[at:]


def tokenise(text: str, names: Iterable[str] = (), *, attributes: bool = False) -> Tokenised:
    """Personal values replaced by numbered tokens such as `[PHONE_1]`; two spellings of one value share a token."""
    tokens: dict[tuple[str, str], str] = {}
    counts: dict[str, int] = {}
    values: dict[str, str] = {}
    occurrences: list[tuple[str, str]] = []
    parts: list[str] = []
    at = 0
    for one in _personal(text, tuple(names), attributes, graduation_years=False):
        label = _LABELS.get(one.kind, "PERSONAL")
        raw = text[one.start : one.end]
        token = tokens.get((one.kind, one.canonical))
        if token is None:
            counts[label] = counts.get(label, 0) + 1
            while f"[{label}_{counts[label]}]" in text:  # the text itself may contain such a token
                counts[label] += 1
            token = f"[{label}_{counts[label]}]"
            tokens[one.kind, one.canonical] = token
            values[token] = raw
        occurrences.append((token, raw))
        parts += [text[at : one.start], token]
        at = one.end
    return Tokenised("".join(parts) + text[at:], values, tuple(occurrences))


def _personal(text: str, names: Sequence[str], attributes: bool, graduation_years: bool) -> list[_Find]:
    """Everything to hide, in order and without overlaps: the longer find wins, the rest of the shorter stays hidden."""
    found = [_Find(one.start, one.end, one.kind, one.canonical) for one in find_identifiers(text)]
    found += _names(text, names)
    if attributes:
        found += [
            _Find(one.start, one.end, one.kind, fold(text[one.start : one.end]))
            for one in find_attributes(text)
        ]
    if graduation_years:
        found += _graduation_years(text)
    merged: list[_Find] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if merged and one.start < merged[-1].end:
            last = merged[-1]
            if one.end > last.end:
                merged.append(_Find(last.end, one.end, one.kind, one.canonical))
            continue
        merged.append(one)
    return [one for one in merged if text[one.start : one.end].strip()]


def _names(text: str, names: Sequence[str]) -> Iterator[_Find]:
    """A given name in every spelling: whole, spaced out, in capitals, without Turkish letters, or one part of it."""
    folded = key(text)
    for name in names:
        whole = fold(name)
        parts = [part for part in re.split(r"[\s.\-]+", whole) if part]
        if not parts:
            continue
        spaced = r"[ ,.]{0,3}".join(r" {0,2}".join(re.escape(letter) for letter in part) for part in parts)
        patterns = [spaced]
        if len(parts) > 1:
            patterns.append(r"[ ,]{1,2}".join(re.escape(part) for part in [parts[-1], *parts[:-1]]))
        patterns += [re.escape(part) for part in parts if len(part) > 2]
        for pattern in patterns:
            title = r"(?:(?:mr|mrs|ms|miss|bay|bayan)\.? )?"
            for match in re.finditer(
                rf"(?<!\w){title}(?P<name>{pattern})(?: (?:bey|hanim)(?:in|a|e|i|dan|den)?)?(?!\w)",
                folded.text,
            ):
                written_start, written_end = folded.span(*match.span("name"))
                if any(letter.isupper() for letter in text[written_start:written_end]) or pattern == spaced:
                    start, end = folded.span(*match.span())
                    yield _Find(start, end, "name", match["name"].replace(" ", ""))


def _graduation_years(text: str) -> Iterator[_Find]:
    """Years under a heading for study, and years beside a word for finishing one."""
    sections = find_sections(text)
    spans = [
        match.span() for match in _YEAR.finditer(text) if section_at(sections, match.start()) == "education"
    ] + [match.span(1) for match in _GRADUATED.finditer(text)] + [match.span(1) for match in _GRADUATE_OF.finditer(text)]  # fmt: skip
    for start, end in spans:
        yield _Find(start, end, "graduation_year", text[start:end])


_YEAR = re.compile(r"(?<![\d.,])(?:\d{1,2}[./])?(?:19[5-9]\d|20\d\d)(?!\d|[.,]\d)")
_GRADUATED = re.compile(
    r"(?:[Mm][Ee][Zz][Uu][Nn]\w*|[Gg]raduat\w+)[^\n\d]{0,30}((?:\d{1,2}[./])?(?:19[5-9]\d|20\d\d))(?!\d)"
)
_GRADUATE_OF = re.compile(r"(?<!\d)((?:19[5-9]\d|20\d\d))(?:[^\w\n]{0,3}(?:yılı\w*)?\s*)[Mm][Ee][Zz][Uu][Nn]")


def _placeholder(raw: str, label: str) -> str:
    """A placeholder exactly as long as what it hides; line breaks stay where they are."""
    lines = raw.split("\n")
    return "\n".join(_filled(len(line), label) for line in lines)


def _filled(length: int, label: str) -> str:
    if length < 5:  # too short for a label that could not be misread
        return PAD * length
    return "[" + label[: length - 2].ljust(length - 2, PAD) + "]"
