"""Stage 2: asks the task's retriever for pieces within a budget, and numbers them."""

from __future__ import annotations

import re
from dataclasses import replace

from inference.reasons import Noted
from inference.registry import TaskSpec
from inference.types import Retrieved, Subject, TaskRequest

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
_ORDERS = re.compile(
    r"(ignore|disregard|forget)\s+(all\s+|any\s+|the\s+)?(previous|prior|above|earlier)\s+(instruction|prompt|rule)"
    r"|(önceki|yukarıdaki)\s+(tüm\s+|bütün\s+)?(talimat|komut|yönerge)\w*\s+(yok\s?say|unut|dikkate\s+alma)"
    r"|<\|?im_(start|end)\|?>|^\s*(system|assistant)\s*:"
    r"|(mark|score|rate)\s+(this|the|every|all)\s+(candidate|applicant|criteri\w+)\b.{0,40}\b(met|highest|100|perfect)"
    r"|(bu|tüm)\s+(adayı|kriterleri|ölçütleri)\b.{0,40}\b(karşılanmış|en yüksek|100)",
    re.IGNORECASE | re.MULTILINE,
)


def retrieve(spec: TaskSpec, request: TaskRequest, subject: Subject) -> Retrieved:
    """The pieces, numbered E1, E2, … in document order, with what their text gives away.

    Pieces over the budget are not dropped: the caller learns `over_budget` and the router decides.
    """
    found = spec.retrieve(request, subject, spec.retrieval_budget)
    flags, reasons = set(found.flags) | set(subject.flags), list(found.reasons)
    pieces = []
    for number, piece in enumerate(found.pieces, start=1):
        noticed = list(piece.findings)
        if _ORDERS.search(piece.text):
            noticed.append("injection_suspected")
        if _INVISIBLE.search(piece.text):
            noticed.append("invisible_characters")
        pieces.append(replace(piece, id=f"E{number}", findings=tuple(dict.fromkeys(noticed))))
    suspects = [p.id for p in pieces if "injection_suspected" in p.findings]
    if suspects:
        flags.add("injection")
        reasons.append(Noted.ORDERS.say(pieces=", ".join(suspects[:5])))
    if len(pieces) > spec.retrieval_budget.pieces:
        flags.add("over_budget")
        reasons.append(Noted.OVER_BUDGET.say(count=len(pieces), allowed=spec.retrieval_budget.pieces))
    return replace(found, pieces=tuple(pieces), flags=frozenset(flags), reasons=tuple(reasons))
