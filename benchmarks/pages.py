"""How long a page takes, and how many queries, with very many decisions behind it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx

from benchmarks import many_decisions
from benchmarks.deployment import free_port
from benchmarks.registry import Options, benchmark
from benchmarks.result import Result, measured
from benchmarks.table import table
from inference.metrics.stats import quantile

DECISIONS, QUICK = 200_000, 5_000
FEW = 1_000  # decisions of the company whose pages must need the same number of queries
ROUNDS = 60  # a p95 needs 59
TARGET = 0.3  # seconds
MONTH = "?window=30d"


@dataclass(frozen=True, slots=True)
class Page:
    """An address as a person opens it. `{decision}` stands for the newest decision."""

    name: str
    path: str


# A product adds its pages here; they are asked by an administrator of the company with many decisions.
PAGES: dict[str, tuple[Page, ...]] = {
    "inference": (
        Page("operations: overview", f"/operations/{MONTH}"),
        Page("operations: service", f"/operations/service/{MONTH}"),
        Page("operations: phases", f"/operations/phases/{MONTH}"),
        Page("operations: cache", f"/operations/cache/{MONTH}"),
        Page("operations: cost", f"/operations/cost/{MONTH}"),
        Page("operations: routes", f"/operations/routes/{MONTH}"),
        Page("operations: overview, two filters", f"/operations/{MONTH}&product=ats&cache=hit"),
        Page("operations: overview, 24 hours", "/operations/?window=24h"),
        Page("operations: decisions behind a figure", f"/operations/decisions/{MONTH}&figure=missed"),
        Page(
            "operations: the slow ones",
            f"/operations/decisions/{MONTH}&figure=decisions&time=decode&over=1.9",
        ),
        Page("decisions", "/decisions/"),
        Page("decisions of a task", "/decisions/?task=documents.answer"),
        Page("trace", "/decisions/{decision}/"),
        Page("prices", "/operations/prices/"),
        Page("accounts by task (API)", "/api/v1/inference/accounts/?window=30d&by=task"),
    ),
    "approvals": (Page("inbox", "/inbox/"),),
    "ats": (Page("jobs", "/ats/"),),
}


@dataclass(frozen=True, slots=True)
class Company:
    """A company with decisions, its administrator's session, and its newest decision."""

    session: str
    decision: UUID

    def path(self, page: Page) -> str:
        """The address for this company."""
        return page.path.replace("{decision}", str(self.decision))


