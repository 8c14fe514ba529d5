"""Identifiers, those with check digits proved, and addresses of sources."""

from __future__ import annotations

from collections.abc import Iterator

from inference.protected.found import Found, Writing
from nekibu.language.identifiers import find_identifiers


def find(clause: str, writing: Writing) -> Iterator[Found]:
    """One that stands after its cue word but fails its check is doubtful, never passed over."""
    for one in find_identifiers(clause):
        kind = "source_uri" if one.kind == "url" else "identifier"
        yield Found(kind, one.start, one.end, (one.canonical,), not one.valid)
