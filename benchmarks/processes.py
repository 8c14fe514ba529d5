"""Finds the processes of a supervised tree in /proc, so that a fault run kills exactly the one it means."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
KINDS = {
    "engine": ("inference.engine", "inference.fake"),
    "gateway": ("inference.gateway",),
    "worker": ("celery", "worker"),
    "beat": ("celery", "beat"),
    "web": ("uvicorn", "nekibu.asgi:application"),
    "postgres": ("postgres", "-D"),
    "valkey": ("valkey-server",),
}
ANY_OF = ("engine",)


@dataclass(frozen=True, slots=True)
class Process:
    """One live process; `started` (clock ticks since boot) tells it from a later one with the same number."""

    pid: int
    parent: int
    started: int
    command: tuple[str, ...]


def read_all() -> list[Process]:
    """Every process that can be read now; those that end meanwhile are left out."""
    found = []
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
                # The name stands in brackets and may hold blanks, so the fields are read behind the last one.
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                found.append(Process(int(entry.name), int(fields[1]), int(fields[19]), tuple(command)))
    return found


def descendants(root: int, processes: list[Process]) -> list[Process]:
    """All processes below `root`, nearest first."""
    children: dict[int, list[Process]] = {}
    for process in processes:
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found.extend(below)
        waiting.extend(process.pid for process in below)
    return found


def kind_of(command: tuple[str, ...]) -> str | None:
    """Which service a command line starts, or None for anything else (a backend of PostgreSQL, a shell)."""
    for kind, words in KINDS.items():
        hits = [any(word == part or part.endswith("/" + word) for part in command) for word in words]
        if any(hits) if kind in ANY_OF else all(hits):
            return kind
    return None


def find(root: int, kind: str) -> Process | None:
    """The first process of that kind in the tree below `root`."""
    for process in descendants(root, read_all()):
        if kind_of(process.command) == kind:
            return process
    return None


def kill(process: Process) -> bool:
    """SIGKILL, unless that very process is gone already."""
    if not any(p.pid == process.pid and p.started == process.started for p in read_all()):
        return False
    try:
        os.kill(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