@benchmark(
    "pages",
    "200,000 decisions behind every page: p95 of each below 300 ms, and as many queries as with 1,000",
)
def run(options: Options) -> list[Result]:
    """A database of its own, filled by SQL; the product's own web process, asked one page at a time in a random order."""
    decisions = QUICK if options.quick else DECISIONS
    rounds = 5 if options.quick else ROUNDS
    pages = [page for product in PAGES.values() for page in product]
    with _database() as state:
        began = time.monotonic()
        many, few = _companies(decisions, options.seed)
        print(f"{decisions} decisions written and summed up in {time.monotonic() - began:.0f} s", flush=True)
        counts = {page.name: (_queries(few, page), _queries(many, page)) for page in pages}
        with _web(state) as (base_url, pid):
            seconds, processor = _ask(base_url, pid, many, pages, rounds, random.Random(options.seed))
    found = {page.name: quantile(seconds[page.name], 0.95) for page in pages}
    print(table(
        ("page", "queries", "with few", "p50 ms", "p95 ms", "max ms"),
        ((page.name, counts[page.name][1], counts[page.name][0], sorted(seconds[page.name])[rounds // 2] * 1e3,
          found[page.name].value and found[page.name].value * 1e3, max(seconds[page.name]) * 1e3) for page in pages),
    ))  # fmt: skip
    return results(seconds, counts, processor)


def results(
    seconds: dict[str, list[float]], counts: dict[str, tuple[int, int]], processor: float
) -> list[Result]:
    """The figures of a run: each page's p95, and how many pages need more queries for more decisions."""
    every = []
    for name, taken in seconds.items():
        found = quantile(taken, 0.95)
        low, high = found.low, found.high
        every.append(
            measured(
                f"pages: p95 of {name}", found.value, "s", n=found.n,
                ci=None if low is None or high is None else (low, high), target=("<=", TARGET),
            )
        )  # fmt: skip
    asked = sum(len(taken) for taken in seconds.values())
    return [
        *every,
        measured("pages: that need more queries for more decisions", sum(b > a for a, b in counts.values()),
                 "pages", n=len(counts), target=("==", 0)),
        measured("pages: processor time of the web process for a page", processor / asked, "s", n=asked),
    ]  # fmt: skip


@contextmanager
def _database() -> Iterator[Path]:
    """PostgreSQL and Valkey of this run, migrated, with this process's Django on them."""
    # PostgreSQL's own user has to pass every directory above the state.
    with ExitStack() as ended:
        name = ended.enter_context(
            tempfile.TemporaryDirectory(prefix="nekibu-pages-", dir="/var/lib" if os.geteuid() == 0 else None)
        )
        state = Path(name)
        state.chmod(0o755)
        for external in ("DATABASE_URL", "NEKIBU_OWNER_DATABASE_URL", "REDIS_URL", "NEKIBU_DB_ROLE"):
            os.environ.pop(external, None)
        port, gateway = free_port(), free_port()
        os.environ |= {
            "NEKIBU_STATE": name, "NEKIBU_PORT": str(port), "NEKIBU_GATEWAY_PORT": str(gateway),
            "DJANGO_SETTINGS_MODULE": "nekibu.settings.base",
        }  # fmt: skip
        from nekibu.embedded import secrets
        from nekibu.embedded.layout import Layout
        from nekibu.embedded.postgres import Postgres
        from nekibu.embedded.valkey import Valkey

        layout, kept = Layout(state), secrets.load(state)
        for directory in (layout.run, layout.logs, layout.metrics):
            directory.mkdir()
        server = Postgres(layout.database, layout.database_socket, layout.logs / "postgres.log", kept)
        ended.callback(server.stop)
        server.start()
        valkey = Valkey(layout.valkey, layout.logs / "valkey.log")
        ended.callback(valkey.stop)
        valkey.start()
        subprocess.run(
            [sys.executable, "-W", "ignore", "manage.py", "migrate", "--no-input", "--skip-checks", "-v0"],
            cwd=Path(__file__).resolve().parent.parent, env={**os.environ, "NEKIBU_DB_ROLE": "owner"}, check=True,
        )  # fmt: skip
        yield state


def _companies(decisions: int, seed: int) -> tuple[Company, Company]:
    import django

    django.setup()
    return _company("many", decisions, seed), _company("few", FEW, seed)


def _company(slug: str, decisions: int, seed: int) -> Company:
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.utils import timezone

    from inference.ledger import keeping
    from inference.models import Decision
    from nekibu.permissions.actor import Actor
    from nekibu.tenants.models import Tenant
    from nekibu.tenants.scope import tenant_scope
    from nekibu.users.models import User
    from nekibu.users.services import add_member

    tenant = Tenant.objects.create(slug=slug, name=slug.title())
    person = User.objects.create_user(f"admin@{slug}.example", "Admin", None)
    with tenant_scope(tenant.id):
        add_member(actor=Actor.system(tenant.id, "benchmark"), user=person, role="admin")
    master = settings.LAYOUT.database_url("postgres", settings.SECRETS.pg_superuser_password)
    many_decisions.write(master, tenant.id, decisions, seed)
    more = True
    while more:
        with tenant_scope(tenant.id):
            more = keeping.roll_up(timezone.now()) == keeping.DAYS_AT_ONCE
    with tenant_scope(tenant.id):
        newest = (
            Decision.objects.filter(tier="economic", status="accepted")
            .order_by("-id")
            .values_list("id", flat=True)[0]
        )
    client = Client()
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    connection.close()
    return Company(client.cookies[settings.SESSION_COOKIE_NAME].value, newest)


def _queries(company: Company, page: Page) -> int:
    """How many queries the page needs, in this process, through the whole stack of middleware."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(headers={"Accept-Language": "en", "Host": "localhost"})
    client.cookies[settings.SESSION_COOKIE_NAME] = company.session
    with CaptureQueriesContext(connection) as queries:
        response = client.get(company.path(page))
    if response.status_code != 200:
        raise RuntimeError(f"{page.name}: {response.status_code}")
    return len(queries)


@contextmanager
def _web(state: Path) -> Iterator[tuple[str, int]]:
    """The product's own web process: one worker, as `make run` starts it."""
    from nekibu import env
    from nekibu.embedded import secrets
    from nekibu.embedded.layout import Layout
    from nekibu.embedded.parts import Parts
    from nekibu.embedded.process import wait_for

    environment = env.read()
    part = Parts(environment, Layout(state), secrets.load(state)).web()
    base_url = f"http://127.0.0.1:{environment.port}"

    def answers() -> bool:
        try:
            return httpx.get(f"{base_url}/healthz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    part.child.start()
    try:
        wait_for(answers, part.child, 120, "web")
        yield base_url, part.child.process.pid if part.child.process else 0
    finally:
        part.child.stop(part.stop_seconds)


def _ask(
    base_url: str, pid: int, company: Company, pages: Sequence[Page], rounds: int, rng: random.Random
) -> tuple[dict[str, list[float]], float]:
    """Seconds of each page, asked in rounds of a random order, and the processor time that the web process took for all."""
    taken: dict[str, list[float]] = {page.name: [] for page in pages}
    with httpx.Client(base_url=base_url, cookies={"sessionid": company.session}, timeout=60) as client:
        for page in pages:  # what is loaded once is loaded now
            _ok(client.get(company.path(page)), page)
        before = _processor_seconds(pid)
        for _round in range(rounds):
            for page in rng.sample(list(pages), len(pages)):
                began = time.perf_counter()
                response = client.get(company.path(page))
                taken[page.name].append(time.perf_counter() - began)
                _ok(response, page)
        return taken, _processor_seconds(pid) - before


def _ok(response: httpx.Response, page: Page) -> None:
    if response.status_code != 200:
        raise RuntimeError(f"{page.name}: {response.status_code}")


def _processor_seconds(pid: int) -> float:
    fields: list[Any] = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
