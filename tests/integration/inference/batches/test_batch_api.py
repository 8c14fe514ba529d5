"""Batches over REST, as events and over the socket."""

from __future__ import annotations

import asyncio
import json
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test import AsyncClient, Client

from inference.consumers import BatchConsumer
from inference.permissions import InferenceAction as A
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import create_token
from tests.unit.inference.specs import LinesAction

FILES, BATCHES = "/api/v1/files/", "/api/v1/batches/"


class Program:
    """A program of a recruiter."""

    def __init__(self, token: str) -> None:
        self.headers = {"Authorization": f"Bearer {token}"}
        self.client = Client()

    def upload(self, content: bytes, key: str = "f1", **data):
        body = {"purpose": "batch", "file": SimpleUploadedFile("q.jsonl", content), **data}
        return self.client.post(FILES, body, headers={**self.headers, "Idempotency-Key": key})

    def post(self, path: str, body=None, key: str | None = "k1"):
        headers = {**self.headers, **({"Idempotency-Key": key} if key else {})}
        return self.client.post(
            path, json.dumps(body or {}), content_type="application/json", headers=headers
        )

    def get(self, path: str, **headers):
        return self.client.get(path, headers={**self.headers, **headers})


@pytest.fixture
def program_of(desk, person_of):
    def make(tenant, role="recruiter", *scopes):
        actor = person_of(tenant, role)
        with tenant_scope(tenant.id):
            user = User.objects.get(pk=actor.user_id)
            system = Actor.system(tenant.id, "test")
            return Program(
                create_token(actor=system, user=user, name="t", scopes=scopes or (*A, LinesAction.LINES_ASK))
            )

    return make


@pytest.fixture
def api(program_of, tenant):
    return program_of(tenant)


@pytest.fixture
def started(api, desk):
    """`started(*lines)` → the id of a batch that was read."""

    def make(*lines: bytes) -> str:
        file_id = api.upload(b"".join(lines)).json()["id"]
        answer = api.post(BATCHES, {"input_file_id": file_id, "completion_window": "24h"})
        assert answer.status_code == 202, answer.content
        desk.jobs()
        return answer.json()["id"]

    return make


def body_of(response) -> bytes:
    return b"".join(response.streaming_content) if response.streaming else response.content


def test_a_file_is_kept_byte_for_byte_and_a_repeated_upload_is_one(api, desk):
    content = desk.line("a") + b"\r\n" + desk.line("b")
    first, again = api.upload(content), api.upload(content)
    assert first.status_code == 201 and again.json() == first.json()
    said = first.json()
    assert (said["object"], said["purpose"], said["filename"], said["bytes"]) == (
        "file", "batch", "q.jsonl", len(content),
    )  # fmt: skip
    assert api.get(f"{FILES}{said['id']}/").json() == said
    assert body_of(api.get(f"{FILES}{said['id']}/content/")) == content
    assert [row["id"] for row in api.get(FILES).json()["results"]] == [said["id"]]
    assert api.get(f"{FILES}?purpose=output").json()["results"] == []


@pytest.mark.parametrize(
    ("content", "more", "status", "code"),
    [(b"", {}, 400, "empty_file"), (b"x", {"purpose": "fine-tune"}, 400, "invalid_input"), (b"x", {"model": "y"}, 400, "invalid_input")],
)  # fmt: skip
def test_what_is_no_file_of_questions_is_refused(api, content, more, status, code):
    answer = api.upload(content, **more)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_file_that_is_too_large_says_what_to_do(api, monkeypatch):
    monkeypatch.setattr("inference.batches.files.MOST_BYTES", 10)
    answer = api.upload(b"x" * 11)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert answer.json()["message"]


def test_a_batch_runs_from_its_file_to_its_results(api, desk, started):
    batch_id = started(desk.line("a"), desk.line("b"), desk.line("gone", subject="nobody"))
    before = api.get(f"{BATCHES}{batch_id}/").json()
    assert (before["status"], before["object"], before["endpoint"]) == (
        "in_progress",
        "batch",
        "/v1/decisions",
    )
    assert api.get(f"{BATCHES}{batch_id}/results/").status_code == 409
    desk.work()
    after = api.get(f"{BATCHES}{batch_id}/").json()
    assert after["status"] == "completed"
    assert after["progress"]["counts"] == {
        "pending": 0, "leased": 0, "done": 2, "failed": 1, "cancelled": 0, "expired": 0,
    }  # fmt: skip
    assert (after["progress"]["ended"], after["progress"]["percent"]) == (3, 100)
    assert after["progress"]["cost"] == {"amount": None, "currency": "", "state": "unknown"}
    assert after["failures"] == [{"status": "failed", "cause": "not_found", "count": 1, "first_line": 3}]
    good = body_of(api.get(f"{BATCHES}{batch_id}/results/")).splitlines()
    bad = body_of(api.get(f"{BATCHES}{batch_id}/results/?part=error")).splitlines()
    assert len(good) + len(bad) == after["total"] == 3
    line = json.loads(good[0])
    assert set(line) == {"id", "custom_id", "response", "error"}
    decision = api.get(f"/api/v1/decisions/{line['response']['request_id']}/").json()
    assert decision["correlation"] == {"batch": batch_id, "custom_id": "a"}
    assert body_of(api.get(f"{FILES}{after['output_file_id']}/content/")).splitlines() == good
    rows = api.get(f"{BATCHES}{batch_id}/items/?status=failed").json()["results"]
    assert [(r["custom_id"], r["cause"]) for r in rows] == [("gone", "not_found")]
    assert [r["id"] for r in api.get(BATCHES).json()["results"]] == [batch_id]
    assert api.get(f"{BATCHES}?status=paused").json()["results"] == []
    assert api.get(f"{BATCHES}{batch_id}/results/?part=both").status_code == 400


