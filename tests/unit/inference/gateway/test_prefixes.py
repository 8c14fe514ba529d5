"""Leaders and followers of a shared prefix."""

from __future__ import annotations

import pytest

from inference.gateway import prefixes
from inference.gateway.prefixes import Prefixes
from inference.gateway.queue import Waiting
from inference.gateway.salt import Salt
from tests.unit.inference.gateway.tickets import ticket


def waiting(prefix, share="", *, namespace="n", shared=True):
    return Waiting(ticket(prefix_hash=prefix, share_hash=share), Salt("v", namespace, shared), 0.0, 1.0)


def test_whoever_shares_a_prefix_follows_until_the_leaders_first_token():
    known = Prefixes()
    leader, follower = waiting("p", "cv1"), waiting("p", "cv2")
    assert not known.follows(follower)
    known.lead(leader, "r1")
    assert known.follows(follower)
    known.computed(leader)
    assert not known.follows(follower)


def test_a_second_level_is_led_and_followed_like_the_first():
    known = Prefixes()
    known.lead(waiting("p", "cv1"), "r1")
    known.computed(waiting("p", "cv1"))
    known.lead(waiting("p", "cv2"), "r2")
    assert known.follows(waiting("p", "cv2"))
    assert not known.follows(waiting("p", "cv1"))
    assert not known.follows(waiting("p", "cv3"))


@pytest.mark.parametrize(
    "stranger", [waiting("p", namespace="m"), waiting("p", shared=False), waiting("q"), waiting("")]
)
def test_another_namespace_another_prefix_or_none_follows_nobody(stranger):
    known = Prefixes()
    known.lead(waiting("p"), "r1")
    assert not known.follows(stranger)


def test_when_the_leader_ends_before_its_first_token_the_next_one_leads():
    known = Prefixes()
    known.lead(waiting("p"), "r1")
    known.let_go("r1")
    assert not known.follows(waiting("p"))
    known.lead(waiting("p"), "r2")
    known.let_go("r1")
    assert known.follows(waiting("p"))


def test_after_the_engine_is_gone_everything_is_computed_again():
    known = Prefixes()
    known.lead(waiting("p"), "r1")
    known.computed(waiting("p"))
    known.forget()
    known.lead(waiting("p"), "r2")
    assert known.follows(waiting("p"))


def test_what_was_not_used_for_long_is_forgotten_first(monkeypatch):
    monkeypatch.setattr(prefixes, "REMEMBERED", 2)
    known = Prefixes()
    for name in ("a", "b", "a", "c"):
        known.computed(waiting(name))
    for name in ("a", "b", "c"):
        known.lead(waiting(name), name)
    assert [name for name in ("a", "b", "c") if known.follows(waiting(name))] == ["b"]
