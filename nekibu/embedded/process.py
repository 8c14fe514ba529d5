"""A child process that dies with its parent, writes to its own log, and is stopped within a bound."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_KEPT_LOGS = 3


class Child:
    """One process in a session of its own, so that Ctrl-C in the terminal reaches only whoever supervises it.

    Start it from the main thread: the parent-death signal comes when the *thread* that started it ends.
    """

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
        output: Path | None = None,
    ) -> None:
        self.name, self.command, self.log, self.env = name, list(command), log, env
        self.stop_signal, self.death_signal, self.user, self.cwd = stop_signal, death_signal, user, cwd
        self.output = output  # for what it says on standard output, when that is not log
        self.process: subprocess.Popen[bytes] | None = None
        self._swept = False

    def start(self) -> None:
        """Start the process; its output is appended to the log."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._swept = False
        with contextlib.ExitStack() as files:
            log = files.enter_context(self.log.open("ab"))
            output = files.enter_context(self.output.open("wb")) if self.output else log
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=log,
                env=dict(self.env) if self.env is not None else None,
                cwd=self.cwd,
                start_new_session=True,
                user=self.user,
                group=self.user,
                extra_groups=[] if self.user else None,
                # After the change of user: the kernel forgets the signal when credentials change.
                preexec_fn=die_with_parent(self.death_signal),
            )

    def rotate_log(self) -> None:
        """Begin a new log; the last three runs stay beside it."""
        for number in range(_KEPT_LOGS, 0, -1):
            older = self.log.with_name(f"{self.log.name}.{number - 1}") if number > 1 else self.log
            if older.exists():
                older.replace(self.log.with_name(f"{self.log.name}.{number}"))

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

    def wait(self, seconds: float) -> bool:
        """Whether it ended within the bound."""
        if self.process is None:
            return True
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self, seconds: float) -> None:
        """Stop signal, wait, then SIGKILL for what is left of the group; returns when the process is gone."""
        self.ask_to_stop()
        self.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """SIGKILL for what is left of the group, and wait. Once per start: the number may later be somebody else's."""
        if self.process is None or self._swept:
            return
        self._swept = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def tail(self, lines: int = 12) -> str:
        """The end of its log, for an error message."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


def wait_for(
    ready: Callable[[], bool],
    child: Child,
    seconds: float,
    what: str,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Poll `ready()` until true. Raises SystemExit with the log's end when the child ended or the time is over."""
    deadline = time.monotonic() + seconds
    while not ready():
        if not child.running:
            raise SystemExit(
                f"{what} ended with status {child.code}. The end of {child.log}:\n{child.tail()}"
            )
        if time.monotonic() > deadline:
            raise SystemExit(
                f"{what} was not ready after {seconds:.0f} s. The end of {child.log}:\n{child.tail()}"
            )
        pause(0.05)


def die_with_parent(death: signal.Signals) -> Callable[[], None]:
    """For `preexec_fn`: the kernel sends this signal when the parent's thread ends, by whatever cause."""
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def prepare() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(death), 0, 0, 0)
        if os.getppid() != parent:  # it ended before the line above
            os._exit(1)

    return prepare
