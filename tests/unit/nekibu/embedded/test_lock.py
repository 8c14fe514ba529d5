from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nekibu.embedded import lock

HOLD = "import sys; from pathlib import Path; from nekibu.embedded import lock\nwith lock.hold(Path(sys.argv[1]), 'the other one'): print('held', flush=True); sys.stdin.read()"


def test_a_second_holder_is_told_who_the_first_is(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with lock.hold(path, "process 1"):
        assert lock.holder(path) == "process 1"
        with pytest.raises(lock.Held, match="process 1"), lock.hold(path, "process 2"):
            pytest.fail("two hold the same lock")
        assert lock.holder(path) == "process 1"
    assert lock.holder(path) is None
    assert not path.exists()


def test_a_killed_holder_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        assert lock.holder(path) == "the other one"
        other.kill()
        other.wait()
    assert path.exists()  # it could not clean up
    assert lock.holder(path) is None
    with lock.hold(path, "mine"):
        assert lock.holder(path) == "mine"
