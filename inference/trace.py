"""Stage 12: the record of a decision. Steps, attempts and checks are only ever added; a seal closes it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Max
from django.utils import timezone

from inference import bodies, spans
from inference.catalogue.pricing import price_attempt
from inference.catalogue.selectors import engine_price
from inference.ledger.chains import keep_chain
from inference.ledger.keeping import due
from inference.metrics.cost import total
from inference.models import Attempt, ChainHead, CheckResult, Decision, DecisionSeal, DecisionStep
from inference.permissions import InferenceTag
from inference.selectors import model_name, speaking_attempts, stored_cost
from inference.states import FORWARD, MOVES, TERMINAL, WAITING, DecisionStatus
from inference.types import CheckReport, Completion, Cost, canonical, plain
from inference.usage import Usage
from inference.wire import AttemptRecord, Phases, Started
from nekibu.audit.transitions import move
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import current_tenant


class Trace:
    """Writes the record of one decision, in the transaction of the stage. Payloads hold reasons and figures, no text."""

    def __init__(self, decision: Decision) -> None:
        self.decision = decision
        spans.about(decision.id)
        self._seq: int = (
            DecisionStep.objects.filter(decision=decision).aggregate(last=Max("seq"))["last"] or 0
        )

    def step(self, stage: str, seconds: float | None = None, **payload: Any) -> DecisionStep:
        """Add one stage with its reasons."""
        self._seq += 1
        spans.stage(stage, seconds, payload)
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

    def attempt(self, done: Completion, started: Started | None, input_ids: Sequence[int]) -> Attempt:
        """Add one attempt, whatever came of it; of what was sent, only keyed hashes stay."""
        model = started.model if started else ""
        revision = done.model_revision or (started.revision if started else "")
        row: Attempt = Attempt.objects.create(
            decision=self.decision,
            attempt_id=done.attempt_id,
            attempt_no=done.attempt_no,
            round=self.decision.round,
            kind=done.kind,
            finish=done.finish,
            cause=done.cause,
            prompt_tokens=len(input_ids),
            ttft=done.ttft,
            tpot=done.tpot,
            requeues=done.requeues,
            max_out=done.max_out,
            engine=started.engine if started else "",
            model=model,
            model_revision=revision,
            engine_fingerprint=done.engine_fingerprint,
            salt_id=done.salt_id,
            served_from=done.served_from,
            **_figures(done.usage, done.phases),
            **_money(done.usage, done.phases, model, revision, done.served_from),
        )
        if done.usage.input_total:
            keep_chain(row, input_ids)
        return row

    def collected(self, record: AttemptRecord, no: int, kind: str, round: int) -> None:
        """Add what the gateway kept of an attempt whose caller was gone."""
        model = _model_of(record)
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
            model=model,
            model_revision=record.model_revision,
            engine_fingerprint=record.engine_fingerprint,
            salt_id=record.salt_id,
            **_figures(record.usage, record.phases),
            **_money(record.usage, record.phases, model, record.model_revision),
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
        due(self.decision)
        money = cost_of(self.decision)
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
            **_columns(*money),
            **closing,
            **changes,
        )
        self.step(
            "rest" if to in WAITING else "close",
            status=to,
            by=actor.name,
            note=note,
            outcome_hmac=proof,
            cost=money[0],
        )
        row = self.decision
        spans.rested(to, row.tier, row.risk, row.band)
        if to in TERMINAL:
            bodies.expire(self.decision.id, now + timedelta(days=body_days))
            self.seal()

    def reprice(self) -> None:
        """Set the cost again after an attempt became known late."""
        due(self.decision)
        Decision.objects.filter(pk=self.decision.pk).update(**_columns(*cost_of(self.decision)))

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


def cost_of(decision: Decision) -> tuple[Cost, tuple[str, ...]]:
    """What all attempts cost together, and the versions of the prices in it, each once."""
    rows = speaking_attempts(decision)
    versions = dict.fromkeys(row.price_version for row in rows if row.price_version)
    return total(stored_cost(row) for row in rows), tuple(versions)


def _figures(usage: Usage, phases: Phases) -> dict[str, Any]:
    return {
        "uncached": usage.uncached,
        "cache_read": usage.cache_read,
        "cache_write_5m": usage.cache_write_5m,
        "cache_write_1h": usage.cache_write_1h,
        "output": usage.output,
        "reasoning": usage.reasoning,
        "input_total": usage.input_total,
        "dialect": usage.dialect,
        "estimated": list(usage.estimated),
        "usage_refused": usage.refused,
        "gateway_queue": phases.gateway_queue,
        "engine_queue": phases.engine_queue,
        "prefill": phases.prefill,
        "decode": phases.decode,
    }


def _money(
    usage: Usage, phases: Phases, model: str, revision: str, served_from: str = "engine"
) -> dict[str, Any]:
    """The columns of an attempt's cost, under the price that is in force for its model now."""
    names = [name for name in (model_name(model), revision) if name]
    priced = price_attempt(usage, phases, engine_price(names, timezone.now()), served_from=served_from)
    return {**_columns(priced.cost, ()), "price_version": priced.version}


def _columns(cost: Cost, versions: tuple[str, ...]) -> dict[str, Any]:
    return {
        "cost_amount": cost.amount,
        "cost_currency": cost.currency,
        "cost_state": cost.state,
        "price_version": ",".join(versions),
    }


def _model_of(record: AttemptRecord) -> str:
    """The model of an attempt that nobody heard the end of: as its start told, or as another attempt names its revision."""
    known = Attempt.objects.exclude(model="").order_by("-id")
    found = known.filter(attempt_id=record.attempt_id).first()
    if found is None and record.model_revision:
        found = known.filter(model_revision=record.model_revision).first()
    return str(found.model) if found else ""


def _json(value: Any) -> Any:
    """As it comes back from the database: money without the zeros that a column adds."""
    if isinstance(value, Decimal):
        return format(value.normalize(), "f")
    return plain(value)
