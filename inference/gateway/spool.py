"""Records of attempts whose caller was gone: on disk until somebody acknowledges them."""

from __future__ import annotations

import json
import os
from pathlib import Path

from inference.wire import AttemptRecord

BOUND = 10_000


class Spool:
    """One small file per record; a record is whole on disk before the next request is served."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self, record: AttemptRecord) -> None:
        """Write it, and wait until it is on disk. Above the bound the oldest is given up."""
        held = sorted(self.folder.glob("*.json"))
        for old in held[: max(0, len(held) - BOUND + 1)]:
            old.unlink(missing_ok=True)
        draft = self.folder / f".{record.attempt_id}"
        with draft.open("w") as file:
            json.dump(record.to_json(), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / f"{int(record.ended_at * 1000):015d}-{record.attempt_id}.json")

    def all(self) -> list[AttemptRecord]:
        """Oldest first, at most a thousand at a time."""
        return [
            AttemptRecord.from_json(json.loads(path.read_text()))
            for path in sorted(self.folder.glob("*.json"))[:1000]
        ]

    def acknowledge(self, ids: list[str]) -> None:
        """Forget them."""
        for attempt_id in ids:
            if len(attempt_id) == 32 and attempt_id.isalnum():
                for path in self.folder.glob(f"*-{attempt_id}.json"):
                    path.unlink(missing_ok=True)
