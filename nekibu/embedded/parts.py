"""What `make run` runs beside the two servers: each process's command, environment and the time it gets to stop."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nekibu.embedded.layout import Layout
from nekibu.embedded.process import Child
from nekibu.embedded.secrets import Secrets
from nekibu.env import PROJECT, Environment

# Work that wants more threads than one says so itself; a library's pool per process would fight for the same cores.
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A process of ours and how long its clean stop may take."""

    child: Child
    stop_seconds: float


class Parts:
    """Makes the processes of one installation."""

    def __init__(
        self,
        environment: Environment,
        layout: Layout,
        secrets: Secrets,
        inherited: Mapping[str, str] = os.environ,
    ) -> None:
        self.environment, self.layout = environment, layout
        self.variables = {
            "DJANGO_SETTINGS_MODULE": "nekibu.settings.base",
            **inherited,
            "NEKIBU_STATE": str(environment.state),
            "NEKIBU_PORT": str(environment.port),
            "NEKIBU_GATEWAY_PORT": str(environment.gateway_port),
            "PYTHONUNBUFFERED": "1",
        }
        self.variables.pop("NEKIBU_DB_ROLE", None)
        self.counting = {"PROMETHEUS_MULTIPROC_DIR": str(layout.metrics)}
        self.secret = {"NEKIBU_GATEWAY_SECRET": secrets.gateway_secret}

    def gateway(self) -> Part:
        """Queue and engine. It supervises the engine and must be given time to drain it."""
        return self._part("gateway", ["inference.gateway"], 15, **self.secret)

    def web(self) -> Part:
        """Pages, API and live progress."""
        command = [
            "uvicorn",
            "nekibu.asgi:application",
            "--host",
            "127.0.0.1",
            "--port",
            str(self.environment.port),
        ]
        return self._part(
            "web",
            [*command, "--timeout-graceful-shutdown", "5", "--no-server-header", "--no-access-log"],
            10,
            **_ONE_THREAD,
            **self.counting,
        )

    def worker(self) -> Part:
        """Background work. A task cut short at the bound is not lost: its row is claimed again when the lease ends."""
        command = [
            "celery",
            "-A",
            "nekibu.celery",
            "worker",
            "-P",
            "threads",
            "-c",
            "8",
            "-Q",
            "online,batch,default",
        ]
        return self._part(
            "worker",
            [*command, "--without-gossip", "--without-mingle", "--loglevel", "INFO"],
            15,
            **_ONE_THREAD,
            **self.counting,
        )

    def beat(self) -> Part:
        """The clock."""
        command = ["celery", "-A", "nekibu.celery", "beat", "--loglevel", "WARNING", "--pidfile="]
        return self._part(
            "beat", [*command, "--schedule", str(self.layout.run / "beat-schedule")], 5, **_ONE_THREAD
        )

    def manage(self, name: str, *arguments: str) -> Child:
        """A management command under the owner's role, which migrations need."""
        return Child(
            name,
            [sys.executable, str(PROJECT / "manage.py"), *arguments],
            self.layout.logs / f"{name}.log",
            env={**self.variables, **_ONE_THREAD, "NEKIBU_DB_ROLE": "owner"},
            cwd=PROJECT,
            output=self.layout.logs / f"{name}.out",
        )

    def _part(self, name: str, module: Sequence[str], stop_seconds: float, **more: str) -> Part:
        command = [sys.executable, "-m", *module]
        log = self.layout.logs / f"{name}.log"
        return Part(Child(name, command, log, env={**self.variables, **more}, cwd=PROJECT), stop_seconds)
