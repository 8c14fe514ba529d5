from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nekibu.embedded import ports
from nekibu.embedded.process import Child, wait_for

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"


def until(true: object, seconds: float = 10) -> bool:
    assert callable(true)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return False


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_child_that_does_not_listen_is_killed_at_the_bound(tmp_path: Path) -> None:
    child = Child("deaf", [sys.executable, "-c", STUBBORN], tmp_path / "deaf.log")
    child.start()
    assert until(lambda: "deaf" in child.tail())
    began = time.monotonic()
    child.stop(0.5)
    assert 0.4 < time.monotonic() - began < 5
    assert child.code == -signal.SIGKILL


def test_what_a_child_started_goes_with_it(tmp_path: Path) -> None:
    child = Child("shell", ["/bin/sh", "-c", "sleep 60 & echo $!; wait"], tmp_path / "shell.log")
    child.start()
    assert until(lambda: child.tail().strip().isdigit())
    grandchild = int(child.tail().strip())
    assert not gone(grandchild)
    child.stop(5)
    assert until(lambda: gone(grandchild))


def test_a_child_dies_with_a_killed_parent(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    program = (
        "import sys, time; from pathlib import Path; from nekibu.embedded.process import Child\n"
        "child = Child('sleeper', ['/bin/sleep', '60'], Path(sys.argv[1])); child.start(); print(child.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(log)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        sleeper = int(parent.stdout.readline())
        assert not gone(sleeper)
        parent.kill()
        parent.wait()
    assert until(lambda: gone(sleeper))


def test_an_early_end_shows_the_end_of_the_log(tmp_path: Path) -> None:
    child = Child("fails", ["/bin/sh", "-c", "echo no disk; exit 3"], tmp_path / "fails.log")
    child.start()
    with pytest.raises(SystemExit, match=r"(?s)Server ended with status 3.*no disk"):
        wait_for(lambda: False, child, 10, "Server")
    child.kill()


def test_logs_of_the_last_three_runs_are_kept(tmp_path: Path) -> None:
    child = Child("echo", ["/bin/true"], tmp_path / "echo.log")
    for run in range(6):
        child.rotate_log()
        child.log.write_text(str(run))
    kept = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert kept == {"echo.log": "5", "echo.log.1": "4", "echo.log.2": "3", "echo.log.3": "2"}


def test_a_taken_port_names_its_holder() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        assert not ports.is_free(port)
        assert f"(process {os.getpid()})" in ports.holder(port)
    assert ports.is_free(port)
