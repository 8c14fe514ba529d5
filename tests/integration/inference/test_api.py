"""Decisions over REST and as events."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient, Client

from inference.models import Decision
from inference.permissions import InferenceAction as A
from inference.types import plain
from nekibu.approvals.permissions import ApprovalAction
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import create_token
from tests.unit.inference.specs import LinesAction

ADDRESS = "/api/v1/decisions/"


@pytest.fixture
def token_of(transactional_db, person_of):
    """`token_of(tenant, role)` → the Authorization header of a program that acts for such a person."""

    def make(tenant, role, *scopes):
        actor = person_of(tenant, role)
        with tenant_scope(tenant.id):
            user = User.objects.get(pk=actor.user_id)
            wanted = scopes or (*A, LinesAction.LINES_ASK)
            token = create_token(actor=Actor.system(tenant.id, "test"), user=user, name="test", scopes=wanted)
        return f"Bearer {token}"

    return make


@pytest.fixture
def api(token_of, tenant, lines, gateway):
    """A recruiter's program: `api.post(path, body, key)`, `api.get(path)`."""
    return Program(token_of(tenant, "recruiter"), lines.slug)


class Program:
    def __init__(self, token: str, task: str) -> None:
        self.token, self.task, self.client = token, task, Client()

    def body(self, **changes):
        return {
            "task": self.task,
            "subject": {"type": "lines", "id": "a"},
            "inputs": {"term": "Python"},
            "mode": "online",
            **changes,
        }

    def post(self, path=ADDRESS, body=None, key="k1", **headers):
        if key:
            headers["Idempotency-Key"] = key
        return self.client.post(
            path,
            json.dumps(self.body() if body is None else body),
            content_type="application/json",
            headers={"Authorization": self.token, **headers},
        )

    def get(self, path=ADDRESS, **headers):
        return self.client.get(path, headers={"Authorization": self.token, **headers})


def test_an_online_question_is_answered_at_once(api):
    answer = api.post()
    assert answer.status_code == 200
    said = answer.json()
    assert (said["status"], said["valid"], said["decided_by"]) == ("accepted", True, "model")
    assert said["citations"][0]["quote"] == "Python 2019-2024"
    assert set(said["phases"]) == {
        "gateway_queue",
        "engine_queue",
        "prefill",
        "decode",
        "validate",
        "approve",
    }
    assert said["usage"]["uncached"] > 0 and said["usage"]["cache_read"] == 0
    assert said["cost"] == {"amount": None, "currency": "", "state": "unknown", "price_version": ""}
    assert set(said["times"]) == {"e2e", "model", "prepare", "backlog", "unattributed"}
    assert api.get(f"{ADDRESS}{said['decision_id']}/").json() == said
    assert [row["decision_id"] for row in api.get().json()["results"]] == [said["decision_id"]]


def test_a_repeated_question_is_one_decision(api, gateway):
    assert api.post().json() == api.post().json()
    assert len(gateway.tickets) == 1
    other = api.post(body=api.body(inputs={"term": "SQL"}))
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_mismatch")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"salt": "x"}, "salt"),
        ({"priority": 9}, "priority"),
        ({"model": "bigger"}, "model"),
        ({"subject": {"type": "lines", "id": "a", "tenant": "b"}}, "subject.tenant"),
        ({"inputs": {}}, "inputs"),
        ({"inputs": {"term": "x", "temperature": 2}}, "inputs"),
        ({"mode": "now"}, "mode"),
    ],
)
def test_what_is_not_in_the_contract_is_refused(api, change, field):
    answer = api.post(body=api.body(**change))
    assert answer.status_code == 400
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_the_door(api, token_of, tenant, lines):
    assert api.post(key="").json()["code"] == "idempotency_key_required"
    assert api.post(body=api.body(subject={"type": "lines", "id": "nowhere"})).status_code == 404
    assert api.post(body=api.body(task="no.such")).status_code == 404
    assert Client().get(ADDRESS).status_code == 401
    assert Program(token_of(tenant, "interviewer"), lines.slug).get().status_code == 403
    assert Program(token_of(tenant, "auditor"), lines.slug).post().status_code == 403
    narrow = Program(token_of(tenant, "recruiter", A.DECISION_READ), lines.slug)
    assert (narrow.get().status_code, narrow.post().status_code) == (200, 403)


