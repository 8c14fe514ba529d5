"""Stage 12: the record of a decision. Steps, attempts and checks are only ever added; a seal closes it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any, cast

from django.db.models import Max
from django.utils import timezone

from inference import bodies, catalogue
from inference.models import Attempt, ChainHead, CheckResult, Decision, DecisionSeal, DecisionStep
from inference.permissions import InferenceTag
from inference.states import FORWARD, MOVES, TERMINAL, WAITING, DecisionStatus
from inference.types import CheckReport, Completion, Cost, CostState, canonical, plain
from inference.usage import Usage
from inference.wire import AttemptRecord, Phases, Started
from nekibu.audit.transitions import move
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import current_tenant


class Trace:
    """Writes the record of one decision, in the transaction of the stage. Payloads hold reasons and figures, no text."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        self._seq: int = (
            DecisionStep.objects.filter(decision=decision).aggregate(last=Max("seq"))["last"] or 0
        )

    def step(self, stage: str, seconds: float | None = None, **payload: Any) -> DecisionStep:
        """Add one stage with its reasons."""
        self._seq += 1
        row: DecisionStep = DecisionStep.objects.create(
            decision=self.decision,
            seq=self._seq,
            round=self.decision.round,
            stage=stage,
            seconds=seconds,
            payload=plain(payload),
        )
        return row

    def attempts(self) -> int:
        """How many attempts have been begun."""
        return DecisionStep.objects.filter(decision=self.decision, stage="generate").count()

    def attempt(self, done: Completion, started: Started | None, prompt_tokens: int | None) -> Attempt:
        """Add one attempt, whatever came of it."""
        cost = _price(done.phases, done.usage)
        row: Attempt = Attempt.objects.create(
            decision=self.decision,
            attempt_id=done.attempt_id,
            attempt_no=done.attempt_no,
            round=self.decision.round,
            kind=done.kind,
            finish=done.finish,
            cause=done.cause,
            prompt_tokens=prompt_tokens,
            ttft=done.ttft,
            tpot=done.tpot,
            requeues=done.requeues,
            max_out=done.max_out,
            engine=started.engine if started else "",
            model=started.model if started else "",
            model_revision=done.model_revision or (started.revision if started else ""),
            engine_fingerprint=done.engine_fingerprint,
            salt_id=done.salt_id,
            **_figures(done.usage, done.phases),
            **cost,
        )
        return row

    def collected(self, record: AttemptRecord, no: int, kind: str, round: int) -> None:
        """Add what the gateway kept of an attempt whose caller was gone."""
        Attempt.objects.create(
            decision=self.decision,
            attempt_id=record.attempt_id,
            attempt_no=no,
            round=round,
            kind=kind,
            collected=True,
            finish=record.finish,
            cause=record.cause or "",
            ttft=record.ttft,
            tpot=record.tpot,
            requeues=record.requeues,
            model_revision=record.model_revision,
            engine_fingerprint=record.engine_fingerprint,
            salt_id=record.salt_id,
            **_figures(record.usage, record.phases),
            **_price(record.phases, record.usage),
        )

    def checks(self, report: CheckReport, attempt_no: int) -> None:
        """Add what each check said of one answer."""
        last = CheckResult.objects.filter(decision=self.decision).aggregate(last=Max("seq"))["last"] or 0
        CheckResult.objects.bulk_create(
            CheckResult(
                decision=self.decision,
                attempt_no=attempt_no,
                round=self.decision.round,
                seq=last + number,
                name=name,
                passed=passed,
                findings=[plain(f) for f in report.findings if f.check == name],
            )
            for number, (name, passed) in enumerate(report.ran, start=1)
        )
        self.step(
            "checks",
            report.seconds,
            verdict=report.verdict,
            attempt_no=attempt_no,
            claims=report.claims,
            supported=report.supported,
            findings=[f.code for f in report.findings],
        )

    def advance(self, to: str, actor: Actor, **changes: Any) -> None:
        """Move forward through the working states up to `to`; a decision that is already there stays."""
        wanted, here = FORWARD.index(DecisionStatus(to)), FORWARD.index(DecisionStatus(self.decision.status))
        path = [to] if to in MOVES[self.decision.status] else list(FORWARD[here + 1 : wanted + 1])
        if wanted <= here:
            Decision.objects.filter(pk=self.decision.pk).update(**changes)
            return
        for number, state in enumerate(path, start=1):
            extra = changes if number == len(path) else {}
            move(self.decision, state, moves=MOVES, actor=actor, tag=InferenceTag.DECISION_MOVED, **extra)

    def rest(
        self,
        to: str,
        actor: Actor,
        outcome: Mapping[str, Any],
        *,
        note: str = "",
        body_days: int = 7,
        **changes: Any,
    ) -> None:
        """Move to a state in which nothing works on it, keep the outcome, and seal it when the state is terminal."""
        cost = cost_of(self.decision)
        now = timezone.now()
        proof = bodies.keep(self.decision.id, "outcome", outcome)
        closing: dict[str, Any] = {"closed_at": now} if to in TERMINAL else {"rested_at": now}
        move(
            self.decision,
            to,
            moves=MOVES,
            actor=actor,
            tag=InferenceTag.DECISION_MOVED,
            note=note,
            owner_until=None,
            attempt_id="",
            cost_amount=cost.amount,
            cost_currency=cost.currency,
            cost_state=cost.state,
            **closing,
            **changes,
        )
        self.step(
            "rest" if to in WAITING else "close",
            status=to,
            by=actor.name,
            note=note,
            outcome_hmac=proof,
            cost=cost,
        )
        if to in TERMINAL:
            bodies.expire(self.decision.id, now + timedelta(days=body_days))
            self.seal()

    def reprice(self) -> None:
        """Set the cost again after an attempt became known late."""
        cost = cost_of(self.decision)
        Decision.objects.filter(pk=self.decision.pk).update(
            cost_amount=cost.amount, cost_currency=cost.currency, cost_state=cost.state
        )

    def seal(self) -> None:
        """Close the record as it stands now: a hash over it and over the tenant's seal before."""
        head = ChainHead.objects.select_for_update().first()
        if head is None:
            ChainHead.objects.bulk_create([ChainHead(tenant_id=current_tenant())], ignore_conflicts=True)
            head = ChainHead.objects.select_for_update().get()
        record = full_record(self.decision)
        value = hashlib.sha256((head.hash + canonical(record)).encode()).hexdigest()
        DecisionSeal.objects.create(
            seq=head.seq + 1, decision=self.decision, prev_hash=head.hash, hash=value, record=record
        )
        ChainHead.objects.filter(pk=head.pk).update(seq=head.seq + 1, hash=value)


