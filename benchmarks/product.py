"""The running product as a benchmark meets it: its REST API with tokens from demo.json, or a tree of its own."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.deployment import free_port
from nekibu.env import PROJECT, default_state

PATIENCE = 120.0  # seconds that one call outlives a restarting server
READY_SECONDS = 900.0  # a first start prepares the model's weights
TRY_AGAIN = {429, 500, 502, 503, 504}


class NotRunning(SystemExit):
    """No product answers, or the one that was started did not come up."""


class Refused(RuntimeError):
    """The product answered with an error that repeating does not change."""


class Api:
    """One actor's calls. Every call outlives a restart of what is behind it, and acts once: writes carry a key."""

    def __init__(self, base_url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=base_url.rstrip("/"), headers={"Authorization": f"Bearer {token}"}, timeout=30.0
        )

    def get(self, path: str, **params: Any) -> Any:
        return self._call("GET", path, params=params or None).json()  # {} would drop those of the address

    def rows(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """All rows of a list, page after page."""
        page = self.get(path, **params, per_page=200)
        while True:
            yield from page["results"]
            if not page["next"]:
                return
            page = self.get(page["next"])

    def post(self, path: str, **body: Any) -> Any:
        """POST of JSON (`json=`) or a form with a file (`data=`, `files=`), under one idempotency key."""
        return self._call("POST", path, headers={"Idempotency-Key": secrets.token_hex(16)}, **body).json()

    def close(self) -> None:
        self._http.close()

    def _call(self, method: str, path: str, **more: Any) -> httpx.Response:
        url = path if path.startswith("http") else f"/api/v1/{path}"
        until = time.monotonic() + PATIENCE
        while True:
            why = ""
            try:
                answer = self._http.request(method, url, **more)
                if answer.status_code < 400:
                    return answer
                why = f"{method} {path}: {answer.status_code} {answer.text[:400]}"
                pause = float(answer.headers.get("Retry-After") or 0.5)
                if answer.status_code not in TRY_AGAIN:
                    raise Refused(why)
            except httpx.TransportError as broken:
                why, pause = f"{method} {path}: {type(broken).__name__}", 0.5
            if time.monotonic() + pause > until:
                raise Refused(f"still failing after {PATIENCE:.0f} s: {why}")
            time.sleep(min(pause, 5.0))


@dataclass(frozen=True, slots=True)
class Installation:
    """One state directory with a product on it."""

    state: Path
    port: int
    gateway_port: int
    demo: Mapping[str, Any]

    def api(self, role: str, tenant: str | None = None) -> Api:
        """Calls as that role of a demo tenant, the first by default."""
        slug = tenant or self.demo["tenants"][0]["slug"]
        return Api(self.demo["base_url"], self.demo["tokens"][slug][role])

    @property
    def gateway_url(self) -> str:
        return f"http://127.0.0.1:{self.gateway_port}"

    @property
    def gateway_secret(self) -> str:
        return str(json.loads((self.state / "secrets.json").read_text())["gateway_secret"])

    def engine(self) -> dict[str, Any] | None:
        """What the gateway says of its engine; None while it does not answer."""
        try:
            answer = httpx.get(
                f"{self.gateway_url}/v1/state",
                headers={"Authorization": f"Bearer {self.gateway_secret}"},
                timeout=3.0,
            )
        except httpx.TransportError:
            return None
        return dict(answer.json()) if answer.status_code == 200 else None

    def wait_for_engine(self, seconds: float = READY_SECONDS) -> dict[str, Any]:
        """The engine's state once it serves. Raises NotRunning after the time."""
        until = time.monotonic() + seconds
        said: dict[str, Any] | None = None
        while time.monotonic() < until:
            said = self.engine()
            if said is not None and said["state"] == "ready":
                return said
            time.sleep(1.0)
        raise NotRunning(f"the engine is not ready after {seconds:.0f} s: {said}")


@contextlib.contextmanager
def installation(*, own: bool = False, **more: str) -> Iterator[Installation]:
    """The product that runs on `$NEKIBU_STATE`, or one started for this run and stopped after it.

    With `own` the running product is left alone in any case: a fault run must never kill somebody's work. `more` is added
    to the environment of a product that is started.
    """
    if not own:
        state = Path(os.environ.get("NEKIBU_STATE") or default_state())
        found = _running(state)
        if found is not None:
            yield found
            return
    # PostgreSQL's own user has to pass every directory above the state.
    with tempfile.TemporaryDirectory(
        prefix="nekibu-bench-", dir="/var/lib" if os.geteuid() == 0 else None
    ) as name:
        Path(name).chmod(0o755)
        models = Path(os.environ.get("NEKIBU_STATE") or default_state()) / "models"
        with tree(Path(name), models, **more) as started:
            yield started


def _running(state: Path) -> Installation | None:
    demo = state / "demo.json"
    if not demo.is_file() or not (state / "run" / "processes.json").is_file():
        return None
    held = json.loads(demo.read_text())
    try:
        httpx.get(f"{held['base_url'].rstrip('/')}/healthz", timeout=5.0)
    except httpx.TransportError:
        return None
    port = httpx.URL(held["base_url"]).port or 8000
    return Installation(state, port, int(os.environ.get("NEKIBU_GATEWAY_PORT") or port + 1), held)


@contextlib.contextmanager
def tree(state: Path, models: Path, **more: str) -> Iterator[Installation]:
    """`make run` on an empty state directory, stopped as by Ctrl-C on the way out; the directory stays.

    Prepared models are borrowed from `models`, because they take a while to make. `more` is added to the environment.
    """
    port, gateway_port = free_port(), free_port()
    if models.is_dir():
        (state / "models").symlink_to(models)
    variables = {
        **os.environ,
        "NEKIBU_STATE": str(state),
        "NEKIBU_PORT": str(port),
        "NEKIBU_GATEWAY_PORT": str(gateway_port),
        **more,
    }
    log = state / "supervisor.log"
    with log.open("wb") as output:
        running = subprocess.Popen(
            [sys.executable, "-m", "nekibu.embedded.run"],
            cwd=PROJECT, env=variables, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            yield _wait_for_tree(running, state, port, gateway_port, log)
        finally:
            _stop(running)


def _wait_for_tree(
    running: subprocess.Popen[bytes], state: Path, port: int, gateway_port: int, log: Path
) -> Installation:
    until = time.monotonic() + 300
    while time.monotonic() < until:
        if running.poll() is not None:
            break
        found = _running(state)
        if found is not None:
            return Installation(state, port, gateway_port, found.demo)
        time.sleep(0.5)
    raise NotRunning(
        f"the product did not start. The end of {log}:\n{log.read_text(errors='replace')[-2000:]}"
    )


def _stop(running: subprocess.Popen[bytes]) -> None:
    if running.poll() is None:
        running.send_signal(signal.SIGINT)
        try:
            running.wait(90)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait(10)
