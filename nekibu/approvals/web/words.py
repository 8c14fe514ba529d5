"""What the inbox says: how long something waits, what a person is told, why something was refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from nekibu.approvals.authority import approvals_of
from nekibu.approvals.models import ApprovalRequest, Notice, Verdict
from nekibu.approvals.registry import desk_of
from nekibu.approvals.states import NoticeKind
from nekibu.errors import NekibuError
from nekibu.permissions.actor import Actor

SOON = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Chip:
    """A small mark beside a question."""

    text: str
    tone: str = ""
    icon: str = ""
    title: str = ""


def refusal_words(refused: NekibuError) -> str:
    """Why something was refused, for a person."""
    named = [str(e["message"]) for e in refused.data.get("errors", [])]
    return " ".join(named) or _(refused.message)


def span(amount: timedelta) -> str:
    """A waiting time in its largest unit: 5 min, 3 h, 2 days."""
    seconds = max(int(amount.total_seconds()), 0)
    if seconds < 60:
        return _("less than a minute")
    if seconds < 3600:
        return ngettext("%(n)s minute", "%(n)s minutes", seconds // 60) % {"n": seconds // 60}
    if seconds < 2 * 86400:
        return ngettext("%(n)s hour", "%(n)s hours", seconds // 3600) % {"n": seconds // 3600}
    return ngettext("%(n)s day", "%(n)s days", seconds // 86400) % {"n": seconds // 86400}


def day(moment: datetime) -> str:
    """A moment as date and time, without a full stop of its own: it may end a sentence."""
    local = timezone.localtime(moment)
    return f"{date_format(local, 'SHORT_DATE_FORMAT')} {date_format(local, 'H:i')}"


def said_by(word: Verdict) -> str:
    """Whose word it is: a name, and for whom it was spoken."""
    if word.on_behalf_of is None:
        return word.person.name
    return _("%(name)s for %(principal)s") % {"name": word.person.name, "principal": word.on_behalf_of.name}


def end_chip(row: ApprovalRequest, now: datetime) -> Chip | None:
    """When time runs out; louder in the last day."""
    end = row.expires_at or row.due_at
    if end is None:
        return None
    if end <= now:
        return Chip(_("time is over"), "error", "hourglass", day(end))
    text = (_("expires in %(time)s") if row.expires_at else _("due in %(time)s")) % {"time": span(end - now)}
    return Chip(text, "warning" if end - now <= SOON else "", "hourglass", day(end))


def chips(row: ApprovalRequest, actor: Actor, now: datetime) -> list[Chip]:
    """What has to be seen at a glance: in whose hands, how many agreed, how risky, how late."""
    found = []
    if row.assignee is not None:
        mine = row.assignee_id == actor.user_id
        found.append(
            Chip(_("given to you") if mine else row.assignee.name, "primary" if mine else "", "user-check")
        )
    if row.quorum > 1:
        found.append(_quorum_chip(row))
    if row.step_up:
        found.append(Chip(_("high risk"), "error", "shield-alert", _("Your password is asked once more.")))
    if row.reminded_at is not None:
        found.append(Chip(_("reminded"), "warning", "bell", day(row.reminded_at)))
    end = end_chip(row, now)
    return [*found, end] if end else found


def _quorum_chip(row: ApprovalRequest) -> Chip:
    return Chip(
        _("%(n)s of %(quorum)s agreed") % {"n": approvals_of(row), "quorum": row.quorum}, "info", "users"
    )


def notice_words(notices: Sequence[Notice], questions: dict[UUID, str]) -> list[tuple[Notice, str]]:
    """Each notice as a sentence."""
    return [
        (notice, _notice(notice, questions.get(notice.request_id or UUID(int=0), ""))) for notice in notices
    ]


def _notice(notice: Notice, question: str) -> str:
    facts, n = notice.facts, int(notice.facts.get("n", 1))
    by = str(facts.get("by", ""))
    if notice.kind == NoticeKind.GIVEN and not question:
        return ngettext("%(by)s gave you %(n)s question.", "%(by)s gave you %(n)s questions.", n) % {
            "by": by,
            "n": n,
        }
    if notice.kind == NoticeKind.GIVEN:
        return _("%(by)s gave you a question: %(question)s") % {"by": by, "question": question}
    if notice.kind == NoticeKind.HANDED:
        return _("%(by)s asks you to decide in their name: %(question)s") % {"by": by, "question": question}
    if notice.kind == NoticeKind.DELEGATED:
        return _("%(by)s has handed their questions over to you until %(until)s.") % {
            "by": by,
            "until": day(datetime.fromisoformat(facts["until"])),
        }
    if notice.kind == NoticeKind.DELEGATION_ENDED:
        return _("%(by)s has ended a delegation between you.") % {"by": by}
    if notice.kind == NoticeKind.SPOKEN_FOR:
        return _("%(by)s decided in your name: %(question)s") % {"by": by, "question": question}
    if notice.kind == NoticeKind.ASKED_AGAIN and by:
        return _("%(by)s changed what you had agreed to, so it is asked again: %(question)s") % {
            "by": by,
            "question": question,
        }
    if notice.kind == NoticeKind.ASKED_AGAIN:
        return _("What you had agreed to is not so any more, and it is asked again: %(question)s") % {
            "question": question
        }
    if notice.kind == NoticeKind.EXPIRED:
        return ngettext(
            "%(n)s question expired without an answer. Time running out never approves.",
            "%(n)s questions expired without an answer. Time running out never approves.",
            n,
        ) % {"n": n}
    oldest = span(timezone.now() - datetime.fromisoformat(facts["oldest"]))
    return ngettext(
        "Reminder: %(n)s question waits for you, for %(time)s.",
        "Reminder: %(n)s questions wait for you, the oldest for %(time)s.",
        n,
    ) % {"n": n, "time": oldest}


def questions_of(rows: Sequence[ApprovalRequest]) -> dict[UUID, str]:
    """What is asked, one call for each kind; the title where a kind has no better words."""
    said = {row.id: row.title for row in rows}
    for kind in dict.fromkeys(row.kind for row in rows):
        said |= desk_of(kind).questions([row for row in rows if row.kind == kind])
    return said


def reasons_of(row: ApprovalRequest) -> list[str]:
    """Why a person is asked, in words."""
    return list(dict.fromkeys(desk_of(row.kind).reason(code) for code in row.reasons if code))


def exactly(value: Any) -> str:
    """A value of the parameters as it stands there."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
