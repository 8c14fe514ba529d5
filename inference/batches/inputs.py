"""From an item back to its question: the line is read again from the kept original, and must have the hash it was taken with."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext as _

from inference.batches import lines
from inference.batches.lines import Question
from inference.models import Batch, BatchItem, Decision
from inference.types import TaskRequest
from nekibu.errors import Gone, Refused
from nekibu.files.selectors import original
from nekibu.permissions.actor import Actor

ENDPOINT = "batch"


class InputGone(Gone):
    """The file with the questions has been deleted."""

    code = "input_gone"


class InputChanged(Refused):
    """The line is not the one that was taken in."""

    code = "input_changed"


def key_of(batch_id: UUID, custom_id: str) -> str:
    """The idempotency key of an item's decision."""
    return f"{batch_id}:{custom_id}"


def decision_of(item: BatchItem) -> Decision | None:
    """The decision that this item has become so far. Call it in the tenant's scope."""
    key = key_of(item.batch_id, item.custom_id)
    row: Decision | None = Decision.objects.filter(endpoint=ENDPOINT, idempotency_key=key).first()
    return row


def request_of(item: BatchItem) -> TaskRequest:
    """What the item asks. Raises InputGone or InputChanged. Call it in the tenant's scope."""
    batch = Batch.objects.select_related("input_file__stored").get(pk=item.batch_id)
    try:
        with original(batch.input_file.stored).open("rb") as file:
            file.seek(item.offset)
            raw = file.read(item.length)
    except OSError:
        raise InputGone from None
    if lines.hash_of(raw) != item.line_hash:
        raise InputChanged(_("The line is not the one that was taken in. Submit the file again."))
    actor = Actor.from_json(batch.actor)
    found = lines.question(lines.Place(item.line, item.offset, item.length, item.line_hash), raw, actor)
    if not isinstance(found, Question):
        first = found[0]
        raise Refused(
            first.message,
            code=first.code,
            errors=[{"field": first.field, "code": first.code, "message": first.message}],
        )
    body = found.body
    return TaskRequest(
        actor=actor,
        task=item.task,
        task_version=item.task_version,
        subject=(body["subject"]["type"], body["subject"]["id"]),
        inputs=body.get("inputs", {}),
        as_of=lines.as_of(body),
        mode="batch",
        deadline_at=item.due_at,
        locale=body.get("locale", "tr"),
        correlation={**body.get("correlation", {}), "batch": str(batch.id), "custom_id": item.custom_id},
        idempotency_key=key_of(batch.id, item.custom_id),
        endpoint=ENDPOINT,
    )
