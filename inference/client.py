"""The only caller of the gateway: over loopback, with the shared secret; closing a stream aborts its work."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx

from inference.errors import BadWire, GatewayLost
from inference.wire import TERMINAL, AttemptRecord, EngineState, EngineView, Frame, Ticket, frame_from_json

CONNECT = 3.0
SILENCE = 90.0  # the gateway sends a comment line at least every ten seconds


class GatewayClient:
    """A gateway at `url`. Every method raises GatewayLost when it does not answer."""

    def __init__(self, url: str, secret: str) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {secret}"}
        timeout = httpx.Timeout(SILENCE, connect=CONNECT)
        limits = httpx.Limits(max_connections=200, keepalive_expiry=30)
        self._http = httpx.Client(
            base_url=self._url, headers=self._headers, timeout=timeout, limits=limits, trust_env=False
        )

    def generate(self, ticket: Ticket) -> Iterator[Frame]:
        """Frames until a terminal one. Closing the iterator before it aborts the request in the engine."""
        try:
            with self._http.stream("POST", "/v1/generate", json=ticket.to_json()) as response:
                if response.status_code != 200:
                    response.read()
                    raise _refusal(response)
                for line in response.iter_lines():
                    frame = _frame(line)
                    if frame is not None:
                        yield frame
                        if isinstance(frame, TERMINAL):
                            return
        except httpx.HTTPError as broken:
            raise GatewayLost from broken
        raise GatewayLost

    def cancel(self, attempt_id: str) -> bool:
        """Abort an attempt wherever it is; False when it is not known (any more)."""
        return bool(self._call("POST", "/v1/cancel", {"attempt_id": attempt_id})["cancelled"])

    def state(self) -> EngineState:
        """What the gateway knows of its engines as one."""
        return EngineState.from_json(self._call("GET", "/v1/state"))

    def engines(self) -> list[EngineView]:
        """Each engine by itself."""
        return [EngineView.from_json(raw) for raw in self._call("GET", "/v1/engines")["engines"]]

    def attempts(self) -> list[AttemptRecord]:
        """Records of attempts whose caller was gone, oldest first."""
        return [AttemptRecord.from_json(raw) for raw in self._call("GET", "/v1/attempts")["attempts"]]

    def acknowledge(self, ids: list[str]) -> None:
        """Let the gateway forget these records."""
        self._call("POST", "/v1/attempts/ack", {"ids": ids})

    def drain(self) -> None:
        """Take no new work from now on."""
        self._call("POST", "/v1/drain", {})

    def close(self) -> None:
        """Give up its connections."""
        self._http.close()

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            response = self._http.request(
                method, path, json=body, timeout=httpx.Timeout(5.0, connect=CONNECT)
            )
        except httpx.HTTPError as broken:
            raise GatewayLost from broken
        if response.status_code != 200:
            raise _refusal(response)
        found: dict[str, Any] = response.json()
        return found


def _frame(line: str) -> Frame | None:
    return frame_from_json(json.loads(line[6:])) if line.startswith("data: ") else None


def _refusal(response: httpx.Response) -> Exception:
    if response.status_code == 400:
        return BadWire(response.json().get("message", "refused"))
    return GatewayLost(f"The gateway answered {response.status_code}.")
