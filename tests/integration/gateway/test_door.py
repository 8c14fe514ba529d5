"""Who comes in, and what is said to them there."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from inference.client import GatewayClient
from inference.errors import BadWire, GatewayLost
from inference.gateway.app import MAX_BODY
from inference.slo import Band
from inference.wire import VERSION, Done
from tests.unit.inference.gateway.tickets import ticket

ROUTES = [
    ("POST", "/v1/generate"), ("POST", "/v1/cancel"), ("GET", "/v1/state"), ("GET", "/v1/engines"), ("GET", "/v1/attempts"), ("POST", "/v1/attempts/ack"),
    ("POST", "/v1/drain"), ("GET", "/metrics"), ("GET", "/no/such/route"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", "Bearer {}x", "Basic {}", "{}"])
def test_without_the_secret_no_door_opens(gateway, method, path, given):
    headers = {"Authorization": given.format(gateway.secret)}
    refused = gateway.request(method, path, headers=headers, json=ticket().to_json())
    assert refused.status_code == 401
    assert refused.json()["code"] == "not_signed_in"
    assert gateway.client.state().ready  # also not drained


def test_a_client_with_a_wrong_secret_hears_that_it_is_not_let_in(gateway):
    client = GatewayClient(gateway.url, "wrong")
    with pytest.raises(GatewayLost, match="401"):
        client.state()
    with pytest.raises(GatewayLost, match="401"):
        list(client.generate(ticket()))
    client.close()


def test_only_that_it_lives_is_told_to_anybody(gateway):
    assert gateway.get("/health", headers={}).json() == {"ok": True}


def test_gateway_and_engine_listen_on_loopback_and_nowhere_else(gateway):
    for pid in (gateway.child.pid, gateway.engine_pid):
        inodes = {link.readlink().name for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
        listening = []
        for table in ("tcp", "tcp6"):
            for row in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
                _number, local, _remote, state, *rest = row.split()
                if state == "0A" and f"socket:[{rest[5]}]" in inodes:
                    listening.append(local.partition(":")[0])
        assert listening == ["0100007F"]


def test_what_is_not_known_or_not_understood_is_refused_with_a_reason(gateway):
    assert gateway.get("/no/such/route").status_code == 404
    assert gateway.get("/v1/generate").status_code == 404
    for body, said in (
        (b"{", "not JSON"),
        (b"[1]", "not an object"),
        (b"[" * 100_000, "not JSON"),
        (b"", f"speaks {VERSION}"),
    ):
        refused = gateway.request("POST", "/v1/generate", content=body)
        assert (refused.status_code, refused.json()["code"]) == (400, "bad_wire")
        assert said in refused.json()["message"]


def test_a_message_that_is_too_large_is_refused(gateway):
    refused = gateway.request("POST", "/v1/generate", content=b" " * (MAX_BODY + 1))
    assert (refused.status_code, refused.json()["message"]) == (400, "the message is too large")


@pytest.mark.parametrize("name", ["salt", "rid", "priority"])
def test_nobody_can_choose_a_salt_a_request_id_or_a_priority(gateway, name):
    refused = gateway.request("POST", "/v1/generate", json={**ticket().to_json(), name: "x"})
    assert (refused.status_code, refused.json()["message"]) == (400, f"unknown field {name}")


def test_a_client_hears_a_refused_message_as_such(gateway):
    wrong = ticket()
    object.__setattr__(wrong, "band", "urgent")
    with pytest.raises(BadWire, match="band"):
        list(gateway.client.generate(wrong))


def test_what_the_metrics_count_are_whole_numbers_with_names_and_hold_no_names_of_tenants(gateway):
    asked = ticket(tenant="tenant-nobody-may-read")
    before = gateway.client.state().counters.get("done", 0)
    assert isinstance(list(gateway.client.generate(asked))[-1], Done)
    page = gateway.get("/metrics").text
    series = dict(line.rsplit(" ", 1) for line in page.splitlines() if not line.startswith("#"))
    assert all(re.fullmatch(r'[a-z_]+(\{[a-z]+="[a-z_]+"\})?', name) for name in series)
    counted = {name: value for name, value in series.items() if not name.startswith("nekibu_gateway_policy")}
    assert all(re.fullmatch(r"\d+", value) for value in counted.values())
    assert all(float(value) >= 0 for value in series.values())  # of the policy there are seconds, too
    assert {f'nekibu_gateway_policy{{what="spread_{band}"}}' for band in Band} <= set(series)
    assert series['nekibu_gateway_total{what="done"}'] == f"{before + 1:g}"
    assert series['nekibu_gateway_engine{state="ready"}'] == series["nekibu_gateway_ready"] == "1"
    assert series["nekibu_gateway_slots"] == "4"
    assert asked.tenant not in page


def test_no_secret_and_no_salt_leaves_the_gateway(gateway):
    frames = list(gateway.client.generate(ticket()))
    said = json.dumps([frame.to_json() for frame in frames])
    said += gateway.get("/v1/state").text + gateway.get("/metrics").text + gateway.get("/v1/attempts").text
    said += (gateway.state / "gateway.log").read_text() + (gateway.state / "logs" / "engine.log").read_text()
    key = (gateway.state / "salt.key").read_bytes()
    assert gateway.secret not in said
    assert key.hex() not in said
    assert not re.search(r"[0-9a-f]{64}", said)  # a salt is so long; ids are shorter
    assert frames[-1].salt_id in said
    for pid in (gateway.child.pid, gateway.engine_pid):
        command = Path(f"/proc/{pid}/cmdline").read_text()
        assert gateway.secret not in command
    assert gateway.secret.encode() not in Path(f"/proc/{gateway.engine_pid}/environ").read_bytes()
