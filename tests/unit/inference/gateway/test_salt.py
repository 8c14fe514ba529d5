"""Who may share computed tokens: the pair, one component at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inference.gateway.config import KEY_BYTES, salt_key
from inference.gateway.salt import salt_of
from tests.unit.inference.gateway.tickets import ticket

KEY = b"k" * KEY_BYTES
PART = st.text(min_size=1, max_size=12)


def test_the_same_namespace_has_the_same_salt_whatever_is_asked():
    one = salt_of(KEY, ticket("one text"))
    other = salt_of(KEY, ticket("another text", decision_id="e", max_out=5))
    assert one == other
    assert one.shared
    assert len(one.value) == 64


@pytest.mark.parametrize("part", ["tenant", "trust_class", "acl_epoch"])
def test_another_tenant_class_or_epoch_has_another_salt_and_another_id(part):
    mine = ticket()
    one, other = salt_of(KEY, mine), salt_of(KEY, replace(mine, **{part: "other"}))
    assert one.value != other.value
    assert one.id != other.id


@pytest.mark.parametrize(
    "change", [{"tenant": None}, {"trust_class": ""}, {"acl_epoch": None}, {"cache": "off"}]
)
def test_without_a_whole_namespace_every_request_stands_alone(change):
    alone = ticket(**change)
    one, again = salt_of(KEY, alone), salt_of(KEY, alone)
    assert one.value != again.value
    assert not one.shared
    assert (one.id, len(one.value)) == ("once", 64)


def test_another_key_has_other_salts():
    assert salt_of(KEY, ticket()).value != salt_of(b"j" * KEY_BYTES, ticket()).value


@given(st.tuples(PART, PART, PART), st.tuples(PART, PART, PART))
@example(("ab", "c", "d"), ("a", "bc", "d"))
@example(("a", "bc", "d"), ("a", "b", "cd"))
def test_no_two_namespaces_meet_however_their_parts_are_cut(one, other):
    salts = [
        salt_of(KEY, ticket(tenant=tenant, trust_class=trust, acl_epoch=epoch)).value
        for tenant, trust, epoch in (one, other)
    ]
    assert (salts[0] == salts[1]) == (one == other)


def test_the_salt_cannot_be_read_from_its_id_or_a_log_line():
    salt = salt_of(KEY, ticket())
    assert salt.value not in repr(salt)
    assert salt.id not in salt.value
    assert KEY.hex() not in salt.value


def test_the_key_is_made_once_and_only_its_owner_reads_it(tmp_path):
    key = salt_key(tmp_path / "state")
    path = tmp_path / "state" / "salt.key"
    assert salt_key(tmp_path / "state") == key == path.read_bytes()
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert salt_key(tmp_path / "other") != key


@pytest.mark.parametrize("left", [b"", b"short"])
def test_a_key_that_is_not_whole_is_refused(tmp_path, left):
    (tmp_path / "salt.key").write_bytes(left)
    with pytest.raises(SystemExit, match="32 bytes"):
        salt_key(tmp_path)
