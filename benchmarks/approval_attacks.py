"""Attacks questions that wait for a person: replay, tampered parameters, expired, another tenant, GET; and looks for the audit row of each."""

from __future__ import annotations

import random
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol
from urllib.parse import urlencode

import httpx

from benchmarks.product import Installation, installation
from benchmarks.registry import Options, benchmark
from benchmarks.result import Result, measured
from benchmarks.table import table
from benchmarks.workload import wait, wait_for_run
from nekibu.approvals.rules import digest
from samples.rubrics import BUYER

QUESTIONS, QUICK_QUESTIONS = 20, 6
SILENT = "{name}\nDepo sorumlusu\n2019 - 2021 Depo, Çorlu\nİlgi alanları: bağlama, yürüyüş\n"
REFUSED, MOVED = "approvals:request:refused", "approvals:request:moved"


@dataclass(frozen=True, slots=True)
class Victim:
    """One waiting question, as a reader of the API sees it."""

    id: str
    parameters: dict[str, Any]
    params_hash: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One audit row about a question."""

    tag: str
    code: str
    status: int


class Records(Protocol):
    """The database behind the product: what it says of a question, and a hand that reaches past the application."""

    def entries(self, victim: Victim, *, other_tenant: bool = False) -> list[Entry]: ...
    def state(self, victim: Victim) -> str: ...
    def expire(self, victim: Victim) -> None: ...
    def tamper(self, victim: Victim) -> None: ...


class Browser:
    """A signed-in person's browser, as far as forms go."""

    def __init__(self, client: httpx.Client, email: str, password: str) -> None:
        self.client = client
        page = client.get("/accounts/sign-in/")
        signed_in = client.post(
            "/accounts/sign-in/",
            data={"username": email, "password": password, "csrfmiddlewaretoken": _csrf(page.text)},
        )
        if signed_in.status_code != 302:
            raise RuntimeError(f"{email} cannot sign in: {signed_in.status_code}")

    def form(self, victim: Victim) -> dict[str, str]:
        """The form of one question, filled in and not sent."""
        page = self.client.get(f"/inbox/{victim.id}/").raise_for_status().text
        nonce = re.search(r'name="nonce" value="([^"]+)"', page)
        if nonce is None:
            raise RuntimeError(f"no form for {victim.id}")
        return {
            "csrfmiddlewaretoken": _csrf(page),
            "nonce": nonce.group(1),
            "answer": "reject",
            "reason": "attack",
        }

    def send(self, victim: Victim, form: dict[str, str]) -> httpx.Response:
        return self.client.post(f"/inbox/{victim.id}/", data=form)


@dataclass(frozen=True, slots=True)
class Field:
    """Everybody who takes part: somebody who may decide, one who may not, a stranger, a browser."""

    reviewer: httpx.Client
    reader: httpx.Client
    stranger: httpx.Client
    browser: Browser
    records: Records


Send = Callable[[Field, Victim, Victim], httpx.Response]


@dataclass(frozen=True, slots=True)
class Attack:
    """One attempt: how it is made and how it has to end."""

    name: str
    send: Send
    status: int
    code: str
    other_tenant: bool = False
    void: bool = False


def word(victim: Victim, **changes: Any) -> dict[str, Any]:
    """The body of a decision."""
    return {"verdict": "reject", "reason": "attack", "params_hash": victim.params_hash, **changes}


def decide(client: httpx.Client, victim: Victim, **changes: Any) -> httpx.Response:
    """Over the API, under a key of its own."""
    return client.post(
        f"/api/v1/approvals/{victim.id}/decide/",
        json=word(victim, **changes),
        headers={"Idempotency-Key": secrets.token_hex(16)},
    )


def by_method(method: str) -> Send:
    """The whole decision in the address, by another method."""
    return lambda field, victim, other: field.reviewer.request(
        method, f"/api/v1/approvals/{victim.id}/decide/?{urlencode(word(victim))}"
    )


def altered(victim: Victim) -> str:
    """The hash of these parameters with something else in them."""
    return digest({**victim.parameters, "value": {"verdict": "met"}, "amount": "1000000"})


def page_get(field: Field, victim: Victim, other: Victim) -> httpx.Response:
    """A filled-in form as a link."""
    return field.browser.client.get(f"/inbox/{victim.id}/", params=field.browser.form(victim))


def without(name: str) -> Send:
    """A form with a part left out or guessed."""

    def send(field: Field, victim: Victim, other: Victim) -> httpx.Response:
        form = field.browser.form(victim)
        return field.browser.send(victim, {**form, name: secrets.token_urlsafe(24)})

    return send


