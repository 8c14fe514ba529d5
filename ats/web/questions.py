"""What recruiting asks a person, in the reader's language: the criterion, not its key."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from ats.inference_tasks import SLUG
from ats.models import CriterionVerdict
from ats.web.words import reasoning_words
from inference.web.desk import describe
from inference.web.retelling import teach


def register() -> None:
    """Make the sentences known to the inbox and to the trace."""
    describe(SLUG, statements)
    teach(reasoning_words)


def statements(decisions: Sequence[UUID]) -> dict[UUID, str]:
    """The criterion that each decision is about, in one query."""
    rows = CriterionVerdict.objects.filter(decision_id__in=decisions).select_related("criterion")
    return {row.decision_id: row.criterion.statement for row in rows if row.decision_id is not None}
