"""The embedded PostgreSQL: created once, run as a child, met on a socket in a private directory."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from nekibu.embedded.binaries import SERVICE_USER, MissingBinary, postgres_bin
from nekibu.embedded.process import Child, die_with_parent, wait_for
from nekibu.embedded.secrets import Secrets

MAJOR = "18"
EXTENSIONS = ("vector", "pg_trgm", "unaccent")
_LONGEST_SOCKET_PATH = 107
_ROLES = """
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nekibu_owner') THEN CREATE ROLE nekibu_owner; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'nekibu_app') THEN CREATE ROLE nekibu_app; END IF;
END $$;
ALTER ROLE nekibu_owner LOGIN CREATEDB NOSUPERUSER NOBYPASSRLS PASSWORD :'owner';
ALTER ROLE nekibu_app LOGIN NOCREATEDB NOSUPERUSER NOBYPASSRLS PASSWORD :'app';
"""
_DATABASE = """
SELECT 'CREATE DATABASE nekibu OWNER nekibu_owner'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'nekibu') \\gexec
"""


class Postgres:
    """One server. `durable=False` gives up crash safety, for tests."""

    def __init__(
        self, data: Path, socket: Path, log: Path, secrets: Secrets, *, durable: bool = True
    ) -> None:
        self.data, self.socket, self.log, self.secrets, self.durable = data, socket, log, secrets, durable
        self.bin = postgres_bin()
        self.user = SERVICE_USER if os.geteuid() == 0 else None
        self.child = Child(
            "postgres",
            [str(self.bin / "postgres"), "-D", str(data), *self._settings()],
            log,
            env=self._environment(),
            stop_signal=signal.SIGINT,  # fast shutdown: ends sessions, checkpoints
            death_signal=signal.SIGINT,
            user=self.user,
            cwd=Path("/"),
        )

    def start(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Create the cluster if there is none, run it, and prepare roles, extensions and the database.

        `pause` is called between two looks at the server, and may raise to give up waiting.
        """
        if len(str(self.socket / ".s.PGSQL.5432")) > _LONGEST_SOCKET_PATH:
            raise SystemExit(
                f"The path {self.socket} is too long for a socket. Choose a shorter NEKIBU_STATE, such as /var/lib/nekibu."
            )
        self._create()
        self.resume(pause)
        wait_for(self.ready, self.child, 3600, "PostgreSQL", pause)  # recovery after a crash may take long
        self._prepare()

    def resume(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Run the server on its data, without waiting for it: after a crash its clients connect again by themselves."""
        self._let_the_last_one_end(pause)
        self.child.start()

    def stop(self, seconds: float = 20) -> None:
        """Fast shutdown within the bound, then an immediate one, which the next start recovers from."""
        self.child.ask_to_stop()
        if not self.child.wait(seconds) and self.child.process:
            self.child.process.send_signal(signal.SIGQUIT)
            self.child.wait(5)
        self.child.kill()

    def ready(self) -> bool:
        """Whether it takes connections."""
        return self._run("pg_isready", "-q", "-t", "5", "-h", str(self.socket)).returncode == 0

    def url(self, role: str, name: str = "nekibu") -> str:
        """Connection URL of role `owner` or `app`."""
        password = self.secrets.pg_owner_password if role == "owner" else self.secrets.pg_app_password
        return f"postgresql://nekibu_{role}:{quote(password)}@/{name}?host={quote(str(self.socket), safe='')}"

    def _settings(self) -> list[str]:
        chosen = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket),
            # Root passes the private directory; the rest of the system does not.
            "unix_socket_permissions": "0700" if self.user is None else "0777",
            "max_connections": "120",
            "shared_buffers": "256MB",
            "log_min_messages": "warning",
            "log_line_prefix": "%m [%p] %q%u@%d ",
            "timezone": "UTC",
        }
        if not self.durable:
            chosen |= {
                "fsync": "off",
                "full_page_writes": "off",
                "shared_buffers": "128MB",
            }
        return [part for key, value in chosen.items() for part in ("-c", f"{key}={value}")]

    def _environment(self, **more: str) -> dict[str, str]:
        return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", **more}

    def _create(self) -> None:
        for directory in (self.socket, self.data):
            self._own(directory)
        self._refuse_closed_parent()
        held = self.data / "PG_VERSION"
        if held.exists():
            major = held.read_text().strip()
            if major != MAJOR:
                raise SystemExit(
                    f"{self.data} was written by PostgreSQL {major}; this version reads {MAJOR}. "
                    "Dump it with the old server and restore it into a new NEKIBU_STATE."
                )
            return
        # A killed initdb leaves a directory that looks whole: it is made aside, and takes its place at the end.
        draft = self.data.with_name(f"{self.data.name}.new")
        shutil.rmtree(draft, ignore_errors=True)
        self._own(draft)
        with tempfile.NamedTemporaryFile("w", dir=self.socket, prefix=".pw-") as password:
            password.write(self.secrets.pg_superuser_password)
            password.flush()
            if self.user:
                shutil.chown(password.name, self.user, self.user)
            done = subprocess.run(
                [
                    str(self.bin / "initdb"), "-D", str(draft), "-U", "postgres", "-A", "scram-sha-256",
                    f"--pwfile={password.name}", "-E", "UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8",
                    "--locale=C", "--no-instructions", *(() if self.durable else ("--no-sync",)),
                ],
                capture_output=True,
                text=True,
                check=False,
                env=self._environment(),
                cwd="/",
                user=self.user,
                group=self.user,
                extra_groups=[] if self.user else None,
                preexec_fn=die_with_parent(signal.SIGKILL),
            )  # fmt: skip
        if done.returncode:
            shutil.rmtree(draft, ignore_errors=True)
            raise SystemExit(f"PostgreSQL's data could not be created in {self.data}:\n{done.stderr.strip()}")
        draft.replace(self.data)  # an empty directory gives way

    def _own(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        if self.user:
            try:
                shutil.chown(directory, self.user, self.user)
            except LookupError:
                raise MissingBinary(
                    f"The system user {self.user} does not exist. Run `make setup` as root once."
                ) from None
        directory.chmod(0o700)

    def _refuse_closed_parent(self) -> None:
        """The service user must reach its data; the mode of somebody else's directory is never changed for that."""
        if self.user is None:
            return
        for parent in self.data.resolve().parents:
            mode = parent.stat()
            if mode.st_uid == pwd.getpwnam(self.user).pw_uid and mode.st_mode & stat.S_IXUSR:
                continue
            if not mode.st_mode & stat.S_IXOTH:
                raise SystemExit(
                    f"The system user {self.user}, who runs PostgreSQL, cannot pass {parent}. "
                    "Choose another NEKIBU_STATE, such as /var/lib/nekibu."
                )

    def _let_the_last_one_end(self, pause: Callable[[float], None]) -> None:
        """A killed supervisor's server shuts down by itself; a pid file whose number now is another program's is void."""
        pid_file = self.data / "postmaster.pid"
        deadline = time.monotonic() + 60
        while pid_file.exists():
            lines = pid_file.read_text().splitlines()
            program = Path(f"/proc/{lines[0].strip()}/comm") if lines else None
            try:
                alive = program is not None and program.read_text().strip() == "postgres"
            except OSError:
                alive = False
            if not alive:
                pid_file.unlink(missing_ok=True)
                return
            if time.monotonic() > deadline:
                raise SystemExit(
                    f"Another PostgreSQL (process {lines[0].strip()}) already runs on {self.data}."
                )
            pause(0.1)

    def _prepare(self) -> None:
        self._sql("postgres", _ROLES)
        # Databases made later, test databases too, inherit the extensions.
        self._sql("template1", "".join(f"CREATE EXTENSION IF NOT EXISTS {name};\n" for name in EXTENSIONS))
        self._sql("postgres", _DATABASE)

    def _sql(self, database: str, statements: str) -> None:
        """Statements travel on standard input: passwords stand on no command line."""
        variables = (
            f"\\set owner '{self.secrets.pg_owner_password}'\n\\set app '{self.secrets.pg_app_password}'\n"
        )
        done = self._run(
            "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self.socket), "-U", "postgres", "-d", database,
            typed=variables + statements,
            PGPASSWORD=self.secrets.pg_superuser_password,
            PGOPTIONS="-c client_min_messages=warning",
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"PostgreSQL refused to be prepared: {done.stderr.strip()}")

    def _run(
        self, program: str, *arguments: str, typed: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / program), *arguments],
            input=typed,
            env=self._environment(**more),
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
