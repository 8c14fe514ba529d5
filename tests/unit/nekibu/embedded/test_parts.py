from __future__ import annotations

from pathlib import Path

from nekibu import env
from nekibu.embedded import secrets
from nekibu.embedded.layout import Layout
from nekibu.embedded.parts import Parts


def parts(state: Path, **inherited: str) -> Parts:
    environment = env.read({"NEKIBU_STATE": str(state), "NEKIBU_PORT": "8300"})
    return Parts(environment, Layout(state), secrets.load(state), inherited)


def test_only_management_commands_act_as_the_owner_of_the_tables(tmp_path: Path) -> None:
    made = parts(tmp_path, NEKIBU_DB_ROLE="owner")  # whatever the operator's shell says
    running = [made.gateway(), made.web(), made.worker(), made.beat()]
    assert all(part.child.env is not None and "NEKIBU_DB_ROLE" not in part.child.env for part in running)
    migrate = made.manage("migrate", "migrate")
    assert migrate.env is not None
    assert migrate.env["NEKIBU_DB_ROLE"] == "owner"


def test_every_process_is_told_the_same_state_and_ports(tmp_path: Path) -> None:
    made = parts(tmp_path, NEKIBU_MODEL="/models/x")
    for child in (
        made.gateway().child,
        made.web().child,
        made.worker().child,
        made.beat().child,
        made.manage("m"),
    ):
        assert child.env is not None
        assert child.env["NEKIBU_STATE"] == str(tmp_path)
        assert (child.env["NEKIBU_PORT"], child.env["NEKIBU_GATEWAY_PORT"]) == ("8300", "8301")
        assert child.env["NEKIBU_MODEL"] == "/models/x"


def test_the_engine_keeps_its_threads(tmp_path: Path) -> None:
    made = parts(tmp_path)
    assert made.gateway().child.env is not None
    assert "OMP_NUM_THREADS" not in made.gateway().child.env
    assert made.worker().child.env is not None
    assert made.worker().child.env["OMP_NUM_THREADS"] == "1"
