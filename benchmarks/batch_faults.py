"""Kills workers and the gateway while a batch runs, then counts results and compares the accounts with what the engine counted."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
from psycopg.rows import dict_row

from benchmarks import processes
from benchmarks.letters.task import SLUG, TERMS
from benchmarks.product import Api, Installation, installation
from benchmarks.registry import Options, benchmark
from benchmarks.result import Result, measured
from benchmarks.statistics import at_least
from nekibu.embedded import secrets
from nekibu.embedded.layout import Layout

ITEMS, QUICK_ITEMS, ENGINE_ITEMS = 5_000, 400, 200
KILLED = ("worker", "gateway")
BETWEEN = (
    20.0,
    50.0,
)  # seconds between two kills: the supervisor waits longer each time for what dies at once again
BOUND, ENGINE_BOUND = 1_500.0, 600.0  # seconds of the whole batch
LOOK = 2.0  # seconds: looking is work for the same two cores
LAST_KILL = 0.9  # of the items: what is killed last must still be healed within the batch
SETTINGS = "benchmarks.letters.settings"
ENDED = {"completed", "failed", "expired", "cancelled"}
PROBE = 300  # tokens: no question is as short, and no probe of the gateway is as long
Counted = tuple[int, int, int]  # prompt tokens, of them from the cache, output tokens


@dataclass(frozen=True, slots=True)
class Inspection:
    """A batch after its faults."""

    asked: int
    lost: int  # questions without a line in the results
    doubled: int  # questions with two lines, two items or two decisions
    unanswered: int  # lines of the error file
    open: int  # items or decisions that have not come to rest


@dataclass(frozen=True, slots=True)
class Balance:
    """What the accounts say of the engine's work, beside what the engine wrote down itself."""

    whole: int  # attempts that ended by themselves, with figures
    cut: int  # attempts that were aborted, with figures
    unknown: int  # attempts that were begun and whose figures nobody reported
    foreign: int  # attempts with figures that the engine did not write down
    beyond: int  # requests that the engine wrote down and no attempt with figures stands for
    ours: Counted  # sums of the accounts
    theirs: Counted  # sums of the requests that stand behind them


@benchmark(
    "batch_faults",
    "kill -9 of workers and the gateway during a batch of 5,000: one result each, accounts as the engine's (fake engine)",
)
def run(options: Options) -> list[Result]:
    """An own tree with the fake engine, which keeps a ledger that outlives it."""
    count = QUICK_ITEMS if options.quick else ITEMS
    with tempfile.TemporaryDirectory(prefix="nekibu-ledger-") as folder:
        ledger = Path(folder) / "ledger.jsonl"
        more = {
            "DJANGO_SETTINGS_MODULE": SETTINGS,
            "NEKIBU_FAKE_ENGINE": "1",
            "NEKIBU_FAKE_OPTIONS": f"--delay 0.02 --ledger {ledger}",
        }
        with installation(own=True, **more) as installed:
            installed.wait_for_engine()
            inspection, kills, seconds, attempts = _trial(installed, count, options.seed, BOUND)
            balance = balanced(attempts, _ledger(ledger))
    print(f"kills: {dict(kills)}; {inspection}; {balance}", flush=True)
    return [*_results(inspection, kills, seconds), *_account_results(balance)]


@benchmark(
    "batch_faults_engine",
    "kill -9 of workers and the gateway during a batch of 200 on the real engine: exactly one result each",
)
def run_on_engine(options: Options) -> list[Result]:
    """An own tree with the real engine. It keeps no ledger, so only the results are counted."""
    count = 40 if options.quick else ENGINE_ITEMS
    with installation(own=True, DJANGO_SETTINGS_MODULE=SETTINGS) as installed:
        engine = installed.wait_for_engine()
        print(f"engine: {engine['engine']} ({engine['kind']}), model {engine['model']}", flush=True)
        inspection, kills, seconds, _attempts = _trial(installed, count, options.seed, ENGINE_BOUND)
    print(f"kills: {dict(kills)}; {inspection}", flush=True)
    return _results(inspection, kills, seconds)


