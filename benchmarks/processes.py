"""Finds the processes of a supervised tree, so that a fault run kills exactly the one it means."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    """One live process; `started` (clock ticks since boot) tells it from a later one with the same number."""

    pid: int
    parent: int
    started: int


def read(pid: int) -> Process | None:
    """The process of that number, unless it has ended."""
    try:
        # The name stands in brackets and may hold blanks, so the fields are read behind the last one.
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else Process(pid, int(fields[1]), int(fields[19]))


def children(pid: int) -> list[Process]:
    """The live processes that it started."""
    numbers = sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())
    found = [read(number) for number in numbers]
    return [process for process in found if process is not None and process.parent == pid]


def find(state: Path, name: str) -> Process | None:
    """A process of the tree on that state directory, by the supervisor's roster; the engine is the gateway's child."""
    roster = json.loads((state / "run" / "processes.json").read_text())
    row = roster["processes"].get("gateway" if name == "engine" else name)
    listed = read(row["pid"]) if row and row["pid"] else None
    if listed is None or listed.parent != roster["supervisor"]:
        return None
    if name != "engine":
        return listed
    return next(iter(children(listed.pid)), None)


def kill(process: Process) -> bool:
    """SIGKILL, unless that very process is gone already."""
    if read(process.pid) != process:
        return False
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
