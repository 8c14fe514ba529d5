"""Pages of batches: the list, a file before it is started, and one batch as it goes on."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inference import registry
from inference.batches import lines, selectors, services
from inference.batches.files import JSONL, FileDeleted
from inference.models import Batch
from inference.permissions import InferenceAction
from inference.states import BATCH_CLOSED, BATCH_MOVES, BatchStatus, FilePurpose, ItemStatus, Window
from inference.web.desk import reason_words
from inference.web.operations.filters import actor_of, scope_of, tabs
from inference.web.words import BATCH_TONE, ITEM_CAUSES, word
from nekibu.errors import Conflict, InvalidInput, NotFound, TooLarge
from nekibu.files.ranges import resumable
from nekibu.files.selectors import verified
from nekibu.permissions.policies import decide, require
from nekibu.users.access import page

PER_PAGE = 30
SHOWN = 100  # errors of a file


class StartForm(forms.Form):
    """How long a batch may take, and what people call it."""

    window = forms.ChoiceField(
        label=gettext_lazy("It may take"),
        choices=Window.choices,
        initial=Window.DAY,
        widget=forms.RadioSelect,
        help_text=gettext_lazy("What has no answer by then ends without one; what was answered stays."),
    )
    name = forms.CharField(label=gettext_lazy("Name"), max_length=120, required=False)


class RetryForm(forms.Form):
    """How long the failed ones may take."""

    window = forms.ChoiceField(choices=Window.choices)


@page(InferenceAction.BATCH_READ, POST=InferenceAction.BATCH_CREATE)
def batches(request: HttpRequest) -> HttpResponse:
    """Batches, newest first; a POST keeps a file of questions and shows what would be asked."""
    actor = actor_of(request)
    wrong = ""
    if request.method == "POST":
        upload = request.FILES.get("file")
        if upload is None:
            wrong = _("Choose a file first.")
        else:
            try:
                with transaction.atomic():
                    held = services.keep_file(actor=actor, name=upload.name or "", chunks=upload.chunks())
            except (InvalidInput, TooLarge) as refused:
                wrong = str(refused.message)
            else:
                return HttpResponseRedirect(reverse("batch-check", args=[held.id]))
    rows = selectors.batches_for(actor)
    after = _uuid(request.GET.get("after", ""))
    if after is not None:
        rows = rows.filter(id__lt=after)
    found = list(rows[: PER_PAGE + 1])
    shown = found[:PER_PAGE]
    counts = selectors.counts_of(shown)
    return render(
        request,
        "inference/batches/list.html",
        {
            "tabs": tabs(scope_of(request), "batches"),
            "lines": [_line(row, counts[row.id]) for row in shown],
            "next": f"?after={shown[-1].id}" if len(found) > PER_PAGE else "",
            "may_start": bool(decide(actor, InferenceAction.BATCH_CREATE)),
            "wrong": wrong,
        },
        status=400 if wrong else 200,
    )


@page(InferenceAction.BATCH_CREATE)
def check(request: HttpRequest, file_id: UUID) -> HttpResponse:
    """A kept file: what it would ask, and which lines cannot be asked. A POST starts the batch."""
    actor = actor_of(request)
    held = selectors.file_for(actor, file_id)
    if held.purpose != FilePurpose.INPUT:
        raise NotFound
    if held.deleted_at is not None:
        raise FileDeleted
    form = StartForm(request.POST) if request.method == "POST" else StartForm()
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"].strip()
        window = Window(form.cleaned_data["window"])
        started = services.start(
            actor=actor, file_id=held.id, window=window, metadata={"name": name} if name else {}
        )
        messages.success(request, _("The batch was started."))
        return HttpResponseRedirect(reverse("batch", args=[started.id]))
    with verified(held.stored).open("rb") as file:
        good, bad = services.sort(lines.questions(file, actor))
    return render(
        request,
        "inference/batches/check.html",
        {
            "file": held,
            "form": form,
            "questions": len(good),
            "tasks": _tasks(good),
            "errors": bad[:SHOWN],
            "wrong_lines": len({e.line for e in bad}),
            "more": max(0, len(bad) - SHOWN),
        },
        status=400 if form.is_bound else 200,
    )


@page(InferenceAction.BATCH_READ)
def batch(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """One batch: how far it is, what it has cost, how long the rest may take, why some have no answer."""
    actor = actor_of(request)
    row = selectors.batch_for(actor, batch_id)
    progress = selectors.progress_of(row)
    moves = BATCH_MOVES.get(row.status, frozenset())
    control = bool(decide(actor, InferenceAction.BATCH_CONTROL))
    create = bool(decide(actor, InferenceAction.BATCH_CREATE))
    again = sum(progress.counts[status] for status in services.AGAIN)
    return render(
        request,
        "inference/batches/batch.html",
        {
            "row": row,
            "title": _name(row),
            "tone": BATCH_TONE.get(row.status, "info"),
            "progress": progress,
            "failures": [
                {**one, "state": ItemStatus(one["status"]).label, "words": _cause(one["cause"])}
                for one in selectors.failures_of(row)
            ],
            "closed": row.status in BATCH_CLOSED,
            "reading": row.status == BatchStatus.VALIDATING,
            "refused": row.status == BatchStatus.FAILED,
            "more_errors": max(0, row.error_count - len(row.errors)),
            "may_pause": control and BatchStatus.PAUSED in moves,
            "may_resume": control and row.status == BatchStatus.PAUSED,
            "may_cancel": control and BatchStatus.CANCELLING in moves,
            "may_retry": row.status in BATCH_CLOSED
            and again > 0
            and row.input_file.deleted_at is None
            and create,
            "again": again,
            "may_control": control,
            "may_create": create,
            "without": progress.ended - progress.counts[ItemStatus.DONE],
            "keep_until": next(
                (f.delete_after for f in (row.output_file, row.error_file) if f is not None), None
            ),
            "windows": Window.choices,
        },
    )


@page(InferenceAction.BATCH_CONTROL)
def pause(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Hold it."""
    return _act(
        request, batch_id, services.pause, _("Paused. What is being answered will still be answered.")
    )


