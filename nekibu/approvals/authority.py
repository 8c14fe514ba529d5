"""Who may decide a request, and in whose name: by role or group, by delegation, and never alone where four eyes are asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import (
    BooleanField,
    Exists,
    F,
    Func,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    UUIDField,
    Value,
)
from django.db.models.functions import Cast, Coalesce
from django.utils.translation import gettext as _

from nekibu.approvals.models import ApprovalRequest, Delegation, Group, GroupMember, Verdict
from nekibu.approvals.rules import Said, approvals
from nekibu.errors import AlreadyDecided, NekibuError, NotPermitted
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import ROLES
from nekibu.users.models import Membership, User

NOBODY = UUID(int=0)


class WrongPerson(NotPermitted):
    """This decision belongs to another role."""

    code = "wrong_person"


class FourEyes(NotPermitted):
    """Whoever asked or changed it cannot decide it as well."""

    code = "four_eyes"


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether an actor may decide a request: `refusal` says why not, `principal` in whose name (None: their own)."""

    principal: User | None = None
    refusal: NekibuError | None = None

    def __bool__(self) -> bool:
        return self.refusal is None


def standing_of(actor: Actor, request: ApprovalRequest, now: datetime) -> Standing:
    """The one decision about rights. A principal who was given the question comes first, then one's own right, then others."""
    if actor.user_id is None:
        return Standing(refusal=NotPermitted(_("Only a person can decide this.")))
    own = _admits(request, actor.roles | groups_of([actor.user_id]).get(actor.user_id, frozenset()))
    principals = [one.principal for one in held_by(actor.user_id, now, request)]
    rights = names_of([p.id for p in principals])
    fit = [p for p in principals if _admits(request, rights.get(p.id, frozenset()))]
    seats: list[User | None] = [
        *(p for p in fit if p.id == request.assignee_id),
        *([None] if own else []),
        *(p for p in fit if p.id != request.assignee_id),
    ]
    if not seats:
        return Standing(refusal=WrongPerson())
    barred = _barred(request)
    spoken = {
        seat
        for word in standing_words(request)
        for seat in (word.person_id, word.on_behalf_of_id)
        if seat is not None
    }
    refusal: NekibuError = WrongPerson()
    for principal in seats:
        refused = _objection(actor.user_id, principal, barred, spoken)
        if refused is None:
            return Standing(principal)
        refusal = refused
    return Standing(refusal=refusal)


def standing_words(request: ApprovalRequest) -> list[Verdict]:
    """The words on a request that were not taken back, in order."""
    known = "verdicts" in getattr(request, "_prefetched_objects_cache", {})
    rows = request.verdicts.all()
    words = rows if known else rows.select_related("person", "on_behalf_of", "retraction")
    return [word for word in words if getattr(word, "retraction", None) is None]


def approvals_of(request: ApprovalRequest) -> int:
    """How many approvals of a request count now."""
    return approvals(
        Said(cast("Any", word.verdict), word.person_id, word.on_behalf_of_id or word.person_id)
        for word in standing_words(request)
    )


def held_by(user_id: UUID, now: datetime, request: ApprovalRequest | None = None) -> QuerySet[Delegation]:
    """Delegations by which this person may speak for others now, the oldest first; those for `request` alone included."""
    scope = Q(request=None) if request is None else Q(request=None) | Q(request=request)
    return (
        in_force(now)
        .filter(scope, delegate_id=user_id, principal__is_active=True)
        .select_related("principal")
        .order_by("id")
    )


def in_force(now: datetime) -> QuerySet[Delegation]:
    """Delegations that hold at this moment."""
    return Delegation.objects.filter(starts_at__lte=now, ends_at__gt=now, ended_at=None)


def names_of(user_ids: Iterable[UUID]) -> dict[UUID, frozenset[str]]:
    """Roles and groups of people, as requests name them."""
    ids = list(user_ids)
    if not ids:
        return {}
    found: dict[UUID, set[str]] = {}
    for user_id, role in Membership.objects.filter(user_id__in=ids).values_list("user_id", "role"):
        found.setdefault(user_id, set()).add(role)
    for user_id, keys in groups_of(ids).items():
        found.setdefault(user_id, set()).update(keys)
    return {user_id: frozenset(names) for user_id, names in found.items()}


def groups_of(user_ids: Iterable[UUID]) -> dict[UUID, frozenset[str]]:
    """Groups of people, by key."""
    found: dict[UUID, set[str]] = {}
    rows = GroupMember.objects.filter(person_id__in=list(user_ids)).values_list("person_id", "group__key")
    for user_id, key in rows:
        found.setdefault(user_id, set()).add(key)
    return {user_id: frozenset(keys) for user_id, keys in found.items()}