_HISTORY: tuple[tuple[str, Any], ...] = (
    ("steps", DecisionStep),
    ("attempts", Attempt),
    ("checks", CheckResult),
)
_LEFT_OUT = {
    "owner_until",
    "attempt_id",
    "tenant",
    "subject_label",
    "subject_url",
}  # moving parts, and a label for people


def full_record(decision: Decision) -> dict[str, Any]:
    """Everything that is known of a decision, without any text, as it is sealed."""
    row = Decision.objects.get(pk=decision.pk)
    record = {
        f.name: _json(getattr(row, f.attname)) for f in row._meta.concrete_fields if f.name not in _LEFT_OUT
    }
    for name, model in _HISTORY:
        columns = [
            f.name
            for f in model._meta.concrete_fields
            if f.name not in {"id", "tenant", "decision", "created_at"}
        ]
        rows = model.objects.filter(decision=row).order_by("id").values(*columns)
        record[name] = [{k: _json(v) for k, v in r.items()} for r in rows]
    return record


def verify_seals() -> int | None:
    """Recompute the chain of the tenant in scope: None when it holds, else the first sequence number that does not."""
    before = ""
    for number, seal in enumerate(DecisionSeal.objects.order_by("seq").iterator(), start=1):
        right = hashlib.sha256((before + canonical(seal.record)).encode()).hexdigest()
        if seal.seq != number or seal.prev_hash != before or seal.hash != right:
            return int(seal.seq)
        before = seal.hash
    return None


def cost_of(decision: Decision) -> Cost:
    """What all attempts cost together; what the gateway kept of an attempt speaks for it."""
    by_attempt: dict[str, Attempt] = {}
    for row in Attempt.objects.filter(decision=decision).order_by("collected"):
        by_attempt[row.attempt_id] = row
    return catalogue.total(stored_cost(a) for a in by_attempt.values())


def stored_cost(row: Attempt | Decision) -> Cost:
    """A row's cost columns as a value."""
    return Cost(row.cost_amount, row.cost_currency, cast("CostState", row.cost_state))


def _figures(usage: Usage, phases: Phases) -> dict[str, Any]:
    return {
        "uncached": usage.uncached,
        "cache_read": usage.cache_read,
        "output": usage.output,
        "gateway_queue": phases.gateway_queue,
        "engine_queue": phases.engine_queue,
        "prefill": phases.prefill,
        "decode": phases.decode,
    }


def _price(phases: Phases, usage: Usage) -> dict[str, Any]:
    price = catalogue.engine_price(timezone.localdate())
    nothing_computed = usage.uncached == 0 and usage.cache_read == 0 and usage.output == 0
    cost = (
        Cost(Decimal(0), price.currency, price.state)
        if nothing_computed and price
        else catalogue.cost_of(phases, price)
    )
    return {
        "price_version": price.version if price else "",
        "cost_amount": cost.amount,
        "cost_currency": cost.currency,
        "cost_state": cost.state,
    }


def _json(value: Any) -> Any:
    """As it comes back from the database: money without the zeros that a column adds."""
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    return plain(value)
