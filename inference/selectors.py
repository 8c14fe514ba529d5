"""Reads of decisions, always in the tenant's scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from django.db.models import QuerySet

from inference import bodies
from inference.models import Attempt, CacheEpoch, Decision
from inference.types import Citation, Cost, CostState, DecidedBy, Finding, Outcome
from nekibu.errors import NotFound
from nekibu.permissions.actor import Actor


def acl_epoch(trust_class: str) -> str:
    """The tenant's and the class's epoch; both only grow, and a grown one shares with nobody of before."""
    values = dict(
        CacheEpoch.objects.filter(trust_class__in={"", trust_class}).values_list("trust_class", "value")
    )
    return f"{values.get('', 1)}.{values.get(trust_class, 1)}"


def decisions_for(actor: Actor) -> QuerySet[Decision]:
    """The tenant's decisions, newest first."""
    return Decision.objects.order_by("-id")


def decision_for(actor: Actor, decision_id: UUID) -> Decision:
    """One decision. Raises NotFound, also for another tenant's."""
    found = decisions_for(actor).filter(pk=decision_id).first()
    if found is None:
        raise NotFound
    return found


def outcome_of(decision: Decision) -> Outcome:
    """What is known of a decision now. The value is gone once its body has been deleted; products keep what they need."""
    return told_of(decision, bodies.read(decision.id, "outcome") or {})


def told_of(decision: Decision, body: Mapping[str, Any]) -> Outcome:
    """`outcome_of` with its body at hand, for whoever reads many."""
    return Outcome(
        decision_id=decision.id,
        status=decision.status,
        value=body.get("value"),
        valid=bool(decision.valid),
        decided_by=cast("DecidedBy", decision.decided_by) if decision.decided_by else None,
        citations=tuple(_citation(c) for c in body.get("citations", ())),
        findings=tuple(Finding(**f) for f in body.get("findings", ())),
        approval_id=decision.approval_id,
        cost=Cost(decision.cost_amount, decision.cost_currency, cast("CostState", decision.cost_state))
        if decision.cost_state
        else None,
        route={
            "tier": decision.tier,
            "reason": decision.route_reason,
            "clock": decision.clock,
            "band": decision.band,
        },
        reason=decision.reason,
    )


def speaking_attempts(decision: Decision) -> tuple[Attempt, ...]:
    """One row for each attempt, in order: what the gateway kept speaks for an attempt whose caller was gone."""
    by_id = {row.attempt_id: row for row in decision.attempts.order_by("attempt_no", "collected")}
    return tuple(sorted(by_id.values(), key=lambda row: (row.attempt_no, row.id)))


def stored_cost(row: Attempt | Decision) -> Cost:
    """A row's cost columns as a value."""
    return Cost(row.cost_amount, row.cost_currency, cast("CostState", row.cost_state or "unknown"))


def model_name(model: str) -> str:
    """A model without the path that it was loaded from."""
    return model.rstrip("/").rsplit("/", 1)[-1]


def _citation(raw: dict[str, Any]) -> Citation:
    return Citation(**{**raw, "bbox": tuple(raw["bbox"]) if raw["bbox"] else None})
