"""What a supervised tree must not leave behind: processes that were told its state directory, locks and sockets."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from nekibu.embedded.layout import Layout


def left_processes(state: Path) -> list[str]:
    """Every process that was told this state directory, by its environment or its command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            told = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            if str(state).encode() in told and int(process.name) != os.getpid():
                found.append(f"{process.name} {(process / 'comm').read_text().strip()}")
    return found


def left_files(state: Path) -> list[str]:
    """Locks, rosters and sockets of a supervisor, PostgreSQL or Valkey that should have gone with them."""
    layout = Layout(state)
    left = [layout.run / "supervisor.lock", layout.run / "processes.json", layout.valkey_socket]
    left += [layout.database / "postmaster.pid", *layout.database_socket.glob(".s.*")]
    return [str(path) for path in left if path.exists()]
