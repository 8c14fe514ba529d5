from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from nekibu.embedded.postgres import Postgres
from nekibu.embedded.valkey import Valkey
from tests.cluster import Cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    before = dict(os.environ)
    cluster = Cluster(valkey=True)
    cluster.start()
    yield cluster
    cluster.stop()
    os.environ.clear()
    os.environ.update(before)


def test_a_new_database_of_the_owner_has_the_extensions(cluster: Cluster) -> None:
    with psycopg.connect(cluster.postgres.url("owner"), autocommit=True) as link:
        link.execute("CREATE DATABASE inherited")
    with psycopg.connect(cluster.postgres.url("owner", "inherited")) as link:
        found = {row[0] for row in link.execute("SELECT extname FROM pg_extension")}
        assert found >= {"vector", "pg_trgm", "unaccent"}
        link.execute("CREATE TABLE t (v vector(3))")


def test_the_application_role_neither_owns_nor_passes_row_security(cluster: Cluster) -> None:
    with psycopg.connect(cluster.postgres.url("app")) as link:
        row = link.execute(
            "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        assert row == (False, False, False, False)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            link.execute("CREATE TABLE mine (x int)")


def test_a_wrong_password_is_refused(cluster: Cluster) -> None:
    url = cluster.postgres.url("app").replace(cluster.secrets.pg_app_password, "guess")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url)


def test_order_and_case_do_not_depend_on_the_machine(cluster: Cluster) -> None:
    with psycopg.connect(cluster.postgres.url("app")) as link:
        locale = link.execute(
            "SELECT datlocprovider, datlocale FROM pg_database WHERE datname = 'nekibu'"
        ).fetchone()
        assert locale == ("b", "C.UTF-8")


def test_a_killed_server_starts_again_with_its_rows(cluster: Cluster) -> None:
    server = cluster.postgres
    with psycopg.connect(server.url("owner")) as link:
        link.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    server.child.kill()
    assert not server.ready()
    server.start()
    with psycopg.connect(server.url("owner")) as link:
        assert link.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_a_pid_file_whose_number_is_another_programs_does_not_stop_the_start(cluster: Cluster) -> None:
    server = cluster.postgres
    server.child.kill()
    pid_file = server.data / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    server.start()
    assert server.ready()


def test_data_of_another_major_version_is_refused_with_a_sentence(cluster: Cluster, tmp_path: Path) -> None:
    state = cluster.state / "older"
    (state / "pg18").mkdir(parents=True)
    (state / "pg18" / "PG_VERSION").write_text("17\n")
    server = Postgres(state / "pg18", state / "pgrun", tmp_path / "log", cluster.secrets)
    with pytest.raises(SystemExit, match="was written by PostgreSQL 17"):
        server.start()


def test_an_interrupted_creation_begins_again(cluster: Cluster, tmp_path: Path) -> None:
    state = cluster.state / "cut"
    (state / "pg18.new").mkdir(parents=True)
    (state / "pg18.new" / "PG_VERSION").write_text("18\n")  # what a killed initdb leaves
    server = Postgres(state / "pg18", state / "pgrun", tmp_path / "log", cluster.secrets, durable=False)
    server.start()
    try:
        assert server.ready()
        assert not (state / "pg18.new").exists()
    finally:
        server.stop()


def test_a_path_too_long_for_a_socket_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    state = cluster.state / ("x" * 100)
    server = Postgres(state / "pg18", state / "pgrun", tmp_path / "log", cluster.secrets)
    with pytest.raises(SystemExit, match="too long for a socket"):
        server.start()
    assert not state.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs PostgreSQL under another user")
def test_a_closed_parent_directory_is_named_and_left_as_it_is(cluster: Cluster, tmp_path: Path) -> None:
    closed = cluster.state / "closed"
    closed.mkdir(mode=0o700)
    server = Postgres(closed / "pg18", closed / "pgrun", tmp_path / "log", cluster.secrets)
    with pytest.raises(SystemExit, match=f"cannot pass {closed}"):
        server.start()
    assert closed.stat().st_mode & 0o777 == 0o700


def test_postgres_shuts_down_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = "import time; from tests.cluster import Cluster\nc = Cluster(); c.start(); print(c.postgres.child.pid, c.state, flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, state = parent.stdout.readline().split()
        parent.kill()
        parent.wait()
    deadline = time.monotonic() + 15
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        assert not Path(f"/proc/{pid}").exists()
        assert not (Path(state) / "pg18" / "postmaster.pid").exists()  # it shut down in order
    finally:
        shutil.rmtree(state)


def test_a_killed_valkey_lost_no_acknowledged_write(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:  # pytest's own directory is too long for a socket
        valkey = Valkey(Path(short), tmp_path / "valkey.log")
        try:
            valkey.start()
            assert ask(valkey.path, "SET bell rung") == "+OK\r\n"
            valkey.child.kill()
            valkey.start()
            assert ask(valkey.path, "GET bell") == "$4\r\nrung\r\n"
        finally:
            valkey.stop()
        assert not valkey.path.exists()


def test_valkey_refuses_rather_than_forgets_and_only_its_user_enters(cluster: Cluster) -> None:
    valkey = cluster.valkey
    assert valkey is not None
    assert ask(valkey.path, "CONFIG GET maxmemory-policy").splitlines()[-1] == "noeviction"
    assert (valkey.path.stat().st_mode & 0o777) == 0o700


def ask(path: Path, command: str) -> str:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(path))
        link.sendall(command.encode() + b"\r\n")
        return link.recv(4096).decode()