def test_results_can_be_resumed_and_are_known_by_their_hash(api, desk, started):
    batch_id = started(desk.line("a"), desk.line("b"))
    desk.work()
    path = f"{BATCHES}{batch_id}/results/"
    whole = api.get(path)
    text, tag = body_of(whole), whole["ETag"]
    assert whole["Accept-Ranges"] == "bytes" and whole["Content-Length"] == str(len(text))
    part = api.get(path, Range="bytes=5-20")
    assert (part.status_code, body_of(part)) == (206, text[5:21])
    assert part["Content-Range"] == f"bytes 5-20/{len(text)}"
    rest = api.get(path, Range="bytes=21-", **{"If-Range": tag})
    assert text[:21] + body_of(rest) == text
    assert body_of(api.get(path, Range="bytes=-7")) == text[-7:]
    assert api.get(path, Range=f"bytes={len(text)}-").status_code == 416
    assert api.get(path, Range="bytes=0-3", **{"If-Range": '"other"'}).status_code == 200
    assert api.get(path, **{"If-None-Match": tag}).status_code == 304
    empty = api.get(f"{path}?part=error")
    assert (empty.status_code, body_of(empty)) == (200, b"")


def test_lines_that_cannot_be_asked_are_reported_and_nothing_is(api, desk, started, gateway):
    batch_id = started(desk.line("a"), b"{}\n", b"nonsense\n")
    said = api.get(f"{BATCHES}{batch_id}/").json()
    assert (said["status"], said["total"]) == ("failed", 0)
    assert said["line_errors"]["count"] == len(said["line_errors"]["data"])
    assert {e["line"] for e in said["line_errors"]["data"]} == {2, 3}
    assert all(e["message"] for e in said["line_errors"]["data"])
    assert gateway.tickets == []


def test_starting_twice_under_one_key_is_one_batch_and_needs_a_key(api, desk):
    file_id = api.upload(desk.line("a")).json()["id"]
    body = {"input_file_id": file_id, "completion_window": "1h", "metadata": {"for": "May"}}
    first, again = api.post(BATCHES, body), api.post(BATCHES, body)
    assert first.json()["id"] == again.json()["id"] and first["Location"].endswith(f"{first.json()['id']}/")
    assert first.json()["metadata"] == {"for": "May"}
    assert api.post(BATCHES, {**body, "completion_window": "4h"}).json()["code"] == "idempotency_mismatch"
    assert api.post(BATCHES, body, key=None).json()["code"] == "idempotency_key_required"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"completion_window": "2h"}, "completion_window"),
        ({"endpoint": "/v1/chat/completions"}, "endpoint"),
        ({"priority": 1}, "priority"),
        ({"metadata": {f"k{n}": "v" for n in range(17)}}, "metadata"),
    ],
)
def test_what_is_not_in_the_contract_is_refused(api, desk, change, field):
    file_id = api.upload(desk.line("a")).json()["id"]
    answer = api.post(BATCHES, {"input_file_id": file_id, "completion_window": "1h", **change})
    assert answer.status_code == 400
    assert [e["field"] for e in answer.json()["errors"]] == [field]


def test_pause_resume_cancel_and_retry(api, desk, started):
    batch_id = started(desk.line("a"), desk.line("b"))
    path = f"{BATCHES}{batch_id}/"
    assert api.post(f"{path}pause/", key="p").json()["status"] == "paused"
    assert api.post(f"{path}pause/", key="p").json()["status"] == "paused"  # the same act
    assert api.post(f"{path}pause/", key="p2").json()["code"] == "illegal_move"
    assert api.post(f"{path}resume/", key="r").json()["status"] == "in_progress"
    assert api.post(f"{path}retry/", key="t").status_code == 409
    said = api.post(f"{path}cancel/", key="c").json()
    assert said["status"] == "cancelling" and said["progress"]["counts"]["cancelled"] == 2
    desk.jobs()
    assert api.get(path).json()["status"] == "cancelled"
    assert api.post(f"{path}retry/", key="t2").json()["code"] == "nothing_to_retry"


