"""Stage 6: the versioned key of the prefix cache. Its parts are shown; the salt is made in the gateway and never seen here."""

from __future__ import annotations

from typing import Literal

from inference.reasons import Noted
from inference.types import CacheKey, CachePolicy, Evidence, Namespace, digest

SCHEME = "kv1"


def cache_key(*, tenant: str, trust_class: str, acl_epoch: str, policy: CachePolicy) -> CacheKey:
    """Who may share what was computed. A missing part, or a task that switches the cache off, shares with nobody."""
    missing = [
        name
        for name, part in (("tenant", tenant), ("trust_class", trust_class), ("acl_epoch", acl_epoch))
        if not part
    ]
    mode: Literal["isolated", "off"] = "off" if missing or policy.mode == "off" else "isolated"
    if missing:
        reasons = (Noted.SALT_MISSING.say(missing=", ".join(missing)),)
    elif policy.mode == "off":
        reasons = (Noted.SALT_OFF.say(),)
    else:
        reasons = (Noted.SHARED.say(trust_class=trust_class, epoch=acl_epoch),)
    return CacheKey(SCHEME, Namespace(tenant, trust_class, acl_epoch), mode, reasons)


def trust_class(evidence: tuple[Evidence, ...], *, restricted: bool, actor_id: str) -> str:
    """Who may share what is computed over these pieces: the tenant, readers with equal rights, or one actor alone."""
    if restricted:
        return f"actor:{actor_id}" if actor_id else ""
    rules = sorted({rule for piece in evidence for rule in piece.access_rules})
    return f"acl:{digest(rules)[:32]}" if rules else "tenant"
