"""A child process that dies with its parent, writes to its own log, and is stopped within a bound."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1


class Child:
    """One process in a group of its own. Start it from the main thread: the parent-death signal binds to the thread."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        *,
        env: Mapping[str, str] | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
        death_signal: signal.Signals = signal.SIGKILL,
        user: str | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.name, self.command, self.log = name, list(command), log
        self.env, self.stop_signal, self.death_signal, self.user, self.cwd = env, stop_signal, death_signal, user, cwd
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process; its output goes to the log, the last run's log is kept beside it."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > 5_000_000:
            self.log.replace(self.log.with_suffix(".log.1"))
        command = self.command
        if self.user:
            command = [
                "setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups",
                f"--pdeathsig={self.death_signal.name.removeprefix('SIG')}", "--", *command,
            ]  # fmt: skip
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(self.env) if self.env is not None else None,
                cwd=self.cwd,
                start_new_session=True,
                preexec_fn=None if self.user else _die_with_parent(self.death_signal),  # noqa: PLW1509
            )

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self.process.pid if self.process and self.process.poll() is None else None

    @property
    def running(self) -> bool:
        """Whether it lives."""
        return self.pid is not None

    @property
    def code(self) -> int | None:
        """Its exit status once it has ended."""
        return self.process.poll() if self.process else None

    def ask_to_stop(self) -> None:
        """Send the stop signal, without waiting."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(self.stop_signal)

    def stop(self, seconds: float) -> None:
        """Stop signal, wait, then SIGKILL for the whole group; returns when the process is gone."""
        if self.process is None:
            return
        self.ask_to_stop()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        self.kill()

    def kill(self) -> None:
        """SIGKILL for the group, and wait."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def tail(self, lines: int = 12) -> str:
        """The end of its log, for an error message."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def wait_for(ready: object, child: Child, seconds: float, what: str) -> None:
    """Poll `ready()` until true. Raises SystemExit with the log's end when the child ended or the time is over."""
    assert callable(ready)  # noqa: S101
    deadline = time.monotonic() + seconds
    while not ready():
        if not child.running:
            raise SystemExit(f"{what} ended with status {child.code}. The end of {child.log}:\n{child.tail()}")
        if time.monotonic() > deadline:
            raise SystemExit(f"{what} was not ready after {seconds:.0f} s. The end of {child.log}:\n{child.tail()}")
        time.sleep(0.05)


def _die_with_parent(death: signal.Signals):  # type: ignore[no-untyped-def]
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(death), 0, 0, 0)

    return prepare
