"""One supervisor per state directory: a lock that the kernel lets go of when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Held(Exception):
    """Another supervisor runs on this state directory."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.holder = holder


@contextmanager
def hold(path: Path, holder: str) -> Iterator[None]:
    """Hold the lock and write who holds it. Raises `Held` with what the other holder wrote; the file is gone afterwards."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with os.fdopen(descriptor) as file:
                raise Held(file.read().strip()) from None
        if _is_still(path, descriptor):
            break
        os.close(descriptor)  # the last holder removed the file between our two lines
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, holder.encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def holder(path: Path) -> str | None:
    """What the present holder wrote; None when nobody holds the lock."""
    try:
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
    except FileNotFoundError:
        return None
    except BlockingIOError:
        return path.read_text().strip()


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.stat(path).st_ino == os.fstat(descriptor).st_ino  # noqa: PTH116  (the pair reads better)
    except FileNotFoundError:
        return False
