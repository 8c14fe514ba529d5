"""Hard rules: what reaches which tier, whatever the model would say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference.router import Situation, choose_route

PLAIN = Situation(
    ai_opt_out=False,
    human_only=False,
    sources_required=True,
    pieces=12,
    solved=False,
    too_large=False,
    risk="R1",
    adverse=False,
    flags=frozenset(),
    tiers=("rules", "economic", "person"),
    min_tier="rules",
    approval="on_finding",
)


@pytest.mark.parametrize(
    ("changes", "tier", "reason", "approval"),
    [
        ({}, "economic", "default", False),
        ({"ai_opt_out": True, "solved": True}, "person", "opt_out", False),
        ({"human_only": True, "solved": True}, "person", "human_only", False),
        ({"pieces": 0, "solved": True}, "person", "insufficient_evidence", False),
        ({"solved": True, "flags": frozenset({"injection"})}, "rules", "solver", False),
        ({"solved": True, "approval": "always"}, "rules", "solver", True),
        ({"too_large": True}, "person", "context_too_large", False),
        ({"flags": frozenset({"injection"})}, "person", "no_strong_tier", False),
        ({"flags": frozenset({"contradiction"})}, "person", "no_strong_tier", False),
        ({"risk": "R3"}, "person", "no_strong_tier", False),
        ({"flags": frozenset({"hidden_text"})}, "economic", "hidden_text", True),
        ({"approval": "always"}, "economic", "default", True),
        ({"tiers": ("rules", "person")}, "person", "no_model_tier", False),
    ],
)
def test_route(changes, tier, reason, approval):
    route = choose_route(replace(PLAIN, **changes))
    assert (route.tier, route.reason, route.needs_approval) == (tier, reason, approval)
