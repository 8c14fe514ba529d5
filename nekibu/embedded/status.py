"""Who runs on a state directory: the roster that the supervisor keeps, and what its processes answer."""

from __future__ import annotations

import http.client
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nekibu.embedded import lock
from nekibu.embedded.console import say, step
from nekibu.embedded.layout import Layout
from nekibu.env import Environment

NOTHING_RUNS = 3


def lock_path(layout: Layout) -> Path:
    """The lock of one supervisor per state directory."""
    return layout.run / "supervisor.lock"


def roster_path(layout: Layout) -> Path:
    """JSON: the supervisor's pid, the URL, and each process with its pid, restarts and log."""
    return layout.run / "processes.json"


def write_roster(layout: Layout, roster: dict[str, Any]) -> None:
    """Replace the roster in one move: a reader sees the old one or the new one."""
    path = roster_path(layout)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(roster, indent=1))
    draft.replace(path)


def report(environment: Environment) -> int:
    """Say what runs on this state directory. Exit status 0 when something does, 3 when nothing does."""
    layout = Layout(environment.state)
    holder = lock.holder(lock_path(layout))
    if holder is None:
        say(f"Nothing runs on {environment.state}.")
        return NOTHING_RUNS
    say(f"Nekibu runs on {environment.state}: {holder}")
    roster = roster_path(layout)
    if roster.exists():
        for name, row in json.loads(roster.read_text())["processes"].items():
            alive = row["pid"] is not None and Path(f"/proc/{row['pid']}").exists()
            step(name, f"process {row['pid']}, started again {row['restarts']} times" if alive else "is down")
    ready = get(environment.port, "/readyz")
    say(f"  /readyz   {ready[1].strip() if ready else 'does not answer'}")
    return 0


def get(port: int, path: str, *, secret: str | None = None, seconds: float = 5) -> tuple[int, str] | None:
    """Status and body of whatever is answered; None when nobody answers."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {secret}"} if secret else {})
    try:
        link.request("GET", path, headers=headers)
        answer = link.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    except (OSError, http.client.HTTPException):
        return None
    finally:
        link.close()


def engine(port: int, secret: str) -> str | None:
    """One sentence about the engine as the gateway sees it; None when the gateway does not answer."""
    answer = get(port, "/v1/state", secret=secret, seconds=1)
    try:
        state = json.loads(answer[1]) if answer else None
    except ValueError:
        return None
    if not isinstance(state, dict) or "state" not in state:
        return None
    known = [str(state[key]) for key in ("name", "model", "device") if state.get(key)]
    return f"{state['state']}" + (f" ({', '.join(known)})" if known else "")


def now() -> str:
    """The present moment, for the roster."""
    return datetime.now(UTC).isoformat(timespec="seconds")
