"""The page of one application: the CV on the left with its cited places, the criteria and their verdicts on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from ats import selectors, services
from ats.models import Application, CriterionVerdict
from ats.permissions import AtsAction, AtsTag
from ats.states import Verdict, VerdictState
from ats.web.forms import OverrideForm
from ats.web.marks import Place, anchor, marked
from ats.web.rights import actor_of, may
from ats.web.views import error_words, line_of
from ats.web.words import hidden_words, rule_words
from inference.web.desk import reason_words
from inference.web.retelling import told
from inference.web.words import DECIDED_BY, word
from nekibu.approvals.models import ApprovalRequest
from nekibu.approvals.services import nonces_for
from nekibu.approvals.states import Status
from nekibu.audit.models import AuditEvent
from nekibu.errors import NekibuError
from nekibu.files.models import ParsedText
from nekibu.files.selectors import download
from nekibu.permissions.actor import Actor
from nekibu.users.access import page

PDF = "application/pdf"
TABS = ("text", "original", "hidden")
INLINE = {PDF, "text/plain"}
STATE_TONES = {
    VerdictState.WAITING: "", VerdictState.VERIFIED: "success", VerdictState.NEEDS_PERSON: "info", VerdictState.CONFIRMED: "success",
    VerdictState.OVERRIDDEN: "accent", VerdictState.FAILED: "error",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Quote:
    """A cited passage, and where its mark is."""

    piece: str
    text: str
    page: int | None
    against: bool
    anchor: str


@dataclass(frozen=True, slots=True)
class Item:
    """One criterion with everything that is known about its verdict."""

    row: CriterionVerdict
    quotes: tuple[Quote, ...]
    findings: tuple[str, ...]
    rule: str
    reasoning: str
    by: str
    tone: str
    proposed: str
    approval: ApprovalRequest | None
    nonce: str
    may_decide: bool
    key: str = field(default_factory=lambda: str(uuid4()))

    @property
    def asks(self) -> bool:
        """Whether a person has to say something."""
        return self.row.state in {VerdictState.NEEDS_PERSON, VerdictState.FAILED}


@page(AtsAction.APPLICATION_READ)
def application(request: HttpRequest, application_id: UUID) -> HttpResponse:
    """The CV beside the criteria."""
    actor = actor_of(request)
    rights, found = may(actor), selectors.application(application_id)
    line = line_of(found)
    parsed = (line.evaluation.parsed if line.evaluation else None) or found.cv.parsed
    items = _items(actor, line.verdicts)
    places = [p for item in items for p in _places(item, parsed)]
    is_pdf = bool(parsed and parsed.media_type == PDF)
    tab = request.GET.get("tab", "text")
    tab = tab if tab in TABS else "text"
    newer, older = _neighbours(found)
    return render(
        request,
        "ats/application.html",
        {
            "application": found,
            "line": line,
            "parsed": parsed,
            "items": items,
            "asking": sum(item.asks for item in items),
            "codes": Verdict.values,
            "hidden": _hidden(parsed) if parsed and tab == "hidden" else [],
            "tab": tab,
            "tabs": _tabs(request, parsed, tab),
            "text": marked(parsed.text, places, _starts(parsed) if rights.override else ())
            if parsed and tab == "text" and rights.read_cv
            else "",
            "boxes": _boxes(items, parsed) if is_pdf and tab == "original" else [],
            "is_pdf": is_pdf,
            "pieces": _numbered(parsed) if parsed and rights.override and rights.read_cv else [],
            "newer": newer,
            "older": older,
            "may": rights,
        },
    )


@page(AtsAction.CV_READ)
def original(request: HttpRequest, application_id: UUID) -> HttpResponse:
    """The CV as it came, byte by byte. In the page only what a browser shows without running anything."""
    cv = selectors.application(application_id).cv
    media_type = cv.parsed.media_type if cv.parsed else cv.file.media_type
    return download(cv.file, media_type, inline="inline" in request.GET and media_type in INLINE)


@require_POST
@page(AtsAction.VERDICT_OVERRIDE, POST=AtsAction.VERDICT_OVERRIDE)
def override(request: HttpRequest, verdict_id: UUID) -> HttpResponse:
    """A person's verdict in place of the machine's."""
    found = selectors.verdict(verdict_id)
    back = f"{reverse('ats-application', args=[found.evaluation.application_id])}#criterion-{found.id}"
    form = OverrideForm(request.POST)
    if not form.is_valid():
        for name, errors in form.errors.items():
            label = form.fields[name].label or name if name in form.fields else ""
            messages.error(request, f"{label}: {' '.join(map(str, errors))}")
        return HttpResponseRedirect(back)
    said = form.cleaned_data
    try:
        with transaction.atomic():
            services.override_verdict(
                actor=actor_of(request),
                verdict=found,
                said=said["verdict"],
                reason=said["reason"],
                pieces=form.evidence(request.POST.getlist("cited")),
                key=str(said["key"]),
            )
        messages.success(request, _("Your verdict stands. The machine's word stays in the record."))
    except NekibuError as refused:
        if refused.status not in {400, 409, 410, 422}:
            raise
        messages.error(request, error_words(refused))
    return HttpResponseRedirect(back)


def _items(actor: Actor, verdicts: Sequence[CriterionVerdict]) -> list[Item]:
    decisions = [str(v.decision_id) for v in verdicts if v.decision_id]
    waiting = {
        r.subject_id: r
        for r in ApprovalRequest.objects.filter(
            kind="inference.decision", subject_id__in=decisions, status=Status.PENDING
        )
    }
    settled = AuditEvent.objects.filter(
        tag=AtsTag.VERDICT_SETTLED, subject_id__in=[str(v.id) for v in verdicts]
    ).order_by("seq")
    people = {e.subject_id: str(e.actor.get("name", "")) for e in settled}
    nonces = nonces_for([r for r in waiting.values() if _open_to(actor, r)], actor)
    return [
        _item(actor, v, waiting.get(str(v.decision_id)), people.get(str(v.id), ""), nonces) for v in verdicts
    ]


def _open_to(actor: Actor, asked: ApprovalRequest) -> bool:
    return bool(set(asked.roles) & actor.roles or "admin" in actor.roles)


def _item(
    actor: Actor,
    row: CriterionVerdict,
    asked: ApprovalRequest | None,
    person: str,
    nonces: Mapping[UUID, str],
) -> Item:
    by = word(DECIDED_BY, row.decided_by) if row.decided_by else ""
    if row.decided_by == "person" and person:
        by = f"{by}: {person}"
    codes = [str(f.get("code", "")) for f in row.findings] + [
        str(r) for r in (asked.reasons if asked else [])
    ]
    return Item(
        row=row,
        quotes=tuple(
            Quote(
                str(e.get("piece", "")),
                str(e["quote"]),
                e.get("page"),
                bool(e.get("against")),
                anchor(e["start"], e["end"]),
            )
            for e in row.evidence
        ),
        findings=tuple(dict.fromkeys(reason_words(code) for code in codes if code)),
        rule=rule_words(row.criterion.rule) if row.criterion.method == "rule" else "",
        reasoning=told(row.reasoning)
        if any(map(str.isalnum, row.reasoning))
        else "",  # a weak model writes "..."
        by=by,
        tone=STATE_TONES.get(VerdictState(row.state), ""),
        proposed=str((row.proposal or {}).get("verdict", "")) if not row.verdict else "",
        approval=asked,
        nonce=nonces.get(asked.id, "") if asked else "",
        may_decide=asked is not None and asked.id in nonces,
    )


def _places(item: Item, parsed: ParsedText | None) -> list[Place]:
    """Only places in exactly this version of the text; another version's offsets would mark the wrong words."""
    if parsed is None:
        return []
    label = item.row.criterion.statement
    return [
        Place(e["start"], e["end"], bool(e.get("against")), label)
        for e in item.row.evidence
        if e.get("version", str(parsed.id)) == str(parsed.id)
    ]


