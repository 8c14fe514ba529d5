"""The whole product as `make run` starts it, with the real engine, once for all journeys; and people in front of it."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from benchmarks.product import Api, Installation, installation, tree
from benchmarks.workload import wait, wait_for_run
from samples.rubrics import BUYER
from tests.e2e.visitor import Visitor
from tests.leftovers import left_files, left_processes

CHROMIUM = "/usr/bin/chromium"
MODELS = Path(os.environ.get("NEKIBU_TEST_MODELS") or Path.home() / ".cache" / "nekibu" / "models")
ANKA, MAVI = "anka", "mavi"
# A CV that a model on a CPU reads in a moment, where a journey is not about reading.
LETTER = """Maren Hollis
Senior Buyer, Kestrel Foundry, March 2016 to June 2024
Negotiated framework agreements and payment terms with forty suppliers.
Introduced the procurement module of an ERP system in two plants.
English: C1. Driving licence: class B.
"""


@pytest.fixture(scope="session")
def product() -> Iterator[Installation]:
    """The running product; after the last journey nothing of it may be left.

    While a journey is being written, `NEKIBU_E2E_STATE` may name a running installation to walk through instead.
    """
    if held := os.environ.get("NEKIBU_E2E_STATE"):
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("NEKIBU_STATE", held)
            with installation() as running:
                yield running
        return
    ours = [name for name in os.environ if name.startswith("NEKIBU_") and name not in {"NEKIBU_SHOTS"}]
    others = ["DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"]
    with ExitStack() as ended, pytest.MonkeyPatch.context() as environment:
        for name in (*ours, *others):
            environment.delenv(name, raising=False)
        state = Path(ended.enter_context(tempfile.TemporaryDirectory(prefix="nekibu-e2e-")))
        state.chmod(0o711)  # PostgreSQL's user passes here
        with tree(state, MODELS) as running:
            running.wait_for_engine(300)
            yield running
        assert left_processes(state) == []
        assert left_files(state) == []


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def visitor(product: Installation, browser: Browser) -> Iterator[Callable[[str], Visitor]]:
    """`visitor(role)` → a person of the first tenant who has signed in. No page may have done anything wrong at the end."""
    people: list[Visitor] = []

    def come(role: str, tenant: str = ANKA) -> Visitor:
        known = next(u for u in product.demo["users"] if (u["role"], u["tenant"]) == (role, tenant))
        people.append(Visitor(browser, product.demo["base_url"]))
        people[-1].sign_in(known["email"], known["password"])
        return people[-1]

    yield come
    for person in people:
        person.leave()
    assert [complaint for person in people for complaint in person.complaints] == []


@pytest.fixture(scope="session")
def admin(product: Installation) -> Iterator[Api]:
    """Calls as the first tenant's administrator."""
    api = product.api("admin", ANKA)
    yield api
    api.close()


class Desk:
    """Prepares over the API what a journey starts from."""

    def __init__(self, api: Api) -> None:
        self.api = api

    def job(self, *keys: str) -> str:
        """A new job whose approved rubric has these criteria of the sample buyer; its id."""
        criteria = [asdict(BUYER.criterion(key)) for key in keys]
        mark = secrets.token_hex(2)
        job = self.api.post(
            "ats/jobs/", json={"title_tr": f"Satın Alma Uzmanı {mark}", "title_en": f"Buyer {mark}"}
        )["id"]
        rubric = self.api.post("ats/rubrics/", json={"job": job, "criteria": criteria})["id"]
        self.api.post(f"ats/rubrics/{rubric}/approve/")
        return str(job)

    def upload(self, job: str, name: str, body: bytes, person: str = "") -> str:
        """A CV on that job; the application's id."""
        made = self.api.post(
            "ats/applications/", data={"job": job, "candidate_name": person}, files={"file": (name, body)}
        )
        return str(made["id"])

    def read(self, job: str) -> list[dict[str, Any]]:
        """The job's applications once all CVs have been read."""
        rows: list[dict[str, Any]] = []

        def done() -> bool:
            rows[:] = self.api.rows("ats/applications/", job=job)
            return all(row["cv"]["status"] == "parsed" for row in rows)

        wait(done, 60)
        return rows

    def evaluate(self, job: str) -> dict[str, dict[str, Any]]:
        """Everything on that job evaluated: application id → its evaluation."""
        self.read(job)
        run = self.api.post("ats/evaluations/", json={"job": job})["id"]
        wait_for_run(self.api, run, 180)
        return {e["application"]: e for e in self.api.rows("ats/evaluations/", run=run)}


@pytest.fixture(scope="session")
def desk(admin: Api) -> Desk:
    return Desk(admin)
