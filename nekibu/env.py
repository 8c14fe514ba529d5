"""The only reader of the process environment: one frozen value, and a bad value is refused with its name and an example."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

PROJECT = Path(__file__).resolve().parent.parent
MOST_ENGINES = 64  # beside one gateway


class BadEnvironment(SystemExit):
    """An environment variable has a value that cannot be used."""

    def __init__(self, name: str, value: str, example: str) -> None:
        super().__init__(f"{name}={value!r} cannot be used. Example: {name}={example}")


@dataclass(frozen=True, slots=True)
class Environment:
    """What the operator decided. Paths are absolute; URLs are unparsed but of a known scheme."""

    state: Path
    port: int
    gateway_port: int
    database_url: str | None  # None: embedded PostgreSQL
    owner_database_url: str | None  # migrations and seeding; None: the same server under the owner's role
    redis_url: str | None  # None: embedded Valkey
    model: str | None  # a Hugging Face directory or name; None: the packaged SmolLM2
    engine_urls: tuple[str, ...]  # SGLang servers or routers elsewhere instead of children
    engines: int  # children of ours with the same model
    fake_engine: bool  # the shipped fake instead of a model; labelled in the interface
    fake_options: tuple[str, ...]  # how the fake engine is started, as its command line has it
    hosts: tuple[str, ...]  # host names that the web process answers to
    debug: bool
    metrics_token: str | None  # what a stranger shows for `/metrics`; None: only this machine may ask
    otlp_endpoint: str | None  # a collector of spans; None: none are sent


def default_state() -> Path:
    """`/var/lib/nekibu` for root (PostgreSQL runs there under its own user), else the user's data directory."""
    return Path("/var/lib/nekibu") if os.geteuid() == 0 else Path.home() / ".local" / "share" / "nekibu"


def read(environ: Mapping[str, str] = os.environ) -> Environment:
    """Read every variable once. Raises `BadEnvironment` at the first one that cannot be used."""
    port = _port(environ, "NEKIBU_PORT", 8000)
    return Environment(
        state=_directory(environ, "NEKIBU_STATE", default_state()),
        port=port,
        gateway_port=_port(environ, "NEKIBU_GATEWAY_PORT", port + 1),
        database_url=_url(
            environ,
            "DATABASE_URL",
            ("postgres", "postgresql"),
            "postgresql://nekibu_app:secret@db.example/nekibu",
        ),
        owner_database_url=_url(
            environ,
            "NEKIBU_OWNER_DATABASE_URL",
            ("postgres", "postgresql"),
            "postgresql://nekibu_owner:secret@db.example/nekibu",
        ),
        redis_url=_url(environ, "REDIS_URL", ("redis", "rediss", "unix"), "redis://cache.example:6379/0"),
        model=environ.get("NEKIBU_MODEL") or None,
        engine_urls=_urls(
            environ, "NEKIBU_ENGINE_URL", "http://gpu1.example:30000,http://gpu2.example:30000"
        ),
        engines=_count(environ, "NEKIBU_ENGINES", 1, MOST_ENGINES),
        fake_engine=_flag(environ, "NEKIBU_FAKE_ENGINE"),
        fake_options=_options(environ, "NEKIBU_FAKE_OPTIONS"),
        hosts=tuple(h.strip() for h in environ.get("NEKIBU_HOSTS", "").split(",") if h.strip()),
        debug=_flag(environ, "NEKIBU_DEBUG"),
        metrics_token=_token(environ, "NEKIBU_METRICS_TOKEN"),
        otlp_endpoint=_url(
            environ, "OTEL_EXPORTER_OTLP_ENDPOINT", ("http", "https"), "http://collector.example:4318"
        ),
    )


def _directory(environ: Mapping[str, str], name: str, default: Path) -> Path:
    raw = environ.get(name)
    if not raw:
        return default
    path = Path(raw).expanduser()
    if not path.is_absolute() or (path.exists() and not path.is_dir()):
        raise BadEnvironment(name, raw, "/var/lib/nekibu")
    return path


def _port(environ: Mapping[str, str], name: str, default: int) -> int:
    raw = environ.get(name)
    if not raw:
        return default
    if not raw.isascii() or not raw.isdigit() or not 1 <= int(raw) <= 65535:
        raise BadEnvironment(name, raw, str(default))
    return int(raw)


def _url(environ: Mapping[str, str], name: str, schemes: tuple[str, ...], example: str) -> str | None:
    raw = environ.get(name)
    if not raw:
        return None
    parts = urlsplit(raw)
    if parts.scheme not in schemes or not (parts.netloc or parts.path.strip("/")):
        raise BadEnvironment(name, raw, example)
    return raw


def _urls(environ: Mapping[str, str], name: str, example: str) -> tuple[str, ...]:
    """HTTP addresses, separated by commas; the same one twice would count one engine's slots twice."""
    raw = environ.get(name)
    if not raw:
        return ()
    found = tuple(part.strip().rstrip("/") for part in raw.split(","))
    for url in found:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise BadEnvironment(name, raw, example)
    if len(set(found)) < len(found):
        raise BadEnvironment(name, raw, example)
    return found


def _count(environ: Mapping[str, str], name: str, default: int, most: int) -> int:
    raw = environ.get(name)
    if not raw:
        return default
    if not raw.isascii() or not raw.isdigit() or not 1 <= int(raw) <= most:
        raise BadEnvironment(name, raw, "2")
    return int(raw)


def _options(environ: Mapping[str, str], name: str) -> tuple[str, ...]:
    raw = environ.get(name, "")
    try:
        return tuple(shlex.split(raw))
    except ValueError:
        raise BadEnvironment(name, raw, "'--delay 0.01 --slots 4'") from None


def _token(environ: Mapping[str, str], name: str) -> str | None:
    raw = environ.get(name)
    if not raw:
        return None
    if len(raw) < 16:
        raise BadEnvironment(name, "…", "at least 16 random characters")
    return raw


def _flag(environ: Mapping[str, str], name: str) -> bool:
    raw = environ.get(name, "").lower()
    if raw not in {"", "0", "1", "true", "false", "yes", "no"}:
        raise BadEnvironment(name, raw, "1")
    return raw in {"1", "true", "yes"}
