"""The whole tree of `make run` with the fake engine: what starts, what is said, what survives and what is left."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from nekibu.embedded import secrets
from nekibu.embedded.layout import Layout
from nekibu.env import PROJECT
from tests.leftovers import left_files, left_processes

PROCESSES = {"postgres", "valkey", "gateway", "web", "worker", "beat"}


class Installation:
    """One state directory and the supervisor that runs on it."""

    def __init__(self, state: Path) -> None:
        self.state, self.port, self.gateway_port = state, free_port(), free_port()
        self.layout = Layout(state)
        self.supervisor: subprocess.Popen[bytes] | None = None
        self.said = state.parent / "said"

    def environment(self, **more: str) -> dict[str, str]:
        ours = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("NEKIBU_") and k not in ours}
        return kept | {
            "NEKIBU_STATE": str(self.state),
            "NEKIBU_PORT": str(self.port),
            "NEKIBU_GATEWAY_PORT": str(self.gateway_port),
            "NEKIBU_FAKE_ENGINE": "1",
            **more,
        }

    def command(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nekibu.embedded.run", *arguments],
            cwd=PROJECT, env=self.environment(**more), capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip

    def start(self) -> None:
        with self.said.open("wb") as output:
            self.supervisor = subprocess.Popen(
                [sys.executable, "-m", "nekibu.embedded.run"],
                cwd=PROJECT, env=self.environment(), stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        until(
            lambda: f"Open http://127.0.0.1:{self.port}/" in self.said.read_text(), 180, self.said.read_text
        )

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        assert self.supervisor is not None
        self.supervisor.send_signal(number)
        return self.supervisor.wait(120)

    def pids(self) -> dict[str, int]:
        roster = json.loads((self.layout.run / "processes.json").read_text())
        return {name: row["pid"] for name, row in roster["processes"].items()}

    def left_processes(self) -> list[str]:
        return left_processes(self.state)

    def left_files(self) -> list[str]:
        return left_files(self.state)

    def link(self) -> psycopg.Connection:
        url = self.layout.database_url("nekibu_owner", secrets.load(self.state).pg_owner_password)
        return psycopg.connect(url)


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with tempfile.TemporaryDirectory(prefix="nkb-run-", dir="/tmp") as outer:
        Path(outer).chmod(0o711)  # PostgreSQL's user passes here
        made = Installation(Path(outer) / "state")
        yield made
        if made.supervisor is not None and made.supervisor.poll() is None:
            made.supervisor.kill()
            made.supervisor.wait()
            until(lambda: not made.left_processes(), 30)


@pytest.fixture
def running(installation: Installation) -> Iterator[Installation]:
    if installation.supervisor is None or installation.supervisor.poll() is not None:
        installation.start()
    yield installation


def test_everything_starts_and_is_told(running: Installation) -> None:
    assert set(running.pids()) == PROCESSES
    with urllib.request.urlopen(f"http://127.0.0.1:{running.port}/healthz", timeout=10) as answer:
        assert answer.status == 200
    told = running.command("--status")
    assert told.returncode == 0
    assert all(name in told.stdout for name in PROCESSES)
    demo = json.loads((running.state / "demo.json").read_text())
    assert demo["base_url"].rstrip("/") == f"http://127.0.0.1:{running.port}"
    assert ((running.state / "demo.json").stat().st_mode & 0o077) == 0


def test_a_second_run_on_the_same_state_is_told_who_runs(running: Installation) -> None:
    second = running.command()
    assert running.supervisor is not None
    assert second.returncode == 1
    assert f"already runs on {running.state}: process {running.supervisor.pid}" in second.stderr
    assert running.supervisor.poll() is None


def test_a_taken_port_is_named_with_the_variable_to_change(running: Installation, tmp_path: Path) -> None:
    other = running.command(NEKIBU_STATE=str(tmp_path / "other"))
    assert other.returncode == 1
    assert f"Port {running.port} is in use by" in other.stderr
    assert "NEKIBU_PORT=" in other.stderr
    assert not (tmp_path / "other" / "run" / "supervisor.lock").exists()


@pytest.mark.parametrize("name", sorted(PROCESSES))
def test_a_killed_process_is_started_again(running: Installation, name: str) -> None:
    before = running.pids()
    os.kill(before[name], signal.SIGKILL)
    until(lambda: running.pids()[name] not in (None, before[name]), 30, running.said.read_text)
    others = running.pids()
    assert {n: p for n, p in others.items() if n != name} == {n: p for n, p in before.items() if n != name}
    if name == "postgres":
        until(lambda: rows(running) is not None, 30)
    if name == "web":
        until(lambda: answers(running.port), 60)


def test_a_stop_leaves_nothing_and_the_next_start_has_all_data(running: Installation) -> None:
    with running.link() as link:
        link.execute("CREATE TABLE kept AS SELECT 'here' AS word")
        before = link.execute("SELECT count(*) FROM tenants_tenant").fetchone()
    assert running.stop() == 0, running.said.read_text()
    assert running.left_processes() == []
    assert running.left_files() == []
    assert running.command("--status").returncode == 3
    running.start()
    with running.link() as link:
        assert link.execute("SELECT word FROM kept").fetchone() == ("here",)
        assert link.execute("SELECT count(*) FROM tenants_tenant").fetchone() == before  # seeded once


def test_a_killed_supervisor_takes_its_children_with_it(running: Installation) -> None:
    assert running.supervisor is not None
    running.supervisor.kill()
    running.supervisor.wait()
    until(lambda: not running.left_processes(), 30, lambda: str(running.left_processes()))
    running.start()
    assert running.stop(signal.SIGTERM) == 0
    assert running.left_processes() == []


def test_a_stop_during_the_start_leaves_nothing(installation: Installation) -> None:
    if installation.supervisor is not None and installation.supervisor.poll() is None:
        installation.stop()
    with installation.said.open("wb") as output:
        installation.supervisor = subprocess.Popen(
            [sys.executable, "-m", "nekibu.embedded.run"],
            cwd=PROJECT, env=installation.environment(), stdout=output, stderr=subprocess.STDOUT,
        )  # fmt: skip
    until(lambda: "postgres " in installation.said.read_text(), 60, installation.said.read_text)
    assert installation.stop(signal.SIGTERM) == 0
    assert installation.left_processes() == []
    assert installation.left_files() == []


def rows(installation: Installation) -> int | None:
    try:
        with installation.link() as link:
            return link.execute("SELECT 1").rowcount
    except psycopg.OperationalError:
        return None


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def until(true: Callable[[], bool], seconds: float, explain: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, explain()
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
