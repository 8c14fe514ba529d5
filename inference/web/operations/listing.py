"""The list of the decisions behind a figure, and from each the way to its trace."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from inference import registry
from inference.ledger.asking import wrong
from inference.ledger.behind import FIGURES, LIMITS, OVERRIDES, decisions_behind
from inference.permissions import InferenceAction
from inference.web.desk import asked as questions_of
from inference.web.operations import drawn
from inference.web.operations.filters import actor_of, only_query, scope_of, value_word
from inference.web.words import DECIDED_BY, DIMENSION_NAMES, FIGURE_WORDS, STATUS_TONE, word
from nekibu.users.access import page

PER_PAGE = 50


@page(InferenceAction.ACCOUNT_READ)
def decisions(request: HttpRequest) -> HttpResponse:
    """The decisions behind a figure, newest first; from each the way to its trace."""
    scope = scope_of(request)
    asked = request.GET
    figure, time = asked.get("figure", "decisions"), asked.get("time", "")
    if figure not in FIGURES and figure != OVERRIDES:
        raise wrong("figure", _("There is no such figure."))
    if time and time not in LIMITS:
        raise wrong("time", _("There is no such time."))
    over, under = (_seconds(asked, name) for name in ("over", "under"))
    rows = decisions_behind(actor_of(request), scope.cut, figure, time, over, under)
    after = _uuid(asked.get("after", ""))
    if after is not None:
        rows = rows.filter(id__lt=after)
    found = list(rows[: PER_PAGE + 1])
    shown = found[:PER_PAGE]
    titles = {spec.slug: _(spec.title) for spec in registry.registered()}
    questions = questions_of(shown)
    following = ""
    if len(found) > PER_PAGE:
        following = f"?{only_query(asked)}&after={shown[-1].id}"
    return render(
        request,
        "inference/operations/decisions.html",
        {
            "scope": scope,
            "figure": word(FIGURE_WORDS, figure),
            "limit": {"part": drawn.part_word(time), "over": over, "under": under} if time else None,
            "chosen": [
                (word(DIMENSION_NAMES, name), ", ".join(value_word(name, value) for value in values))
                for name, values in scope.cut.only.items()
            ],
            "lines": [
                {
                    "row": row,
                    "title": questions.get(row.id) or titles.get(row.task, row.task),
                    "tone": STATUS_TONE.get(row.status, "info"),
                    "decided_by": word(DECIDED_BY, row.decided_by) if row.decided_by else "–",
                }
                for row in shown
            ],
            "next": following,
        },
    )


def _seconds(asked: Any, name: str) -> float | None:
    text = asked.get(name)
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        raise wrong(name, _("Give a number of seconds.")) from None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