def _trial(
    installed: Installation, count: int, seed: int, bound: float
) -> tuple[Inspection, Counter[str], float, list[dict[str, Any]]]:
    rng, api = random.Random(seed), installed.api("admin")
    lines = questions(count)
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    held = api.post("files/", data={"purpose": "batch"}, files={"file": ("letters.jsonl", body)})
    batch = api.post("batches/", json={"input_file_id": held["id"], "completion_window": "1h"})["id"]
    began, kills = time.monotonic(), Counter[str]()
    due, said = began + rng.uniform(*BETWEEN), 0.0
    while True:
        now = time.monotonic()
        if now - began > bound:
            raise RuntimeError(
                f"the batch has not ended after {bound:.0f} s: {api.get(f'batches/{batch}/')['progress']}"
            )
        row = api.get(f"batches/{batch}/")
        progress = row["progress"]
        if row["status"] in ENDED:
            break
        if now > said + 10:
            said = now
            print(f"{now - began:4.0f} s  {progress['counts']}  kills {dict(kills)}", flush=True)
        if now >= due and progress["total"] and progress["ended"] < LAST_KILL * progress["total"]:
            target = rng.choice(KILLED)
            victim = processes.find(installed.state, target)
            if victim is not None and processes.kill(victim):
                kills[target] += 1
            due = time.monotonic() + rng.uniform(*BETWEEN)
        time.sleep(LOOK)
    seconds = time.monotonic() - began
    _settled(api, batch)
    results = {part: _lines(installed, batch, part) for part in ("output", "error")}
    items, decisions = list(api.rows(f"batches/{batch}/items/")), list(api.rows("decisions/", task=SLUG))
    inspection = inspect(
        [line["custom_id"] for line in lines], results["output"], results["error"], items, decisions
    )
    attempts = speaking(_attempts(installed, batch))
    api.close()
    return inspection, kills, seconds, attempts


