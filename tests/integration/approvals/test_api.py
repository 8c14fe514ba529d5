"""The inbox over REST: read, decide with If-Match, hand over, stand in."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.permissions import ApprovalAction
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import create_token

_keys = count()


class Caller:
    """A program that acts for one person."""

    def __init__(self, actor: Actor) -> None:
        with tenant_scope(actor.tenant_id):
            text = create_token(
                actor=Actor.system(actor.tenant_id, "test"),
                user=User.objects.get(pk=actor.user_id),
                name="test",
                scopes=list(ApprovalAction),
            )
        self.client = Client(headers={"Authorization": f"Bearer {text}"})

    def get(self, name, *args, **query):
        return self.client.get(reverse(name, args=args), query)

    def post(self, name, *args, body=None, **headers):
        return self.client.post(
            reverse(name, args=args),
            body or {},
            content_type="application/json",
            headers={"Idempotency-Key": f"key-{next(_keys)}", **headers},
        )


@pytest.fixture
def caller(person):
    return lambda name="Ada", *roles: Caller(person(name, *roles))


WORD = {"verdict": "approve", "reason": "I looked"}


def test_a_request_is_read_with_its_etag_and_decided_by_it(bank, transfer, caller, audit):
    ada, request = caller(), transfer()
    read = ada.get("api-approval", request.id)
    assert read["ETag"] == f'"{request.params_hash}"'
    assert read.json()["parameters"] == request.parameters
    done = ada.post("api-approval-decide", request.id, body=WORD, **{"If-Match": read["ETag"]})
    assert (done.status_code, done.json()["status"], done.json()["approvals"]) == (200, "approved", 1)
    assert done.json()["verdicts"][0]["person"] == "Ada"
    assert len(bank.done) == 1
    assert audit("approvals:request:refused") == []


def test_a_word_without_what_it_is_about_is_refused_and_so_is_one_about_something_else(
    transfer, caller, audit
):
    ada, request = caller(), transfer()
    other = transfer()
    answers = [
        ada.post("api-approval-decide", request.id, body=WORD),
        ada.post("api-approval-decide", request.id, body=WORD, **{"If-Match": f'"{other.params_hash}"'}),
        ada.post("api-approval-decide", request.id, body=WORD, **{"If-Match": "*"}),
        ada.post("api-approval-decide", request.id, body={**WORD, "params_hash": "0" * 64}),
    ]
    assert [(a.status_code, a.json()["code"]) for a in answers] == [
        (428, "parameters_needed"), (412, "other_parameters"), (412, "other_parameters"), (412, "other_parameters"),
    ]  # fmt: skip
    refused = audit("approvals:request:refused")
    assert [r.payload["status"] for r in refused] == [428, 412, 412, 412]
    assert {r.subject_id for r in refused} == {str(request.id)}


def test_the_same_key_gives_the_same_answer_and_another_key_is_too_late(bank, transfer, caller):
    ada, request = caller(), transfer()
    sent = {"body": {**WORD, "params_hash": request.params_hash}, "Idempotency-Key": "once"}
    first, again = (ada.post("api-approval-decide", request.id, **sent) for _ in range(2))
    late = ada.post("api-approval-decide", request.id, **{**sent, "Idempotency-Key": "twice"})
    assert (first.status_code, again.status_code, again["Idempotent-Replay"]) == (200, 200, "true")
    assert (late.status_code, late.json()["code"], late.json()["by"]) == (409, "already_decided", "Ada")
    assert len(bank.done) == 1


def test_what_is_void_is_said_with_the_request_that_took_its_place(bank, transfer, caller):
    ada, request = caller(), transfer()
    bank.facts[request.subject_id] = {**request.parameters, "amount": "999"}
    void = ada.post("api-approval-decide", request.id, body=WORD, **{"If-Match": request.params_hash})
    assert (void.status_code, void.json()["code"]) == (409, "approval_void")
    later = ada.get("api-approval", void.json()["superseded_by"]).json()
    assert (later["status"], later["parameters"]["amount"], later["supersedes"]) == (
        "pending",
        "999",
        str(request.id),
    )
    assert bank.done == []


@pytest.mark.parametrize("method", ["get", "head", "put", "patch", "delete"])
def test_a_decision_is_made_by_post_only_and_the_attempt_is_in_the_record(transfer, caller, audit, method):
    ada, request = caller(), transfer()
    path = reverse("api-approval-decide", args=[request.id])
    answer = getattr(ada.client, method)(f"{path}?verdict=approve&reason=x&params_hash={request.params_hash}")
    assert (answer.status_code, answer["Allow"]) == (405, "POST, OPTIONS")
    (row,) = audit("approvals:request:refused")
    assert (row.payload["code"], row.payload["status"]) == ("method_not_allowed", 405)
    assert row.subject_id == str(request.id)


def test_a_token_cannot_give_a_password_again(transfer, caller, audit):
    request = transfer(risk="R3")
    answer = caller().post("api-approval-decide", request.id, body=WORD, **{"If-Match": request.params_hash})
    assert (answer.status_code, answer.json()["code"]) == (403, "step_up_required")
    assert audit("approvals:request:refused")[0].payload["code"] == "step_up_required"


def test_the_list_is_filtered_by_kind_group_subject_and_state(transfer, caller, person, say):
    ada = caller()
    mine, others, done = transfer(), transfer(roles=["recruiter"]), transfer()
    say(person("Ben"), done)

    def ids(**query):
        return [row["id"] for row in ada.get("api-approvals", **query).json()["results"]]

    assert ids(status="pending") == [str(mine.id)]
    assert ids() == [str(r.id) for r in (done, others, mine)]
    assert ids(status="approved") == [str(done.id)]
    assert ids(group="recruiter") == [str(others.id)]
    assert ids(subject=mine.subject_id) == [str(mine.id)]
    assert ids(kind="nothing") == []


def test_one_question_and_a_whole_time_are_handed_over_and_taken_back(transfer, caller, person):
    ada, ben = caller("Ada"), person("Ben", "hiring_manager")
    request, now = transfer(), timezone.now()
    one = ada.post("api-approval-delegate", request.id, body={"user": str(ben.user_id), "note": "yoldayım"})
    assert (one.status_code, one.json()["delegate"], one.json()["request"]) == (201, "Ben", str(request.id))
    can = person("Can", "hiring_manager")
    whole = {"user": str(can.user_id), "ends_at": (now + timedelta(days=2)).isoformat()}
    made = ada.post("api-delegations", body=whole)
    assert (made.status_code, made.json()["principal"], made.json()["request"]) == (201, "Ada", None)
    again = ada.post("api-delegations", body=whole)
    assert (again.status_code, again.json()["code"]) == (409, "delegation_twice")
    assert [row["delegate"] for row in ada.get("api-delegations").json()["results"]] == ["Can", "Ben"]
    ended = ada.post("api-delegation-end", made.json()["id"])
    assert (ended.status_code, bool(ended.json()["ended_at"])) == (200, True)
    assert ada.post("api-delegation-end", made.json()["id"]).status_code == 409
    assert ada.post("api-delegations", body={"user": "nobody"}).status_code == 400


def test_nothing_of_a_refused_act_stays(transfer, caller):
    ada, request = caller(), transfer()
    ada.post(
        "api-approval-decide", request.id, body={**WORD, "reason": ""}, **{"If-Match": request.params_hash}
    )
    with tenant_scope(request.tenant_id):
        row = ApprovalRequest.objects.get()
        assert (row.status, row.verdicts.count()) == ("pending", 0)
