"""The real gateway process with the fake engine as its child, and callers who talk to it as the product does."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from inference.client import GatewayClient
from inference.errors import GatewayLost
from inference.wire import TERMINAL, Delta, Frame, Ticket, frame_from_json

SECRET = "a-secret-between-the-two-ends"
PATIENCE = 60.0  # for what must come; nothing is asserted about how soon


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], Any]) -> Any:
    """Wait until it holds; returns what it said."""
    end = time.monotonic() + PATIENCE
    while not (said := condition()):
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)
    return said


async def eventually(condition: Callable[[], Any]) -> Any:
    """`until` for a test in a loop: the others go on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not (said := condition()):
        assert time.monotonic() < end, "it did not come to that"
        await asyncio.sleep(0.02)
    return said


def alive(pid: int) -> bool:
    """Whether it runs; one that waits to be buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class GatewayProcess:
    """`python -m inference.gateway` on a port and a state directory of its own; `options` are the fake engine's."""

    def __init__(self, state: Path, *options: str, secret: str = SECRET, **environment: str) -> None:
        self.state, self.options, self.port, self.secret = state, options, free_port(), secret
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("DJANGO")},
            "NEKIBU_STATE": str(state),
            "NEKIBU_FAKE_ENGINE": "1",
            "NEKIBU_GATEWAY_PORT": str(self.port),
            "NEKIBU_GATEWAY_SECRET": secret,
            **environment,
        }
        self.client = GatewayClient(self.url, secret)
        self._http = httpx.Client(base_url=self.url, trust_env=False, timeout=30)
        self.child: subprocess.Popen[bytes] | None = None

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start it, and wait for nothing."""
        command = [sys.executable, "-m", "inference.gateway", *self.options]
        with (self.state / "gateway.log").open("ab") as log:
            return subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)

    def start(self, state: str = "ready") -> None:
        """Start it, and wait until its engine is in that state."""
        self.child = self.spawn()
        until(lambda: self.engine_state() == state)

    def engine_state(self) -> str:
        assert self.child is None or self.child.poll() is None, (self.state / "gateway.log").read_text()
        try:
            return self.client.state().state
        except GatewayLost:
            return ""

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End it, and wait for that; returns its status."""
        assert self.child is not None
        child, self.child = self.child, None
        child.send_signal(how)
        return child.wait(PATIENCE)

    def close(self) -> None:
        """Whatever is left, at the end of a test."""
        if self.child is not None:
            self.signal_engine(signal.SIGCONT)
            self.end()
        self.client.close()
        self._http.close()

    @property
    def engine_pid(self) -> int:
        return int((self.state / "run" / "engine.pid").read_text())

    def signal_engine(self, how: signal.Signals) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.engine_pid, how)

    def engine_says(self, name: str) -> int:
        """One figure of the engine's own metrics."""
        words = Path(f"/proc/{self.engine_pid}/cmdline").read_text().split("\0")
        port = words[words.index("--port") + 1]
        lines = self._http.get(f"http://127.0.0.1:{port}/metrics").text.splitlines()
        return int(dict(line.split() for line in lines)[f"sglang:{name}"])

    def get(self, path: str, **changes: Any) -> httpx.Response:
        return self.request("GET", path, **changes)

    def request(self, method: str, path: str, **changes: Any) -> httpx.Response:
        changes.setdefault("headers", {"Authorization": f"Bearer {self.secret}"})
        return self._http.request(method, path, **changes)


class Caller:
    """Somebody who reads a ticket's frames from a gateway, until their end or until they leave."""

    def __init__(self, http: httpx.AsyncClient, ticket: Ticket) -> None:
        self.ticket, self.frames = ticket, []
        self._http = http
        self._task = asyncio.create_task(self._read())
        self._news = asyncio.Event()

    async def _read(self) -> None:
        async with self._http.stream("POST", "/v1/generate", json=self.ticket.to_json()) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    self.frames.append(frame_from_json(json.loads(line[6:])))
                    self._news.set()

    def kinds(self) -> list[type[Frame]]:
        """What came, each run of deltas as one."""
        said: list[type[Frame]] = []
        for frame in self.frames:
            if not said or not isinstance(frame, Delta) or said[-1] is not Delta:
                said.append(type(frame))
        return said

    async def heard(self, kind: type[Frame], times: int = 1) -> Any:
        """The frame of that kind, once it has come so often."""
        while len(found := [frame for frame in self.frames if isinstance(frame, kind)]) < times:
            assert not any(isinstance(frame, TERMINAL) for frame in self.frames), self.frames
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)
        return found[times - 1]

    async def heard_at(self, kind: type[Frame]) -> Any:
        """The last frame of that kind, of one that has ended."""
        await self.ended()
        return [frame for frame in self.frames if isinstance(frame, kind)][-1]

    async def ended(self) -> Any:
        """The last frame."""
        await asyncio.wait_for(asyncio.shield(self._task), PATIENCE)
        assert [isinstance(frame, TERMINAL) for frame in self.frames] == [False] * (len(self.frames) - 1) + [
            True
        ]
        return self.frames[-1]

    async def leave(self) -> None:
        """Close the connection."""
        self._task.cancel()
        await asyncio.wait({self._task})
        if not self._task.cancelled():
            self._task.exception()


class Callers:
    """Callers of one gateway, in the loop of one test; at its end nobody is left."""

    def __init__(self, gateway: GatewayProcess) -> None:
        self._http = httpx.AsyncClient(
            base_url=gateway.url,
            headers={"Authorization": f"Bearer {gateway.secret}"},
            timeout=PATIENCE,
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
        )
        self._all: list[Caller] = []

    def ask(self, ticket: Ticket) -> Caller:
        self._all.append(Caller(self._http, ticket))
        return self._all[-1]

    async def leave(self) -> None:
        for caller in self._all:
            await caller.leave()
        await self._http.aclose()
