"""Reads of the inbox: what waits for whom, since when, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from nekibu.approvals.authority import can_decide, given_to_others, held_by, in_force
from nekibu.approvals.models import ApprovalRequest, Delegation, Group, Notice, Stop
from nekibu.approvals.states import SILENT, Status
from nekibu.errors import NotFound
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import granted
from nekibu.users.models import Membership, User


def inbox_for(actor: Actor, now: datetime | None = None) -> QuerySet[ApprovalRequest]:
    """Pending requests that this actor may decide, oldest first; those given to somebody else are left out.

    An administrator and an auditor also see what was given away; an auditor decides nothing of it.
    """
    now = now or timezone.now()
    rows = waiting()
    if "auditor" in actor.roles and not actor.roles & {"admin"}:
        return rows
    rows = rows.filter(can_decide(actor, now))
    return rows if "admin" in actor.roles else rows.exclude(given_to_others(actor, now))


def given_to(actor: Actor, now: datetime | None = None) -> QuerySet[ApprovalRequest]:
    """Pending requests that were given to this actor, or to somebody for whom the actor stands in."""
    now = now or timezone.now()
    people = (
        [actor.user_id, *held_by(actor.user_id, now).values_list("principal_id", flat=True)]
        if actor.user_id
        else []
    )
    return waiting().filter(assignee_id__in=people)


def waiting() -> QuerySet[ApprovalRequest]:
    """All pending requests of the tenant, oldest first."""
    return ApprovalRequest.objects.filter(status=Status.PENDING).select_related("assignee").order_by("id")


def decided() -> QuerySet[ApprovalRequest]:
    """Requests that nobody waits for any more, the last one first."""
    return (
        ApprovalRequest.objects.exclude(status=Status.PENDING)
        .prefetch_related("verdicts__person", "verdicts__on_behalf_of")
        .order_by("-id")
    )


def requests_for(actor: Actor) -> QuerySet[ApprovalRequest]:
    """All requests of the tenant, newest first, with the words given."""
    return (
        ApprovalRequest.objects.select_related("assignee", "requester", "superseded_by")
        .prefetch_related("verdicts__person", "verdicts__on_behalf_of", "verdicts__retraction")
        .order_by("-id")
    )


def request_for(actor: Actor, approval_id: UUID) -> ApprovalRequest:
    """One request with its words. Raises NotFound, also for another tenant's."""
    found = requests_for(actor).filter(pk=approval_id).first()
    if found is None:
        raise NotFound
    return found


def attention_for(actor: Actor) -> int:
    """How much waits for this person's eyes: questions to decide, and what they were told and have not read."""
    questions = inbox_for(actor).select_related(None).order_by().values("pk")
    return questions.union(unread(actor).exclude(kind__in=SILENT).order_by().values("pk"), all=True).count()


def unread(actor: Actor) -> QuerySet[Notice]:
    """What this person was told and has not read, newest first."""
    return Notice.objects.filter(person_id=actor.user_id, read_at=None).order_by("-id")


# --- who waits how long ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Queue:
    """Questions that wait for the same role or group, or in the same hands."""

    name: str
    waiting: int
    oldest: datetime
    median: timedelta
    late: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """One waiting request in a few columns, for counting."""

    id: UUID
    kind: str
    reasons: tuple[str, ...]
    roles: tuple[str, ...]
    assignee: str
    since: datetime
    due: datetime | None
    reminded: bool


def in_short(rows: QuerySet[ApprovalRequest]) -> list[Waiting]:
    """Requests without their parameters, which may be long."""
    found: Iterable[Any] = rows.values_list(
        "id",
        "kind",
        "reasons",
        "roles",
        "assignee__name",
        "created_at",
        "due_at",
        "expires_at",
        "reminded_at",
    )
    return [
        Waiting(
            key, kind, tuple(reasons), tuple(roles), name or "", since, due or expires, reminded is not None
        )
        for key, kind, reasons, roles, name, since, due, expires, reminded in found
    ]


def queues(rows: Iterable[Waiting], now: datetime) -> tuple[list[Queue], list[Queue]]:
    """By role or group, and by the person who was given the question; the longest queue first."""
    by_name: dict[str, list[Waiting]] = {}
    by_person: dict[str, list[Waiting]] = {}
    for row in rows:
        for name in row.roles:
            by_name.setdefault(name, []).append(row)
        by_person.setdefault(row.assignee, []).append(row)
    return _counted(by_name, now), _counted(by_person, now)


def _counted(named: dict[str, list[Waiting]], now: datetime) -> list[Queue]:
    found = []
    for name, rows in named.items():
        ages = sorted(now - row.since for row in rows)
        late = sum(row.reminded or (row.due is not None and row.due <= now) for row in rows)
        found.append(Queue(name, len(rows), min(row.since for row in rows), ages[(len(ages) - 1) // 2], late))
    return sorted(found, key=lambda queue: (-queue.waiting, queue.name))


# --- standing in, groups, the switch -----------------------------------------------------------------------------------


def delegations_of(actor: Actor) -> QuerySet[Delegation]:
    """What this person handed over, and what was handed to them; newest first."""
    mine = Delegation.objects.filter(principal_id=actor.user_id) | Delegation.objects.filter(
        delegate_id=actor.user_id
    )
    return mine.select_related("principal", "delegate", "request").order_by("-id")


def stands_in_for(actor: Actor, now: datetime | None = None) -> list[Delegation]:
    """For whom this person may decide everything at the moment."""
    return list(held_by(actor.user_id, now or timezone.now())) if actor.user_id else []


def away(now: datetime | None = None) -> dict[UUID, Delegation]:
    """Who has handed everything over at the moment, by their id."""
    rows = in_force(now or timezone.now()).filter(request=None).select_related("delegate")
    return {row.principal_id: row for row in rows}


def colleagues(action: Any, besides: UUID | None = None) -> list[User]:
    """Active people of the tenant whose roles let them do `action`, by name."""
    roles: dict[UUID, set[str]] = {}
    people: dict[UUID, User] = {}
    rows = Membership.objects.filter(user__is_active=True).select_related("user")
    for row in rows.order_by("user__name", "user_id"):
        roles.setdefault(row.user_id, set()).add(row.role)
        people[row.user_id] = row.user
    return [p for key, p in people.items() if key != besides and action in granted(roles[key])]


def groups() -> QuerySet[Group]:
    """The tenant's groups with their members."""
    return Group.objects.prefetch_related("members__person").order_by("name", "id")


def stops() -> QuerySet[Stop]:
    """Engaged switches."""
    return Stop.objects.filter(released_at=None).select_related("engaged_by").order_by("id")