def test_another_tenants_decision_does_not_exist(api, token_of, other_tenant, lines):
    decision = f"{ADDRESS}{api.post().json()['decision_id']}/"
    stranger = Program(token_of(other_tenant, "admin"), lines.slug)
    assert stranger.get().json()["results"] == []
    for path in ("", "trace/", "events/"):
        assert stranger.get(decision + path).status_code == 404
    assert stranger.post(decision + "cancel/", {}).status_code == 404
    answer = stranger.post(decision + "override/", {"value": {"verdict": "met"}, "reason": "mine"})
    assert answer.status_code == 404


def test_the_trace_holds_every_stage_and_no_text(api, lines):
    lines.documents["a"] = "Zymurgist since 2019\nPython at Quokkasoft"
    said = api.post().json()
    trace = api.get(f"{ADDRESS}{said['decision_id']}/trace/").json()
    assert [s["stage"] for s in trace["steps"]][:3] == ["classify", "retrieve", "protect"]
    assert trace["attempts"][0]["phases"]["prefill"] is not None
    assert trace["seals"]
    record = json.dumps([trace["steps"], trace["attempts"], trace["checks"], trace["seals"]])
    assert "Zymurgist" not in record and "Quokkasoft" not in record
    assert "Quokkasoft" in said["citations"][0]["quote"]


def test_what_waits_is_accepted_with_an_address(api, lines):
    lines.flags = frozenset({"hidden_text"})
    answer = api.post()
    assert answer.status_code == 202
    assert answer["Location"] == f"{ADDRESS}{answer.json()['decision_id']}/"
    later = api.post(body=api.body(mode="batch"), key="k2")
    assert (later.status_code, later.json()["status"]) == (202, "received")
    assert later.json()["decision_id"] != answer.json()["decision_id"]


def test_an_override_answers_what_waits_and_supersedes_what_is_closed(api, lines, token_of, tenant):
    reviewer = Program(token_of(tenant, "reviewer", *A, ApprovalAction.DECIDE), lines.slug)
    lines.flags = frozenset({"hidden_text"})
    waiting = api.post().json()["decision_id"]
    word = {"value": {"verdict": "partly", "pieces": ["E1"]}, "reason": "half of it"}
    said = reviewer.post(f"{ADDRESS}{waiting}/override/", word, key="o1").json()
    assert (said["decision_id"], said["status"], said["decided_by"]) == (waiting, "accepted", "person")
    newer = reviewer.post(f"{ADDRESS}{waiting}/override/", {**word, "reason": "no"}, key="o2").json()
    assert newer["supersedes"] == waiting
    assert api.get(f"{ADDRESS}{waiting}/").json()["superseded_by"] == newer["decision_id"]


def test_the_engine_says_what_it_is(api):
    said = api.get("/api/v1/inference/status/").json()
    assert (said["kind"], said["ready"], said["state"]) == ("fake", True, "ready")


# --- events -----------------------------------------------------------------------------------------------------------


def events_of(raw: str) -> list[tuple[str, str, dict]]:
    found = []
    for block in raw.split("\n\n"):
        fields = dict(
            line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":")
        )
        if "event" in fields:
            found.append((fields.get("id", ""), fields["event"], json.loads(fields["data"])))
    return found


@pytest.fixture
async def thread():
    """The thread in which asynchronous requests reach the database; its connection ends with the test."""
    yield
    await sync_to_async(connections.close_all)()


async def read(response) -> str:
    return "".join([part.decode() async for part in response.streaming_content])


def streaming(api, key="s1"):
    return AsyncClient().post(
        ADDRESS,
        json.dumps(api.body()),
        content_type="application/json",
        headers={"Authorization": api.token, "Idempotency-Key": key, "Accept": "text/event-stream"},
    )


