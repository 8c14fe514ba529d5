"""Rows of inference: decisions with their history."""

from inference.models.decisions import (
    Attempt,
    Body,
    CacheEpoch,
    ChainHead,
    CheckResult,
    Decision,
    DecisionSeal,
    DecisionStep,
)

__all__ = [
    "Attempt",
    "Body",
    "CacheEpoch",
    "ChainHead",
    "CheckResult",
    "Decision",
    "DecisionSeal",
    "DecisionStep",
]
