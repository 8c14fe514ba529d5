"""Kills the engine, the gateway, a worker and PostgreSQL in the middle of batches, and counts what was lost or doubled."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import processes, workload
from benchmarks.product import Api, Installation, installation
from benchmarks.registry import Options, benchmark
from benchmarks.result import Result, measured
from benchmarks.statistics import at_least, interleaved
from benchmarks.table import table

TARGETS = ("engine", "gateway", "worker", "postgres")
KILLS, QUICK_KILLS = 10, 1  # of each
APPLICATIONS, QUICK_APPLICATIONS = 8, 4  # of each batch
RECOVERY_SECONDS = 600.0
TRIES = 5  # how often a kill may come too late before the batch counts as too short to hit


@dataclass(frozen=True, slots=True)
class Trial:
    """One kill and what the batch looked like after it."""

    target: str
    hit_at: float  # share of the batch that was done when the process was killed
    seconds: float  # from the kill to the end of the batch
    applications: int
    lost: int
    doubled: int
    left_open: int

    @property
    def clean(self) -> bool:
        return not (self.lost or self.doubled or self.left_open)


@benchmark(
    "evaluation_faults",
    "kill -9 of engine, gateway, worker and PostgreSQL during batches: nothing lost, nothing doubled",
)
def run(options: Options) -> list[Result]:
    """One own tree, one job for each trial, kills in a shuffled order at random moments of the batch."""
    rng = random.Random(options.seed)
    kills = QUICK_KILLS if options.quick else KILLS
    count = QUICK_APPLICATIONS if options.quick else APPLICATIONS
    samples = workload.readable_cvs(count, options.seed)
    trials: list[Trial] = []
    with installation(own=True) as installed:
        engine = installed.wait_for_engine()
        print(f"engine: {engine['engine']} ({engine['kind']}), model {engine['model']}", flush=True)
        api = installed.api("admin")
        usual = _undisturbed(installed, api, samples)
        print(f"a batch of {count} CVs takes {usual:.1f} s undisturbed", flush=True)
        for number, target in interleaved(TARGETS, kills, seed=options.seed):
            trial = _trial(installed, api, samples, target, usual, rng)
            trials.append(trial)
            print(
                f"{number + 1:2d} {target:8s} at {trial.hit_at:4.0%} of the batch, ended {trial.seconds:5.1f} s later: "
                f"{'clean' if trial.clean else trial}",
                flush=True,
            )
        api.close()
    print("\n" + _summary(trials))
    return _results(trials)


def _undisturbed(installed: Installation, api: Api, samples: list[Any]) -> float:
    """A batch without a fault, twice: the first one also warms caches and connections."""
    for _ in range(2):
        work = workload.set_up(installed, samples)
        taken = workload.wait_for_run(api, workload.start(api, work), RECOVERY_SECONDS)
    return taken


def _trial(
    installed: Installation, api: Api, samples: list[Any], target: str, usual: float, rng: random.Random
) -> Trial:
    """Kills `target` within a running batch. A kill that came after the batch's end is made again on a new batch."""
    for _ in range(TRIES):
        work = workload.set_up(installed, samples)
        run = workload.start(api, work)
        time.sleep(rng.uniform(0.05, 0.85) * usual)
        before = workload.progress(api, run)
        victim = processes.find(installed.state, target)
        if victim is None or not processes.kill(victim):
            raise RuntimeError(f"no {target} to kill in the tree on {installed.state}")
        killed = time.monotonic()
        share = before["ended"] / before["total"]
        if share < 1:
            workload.wait_for_run(api, run, RECOVERY_SECONDS)
            seconds = time.monotonic() - killed
            installed.wait_for_engine(RECOVERY_SECONDS)
            lost, doubled, left_open = inspect(
                work.applications, list(workload.evaluations(api, work)), _decisions(api, work)
            )
            return Trial(target, share, seconds, len(work.applications), lost, doubled, left_open)
        workload.wait_for_run(api, run, RECOVERY_SECONDS)
        installed.wait_for_engine(RECOVERY_SECONDS)
    raise RuntimeError(f"the batch ended before {target} could be killed, {TRIES} times; use more CVs")


def _decisions(api: Api, work: workload.Work) -> list[dict[str, Any]]:
    return [row for application in work.applications for row in api.rows("decisions/", subject=application)]


def inspect(
    applications: Sequence[str], evaluations: Sequence[dict[str, Any]], decisions: Sequence[dict[str, Any]]
) -> tuple[int, int, int]:
    """How much was lost, doubled and left open, counting applications and criteria.

    Lost: an application without a current evaluation, a verdict without a decision, a decision that failed. Doubled:
    a second evaluation of an application, a second verdict or decision of one criterion. Left open: an evaluation or a
    verdict that has not come to rest.
    """
    lost = doubled = left_open = 0
    current = Counter(e["application"] for e in evaluations if e["current"])
    every = Counter(e["application"] for e in evaluations)
    for application in applications:
        lost += current[application] == 0
        doubled += max(every[application] - 1, 0)
    for evaluation in evaluations:
        left_open += evaluation["status"] not in workload.ENDED
        criteria = Counter(v["criterion"] for v in evaluation["verdicts"])
        doubled += sum(n - 1 for n in criteria.values())
        left_open += sum(v["state"] == "waiting" for v in evaluation["verdicts"])
        lost += sum(v["decision_id"] is None or v["state"] == "failed" for v in evaluation["verdicts"])
    asked = Counter(
        (d["correlation"].get("evaluation"), d["correlation"].get("criterion")) for d in decisions
    )
    doubled += sum(n - 1 for n in asked.values())
    cited = Counter(v["decision_id"] for e in evaluations for v in e["verdicts"] if v["decision_id"])
    doubled += sum(n - 1 for n in cited.values())
    lost += len(set(cited) - {d["decision_id"] for d in decisions})
    return lost, doubled, left_open


def _summary(trials: list[Trial]) -> str:
    return table(
        ("killed", "times", "clean", "median recovery s", "longest s"),
        (
            (t, len(own), sum(x.clean for x in own), own[len(own) // 2].seconds, own[-1].seconds)
            for t in TARGETS
            if (own := sorted((x for x in trials if x.target == t), key=lambda x: x.seconds))
        ),
    )


def _results(trials: list[Trial]) -> list[Result]:
    n = sum(t.applications for t in trials)
    clean = sum(t.clean for t in trials)
    return [
        measured("faults: trials with every application evaluated exactly once", clean / len(trials), "share",
                 n=len(trials), ci=(at_least(clean, len(trials)), 1.0), target=(">=", 1.0)),
        measured("faults: applications or verdicts lost", sum(t.lost for t in trials), "rows", n=n, target=("==", 0)),
        measured("faults: evaluations, verdicts or decisions doubled", sum(t.doubled for t in trials), "rows", n=n,
                 target=("==", 0)),
        measured("faults: left open", sum(t.left_open for t in trials), "rows", n=n, target=("==", 0)),
    ]  # fmt: skip
