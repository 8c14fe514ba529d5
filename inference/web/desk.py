"""How a decision that waits is put before a person: reasons in words, answers the task knows, and the value a choice makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from inference.approval import KIND
from inference.models import Decision
from inference.registry import TaskSpec, find
from inference.web.retelling import told
from inference.web.words import DECIDED_BY, FINDINGS, ROUTE_REASONS, RULE_HITS, sentence_case, word
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.registry import Desk, register_desk

Questions = Callable[[Sequence[UUID]], dict[UUID, str]]

_questions: dict[str, Questions] = {}


def register() -> None:
    """Make the desk known."""
    register_desk(
        KIND,
        Desk(
            reason=reason_words,
            told=told,
            answers=answers,
            change=change,
            questions=questions,
            approvable=has_proposal,
            background=background,
        ),
    )


def describe(task: str, say: Questions) -> None:
    """Let a product say what its task asks, in the reader's words: decision ids in, sentences out."""
    _questions[task] = say


def questions(requests: Sequence[ApprovalRequest]) -> dict[UUID, str]:
    """What each request asks, one call for each task."""
    said: dict[UUID, str] = {}
    for task, say in _questions.items():
        asked = {UUID(r.subject_id): r.id for r in requests if r.parameters.get("task") == task}
        said |= {asked[decision]: text for decision, text in say(list(asked)).items()} if asked else {}
    return said


def asked(decisions: Sequence[Decision]) -> dict[UUID, str]:
    """What decisions were about, one call for each task; one whose task or subject is gone is left out."""
    said: dict[UUID, str] = {}
    for task, say in _questions.items():
        ids = [row.id for row in decisions if row.task == task]
        said |= say(ids) if ids else {}
    return said


def reason_words(code: str) -> str:
    """A finding, a reason of the route or a flag as a sentence; an unknown code is shown as it is."""
    known = {**RULE_HITS, **ROUTE_REASONS, **FINDINGS}
    if code not in known:
        return code
    said = word(known, code)
    return f"{sentence_case(said).removesuffix('.')}."


def answers(request: ApprovalRequest) -> list[str]:
    """The verdicts of the task's schema; none for a task without verdicts."""
    spec = _spec(request)
    name = spec.evidence_rule.verdict if spec.evidence_rule else ""
    return [str(code) for code in spec.output_schema["properties"].get(name, {}).get("enum", [])]


def change(request: ApprovalRequest, answer: str, passages: list[str], reason: str) -> dict[str, Any]:
    """A person's answer: their verdict with the passages they chose, never those of the machine behind their back."""
    spec = _spec(request)
    rule = spec.evidence_rule
    known = spec.output_schema["properties"]
    value: dict[str, Any] = {rule.verdict if rule else "answer": answer}
    if "pieces" in known:
        value["pieces"] = [] if rule and answer in rule.without else passages
    if "counter_pieces" in known:
        value["counter_pieces"] = []
    if "reasoning" in known:
        value["reasoning"] = reason.strip()[: known["reasoning"].get("maxLength", 160)]
    return value


def has_proposal(request: ApprovalRequest) -> bool:
    """Whether there is an answer to agree to."""
    return request.parameters.get("value") is not None


def background(request: ApprovalRequest) -> list[tuple[str, str]]:
    """Who made the proposal, on which way, at which risk, and what it cost."""
    row = Decision.objects.filter(pk=request.subject_id).first()
    if row is None:
        return []
    asked = (
        row.attempts.exclude(model="")
        .order_by("-id")
        .values_list("engine", "model", "model_revision")
        .first()
    )
    cost = _("unknown")
    if row.cost_amount is not None:
        cost = f"{number_format(row.cost_amount.normalize(), use_l10n=True)} {row.cost_currency}"
    return [
        (_("Made by"), " · ".join(filter(None, asked)) if asked else word(DECIDED_BY, "rule") if row.tier == "rules"
         else _("no model was asked")),
        (_("Route"), word(ROUTE_REASONS, row.route_reason)),
        (_("Risk"), row.risk or "–"),
        (_("Cost"), cost),
    ]  # fmt: skip


def _spec(request: ApprovalRequest) -> TaskSpec:
    return find(request.parameters["task"], request.parameters["task_version"])
