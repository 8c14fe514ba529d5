"""The work that recruiting benchmarks share: a job with five criteria, sample CVs on it, one run over all of them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.product import Api, Installation
from samples import generate
from samples.generate import Sample
from samples.rubrics import BUYER, CriterionData

ENDED = {"completed", "needs_review", "reviewed", "blocked"}


class TooSlow(RuntimeError):
    """Something did not end in its time."""


@dataclass(frozen=True, slots=True)
class Work:
    """A job whose applications have been read and can be evaluated."""

    job: str
    rubric: str
    applications: tuple[str, ...]


def readable_cvs(count: int, seed: int) -> list[Sample]:
    """That many sample CVs with a text layer; scans are left out, because nothing is asked about them."""
    found: list[Sample] = []
    for sample in generate.generate(seed, count * 2):
        if sample.truth["quality"] != "needs_ocr" and len(found) < count:
            found.append(sample)
    return found


def asked_of_the_model(criteria: tuple[CriterionData, ...], mark: str) -> list[dict[str, Any]]:
    """The criteria with every rule given to the model instead; `mark` makes the rubric new to the engine's cache."""
    return [
        asdict(replace(c, method="model", rule=None, statement_en=f"{c.statement_en} ({mark})"))
        for c in criteria
    ]


def as_they_are(criteria: tuple[CriterionData, ...], mark: str) -> list[dict[str, Any]]:
    """The criteria with their rules; `mark` makes the rubric new to the engine's cache."""
    return [asdict(replace(c, statement_en=f"{c.statement_en} ({mark})")) for c in criteria]


def set_up(
    installed: Installation,
    samples: list[Sample],
    criteria: Callable[[tuple[CriterionData, ...], str], list[dict[str, Any]]] = as_they_are,
) -> Work:
    """Opens a job, approves its rubric, uploads the CVs and waits until all have been read."""
    admin = installed.api("admin")
    mark = secrets.token_hex(4)
    job = admin.post("ats/jobs/", json={"title_tr": f"Ölçüm {mark}", "title_en": f"Measurement {mark}"})["id"]
    rubric = admin.post("ats/rubrics/", json={"job": job, "criteria": criteria(BUYER.criteria, mark)})["id"]
    admin.post(f"ats/rubrics/{rubric}/approve/")
    applications = [
        admin.post(
            "ats/applications/",
            data={"job": job, "candidate_name": sample.truth["person"]["name"]},
            files={"file": (sample.name, sample.body)},
        )["id"]
        for sample in samples
    ]
    wait(lambda: all(a["cv"]["status"] == "parsed" for a in admin.rows("ats/applications/", job=job)), 600)
    admin.close()
    return Work(job, rubric, tuple(applications))


def start(api: Api, work: Work, clock: str = "batch") -> str:
    """Starts a run over the work; its id."""
    return str(api.post("ats/evaluations/", json={"job": work.job, "clock": clock})["id"])


def progress(api: Api, run: str) -> dict[str, int]:
    """How far a run is."""
    return dict(api.get(f"ats/runs/{run}/")["progress"])


def wait_for_run(api: Api, run: str, seconds: float) -> float:
    """Waits until every evaluation of the run has ended; the seconds it took."""
    began = time.monotonic()

    def ended() -> bool:
        now = progress(api, run)
        return now["ended"] == now["total"] > 0

    wait(ended, seconds)
    return time.monotonic() - began


def evaluations(api: Api, work: Work) -> Iterator[dict[str, Any]]:
    """All evaluations of the job, superseded ones too."""
    return api.rows("ats/evaluations/", job=work.job)


def wait(done: Callable[[], bool], seconds: float, pause: float = 0.25) -> None:
    """Asks until it is so. Raises TooSlow after the time."""
    until = time.monotonic() + seconds
    while not done():
        if time.monotonic() > until:
            raise TooSlow(f"not done after {seconds:.0f} s")
        time.sleep(pause)
