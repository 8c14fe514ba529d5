"""Rows of inference: decisions with their history, batches, the catalogue of prices, and the accounts."""

from inference.models.accounts import Fact, FactDue, PrefixChain, Rollup, RollupDay, Slice, Subtotal
from inference.models.batches import Batch, BatchFile, BatchItem, BatchShare
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
    "Batch",
    "BatchFile",
    "BatchItem",
    "BatchShare",
    "Behaviour",
    "Body",
    "CacheEpoch",
    "ChainHead",
    "CheckResult",
    "Decision",
    "DecisionSeal",
    "DecisionStep",
    "Fact",
    "FactDue",
    "PrefixChain",
    "Price",
    "PriceKind",
    "Rollup",
    "RollupDay",
    "ServiceTier",
    "Slice",
    "Subtotal",
    "Verification",
]
