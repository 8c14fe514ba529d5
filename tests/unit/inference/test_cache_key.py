"""A cache key with a part missing shares with nobody."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference.cache_key import cache_key, trust_class
from inference.types import CachePolicy
from tests.cases import case
from tests.unit.inference.specs import pieces

PARTS = {"tenant": "t1", "trust_class": "tenant", "acl_epoch": "1.1"}


def test_all_parts_share_inside_their_namespace():
    key = cache_key(**PARTS, policy=CachePolicy())
    assert key.mode == "isolated"
    assert (key.kv.tenant, key.kv.trust_class, key.kv.acl_epoch) == ("t1", "tenant", "1.1")


@case("ACC-48")
@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_missing_part_means_a_one_time_salt(part, row):
    key = cache_key(**{**PARTS, part: ""}, policy=CachePolicy())
    assert key.mode == "off"
    assert part in key.reasons[0]


@case("ACC-48")
@pytest.mark.parametrize("part", sorted(PARTS))
def test_two_requests_that_differ_in_one_part_have_different_keys(part, row):
    one = cache_key(**PARTS, policy=CachePolicy())
    other = cache_key(**{**PARTS, part: "another"}, policy=CachePolicy())
    assert one.kv != other.kv
    assert not CachePolicy().response  # an answer is never kept unless a task asks for it


def test_a_task_may_switch_sharing_off():
    assert cache_key(**PARTS, policy=CachePolicy(mode="off")).mode == "off"


def test_readers_with_equal_rights_share_and_others_do_not():
    open_pieces = pieces("a", "b")
    ruled = tuple(replace(p, access_rules=("r1",)) for p in open_pieces)
    other = tuple(replace(p, access_rules=("r2",)) for p in open_pieces)
    assert trust_class(open_pieces, restricted=False, actor_id="u") == "tenant"
    assert trust_class(ruled, restricted=False, actor_id="u") == trust_class(
        ruled[::-1], restricted=False, actor_id="v"
    )
    assert trust_class(ruled, restricted=False, actor_id="u") != trust_class(
        other, restricted=False, actor_id="u"
    )
    assert trust_class(ruled, restricted=True, actor_id="u") == "actor:u"
    assert trust_class(ruled, restricted=True, actor_id="") == ""
