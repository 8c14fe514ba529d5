"""How a decision that waits is put before a person: reasons in words, answers the task knows, and the value a choice makes."""

from __future__ import annotations

from typing import Any

from inference.approval import KIND
from inference.registry import TaskSpec, find
from inference.web.words import FINDINGS, ROUTE_REASONS, RULE_HITS, word
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.registry import Desk, register_desk


def register() -> None:
    """Make the desk known."""
    register_desk(KIND, Desk(reason=reason_words, answers=answers, change=change))


def reason_words(code: str) -> str:
    """A finding, a reason of the route or a flag, in words; an unknown code is shown as it is."""
    return word({**RULE_HITS, **ROUTE_REASONS, **FINDINGS}, code)


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


def _spec(request: ApprovalRequest) -> TaskSpec:
    return find(request.parameters["task"], request.parameters["task_version"])
