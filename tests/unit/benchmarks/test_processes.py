"""Processes of a tree are found by what they are, and only the meant one is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from benchmarks import processes


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("python -m inference.engine --port 1", "engine"),
        ("python -m inference.fake --port 1", "engine"),
        ("/venv/bin/python -m inference.gateway", "gateway"),
        ("/venv/bin/python -m celery -A nekibu.celery worker -P threads", "worker"),
        ("/venv/bin/celery -A nekibu.celery beat", "beat"),
        ("/opt/pg/bin/postgres -D /var/lib/nekibu/pg18", "postgres"),
        ("postgres: checkpointer", None),
        ("postgres: nekibu_app nekibu [local] idle", None),
        ("/x/valkey-server /var/lib/nekibu/valkey/valkey.conf", "valkey"),
        ("bash", None),
    ],
)
def test_a_command_line_is_one_service_or_none(command: str, kind: str | None) -> None:
    assert processes.kind_of(tuple(command.split(" "))) == kind


def test_a_child_is_found_below_its_parent_and_killed_once() -> None:
    script = "import time; time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", script, "inference.gateway"])
    try:
        for _ in range(100):
            found = processes.find(os.getpid(), "gateway")
            if found is not None:
                break
            time.sleep(0.02)
        assert found is not None
        assert found.pid == child.pid
        assert processes.kill(found)
        assert child.wait(5) == -9
        assert not processes.kill(found)
        assert processes.find(os.getpid(), "gateway") is None
    finally:
        if child.poll() is None:
            child.kill()
            child.wait(5)
