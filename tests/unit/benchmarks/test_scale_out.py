"""The questions of `scale_out`: what they share, and what a tenant's own requests can explain."""

from __future__ import annotations

from collections import Counter

from benchmarks.questions import DOCUMENTS, QUESTIONS, TENANTS, Answer, Texts, computed_at_least
from benchmarks.scale_out import _by_document, _unexplained
from inference.fake import FakeEngine

TEXTS = Texts.made(259, 7)


def answers(texts: Texts, *, leaky: bool) -> list[Answer]:
    """All tickets through an engine with a real prefix tree, one after the other."""
    engine, rows = FakeEngine(leaky=leaky), []
    for ticket in texts.tickets("m"):
        found = engine.generate(ticket.input_ids, ticket.tenant or "", 1, None)
        document = int(ticket.decision_id.rpartition(":")[2])
        rows.append(Answer(ticket.tenant or "", document, "E", found.prompt, found.cached, True, 1, 0, 1))
    return rows


def test_every_tenant_asks_the_same_tokens_in_a_namespace_of_its_own():
    tickets = TEXTS.tickets("m")
    assert len(tickets) == TENANTS * DOCUMENTS * QUESTIONS
    asked = {
        tenant: [t.input_ids for t in tickets if t.tenant == tenant] for tenant in {t.tenant for t in tickets}
    }
    assert len(asked) == TENANTS
    assert len({tuple(ids) for ids in asked.values()}) == 1
    first = tickets[0]
    assert first.share_tokens > first.prefix_tokens > 0
    assert len({t.share_hash for t in tickets}) == DOCUMENTS
    assert len({t.prefix_hash for t in tickets}) == 1


def test_an_ideal_cache_of_ones_own_is_explained_and_one_of_all_tenants_is_not():
    apart, shared = answers(TEXTS, leaky=False), answers(TEXTS, leaky=True)
    assert _unexplained(apart, TEXTS) == 0
    assert _unexplained(shared, TEXTS) >= TENANTS - 1
    computed = Counter[str]()
    for row in apart:
        computed[row.tenant] += row.prompt - row.cached
    assert set(computed.values()) == {computed_at_least(TEXTS)}


def test_the_cases_of_the_interval_are_the_documents_of_the_tenants():
    groups = _by_document(answers(TEXTS, leaky=False))
    assert [len(group) for group in groups] == [QUESTIONS] * TENANTS * DOCUMENTS
