"""The truth record of one CV: expected verdicts with their sentences, months, parse quality, hidden text, flags."""

from __future__ import annotations

from typing import Any

from samples import timeline
from samples.content import CV
from samples.rubrics import JOBS, CriterionData
from samples.shown import Rendered, Shown


def record(cv: CV, file_name: str, rendered: Rendered, as_of: timeline.Month) -> dict[str, Any]:
    """Everything a test or a report needs to judge what the product made of this file.

    `state` of a criterion says what the product must do: `verified` (the verdict stands), `conflict` or
    `unsure` (a person is asked, whatever verdict is proposed), `behind_scan` (the page was not readable, so
    nothing is stated yet; `verdict_when_read` holds after OCR).
    """
    fewest, most = timeline.months_of(list(cv.spans), as_of)
    return {
        "file": file_name,
        "media_type": rendered.media_type,
        "size": len(rendered.body),
        "job": cv.plan.job,
        "language": cv.plan.language,
        "layout": cv.plan.layout,
        "traps": list(cv.plan.traps),
        "person": {
            "name": cv.person.name,
            "email": cv.person.email,
            "phone": cv.person.phone,
            "phone_e164": cv.person.phone_e164,
        },
        "pages": rendered.pages,
        "quality": quality(cv),
        "page_quality": _page_quality(cv, rendered),
        "experience_months": {"min": fewest, "max": most},
        "intervals": [span.as_text() | {"valid": not span.reversed} for span in cv.spans],
        "criteria": {
            criterion.key: _criterion(cv, criterion, rendered, (fewest, most))
            for criterion in JOBS[cv.plan.job].criteria
        },
        "hidden": [{"text": h.text, "page": h.page, "how": h.how} for h in rendered.hidden],
        "protected": list(cv.protected),
        "flags": flags(cv, (fewest, most)),
        "reading_order": [part for shown in rendered.shown if not shown.scanned for part in shown.parts],
    }


def quality(cv: CV) -> str:
    """The parse quality the recruiter must see for the whole file; a readable part keeps a file usable."""
    if cv.plan.layout == "pdf-scan":
        return "needs_ocr"
    if cv.hidden:
        return "hidden_text"
    return "low" if cv.plan.layout in ("docx-boxes", "pdf-mixed") else "ok"


def flags(cv: CV, months: tuple[int, int]) -> list[str]:
    """What a reviewer must be told about this CV."""
    found = []
    if cv.hidden:
        found.append("hidden_text")
    if "injection" in cv.plan.traps:
        found.append("injection_suspected")
    if any(span.reversed for span in cv.spans):
        found.append("date_conflict")
    if "claim" in cv.plan.traps:
        found.append("claim_conflict")
    if "language_conflict" in cv.plan.traps:
        found.append("language_conflict")
    if months[0] < _minimum(cv) <= months[1]:
        found.append("months_unsure")
    if cv.plan.layout in ("pdf-scan", "pdf-mixed"):
        found.append("needs_ocr")
    return found


def _minimum(cv: CV) -> int:
    rule = JOBS[cv.plan.job].criterion("experience").rule or {}
    return int(rule["min"])


def _page_quality(cv: CV, rendered: Rendered) -> list[str]:
    scanned = {shown.page for shown in rendered.shown if shown.scanned}
    written = "low" if cv.plan.layout == "docx-boxes" else "ok"
    return ["needs_ocr" if page in scanned else written for page in range(1, rendered.pages + 1)]


def _criterion(
    cv: CV, criterion: CriterionData, rendered: Rendered, months: tuple[int, int]
) -> dict[str, Any]:
    shown = [item for item in rendered.shown if criterion.key in item.line.supports]
    verdict, state = _verdict(cv, criterion.key, months)
    answer: dict[str, Any] = {"verdict": verdict, "state": state}
    if shown and all(item.scanned for item in shown):
        answer = {"verdict": "not_stated", "state": "behind_scan", "verdict_when_read": verdict}
    elif cv.plan.layout in ("pdf-scan", "pdf-mixed") and not shown:
        answer["state"] = "behind_scan"
        answer["verdict_when_read"] = verdict
    return answer | {"evidence": [_evidence(item) for item in shown]}


def _verdict(cv: CV, key: str, months: tuple[int, int]) -> tuple[str, str]:
    if key != "experience":
        verdict = cv.plan.verdicts.get(key, "not_stated")
        conflict = key == "english" and "language_conflict" in cv.plan.traps
        return verdict, "conflict" if conflict else "verified"
    minimum = _minimum(cv)
    if months[0] < minimum <= months[1]:
        return "partly", "unsure"
    verdict = "met" if months[0] >= minimum else "not_met"
    conflict = "claim" in cv.plan.traps or any(span.reversed for span in cv.spans)
    return verdict, "conflict" if conflict else "verified"


def _evidence(item: Shown) -> dict[str, Any]:
    """`text` is the sentence as written; `lines` are its exact pieces in the visible text, broken by the page."""
    return {"text": item.line.text, "lines": list(item.parts), "page": item.page, "scanned": item.scanned}
