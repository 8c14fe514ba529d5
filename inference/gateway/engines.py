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

from inference.gateway import router
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
    workers: tuple[str, ...] = ()  # servers behind it, when it is a router
    extra_key: bool = False  # the salt is said once more, for a router that drops the first
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

    @property
    def connected(self) -> httpx.AsyncClient:
        """Its client, while it has one."""
        assert self.http is not None  # noqa: S101
        return self.http

    async def disconnect(self) -> None:
        """Give the client up; what is still read through it breaks off."""
        http, self.http = self.http, None
        if http is not None:
            await http.aclose()


async def is_ready(engine: Engine) -> bool:
    """Whether it says that it takes requests; a router has another word for it."""
    assert engine.http is not None  # noqa: S101
    try:
        answer = await engine.http.get("/ready", timeout=3.0)
        if answer.status_code == 404:
            answer = await engine.http.get("/readiness", timeout=3.0)
    except httpx.HTTPError:
        return False
    return answer.status_code == 200


async def learn(engine: Engine, expected: dict[str, Any]) -> str:
    """Read the server's own word; returns why it is not the engine that was launched, or an empty string.

    A router says nothing of itself, so the servers behind it are asked. The answers hold the keys in clear: only listed
    fields are looked at, and nothing of them is logged.
    """
    assert engine.http is not None  # noqa: S101
    told: list[dict[str, Any]] = []
    for server in engine.workers or ("",):
        info = (await engine.http.get(f"{server}/server_info", timeout=20.0)).json()
        problem = _unfit(info, expected) or (_differs(info, told[0], server) if told else "")
        if problem:
            return problem
        told.append(info)
    engine.slots = sum(info["max_running_requests"] for info in told)
    engine.pool = sum(info["max_total_num_tokens"] for info in told)
    inputs = [info["max_req_input_len"] for info in told if info.get("max_req_input_len")]
    engine.max_input = min(inputs) if inputs else engine.context_length
    engine.page = max(info.get("page_size") or 1 for info in told)
    if engine.kind == "sglang" and not engine.revision:
        engine.revision = str(told[0].get("weight_version") or "unknown")
    return ""


def _unfit(info: dict[str, Any], expected: dict[str, Any]) -> str:
    """Why a server is not to be served with, by its own word."""
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
    if not info.get("max_running_requests") or not info.get("max_total_num_tokens"):
        return EngineNote.NO_SIZE.say()
    return ""


def _differs(info: dict[str, Any], first: dict[str, Any], server: str) -> str:
    """Why servers behind one router are not one model."""
    found, wanted = info.get("weight_version"), first.get("weight_version")
    if found == wanted:
        return ""
    return EngineNote.WORKERS_DIFFER.say(server=server, found=repr(found), wanted=repr(wanted))


async def isolated(engine: Engine) -> str:
    """The paired check: the same namespace hits, another one does not. Returns what was wrong, or an empty string.

    Through a router it is made so often that each server behind it is reached, and where the router drops the salt once
    more with the salt repeated as `extra_key`, which routers pass on.
    """
    engine.extra_key = False
    problem = await _pairs(engine)
    if problem is None:
        return ""
    if not engine.workers:
        return problem[0].say(found=problem[1]) if problem[1] else problem[0].say()
    if problem[0] is EngineNote.SHARES:
        engine.extra_key = True
        problem = await _pairs(engine)
        if problem is None:
            return ""
        if problem[0] is EngineNote.SHARES:
            return EngineNote.ROUTER_DROPS.say(found=problem[1])
    return EngineNote.ROUTER_SPREADS.say(found=problem[1]) if problem[1] else problem[0].say()


Problem = tuple[EngineNote, list[int]]


async def _pairs(engine: Engine) -> Problem | None:
    """One pair for a server, as many as reach every one for a router; the first problem."""
    for _ in range(router.rounds(len(engine.workers))):
        problem = await _pair(engine)
        if problem is not None:
            return problem
    return None


async def _pair(engine: Engine) -> Problem | None:
    """A fresh prefix in one namespace, in another one, and in the first again.

    Behind a router each namespace asks once more than there are servers: so one of them is asked twice, whatever the
    router's way of choosing.
    """
    top = min(engine.vocab_size or 259, 40_000) - 10
    length = max(PAIR_TOKENS, 3 * engine.page)
    ids = [random.randrange(10, top) for _ in range(length)]  # noqa: S311  (a nonce, not a secret)
    one, other = secrets.token_hex(32), secrets.token_hex(32)
    times = (len(engine.workers) or 1) + 1
    found = [await cached(engine, ids, salt) for salt in (*[one] * times, *[other] * times, one)]
    known = [n for n in found if n is not None]
    if len(known) < len(found):
        return EngineNote.NO_REPORT, []
    first, second, again = known[:times], known[times:-1], known[-1]
    if first[0] or second[0]:
        return EngineNote.SHARES, known
    hits = [max(first), max(second), *([] if engine.workers else [again])]
    if min(hits) < length - 1 - engine.page:
        return EngineNote.NO_REUSE, known
    return None


async def cached(engine: Engine, ids: list[int], salt: str) -> int | None:
    """One greedy token; how much of the prompt came from the cache."""
    assert engine.http is not None  # noqa: S101
    body = {
        "rid": secrets.token_hex(16), "input_ids": ids, "cache_salt": salt, "priority": 20, "stream": True,
        "sampling_params": {"max_new_tokens": 1, "temperature": 0, "top_p": 1},
    }  # fmt: skip
    if engine.extra_key:
        body["extra_key"] = salt
    async with asyncio.timeout(60), aclosing(stream(engine.http, body)) as chunks:
        async for chunk in chunks:
            if chunk.finish:
                count: int | None = chunk.meta.get("cached_tokens")
                return count
    return None
