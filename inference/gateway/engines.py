"""What is known of the engine, and its probes: is it the one that was launched, does it answer, does it keep tenants apart."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

State = Literal["installing", "loading", "ready", "restarting", "down"]
PAIR_TOKENS = 96


@dataclass(slots=True)
class Engine:
    """One engine: where it is, what it says it is, and how it stands."""

    name: str
    kind: Literal["sglang", "fake"]
    url: str = ""
    key: str = ""
    admin_key: str = ""
    model: str = ""
    revision: str = ""
    device: str = ""
    tokenizer: str = ""
    fingerprint: str = ""
    context_length: int | None = None
    max_input: int | None = None
    vocab_size: int | None = None
    slots: int | None = None
    pool: int | None = None
    state: State = "installing"
    since: float = field(default_factory=time.time)
    detail: str = ""
    http: httpx.AsyncClient | None = None

    def move(self, state: State, detail: str = "") -> None:
        """Change the state, and remember since when."""
        if state != self.state:
            self.since = time.time()
        self.state, self.detail = state, detail

    def connect(self) -> httpx.AsyncClient:
        """A fresh client for a fresh engine."""
        limits = httpx.Limits(max_connections=256, keepalive_expiry=30)
        self.http = httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self.key}"},
            limits=limits,
            timeout=httpx.Timeout(None, connect=5.0),
            trust_env=False,
        )
        return self.http


async def is_ready(engine: Engine) -> bool:
    """Whether it says that it takes requests."""
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=3.0) as http:
            return (await http.get(f"{engine.url}/ready")).status_code == 200
    except httpx.HTTPError:
        return False


async def learn(engine: Engine, expected: dict[str, Any]) -> str:
    """Read the server's own word; returns why it is not the engine that was launched, or an empty string.

    The answer holds the keys in clear: only listed fields are looked at, and nothing of it is logged.
    """
    assert engine.http is not None  # noqa: S101
    info = (await engine.http.get("/server_info", timeout=20.0)).json()
    engine.slots, engine.pool = info.get("max_running_requests"), info.get("max_total_num_tokens")
    engine.max_input = info.get("max_req_input_len") or engine.context_length
    for name in ("attention_backend", "weight_version", "dtype"):
        wanted = expected.get(name)
        if wanted is not None and info.get(name) not in {None, wanted}:
            return f"the engine runs with {name}={info.get(name)!r} instead of {wanted!r}"
    if (
        info.get("speculative_algorithm") == "NGRAM"
        or info.get("enable_hierarchical_cache")
        or info.get("disable_radix_cache")
    ):
        return "the engine runs with a setting that does not keep tenants apart"
    if engine.kind == "sglang" and not engine.revision:
        engine.revision = str(info.get("weight_version") or "unknown")
    if not engine.slots or not engine.pool:
        return "the engine does not say how much it can hold"
    return ""


async def isolated(engine: Engine) -> str:
    """The paired check: the same namespace hits, another one does not. Returns what was wrong, or an empty string."""
    top = min(engine.vocab_size or 259, 40_000) - 10
    ids = [random.randrange(10, top) for _ in range(PAIR_TOKENS)]  # noqa: S311  (a nonce, not a secret)
    one, other = secrets.token_hex(32), secrets.token_hex(32)
    found = [await cached(engine, ids, salt) for salt in (one, one, other, other, one)]
    hit = PAIR_TOKENS - 2
    if None in found:
        return "the engine does not report cached tokens"
    if found[0] or found[2]:
        return f"the engine shares computed tokens between namespaces ({found})"
    if any(n is None or n < hit for n in (found[1], found[3], found[4])):
        return f"the engine does not reuse computed tokens within a namespace ({found})"
    return ""


async def cached(engine: Engine, ids: list[int], salt: str) -> int | None:
    """One greedy token; how much of the prompt came from the cache."""
    from inference.gateway.dialect import stream

    assert engine.http is not None  # noqa: S101
    body = {
        "rid": secrets.token_hex(16), "input_ids": ids, "cache_salt": salt, "priority": 20, "stream": True,
        "sampling_params": {"max_new_tokens": 1, "temperature": 0, "top_p": 1},
    }  # fmt: skip
    async with asyncio.timeout(60):
        async for chunk in stream(engine.http, body):
            if chunk.finish:
                return chunk.meta.get("cached_tokens")
    return None
