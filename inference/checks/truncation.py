"""A cut answer is its own case: it is no schema failure, and brackets are never closed for it."""

from __future__ import annotations

from inference.types import Completion, Finding


def check(completion: Completion) -> tuple[Finding, ...]:
    """TRUNCATED when the engine ran out of room."""
    if completion.finish != "length":
        return ()
    return (
        Finding(
            "TRUNCATED",
            "truncation",
            "escalate",
            data={"max_out": completion.max_out, "output": completion.usage.output},
        ),
    )
