"""Keyed hashes of what was sent, kept for a week, and the best sharing that any cache could have made of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from django.conf import settings

from inference.catalogue.selectors import behaviour_in_force, standing
from inference.catalogue.templates import SELF_HOSTED
from inference.ledger.selectors import facts_in
from inference.ledger.slices import Cut
from inference.metrics.hits import Waterfall, waterfall
from inference.metrics.prefixes import HASH_BYTES, at_most, chain, shared
from inference.models import Attempt, PrefixChain
from nekibu.tenants.scope import current_tenant

MOST_BLOCKS = 1_500_000  # 16 tokens each; more than these are not replayed at once


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The steps from the best possible sharing down to what was read.

    None where nothing of the slice has a stored chain. `replayed` counts all prompts that were laid into the ideal
    cache, of the whole tenant; `complete` is false where the memory's bound cut the oldest ones off, which can only
    lower the ceiling. The granularity is that of the catalogue's row, if somebody has entered one, else 1.
    """

    steps: Waterfall | None
    replayed: int
    complete: bool
    granularity: int
    granularity_state: str


def keep_chain(attempt: Attempt, ids: Sequence[int]) -> None:
    """Keep the hashes of an attempt's prompt. Nobody can read them without the key, and no two tenants have the same."""
    PrefixChain.objects.create(
        attempt=attempt, salt_id=attempt.salt_id, tokens=len(ids), blocks=chain(ids, _key(current_tenant()))
    )


def ceiling_for(cut: Cut) -> Ceiling:
    """Replay what the tenant sent, in the order in which it ended, into a cache that forgets nothing.

    Prompts from before the window are in the cache already, as far back as they are kept. Without salts means without
    those of this tenant: what another tenant sent is not seen here.
    """
    window = cut.window
    rows = PrefixChain.objects.filter(created_at__lt=window.end).order_by("-id")
    names, salts, chains, lengths, blocks = [], [], [], [], 0
    complete = True
    columns = ("attempt_id", "salt_id", "tokens", "blocks")
    for name, salt, length, held in rows.values_list(*columns).iterator(chunk_size=2000):
        blocks += len(held) // HASH_BYTES
        if blocks > MOST_BLOCKS:
            complete = False
            break
        names.append(name)
        salts.append(salt or str(name))
        chains.append(bytes(held))
        lengths.append(length)
    for newest_first in (names, salts, chains, lengths):
        newest_first.reverse()
    wanted = {
        attempt: (tokens, read)
        for attempt, tokens, read in facts_in(cut)
        .filter(attempt__isnull=False, input_total__gt=0, cache_read__isnull=False)
        .values_list("attempt_id", "input_total", "cache_read")
    }
    granularity, state = _granularity(cut)
    places = [n for n, name in enumerate(names) if name in wanted]
    if not places:
        return Ceiling(None, len(names), complete, granularity, state)
    tokens = np.asarray([wanted[names[n]][0] for n in places], dtype=np.int64)
    read = np.asarray([wanted[names[n]][1] for n in places], dtype=np.int64)
    sent = np.asarray(lengths, dtype=np.int64)
    free, kept = shared(chains, sent)[places], shared(chains, sent, salts)[places]
    steps = waterfall(tokens, free, kept, read, granularity=granularity, spread=at_most(kept, tokens) - kept)
    return Ceiling(steps, len(names), complete, granularity, state)


def _granularity(cut: Cut) -> tuple[int, str]:
    """Tokens of the smallest part that the engine shares, and how far that can be relied on."""
    row = behaviour_in_force(SELF_HOSTED, cut.only.get("model", ()), cut.window.end)
    if row is None or row.granularity is None:
        return 1, "unknown"
    return row.granularity, standing(row, cut.window.end).state


def _key(tenant: UUID) -> bytes:
    master = hashlib.sha256(settings.INFERENCE_BODY_KEY.encode()).digest()
    return hashlib.blake2b(tenant.bytes, key=master, digest_size=32, person=b"prefix chain").digest()
