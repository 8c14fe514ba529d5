"""The engine's process group: started to die with its parent, ended with all its members, and never left behind."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

LOG_BOUND = 16 * 1024 * 1024
_OURS = (b"sglang", b"inference.engine", b"inference.fake")


class Child:
    """At most one process group at a time. Start it from the main thread: it dies when that thread does."""

    def __init__(self, pid_file: Path, log: Path) -> None:
        self.pid_file, self.log = pid_file, log
        self._process: subprocess.Popen[bytes] | None = None
        self._ending = asyncio.Lock()

    @property
    def code(self) -> int | None:
        """Its status once it has ended; None while it runs, and when there is none."""
        return self._process.poll() if self._process else None

    def start(self, command: Sequence[str], env: Mapping[str, str]) -> None:
        """Start it in a group of its own."""
        for path in (self.pid_file, self.log):
            path.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > LOG_BOUND:
            self.log.replace(self.log.with_name(f"{self.log.name}.1"))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(env),
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self.pid_file.write_text(str(self._process.pid))

    async def end(self, grace: float = 0.0) -> None:
        """SIGTERM, so many seconds, SIGKILL to the group; returns when all of it is gone."""
        async with self._ending:  # whoever asks second waits as well
            process = self._process
            if process is None:
                return
            if grace and process.poll() is None:
                process.terminate()
                until = time.monotonic() + grace
                while process.poll() is None and time.monotonic() < until:
                    await asyncio.sleep(0.05)
            await _end_group(process.pid)
            process.wait()
            self._process = None
            self.pid_file.unlink(missing_ok=True)
        _sweep_shared_memory()

    async def reap_stale(self) -> None:
        """A gateway that was killed takes its engine along; should one be left all the same, it ends now."""
        try:
            pid = int(self.pid_file.read_text())
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return
        if any(word in words for word in _OURS):
            await _end_group(pid)
        self.pid_file.unlink(missing_ok=True)


async def _end_group(group: int) -> None:
    for _try in range(200):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        if not _alive(group):
            return
        await asyncio.sleep(0.05)


def _alive(group: int) -> bool:
    """Whether a process of that group still runs; one that waits to be buried does not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _parent, its_group = stat.read_text().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                return True
    return False


def _sweep_shared_memory() -> None:
    """Load snapshots of servers that are gone: one is left behind by each kill."""
    used: set[str] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            used.update(line.split()[-1] for line in maps.read_text().splitlines() if "sglang_loads_" in line)
    for left in Path("/dev/shm").glob("sglang_loads_*.shm"):  # noqa: S108
        if str(left) not in used:
            left.unlink(missing_ok=True)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)