def _boxes(items: Sequence[Item], parsed: ParsedText | None) -> list[dict[str, Any]]:
    return [
        {
            "id": anchor(e["start"], e["end"]),
            "page": e["page"],
            "bbox": e["bbox"],
            "tone": "counter" if e.get("against") else "evidence",
            "label": item.row.criterion.statement,
        }
        for item in items
        for e in item.row.evidence
        if e.get("bbox")
        and e.get("page")
        and parsed is not None
        and e.get("version", str(parsed.id)) == str(parsed.id)
    ]


def _hidden(parsed: ParsedText) -> list[dict[str, Any]]:
    return [
        {"text": h["text"], "page": h.get("page"), "words": hidden_words(h["reason"])} for h in parsed.hidden
    ]


def _starts(parsed: ParsedText) -> list[tuple[str, int]]:
    return [(f"E{n}", p["start"]) for n, p in enumerate(parsed.pieces, start=1)]


def _numbered(parsed: ParsedText) -> list[tuple[str, str]]:
    return [(f"E{n}", parsed.text[p["start"] : p["end"]][:80]) for n, p in enumerate(parsed.pieces, start=1)]


def _tabs(request: HttpRequest, parsed: ParsedText | None, current: str) -> list[dict[str, Any]]:
    hidden = len(parsed.hidden) if parsed else 0
    named = [
        ("text", _("Text"), "file-text", None),
        ("original", _("Original"), "file", None),
        ("hidden", _("Hidden"), "eye-off", hidden or None),
    ]
    return [
        {
            "url": f"{request.path}?tab={n}",
            "label": label,
            "icon": icon,
            "count": count,
            "current": n == current,
        }
        for n, label, icon, count in named
    ]


def _neighbours(of: Application) -> tuple[Application | None, Application | None]:
    """The applications before and after this one in the job's table (newest first)."""
    rows = Application.objects.filter(job_id=of.job_id).select_related("candidate")
    return rows.filter(id__gt=of.id).order_by("id").first(), rows.filter(id__lt=of.id).order_by("-id").first()
