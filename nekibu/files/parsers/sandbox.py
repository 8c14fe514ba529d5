"""A reading in a child process with limits on time, memory and output: whatever a file does, the caller gets a value."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import nekibu
from nekibu.files.parsers.base import MAX_PAGES, Parsed, unreadable

_ROOT = Path(nekibu.__file__).resolve().parents[1]
_MOST_OUTPUT = 96 * 1024 * 1024


def parse_file(
    path: Path, name: str, *, seconds: int = 60, megabytes: int = 1024, pages: int = MAX_PAGES
) -> Parsed:
    """Read a file in a child. A child that crashes, is killed or answers nonsense gives `unreadable` with `corrupt`,
    one that takes too long `unreadable` with `timeout`. Returns within `seconds` plus a moment, always. The child
    never learns the name: content alone decides."""
    del name
    command = [
        sys.executable,
        "-m",
        "nekibu.files.parsers.sandbox",
        str(path),
        str(seconds),
        str(megabytes),
        str(pages),
    ]
    child = subprocess.Popen(
        command,
        cwd=_ROOT,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return unreadable("timeout")
    finally:
        _end(child)
    if child.returncode == -signal.SIGXCPU:
        return unreadable("timeout")
    if child.returncode != 0:
        return unreadable("corrupt")
    try:
        return Parsed.from_json(json.loads(output))
    except (ValueError, TypeError, KeyError):
        return unreadable("corrupt")


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()


def _environment() -> dict[str, str]:
    """Nothing of ours but what Python needs to start: no secrets, one thread."""
    kept = {
        name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV") if name in os.environ
    }
    return {
        **kept,
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
    }


def _limit(seconds: int, megabytes: int) -> None:
    memory = megabytes * 1024 * 1024
    for kind, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, 64, 64),
    ):
        resource.setrlimit(kind, (soft, hard))


def main(arguments: list[str]) -> int:
    """The child: limit itself, read, write one JSON object to the pipe."""
    path, seconds, megabytes, pages = arguments
    _limit(int(seconds), int(megabytes))
    from nekibu.files.parsers.registry import parse

    try:
        parsed = parse(Path(path), Path(path).name, pages=int(pages))
    except MemoryError:
        parsed = unreadable("too_large")
    output = json.dumps(parsed.to_json()).encode()
    if len(output) > _MOST_OUTPUT:
        output = json.dumps(unreadable("too_large").to_json()).encode()
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
