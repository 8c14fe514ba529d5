"""How fast the engine on the CPU is, against SGLang's own CPU path on the same machine at the same time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import random
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.deployment import Server, started_together
from benchmarks.registry import Options, benchmark
from benchmarks.result import Direction, Result, measured
from benchmarks.statistics import bootstrap, interleaved
from benchmarks.table import table

ROUNDS, QUICK_ROUNDS = 7, 2
OURS, STOCK = "ours", "stock"
MODES = {OURS: (), STOCK: ("--cpu-mode", "stock")}
PREFIX, ASKED, COLD = (
    1_200,
    20,
    1_000,
)  # tokens: a shared prefix, what follows it, a prompt that nobody sent before
TOKENS, TOKENS_TOGETHER = 256, 96  # of one stream, of each of several
PATIENCE, LIMIT = (
    60.0,
    8.0,
)  # seconds until a first token, and until a stream is cut: stock may give a token a second


class NoFigure(RuntimeError):
    """The engine did not do what is to be measured."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A child of this benchmark, and the prefix that it holds."""

    arm: str
    server: Server
    prefix: tuple[int, ...]
    salt: str


@dataclass(frozen=True, slots=True)
class Stream:
    """When a request was sent, when each of its tokens came, and what of its prompt was cached."""

    sent: float
    tokens: tuple[float, ...]
    cached: int

    @property
    def ttft(self) -> float:
        return self.tokens[0] - self.sent


@dataclass(frozen=True, slots=True)
class Round:
    """What one engine did in one round: seconds, and tokens a second."""

    warm: float
    cold: float
    alone: float
    eight: float
    sixteen: float
    beside: float


