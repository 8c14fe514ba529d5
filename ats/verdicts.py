"""How a decision becomes a verdict, and verdicts a finished evaluation: in the decision's own transaction."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from django.utils import timezone

from ats.evidence import rule_word, touched
from ats.models import CriterionVerdict, Evaluation
from ats.permissions import AtsTag
from ats.states import EVALUATION_MOVES, EvaluationStatus, VerdictState
from inference.types import Settlement, plain
from nekibu.audit.record import record
from nekibu.audit.transitions import move
from nekibu.permissions.actor import Actor

OPEN = (VerdictState.WAITING,)
MOST_SHOWN = 6
LONGEST_REASONING = 400
ASKING = (VerdictState.NEEDS_PERSON, VerdictState.FAILED)


def on_settled(settlement: Settlement) -> None:
    """Write the verdict that a decision came to, by rule, model or person."""
    row = (
        CriterionVerdict.objects.select_for_update()
        .select_related("evaluation")
        .get(pk=settlement.inputs["verdict_id"])
    )
    outcome = settlement.outcome
    value = outcome.value or {}
    accepted = outcome.status == "accepted"
    row.decision_id = outcome.decision_id
    row.decided_by = outcome.decided_by or ""
    row.findings = plain(outcome.findings)
    if accepted:
        row.state = _state(row, settlement)
        row.verdict = value["verdict"]
    else:
        row.state = (
            VerdictState.NEEDS_PERSON
            if outcome.status in {"needs_person", "awaiting_approval"}
            else VerdictState.FAILED
        )
        row.verdict = ""
        row.proposal = plain(value) or None
    row.reasoning = str(value.get("reasoning", ""))[:LONGEST_REASONING]
    row.evidence = [
        {
            "piece": c.evidence_id,
            "against": c.pointer.startswith("/counter"),
            "version": c.version_id,
            "start": c.start,
            "end": c.end,
            "page": c.page,
            "bbox": list(c.bbox) if c.bbox else None,
            "quote": c.quote,
        }
        for c in outcome.citations
    ]
    if row.state == VerdictState.NEEDS_PERSON and not value:
        _show_what_the_rule_saw(row)
    row.save()
    record(
        settlement.actor,
        AtsTag.VERDICT_SETTLED,
        row,
        verdict=row.verdict,
        state=row.state,
        by=row.decided_by,
        decision=str(outcome.decision_id),
    )
    if row.evaluation.status in {EvaluationStatus.COMPLETED, EvaluationStatus.NEEDS_REVIEW}:
        review(row.evaluation, settlement.actor)
    tell(row.evaluation.run_id)


def _show_what_the_rule_saw(row: CriterionVerdict) -> None:
    """A rule that leaves its word to a person still says why, and where it looked."""
    parsed = row.evaluation.parsed
    if parsed is None:
        return
    word = rule_word(row.criterion, parsed, row.evaluation.created_at.date())
    if word is None or word.verdict is not None:
        return
    row.reasoning = word.reason[:LONGEST_REASONING]
    row.evidence = [
        {
            "piece": name,
            "against": False,
            "version": str(parsed.id),
            "start": piece["start"],
            "end": piece["end"],
            "page": piece.get("page"),
            "bbox": piece.get("bbox"),
            "quote": parsed.text[piece["start"] : piece["end"]],
        }
        for name, piece in touched(parsed, word.spans)[:MOST_SHOWN]
    ]


def _state(row: CriterionVerdict, settlement: Settlement) -> VerdictState:
    if settlement.outcome.decided_by != "person":
        return VerdictState.VERIFIED
    said = (settlement.outcome.value or {}).get("verdict")
    before = row.verdict or (row.proposal or {}).get("verdict", "")
    return VerdictState.CONFIRMED if said == before else VerdictState.OVERRIDDEN


def conclude(evaluation: Evaluation, actor: Actor) -> None:
    """End a running evaluation once every criterion has been asked."""
    asking = CriterionVerdict.objects.filter(evaluation=evaluation, state__in=ASKING).exists()
    to = EvaluationStatus.NEEDS_REVIEW if asking else EvaluationStatus.COMPLETED
    move(
        evaluation,
        to,
        moves=EVALUATION_MOVES,
        actor=actor,
        tag=AtsTag.EVALUATION_MOVED,
        ended_at=timezone.now(),
    )
    tell(evaluation.run_id)


def review(evaluation: Evaluation, actor: Actor) -> None:
    """An evaluation is reviewed when nothing in it asks for a person any more."""
    rows = CriterionVerdict.objects.filter(evaluation=evaluation)
    if not rows.filter(state__in=(*OPEN, *ASKING)).exists():
        move(
            evaluation,
            EvaluationStatus.REVIEWED,
            moves=EVALUATION_MOVES,
            actor=actor,
            tag=AtsTag.EVALUATION_MOVED,
        )


def tell(run_id: object) -> None:
    """Ring the run's live page after the commit; a lost ring only makes the page re-read later."""
    transaction.on_commit(lambda: _send(str(run_id)))


def _send(run_id: str) -> None:
    layer = get_channel_layer()
    if layer is not None:
        try:
            async_to_sync(layer.group_send)(f"ats.run.{run_id}", {"type": "changed"})
        except OSError:
            return
