"""A process group: none of it is left, whatever it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from inference.gateway.child import LOG_BOUND, Child
from tests.gateway import alive, until

# A process with a child of its own; both ignore SIGTERM when told to, and the second line is written when all is set.
TREE = """
import os, signal, subprocess, sys, time
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(inner.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
async def child(tmp_path):
    made = Child(tmp_path / "run" / "engine.pid", tmp_path / "logs" / "engine.log")
    yield made
    await made.end()


def start(child: Child, *arguments: str) -> tuple[int, int]:
    """Start the tree; its two processes."""
    child.start([sys.executable, "-c", TREE, *arguments], os.environ)
    until(lambda: child.log.read_text().endswith("\n"))
    return int(child.pid_file.read_text()), int(child.log.read_text())


async def test_the_whole_group_is_ended(child):
    outer, inner = start(child)
    assert child.code is None
    assert (alive(outer), alive(inner)) == (True, True)
    await child.end()
    assert (alive(outer), alive(inner)) == (False, False)
    assert not child.pid_file.exists()
    await child.end()  # nothing is left to end


async def test_one_that_does_not_listen_is_killed_after_its_grace(child):
    outer, inner = start(child, "deaf")
    await child.end(grace=0.2)
    assert (alive(outer), alive(inner)) == (False, False)


async def test_what_the_first_process_leaves_behind_is_ended_too(child):
    outer, inner = start(child)
    os.kill(outer, signal.SIGKILL)
    until(lambda: child.code is not None)
    assert child.code == -signal.SIGKILL
    assert alive(inner)
    await child.end(grace=5.0)
    assert not alive(inner)


def test_it_dies_with_the_process_that_started_it(tmp_path):
    code = f"""
import os, sys, time
from pathlib import Path
from inference.gateway.child import Child
child = Child(Path({str(tmp_path / "pid")!r}), Path({str(tmp_path / "log")!r}))
child.start([sys.executable, "-c", "import time; time.sleep(600)"], os.environ)
print("started", flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"started\n"
    pid = int((tmp_path / "pid").read_text())
    assert alive(pid)
    parent.kill()
    parent.communicate()
    until(lambda: not alive(pid))


async def test_one_that_was_left_all_the_same_is_ended_at_the_next_start(child):
    outer, inner = start(child, "inference.fake")
    left = Child(child.pid_file, child.log)  # another gateway, later
    await left.reap_stale()
    assert (alive(outer), alive(inner)) == (False, False)
    assert not child.pid_file.exists()


@pytest.mark.parametrize("said", ["", "not a number", "99999999"])
async def test_a_pid_file_that_names_nobody_of_ours_harms_nobody(child, said):
    child.pid_file.parent.mkdir(parents=True)
    child.pid_file.write_text(said or str(os.getpid()))
    await child.reap_stale()
    assert alive(os.getpid())


async def test_a_log_that_has_grown_large_makes_room_at_the_next_start(child):
    child.log.parent.mkdir(parents=True)
    with child.log.open("wb") as file:
        file.truncate(LOG_BOUND + 1)
    start(child)
    assert child.log.with_name("engine.log.1").stat().st_size == LOG_BOUND + 1
    assert child.log.stat().st_size < 100
