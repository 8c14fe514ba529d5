"""A router before fake engines with real prefix trees: an honest HTTP stand-in, met in this process."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import httpx

from inference.fake import FakeEngine
from inference.fake.server import Server

FIRST = 16  # tokens by which it knows a prefix


class Router(httpx.AsyncBaseTransport):
    """Leads a prefix to the server that had it, or each call to the next server; drops these fields of a request on the way.

    Like the routers of the SGLang project it has `/workers` and `/readiness`, and neither `/ready` nor `/server_info`. The servers
    can be met directly at their own addresses.
    """

    def __init__(
        self, engines: Sequence[FakeEngine], *, drops: Sequence[str] = (), in_turn: bool = False
    ) -> None:
        self.servers = {f"http://server-{n}": Server(engine) for n, engine in enumerate(engines, start=1)}
        self.healthy = set(self.servers)
        self.drops, self.in_turn = drops, in_turn
        self.bodies: list[
            tuple[str, dict[str, Any]]
        ] = []  # where each request to generate went, and what arrived there
        self.aborted: list[tuple[str, str]] = []
        self.said: dict[str, dict[str, Any]] = {}  # other words of a server of itself
        self._turns = itertools.count()
        self._known: dict[tuple[int, ...], str] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        at, path = f"http://{request.url.host}", request.url.path
        if at in self.servers:
            return await self._direct(at, path, request)
        if path == "/workers":
            listed = [{"url": url, "is_healthy": url in self.healthy} for url in self.servers]
            return httpx.Response(200, json={"workers": listed, "total": len(listed)})
        if path == "/readiness":
            return httpx.Response(200 if self.healthy else 503)
        if path == "/generate":
            return await self._generate(json.loads(await request.aread()))
        return httpx.Response(404)

    async def _direct(self, at: str, path: str, request: httpx.Request) -> httpx.Response:
        if at not in self.healthy:
            raise httpx.ConnectError("refused", request=request)
        if path == "/abort_request":
            self.aborted.append((at, json.loads(await request.aread())["rid"]))
            return httpx.Response(200, json={})
        answer = await httpx.ASGITransport(app=self.servers[at]).handle_async_request(request)
        if path == "/server_info" and at in self.said:
            return httpx.Response(200, json=json.loads(await answer.aread()) | self.said[at])
        return answer

    async def _generate(self, body: dict[str, Any]) -> httpx.Response:
        if not self.healthy:
            return httpx.Response(503, json={"error": "no_available_workers"})
        at = self._chosen(tuple(body["input_ids"][:FIRST]))
        kept = {name: value for name, value in body.items() if name not in self.drops}
        self.bodies.append((at, kept))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=self.servers[at])) as http:
            answer = await http.post(f"{at}/generate", json=kept)
        return httpx.Response(answer.status_code, content=answer.content)

    def _chosen(self, prefix: tuple[int, ...]) -> str:
        able = sorted(self.healthy)
        if self.in_turn or self._known.get(prefix) not in self.healthy:
            self._known[prefix] = able[next(self._turns) % len(able)]
        return self._known[prefix]
