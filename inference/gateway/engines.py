"""What is known of an engine, and its probes: is it the one that was launched, does it answer, does it keep tenants apart."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from inference.gateway.dialect import stream
from inference.reasons import EngineNote

State = Literal["installing", "loading", "ready", "restarting", "down"]
PAIR_TOKENS = 96


@dataclass(slots=True)
class Engine:
    """One engine: where it is, what it says it is, and how it stands."""

    name: str
    kind: Literal["sglang", "fake"]
    url: str = ""
    key: str = field(default="", repr=False)
    admin_key: str = field(default="", repr=False)
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
    page: int = 1  # computed tokens are kept in pages of so many
    state: State = "installing"
    since: float = field(default_factory=time.time)
    detail: str = ""
    http: httpx.AsyncClient | None = None

    def move(self, state: State, detail: str = "") -> None:
        """Change the state, and remember since when."""
        if state != self.state:
            self.since = time.time()
        self.state, self.detail = state, detail

    def connect(self, transport: httpx.AsyncBaseTransport | None = None) -> httpx.AsyncClient:
        """A fresh client for a fresh engine. `transport`: another way to it than its URL."""
        self.http = httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self.key}"} if self.key else {},
            limits=httpx.Limits(max_connections=None, keepalive_expiry=30),
            timeout=httpx.Timeout(None, connect=5.0),
            trust_env=False,
            transport=transport,
        )
        return self.http

    async def disconnect(self) -> None:
        """Give the client up; what is still read through it breaks off."""
        http, self.http = self.http, None
        if http is not None:
            await http.aclose()


async def is_ready(engine: Engine) -> bool:
    """Whether it says that it takes requests."""
    assert engine.http is not None  # noqa: S101
    try:
        return (await engine.http.get("/ready", timeout=3.0)).status_code == 200
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
    engine.page = info.get("page_size") or 1
    for name in ("attention_backend", "weight_version", "dtype"):
        wanted = expected.get(name)
        if wanted is not None and info.get(name) not in {None, wanted}:
            return EngineNote.OTHER_SETTING.say(name=name, found=repr(info.get(name)), wanted=repr(wanted))
    if (
        info.get("speculative_algorithm") == "NGRAM"
        or info.get("enable_hierarchical_cache")
        or info.get("disable_radix_cache")
    ):
        return EngineNote.UNSAFE_SETTING.say()
    if engine.kind == "sglang" and not engine.revision:
        engine.revision = str(info.get("weight_version") or "unknown")
    if not engine.slots or not engine.pool:
        return EngineNote.NO_SIZE.say()
    return ""


async def isolated(engine: Engine) -> str:
    """The paired check: the same namespace hits, another one does not. Returns what was wrong, or an empty string."""
    top = min(engine.vocab_size or 259, 40_000) - 10
    length = max(PAIR_TOKENS, 3 * engine.page)
    ids = [random.randrange(10, top) for _ in range(length)]  # noqa: S311  (a nonce, not a secret)
    one, other = secrets.token_hex(32), secrets.token_hex(32)
    found = [await cached(engine, ids, salt) for salt in (one, one, other, other, one)]
    known = [n for n in found if n is not None]
    if len(known) < len(found):
        return EngineNote.NO_REPORT.say()
    if known[0] or known[2]:
        return EngineNote.SHARES.say(found=known)
    if min(known[1], known[3], known[4]) < length - 1 - engine.page:
        return EngineNote.NO_REUSE.say(found=known)
    return ""


async def cached(engine: Engine, ids: list[int], salt: str) -> int | None:
    """One greedy token; how much of the prompt came from the cache."""
    assert engine.http is not None  # noqa: S101
    body = {
        "rid": secrets.token_hex(16), "input_ids": ids, "cache_salt": salt, "priority": 20, "stream": True,
        "sampling_params": {"max_new_tokens": 1, "temperature": 0, "top_p": 1},
    }  # fmt: skip
    async with asyncio.timeout(60), aclosing(stream(engine.http, body)) as chunks:
        async for chunk in chunks:
            if chunk.finish:
                count: int | None = chunk.meta.get("cached_tokens")
                return count
    return None
