"""What the supervisor says to the person who started it."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def say(line: str) -> None:
    """One line, at once."""
    try:
        print(line, flush=True)
    except OSError:  # whoever read our output has gone; the processes still must be stopped in order
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115


def step(name: str, what: str) -> None:
    """One line about one process."""
    say(f"  {name:<10}{what}")
