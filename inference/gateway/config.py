"""What the gateway is started with: one frozen value, bad input refused at start."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from nekibu import env


@dataclass(frozen=True, slots=True)
class Config:
    """`url` set: a remote engine, no child. `fake`: the shipped fake as the child."""

    port: int
    secret: str
    state: Path
    fake: bool
    url: str | None
    model: str | None
    profile: str
    start_seconds: float = 300.0
    silence_seconds: float = 120.0  # no token for this long while requests run means that the engine hangs
    drain_seconds: float = 30.0

    @property
    def models(self) -> Path:
        """Prepared model directories."""
        return self.state / "models"

    @property
    def run(self) -> Path:
        """Pid and status files."""
        return self.state / "run"

    @property
    def logs(self) -> Path:
        """The engine's log."""
        return self.state / "logs"


def read() -> Config:
    """From the environment. Raises SystemExit with a sentence when the secret is missing."""
    found = env.read()
    secret = os.environ.get("NEKIBU_GATEWAY_SECRET", "")
    if len(secret) < 16:
        raise SystemExit("NEKIBU_GATEWAY_SECRET must hold at least 16 characters; `make run` sets it.")
    profile = "gpu" if Path("/dev/nvidia0").exists() else "cpu"
    return Config(
        found.gateway_port, secret, found.state, found.fake_engine, found.engine_url, found.model, profile
    )


def salt_key(state: Path) -> bytes:
    """The key of all salts: made once, readable by its owner only, never leaving this process."""
    path = state / "salt.key"
    if not path.exists():
        state.mkdir(parents=True, exist_ok=True)
        draft = state / f".salt-{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(secrets.token_bytes(32))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_bytes()
