"""Questions about documents of several tenants, all with the same tokens, straight to a gateway."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from uuid import uuid4

from inference.client import GatewayClient
from inference.slo import Band
from inference.wire import Aborted, Done, Refused, Restart, Started, Ticket

TENANTS, DOCUMENTS, QUESTIONS = 3, 6, 5
STATIC, DOCUMENT, QUESTION = 320, 240, 24  # tokens
SHORT = 8  # tokens of an answer where only the reading counts
TRIES = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one question: where it was answered, what was read from the cache, and how often it had to be asked."""

    tenant: str
    document: int
    engine: str
    prompt: int
    cached: int
    whole: bool
    asked: int
    restarts: int
    ends: int  # answers that were given whole


@dataclass(frozen=True, slots=True)
class Texts:
    """Random tokens: instructions, documents, and questions."""

    static: tuple[int, ...]
    documents: tuple[tuple[int, ...], ...]
    questions: tuple[tuple[int, ...], ...]
    vocabulary: int

    @classmethod
    def made(cls, vocabulary: int, seed: int) -> Texts:
        rng = random.Random(seed)

        def some(count: int) -> tuple[int, ...]:
            return tuple(rng.randrange(100, vocabulary - 100) for _ in range(count))

        return cls(
            some(STATIC),
            # Their first tokens differ, so that no two share more than is meant.
            tuple((50 + number, *some(DOCUMENT - 1)) for number in range(DOCUMENTS)),
            tuple((50 + number, *some(QUESTION - 1)) for number in range(QUESTIONS)),
            vocabulary,
        )

    def document(self, seed: int) -> Texts:
        """The same instructions with one fresh document and question."""
        fresh = Texts.made(self.vocabulary, 10_000 + seed)
        return replace(
            fresh, static=fresh.static, documents=fresh.documents[:1], questions=fresh.questions[:1]
        )

    def ticket(
        self, tenant: str, mark: str, document: int = 0, question: int = 0, max_out: int = SHORT
    ) -> Ticket:
        """One question of a tenant. `mark` keeps the hashes of one run apart from another's."""
        shared = (*self.static, *self.documents[document])
        return Ticket(
            attempt_id=uuid4().hex, decision_id=f"{tenant}:{document}", band=Band.STANDARD, queue_ttl=600.0,
            input_ids=(*shared, *self.questions[question]), max_out=max_out, tenant=tenant, trust_class="tenant", acl_epoch="1.1",
            prefix_hash=f"{mark}-static", prefix_tokens=len(self.static), share_hash=f"{mark}-{document}", share_tokens=len(shared),
        )  # fmt: skip

    def tickets(self, mark: str, *, count: int | None = None, max_out: int = SHORT) -> list[Ticket]:
        """Document after document, its questions together, the tenants in turn."""
        made = [
            self.ticket(f"{mark}-{tenant}", mark, document, question, max_out)
            for document in range(DOCUMENTS)
            for question in range(QUESTIONS)
            for tenant in range(TENANTS)
        ]
        return made[:count]


def computed_at_least(texts: Texts) -> int:
    """What a tenant's own questions must compute, however well they share."""
    documents, questions = len(texts.documents), len(texts.questions)
    return len(texts.static) + documents * (DOCUMENT + questions * QUESTION)


def at_once(client: GatewayClient, tickets: Sequence[Ticket], together: int) -> list[Answer]:
    """All of them, so many at a time."""
    with ThreadPoolExecutor(together) as callers:
        return list(callers.map(lambda ticket: answered(client, ticket), tickets))


def answered(client: GatewayClient, ticket: Ticket) -> Answer:
    """Ask until it is answered or may not be asked again."""
    engine, restarts, ends, cached, document = "", 0, 0, 0, int(ticket.decision_id.rpartition(":")[2])
    tries = 0
    while tries < TRIES and not ends:
        tries += 1
        for frame in client.generate(replace(ticket, attempt_id=uuid4().hex)):
            if isinstance(frame, Started):
                engine = frame.engine
            restarts += isinstance(frame, Restart)
            if isinstance(frame, Done):
                if frame.usage.cache_read is None:
                    raise RuntimeError("the engine reports no cached tokens")
                ends, cached = ends + 1, frame.usage.cache_read
            elif isinstance(frame, Refused) and frame.retry_after is None:
                raise RuntimeError(f"the gateway refused a question: {frame}")
            elif isinstance(frame, Refused | Aborted):
                time.sleep(1.0)
    return Answer(ticket.tenant or "", document, engine, len(ticket.input_ids), cached, bool(ends), tries, restarts, ends)  # fmt: skip
