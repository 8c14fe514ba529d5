"""A model directory is whole or does not exist, however many starters there are and wherever they die."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import time
from collections import namedtuple
from pathlib import Path

import pytest

from inference.engine import weights


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core environment has neither transformers nor gguf; only their versions matter here."""
    monkeypatch.setattr(weights, "version", lambda package: "1.0")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.gguf"
    path.write_bytes(b"weights" * 1000)
    return path


@pytest.fixture
def models(tmp_path: Path) -> Path:
    path = tmp_path / "models"
    path.mkdir()
    return path


def copy(source: Path, target: Path) -> None:
    """A conversion that leaves its mark in the log beside the source."""
    with (source.parent / "conversions").open("a") as log:
        log.write(f"{os.getpid()}\n")
    shutil.copy(source, target / "model.safetensors")
    (target / "config.json").write_text("{}")


def slow_copy(source: Path, target: Path) -> None:
    copy(source, target)
    time.sleep(0.5)


def conversions(source: Path) -> int:
    log = source.parent / "conversions"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_second_start_finds_the_first_one_s_directory(models: Path, source: Path) -> None:
    first = weights.prepare_packaged(models, source, copy)
    assert weights.prepare_packaged(models, source, copy) == first
    assert conversions(source) == 1
    assert first.revision.startswith("smollm2-135m-instruct@")
    ready = json.loads((first.path / "READY.json").read_text())
    assert set(ready["files"]) == {"model.safetensors", "config.json"}
    assert first.path.stat().st_mode & 0o777 == 0o755
    assert (first.path / "model.safetensors").stat().st_mode & 0o777 == 0o644


def test_other_weights_get_another_directory_and_revision(models: Path, source: Path) -> None:
    first = weights.prepare_packaged(models, source, copy)
    source.write_bytes(b"other")
    second = weights.prepare_packaged(models, source, copy)
    assert (first.path != second.path) and (first.revision != second.revision)
    assert first.path.exists()


def _prepare(models: Path, source: Path) -> None:
    weights.version = lambda package: "1.0"  # type: ignore[assignment] # a fresh process: the fixture is not there
    weights.prepare_packaged(models, source, slow_copy)


def test_two_gateways_that_start_together_convert_once(models: Path, source: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    children = [spawn.Process(target=_prepare, args=(models, source)) for _ in range(3)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert conversions(source) == 1


def test_failed_conversion_leaves_nothing_and_the_next_one_starts_afresh(models: Path, source: Path) -> None:
    def broken(source: Path, target: Path) -> None:
        (target / "half").write_text("x")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        weights.prepare_packaged(models, source, broken)
    assert not [path for path in models.iterdir() if path.is_dir()]
    assert weights.prepare_packaged(models, source, copy).path.is_dir()


def test_leftover_of_a_killed_starter_is_removed(models: Path, source: Path) -> None:
    path = weights.prepare_packaged(models, source, copy).path
    leftover = models / f".{path.name.rpartition('-')[2]}-killed"
    leftover.mkdir()
    (leftover / "half").write_text("x")
    weights.prepare_packaged(models, source, copy)
    assert not leftover.exists()


def test_directory_without_its_mark_is_made_again(models: Path, source: Path) -> None:
    path = weights.prepare_packaged(models, source, copy).path
    (path / "READY.json").unlink()
    weights.prepare_packaged(models, source, copy)
    assert conversions(source) == 2
    assert (path / "READY.json").exists()


def test_changed_bytes_are_found_by_the_daily_look(models: Path, source: Path) -> None:
    path = weights.prepare_packaged(models, source, copy).path
    (path / "model.safetensors").write_bytes(b"bit rot")
    weights.prepare_packaged(models, source, copy)
    assert conversions(source) == 1  # looked at less than a day ago
    yesterday = time.time() - 25 * 3600
    os.utime(path / ".verified", (yesterday, yesterday))
    weights.prepare_packaged(models, source, copy)
    assert conversions(source) == 2
    assert (path / "model.safetensors").read_bytes() == source.read_bytes()


def test_too_little_disk_is_said_before_anything_is_written(
    models: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**9, 9 * 10**8, 10**8))
    with pytest.raises(weights.NoSpace, match="100 MB of free disk space"):
        weights.prepare_packaged(models, source, copy)
    assert conversions(source) == 0


def test_missing_package_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "PACKAGE", "no_such_package_of_models")
    with pytest.raises(weights.ModelMissing, match="make setup ENGINE=1"):
        weights.packaged_source()


def test_given_directory_is_used_where_it_lies(models: Path, tmp_path: Path) -> None:
    given = tmp_path / "Qwen3-8B"
    given.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (given / name).write_text("{}")
    model = weights.prepare(models, str(given))
    assert (model.path, model.name) == (given, "qwen3-8b")
    assert weights.prepare(models, str(given)) == model
    (given / "model.safetensors").write_text("{new}")
    assert weights.prepare(models, str(given)).revision != model.revision
    assert sorted(path.name for path in given.iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]


def test_incomplete_directory_and_unknown_name_are_sentences(models: Path, tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "config.json").write_text("{}")
    with pytest.raises(weights.NotAModel, match=r"tokenizer\.json is missing"):
        weights.prepare(models, str(tmp_path / "half"))
    with pytest.raises(weights.NotAModel, match="not on this machine"):
        weights.prepare(models, "no-such-model")
