"""The supervised tree of `make run`: started in order, restarted when it crashes, stopped in reverse, nothing left behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from nekibu import env
from nekibu.embedded import lock, ports, secrets, status
from nekibu.embedded.console import say, step
from nekibu.embedded.layout import Layout
from nekibu.embedded.parts import Parts
from nekibu.embedded.postgres import Postgres
from nekibu.embedded.process import Child
from nekibu.embedded.valkey import Valkey

_LONGEST_BACKOFF = 30.0
_STEADY = 60.0  # after this long, a crash counts as the first one


class Stopping(Exception):
    """Somebody asked for the end."""


@dataclass(slots=True)
class Station:
    """A running process, and when it is due to be started again after a crash."""

    child: Child
    start: Callable[[], None]
    stop_seconds: float
    hurried_seconds: float
    started: float
    failures: int = 0
    restarts: int = 0
    due: float | None = None


class Supervisor:
    """Runs everything on one state directory. Lives in the main thread: children die when that thread does."""

    def __init__(self, environment: env.Environment) -> None:
        self.environment = environment
        self.layout = Layout(environment.state)
        self.stations: list[Station] = []
        self.asked = 0  # how often a stop was asked for; the second time nobody waits
        self.asked_at = float("-inf")
        self.engine, self.engine_due, self.gateway_secret = "", 0.0, ""

    def run(self) -> int:
        """Until a signal comes. Returns the exit status."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask)
        self._make_directories()
        note = f"process {os.getpid()}, since {status.now()}, at {self.url}"
        try:
            with lock.hold(status.lock_path(self.layout), note):
                try:
                    self._start()
                    while True:
                        self._watch()
                        self._tell_engine()
                        self._pause(0.2)
                except Stopping:
                    return 0
                finally:
                    self._stop()
        except lock.Held as held:
            raise SystemExit(
                f"Nekibu already runs on {self.environment.state}: {held.holder}. "
                "Stop it first, or choose another NEKIBU_STATE and NEKIBU_PORT."
            ) from None

    @property
    def url(self) -> str:
        """Where the pages are."""
        return f"http://127.0.0.1:{self.environment.port}/"

    # --- start ------------------------------------------------------------------------------------------------------

    def _make_directories(self) -> None:
        state = self.environment.state
        try:
            if not state.exists():
                state.mkdir(parents=True)
                state.chmod(0o755)  # PostgreSQL's user passes here; what is private below is closed by itself
            os.umask(0o077)
            for directory in (self.layout.run, self.layout.logs, self.layout.metrics):
                directory.mkdir(exist_ok=True)
            for counted in self.layout.metrics.glob("*.db"):
                counted.unlink()
        except OSError as error:
            raise SystemExit(
                f"The state directory {state} cannot be written: {error.strerror}. Choose another NEKIBU_STATE."
            ) from None

    def _start(self) -> None:
        say(f"Nekibu starts on {self.environment.state}")
        self._refuse_taken_ports()
        kept = secrets.load(self.environment.state)
        self.gateway_secret = kept.gateway_secret
        parts = Parts(self.environment, self.layout, kept)
        if self.environment.database_url is None:
            server = Postgres(
                self.layout.database, self.layout.database_socket, self.layout.logs / "postgres.log", kept
            )
            self._run(server.child, lambda: server.start(self._pause), server.resume, 30, 10)
        else:
            step("postgres", "external (DATABASE_URL)")
        if self.environment.redis_url is None:
            valkey = Valkey(self.layout.valkey, self.layout.logs / "valkey.log")
            self._run(valkey.child, lambda: valkey.start(self._pause), valkey.child.start, 10, 5)
        else:
            step("valkey", "external (REDIS_URL)")
        gateway, web, worker, beat = parts.gateway(), parts.web(), parts.worker(), parts.beat()
        self._run(gateway.child, gateway.child.start, gateway.child.start, gateway.stop_seconds)
        self._once(parts.manage("migrate", "migrate", "--no-input", "--skip-checks"))
        seed = parts.manage("seed", "seed_demo", "--skip-checks")
        self._once(seed)
        self._run(web.child, web.child.start, web.child.start, web.stop_seconds)
        self._wait_for_web(web.child)  # the pages first: the others would load on the same cores
        for part in (worker, beat):
            self._run(part.child, part.child.start, part.child.start, part.stop_seconds)
        say(f"\nOpen {self.url}\n")
        if seed.output:
            say(seed.output.read_text().strip("\n"))
        say(f"\nLogs are in {self.layout.logs}. Ctrl-C stops everything.")

    def _refuse_taken_ports(self) -> None:
        for port, variable in (
            (self.environment.port, "NEKIBU_PORT"),
            (self.environment.gateway_port, "NEKIBU_GATEWAY_PORT"),
        ):
            patience = time.monotonic() + 3  # the children of a killed supervisor are just ending
            while not ports.is_free(port):
                if time.monotonic() > patience:
                    raise SystemExit(
                        f"Port {port} is in use by {ports.holder(port)}. "
                        f"Choose another one, for example: {variable}={port + 10}"
                    )
                self._pause(0.2)

    def _run(
        self,
        child: Child,
        first: Callable[[], None],
        again: Callable[[], None],
        stop_seconds: float,
        hurried_seconds: float = 0.5,
    ) -> None:
        child.rotate_log()
        began = time.monotonic()
        # Listed before it starts: a stop that comes meanwhile finds it.
        self.stations.append(Station(child, again, stop_seconds, hurried_seconds, began))
        first()
        self._write_roster()
        step(child.name, f"started in {time.monotonic() - began:.1f} s (process {child.pid})")

    def _once(self, child: Child) -> None:
        child.rotate_log()
        began = time.monotonic()
        child.start()
        try:
            while child.running:
                self._watch()
                self._pause(0.05)
        finally:
            child.kill()
        if child.code != 0:
            raise SystemExit(
                f"{child.name} ended with status {child.code}. The end of {child.log}:\n{child.tail(20)}"
            )
        step(child.name, f"done in {time.monotonic() - began:.1f} s")

    def _wait_for_web(self, web: Child) -> None:
        began = time.monotonic()
        while (answer := status.get(self.environment.port, "/healthz")) is None or answer[0] >= 500:
            self._watch()  # restarts it, should it have crashed
            if time.monotonic() - began > 300:
                raise SystemExit(
                    f"The pages do not answer after 300 s. The end of {web.log}:\n{web.tail(20)}"
                )
            self._pause(0.1)
        step("web", f"answers after {time.monotonic() - began:.1f} s")

    # --- watch ------------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Start again what has ended, later each time it ends again."""
        now = time.monotonic()
        for station in self.stations:
            child = station.child
            if child.running:
                if station.failures and now - station.started > _STEADY:
                    station.failures = 0
            elif station.due is None:
                child.kill()  # what its process group left
                delay = min(_LONGEST_BACKOFF, 0.5 * 2**station.failures)
                station.failures, station.due = station.failures + 1, now + delay
                say(
                    f"! {child.name} ended with status {child.code}; it starts again in {delay:g} s. See {child.log}"
                )
            elif now >= station.due:
                station.start()
                station.due, station.started, station.restarts = None, time.monotonic(), station.restarts + 1
                say(f"  {child.name} was started again (process {child.pid})")
                self._write_roster()

    def _write_roster(self) -> None:
        """Who runs, for `--status` and for whoever must find a process."""
        rows = {
            s.child.name: {"pid": s.child.pid, "restarts": s.restarts, "log": str(s.child.log)}
            for s in self.stations
        }
        about = {"supervisor": os.getpid(), "url": self.url, "written": status.now()}
        status.write_roster(self.layout, {**about, "processes": rows})

    def _tell_engine(self) -> None:
        """The engine loads for a while after the pages answer: say each change of its state once."""
        now = time.monotonic()
        if now < self.engine_due:
            return
        self.engine_due = now + 2
        engine = status.engine(self.environment.gateway_port, self.gateway_secret)
        if engine and engine != self.engine:
            self.engine = engine
            step("engine", engine)

    # --- stop -------------------------------------------------------------------------------------------------------

    def _ask(self, number: int, frame: object) -> None:
        now = time.monotonic()
        if now - self.asked_at > 1:  # a terminal, a shell and make may each pass on the same request
            self.asked, self.asked_at = self.asked + 1, now

    def _pause(self, seconds: float) -> None:
        if self.asked:
            raise Stopping
        time.sleep(seconds)
        if self.asked:
            raise Stopping

    def _stop(self) -> None:
        """In reverse order, each within its bound; a second request to stop takes the bounds away."""
        if self.stations:
            say("\nStopping. Once more Ctrl-C does not wait for work in progress.")
        for station in reversed(self.stations):
            began = time.monotonic()
            child = station.child
            was_running = child.running
            child.ask_to_stop()
            while child.running:
                waited = time.monotonic() - began
                if waited > (station.hurried_seconds if self.asked > 1 else station.stop_seconds):
                    break
                time.sleep(0.05)
            cut = child.running
            child.kill()
            if was_running:
                how = "was cut short" if cut else "stopped"
                step(child.name, f"{how} after {time.monotonic() - began:.1f} s")
        for left in (status.roster_path(self.layout), self.layout.valkey_socket):
            left.unlink(missing_ok=True)


def main(arguments: list[str]) -> int:
    """The door of `python -m nekibu.embedded.run`."""
    environment = env.read()
    if arguments == ["--status"]:
        return status.report(environment)
    if arguments:
        raise SystemExit("Usage: python -m nekibu.embedded.run [--status]")
    return Supervisor(environment).run()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
