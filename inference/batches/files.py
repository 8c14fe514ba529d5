"""Files of batches: the questions as they came, and the results in two files that together have a line for each question."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any, cast

from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Concat
from django.utils import timezone
from django.utils.translation import gettext as _

from inference import bodies
from inference.batches.inputs import ENDPOINT
from inference.models import Batch, BatchFile, BatchItem, Decision
from inference.permissions import InferenceTag
from inference.selectors import told_of
from inference.states import TERMINAL, FilePurpose, ItemStatus
from inference.types import plain
from nekibu.audit.record import record
from nekibu.errors import Gone, TooLarge
from nekibu.files import services as originals
from nekibu.permissions.actor import Actor

MOST_BYTES = 50 * 1024 * 1024  # of questions
MOST_RESULT = 2 * 1024 * 1024 * 1024
KEPT = timedelta(days=7)  # results and questions of a closed batch, as long as the outcome of a decision
UNUSED = timedelta(days=1)  # a file that no batch was started from
JSONL = "application/jsonl"
SLICE = 200
LATER = {ItemStatus.EXPIRED: 408, ItemStatus.CANCELLED: 409}


class FileDeleted(Gone):
    """This file has been deleted; files of batches are kept for seven days."""

    code = "file_deleted"


def keep_input(actor: Actor, name: str, chunks: Iterable[bytes]) -> BatchFile:
    """Keep the questions byte for byte. Raises TooLarge, or InvalidInput for no bytes or a name that cannot be kept."""
    try:
        stored = originals.keep(actor=actor, name=name, chunks=chunks, most=MOST_BYTES)
    except TooLarge:
        raise TooLarge(
            _("%(name)s is larger than %(most)d MB. Split it into several batches.")
            % {"name": name, "most": MOST_BYTES // (1024 * 1024)}
        ) from None
    return _row(actor, FilePurpose.INPUT, stored, None, timezone.now() + UNUSED)


def name_decisions(batch: Batch) -> None:
    """Let each item name what it became, also one that ended before its decision did."""
    key = Concat(Value(f"{batch.id}:"), OuterRef("custom_id"))
    own = Decision.objects.filter(endpoint=ENDPOINT, idempotency_key=key).values("id")[:1]
    BatchItem.objects.filter(batch=batch, decision__isnull=True).update(decision_id=Subquery(own))


def write_results(actor: Actor, batch: Batch) -> tuple[BatchFile | None, BatchFile | None]:
    """The answers and the failures, in the order of the questions; none where there is no such line."""
    good = _write(actor, batch, FilePurpose.OUTPUT, [ItemStatus.DONE], _answer)
    bad = _write(
        actor,
        batch,
        FilePurpose.ERROR,
        [ItemStatus.FAILED, ItemStatus.CANCELLED, ItemStatus.EXPIRED],
        _failure,
    )
    return good, bad


def delete(actor: Actor, row: BatchFile) -> None:
    """Let the bytes go; the row stays and says that there were some."""
    gone = BatchFile.objects.filter(sha256=row.sha256, deleted_at__isnull=False)
    before = set(gone.values_list("stored_id", flat=True))
    BatchFile.objects.filter(pk=row.pk).update(deleted_at=timezone.now())
    record(actor, InferenceTag.BATCH_FILE_DELETED, row, sha256=row.sha256)
    originals.discard(actor=actor, stored=row.stored, gone=before)


def _write(
    actor: Actor,
    batch: Batch,
    purpose: FilePurpose,
    statuses: list[ItemStatus],
    say: Callable[[BatchItem, dict[str, Any] | None], dict[str, Any]],
) -> BatchFile | None:
    count = 0

    def chunks() -> Iterator[bytes]:
        nonlocal count
        rows = BatchItem.objects.filter(batch=batch, status__in=statuses).select_related("decision")
        last = 0
        while part := list(rows.filter(line__gt=last).order_by("line")[:SLICE]):
            known = bodies.read_many((i.decision_id for i in part if i.decision_id), "outcome")
            count, last = count + len(part), part[-1].line
            yield "".join(
                json.dumps(say(item, known.get(item.decision_id)), ensure_ascii=False, separators=(",", ":"))
                + "\n"
                for item in part
            ).encode()

    if not BatchItem.objects.filter(batch=batch, status__in=statuses).exists():
        return None
    name = f"{batch.id}-{purpose.value}.jsonl"
    stored = originals.keep(actor=actor, name=name, chunks=chunks(), most=MOST_RESULT)
    return _row(actor, purpose, stored, count, timezone.now() + KEPT)


def _answer(item: BatchItem, body: dict[str, Any] | None) -> dict[str, Any]:
    """200 for a closed decision, 202 for one that waits for a person, as the decision itself would answer."""
    row = cast("Decision", item.decision)
    return {
        "id": str(item.id),
        "custom_id": item.custom_id,
        "response": {
            "status_code": 200 if row.status in TERMINAL else 202,
            "request_id": str(row.id),
            "body": plain(told_of(row, body or {})),
        },
        "error": None,
    }


def _failure(item: BatchItem, body: dict[str, Any] | None) -> dict[str, Any]:
    row = item.decision
    response = None
    if row is not None:
        response = {
            "status_code": LATER.get(ItemStatus(item.status), 422),
            "request_id": str(row.id),
            "body": plain(told_of(row, body or {})),
        }
    return {
        "id": str(item.id),
        "custom_id": item.custom_id,
        "response": response,
        "error": {"code": item.cause or item.status, "status": item.status, "errors": item.detail},
    }


def _row(actor: Actor, purpose: FilePurpose, stored: Any, lines: int | None, delete_after: Any) -> BatchFile:
    row: BatchFile = BatchFile.objects.create(
        purpose=purpose,
        stored=stored,
        name=stored.name,
        size=stored.size,
        sha256=stored.sha256,
        lines=lines,
        delete_after=delete_after,
    )
    record(
        actor,
        InferenceTag.BATCH_FILE_KEPT,
        row,
        purpose=str(purpose),
        sha256=row.sha256,
        lines=lines,
        size=row.size,
    )
    return row
