"""A small task for the tests of the path: a list of numbered lines, and a question about one term."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

from inference.registry import EvidenceRule, TaskSpec
from inference.types import Evidence, Prompt, Retrieved, Subject, TaskRequest
from nekibu.permissions.actions import Action
from nekibu.permissions.actor import Actor

TENANT = UUID("00000000-0000-7000-8000-000000000001")


class LinesAction(Action):
    LINES_ASK = "lines:term:ask"


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pieces": {"type": "array", "items": {"enum": [f"E{n}" for n in range(1, 41)]}, "maxItems": 4},
        "counter_pieces": {
            "type": "array",
            "items": {"enum": [f"E{n}" for n in range(1, 41)]},
            "maxItems": 4,
        },
        "reasoning": {"type": "string", "maxLength": 160},
        "verdict": {"enum": ["met", "partly", "not_met", "not_stated"]},
    },
    "required": ["pieces", "counter_pieces", "reasoning", "verdict"],
    "additionalProperties": False,
}
RULE = EvidenceRule(
    needs=("met", "partly", "not_met"),
    without=("not_stated",),
    counter="counter_pieces",
    counter_conflicts=("met",),
)


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def pieces(*lines: str, page: int | None = None) -> tuple[Evidence, ...]:
    """Evidence of a document whose text is the lines joined by newlines."""
    found, at = [], 0
    for number, line in enumerate(lines, start=1):
        found.append(
            Evidence("doc", "v1", at, at + len(line), line, sha(line), id=f"E{number}", page=page or 1)
        )
        at += len(line) + 1
    return tuple(found)


class Lines:
    """Documents by subject id, and the callables of a task over them."""

    def __init__(self, **documents: str) -> None:
        self.documents = documents
        self.settled: list[Any] = []
        self.flags: frozenset[str] = frozenset()
        self.opt_out = False

    def load(self, request: TaskRequest) -> Subject:
        from nekibu.errors import NotFound

        if request.subject[1] not in self.documents:
            raise NotFound
        return Subject("lines", request.subject[1], "Lines", ai_opt_out=self.opt_out, flags=self.flags)

    def retrieve(self, request: TaskRequest, subject: Subject, budget: Any) -> Retrieved:
        found, at = [], 0
        for line in self.documents[subject.id].split("\n"):
            if line.strip():
                found.append(Evidence(subject.id, "v1", at, at + len(line), line, sha(line), page=1))
            at += len(line) + 1
        return Retrieved(tuple(found), documents=((subject.id, "v1"),))

    def reread(self, piece: Evidence) -> str | None:
        text = self.documents.get(piece.document_id)
        return None if text is None else text[piece.start : piece.end]

    def prompt(self, request: TaskRequest, subject: Subject) -> Prompt:
        term = request.inputs["term"]
        return Prompt(
            static=(
                ("system", "You read numbered lines and answer in JSON."),
                ("rubric", "met: the term is named."),
            ),
            question=f"Is {term} named?",
            terms=(term,),
        )

    def on_settled(self, settlement: Any) -> None:
        self.settled.append(settlement)

    def spec(self, slug: str = "lines.term", **changes: Any) -> TaskSpec:
        values: dict[str, Any] = {
            "slug": slug,
            "version": 1,
            "product": "lines",
            "title": "Is a term named",
            "permission": LinesAction.LINES_ASK,
            "output_schema": SCHEMA,
            "input_schema": {
                "type": "object",
                "properties": {"term": {"type": "string", "maxLength": 80}},
                "required": ["term"],
                "additionalProperties": False,
            },
            "load": self.load,
            "retrieve": self.retrieve,
            "reread": self.reread,
            "prompt": self.prompt,
            "prompt_version": "lines-1",
            "on_settled": self.on_settled,
            "claim_paths": ("/pieces", "/counter_pieces"),
            "free_text_paths": ("/reasoning",),
            "evidence_rule": RULE,
            "personal_data": True,
        }
        return TaskSpec(**{**values, **changes})


def request(key: str = "k1", term: str = "Python", subject: str = "a", **changes: Any) -> TaskRequest:
    values: dict[str, Any] = {
        "actor": Actor.system(TENANT, "test"),
        "task": "lines.term",
        "subject": ("lines", subject),
        "idempotency_key": key,
        "inputs": {"term": term},
    }
    return TaskRequest(**{**values, **changes})
