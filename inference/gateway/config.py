"""What the gateway is started with: one frozen value, bad input refused at start."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nekibu import env

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Config:
    """`url` set: a remote engine, no child. `fake`: the shipped fake as the child, with these options."""

    port: int
    secret: str = field(repr=False)
    state: Path
    fake: bool
    url: str | None
    model: str | None
    profile: str
    fake_options: tuple[str, ...] = ()
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


def read(arguments: Sequence[str] = ()) -> Config:
    """From the environment; the arguments are the fake engine's. Raises SystemExit with a sentence for what cannot be used."""
    found = env.read()
    if arguments and not found.fake_engine:
        raise SystemExit(
            f"Arguments go to the fake engine, which is off: {' '.join(arguments)}. Set NEKIBU_FAKE_ENGINE=1."
        )
    secret = os.environ.get("NEKIBU_GATEWAY_SECRET", "")
    if len(secret) < 16:
        raise SystemExit("NEKIBU_GATEWAY_SECRET must hold at least 16 characters; `make run` sets it.")
    profile = "gpu" if Path("/dev/nvidia0").exists() else "cpu"
    return Config(
        port=found.gateway_port,
        secret=secret,
        state=found.state,
        fake=found.fake_engine,
        url=found.engine_url,
        model=found.model,
        profile=profile,
        fake_options=tuple(arguments),
    )


def salt_key(state: Path) -> bytes:
    """The key of all salts: made once, readable by its owner only, never leaving this process.

    Raises SystemExit for a key that is not whole: a guessable salt would let tenants meet.
    """
    path = state / "salt.key"
    if not path.exists():
        state.mkdir(parents=True, exist_ok=True)
        draft = state / f".salt-{os.getpid()}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise SystemExit(
            f"{path} must hold {KEY_BYTES} bytes. Restore it, or delete it: what is cached now is then lost."
        )
    return key
