"""Stage 5: the context package. Static part first, the document next, the question last; equal inputs give equal tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from inference.tokens import Tokenizer
from inference.types import (
    ContextPackage,
    Evidence,
    Layout,
    Prompt,
    Segment,
    digest,
    one_line,
    text_digest,
)

RENDERER = "chatml-2"
LONG = 2_000  # tokens of evidence above which the middle is read less well than the ends


@dataclass(frozen=True, slots=True)
class Control:
    """A control token of the template, between texts."""

    name: str


Part = str | Control
START, END = Control("<|im_start|>"), Control("<|im_end|>")


def build_context(
    prompt: Prompt,
    evidence: tuple[Evidence, ...],
    tokenizer: Tokenizer,
    *,
    tokenizer_id: str,
    template: str,
    context_length: int,
    max_in: int,
    max_out: int,
    order: Literal["document", "edges"] = "document",
    scores: Mapping[str, float] | None = None,
) -> ContextPackage:
    """The package for one question. Nothing is ever cut: when it does not fit, `too_large` says so.

    `order` is what the task allows: "document" where several questions share the text, "edges" where each has its own;
    `scores` tell how well each piece fits. Each segment is tokenised alone and as data, so that a control token in a CV stays literal text and a merge over a
    boundary cannot change the shared prefix.
    """
    cut = _cutter(tokenizer)
    static = [cut("system", True, [START, "system\n"])]
    for number, (kind, text) in enumerate(prompt.static):
        static.append(cut(kind, True, [("\n\n" if number else "") + text.strip()]))
    static.append(cut("turn", True, [END, "\n", START, "user\n"]))
    in_order = [cut("evidence", False, [f"[{p.id}] {p.line}\n"], p.id) for p in evidence]
    mode, reason = _order_mode(order, sum(s.tokens for s in in_order), scores)
    document = _edges(in_order, scores or {}) if mode == "edges" else in_order
    terms = f"\nTerms: {'; '.join(one_line(t) for t in prompt.terms)}" if prompt.terms else ""
    question = [
        cut("question", False, ["\n", prompt.question.strip(), terms, END, "\n", START, "assistant\n"])
    ]
    segments = (*static, *document, *question)
    total = sum(s.tokens for s in segments)
    limit = min(max_in, context_length - max_out)
    return ContextPackage(
        segments=segments,
        prefix_hash=digest([s.hash for s in static]),
        prefix_tokens=sum(s.tokens for s in static),
        share_hash=digest([s.hash for s in (*static, *document)]),
        share_tokens=sum(s.tokens for s in (*static, *document)),
        total_tokens=total,
        tokenizer_id=tokenizer_id,
        renderer_version=RENDERER,
        template=template,
        stop_token_ids=(tokenizer.control("<|im_end|>"),),
        too_large=total > limit,
        limit=limit,
        layout=Layout(
            mode,
            reason,
            sum(s.tokens for s in (*static, *in_order)),
            sum(s.tokens for s in static),
            _positions(segments, total),
        ),
    )


def repair_tail(tokenizer: Tokenizer, answer: str, message: str) -> tuple[int, ...]:
    """The turns that follow a rejected answer: what was said, and which codes were found, nothing of the data."""
    cut = _cutter(tokenizer)
    said = cut(
        "answer", False, [answer, END, "\n", START, "user\n", message, END, "\n", START, "assistant\n"]
    )
    return said.token_ids


def _cutter(tokenizer: Tokenizer) -> Callable[..., Segment]:
    def cut(kind: str, static: bool, parts: list[Part], evidence_id: str = "") -> Segment:
        ids: list[int] = []
        written = []
        for part in parts:
            if isinstance(part, Control):
                ids.append(tokenizer.control(part.name))
                written.append(part.name)
            elif part:
                ids.extend(tokenizer.encode(part, data=True))
                written.append(part)
        return Segment(kind, static, tuple(ids), text_digest("\x00".join(written)), evidence_id)

    return cut


def _order_mode(
    allowed: str, tokens: int, scores: Mapping[str, float] | None
) -> tuple[Literal["document", "edges"], str]:
    """Which order the evidence stands in, and why."""
    if allowed == "document":
        return "document", "shared"
    if tokens <= LONG:
        return "document", "short"
    if not scores or len(set(scores.values())) < 2:
        return "document", "no_scores"
    return "edges", "long"


def _edges(segments: list[Segment], scores: Mapping[str, float]) -> list[Segment]:
    """The best first, the second best last, the rest inward; of equals the earlier is better."""
    ranked = sorted(range(len(segments)), key=lambda at: (-scores.get(segments[at].evidence_id, 0.0), at))
    return [segments[at] for at in (*ranked[::2], *reversed(ranked[1::2]))]


def _positions(segments: tuple[Segment, ...], total: int) -> tuple[tuple[str, float], ...]:
    """Where each piece begins, from 0 (first token) to 1, in the order in which they are sent."""
    places, at = [], 0
    for segment in segments:
        if segment.evidence_id:
            places.append((segment.evidence_id, round(at / total, 4)))
        at += segment.tokens
    return tuple(places)
