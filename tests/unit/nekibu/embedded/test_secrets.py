from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from pathlib import Path

from nekibu.embedded import secrets


def test_secrets_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    made = secrets.load(tmp_path / "state")
    assert secrets.load(tmp_path / "state") == made
    assert len(set(astuple(made))) == len(astuple(made))
    assert stat.S_IMODE((tmp_path / "state" / "secrets.json").stat().st_mode) == 0o600
    assert [p.name for p in (tmp_path / "state").iterdir()] == ["secrets.json"]


def test_processes_that_start_together_agree(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(lambda _: secrets.load(tmp_path), range(32)))
    assert len(set(loaded)) == 1
