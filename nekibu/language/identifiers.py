"""Identity numbers, accounts, phones and addresses in a text: found by shape and cue word, proved by check digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import phonenumbers
from stdnum import iban, luhn
from stdnum.tr import tckimlik, vkn

from nekibu.language.turkish import key

Kind = Literal["email", "url", "iban", "card", "tckn", "phone", "vkn", "plate"]


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier with its place. Not `valid` means: it stands after its cue word but fails its check."""

    kind: Kind
    start: int
    end: int
    raw: str
    canonical: str
    valid: bool = True
    ambiguous: bool = False
    alternatives: tuple[str, ...] = ()


def find_identifiers(text: str) -> list[Identifier]:
    """Every identifier in text order, none overlapping: where two kinds fit, the better proved one stands."""
    folded = key(text, collapse=False)
    cues = _Cues(folded.text, [(start, end) for start, end in zip(folded.starts, folded.ends, strict=True)])
    plain = text.translate(_PLAIN)
    found: list[Identifier] = []
    taken = bytearray(len(text))
    for finder in (_emails, _urls, _ibans, _cards, _national_ids, _phones, _tax_ids, _plates):
        for one in finder(plain, cues):
            if not any(taken[one.start : one.end]):
                found.append(replace(one, raw=text[one.start : one.end]))
                taken[one.start : one.end] = b"\x01" * (one.end - one.start)
    return sorted(found, key=lambda one: one.start)


def find_phones(text: str) -> list[Identifier]:
    """Every phone number with its E.164 form; years, dates and amounts are none."""
    return [one for one in find_identifiers(text) if one.kind == "phone"]


def find_emails(text: str) -> list[Identifier]:
    """Every e-mail address with its comparable form."""
    return [one for one in find_identifiers(text) if one.kind == "email"]


def phone_e164(raw: str, region: str = "TR", *, certain: bool = False) -> str | None:
    """One number for all its spellings: `0532 …`, `(0532) …` and `+90 532 …`; None if it cannot be dialled.

    `certain` also asks whether the number lies in a range that its country has given out.
    """
    try:
        number = phonenumbers.parse(raw.translate(_PLAIN), region)
    except phonenumbers.NumberParseException:
        return None
    fits = phonenumbers.is_valid_number(number) if certain else phonenumbers.is_possible_number(number)
    if not fits:
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def email_key(address: str) -> str:
    """The comparable form of an address. Addresses are never lowered the Turkish way: `IRMAK@…` is `irmak@…`."""
    return unicodedata.normalize("NFKC", address).strip().replace("İ", "i").lower().replace("ı", "i")


def reference_keys(text: str) -> frozenset[str]:
    """Keys under which a reference number is found: whole, without blanks, and each part after a slash.

    `2026/118-A` is found by `118-A`, `TR12 3456` by `TR123456`. Codes are upper-cased by ASCII rules.
    """
    keys: set[str] = set()
    codes = _CODE.findall(unicodedata.normalize("NFKC", text).replace("ı", "i").replace("İ", "I").upper())
    for at, code in enumerate(codes):
        if not any(sign.isdigit() for sign in code):
            continue
        parts = code.split("/")
        keys.update("/".join(parts[first:]) for first in range(len(parts)) if re.search(r"\d", parts[first]))
        joined = code
        for following in codes[at + 1 : at + 8]:
            if not re.fullmatch(r"[A-Z]{0,2}\d+[A-Z]?", following):
                break
            joined += following
            if re.match(r"[A-Z]", code):
                keys.add(joined)
    return frozenset(keys)


_CODE = re.compile(r"[A-Z0-9](?:[A-Z0-9]|[/.\-](?=[A-Z0-9]))*")


class _Cues:
    """Looks whether a cue word stands shortly before a place of the original text."""

    def __init__(self, folded: str, places: list[tuple[int, int]]) -> None:
        self._folded = folded
        self._index = {start: at for at, (start, _) in reversed(list(enumerate(places)))}

    def before(self, start: int, pattern: re.Pattern[str], reach: int = 40) -> bool:
        at = self._index.get(start)
        if at is None:
            return False
        before = self._folded[max(0, at - reach) : at]
        return bool(pattern.search(before[before.rfind("\n") + 1 :] if before.strip() else before))