def people_of(names: Iterable[str]) -> QuerySet[User]:
    """Everybody of these roles and groups who can still sign in."""
    wanted = list(names)
    return User.objects.filter(
        Exists(Membership.objects.filter(user=OuterRef("pk"), role__in=wanted))
        | Exists(GroupMember.objects.filter(person=OuterRef("pk"), group__key__in=wanted)),
        is_active=True,
    )


def queue_names() -> dict[str, str]:
    """Roles and groups by the name under which a request knows them, in words."""
    return {
        **{key: str(said) for key, said in ROLES.items()},
        **dict(Group.objects.values_list("key", "name")),
    }


def can_decide(actor: Actor, now: datetime) -> Q:
    """`standing_of` as a condition on many requests. An administrator may decide whatever is not their own.

    What does not depend on the request is asked once: the names of one's groups, and those of everybody for whom one stands
    in. Row by row it is asked only where four eyes are needed or one question was handed over.
    """
    user_id = actor.user_id
    deputy = in_force(now).filter(delegate_id=user_id, principal__is_active=True)
    principals = deputy.filter(request=None).values("principal")
    own = Q(roles__has_any_keys=sorted(actor.roles)) | _any_of(
        GroupMember.objects.filter(person_id=user_id), "group__key"
    )
    general = (
        _any_of(Membership.objects.filter(user__in=principals), "role")
        | _any_of(GroupMember.objects.filter(person__in=principals), "group__key")
        | Q(Exists(Membership.objects.filter(user__in=principals, role="admin")))
    )
    asked_by = Coalesce(OuterRef("requester"), Value(NOBODY), output_field=UUIDField())
    foreign = _fit(deputy.filter(Q(request=None) | Q(request=OuterRef("pk"))))
    foreign = foreign.annotate(asked_by=asked_by).exclude(principal=F("asked_by"))
    handed = Exists(_fit(deputy.filter(request=OuterRef("pk"))))
    theirs = (Q(four_eyes=False) & (general | Q(handed))) | (Q(four_eyes=True) & Q(Exists(foreign)))
    own_question = Q(four_eyes=True) & (Q(requester_id=user_id) | Q(editors__contains=[str(user_id)]))
    spoken = Exists(
        Verdict.objects.filter(request=OuterRef("pk"), retraction=None).filter(
            Q(person_id=user_id) | Q(on_behalf_of_id=user_id)
        )
    )
    mine = Q(pk__isnull=False) if "admin" in actor.roles else own | theirs
    return mine & ~own_question & ~Q(spoken)


def _any_of(people: QuerySet[Any], name: str) -> Q:
    """Whether the request names one of these: one list for all requests."""
    names = ArraySubquery(people.annotate(named=Cast(name, TextField())).values("named"))
    return Q(_AnyName(F("roles"), names))


def _fit(deputies: QuerySet[Delegation]) -> QuerySet[Delegation]:
    """Delegations whose principal has a right to the request of the outer query."""
    roles = Membership.objects.filter(
        Q(role="admin") | Q(_Name(OuterRef(OuterRef("roles")), F("role"))), user=OuterRef("principal")
    )
    keys = GroupMember.objects.filter(
        _Name(OuterRef(OuterRef("roles")), F("group__key")), person=OuterRef("principal")
    )
    return deputies.filter(Exists(roles) | Exists(keys))


def given_to_others(actor: Actor, now: datetime) -> Q:
    """Requests that were given to somebody for whom this actor does not stand in."""
    principals = in_force(now).filter(delegate_id=actor.user_id, principal=OuterRef("assignee"))
    return Q(assignee__isnull=False) & ~Q(assignee_id=actor.user_id) & ~Q(Exists(principals))


class _Name(Func):
    """Whether a JSON list holds a text."""

    function = "jsonb_exists"
    output_field = BooleanField()


class _AnyName(Func):
    """Whether a JSON list holds one of many texts."""

    function = "jsonb_exists_any"
    output_field = BooleanField()


def _admits(request: ApprovalRequest, names: frozenset[str]) -> bool:
    return "admin" in names or not names.isdisjoint(request.roles)


def _barred(request: ApprovalRequest) -> frozenset[UUID]:
    if not request.four_eyes:
        return frozenset()
    asked = {request.requester_id} if request.requester_id else set()
    return frozenset(asked | {UUID(one) for one in request.editors})


def _objection(
    user_id: UUID, principal: User | None, barred: frozenset[UUID], spoken: set[UUID]
) -> NekibuError | None:
    if user_id in barred:
        return FourEyes(_("You asked for this or changed it yourself; somebody else has to decide it."))
    if principal is not None and principal.id in barred:
        return FourEyes(
            _("%(name)s asked for this or changed it; nobody can decide it in that name.")
            % {"name": principal.name}
        )
    if user_id in spoken or (principal is not None and principal.id in spoken):
        return AlreadyDecided(
            _("This word has been given; another person is asked now."), code="already_spoken"
        )
    return None
