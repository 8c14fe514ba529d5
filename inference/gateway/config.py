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
class Place:
    """Where one engine of the pool is: at a URL, or a child of ours with this number, on this GPU."""

    name: str
    number: int = 1
    url: str | None = None
    gpu: str | None = None

    def file(self, base: str) -> str:
        """Its file of that kind: `engine.log`, `engine-2.log` and so on."""
        stem, dot, ending = base.partition(".")
        return base if self.number == 1 else f"{stem}-{self.number}{dot}{ending}"


@dataclass(frozen=True, slots=True)
class Config:
    """`urls` given: engines elsewhere, no children. `fake`: the shipped fake as the child, with these options."""

    port: int
    secret: str = field(repr=False)
    state: Path
    fake: bool
    urls: tuple[str, ...]
    model: str | None
    profile: str
    engines: int = 1  # children, where there are no URLs
    gpus: tuple[str, ...] = ()  # as many as there are children, or none
    key: str = field(default="", repr=False)  # of engines elsewhere; children get keys of their own
    admin_key: str = field(default="", repr=False)
    fake_options: tuple[str, ...] = ()
    start_seconds: float = 300.0
    silence_seconds: float = 120.0  # no token for this long while requests run means that the engine hangs
    drain_seconds: float = 30.0

    @property
    def places(self) -> tuple[Place, ...]:
        """One for each engine; an engine that is alone needs no number in its name."""
        kind = "fake" if self.fake else "SGLang"
        if self.urls:
            urls = [url.rstrip("/") for url in self.urls]
            alone = len(urls) == 1
            return tuple(
                Place(kind if alone else f"{kind} {url.partition('://')[2]}", number, url)
                for number, url in enumerate(urls, start=1)
            )
        return tuple(
            Place(kind if self.engines == 1 else f"{kind} {number}", number, gpu=self.gpus[number - 1] if self.gpus else None)
            for number in range(1, self.engines + 1)
        )  # fmt: skip

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
    gpus = _gpus()
    own = 1 if found.fake_engine or found.engine_urls else found.engines
    if found.engine_urls and found.engines > 1:
        raise SystemExit("NEKIBU_ENGINES counts engines of our own; with NEKIBU_ENGINE_URL leave it out.")
    if gpus and own > len(gpus):
        raise SystemExit(
            f"NEKIBU_ENGINES={own}, but there are {len(gpus)} GPUs, and each engine needs one of its own."
        )
    return Config(
        port=found.gateway_port,
        secret=secret,
        state=found.state,
        fake=found.fake_engine,
        urls=found.engine_urls,
        model=found.model,
        profile="gpu" if gpus else "cpu",
        engines=found.engines,
        key=os.environ.get("NEKIBU_ENGINE_KEY", ""),
        admin_key=os.environ.get("NEKIBU_ENGINE_ADMIN_KEY", ""),
        gpus=gpus[: found.engines] if found.engines > 1 else (),
        fake_options=tuple(arguments) or found.fake_options,
    )


def _gpus() -> tuple[str, ...]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them."""
    numbers = sorted(
        int(path.name[6:]) for path in Path("/dev").glob("nvidia[0-9]*") if path.name[6:].isdigit()
    )
    allowed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if not numbers or allowed is None:
        return tuple(str(number) for number in numbers)
    return tuple(name.strip() for name in allowed.split(",") if name.strip() not in {"", "-1"})


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
