"""Stage 4: lossless clean-up. It proves from the final text that nothing protected was lost, or it refuses itself."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from inference.reasons import Noted
from inference.types import Compressed, Evidence, ProtectedField, Removal

Extract = Callable[[Iterable[Evidence]], tuple[ProtectedField, ...]]
Count = Callable[[str], int]

PAGES = 3  # a running header or footer stands on at least so many pages
RUN_CHARS = (
    120  # a copied block is at least so long; shorter repeats may be meant (the same title in two jobs)
)
_BLANKS = re.compile(r"[ \t\u00a0\u2000-\u200a\u202f\u3000\n]{2,}|[\t\n]")


def compress(
    pieces: tuple[Evidence, ...],
    fields: tuple[ProtectedField, ...],
    *,
    mode: str,
    extract: Extract,
    count: Count,
) -> Compressed:
    """The pieces without running headers, copied blocks and idle blanks. Order stays; each removal has its reason.

    `fields` were extracted from `pieces`; `extract` reads them again from the result. If fields(after) and the fields
    of the removed duplicates are not together exactly fields(before), the pieces are sent as they were.
    """
    before = sum(count(p.text) for p in pieces)
    if mode == "none":
        return Compressed(
            pieces,
            (),
            "none",
            len(fields),
            len(fields),
            before,
            before,
            (Noted.COMPRESSION_OFF.say(),),
        )
    twins = _running(pieces)
    twins.update({k: v for k, v in _copied(pieces).items() if k not in twins and v[1] not in twins})
    kept, removals = [], []
    for piece in pieces:
        if piece.id in twins:
            reason, twin = twins[piece.id]
            removals.append(
                Removal(piece.id, piece.start, piece.end, "lossless", reason, count(piece.text), twin)
            )
            continue
        tidy = _tidy(piece.text, [f for f in fields if f.evidence_id == piece.id])
        if tidy != piece.text:
            saved = count(piece.text) - count(tidy)
            removals.append(Removal(piece.id, piece.start, piece.end, "lossless", "WHITESPACE", saved))
        kept.append(replace(piece, text=tidy))
    after = extract(kept)
    removed = {r.evidence_id for r in removals if r.kept}
    broken = _broken(fields, after, removed, {p.id: p.text for p in pieces}, removals)
    if broken:
        return Compressed(
            pieces,
            (),
            "refused",
            len(fields),
            len(fields),
            before,
            before,
            (Noted.COMPRESSION_REFUSED.say(), broken),
        )
    now = sum(count(p.text) for p in kept)
    state = "applied" if removals else "none"
    reasons = () if removals else (Noted.NOTHING_TO_REMOVE.say(),)
    return Compressed(tuple(kept), tuple(removals), state, len(fields), len(after), before, now, reasons)  # type: ignore[arg-type]


def _running(pieces: tuple[Evidence, ...]) -> dict[str, tuple[str, str]]:
    """Lines that stand first or last on three pages or more: the first stays."""
    edges: dict[str, list[Evidence]] = defaultdict(list)
    pages: dict[int, list[Evidence]] = defaultdict(list)
    for piece in pieces:
        if piece.page is not None:
            pages[piece.page].append(piece)
    for page in pages.values():
        for piece in {p.id: p for p in (*page[:2], *page[-2:])}.values():
            edges[" ".join(piece.text.split())].append(piece)
    twins = {}
    for same in edges.values():
        if len({p.page for p in same}) >= PAGES:
            twins.update({p.id: ("BOILERPLATE", same[0].id) for p in same[1:]})
    return twins


def _copied(pieces: tuple[Evidence, ...]) -> dict[str, tuple[str, str]]:
    """Blocks of consecutive pieces that repeat an earlier block word for word."""
    texts = [" ".join(p.text.split()) for p in pieces]
    places: dict[str, list[int]] = defaultdict(list)
    twins: dict[str, tuple[str, str]] = {}
    here = 0
    while here < len(texts):
        length = 0
        origin = -1
        for start in places[texts[here]]:
            run = 0
            while here + run < len(texts) and start + run < here and texts[start + run] == texts[here + run]:
                run += 1
            if run > length:
                length, origin = run, start
        if length and sum(len(t) for t in texts[here : here + length]) >= RUN_CHARS:
            for step in range(length):
                twins[pieces[here + step].id] = ("DUP_SPAN", pieces[origin + step].id)
                # a copy is no origin for a later copy
            here += length
            continue
        places[texts[here]].append(here)
        here += 1
    return twins


def _tidy(text: str, fields: list[ProtectedField]) -> str:
    def blank(match: re.Match[str]) -> str:
        inside = any(f.start < match.end() and match.start() < f.end for f in fields)
        return match.group() if inside else " "

    return _BLANKS.sub(blank, text).strip()


def _broken(
    before: tuple[ProtectedField, ...],
    after: tuple[ProtectedField, ...],
    removed: set[str],
    texts: dict[str, str],
    removals: list[Removal],
) -> str:
    """Which promise does not hold, or nothing."""
    with_twins = Counter((f.kind, f.raw) for f in after) + Counter(
        (f.kind, f.raw) for f in before if f.evidence_id in removed
    )
    if with_twins != Counter((f.kind, f.raw) for f in before):
        return Noted.FIELDS_DIFFER.say()
    for removal in removals:
        if removal.kept and " ".join(texts[removal.kept].split()) != " ".join(
            texts[removal.evidence_id].split()
        ):
            return Noted.NO_COPY.say(piece=removal.evidence_id, kept=removal.kept)
        if removal.kept in removed:
            return Noted.TWIN_GONE.say(piece=removal.evidence_id, kept=removal.kept)
    return ""
