"""Secrets of one installation: made once, kept in a file that only its owner reads."""

from __future__ import annotations

import json
import os
import secrets as random
from dataclasses import asdict, dataclass, fields
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Secrets:
    """Each is url-safe text of 32 random bytes."""

    django_secret_key: str
    pg_superuser_password: str
    pg_owner_password: str
    pg_app_password: str
    gateway_secret: str
    body_key: str


def load(state: Path) -> Secrets:
    """Read `secrets.json`, or make it. Two starting processes agree: the first file linked into place wins."""
    path = state / "secrets.json"
    if not path.exists():
        state.mkdir(parents=True, exist_ok=True)
        made = Secrets(*(random.token_urlsafe(32) for _ in fields(Secrets)))
        draft = state / f".secrets-{os.getpid()}-{random.token_hex(4)}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(asdict(made), file)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return Secrets(**json.loads(path.read_text()))
