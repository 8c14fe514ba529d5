"""Keyed hashes of what was sent, kept for a week, and the best sharing that any cache could have made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db.models import Count, F, Q, Sum
from django.db.models.functions import Greatest, Least

from inference.catalogue.selectors import behaviour_in_force, standing
from inference.catalogue.templates import SELF_HOSTED
from inference.ledger.selectors import facts_in
from inference.ledger.slices import Cut
from inference.metrics.hits import Waterfall, of_sums
from inference.metrics.prefixes import BLOCK, HASH_BYTES, chain, shared
from inference.models import Attempt, PrefixChain
from nekibu.tenants.scope import current_tenant

MOST_BLOCKS = 1_500_000  # 16 tokens each; more than these are not replayed at once


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The steps from the best possible sharing down to what was read.

    None where nothing of the slice has been replayed. `replayed` counts the prompts whose share is known, of the whole
    tenant, and `waiting` those that the beat has still to replay; `complete` is false while there are any. The
    granularity is that of the catalogue's row, if somebody has entered one, else 1.
    """

    steps: Waterfall | None
    replayed: int
    waiting: int
    complete: bool
    granularity: int
    granularity_state: str


def keep_chain(attempt: Attempt, ids: Sequence[int]) -> None:
    """Keep the hashes of an attempt's prompt. Nobody can read them without the key, and no two tenants have the same."""
    PrefixChain.objects.create(
        attempt=attempt, salt_id=attempt.salt_id, tokens=len(ids), blocks=chain(ids, _key(current_tenant()))
    )


def replay() -> int:
    """Work out what each new prompt could have shared, and keep it. Returns how many prompts that were.

    All that is kept of the tenant is laid, in the order in which it ended, into a cache that forgets nothing; prompts are in
    it as far back as they are kept. Where that is more than is replayed at once, the newest are, and their ceiling can
    only be too low. Without salts means without those of this tenant: what another tenant sent is not seen here.
    """
    if not PrefixChain.objects.filter(shared_kept__isnull=True).exists():
        return 0
    rows = PrefixChain.objects.order_by("-id")
    held, blocks = [], 0
    for row in rows.values_list("id", "attempt_id", "salt_id", "tokens", "blocks", "shared_kept").iterator(
        chunk_size=2000
    ):
        blocks += len(row[4]) // HASH_BYTES
        if blocks > MOST_BLOCKS:
            break
        held.append(row)
    held.reverse()
    chains = [bytes(row[4]) for row in held]
    lengths = np.asarray([row[3] for row in held], dtype=np.int64)
    free = shared(chains, lengths)
    kept = shared(chains, lengths, [row[2] or str(row[1]) for row in held])
    new = [
        PrefixChain(
            id=row[0], tenant_id=current_tenant(), shared_free=int(free[at]), shared_kept=int(kept[at])
        )
        for at, row in enumerate(held)
        if row[5] is None
    ]
    PrefixChain.objects.bulk_update(new, ["shared_free", "shared_kept"], batch_size=1000)
    return len(new)


def ceiling_for(cut: Cut) -> Ceiling:
    """The ceiling of a window and a slice, added up from what was replayed."""
    granularity, state = _granularity(cut)
    rows = facts_in(cut).filter(
        attempt__prefix_chain__shared_kept__isnull=False, input_total__gt=0, cache_read__isnull=False
    )
    free, kept = F("attempt__prefix_chain__shared_free"), F("attempt__prefix_chain__shared_kept")
    highest = Least(kept + (BLOCK - 1), Greatest(F("input_total") - 1, 0))
    found = rows.aggregate(
        requests=Count("pk"),
        tokens=Sum("input_total"),
        free=Sum(free),
        kept=Sum(kept),
        paged=Sum(kept / granularity * granularity),
        read=Sum("cache_read"),
        highest=Sum(highest),
        below=Count("pk", filter=Q(**{"attempt__prefix_chain__shared_kept__gt": 0,
                                      "attempt__prefix_chain__shared_kept__lt": granularity})),
    )  # fmt: skip
    known = PrefixChain.objects.aggregate(
        replayed=Count("pk", filter=Q(shared_kept__isnull=False)),
        waiting=Count("pk", filter=Q(shared_kept__isnull=True)),
    )
    steps = None
    if found["tokens"]:
        steps = of_sums(
            **{
                name: int(found[name])
                for name in ("requests", "tokens", "free", "kept", "paged", "read", "highest")
            },
            below_granularity=found["below"],
            granularity=granularity,
        )
    return Ceiling(steps, known["replayed"], known["waiting"], not known["waiting"], granularity, state)


def _granularity(cut: Cut) -> tuple[int, str]:
    """Tokens of the smallest part that the engine shares, and how far that can be relied on."""
    row = behaviour_in_force(SELF_HOSTED, cut.only.get("model", ()), cut.window.end)
    if row is None or row.granularity is None:
        return 1, "unknown"
    return row.granularity, standing(row, cut.window.end).state


def _key(tenant: UUID) -> bytes:
    master = hashlib.sha256(settings.INFERENCE_BODY_KEY.encode()).digest()
    return hashlib.blake2b(tenant.bytes, key=master, digest_size=32, person=b"prefix chain").digest()