# On a question that waits.
OPEN = (
    Attack("GET of the decision", by_method("GET"), 405, "method_not_allowed"),
    Attack("HEAD of the decision", by_method("HEAD"), 405, "method_not_allowed"),
    Attack("PUT of the decision", by_method("PUT"), 405, "method_not_allowed"),
    Attack("GET of the filled-in form", page_get, 405, "method_not_allowed"),
    Attack("other tenant", lambda f, v, o: decide(f.stranger, v), 404, "not_found", other_tenant=True),
    Attack("no right to decide", lambda f, v, o: decide(f.reader, v), 403, "not_permitted"),
    Attack("hash of altered parameters", lambda f, v, o: decide(f.reviewer, v, params_hash=altered(v)), 412,
           "other_parameters"),
    Attack("hash of another question", lambda f, v, o: decide(f.reviewer, v, params_hash=o.params_hash), 412,
           "other_parameters"),
    Attack("no hash", lambda f, v, o: decide(f.reviewer, v, params_hash=""), 428, "parameters_needed"),
    Attack("impossible value", lambda f, v, o: decide(f.reviewer, v, verdict="change",
           value={"verdict": "excellent", "amount": "all"}), 400, "invalid_input"),
    Attack("guessed nonce", without("nonce"), 404, "form_unknown"),
    Attack("nonce of another question", lambda f, v, o: f.browser.send(v, f.browser.form(o)), 404, "form_unknown"),
    Attack("guessed session token", without("csrfmiddlewaretoken"), 403, "refused"),
)  # fmt: skip


def attack(field: Field, attacks: Iterable[Attack], victim: Victim, other: Victim) -> list[Trial]:
    """Make these attempts, and see what came of each."""
    made = []
    for one in attacks:
        before = field.records.entries(victim, other_tenant=one.other_tenant)
        state = field.records.state(victim)
        answer = one.send(field, victim, other)
        entries = field.records.entries(victim, other_tenant=one.other_tenant)[len(before) :]
        after = field.records.state(victim)
        wanted = [Entry(MOVED, "approval_void", 0)] if one.void else []
        made.append(
            Trial(
                one.name,
                answer.status_code,
                answer.status_code == one.status,
                entries == [*wanted, Entry(REFUSED, one.code, one.status)],
                after != state and not (one.void and after == "void"),
            )
        )
    return made


@dataclass(frozen=True, slots=True)
class Trial:
    """One attempt and what came of it."""

    attack: str
    status: int
    refused: bool
    recorded: bool
    effect: bool


def siege(field: Field, victims: Sequence[Victim], rng: random.Random) -> list[Trial]:
    """Every attempt on every waiting question; then a third each expires, is decided and replayed, is changed underneath."""
    trials: list[Trial] = []
    for victim in victims:
        other = rng.choice([v for v in victims if v is not victim])
        trials += attack(field, rng.sample(OPEN, len(OPEN)), victim, other)
    fates = [("expired", "replayed", "tampered")[n % 3] for n in range(len(victims))]
    rng.shuffle(fates)
    for victim, fate in zip(victims, fates, strict=True):
        form = field.browser.form(victim)
        trials += {"expired": _expired, "replayed": _replayed, "tampered": _tampered}[fate](
            field, victim, form
        )
    return trials


def _expired(field: Field, victim: Victim, form: dict[str, str]) -> list[Trial]:
    field.records.expire(victim)
    late = (
        Attack("expired", lambda f, v, o: decide(f.reviewer, v), 410, "expired"),
        Attack("expired, by form", lambda f, v, o: f.browser.send(v, form), 410, "expired"),
    )
    return attack(field, late, victim, victim)


def _replayed(field: Field, victim: Victim, form: dict[str, str]) -> list[Trial]:
    decide(field.reviewer, victim).raise_for_status()
    again = (
        Attack("replay", lambda f, v, o: decide(f.reviewer, v), 409, "already_decided"),
        Attack("replay with another word", lambda f, v, o: decide(f.reviewer, v, verdict="approve"), 409,
               "already_decided"),
        Attack("replay of the form", lambda f, v, o: f.browser.send(v, form), 409, "already_decided"),
    )  # fmt: skip
    return attack(field, again, victim, victim)


def _tampered(field: Field, victim: Victim, form: dict[str, str]) -> list[Trial]:
    field.records.tamper(victim)
    void = (
        Attack("row changed underneath", lambda f, v, o: decide(f.reviewer, v), 409, "approval_void", void=True),
        Attack("replay on what is void", lambda f, v, o: f.browser.send(v, form), 409, "already_decided"),
    )  # fmt: skip
    return attack(field, void, victim, victim)


def results(trials: Sequence[Trial]) -> list[Result]:
    """The figures of one siege."""
    n = len(trials)
    return [
        measured("approval attacks: refused with the right status", sum(t.refused for t in trials) / n, "share", n=n,
                 target=("==", 1)),
        measured("approval attacks: with exactly their audit row", sum(t.recorded for t in trials) / n, "share", n=n,
                 target=("==", 1)),
        measured("approval attacks: that changed something", sum(t.effect for t in trials), "questions", n=n,
                 target=("==", 0)),
    ]  # fmt: skip


