"""Streams through the real gateway: in order, in their namespace, and aborted in the engine when nobody listens any more."""

from __future__ import annotations

import signal
import uuid

from inference.slo import CLASSES, Band
from inference.wire import Aborted, Delta, Done, Queued, Refused, Started
from tests.gateway import eventually
from tests.unit.inference.gateway.tickets import long_answer, ticket

LONG = long_answer(20_000)  # 2,500 chunks: far longer than a test listens


def long_one(**changes):
    return ticket(max_out=30_000, json_schema=LONG, **changes)


async def test_text_comes_while_it_is_written(gateway, callers):
    caller = callers.ask(long_one())
    await caller.heard(Delta, 3)
    assert gateway.client.state().running == gateway.engine_says("num_running_reqs") == 1
    assert caller.kinds() == [Queued, Started, Delta]


async def test_who_goes_away_stops_the_engine_and_leaves_what_it_had_cost(gateway, callers):
    aborted = gateway.engine_says("num_aborted_requests_total")
    asked = long_one(decision_id="left", band=Band.BATCH)
    caller = callers.ask(asked)
    await caller.heard(Delta, 2)
    await caller.leave()
    [record] = await eventually(gateway.client.attempts)
    await eventually(lambda: gateway.engine_says("num_running_reqs") == 0)
    assert gateway.engine_says("num_aborted_requests_total") == aborted + 1
    assert (record.attempt_id, record.decision_id, record.tenant) == (asked.attempt_id, "left", asked.tenant)
    assert (record.band, record.finish, record.cause) == (Band.BATCH, "abort", "client_cancelled")
    assert record.usage.input_total == len(asked.input_ids)
    assert 16 <= record.usage.output < 20_000
    assert gateway.client.attempts() == [record]  # until somebody says that it is safe
    gateway.client.acknowledge([record.attempt_id])
    assert gateway.client.attempts() == []


async def test_who_goes_away_while_waiting_costs_nothing(gateway, callers):
    running = [callers.ask(long_one()) for _ in range(4)]
    for caller in running:
        await caller.heard(Delta)
    waiting = callers.ask(ticket())
    await waiting.heard(Queued)
    await waiting.leave()
    await eventually(lambda: gateway.client.state().queues["interactive"] == 0)
    assert gateway.client.state().running == 4
    assert gateway.client.attempts() == []


async def test_a_cancel_from_elsewhere_ends_the_stream_with_the_engines_own_count(gateway, callers):
    caller = callers.ask(long_one())
    await caller.heard(Delta, 2)
    assert gateway.client.cancel(caller.ticket.attempt_id)
    aborted = await caller.ended()
    assert (type(aborted), aborted.cause, aborted.retryable) == (Aborted, "cancelled", False)
    assert aborted.usage.output == sum(frame.tokens for frame in caller.frames if isinstance(frame, Delta))
    assert not gateway.client.cancel(caller.ticket.attempt_id)
    assert gateway.client.attempts() == []  # its caller heard it


async def test_a_deadline_ends_the_stream_and_the_work(gateway, callers):
    caller = callers.ask(long_one(deadline=2.0))
    aborted = await caller.ended()
    assert (type(aborted), aborted.cause, aborted.retryable) == (Aborted, "timeout", True)
    await eventually(lambda: gateway.engine_says("num_running_reqs") == 0)


async def test_the_same_namespace_hits_and_another_does_not(gateway, callers):
    text, tenant = "A document that several may read. " * 8, uuid.uuid4().hex

    async def cached(**changes):
        done = await callers.ask(ticket(text, **{"tenant": tenant, **changes})).ended()
        assert done.usage.uncached + done.usage.cache_read == len(ticket(text).input_ids)
        return done.usage.cache_read

    whole = len(ticket(text).input_ids) - 1
    assert await cached() == 0
    assert await cached() == whole
    assert await cached(tenant="other") == 0
    assert await cached(trust_class="acl:1") == 0
    assert await cached(acl_epoch="2") == 0
    assert await cached(cache="off") == await cached(cache="off") == 0
    assert await cached(tenant=None) == await cached(tenant=None) == 0
    assert await cached() == whole


async def test_those_who_share_a_document_compute_it_once_although_they_ask_together(gateway, callers):
    document, tenant = "One long document. " * 20, uuid.uuid4().hex
    asked = [
        ticket(f"{document}{n}", tenant=tenant, prefix_hash="d", prefix_tokens=len(document))
        for n in range(6)
    ]
    ends = [await caller.ended() for caller in [callers.ask(one) for one in asked]]
    hits = sorted(done.usage.cache_read for done in ends)
    assert hits == [0] + [len(document)] * 5


async def test_batch_that_came_first_waits_for_online(gateway, callers):
    running = [callers.ask(long_one()) for _ in range(4)]
    for caller in running:
        await caller.heard(Started)
    batch = callers.ask(ticket(band=Band.BATCH))
    assert await batch.heard(Queued) == Queued(1, 0)
    online = callers.ask(long_one())
    assert await online.heard(Queued) == Queued(1, 0)
    gateway.client.cancel(running[0].ticket.attempt_id)
    await online.heard(Started)
    state = gateway.client.state()
    assert (state.running, state.queues["batch"], batch.kinds()) == (4, 1, [Queued])
    gateway.client.cancel(online.ticket.attempt_id)
    assert isinstance(await batch.ended(), Done)


async def test_a_full_queue_refuses_at_once_and_says_when_to_come_back(gateway, callers):
    gateway.signal_engine(signal.SIGSTOP)
    try:
        inside = [callers.ask(ticket()) for _ in range(2)]  # no more enter before their first token
        for caller in inside:
            await caller.heard(Started)
        bound = CLASSES[Band.INTERACTIVE].queue_bound
        waiting = [callers.ask(ticket()) for _ in range(bound)]
        for caller in waiting:
            await caller.heard(Queued)
        late = callers.ask(ticket())
        assert await late.ended() == Refused("queue_full", retry_after=10.0)
        assert late.kinds() == [Refused]
        assert gateway.client.state().queues["interactive"] == bound
        await callers.ask(ticket(band=Band.STANDARD)).heard(Queued)  # the other bands stay open
    finally:
        gateway.signal_engine(signal.SIGCONT)
    for caller in [*inside, waiting[0]]:
        assert isinstance(await caller.ended(), Done)


async def test_who_waits_too_long_is_told(gateway, callers):
    for caller in [callers.ask(long_one()) for _ in range(4)]:
        await caller.heard(Started)
    assert await callers.ask(ticket(queue_ttl=0.2)).ended() == Refused("queue_timeout", retry_after=5.0)
