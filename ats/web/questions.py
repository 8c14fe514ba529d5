"""What recruiting asks a person, in the reader's language: the criterion, not its key."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from ats.inference_tasks import SLUG
from ats.models import CriterionVerdict
from inference.web.desk import describe


def register() -> None:
    """Make the sentences known to the inbox."""
    describe(SLUG, statements)


def statements(decisions: Sequence[UUID]) -> dict[UUID, str]:
    """The criterion that each decision is about, in one query."""
    rows = CriterionVerdict.objects.filter(decision_id__in=decisions).select_related("criterion")
    return {row.decision_id: row.criterion.statement for row in rows if row.decision_id is not None}