@benchmark(
    "approval_attacks",
    "20 waiting approvals attacked: replay, tampered, expired, other tenant, GET: all refused, each with its audit row",
)
def run(options: Options) -> list[Result]:
    """A tree of its own without an engine; questions that rules leave open; attempts in a random order."""
    rng = random.Random(options.seed)
    wanted = QUICK_QUESTIONS if options.quick else QUESTIONS
    with installation(own=True, NEKIBU_FAKE_ENGINE="1") as installed:
        victims = rng.sample(_questions(installed, wanted), wanted)
        with Database(installed) as records:
            trials = siege(_field(installed, records), victims, rng)
    by_name = Counter(t.attack for t in trials)
    print(table(
        ("attack", "times", "status", "refused rightly", "audit row", "effects"),
        ((name, n, ", ".join(sorted({str(t.status) for t in trials if t.attack == name})),
          sum(t.refused for t in trials if t.attack == name), sum(t.recorded for t in trials if t.attack == name),
          sum(t.effect for t in trials if t.attack == name)) for name, n in by_name.items()),
    ))  # fmt: skip
    return results(trials)


def _questions(installed: Installation, wanted: int) -> list[Victim]:
    """CVs that say nothing of two criteria: two questions each, and no model is asked."""
    installed.wait_for_engine()
    admin = installed.api("admin")
    criteria = [asdict(BUYER.criterion(key)) for key in ("english", "licence")]
    job = admin.post("ats/jobs/", json={"title_tr": "Ölçüm", "title_en": "Measurement"})["id"]
    rubric = admin.post("ats/rubrics/", json={"job": job, "criteria": criteria})["id"]
    admin.post(f"ats/rubrics/{rubric}/approve/")
    for n in range(wanted // 2 + 2):
        name = f"Kişi {n}"
        admin.post(
            "ats/applications/",
            data={"job": job, "candidate_name": name},
            files={"file": (f"cv-{n}.txt", SILENT.format(name=name).encode())},
        )
    wait(lambda: all(a["cv"]["status"] == "parsed" for a in admin.rows("ats/applications/", job=job)), 120)
    wait_for_run(admin, admin.post("ats/evaluations/", json={"job": job})["id"], 180)
    rows = list(installed.api("reviewer").rows("approvals/", status="pending"))
    return [Victim(row["id"], row["parameters"], row["params_hash"]) for row in rows]


def _field(installed: Installation, records: Records) -> Field:
    demo = installed.demo
    own, other = (tenant["slug"] for tenant in demo["tenants"][:2])

    def caller(tenant: str, role: str) -> httpx.Client:
        return httpx.Client(
            base_url=demo["base_url"],
            headers={"Authorization": f"Bearer {demo['tokens'][tenant][role]}"},
            timeout=30,
        )

    person = next(u for u in demo["users"] if (u["tenant"], u["role"]) == (own, "reviewer"))
    browser = httpx.Client(base_url=demo["base_url"], timeout=30)
    return Field(
        caller(own, "reviewer"),
        caller(own, "interviewer"),
        caller(other, "reviewer"),
        Browser(browser, person["email"], person["password"]),
        records,
    )


class Database:
    """The product's own database, entered as the application's role."""

    def __init__(self, installed: Installation) -> None:
        import json

        import psycopg

        from nekibu.embedded.layout import Layout

        held = json.loads((installed.state / "secrets.json").read_text())
        self._connection = psycopg.connect(
            Layout(installed.state).database_url("nekibu_app", held["pg_app_password"])
        )
        self._own, self._other = (tenant["id"] for tenant in installed.demo["tenants"][:2])

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def entries(self, victim: Victim, *, other_tenant: bool = False) -> list[Entry]:
        rows = self._ask(
            "SELECT tag, payload FROM audit_event WHERE subject_id = %s ORDER BY seq",
            victim.id,
            tenant=self._other if other_tenant else self._own,
        )
        return [entry(tag, payload) for tag, payload in rows]

    def state(self, victim: Victim) -> str:
        return str(self._ask("SELECT status FROM approvals_request WHERE id = %s", victim.id)[0][0])

    def expire(self, victim: Victim) -> None:
        self._ask(
            "UPDATE approvals_request SET expires_at = now() - interval '1 second' WHERE id = %s", victim.id
        )

    def tamper(self, victim: Victim) -> None:
        self._ask(
            "UPDATE approvals_request SET parameters = jsonb_set(parameters, '{value}', '{\"verdict\": \"met\"}') WHERE id = %s",
            victim.id,
        )

    def _ask(self, statement: str, *values: str, tenant: str = "") -> list[tuple[Any, ...]]:
        with self._connection.transaction(), self._connection.cursor() as cursor:
            cursor.execute("SELECT set_config('app.tenant', %s, true)", [tenant or self._own])
            cursor.execute(statement, values)  # type: ignore[call-overload]
            return cursor.fetchall() if cursor.description else []


def entry(tag: str, payload: dict[str, Any]) -> Entry:
    """An audit row in short."""
    return Entry(tag, str(payload.get("code") or payload.get("note", "")), int(payload.get("status", 0)))


def _csrf(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    if found is None:
        raise RuntimeError("a page without a form")
    return found.group(1)
