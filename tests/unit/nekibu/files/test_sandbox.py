"""The child process: what comes back for good files, and that nothing a file does reaches the caller."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nekibu.files.parsers.base import Parsed
from nekibu.files.parsers.registry import parse
from nekibu.files.parsers.sandbox import parse_file
from samples import hostile
from tests.unit.nekibu.files import sheets


def test_the_child_gives_the_same_value_as_a_reading_in_place(tmp_path: Path) -> None:
    path = sheets.lines(tmp_path / "a.pdf", "Çağrı Işık", "İstanbul \U0001f600")
    there = parse_file(path, "özgeçmiş_Çağrı.pdf")
    assert there == parse(path, "x") and there.text.startswith("Çağrı Işık")
    assert Parsed.from_json(there.to_json()) == there


@pytest.mark.parametrize(
    "case", [c for c in hostile.HOSTILE if c.name != "büyük.pdf"], ids=lambda case: case.name
)
def test_a_hostile_file_gives_a_value_with_its_reason(tmp_path: Path, case: hostile.Hostile) -> None:
    path = tmp_path / case.name
    path.write_bytes(case.build())
    parsed = parse(path, case.name)
    assert parsed.quality == case.quality
    assert not case.reason or parsed.reason == case.reason
    assert case.visible in parsed.text
    assert not case.hidden or (case.hidden in parsed.hidden[0].text and case.hidden not in parsed.text)
    assert parsed.quality != "unreadable" or (parsed.text, parsed.pieces) == ("", ())


def test_more_than_ten_megabytes_are_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "b.pdf"
    path.write_bytes(hostile.oversized_pdf())
    assert parse(path, path.name).reason == "too_large"


def test_a_child_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "slow.txt"
    path.write_text("(" * 9_000_000)
    parsed = parse_file(path, path.name, seconds=1)
    assert (parsed.quality, parsed.reason) in [("unreadable", "timeout"), ("unreadable", "too_large")]


def test_a_child_that_never_answers_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = tmp_path / "python"
    stuck.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 60\n")
    stuck.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(stuck))
    assert parse_file(sheets.lines(tmp_path / "a.pdf", "x"), "a.pdf", seconds=2).reason == "timeout"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_child_without_memory_gives_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("satır\n" * 200_000)
    parsed = parse_file(path, path.name, megabytes=150)
    assert parsed.quality == "unreadable" and parsed.reason in ("corrupt", "too_large")


@pytest.mark.parametrize("body", ["kill -9 $$", "exit 3", "echo '{\"text\": 1}'", "echo nonsense"])
def test_a_child_that_dies_or_lies_is_a_corrupt_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    broken = tmp_path / "python"
    broken.write_text(f"#!/bin/sh\n{body}\n")
    broken.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(broken))
    assert parse_file(sheets.lines(tmp_path / "a.pdf", "x"), "a.pdf").reason == "corrupt"
