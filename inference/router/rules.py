"""The hard rules of the router: an ordered table, the first match wins, every match is recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inference.types import Risk, Route, Tier


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the rules may look at. No attribute of a person is among it."""

    ai_opt_out: bool
    human_only: bool
    sources_required: bool
    pieces: int
    solved: bool
    too_large: bool
    risk: Risk
    adverse: bool
    flags: frozenset[str]
    tiers: tuple[Tier, ...]
    min_tier: Tier
    approval: str


RULES: tuple[tuple[str, Tier, Callable[[Situation], bool]], ...] = (
    ("opt_out", "person", lambda s: s.ai_opt_out),
    ("human_only", "person", lambda s: s.human_only),
    ("insufficient_evidence", "person", lambda s: s.sources_required and s.pieces == 0),
    ("solver", "rules", lambda s: s.solved and "rules" in s.tiers),
    ("context_too_large", "person", lambda s: s.too_large),
    ("over_budget", "person", lambda s: "over_budget" in s.flags),
    ("high_risk", "strong", lambda s: s.risk == "R3"),
    ("adverse_effect", "strong", lambda s: s.adverse),
    ("injection", "strong", lambda s: "injection" in s.flags),
    ("contradiction", "strong", lambda s: "contradiction" in s.flags),
    ("min_tier", "strong", lambda s: s.min_tier == "strong"),
)
AGREE = ("hidden_text", "quality_low")  # the answer may be proposed, a person must agree to it


def choose_route(situation: Situation) -> Route:
    """The tier, with its reason. A strong model is not installed in this form, so what needs one goes to a person."""
    hits = [(name, tier) for name, tier, applies in RULES if applies(situation)]
    noted = tuple(name for name, _ in hits) + tuple(f for f in AGREE if f in situation.flags)
    approval = situation.approval == "always" or any(f in situation.flags for f in AGREE)
    if not hits:
        if "economic" not in situation.tiers:
            return Route("person", "no_model_tier", noted)
        return Route("economic", "hidden_text" if "hidden_text" in noted else "default", noted, approval)
    name, tier = hits[0]
    if tier == "strong":
        return Route("person", "no_strong_tier", noted)
    return Route(tier, name, noted, needs_approval=tier == "rules" and situation.approval == "always")