def test_what_failed_is_asked_again_as_a_batch_of_its_own(api, desk, started):
    batch_id = started(desk.line("a"), desk.line("gone", subject="nobody"))
    desk.work()
    answer = api.post(f"{BATCHES}{batch_id}/retry/", key="t")
    assert answer.status_code == 202
    said = answer.json()
    assert (said["retry_of"], said["total"], said["completion_window"]) == (batch_id, 1, "24h")
    longer = api.post(f"{BATCHES}{batch_id}/retry/", {"completion_window": "1h"}, key="t2").json()
    assert longer["completion_window"] == "1h" and longer["id"] != said["id"]


def test_a_deleted_file_is_gone(api, desk, started):
    from inference.batches import files

    batch_id = started(desk.line("a"))
    desk.work()
    with tenant_scope(desk.tenant.id):
        files.delete(desk.actor, desk.batch(batch_id).output_file)
    answer = api.get(f"{BATCHES}{batch_id}/results/")
    assert (answer.status_code, answer.json()["code"]) == (410, "file_deleted")


def test_an_auditor_reads_and_steers_nothing(program_of, desk, started, tenant):
    batch_id = started(desk.line("a"))
    auditor = program_of(tenant, "auditor")
    assert auditor.get(f"{BATCHES}{batch_id}/").status_code == 200
    for act in ("pause", "resume", "cancel", "retry"):
        assert auditor.post(f"{BATCHES}{batch_id}/{act}/").status_code == 403
    assert auditor.upload(b"x").status_code == 403


def test_another_tenants_batch_does_not_exist(program_of, desk, started, other_tenant):
    batch_id = started(desk.line("a"))
    stranger = program_of(other_tenant)
    file_id = str(desk.batch(batch_id).input_file_id)
    for path in (f"{BATCHES}{batch_id}/", f"{BATCHES}{batch_id}/results/", f"{BATCHES}{batch_id}/events/", f"{FILES}{file_id}/content/"):  # fmt: skip
        assert stranger.get(path).status_code == 404
    assert stranger.post(f"{BATCHES}{batch_id}/cancel/").status_code == 404
    answer = stranger.post(BATCHES, {"input_file_id": file_id, "completion_window": "1h"})
    assert answer.status_code == 404


async def test_events_tell_the_whole_until_it_has_ended(desk, api, started):
    batch_id = await sync_to_async(started)(desk.line("a"), desk.line("b"))
    response = await AsyncClient().get(f"{BATCHES}{batch_id}/events/", headers=api.headers)
    events = response.streaming_content.__aiter__()
    first = await asyncio.wait_for(anext(events), 10)
    assert first.startswith(b"event: progress")
    data = json.loads(first.split(b"data: ")[1])
    assert (data["status"], data["total"], data["ended"]) == ("in_progress", 2, 0)
    await sync_to_async(desk.work)()
    said = [e async for e in events]
    assert said[-1].startswith(b"event: done")
    last = json.loads(said[-1].split(b"data: ")[1])
    assert (last["status"], last["ended"]) == ("completed", 2)
    await sync_to_async(connections.close_all)()


async def test_the_socket_tells_progress_and_turns_strangers_away(
    desk, started, person_of, tenant, other_tenant
):
    batch_id = await sync_to_async(started)(desk.line("a"))

    async def connect(company):
        actor = await sync_to_async(person_of)(company, "recruiter")
        user = await sync_to_async(User.objects.get)(pk=actor.user_id)
        scope = {
            "type": "websocket",
            "path": "/",
            "headers": [],
            "user": user,
            "session": {},
            "url_route": {"kwargs": {"batch_id": UUID(batch_id)}},
        }
        wire = ApplicationCommunicator(BatchConsumer.as_asgi(), scope)
        await wire.send_input({"type": "websocket.connect"})
        return wire, await wire.receive_output(5)

    wire, first = await connect(tenant)
    assert first["type"] == "websocket.accept"
    said = json.loads((await wire.receive_output(5))["text"])
    assert (said["total"], said["percent"], said["status"]) == (1, 0, "in_progress")
    await sync_to_async(desk.work)()
    while said["status"] != "completed":
        said = json.loads((await wire.receive_output(5))["text"])
    assert said["percent"] == 100
    await wire.send_input({"type": "websocket.disconnect", "code": 1000})
    await wire.wait(5)
    stranger, first = await connect(other_tenant)
    assert (first["type"], first["code"]) == ("websocket.close", 4403)
    await stranger.send_input({"type": "websocket.disconnect", "code": 4403})
    await stranger.wait(5)
    await sync_to_async(connections.close_all)()
