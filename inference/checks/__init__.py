"""Stage 10: what an answer must survive. A failed check is a finding, never an exception."""

from __future__ import annotations

from inference.checks.report import Answer, run_checks

__all__ = ["Answer", "run_checks"]
