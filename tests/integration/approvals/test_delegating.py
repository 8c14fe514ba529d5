"""Standing in: B decides for A within A's rights and time, both names stay, and nothing is handed on."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from nekibu.approvals import selectors, services
from nekibu.approvals.errors import DelegationRefused
from nekibu.approvals.models import Delegation, Notice, Verdict
from nekibu.errors import AlreadyDecided, Conflict, InvalidInput, NotFound, NotPermitted
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import Membership, User


@pytest.fixture
def hand(transactional_db):
    """`hand(ada, ben, days=3)` → ben stands in for ada."""

    def make(principal, delegate, *, start=0.0, days=3.0, now=None):
        moment = now or timezone.now()
        with tenant_scope(principal.tenant_id):
            return services.delegate(
                actor=principal,
                user_id=delegate.user_id,
                starts_at=moment + timedelta(days=start),
                ends_at=moment + timedelta(days=start + days),
                now=moment,
            )

    return make


@pytest.fixture
def pair(person):
    """Ada may decide what reviewers decide; Ben may decide, but not that."""
    return person("Ada"), person("Ben", "hiring_manager")


def inbox(actor, now=None):
    with tenant_scope(actor.tenant_id):
        return set(selectors.inbox_for(actor, now).values_list("id", flat=True))


def test_a_stand_in_decides_in_the_principals_name_and_both_are_named(transfer, pair, hand, say, audit):
    ada, ben = pair
    request = transfer()
    with pytest.raises(NotPermitted):
        say(ben, request)
    assert inbox(ben) == set()
    hand(ada, ben)
    assert inbox(ben) == inbox(ada) == {request.id}
    assert say(ben, request).status == "approved"
    with tenant_scope(ada.tenant_id):
        word = Verdict.objects.get()
        assert (word.person_id, word.on_behalf_of_id) == (ben.user_id, ada.user_id)
        told = Notice.objects.get(person_id=ada.user_id)
        assert (told.kind, told.facts["by"], told.facts["verdict"]) == ("spoken_for", "Ben", "approve")
    (row,) = audit("approvals:word:given")
    assert (row.actor["user_id"], row.payload["on_behalf_of"]) == (str(ben.user_id), str(ada.user_id))


def test_a_delegation_holds_from_its_first_moment_until_its_last(transfer, pair, hand, say):
    ada, ben = pair
    now = timezone.now()
    held = hand(ada, ben, start=1, days=2, now=now)
    first, second, third = transfer(), transfer(), transfer()
    for moment in (now, held.starts_at - timedelta(seconds=1), held.ends_at):
        assert inbox(ben, moment) == set()
        with pytest.raises(NotPermitted):
            say(ben, first, now=moment)
    assert inbox(ben, held.starts_at) == {first.id, second.id, third.id}
    assert say(ben, first, now=held.starts_at).status == "approved"
    assert say(ben, second, now=held.ends_at - timedelta(seconds=1)).status == "approved"
    assert third


def test_a_delegation_can_be_ended_at_once_by_either_side_and_by_nobody_else(
    transfer, pair, hand, say, person
):
    ada, ben = pair
    request = transfer()
    for who in (ada, ben, person("Yönetici", "admin")):
        held = hand(ada, ben)
        with tenant_scope(ada.tenant_id):
            with pytest.raises(NotFound):
                services.end_delegation(actor=person("Can"), delegation_id=held.id)
            services.end_delegation(actor=who, delegation_id=held.id)
            with pytest.raises(Conflict):
                services.end_delegation(actor=who, delegation_id=held.id)
        with pytest.raises(NotPermitted):
            say(ben, request)
        assert inbox(ben) == set()


def test_a_stand_in_has_no_more_rights_than_the_principal_has_now(transfer, pair, hand, say):
    ada, ben = pair
    request = transfer()
    hand(ada, ben)
    with tenant_scope(ada.tenant_id):
        Membership.objects.filter(user_id=ada.user_id).update(role="recruiter")
    assert inbox(ben) == set()
    with pytest.raises(NotPermitted):
        say(ben, request)
    with tenant_scope(ada.tenant_id):
        Membership.objects.filter(user_id=ada.user_id).update(role="reviewer")
    User.objects.filter(pk=ada.user_id).update(is_active=False)
    with pytest.raises(NotPermitted):
        say(ben, request)


def test_four_eyes_look_at_the_principal_too(transfer, pair, hand, say):
    ada, ben = pair
    hand(ada, ben)
    request = transfer(ada, four_eyes=True)
    assert inbox(ben) == set()
    with pytest.raises(NotPermitted) as refused:
        say(ben, request)
    assert refused.value.error_code == "four_eyes"
    assert "Ada" in refused.value.message


def test_a_stand_in_and_the_principal_are_one_voice_of_a_quorum(transfer, person, hand, say):
    ada, ben, can = person("Ada"), person("Ben"), person("Can", "recruiter")
    hand(ada, can)
    request = transfer(quorum=2)
    say(can, request)
    for again in (can, ada):
        with pytest.raises(AlreadyDecided):
            say(again, request)
    assert inbox(ada) == inbox(can) == set()
    assert say(ben, request).status == "approved"


def test_nothing_is_handed_on(transfer, pair, hand, say, person):
    ada, ben = pair
    can, dan = person("Can", "hiring_manager"), person("Dan")
    hand(ada, ben)
    with pytest.raises(DelegationRefused) as chain:
        hand(ben, can)
    with pytest.raises(DelegationRefused) as circle:
        hand(ben, ada)
    with pytest.raises(DelegationRefused) as onto:
        hand(dan, ada)
    codes = [e.value.error_code for e in (chain, circle, onto)]
    assert codes == ["delegation_chain", "delegation_cycle", "delegation_chain"]
    request = transfer()
    with tenant_scope(ben.tenant_id), pytest.raises(NotPermitted):
        services.hand_over(actor=ben, approval_id=request.id, user_id=can.user_id)
    with pytest.raises(NotPermitted):
        say(can, request)
    hand(ben, can, start=5)  # once Ada is back


@pytest.mark.parametrize(
    ("start", "days", "field"),
    [(0, -1, "ends_at"), (-5, 3, "ends_at"), (0, 400, "ends_at"), (3, -1, "ends_at")],
)
def test_a_delegation_has_a_beginning_and_a_near_enough_end(pair, hand, start, days, field):
    with pytest.raises(InvalidInput) as refused:
        hand(*pair, start=start, days=days)
    assert [e["field"] for e in refused.value.data["errors"]] == [field]


def test_only_a_colleague_who_may_decide_can_stand_in(pair, hand, person, other_tenant):
    ada, _ben = pair
    for nobody in (person("Can", "interviewer"), person("Dan", "reviewer", of=other_tenant)):
        with pytest.raises(NotFound):
            hand(ada, nobody)
    with pytest.raises(DelegationRefused):
        hand(ada, ada)


def test_one_question_can_be_handed_over_and_is_then_the_colleagues(transfer, pair, say, audit):
    ada, ben = pair
    request, other = transfer(), transfer()
    with tenant_scope(ada.tenant_id):
        held = services.hand_over(actor=ada, approval_id=request.id, user_id=ben.user_id, note="yoldayım")
        assert selectors.given_to(ben).get().id == request.id
    assert inbox(ben) == {request.id}
    assert inbox(ada) == {other.id}
    with pytest.raises(NotPermitted):
        say(ben, other)
    assert say(ben, request).status == "approved"
    with tenant_scope(ada.tenant_id):
        assert Verdict.objects.get().on_behalf_of_id == ada.user_id
        assert Notice.objects.get(person_id=ben.user_id).kind == "handed"
    (row,) = audit("approvals:delegation:created")
    assert row.payload["request"] == str(request.id) and row.subject_id == str(held.id)


def test_a_question_comes_back_when_its_handing_over_ends(transfer, pair):
    ada, ben = pair
    request = transfer()
    with tenant_scope(ada.tenant_id):
        held = services.hand_over(actor=ada, approval_id=request.id, user_id=ben.user_id)
        services.end_delegation(actor=ada, delegation_id=held.id)
        assert Delegation.objects.get().ended_at is not None
    assert (inbox(ada), inbox(ben)) == ({request.id}, set())


def test_the_inbox_is_what_may_be_decided(transfer, person, hand, tenant):
    """The condition on many rows and the decision about one agree, for every person and every request."""
    from nekibu.approvals.authority import standing_of

    ada, ben, can = person("Ada"), person("Ben", "recruiter"), person("Can", "hiring_manager")
    boss = person("Yönetici", "admin")
    with tenant_scope(tenant.id):
        group = services.create_group(actor=boss, key="treasury", name="Hazine")
        services.join_group(actor=boss, group_id=group.id, user_id=can.user_id)
    dan = person("Dan", "hiring_manager")
    hand(ada, ben), hand(can, dan)
    requests = [
        transfer(asker, four_eyes=four_eyes, roles=roles, quorum=2)
        for asker in (None, ada, ben, can, boss)
        for four_eyes in (True, False)
        for roles in (["reviewer"], ["recruiter", "treasury"], ["treasury"])
    ]
    now = timezone.now()
    with tenant_scope(tenant.id):
        for request in requests[::4]:
            services.decide(
                actor=boss,
                approval_id=request.id,
                verdict="approve",
                reason="seen",
                params=request.params_hash,
            ) if not (request.four_eyes and request.requester_id == boss.user_id) else None
        for actor in (ada, ben, can, boss, dan, person("Eda")):
            listed = set(selectors.inbox_for(actor, now).values_list("id", flat=True))
            assert listed == {r.id for r in requests if standing_of(actor, r, now)}, actor.name
