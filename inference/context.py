"""Stage 5: the context package. Static part first, the document next, the question last; equal inputs give equal tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inference.tokens import Tokenizer
from inference.types import ContextPackage, Evidence, Prompt, Segment, digest, text_digest

RENDERER = "chatml-1"


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
) -> ContextPackage:
    """The package for one question. Nothing is ever cut: when it does not fit, `too_large` says so.

    Each segment is tokenised alone and as data, so that a control token in a CV stays literal text and a merge over a
    boundary cannot change the shared prefix.
    """
    cut = _cutter(tokenizer)
    static = [cut("system", True, [START, "system\n"])]
    for number, (kind, text) in enumerate(prompt.static):
        static.append(cut(kind, True, [("\n\n" if number else "") + text.strip()]))
    static.append(cut("turn", True, [END, "\n", START, "user\n"]))
    document = [cut("evidence", False, [f"[{p.id}] {_one_line(p.text)}\n"], p.id) for p in evidence]
    terms = f"\nTerms: {'; '.join(_one_line(t) for t in prompt.terms)}" if prompt.terms else ""
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


def _one_line(text: str) -> str:
    """A piece is one line: no text of a document can open a line of its own."""
    return " ".join(text.split())
