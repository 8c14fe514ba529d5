"""Where things lie in the state directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths below `$NEKIBU_STATE`."""

    state: Path

    @property
    def database(self) -> Path:
        """Data of PostgreSQL 18."""
        return self.state / "pg18"

    @property
    def database_socket(self) -> Path:
        """Directory of PostgreSQL's socket."""
        return self.state / "pgrun"

    @property
    def valkey(self) -> Path:
        """Data of Valkey."""
        return self.state / "valkey"

    @property
    def valkey_socket(self) -> Path:
        """Valkey's socket."""
        return self.valkey / "valkey.sock"

    @property
    def run(self) -> Path:
        """Pid files, locks, the gateway's state."""
        return self.state / "run"

    @property
    def metrics(self) -> Path:
        """What each process of the application has counted since the start."""
        return self.run / "metrics"

    @property
    def models(self) -> Path:
        """Prepared model directories."""
        return self.state / "models"

    @property
    def logs(self) -> Path:
        """One file per process."""
        return self.state / "logs"

    def database_url(self, role: str, password: str, name: str = "nekibu") -> str:
        """Connection URL over the socket."""
        return (
            f"postgresql://{role}:{quote(password)}@/{name}?host={quote(str(self.database_socket), safe='')}"
        )
