"""Parsers run in a child process with limits on memory, processor time and wall time; its end is always an answer."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nekibu.env import PROJECT
from nekibu.files.parsers.base import Hidden, Page, Parsed, Piece


def parse_file(path: Path, name: str, *, seconds: int = 60, megabytes: int = 1024, pages: int = 40) -> Parsed:
    """`registry.parse` in a limited child. Over time: `timeout`; over memory or crashed: `corrupt`."""
    command = [sys.executable, "-m", "nekibu.files.parsers.sandbox", str(path), name, str(seconds), str(megabytes), str(pages)]
    env = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(PROJECT), "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds + 5, check=False, env=env, cwd=PROJECT)
    except subprocess.TimeoutExpired:
        return _unreadable("timeout")
    if done.returncode != 0:
        return _unreadable("timeout" if done.returncode == -24 else "corrupt")  # 24: SIGXCPU
    try:
        return _from_json(json.loads(done.stdout))
    except (ValueError, KeyError, TypeError):
        return _unreadable("corrupt")


def _unreadable(reason: str) -> Parsed:
    return Parsed("", "nekibu.sandbox", "1", "", (), (), (), (), "unreadable", reason)


def _from_json(raw: dict[str, Any]) -> Parsed:
    return Parsed(
        **{
            **raw,
            "pages": tuple(Page(**page) for page in raw["pages"]),
            "pieces": tuple(Piece(**{**piece, "bbox": tuple(piece["bbox"]) if piece["bbox"] else None}) for piece in raw["pieces"]),
            "hidden": tuple(Hidden(**item) for item in raw["hidden"]),
            "findings": tuple(raw["findings"]),
        }
    )


def main() -> None:
    """The child: limits first, then the parser, then one JSON document on standard output."""
    path, name, seconds, megabytes, pages = sys.argv[1:6]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (int(megabytes) * 1024 * 1024,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from nekibu.files.parsers.registry import parse

    json.dump(asdict(parse(Path(path), name, pages=int(pages))), sys.stdout)


if __name__ == "__main__":
    main()