def questions(count: int) -> list[dict[str, Any]]:
    """Every letter with every term, as many as are wanted."""
    return [
        {
            "custom_id": f"letter-{n // len(TERMS)}-{TERMS[n % len(TERMS)]}",
            "method": "POST",
            "url": "/v1/decisions",
            "body": {
                "task": SLUG,
                "subject": {"type": "letter", "id": str(n // len(TERMS))},
                "inputs": {"term": TERMS[n % len(TERMS)]},
                "locale": "en",
            },
        }
        for n in range(count)
    ]


def inspect(
    asked: Iterable[str],
    output: list[dict[str, Any]],
    errors: list[dict[str, Any]],
    items: list[dict[str, Any]],
    decisions: list[dict[str, Any]],
) -> Inspection:
    """Whether each question has exactly one line, one item and one decision, all at rest."""
    wanted = list(asked)
    said = Counter(row["custom_id"] for row in (*output, *errors))
    held = Counter(row["custom_id"] for row in items)
    made = Counter(row["correlation"]["custom_id"] for row in decisions)
    stranger = sum(n for name, n in said.items() if name not in set(wanted))
    return Inspection(
        asked=len(wanted),
        lost=sum(said[name] == 0 or held[name] == 0 for name in wanted),
        doubled=stranger + sum(n - 1 for counted in (said, held, made) for n in counted.values() if n > 1),
        unanswered=len(errors),
        open=sum(row["status"] in {"pending", "leased"} for row in items)
        + sum(
            row["status"] in {"received", "prepared", "queued", "running", "checking"} for row in decisions
        ),
    )


def speaking(attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each attempt: what the gateway kept of one whose caller was gone speaks for it."""
    by_id: dict[str, dict[str, Any]] = {}
    for row in sorted(attempts, key=lambda row: bool(row["collected"])):
        by_id[row["attempt_id"]] = row
    return list(by_id.values())


def balanced(attempts: list[dict[str, Any]], ledger: list[dict[str, Any]]) -> Balance:
    """Each attempt with figures against one request of the engine, and what is left over on either side.

    One that ended by itself must have the very figures of a request. One that was aborted must have its input, and no more
    output: the engine may have made a chunk that nobody heard.
    """
    known = [a for a in attempts if a["output"] is not None]
    whole = [a for a in known if a["finish"] in {"stop", "length"}]
    cut = [a for a in known if a["finish"] not in {"stop", "length"}]
    left, foreign = Counter((r["prompt"], r["cached"], r["output"]) for r in ledger), 0
    stood = Counter[Counted]()
    for attempt in whole:
        figures = _figures(attempt)
        if left[figures]:
            left[figures] -= 1
            stood[figures] += 1
        else:
            foreign += 1
    for attempt in sorted(cut, key=_figures, reverse=True):
        prompt, cached, output = _figures(attempt)
        fit = min(
            (key for key, n in left.items() if n and key[:2] == (prompt, cached) and key[2] >= output),
            default=None,
        )
        if fit is not None:
            left[fit] -= 1
            stood[fit] += 1
        elif output or prompt:
            foreign += 1
    return Balance(
        whole=len(whole),
        cut=len(cut),
        unknown=len(attempts) - len(known),
        foreign=foreign,
        beyond=left.total(),
        ours=_sums(Counter(map(_figures, known))),
        theirs=_sums(stood),
    )


def _figures(attempt: dict[str, Any]) -> Counted:
    cached = attempt["cache_read"] or 0
    return (attempt["uncached"] or 0) + cached, cached, attempt["output"]


def _sums(counted: Counter[Counted]) -> Counted:
    prompt, cached, output = (sum(key[n] * times for key, times in counted.items()) for n in range(3))
    return prompt, cached, output


def _settled(api: Api, batch: str) -> None:
    """Until what the gateway kept of dead callers has been collected: the beat does it every twenty seconds."""
    time.sleep(45.0)
    assert api.get(f"batches/{batch}/")["status"] in ENDED


def _attempts(installed: Installation, batch: str) -> list[dict[str, Any]]:
    """What the accounts hold of each attempt that was begun, out of the database: thousands of traces over the API take too long."""
    layout = Layout(installed.state)
    url = layout.database_url("nekibu_app", secrets.load(installed.state).pg_app_password)
    tenant = installed.demo["tenants"][0]["id"]
    with psycopg.connect(url, row_factory=dict_row) as connection:
        connection.execute("SELECT set_config('app.tenant', %s, false)", [tenant])
        return connection.execute(
            "SELECT s.payload->>'attempt_id' AS attempt_id, a.collected, a.finish, a.uncached, a.cache_read, a.output "
            "FROM inference_step s JOIN inference_decision d ON d.id = s.decision_id "
            "LEFT JOIN inference_attempt a ON a.decision_id = d.id AND a.attempt_id = s.payload->>'attempt_id' "
            "WHERE s.stage = 'generate' AND d.correlation->>'batch' = %s",
            [batch],
        ).fetchall()


def _lines(installed: Installation, batch: str, part: str) -> list[dict[str, Any]]:
    token = installed.demo["tokens"][installed.demo["tenants"][0]["slug"]]["admin"]
    url = f"{installed.demo['base_url'].rstrip('/')}/api/v1/batches/{batch}/results/"
    answer = httpx.get(url, params={"part": part}, headers={"Authorization": f"Bearer {token}"}, timeout=60.0)
    answer.raise_for_status()
    return [json.loads(line) for line in answer.text.splitlines()]


def _ledger(path: Path) -> list[dict[str, Any]]:
    """The engine's rows; the probe of one token that the gateway sends at each start is nobody's."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [row for row in rows if row["prompt"] > PROBE]


def _results(found: Inspection, kills: Counter[str], seconds: float) -> list[Result]:
    right = found.asked - found.lost - found.doubled
    return [
        measured("batch faults: questions with exactly one result", right / found.asked, "share", n=found.asked,
                 ci=(at_least(max(0, right), found.asked), 1.0), target=(">=", 1.0)),
        measured("batch faults: questions without a result", found.lost, "questions", n=found.asked, target=("==", 0)),
        measured("batch faults: lines, items or decisions doubled", found.doubled, "rows", n=found.asked, target=("==", 0)),
        measured("batch faults: items or decisions left open", found.open, "rows", n=found.asked, target=("==", 0)),
        measured("batch faults: questions that ended without an answer", found.unanswered, "questions", n=found.asked, target=("==", 0)),
        measured("batch faults: kills", kills.total(), "kills", n=kills.total(), target=(">=", 1)),
        measured("batch faults: time of the whole batch", seconds, "s", n=found.asked),
    ]  # fmt: skip


def _account_results(balance: Balance) -> list[Result]:
    n = balance.whole + balance.cut
    names = ("input", "cached input", "output")
    return [
        measured("batch faults: attempts with figures that the engine did not count", balance.foreign, "attempts", n=n, target=("==", 0)),
        measured("batch faults: requests of the engine beyond the accounts", balance.beyond, "requests", n=n,
                 target=("<=", balance.unknown)),
        measured("batch faults: attempts whose figures are unknown", balance.unknown, "attempts", n=n),
        *(measured(f"batch faults: {name} tokens, engine less accounts", theirs - ours, "tokens", n=n,
                   target=None if name == "output" else ("==", 0))
          for name, ours, theirs in zip(names, balance.ours, balance.theirs, strict=True)),
    ]  # fmt: skip
