"""Processes of a tree are found by its roster, and only the meant one is killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import processes

GATEWAY = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); time.sleep(60)"


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with one child, listed in a roster whose supervisor is this test."""
    child = subprocess.Popen([sys.executable, "-c", GATEWAY], start_new_session=True)
    (tmp_path / "run").mkdir()
    roster = {
        "supervisor": os.getpid(),
        "processes": {"gateway": {"pid": child.pid}, "worker": {"pid": None}},
    }
    (tmp_path / "run" / "processes.json").write_text(json.dumps(roster))
    yield child
    os.killpg(child.pid, 9)
    child.wait(5)


def test_the_engine_is_the_child_of_the_gateway(tmp_path: Path, gateway: subprocess.Popen[bytes]) -> None:
    for _ in range(250):
        engine = processes.find(tmp_path, "engine")
        if engine is not None:
            break
        time.sleep(0.02)
    assert engine is not None
    assert engine.parent == gateway.pid
    found = processes.find(tmp_path, "gateway")
    assert found is not None
    assert found.pid == gateway.pid


def test_a_process_is_killed_once_and_then_nowhere(tmp_path: Path, gateway: subprocess.Popen[bytes]) -> None:
    found = processes.find(tmp_path, "gateway")
    assert found is not None
    assert processes.kill(found)
    gateway.poll()
    for _ in range(250):
        if processes.read(found.pid) is None:
            break
        time.sleep(0.02)
    assert not processes.kill(found)
    assert processes.find(tmp_path, "gateway") is None


def test_a_service_that_is_down_or_of_another_parent_is_not_found(
    tmp_path: Path, gateway: subprocess.Popen[bytes]
) -> None:
    assert processes.find(tmp_path, "worker") is None
    assert processes.find(tmp_path, "beat") is None
    path = tmp_path / "run" / "processes.json"
    roster = json.loads(path.read_text())
    path.write_text(json.dumps({**roster, "supervisor": 1}))
    assert processes.find(tmp_path, "gateway") is None
