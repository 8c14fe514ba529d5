"""Records of attempts whose caller was gone: kept until somebody says that they are safe."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from inference.gateway import spool as room
from inference.gateway.spool import Spool
from inference.slo import Band
from inference.usage import Usage
from inference.wire import AttemptRecord, Phases


def record(ended_at=1.0):
    return AttemptRecord(
        uuid.uuid4().hex, "d", "t", Band.BATCH, ended_at, "abort", "client_cancelled", Usage(uncached=3, cache_read=2, output=1),
        Phases(), None, None, 0, "R", "F", "n",
    )  # fmt: skip


@pytest.fixture
def spool(tmp_path):
    return Spool(tmp_path / "run" / "attempts")


def test_a_record_outlives_the_gateway_until_it_is_acknowledged(spool):
    one, other = record(), record()
    spool.keep(one)
    spool.keep(other)
    again = Spool(spool.folder)
    assert {r.attempt_id for r in again.all()} == {one.attempt_id, other.attempt_id}
    again.acknowledge([one.attempt_id, "f" * 32])
    assert again.all() == [other]


def test_records_come_in_the_order_of_their_ends(spool):
    records = [record(ended_at=at) for at in (300.0, 5.0, 20.5)]
    for item in records:
        spool.keep(item)
    assert spool.all() == sorted(records, key=lambda r: r.ended_at)


def test_the_same_attempt_kept_again_at_the_same_time_is_one_record(spool):
    first = record()
    spool.keep(first)
    spool.keep(replace(first, cause="draining"))
    assert [r.cause for r in spool.all()] == ["draining"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"v": 0}', '{"v": 1, "attempt_id": 7}'])
def test_a_record_that_cannot_be_read_is_set_aside_and_does_not_hold_up_the_others(spool, content):
    good = record()
    spool.keep(good)
    (spool.folder / "000-broken.json").write_text(content)
    assert spool.all() == [good]
    assert (spool.folder / "000-broken.unreadable").read_text() == content


def test_above_its_bound_the_oldest_is_given_up_and_said_to_be(spool, monkeypatch, caplog):
    monkeypatch.setattr(room, "BOUND", 2)
    records = [record(ended_at=float(n)) for n in range(3)]
    for item in records:
        spool.keep(item)
    assert spool.all() == records[1:]
    assert records[0].attempt_id in caplog.text


@pytest.mark.parametrize("name", ["*", "../../etc", "?" * 32, ""])
def test_only_ids_are_acknowledged(spool, name):
    spool.keep(record())
    spool.acknowledge([name])
    assert len(spool.all()) == 1
