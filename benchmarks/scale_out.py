"""Two engines behind one gateway: namespaces, sharing, the death of one under load, and routers in front of both."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.deployment import (
    ROUTERS,
    Gateway,
    Router,
    Server,
    before_router,
    gateway,
    raw_pair,
    started_together,
)
from benchmarks.questions import (
    DOCUMENTS,
    QUESTIONS,
    TENANTS,
    Answer,
    Texts,
    answered,
    at_once,
    computed_at_least,
)
from benchmarks.registry import Options, benchmark
from benchmarks.result import Result, measured
from benchmarks.statistics import bootstrap, ratio
from benchmarks.table import table

PAIRS, QUICK_PAIRS = 10, 3
OF_ONE = 0.90
LOADED, LONG = 48, 96  # requests while a server is killed, and tokens of each of their answers
TOGETHER = 12


@benchmark(
    "scale_out", "two engines behind one gateway: namespaces apart, hit rate of one, one killed under load"
)
def run(options: Options) -> list[Result]:
    """The same questions to one server and to two, then through each router that is there, then one server dies."""
    pairs = QUICK_PAIRS if options.quick else PAIRS
    results: list[Result] = []
    with contextlib.ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nekibu-scale-")))
        began = time.monotonic()
        servers = stack.enter_context(started_together(home, 2))
        print(f"two servers ready after {time.monotonic() - began:.0f} s", flush=True)
        texts = Texts.made(servers[0].vocabulary, options.seed)
        with gateway(home / "one", servers[0], [servers[0].url]) as one:
            alone = _asked(one, texts, "one")
        with gateway(home / "two", servers[0], [server.url for server in servers]) as two:
            both = _asked(two, texts, "two")
            results += _namespaces(two, texts, pairs, "two engines")
            results += _sharing(alone, both, texts)
            print(_tables({"one server": alone, "two servers": both}), flush=True)
        for router in ROUTERS:
            results += _through(home, router, servers, texts, pairs)
        with gateway(home / "kill", servers[0], [server.url for server in servers]) as two:
            results += _kill(two, servers[1], texts)
    return results


def _asked(at: Gateway, texts: Texts, arm: str) -> tuple[list[Answer], float]:
    """Every question of every tenant, and how long that took."""
    tickets = texts.tickets(f"{arm}-{secrets.token_hex(3)}")
    began = time.monotonic()
    answers = at_once(at.client, tickets, TOGETHER)
    return answers, time.monotonic() - began


def _hit(rows: Sequence[Answer]) -> float:
    return ratio([(row.cached, row.prompt) for row in rows])


def _sharing(
    alone: tuple[list[Answer], float], both: tuple[list[Answer], float], texts: Texts
) -> list[Result]:
    one, two = alone[0], both[0]
    groups = list(zip(_by_document(one), _by_document(two), strict=True))

    def share(cases: Sequence[tuple[list[Answer], list[Answer]]]) -> float:
        return _hit([a for _one, rows in cases for a in rows]) / _hit(
            [a for rows, _two in cases for a in rows]
        )

    spread = Counter(answer.engine for answer in two)
    return [
        measured("hit rate of two as a share of one server's", share(groups), "share", n=len(two),
                 ci=bootstrap(groups, share), target=(">=", OF_ONE)),
        measured("hit rate, one server", _hit(one), "share", n=len(one)),
        measured("hit rate, two servers", _hit(two), "share", n=len(two)),
        measured("share of the less used server", min(spread.values()) / len(two) if len(spread) == 2 else 0.0, "share",
                 n=len(two), target=(">=", 0.2)),
        measured("tenants with more hits than their own requests explain",
                 sum(_unexplained(rows, texts) for rows in (one, two)), "tenants", n=2 * TENANTS, target=("==", 0)),
        measured("questions per minute, one server", 60 * len(one) / alone[1], "1/min", n=len(one)),
        measured("questions per minute, two servers", 60 * len(two) / both[1], "1/min", n=len(two)),
    ]  # fmt: skip


def _by_document(rows: Sequence[Answer]) -> list[list[Answer]]:
    found: dict[tuple[str, int], list[Answer]] = {}
    for row in rows:
        found.setdefault((row.tenant.rpartition("-")[2], row.document), []).append(row)
    return [found[key] for key in sorted(found)]


def _unexplained(rows: Sequence[Answer], texts: Texts) -> int:
    """All tenants ask with the same tokens, so a shared tree would spare later ones what is new to them."""
    computed: Counter[str] = Counter()
    for row in rows:
        computed[row.tenant] += row.prompt - row.cached
    return sum(tokens < computed_at_least(texts) for tokens in computed.values())


def _namespaces(at: Gateway, texts: Texts, pairs: int, where: str) -> list[Result]:
    """One fresh document after the other: a tenant twice, another tenant twice, the first again."""
    wrong, engines = 0, Counter[str]()
    for number in range(pairs):
        mark = f"pair-{secrets.token_hex(4)}"
        names = [f"{mark}-{who}" for who in "aabba"]
        fresh = texts.document(number)
        answers = [answered(at.client, fresh.ticket(name, mark)) for name in names]
        engines.update(answer.engine for answer in answers[:1])
        reused = [answer.cached >= answer.prompt - 2 for answer in answers]
        apart = [answer.cached == 0 for answer in answers]
        wrong += not (apart[0] and reused[1] and apart[2] and reused[3] and reused[4])
    print(f"pairs of namespaces, {where}: {pairs}, wrong {wrong}, on {dict(engines)}", flush=True)
    return [
        measured(f"pairs of namespaces that were not kept apart, {where}", wrong, "pairs", n=pairs, target=("==", 0))
    ]  # fmt: skip


def _through(home: Path, router: Router, servers: Sequence[Server], texts: Texts, pairs: int) -> list[Result]:
    """What a router does to the salt, and whether the gateway serves through it."""
    if not router.there:
        print(f"left out: {router.name} is not in {router.folder}", flush=True)
        return []
    with before_router(router, servers, home / f"{router.name}.log") as url:
        plain, repeated = raw_pair(url, servers[0], repeat=False), raw_pair(url, servers[0], repeat=True)
        print(f"{router.name}: cached tokens of a a b b a: {plain}; with extra_key: {repeated}", flush=True)
        with gateway(home / router.name, servers[0], [url]) as at:
            view = at.client.engines()[0]
            print(f"{router.name}: {view.state} {view.detail}, {view.slots} slots", flush=True)
            results = [
                measured(f"salt arrives through {router.name}", float(plain[2] == 0), "yes", n=len(plain)),
                measured(
                    f"the gateway serves through {router.name}", float(view.state == "ready"), "yes", n=1
                ),
            ]
            if view.state == "ready":
                answers, _seconds = _asked(at, texts, router.name)
                results += _namespaces(at, texts, pairs, router.name)
                results.append(
                    measured(f"hit rate through {router.name}", _hit(answers), "share", n=len(answers))
                )
    return results


def _kill(at: Gateway, victim: Server, texts: Texts) -> list[Result]:
    """A server dies while both work; whoever had heard a token of it asks again, as the product does."""
    tickets = texts.tickets(f"kill-{secrets.token_hex(3)}", count=LOADED, max_out=LONG)
    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(at_once, at.client, tickets, TOGETHER)
        until = time.monotonic() + 60
        while not (running := _loaded(at)) and time.monotonic() < until:
            time.sleep(0.05)
        if not running:
            raise RuntimeError("the two engines were never busy at once")
        os.killpg(victim.pid, signal.SIGKILL)
        answers = work.result()
    print(
        f"killed {victim.url} with {running} running: {sum(a.restarts for a in answers)} restarts, "
        f"{sum(a.asked - 1 for a in answers)} asked again, {sum(not a.whole for a in answers)} lost",
        flush=True,
    )
    states = {view.engine: view.state for view in at.client.engines()}
    print(f"afterwards: {states}, pool {at.client.state().state}", flush=True)
    return [
        measured("questions lost when a server is killed", sum(not a.whole for a in answers), "questions", n=len(answers), target=("==", 0)),
        measured("questions answered twice", sum(a.ends > 1 for a in answers), "questions", n=len(answers), target=("==", 0)),
        measured("restarts without a word lost", sum(a.restarts for a in answers), "restarts", n=len(answers)),
        measured("questions asked again after a broken stream", sum(a.asked > 1 for a in answers), "questions", n=len(answers)),
    ]  # fmt: skip


def _loaded(at: Gateway) -> dict[str, int]:
    """What runs on each engine, once both have something to do."""
    running = {view.engine: view.running for view in at.client.engines()}
    return running if min(running.values()) >= 3 else {}


def _tables(arms: dict[str, tuple[list[Answer], float]]) -> str:
    rows = []
    for name, (answers, seconds) in arms.items():
        spread = Counter(answer.engine for answer in answers)
        rows.append((name, len(answers), sum(a.prompt for a in answers), sum(a.cached for a in answers), _hit(answers),
                     " / ".join(str(n) for _name, n in sorted(spread.items())), f"{seconds:.1f} s"))  # fmt: skip
    head = ("arm", "questions", "input", "cached", "hit rate", "on each server", "time")
    shape = f"{TENANTS} tenants × {DOCUMENTS} documents × {QUESTIONS} questions, {TOGETHER} at once"
    return f"\n{table(head, rows)}\n{shape}; load {os.getloadavg()[0]:.1f}\n"
