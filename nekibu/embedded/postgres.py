"""The embedded PostgreSQL: created once, run as a child, met on a socket in a private directory."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from nekibu.embedded.binaries import SERVICE_USER, MissingBinary, postgres_bin
from nekibu.embedded.process import Child, wait_for
from nekibu.embedded.secrets import Secrets

MAJOR = "18"
EXTENSIONS = ("vector", "pg_trgm", "unaccent")


class Postgres:
    """One server. `durable=False` gives up crash safety, for tests."""

    def __init__(self, data: Path, socket: Path, log: Path, secrets: Secrets, *, durable: bool = True) -> None:
        self.data, self.socket, self.log, self.secrets, self.durable = data, socket, log, secrets, durable
        self.bin = postgres_bin()
        self.user = SERVICE_USER if os.geteuid() == 0 else None
        self.child = Child(
            "postgres",
            [str(self.bin / "postgres"), "-D", str(data), *self._settings()],
            log,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C"},
            stop_signal=signal.SIGINT,  # fast shutdown: ends sessions, checkpoints
            death_signal=signal.SIGINT,
            user=self.user,
            cwd=Path("/"),
        )

    def start(self) -> None:
        """Create the cluster if there is none, run it, and prepare roles, extensions and the database."""
        if len(str(self.socket / ".s.PGSQL.5432")) > 107:
            raise SystemExit(f"The path {self.socket} is too long for a socket. Choose a shorter NEKIBU_STATE, such as /var/lib/nekibu.")
        self._create()
        self.child.start()
        wait_for(self.ready, self.child, 600, "PostgreSQL")  # recovery after a crash may take long
        self._prepare()

    def stop(self, seconds: float = 20) -> None:
        """Fast shutdown within the bound."""
        self.child.stop(seconds)

    def ready(self) -> bool:
        """Whether it takes connections."""
        return subprocess.run([self.bin / "pg_isready", "-q", "-h", self.socket], check=False, timeout=20).returncode == 0

    def url(self, role: str, name: str = "nekibu") -> str:
        """Connection URL of role `owner` or `app`."""
        password = self.secrets.pg_owner_password if role == "owner" else self.secrets.pg_app_password
        return f"postgresql://nekibu_{role}:{quote(password)}@/{name}?host={quote(str(self.socket), safe='')}"

    def _settings(self) -> list[str]:
        chosen = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket),
            "unix_socket_permissions": "0700" if self.user is None else "0777",  # the directory itself is private
            "max_connections": "120",
            "shared_buffers": "256MB",
            "log_min_messages": "warning",
            "timezone": "UTC",
        }
        if not self.durable:
            chosen |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "128MB"}
        return [part for key, value in chosen.items() for part in ("-c", f"{key}={value}")]

    def _create(self) -> None:
        for directory in (self.socket, self.data):
            directory.mkdir(parents=True, exist_ok=True)
            if self.user:
                try:
                    shutil.chown(directory, self.user, self.user)
                except LookupError:
                    raise MissingBinary(f"The system user {self.user} does not exist. Run `make setup` as root once.") from None
            directory.chmod(0o700)
        held = self.data / "PG_VERSION"
        if held.exists():
            if held.read_text().strip() != MAJOR:
                raise SystemExit(
                    f"{self.data} was written by PostgreSQL {held.read_text().strip()}; this version reads {MAJOR}. "
                    "Dump it with the old server and restore it into a new NEKIBU_STATE."
                )
            return
        shutil.rmtree(self.data / "..initdb", ignore_errors=True)
        with tempfile.NamedTemporaryFile("w", dir=self.socket, prefix=".pw-") as password:
            password.write(self.secrets.pg_superuser_password)
            password.flush()
            if self.user:
                shutil.chown(password.name, self.user, self.user)
            command = [
                str(self.bin / "initdb"), "-D", str(self.data), "-U", "postgres", "-A", "scram-sha-256", f"--pwfile={password.name}",
                "-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
                *(() if self.durable else ("--no-sync",)),
            ]  # fmt: skip
            if self.user:
                command = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups", "--", *command]
            done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, cwd="/")
        if done.returncode:
            raise SystemExit(f"PostgreSQL's data could not be created in {self.data}:\n{done.stderr.strip()}")

    def _prepare(self) -> None:
        owner, app = self.secrets.pg_owner_password, self.secrets.pg_app_password
        for role, password, rights in (
            ("nekibu_owner", owner, "CREATEDB NOSUPERUSER NOBYPASSRLS"),
            ("nekibu_app", app, "NOSUPERUSER NOBYPASSRLS NOCREATEDB"),
        ):
            self._sql(
                f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') THEN CREATE ROLE {role}; END IF; END $$;"
                f"ALTER ROLE {role} LOGIN {rights} PASSWORD '{password}';"
            )
        extensions = "".join(f"CREATE EXTENSION IF NOT EXISTS {name};" for name in EXTENSIONS)
        self._sql(extensions, "template1")  # databases made later, test databases too, inherit them
        if self._sql("SELECT 1 FROM pg_database WHERE datname = 'nekibu'").strip() != "1":
            self._sql("CREATE DATABASE nekibu OWNER nekibu_owner")

    def _sql(self, statement: str, database: str = "postgres") -> str:
        done = subprocess.run(
            [str(self.bin / "psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", str(self.socket), "-U", "postgres", "-d", database, "-c", statement],
            env={"PGPASSWORD": self.secrets.pg_superuser_password, "PGOPTIONS": "-c client_min_messages=warning", "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"PostgreSQL refused to be prepared: {done.stderr.strip()}")
        return done.stdout
