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
    """PostgreSQL and Valkey in a temporary state directory."""

    def __init__(self, *, valkey: bool = False) -> None:
        self.state = Path(tempfile.mkdtemp(prefix="nkb-", dir="/tmp"))
        self.state.chmod(0o755)
        layout = Layout(self.state)
        self.postgres = Postgres(layout.database, layout.database_socket, layout.logs / "postgres.log", secrets.load(self.state), durable=False)
        self.valkey = Valkey(layout.valkey, layout.logs / "valkey.log", durable=False) if valkey else None

    def start(self) -> None:
        """Start, and point this process's environment at them."""
        os.environ["NEKIBU_STATE"] = str(self.state)
        os.environ["NEKIBU_DB_ROLE"] = "owner"
        self.postgres.start()
        if self.valkey:
            self.valkey.start()

    def stop(self) -> None:
        """Stop, and remove everything."""
        if self.valkey:
            self.valkey.stop()
        self.postgres.stop(5)
        shutil.rmtree(self.state, ignore_errors=True)