# One character for one, so that places stay: typographic blanks and dashes, full-width and other digits.
_PLAIN = {
    **dict.fromkeys(map(ord, "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"), " "),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹣－⁃"), "-"),
    **{0xFF10 + digit: str(digit) for digit in range(10)},
    0xFF0B: "+",
    0xFF20: "@",
}  # fmt: skip
_CUE_GAP = r"[^\d\n]{0,14}$"
_TCKN_CUE = re.compile(
    r"(?:\btckn|\bt\.? ?c\.? ?(?:kimlik|no|nr)\w*|\bkimlik (?:no|num)\w*|national id\w*)" + _CUE_GAP
)
_VKN_CUE = re.compile(
    r"(?:\bvkn|\bv\.k\.n|\bvergi (?:kimlik )?(?:no|num)\w*|\bv\.? ?d\.? ?(?:no)?|\btax (?:id|no|num)\w*)"
    + _CUE_GAP
)
_IBAN_CUE = re.compile(r"\biban\b[^\n]{0,6}$")
_CARD_CUE = re.compile(r"(?:\bkart\w*|\bcard\w*)" + _CUE_GAP)
_PLATE_CUE = re.compile(r"(?:\bplaka\w*|\bplate\w*)[^\n]{0,6}$")
_PHONE_CUE = re.compile(
    r"(?:\btel\w*|\bgsm|\bcep\w*|\bphone|\bmobil\w*|\bcell\w*|\bwhatsapp|\bfa(?:x|ks)|\biletisim\w*|[☎📞📱])[^\d\n]{0,12}$"
)

_EMAIL = re.compile(
    r"(?<![\w.%+\-])[\w.%+\-]{1,64}(?:@|[ ]?[(\[]at[)\]][ ]?)[\w\-]+(?:(?:\.|[ ]?[(\[]dot[)\]][ ]?)[\w\-]+)+",
    re.IGNORECASE,
)
_URL = re.compile(
    r"(?:https?://|www\.)[^\s<>|)\]]+|(?<![\w@.\-])(?:[\w\-]{1,20}\.){0,3}(?:linkedin|github|gitlab|twitter|x|facebook|instagram|"
    r"medium|behance|stackoverflow|kaggle)\.com/[^\s<>|)\],;]+",
    re.IGNORECASE,
)
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[ ]?\d{2}(?:[ \u00a0\-]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])")
_LONG_DIGITS = re.compile(r"(?<![\w.,/\-+])\d(?:[ \-]?\d){12,18}(?![\w/]|[.,\-]\d)")
_ELEVEN = re.compile(r"(?<![\w.,/\-+])[1-9](?:[ ]?\d){10}(?![\w/]|[.,\-]\d)")
_TEN = re.compile(r"(?<![\w.,/\-+])\d{3}[ ]?\d{3}[ ]?\d{2}[ ]?\d{2}(?![\w/]|[.,\-]\d)")
_PLATE = re.compile(
    r"(?<![\w.,/\-])(?:0[1-9]|[1-7]\d|8[01])(?P<gap>[ ]?)(?P<letters>[A-PR-VYZ]{1,3})(?P=gap)(?P<digits>\d{2,5})(?![\w/]|[.,]\d)"
)
_NOT_PLATE = frozenset("GB MB TB KB KG KM CM MM TL KW KVA LT GR ML HZ MHZ GHZ JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC OCA NIS HAZ TEM AGU EYL EKI KAS ARA NO SK CD AD VE".split())  # noqa: SIM905  # fmt: skip
_TR_PHONE = re.compile(
    r"(?<![\d+./\-])(?P<prefix>(?:\+|00)[ ]?90[ \-.]?|)(?P<zero>\(?0[ \-.]?)?(?P<open>\(?)(?:[2-5]|8(?=[0125]))\d{2}\)?[ \-./]{0,2}"
    r"\d{3}[ \-.]{0,2}\d{2}[ \-.]{0,2}\d{2}(?![\w/]|[.\-]\d)(?! ?(?:TL|TRY|USD|EUR|[₺$€£])(?!\w))"
)
_FOREIGN_BEFORE = re.compile(r"\+[ ]?(?!90)\d{1,3}[ \-.]*$")
_WORLD_PHONE = re.compile(r"(?<![\w+])(?:\+|00(?=[1-9]))[ ]?\d[\d ().\-/]{6,22}\d(?!\w)")
_CUED_PHONE = re.compile(r"(?<![\w+.,])[(]?\d[\d ()\-.]{5,16}\d(?!\w)")


def _made(kind: Kind, text: str, span: tuple[int, int], canonical: str, *, valid: bool = True) -> Identifier:
    return Identifier(kind, *span, text[slice(*span)], canonical, valid)


def _emails(text: str, cues: _Cues) -> Iterator[Identifier]:
    for match in _EMAIL.finditer(text):
        plain = re.sub(r"\s?[(\[]at[)\]]\s?", "@", match.group(), flags=re.IGNORECASE)
        plain = re.sub(r"\s?[(\[]dot[)\]]\s?", ".", plain, flags=re.IGNORECASE)
        yield _made("email", text, match.span(), email_key(plain))