async def test_a_streamed_question_is_told_as_it_is_made(thread, api):
    response = await streaming(api)
    assert response["Content-Type"] == "text/event-stream"
    told = events_of(await read(response))
    kinds = [kind for _, kind, _ in told]
    assert kinds[:2] == ["prepared", "queued"] and "started" in kinds and kinds[-1] == "done"
    text = "".join(data["text"] for _, kind, data in told if kind == "delta")
    assert json.loads(text)["verdict"] == told[-1][2]["value"]["verdict"] == "met"
    assert all(data["verified"] is False for _, kind, data in told if kind == "delta")


@pytest.mark.parametrize(
    ("language", "message"), [("tr", "Çıkarım geçidi kapanıyor, yeni iş almıyor."), ("en", None)]
)
async def test_an_error_inside_a_stream_is_said_in_the_callers_language(
    thread, api, gateway, language, message
):
    gateway.drain()
    response = await AsyncClient().post(
        ADDRESS,
        json.dumps(api.body()),
        content_type="application/json",
        headers={
            "Authorization": api.token, "Idempotency-Key": "s1", "Accept": "text/event-stream", "Accept-Language": language,
        },
    )  # fmt: skip
    _number, kind, said = events_of(await read(response))[-1]
    assert (kind, said["code"]) == ("error", "draining")
    assert said["message"] == (message or "The inference gateway is shutting down and takes no new work.")


async def test_a_refused_stream_is_a_plain_error(thread, api):
    response = await AsyncClient().post(
        ADDRESS,
        json.dumps(api.body(subject={"type": "lines", "id": "nowhere"})),
        content_type="application/json",
        headers={"Authorization": api.token, "Idempotency-Key": "s1", "Accept": "text/event-stream"},
    )
    assert (response.status_code, json.loads(response.content)["code"]) == (404, "not_found")


async def test_a_reader_who_leaves_stops_the_engine_and_the_part_is_recorded(thread, api, gateway, tenant):
    left, seen = threading.Event(), asyncio.Event()
    gateway.while_running = lambda ticket: left.wait(20)

    async def reader() -> None:
        async for part in (await streaming(api)).streaming_content:
            if b"event: started" in part:
                seen.set()

    reading = asyncio.create_task(reader())
    await asyncio.wait_for(seen.wait(), 20)
    reading.cancel()  # what the server does to a response whose client is gone

    def ended() -> tuple[str, list[str]]:
        with tenant_scope(tenant.id):
            row = Decision.objects.get()
            return row.status, list(row.attempts.values_list("cause", flat=True))

    status, causes = "", []
    for _ in range(100):
        status, causes = await sync_to_async(ended)()
        if status == "cancelled":
            left.set()
        if causes:
            break
        await asyncio.sleep(0.1)
    assert (status, causes) == ("cancelled", ["client_cancelled"])


async def test_a_broken_connection_goes_on_where_it_broke(thread, api):
    decision = (await sync_to_async(api.post)()).json()["decision_id"]

    async def watch(last: str) -> list[tuple[str, str, dict]]:
        headers = {"Authorization": api.token, "Last-Event-ID": last}
        return events_of(await read(await AsyncClient().get(f"{ADDRESS}{decision}/events/", headers=headers)))

    whole = await watch("0")
    numbered = [(number, kind) for number, kind, _ in whole if number]
    assert [kind for _, kind in numbered][:2] == ["classify", "retrieve"]
    assert (whole[-1][1], whole[-1][2]["status"]) == ("done", "accepted")
    rest = await watch("9")
    assert [(number, kind) for number, kind, _ in rest if number] == [n for n in numbered if int(n[0]) > 9]
    bad = await AsyncClient().get(
        f"{ADDRESS}{decision}/events/", headers={"Authorization": api.token, "Last-Event-ID": "x"}
    )
    assert bad.status_code == 400
    assert plain(whole[0][2])["risk"] == "R1"
