"""Letters that exist in no table: number n is always the same text, in every process."""

from __future__ import annotations

import hashlib
import random
from typing import Any

from ats.permissions import AtsAction
from inference.registry import TaskSpec, register
from inference.types import (
    Budget,
    Evidence,
    Prompt,
    RetrievalBudget,
    Retrieved,
    ServicePolicy,
    Subject,
    TaskRequest,
)
from nekibu.errors import NotFound

SLUG, VERSION = "letters.names", 1
TERMS = (
    "steel", "timber", "gypsum", "copper", "resin", "felt", "slate", "cement", "glass", "clay",
    "linen", "cork", "zinc", "lime", "quartz", "pumice", "jute", "tin", "basalt", "wool",
)  # fmt: skip
LINES = 8
IDS = [f"E{n}" for n in range(1, LINES + 1)]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pieces": {"type": "array", "items": {"enum": IDS}, "maxItems": 3},
        "verdict": {"enum": ["met", "not_stated"]},
    },
    "required": ["pieces", "verdict"],
    "additionalProperties": False,
}


def letter(number: int) -> list[str]:
    """The lines of one letter."""
    rng = random.Random(number)
    named = rng.sample(TERMS, LINES)
    return [f"Delivery {number}.{n}: {rng.randint(2, 90)} pallets of {term}." for n, term in enumerate(named)]


def register_task() -> None:
    """Make it known."""
    register(
        TaskSpec(
            slug=SLUG,
            version=VERSION,
            product="letters",
            title="Whether a letter names a term",
            permission=AtsAction.EVALUATION_START,
            input_schema={
                "type": "object",
                "properties": {"term": {"enum": list(TERMS)}},
                "required": ["term"],
                "additionalProperties": False,
            },
            output_schema=SCHEMA,
            load=_load,
            retrieve=_retrieve,
            reread=_reread,
            prompt=_prompt,
            prompt_version="letters-1",
            impact="low",
            claim_paths=("/pieces",),
            policy=ServicePolicy(budget=Budget(max_out=60)),
        )
    )


def _load(request: TaskRequest) -> Subject:
    kind, name = request.subject
    if kind != "letter" or not name.isdecimal() or int(name) >= 100_000:
        raise NotFound
    return Subject("letter", name, f"Letter {name}", language="en")


def _retrieve(request: TaskRequest, subject: Subject, budget: RetrievalBudget) -> Retrieved:
    pieces, at = [], 0
    for line in letter(int(subject.id)):
        digest = hashlib.sha256(line.encode()).hexdigest()
        pieces.append(Evidence(subject.id, "1", at, at + len(line), line, digest, page=1))
        at += len(line) + 1
    return Retrieved(tuple(pieces), documents=((subject.id, "1"),))


def _reread(piece: Evidence) -> str | None:
    return "\n".join(letter(int(piece.document_id)))[piece.start : piece.end]


def _prompt(request: TaskRequest, subject: Subject) -> Prompt:
    term = request.inputs["term"]
    return Prompt(
        static=(
            (
                "system",
                "You read numbered lines. Name the lines that name the term. Answer with one JSON object.",
            ),
            ("rubric", "met: a line names the term. not_stated: no line does, then name no line."),
        ),
        question=f"Which lines name {term}?",
        terms=(term,),
    )