@benchmark(
    "cpu_engine",
    "the CPU engine against SGLang's own CPU path: first token, decode, prefill, a busy neighbour",
)
def run(options: Options) -> list[Result]:
    """Two engines, one of them busy at a time, in shuffled order."""
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    rng = random.Random(options.seed)
    done: dict[str, list[Round]] = {OURS: [], STOCK: []}
    with contextlib.ExitStack() as children:
        engines = {arm: children.enter_context(started(arm, rng)) for arm in MODES}
        for engine in engines.values():
            asyncio.run(_stream(engine, [*engine.prefix], 2, engine.salt))
        for number, arm in interleaved(tuple(engines), rounds, seed=options.seed):
            done[arm].append(_round(engines[arm], rng))
            print(
                f"round {number + 1}, {arm}: {_said(done[arm][-1])}; load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
    print(f"\n{_tables(done)}\nmachine: {_machine()}")
    return _figures(list(zip(done[OURS], done[STOCK], strict=True)))


# ---- engines


@contextlib.contextmanager
def started(arm: str, rng: random.Random) -> Iterator[Engine]:
    """An engine as the gateway starts it, stopped with its whole process group on the way out."""
    with (
        tempfile.TemporaryDirectory(prefix="nekibu-bench-") as name,
        started_together(Path(name), 1, *MODES[arm]) as [server],
    ):
        prefix = tuple(_ids(rng, PREFIX, server.vocabulary))
        yield Engine(arm, server, prefix, secrets.token_hex(32))


@contextlib.contextmanager
def busy_neighbour() -> Iterator[None]:
    """A process that computes without pause, as a database or a worker may for a while."""
    child = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        child.kill()
        child.wait(10)


# ---- requests


def _ids(rng: random.Random, count: int, vocabulary: int) -> list[int]:
    return [rng.randrange(vocabulary // 100, vocabulary) for _ in range(count)]


async def _stream(engine: Engine, ids: Sequence[int], tokens: int, salt: str | None = None) -> Stream:
    """One greedy stream. Its bytes are read plainly: sixteen streams through a client library cost a core of the two."""
    body = json.dumps(
        {
            "rid": secrets.token_hex(16),
            "input_ids": list(ids),
            "cache_salt": salt or secrets.token_hex(32),
            "priority": 0,
            "stream": True,
            "sampling_params": {"max_new_tokens": tokens, "temperature": 0, "top_p": 1, "ignore_eos": True},
        }
    ).encode()
    head = (
        f"POST /generate HTTP/1.1\r\nHost: engine\r\nAuthorization: Bearer {engine.server.key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", engine.server.port, limit=1 << 20)
    times: list[float] = []
    cached, sent = 0, time.perf_counter()
    try:
        writer.write(head.encode() + body)
        async with asyncio.timeout(PATIENCE) as clock:
            while line := await reader.readline():
                if line.startswith(b"data: {"):
                    chunk = json.loads(line[6:])
                    cached = chunk["meta_info"].get("cached_tokens") or cached
                    if not times:
                        clock.reschedule(asyncio.get_running_loop().time() + LIMIT)
                    times += [time.perf_counter()] * len(chunk["output_ids"])
    except TimeoutError:
        pass  # what came until then counts
    finally:
        writer.close()
    if not times:
        raise NoFigure(f"{engine.arm} gave no token in {PATIENCE:.0f} s")
    return Stream(sent, tuple(times), cached)


def rate(streams: Sequence[Stream]) -> float:
    """Tokens a second while every stream was running: from the last first token to the first last one."""
    begin, end = max(s.tokens[0] for s in streams), min(s.tokens[-1] for s in streams)
    inside = sum(begin < at <= end for s in streams for at in s.tokens)
    if not inside:
        raise NoFigure("the streams did not run together")
    return inside / (end - begin)


def _alone(engine: Engine, rng: random.Random) -> float:
    """Tokens a second of one stream, its short prompt included: a reader that is kept waiting may see tokens in heaps."""
    stream = asyncio.run(_stream(engine, _ids(rng, 32, engine.server.vocabulary), TOKENS))
    return len(stream.tokens) / (stream.tokens[-1] - stream.sent)


def _together(engine: Engine, rng: random.Random, streams: int) -> float:
    async def all_of_them() -> list[Stream]:
        prompts = [_ids(rng, 32, engine.server.vocabulary) for _ in range(streams)]
        return await asyncio.gather(*(_stream(engine, prompt, TOKENS_TOGETHER) for prompt in prompts))

    return rate(asyncio.run(all_of_them()))


def _warm(engine: Engine, rng: random.Random) -> float:
    asked = _ids(rng, ASKED, engine.server.vocabulary)
    stream = asyncio.run(_stream(engine, [*engine.prefix, *asked], 1, engine.salt))
    if stream.cached < PREFIX:
        raise NoFigure(f"{engine.arm} had only {stream.cached} of {PREFIX} tokens in its cache")
    return stream.ttft


def _cold(engine: Engine, rng: random.Random) -> float:
    stream = asyncio.run(_stream(engine, _ids(rng, COLD, engine.server.vocabulary), 1))
    if stream.cached:
        raise NoFigure(f"{engine.arm} had tokens of a new prompt in its cache")
    return stream.ttft


def _round(engine: Engine, rng: random.Random) -> Round:
    warm, cold = median(_warm(engine, rng) for _ in range(3)), _cold(engine, rng)
    alone, eight, sixteen = _alone(engine, rng), _together(engine, rng, 8), _together(engine, rng, 16)
    with busy_neighbour():
        beside = _alone(engine, rng)
    return Round(warm, cold, alone, eight, sixteen, beside)


# ---- figures


def _figures(pairs: Sequence[tuple[Round, Round]]) -> list[Result]:
    """Each ratio within its round, and the median over rounds."""

    def ratio(name: str, of: Any, target: tuple[Direction, float] | None) -> Result:
        def middle(some: Sequence[tuple[Round, Round]]) -> float:
            return median(of(ours, stock) for ours, stock in some)

        return measured(
            name, middle(pairs), "ratio", n=len(pairs), ci=bootstrap(pairs, middle), target=target
        )

    return [
        ratio(
            f"first token behind {PREFIX:,} cached tokens, ours / stock",
            lambda o, s: o.warm / s.warm,
            ("<=", 0.25),
        ),
        ratio("decode of one stream, ours / stock", lambda o, s: o.alone / s.alone, (">=", 1.5)),
        ratio("decode of sixteen streams, ours / stock", lambda o, s: o.sixteen / s.sixteen, (">=", 1.5)),
        ratio(f"prefill of {COLD:,} new tokens, ours / stock", lambda o, s: s.cold / o.cold, (">=", 1.1)),
        ratio("decode beside a busy neighbour / alone, ours", lambda o, s: o.beside / o.alone, (">=", 0.8)),
        ratio("decode beside a busy neighbour / alone, stock", lambda o, s: s.beside / s.alone, None),
        ratio("decode beside a busy neighbour, ours / stock", lambda o, s: o.beside / s.beside, None),
    ]


def _said(one: Round) -> str:
    return (
        f"first token {one.warm * 1000:.0f} ms warm and {one.cold * 1000:.0f} ms cold; tokens/s {one.alone:.0f} alone, "
        f"{one.eight:.0f} by 8, {one.sixteen:.0f} by 16, {one.beside:.1f} beside a neighbour"
    )


def _tables(done: dict[str, list[Round]]) -> str:
    rows = [
        (f"first token behind {PREFIX:,} cached tokens", "ms", lambda r: r.warm * 1000),
        ("prefill of a new prompt", "tokens/s", lambda r: COLD / r.cold),
        ("decode, one stream", "tokens/s", lambda r: r.alone),
        ("decode, eight streams", "tokens/s", lambda r: r.eight),
        ("decode, sixteen streams", "tokens/s", lambda r: r.sixteen),
        ("decode, one stream beside a busy neighbour", "tokens/s", lambda r: r.beside),
    ]
    return table(
        ("median of rounds", "unit", *done),
        (
            (name, unit, *(float(median(map(of, rounds))) for rounds in done.values()))
            for name, unit, of in rows
        ),
    )


def _machine() -> str:
    """What decides about these figures: cores, their name, the instructions that the kernels use."""
    text = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").is_file() else ""
    fields = dict(line.split("\t: ", 1) for line in text.splitlines() if "\t: " in line)
    flags = {flag for key, value in fields.items() if key.strip() == "flags" for flag in value.split()}
    wanted = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_int8")
    found = ", ".join(f"{flag} {'yes' if flag in flags else 'no'}" for flag in wanted)
    name = next((value for key, value in fields.items() if key.strip() == "model name"), platform.machine())
    return f"{len(os.sched_getaffinity(0))} cores, {name}; {found}"
