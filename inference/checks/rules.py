"""The rules of a task: no evidence, no verdict; then its own arithmetic."""

from __future__ import annotations

from inference.registry import EvidenceRule, Rule, RuleCase
from inference.types import Finding


def evidence(case: RuleCase, rule: EvidenceRule | None) -> tuple[Finding, ...]:
    """A verdict that needs evidence has a verified piece; one that must have none has none."""
    if rule is None:
        return ()
    verdict, found = case.value.get(rule.verdict), []
    pieces = case.cited.get(rule.pieces, ())
    if verdict in rule.needs and not pieces:
        found.append(
            Finding("NO_EVIDENCE", "evidence", "escalate", f"/{rule.pieces}", data={"verdict": verdict})
        )
    if verdict in rule.without and pieces:
        found.append(
            Finding(
                "EVIDENCE_WITHOUT_VERDICT",
                "evidence",
                "escalate",
                f"/{rule.pieces}",
                data={"verdict": verdict},
            )
        )
    if rule.counter and verdict in rule.counter_conflicts and case.cited.get(rule.counter):
        found.append(
            Finding("COUNTER_EVIDENCE", "evidence", "escalate", f"/{rule.counter}", data={"verdict": verdict})
        )
    return tuple(found)


def own(case: RuleCase, rules: tuple[Rule, ...]) -> tuple[Finding, ...]:
    """What the task's rules noticed."""
    return tuple(finding for rule in rules for finding in rule.check(case))
