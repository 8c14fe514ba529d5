"""An integration at the door of the API: it lists, uploads once, evaluates, reads, listens; and it may leave in the middle."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from benchmarks.product import Api, Installation
from benchmarks.workload import wait
from samples import generate
from tests.e2e.conftest import ANKA, LETTER, Desk


@pytest.fixture(scope="module")
def http(product: Installation) -> Iterator[httpx.Client]:
    """A plain HTTP client with the recruiter's token, as an integration would write it."""
    token = product.demo["tokens"][ANKA]["recruiter"]
    with httpx.Client(
        base_url=f"{product.demo['base_url'].rstrip('/')}/api/v1/",
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
    ) as client:
        yield client


def key() -> dict[str, str]:
    return {"Idempotency-Key": secrets.token_hex(16)}


def test_a_cv_is_uploaded_once_evaluated_and_read_with_its_evidence(
    http: httpx.Client, desk: Desk, admin: Api
) -> None:
    job = desk.job("experience", "licence")
    listed = http.get("ats/jobs/", params={"per_page": 200})
    assert job in [row["id"] for row in listed.json()["results"]]
    cv = next(iter(generate.generate(count=1)))
    once = key()

    def upload(**more: str) -> httpx.Response:
        return http.post(
            "ats/applications/", data={"job": job, **more}, files={"file": (cv.name, cv.body)}, headers=once
        )

    first, again, other = upload(), upload(), upload(candidate_name="Başka Biri")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["Idempotent-Replay"] == "true"
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")
    assert len(desk.read(job)) == 1

    application = first.json()["id"]
    started = http.post("ats/evaluations/", json={"job": job, "applications": [application]}, headers=key())
    assert started.status_code == 202
    progress = http.base_url.join(started.headers["Location"])
    wait(lambda: http.get(progress).json()["progress"]["percent"] == 100, 60)
    (evaluation,) = http.get("ats/evaluations/", params={"run": started.json()["id"]}).json()["results"]
    verdicts = {v["criterion"]: v for v in evaluation["verdicts"]}
    assert {name: v["verdict"] for name, v in verdicts.items()} == {"experience": "met", "licence": "met"}
    text = http.get(f"ats/applications/{application}/text/").json()["text"]
    cited = [e for v in verdicts.values() for e in v["evidence"]]
    assert cited and all(text[e["start"] : e["end"]] == e["quote"] for e in cited)
    original = http.get(f"ats/applications/{application}/cv/")
    assert original.content == cv.body


def test_a_decision_is_told_as_it_is_made_and_a_listener_who_leaves_stops_the_engine(
    http: httpx.Client, desk: Desk, admin: Api
) -> None:
    job = desk.job("negotiation")
    application = desk.upload(job, "letter.txt", LETTER.encode())
    verdict = desk.evaluate(job)[application]["verdicts"][0]
    body = {
        "task": "ats.criterion_first_pass",
        "subject": {"type": "ats.application", "id": application},
        "inputs": {"verdict_id": verdict["id"]},
    }

    with http.stream(
        "POST", "decisions/", json=body, headers={**key(), "Accept": "text/event-stream"}
    ) as told:
        assert told.headers["Content-Type"].startswith("text/event-stream")
        heard = list(events(told))
    kinds = [kind for kind, _data in heard]
    assert kinds[:2] == ["prepared", "queued"] and "started" in kinds
    assert kinds[-1] in {"done", "awaiting_approval"}
    said = "".join(data["text"] for kind, data in heard if kind == "delta")
    assert json.loads(said)["verdict"] == heard[-1][1]["value"]["verdict"]
    whole = admin.get(f"decisions/{heard[-1][1]['decision_id']}/trace/")

    trace: dict[str, Any] = {}

    def at_rest() -> bool:
        trace.update(admin.get(f"decisions/{decision}/trace/"))
        working = {"received", "prepared", "queued", "running", "checking"}
        return trace["status"] not in working and bool(trace["attempts"])

    for _ in range(
        5
    ):  # an answer takes a second: on a busy machine it may be whole before its first word is read
        with http.stream(
            "POST", "decisions/", json=body, headers={**key(), "Accept": "text/event-stream"}
        ) as told:
            decision = next(data["decision_id"] for kind, data in events(told) if kind == "delta")
        # Out of the block: the connection is closed with the answer unfinished.
        wait(at_rest, 90)  # where nobody was left to note it, the usage is collected every 20 seconds
        if trace["status"] == "cancelled":
            break
    (attempt,) = trace["attempts"]
    assert (attempt["finish"], attempt["cause"]) == ("abort", "client_cancelled")
    assert attempt["uncached"] + attempt["cache_read"] == attempt["prompt_tokens"] > 0
    assert (
        0 < attempt["output"] < whole["usage"]["output"]
    )  # the same question, greedy: it would have said as much
    assert trace["value"] is None


def events(told: httpx.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    """Server-sent events, as they come."""
    kind = ""
    for line in told.iter_lines():
        if line.startswith("event: "):
            kind = line.removeprefix("event: ")
        elif line.startswith("data: "):
            yield kind, json.loads(line.removeprefix("data: "))
