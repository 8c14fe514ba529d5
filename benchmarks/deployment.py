"""Engines, routers and gateways on loopback, as children of a benchmark that end with it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from inference.client import GatewayClient
from inference.errors import GatewayLost
from nekibu.env import PROJECT, default_state

START_SECONDS = 420.0
PAIR = 96  # tokens


@dataclass(frozen=True, slots=True)
class Server:
    """An SGLang server of this benchmark. All of them have the same keys."""

    port: int
    pid: int
    key: str
    admin_key: str
    model: str
    vocabulary: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True, slots=True)
class Gateway:
    """A gateway of this benchmark."""

    client: GatewayClient


@dataclass(frozen=True, slots=True)
class Router:
    """A router of the SGLang project in a directory of its own; it is not among the project's requirements."""

    name: str
    module: tuple[str, ...]
    package: str

    @property
    def folder(self) -> Path:
        """Where `pip install --target` has put it."""
        return Path(os.environ.get("NEKIBU_STATE") or default_state()) / "routers" / self.name

    @property
    def there(self) -> bool:
        return (self.folder / self.package).is_dir()


ROUTERS = (
    Router("sglang-router-0.3.2", ("sglang_router.launch_router",), "sglang_router"),
    Router("smg-1.13.0", ("smg", "launch"), "smg"),
)


@contextlib.contextmanager
def started_together(home: Path, count: int, *options: str) -> Iterator[list[Server]]:
    """So many engines with the packaged model, started at once and killed with their groups on the way out."""
    models = Path(os.environ.get("NEKIBU_STATE") or default_state()) / "models"
    key, admin = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    with contextlib.ExitStack() as stack:
        children = []
        for number in range(1, count + 1):
            place, port = home / f"engine-{number}", free_port()
            place.mkdir()
            command = [
                sys.executable, "-m", "inference.engine", "--profile", "cpu", "--models-dir", str(models), "--port", str(port),
                "--run-dir", str(place), "--status-file", str(place / "status.json"), *options,
            ]  # fmt: skip
            environment = {**os.environ, "NEKIBU_ENGINE_KEY": key, "NEKIBU_ENGINE_ADMIN_KEY": admin}
            child = stack.enter_context(_child(command, environment, place / "log"))
            children.append((child, port, place))
        servers = []
        for child, port, place in children:
            url = f"http://127.0.0.1:{port}"
            _wait(child, place / "log", lambda url=url: _answers(f"{url}/ready"))  # type: ignore[misc]
            status = json.loads((place / "status.json").read_text())
            servers.append(
                Server(port, child.pid, key, admin, status["model_path"], status["launch"]["vocab_size"])
            )
        yield servers


@contextlib.contextmanager
def gateway(home: Path, server: Server, urls: Sequence[str]) -> Iterator[Gateway]:
    """A gateway before these addresses, once each of them is ready or down."""
    home.mkdir(parents=True)
    port, secret = free_port(), secrets.token_urlsafe(24)
    environment = {
        **os.environ, "NEKIBU_STATE": str(home), "NEKIBU_GATEWAY_PORT": str(port), "NEKIBU_GATEWAY_SECRET": secret,
        "NEKIBU_ENGINE_URL": ",".join(urls), "NEKIBU_MODEL": server.model, "NEKIBU_ENGINE_KEY": server.key,
        "NEKIBU_ENGINE_ADMIN_KEY": server.admin_key, "NEKIBU_ENGINES": "", "NEKIBU_FAKE_ENGINE": "",
    }  # fmt: skip
    client = GatewayClient(f"http://127.0.0.1:{port}", secret)

    def settled() -> bool:
        try:
            return all(view.state in {"ready", "down"} for view in client.engines())
        except GatewayLost:
            return False

    with _child([sys.executable, "-m", "inference.gateway"], environment, home / "log") as child:
        try:
            _wait(child, home / "log", settled)
            yield Gateway(client)
        finally:
            client.close()


@contextlib.contextmanager
def before_router(router: Router, servers: Sequence[Server], log: Path) -> Iterator[str]:
    """That router in front of the servers, without retries and circuit breaker of its own; its address."""
    port = free_port()
    command = [
        sys.executable, "-m", *router.module, "--worker-urls", *(server.url for server in servers), "--host", "127.0.0.1",
        "--port", str(port), "--prometheus-host", "127.0.0.1", "--prometheus-port", str(free_port()), "--disable-retries",
        "--disable-circuit-breaker", "--health-check-interval-secs", "3", "--api-key", servers[0].key,
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with _child(command, {**os.environ, "PYTHONPATH": str(router.folder)}, log) as child:
        _wait(child, log, lambda: _healthy(url, servers))
        yield url


def raw_pair(url: str, server: Server, *, repeat: bool) -> list[int]:
    """Cached tokens of one fresh prompt under salts a a b b a; `repeat` says each salt as `extra_key` too."""
    rng = random.Random(secrets.randbits(64))
    ids = [rng.randrange(100, server.vocabulary - 100) for _ in range(PAIR)]
    salts = {"a": secrets.token_hex(32), "b": secrets.token_hex(32)}
    found = []
    for name in "aabba":
        body = {"input_ids": ids, "cache_salt": salts[name], "sampling_params": {"max_new_tokens": 1, "temperature": 0}}  # fmt: skip
        if repeat:
            body["extra_key"] = salts[name]
        answer = httpx.post(f"{url}/generate", json=body, headers=_bearer(server.key), timeout=60, trust_env=False)  # fmt: skip
        answer.raise_for_status()
        found.append(int(answer.json()["meta_info"]["cached_tokens"]))
    return found


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _child(
    command: Sequence[str], environment: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        child = subprocess.Popen(
            list(command), cwd=PROJECT, env=environment, stdout=file, stderr=file, start_new_session=True
        )
    try:
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait(30)


def _wait(child: subprocess.Popen[bytes], log: Path, condition: Callable[[], bool]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and child.poll() is None:
        if condition():
            return
        time.sleep(0.3)
    raise RuntimeError(f"a child did not come up:\n{log.read_text(errors='replace')[-2000:]}")


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5.0, trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def _healthy(url: str, servers: Sequence[Server]) -> bool:
    """Whether the router has met all of them."""
    try:
        answer = httpx.get(f"{url}/workers", headers=_bearer(servers[0].key), timeout=5.0, trust_env=False)
        listed = answer.json()["workers"]
    except (httpx.HTTPError, ValueError, KeyError):
        return False
    return sum(bool(one.get("is_healthy")) for one in listed) == len(servers)


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
