"""Runs the checks in their order and says what follows from them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from inference.checks import protected, rules, schema, sources, truncation
from inference.registry import RuleCase, TaskSpec
from inference.types import CheckReport, Completion, Evidence, Finding, ProtectedField, Subject, TaskRequest

Verdict = Literal["pass", "repairable", "escalate", "fail", "truncated"]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer and all that it is checked against. `value` is set where a rule answered, else the text is parsed."""

    spec: TaskSpec
    request: TaskRequest
    subject: Subject
    evidence: tuple[Evidence, ...]
    completion: Completion
    value: Mapping[str, Any] | None = None
    package_figures: frozenset[str] = frozenset()
    figures: Callable[[tuple[ProtectedField, ...]], frozenset[str]] = lambda fields: frozenset()
    scan: Callable[[str], tuple[ProtectedField, ...]] = lambda text: ()


def run_checks(answer: Answer) -> CheckReport:
    """Truncation, schema, sources, evidence rule, protected, own rules: each is recorded whether it held."""
    began = time.perf_counter()
    ran: list[tuple[str, bool]] = []
    findings: list[Finding] = []

    def note(name: str, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        ran.append((name, not any(f.severity in {"escalate", "block"} or f.check == "schema" for f in found)))
        findings.extend(found)
        return found

    def report(verdict: Verdict, value: Mapping[str, Any] | None = None, **rest: Any) -> CheckReport:
        return CheckReport(
            verdict=verdict,
            findings=tuple(findings),
            value=value,
            citations=rest.get("citations", ()),
            claims=rest.get("claims", 0),
            supported=len(rest.get("citations", ())),
            seconds=time.perf_counter() - began,
            ran=tuple(ran),
        )

    spec, value = answer.spec, answer.value
    if value is None:
        if note("truncation", truncation.check(answer.completion)):
            return report("truncated")
        value, unparsed = schema.parse(answer.completion.text)
        if value is None:
            note("schema", unparsed)
            return report("repairable")
    if note("schema", schema.check(value, spec.output_schema)):
        return report("repairable" if answer.value is None else "fail")
    found = sources.check(value, spec.claim_paths, answer.evidence, spec.reread)
    note("sources", found.findings)
    clean, prose = protected.check(
        found.value, spec.free_text_paths, answer.package_figures, answer.figures, answer.scan
    )
    note("protected", prose)
    case = RuleCase(answer.request, answer.subject, clean, answer.evidence, found.cited)
    note("evidence", rules.evidence(case, spec.evidence_rule))
    note("rules", rules.own(case, spec.rules))
    severities = {f.severity for f in findings}
    verdict: Verdict = "fail" if "block" in severities else "escalate" if "escalate" in severities else "pass"
    return report(verdict, clean, citations=found.citations, claims=found.claims)