def _urls(text: str, cues: _Cues) -> Iterator[Identifier]:
    for match in _URL.finditer(text):
        end = match.start() + len(match.group().rstrip(".,;:!?'\""))
        yield _made("url", text, (match.start(), end), text[match.start() : end])


def _ibans(text: str, cues: _Cues) -> Iterator[Identifier]:
    for match in _IBAN.finditer(text):
        whole = match.group()
        cuts = [
            place for place in range(len(whole), 14, -1) if place == len(whole) or whole[place] in " \u00a0-"
        ]
        for cut in cuts:
            compact = _bare(whole[:cut])
            if iban.is_valid(compact):
                yield _made("iban", text, (match.start(), match.start() + cut), compact)
                break
        else:
            turkish = whole[:2].upper() == "TR" and len(_bare(whole)) >= 24
            if (turkish and whole[2:4].strip().isdigit()) or cues.before(match.start(), _IBAN_CUE):
                yield _made("iban", text, match.span(), _bare(whole), valid=False)


def _cards(text: str, cues: _Cues) -> Iterator[Identifier]:
    for match in _LONG_DIGITS.finditer(text):
        digits = _digits(match.group())
        if digits[0] in "3456" and luhn.is_valid(digits):
            yield _made("card", text, match.span(), digits)
        elif cues.before(match.start(), _CARD_CUE):
            yield _made("card", text, match.span(), digits, valid=False)


def _national_ids(text: str, cues: _Cues) -> Iterator[Identifier]:
    for match in _ELEVEN.finditer(text):
        digits, cued = _digits(match.group()), cues.before(match.start(), _TCKN_CUE)
        if (cued or " " not in match.group()) and tckimlik.is_valid(digits):
            yield _made("tckn", text, match.span(), digits)
        elif cued:
            yield _made("tckn", text, match.span(), digits, valid=False)


def _tax_ids(text: str, cues: _Cues) -> Iterator[Identifier]:
    for match in _TEN.finditer(text):
        if cues.before(match.start(), _VKN_CUE):
            digits = _digits(match.group())
            yield _made("vkn", text, match.span(), digits, valid=vkn.is_valid(digits))


def _phones(text: str, cues: _Cues) -> Iterator[Identifier]:
    for match in _TR_PHONE.finditer(text):
        bare = not match["prefix"] and not match["zero"]
        if bare and text[match.start() - 1 : match.start()].isalnum():
            continue  # a label may be glued to a whole number (`Telefon0532…`), never to a bare one
        grouped = bool(re.fullmatch(r"\(?5\d{2}\)?[ \-.]\d{3}[ \-.]\d{2}[ \-.]\d{2}", match.group()))
        if bare and not match["open"] and not grouped and not cues.before(match.start(), _PHONE_CUE):
            continue
        if bare and (cues.before(match.start(), _VKN_CUE) or _FOREIGN_BEFORE.search(text[: match.start()])):
            continue
        digits = _digits(match.group())
        yield _made("phone", text, match.span(), f"+90{digits[-10:]}")
    for match in _WORLD_PHONE.finditer(text):
        whole = match.group()
        for cut in [len(whole), *(place for place in range(len(whole) - 1, 7, -1) if whole[place] in " /(")]:
            number = phone_e164(re.sub(r"^00", "+", whole[:cut]))
            if number:
                yield _made(
                    "phone", text, (match.start(), match.start() + len(whole[:cut].rstrip(" (/.-"))), number
                )
                break
    for match in _CUED_PHONE.finditer(text):
        if len(_digits(match.group())) >= 7 and cues.before(match.start(), _PHONE_CUE):
            number = phone_e164(match.group(), certain=True)
            yield _made(
                "phone", text, match.span(), number or _digits(match.group()), valid=number is not None
            )


def _plates(text: str, cues: _Cues) -> Iterator[Identifier]:
    lengths = {1: (4, 5), 2: (3, 4), 3: (2, 3)}
    for match in _PLATE.finditer(text):
        letters, digits = match["letters"], match["digits"]
        cued = cues.before(match.start(), _PLATE_CUE)
        usual = len(digits) in lengths[len(letters)] and match["gap"] and len(letters) > 1
        if cued or (usual and letters not in _NOT_PLATE):
            yield _made("plate", text, match.span(), match.group().replace(" ", ""))


def _bare(raw: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "", raw).upper()


def _digits(raw: str) -> str:
    return re.sub(r"\D", "", raw)
