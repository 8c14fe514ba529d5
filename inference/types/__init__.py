"""What travels between the stages: frozen values, in rooms by subject."""

from inference.types.answer import (
    AttemptKind,
    CheckReport,
    Citation,
    Completion,
    Cost,
    CostState,
    DecidedBy,
    Finding,
    Outcome,
    Settlement,
    Severity,
    Solved,
)
from inference.types.canonical import canonical, digest, plain, text_digest
from inference.types.evidence import Compressed, Evidence, ProtectedField, Removal, RetrievalBudget, Retrieved
from inference.types.package import CacheKey, ContextPackage, Namespace, Prompt, Segment
from inference.types.policy import Approval, Budget, CachePolicy, Retry, ServicePolicy, Slo
from inference.types.request import Mode, Risk, Subject, TaskProfile, TaskRequest
from inference.types.route import Route, Schedule, Tier

__all__ = [
    "Approval",
    "AttemptKind",
    "Budget",
    "CacheKey",
    "CachePolicy",
    "CheckReport",
    "Citation",
    "Completion",
    "Compressed",
    "ContextPackage",
    "Cost",
    "CostState",
    "DecidedBy",
    "Evidence",
    "Finding",
    "Mode",
    "Namespace",
    "Outcome",
    "Prompt",
    "ProtectedField",
    "Removal",
    "RetrievalBudget",
    "Retrieved",
    "Retry",
    "Risk",
    "Route",
    "Schedule",
    "Segment",
    "ServicePolicy",
    "Settlement",
    "Severity",
    "Slo",
    "Solved",
    "Subject",
    "TaskProfile",
    "TaskRequest",
    "Tier",
    "canonical",
    "digest",
    "plain",
    "text_digest",
]
