"""Which items are asked together, decided before anything is read.

The first tokens of a question are its task's instructions, then its document. The instructions come from the task, its
version and the spec behind both, whatever the subject; so these make the group. The document comes with the subject, so
within a group items are ordered by it, and the questions about one document follow each other. What exactly is shared is
known only once an item is prepared, and the gateway sees to it by the real tokens: the group only brings likely sharers
to it at the same time. To render every prompt at submission would load thousands of subjects for a better guess.
"""

from __future__ import annotations

from uuid import UUID

from inference.registry import TaskSpec
from inference.types import digest
from nekibu.permissions.actor import Actor


def namespace_of(actor: Actor) -> str:
    """Who may share at most. Classes of rights are known once pieces were read; whoever asks with other rights is never grouped."""
    return digest([str(actor.tenant_id), sorted(actor.roles), str(actor.user_id or "")])


def prefix_of(spec: TaskSpec) -> str:
    """What the questions of one task begin with."""
    return digest([spec.slug, spec.version, spec.hash])


def subject_of(kind: str, subject_id: str | UUID) -> str:
    """What the questions about one subject go on with."""
    return digest([kind, str(subject_id)])
