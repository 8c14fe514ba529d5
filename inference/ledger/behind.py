"""What is behind the figures: the decisions that a figure counts, and those that a person corrected afterwards."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncDay, TruncHour

from inference.ledger.cells import OF_ATTEMPT
from inference.ledger.selectors import Key, facts_in
from inference.ledger.slices import Cut
from inference.metrics.phases import PARTS
from inference.models import Decision
from inference.permissions import InferenceAction
from inference.states import WAITING
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require

# What can be listed: by the figure it is part of, or by how long something took.
FIGURES: dict[str, Q] = {
    "decisions": Q(closing=True),
    "attempts": Q(attempt__isnull=False),
    "valid": Q(valid=True),
    "invalid": Q(closing=True, valid=False),
    "accepted": Q(closing=True, status="accepted"),
    "waiting": Q(closing=True, status__in=WAITING),
    "failed": Q(closing=True, status="failed"),
    "rejected": Q(closing=True, status="rejected"),
    "ended": Q(closing=True, status__in=("expired", "cancelled")),
    "met": Q(target="met"),
    "missed": Q(target="missed"),
    "cancelled": Q(target="cancelled"),
    "current_cost": Q(cost_state="current"),
    "stale_cost": Q(cost_state="stale"),
    "unknown_cost": Q(cost_state="unknown"),
    "truncated": Q(truncated=True),
    "schema_failed": Q(schema_failed=True),
    "broken": Q(broken=True),
    "usage_refused": Q(usage_refused=True),
    "estimated": Q(estimated=True),
}
OVERRIDES = (
    "overrides"  # corrections are decisions without a request, so no facts: they are counted from the record
)
LIMITS = (*OF_ATTEMPT, *PARTS, "e2e")


def decisions_behind(
    actor: Actor, cut: Cut, figure: str, time: str = "", over: float | None = None, under: float | None = None
) -> QuerySet[Decision]:
    """The decisions that a figure counts, newest first; with a time, those of which it took more or less than a limit.

    Whoever reads them must be allowed to read decisions, not only figures.
    """
    require(actor, InferenceAction.DECISION_READ)
    if figure == OVERRIDES:
        return _overrides(cut).order_by("-id")
    rows = facts_in(cut).filter(FIGURES[figure])
    if time and over is not None:
        rows = rows.filter(**{f"{time}__gt": over})
    if time and under is not None:
        rows = rows.filter(**{f"{time}__lte": under})
    return Decision.objects.filter(pk__in=rows.values("decision")).order_by("-id")


def overrides_for(actor: Actor, cut: Cut) -> dict[Key, int]:
    """How many decisions a person replaced, by the cut's names. Only what a correction has is looked at: product, task, risk."""
    require(actor, InferenceAction.ACCOUNT_READ)
    time, name = cut.by
    trunc = TruncHour("created_at") if time == "hour" else TruncDay("created_at")
    rows = _overrides(cut).order_by().annotate(at=trunc).values_list("at", name).annotate(n=Count("pk"))
    return {((at if time == "hour" else at.date()).isoformat(), value): n for at, value, n in rows}


def _overrides(cut: Cut) -> QuerySet[Decision]:
    rows = Decision.objects.filter(
        supersedes__isnull=False, created_at__gte=cut.window.start, created_at__lt=cut.window.end
    )
    named = {name: cut.only[name] for name in ("product", "task", "risk") if cut.only.get(name)}
    return rows.filter(**{f"{name}__in": values for name, values in named.items()})
