"""An engine that speaks SGLang's HTTP and says what the test wants, when it wants."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx


async def until(condition: Callable[[], object]) -> None:
    """Let everything run that can, until it holds."""
    for _ in range(2_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not come to that")


async def idle() -> None:
    """Let everything run that can."""
    for _ in range(200):
        await asyncio.sleep(0)


class Call(httpx.AsyncByteStream):
    """One request to `/generate`, and its answer as it is dictated."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body, self.rid = body, body["rid"]
        self.closed = False
        self._said: asyncio.Queue[bytes | Exception | None] = asyncio.Queue()

    def say(self, text: str = "", tokens: int = 1, finish: dict[str, Any] | None = None, **meta: Any) -> None:
        """One event."""
        info = {**meta, "finish_reason": finish}
        self.raw(
            f"data: {json.dumps({'text': text, 'output_ids': [7] * tokens, 'meta_info': info})}\n\n".encode()
        )

    def stop(self, text: str = "", tokens: int = 1, **meta: Any) -> None:
        """The last event of a whole answer."""
        self.say(text, tokens, {"type": "stop", "matched": 2}, **meta)
        self.raw(b"data: [DONE]\n\n")

    def abort(self, message: str, text: str = "", status: int | None = None, **meta: Any) -> None:
        """The last event of an aborted one."""
        reason = {"type": "abort", "message": message} | ({"status_code": status} if status else {})
        self.say(text, len(text), reason, **meta)
        self.raw(b"data: [DONE]\n\n")

    def raw(self, data: bytes) -> None:
        self._said.put_nowait(data)

    def end(self) -> None:
        """The stream ends, with or without a last word."""
        self._said.put_nowait(None)

    def die(self) -> None:
        """The connection breaks."""
        self._said.put_nowait(httpx.ReadError("broken"))

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while (data := await self._said.get()) is not None:
            if isinstance(data, Exception):
                raise data
            yield data

    async def aclose(self) -> None:
        self.closed = True


class DictatedEngine(httpx.AsyncBaseTransport):
    """Every request is kept; nothing is answered by itself but the abort."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.aborted: list[str] = []
        self.hosts: list[str] = []  # to whom each request was addressed
        self.refuse: httpx.Response | None = None  # instead of the next stream

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(await request.aread())
        self.hosts.append(request.url.host)
        if request.url.path == "/abort_request":
            self.aborted.append(body["rid"])
            return httpx.Response(200, json={})
        if self.refuse is not None:
            refused, self.refuse = self.refuse, None
            return refused
        self.calls.append(Call(body))
        return httpx.Response(200, stream=self.calls[-1])
