"""What the engine is given, and who may share its cached tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Prompt:
    """The words of a task: `static` segments (kind, text) hold nothing of the case; the question comes last."""

    static: tuple[tuple[str, str], ...]
    question: str
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """One tokenised part of the package."""

    kind: str
    static: bool
    token_ids: tuple[int, ...]
    hash: str
    evidence_id: str = ""

    @property
    def tokens(self) -> int:
        """Its length."""
        return len(self.token_ids)


@dataclass(frozen=True, slots=True)
class Layout:
    """In which order the evidence is sent, and what either order lets the next question about it share."""

    mode: Literal["document", "edges"]
    reason: str  # shared, short, no_scores, long
    shared_if_document: int  # tokens
    shared_if_edges: int
    positions: tuple[tuple[str, float], ...] = ()  # piece, place of its first token from 0 to 1


@dataclass(frozen=True, slots=True)
class ContextPackage:
    """What the engine is given: static first, the document next, the question last; never cut."""

    segments: tuple[Segment, ...]
    prefix_hash: str
    prefix_tokens: int
    share_hash: str
    share_tokens: int
    total_tokens: int
    tokenizer_id: str
    renderer_version: str
    template: str
    stop_token_ids: tuple[int, ...]
    too_large: bool = False
    limit: int = 0
    layout: Layout = Layout("document", "shared", 0, 0)

    @property
    def input_ids(self) -> list[int]:
        """All segments, in order."""
        return [token for segment in self.segments for token in segment.token_ids]


@dataclass(frozen=True, slots=True)
class Namespace:
    """Who may share cached tokens: the parts of the salt, never the salt."""

    tenant: str
    trust_class: str
    acl_epoch: str


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The versioned key of the prefix cache; a missing part means no sharing."""

    scheme: str
    kv: Namespace
    mode: Literal["isolated", "off"]
    reasons: tuple[str, ...]
