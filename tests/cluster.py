"""Throw-away servers for one test session."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from nekibu.embedded import secrets
from nekibu.embedded.layout import Layout
from nekibu.embedded.postgres import Postgres
from nekibu.embedded.valkey import Valkey


class Cluster:
    """PostgreSQL and Valkey in a temporary state directory, outside any private home: PostgreSQL runs under its own user."""

    def __init__(self, *, valkey: bool = False, state: Path | None = None) -> None:
        self.state = state or Path(tempfile.mkdtemp(prefix=f"nkb-{os.getpid()}-", dir="/tmp"))
        self.state.chmod(0o711)
        self.layout = Layout(self.state)
        self.secrets = secrets.load(self.state)
        logs = self.layout.logs
        self.postgres = Postgres(
            self.layout.database,
            self.layout.database_socket,
            logs / "postgres.log",
            self.secrets,
            durable=False,
        )
        self.valkey = Valkey(self.layout.valkey, logs / "valkey.log", durable=False) if valkey else None

    def start(self) -> None:
        """Start, and point this process's environment at them."""
        for external in ("DATABASE_URL", "NEKIBU_OWNER_DATABASE_URL", "REDIS_URL"):
            os.environ.pop(external, None)
        os.environ["NEKIBU_STATE"] = str(self.state)
        os.environ["NEKIBU_DB_ROLE"] = "owner"
        try:
            self.postgres.start()
            if self.valkey:
                self.valkey.start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop, and remove everything."""
        if self.valkey:
            self.valkey.stop(5)
        self.postgres.stop(5)
        shutil.rmtree(self.state, ignore_errors=True)
