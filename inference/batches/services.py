"""Acts on batches: take one in, read it, pause, resume, cancel, ask the failed ones again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from inference.batches import files, grouping, lines
from inference.batches.closing import conclude, move_batch
from inference.batches.lines import LineError, Question
from inference.batches.selectors import batch_for, file_for
from inference.models import Batch, BatchFile, BatchItem
from inference.permissions import InferenceAction, InferenceTag
from inference.states import BATCH_CLOSED, BatchStatus, FilePurpose, ItemStatus, Window
from inference.types import TaskRequest, plain
from nekibu.audit.record import record
from nekibu.errors import Conflict, IllegalMove, InvalidInput, Unavailable
from nekibu.files.selectors import verified
from nekibu.jobs.enqueue import enqueue, knock
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require
from nekibu.tenants.scope import tenant_scope

SHOWN_ERRORS = 100
AGAIN = (ItemStatus.FAILED, ItemStatus.EXPIRED)  # what a retry asks; what was cancelled was meant to be
MOST_METADATA = 16
DOORBELL = "inference.run_batches"


class InputGone(Conflict):
    """The questions of this batch have been deleted. Submit the file again."""

    code = "input_gone"


class NothingToRetry(Conflict):
    """Nothing in this batch failed or ran out of time."""

    code = "nothing_to_retry"


def keep_file(*, actor: Actor, name: str, chunks: Iterable[bytes]) -> BatchFile:
    """Keep a file of questions. A batch has to be started from it within a day, or it goes."""
    require(actor, InferenceAction.BATCH_CREATE)
    return files.keep_input(actor, name, chunks)


def submit(*, actor: Actor, requests: Sequence[TaskRequest], window: Window, **metadata: str) -> Batch:
    """Take questions in as a batch. They are written down as a file first: one path for both doors.

    Each request's idempotency key becomes its custom_id; its actor, endpoint, mode and deadline are the batch's.
    """
    body = (_line_of(request) for request in requests)
    held = keep_file(actor=actor, name="requests.jsonl", chunks=body)
    return start(actor=actor, file_id=held.id, window=window, metadata=metadata)


def start(*, actor: Actor, file_id: UUID, window: Window, metadata: Mapping[str, str]) -> Batch:
    """Take a kept file in as a batch. A worker reads it; until then it is being read."""
    require(actor, InferenceAction.BATCH_CREATE)
    _refuse_metadata(metadata)
    held = file_for(actor, file_id)
    if held.purpose != FilePurpose.INPUT or held.deleted_at is not None:
        raise InvalidInput(
            errors=[
                {
                    "field": "input_file_id",
                    "code": "no_questions",
                    "message": _("This file holds no questions, or they were deleted. Upload it again."),
                }
            ]
        )
    batch: Batch = Batch.objects.create(
        input_file=held,
        window=window,
        actor=actor.to_json(),
        locale=get_language() or "tr",
        metadata=dict(metadata),
        due_at=timezone.now() + timedelta(hours=window.hours),
    )
    _received(actor, batch)
    enqueue("inference.validate_batch", actor=actor, queue="batch", batch_id=str(batch.id))
    return batch


def validate(actor: Actor, batch_id: UUID) -> None:
    """Read the file: every line becomes an item, or the batch is not taken and says which lines are wrong. Outside a scope."""
    with tenant_scope(actor.tenant_id):
        batch = Batch.objects.select_related("input_file__stored").get(pk=batch_id)
        if batch.status != BatchStatus.VALIDATING:
            conclude(batch_id)  # cancelled before it was read
            return
    try:
        with override(batch.locale), verified(batch.input_file.stored).open("rb") as file:
            found, errors = sort(lines.questions(file, Actor.from_json(batch.actor)))
    except Unavailable as damaged:
        found, errors = [], [LineError(0, "file_damaged", "", str(damaged.message))]
    try:
        with tenant_scope(actor.tenant_id):
            if errors:
                _refuse(actor, batch, errors)
            else:
                _take(actor, batch, found)
    except Conflict:  # cancelled while it was read: no item was kept
        with tenant_scope(actor.tenant_id):
            conclude(batch_id)


def sort(found: Iterable[Question | LineError]) -> tuple[list[Question], list[LineError]]:
    """What can be asked and what is wrong, of a file that is read once."""
    good: list[Question] = []
    bad: list[LineError] = []
    for one in found:
        if isinstance(one, Question):
            good.append(one)
        else:
            bad.append(one)
    return good, bad


def pause(*, actor: Actor, batch_id: UUID) -> Batch:
    """Ask nothing more until it is resumed; what is being answered is answered. The window goes on."""
    require(actor, InferenceAction.BATCH_CONTROL)
    batch = _locked(actor, batch_id)
    move_batch(batch, BatchStatus.PAUSED, actor)
    return batch


def resume(*, actor: Actor, batch_id: UUID) -> Batch:
    """Go on where it was paused."""
    require(actor, InferenceAction.BATCH_CONTROL)
    batch = _locked(actor, batch_id)
    if batch.status != BatchStatus.PAUSED:
        raise IllegalMove(current=batch.status, wanted=str(BatchStatus.IN_PROGRESS))
    move_batch(batch, BatchStatus.IN_PROGRESS, actor)
    transaction.on_commit(lambda: knock(DOORBELL, queue="batch"))
    return batch


def cancel(*, actor: Actor, batch_id: UUID) -> Batch:
    """Stop it: what waits is cancelled now, what is being answered through the gateway. What was answered stays."""
    require(actor, InferenceAction.BATCH_CONTROL)
    batch = _locked(actor, batch_id)
    move_batch(batch, BatchStatus.CANCELLING, actor)
    BatchItem.objects.filter(batch=batch, status=ItemStatus.PENDING).update(
        status=ItemStatus.CANCELLED, cause="batch_cancelled", ended_at=timezone.now()
    )
    conclude(batch.id)
    enqueue("inference.stop_batches", actor=actor, queue="online")
    batch.refresh_from_db()
    return batch


def retry(*, actor: Actor, batch_id: UUID, window: Window) -> Batch:
    """Ask what failed or ran out of time again, as a batch of its own.

    Of its own, because the results of a closed batch are final files and a closed decision never changes: asked again, it
    is another decision. Nothing is read again; the new items point to the same lines.
    """
    require(actor, InferenceAction.BATCH_CREATE)
    old = _locked(actor, batch_id)
    if old.status not in BATCH_CLOSED:
        raise Conflict(_("The batch has not ended yet."), current=old.status)
    if old.input_file.deleted_at is not None:
        raise InputGone
    again = list(BatchItem.objects.filter(batch=old, status__in=AGAIN).order_by("line"))
    if not again:
        raise NothingToRetry
    now = timezone.now()
    batch: Batch = Batch.objects.create(
        input_file=old.input_file,
        retry_of=old,
        window=window,
        actor=actor.to_json(),
        locale=get_language() or "tr",
        metadata=old.metadata,
        due_at=now + timedelta(hours=window.hours),
    )
    _received(actor, batch)
    kept = (
        "custom_id", "line", "offset", "length", "line_hash", "task", "task_version", "prefix_hash", "subject_hash",
    )  # fmt: skip
    namespace = grouping.namespace_of(actor)
    BatchItem.objects.bulk_create(
        (
            BatchItem(
                batch=batch,
                due_at=batch.due_at,
                namespace_hash=namespace,
                **{name: getattr(item, name) for name in kept},
            )
            for item in again
        ),
        batch_size=1_000,
    )
    _go(actor, batch, len(again))
    return batch


def _take(actor: Actor, batch: Batch, found: Sequence[Question]) -> None:
    by = Actor.from_json(batch.actor)
    namespace = grouping.namespace_of(by)
    prefixes = {id(spec): grouping.prefix_of(spec) for spec in {id(q.spec): q.spec for q in found}.values()}
    BatchItem.objects.bulk_create(
        (
            BatchItem(
                batch=batch,
                custom_id=q.custom_id,
                line=q.place.line,
                offset=q.place.offset,
                length=q.place.length,
                line_hash=q.place.hash,
                task=q.spec.slug,
                task_version=q.spec.version,
                namespace_hash=namespace,
                prefix_hash=prefixes[id(q.spec)],
                subject_hash=grouping.subject_of(q.body["subject"]["type"], q.body["subject"]["id"]),
                due_at=batch.due_at,
            )
            for q in found
        ),
        batch_size=1_000,
    )
    BatchFile.objects.filter(pk=batch.input_file_id).update(lines=len(found))
    _go(actor, batch, len(found))


def _go(actor: Actor, batch: Batch, total: int) -> None:
    move_batch(batch, BatchStatus.IN_PROGRESS, actor, total=total, started_at=timezone.now())
    transaction.on_commit(lambda: knock(DOORBELL, queue="batch"))


def _refuse(actor: Actor, batch: Batch, errors: Sequence[LineError]) -> None:
    move_batch(
        batch,
        BatchStatus.FAILED,
        actor,
        errors=[plain(e) for e in errors[:SHOWN_ERRORS]],
        error_count=len(errors),
        ended_at=timezone.now(),
    )
    BatchFile.objects.filter(pk=batch.input_file_id).update(delete_after=timezone.now() + files.KEPT)


def _locked(actor: Actor, batch_id: UUID) -> Batch:
    batch_for(actor, batch_id)
    row: Batch = Batch.objects.select_for_update(of=("self",)).select_related("input_file").get(pk=batch_id)
    return row


def _received(actor: Actor, batch: Batch) -> None:
    record(
        actor,
        InferenceTag.BATCH_RECEIVED,
        batch,
        window=batch.window,
        input_file=str(batch.input_file_id),
        retry_of=str(batch.retry_of_id) if batch.retry_of_id else None,
    )


def _line_of(request: TaskRequest) -> bytes:
    body: dict[str, Any] = {
        "task": request.task,
        "task_version": request.task_version,
        "subject": {"type": request.subject[0], "id": request.subject[1]},
        "inputs": plain(request.inputs),
        "as_of": request.as_of.isoformat() if request.as_of else None,
        "locale": request.locale,
        "correlation": dict(request.correlation),
    }
    line = {"custom_id": request.idempotency_key, "method": "POST", "url": lines.ENDPOINT, "body": body}
    return (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def _refuse_metadata(metadata: Mapping[str, str]) -> None:
    fine = len(metadata) <= MOST_METADATA and all(
        isinstance(v, str) and len(k) <= 64 and len(v) <= 512 and "\0" not in k + v
        for k, v in metadata.items()
    )
    if not fine:
        raise InvalidInput(
            errors=[
                {
                    "field": "metadata",
                    "code": "invalid",
                    "message": _("At most 16 names of 64 characters, each with a text of 512 characters."),
                }
            ]
        )