@page(InferenceAction.BATCH_CONTROL)
def resume(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Let it go on."""
    return _act(request, batch_id, services.resume, _("It goes on."))


@page(InferenceAction.BATCH_CONTROL)
def cancel(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Stop it."""
    return _act(request, batch_id, services.cancel, _("It is being stopped. What was answered stays."))


@page(InferenceAction.BATCH_CREATE)
def retry(request: HttpRequest, batch_id: UUID) -> HttpResponse:
    """Ask what has no answer again, as a batch of its own."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    old = selectors.batch_for(actor_of(request), batch_id)
    form = RetryForm(request.POST)
    window = Window(form.cleaned_data["window"] if form.is_valid() else old.window)
    try:
        with transaction.atomic():
            made = services.retry(actor=actor_of(request), batch_id=batch_id, window=window)
    except Conflict as refused:
        messages.error(request, _(refused.message))
        return HttpResponseRedirect(reverse("batch", args=[batch_id]))
    messages.success(request, _("A new batch asks them again."))
    return HttpResponseRedirect(reverse("batch", args=[made.id]))


@page(InferenceAction.BATCH_READ)
def answers(request: HttpRequest, batch_id: UUID) -> HttpResponseBase:
    """The answers as a file."""
    return _download(request, batch_id, "output_file")


@page(InferenceAction.BATCH_READ)
def failures(request: HttpRequest, batch_id: UUID) -> HttpResponseBase:
    """What has no answer, as a file."""
    return _download(request, batch_id, "error_file")


def _download(request: HttpRequest, batch_id: UUID, part: str) -> HttpResponseBase:
    require(actor_of(request), InferenceAction.DECISION_READ)
    held = getattr(selectors.batch_for(actor_of(request), batch_id), part)
    if held is None:
        raise NotFound
    if held.deleted_at is not None:
        raise FileDeleted
    return resumable(request, held.stored, JSONL, held.name)


def _act(request: HttpRequest, batch_id: UUID, act: Any, said: str) -> HttpResponse:
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    try:
        with transaction.atomic():
            act(actor=actor_of(request), batch_id=batch_id)
    except Conflict:
        messages.error(
            request, _("The batch has moved on since you opened the page. It is shown as it is now.")
        )
    else:
        messages.success(request, said)
    return HttpResponseRedirect(reverse("batch", args=[batch_id]))


def _line(row: Batch, counts: dict[str, int]) -> dict[str, Any]:
    ended = sum(counts[status] for status in selectors.ENDED)
    return {
        "row": row,
        "title": _name(row),
        "tone": BATCH_TONE.get(row.status, "info"),
        "ended": ended,
        "without": sum(counts[s] for s in selectors.ENDED if s != ItemStatus.DONE),
    }


def _name(row: Batch) -> str:
    return str(row.metadata.get("name") or row.input_file.name)


def _tasks(good: list[lines.Question]) -> list[tuple[str, int]]:
    counted: dict[str, int] = {}
    for one in good:
        counted[one.spec.slug] = counted.get(one.spec.slug, 0) + 1
    titles = {spec.slug: _(spec.title) for spec in registry.registered()}
    return sorted((titles[slug], n) for slug, n in counted.items())


def _cause(code: str) -> str:
    return word(ITEM_CAUSES, code) if code in ITEM_CAUSES else reason_words(code)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
