"""Records of attempts whose caller was gone: on disk until somebody acknowledges them."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

from inference.errors import BadWire
from inference.wire import AttemptRecord

BOUND = 10_000
log = logging.getLogger(__name__)


class Spool:
    """One small file per record; a record is whole on disk before the next request is served."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self, record: AttemptRecord) -> None:
        """Write it, and wait until it is on disk. Above the bound the oldest is given up."""
        held = sorted(self.folder.glob("*.json"))
        for old in held[: max(0, len(held) - BOUND + 1)]:
            log.error("the record %s is given up: nobody has collected records", old.name)
            old.unlink(missing_ok=True)
        draft = self.folder / f".{record.attempt_id}"
        with draft.open("w") as file:
            json.dump(record.to_json(), file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / f"{int(record.ended_at * 1000):015d}-{record.attempt_id}.json")

    def all(self) -> list[AttemptRecord]:
        """Oldest first, at most a thousand at a time. One that cannot be read is set aside and does not hold up the others."""
        found = []
        for path in sorted(self.folder.glob("*.json"))[:1000]:
            try:
                found.append(AttemptRecord.from_json(json.loads(path.read_text())))
            except (ValueError, BadWire) as unreadable:
                log.warning("the record %s cannot be read: %s", path.name, type(unreadable).__name__)
                path.replace(path.with_suffix(".unreadable"))
        return found

    def acknowledge(self, ids: list[str]) -> None:
        """Forget them."""
        for attempt_id in ids:
            if len(attempt_id) == 32 and attempt_id.isalnum():
                for path in self.folder.glob(f"*-{attempt_id}.json"):
                    path.unlink(missing_ok=True)
