"""Rows of inference: decisions with their history, and the catalogue of prices."""

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
from inference.models.economics import Behaviour, Price, PriceKind, ServiceTier, Verification

__all__ = [
    "Attempt",
    "Behaviour",
    "Body",
    "CacheEpoch",
    "ChainHead",
    "CheckResult",
    "Decision",
    "DecisionSeal",
    "DecisionStep",
    "Price",
    "PriceKind",
    "ServiceTier",
    "Verification",
]
