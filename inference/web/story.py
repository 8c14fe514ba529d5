"""The stages of a decision as a person reads them: one sentence each, the figures behind it, the record behind those."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _

from inference.account import Account
from inference.models import DecisionStep
from inference.web.retelling import told
from inference.web.words import (
    BANDS,
    CAUSES,
    CHECKS,
    DATA_CLASSES,
    FIELD_KINDS,
    FINDINGS,
    KINDS,
    ORDERS,
    REMOVALS,
    ROUTE_REASONS,
    RULE_HITS,
    SEGMENTS,
    TIERS,
    TRUST,
    inside,
    sentence_case,
    word,
)
from nekibu.approvals.web.words import said_by
from nekibu.language.rates import format_rate

DOUBTS = ("ambiguous", "unconfirmed")  # older records do not count them


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a small table inside a stage."""

    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the page."""

    number: int
    title: str
    sentence: str
    icon: str
    seconds: float | None
    facts: tuple[tuple[str, str], ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()  # the recorded reasons


def stages_of(account: Account) -> list[Stage]:
    """The stages that ran, in the order of the path."""
    told = []
    for name, tell in _TELL.items():
        step = account.stages.get(name)
        if step is not None or name in {"generate", "checks", "approve"}:
            stage = tell(account, step)
            if stage is not None:
                told.append(stage)
    return [_numbered(stage, number) for number, stage in enumerate(told, start=1)]


def _numbered(stage: Stage, number: int) -> Stage:
    return Stage(
        number,
        stage.title,
        stage.sentence,
        stage.icon,
        stage.seconds,
        stage.facts,
        stage.head,
        stage.rows,
        tuple(map(told, stage.notes)),
    )


def _classify(account: Account, step: DecisionStep) -> Stage:
    risk = step.payload["risk"]
    return Stage(
        0,
        _("May this be asked, and what is at stake"),
        _("The right to ask was checked first. The risk class is %(risk)s.") % {"risk": risk},
        "shield-check",
        step.seconds,
        (
            (_("Risk"), risk),
            (_("Kind of data"), word(DATA_CLASSES, step.payload["data_class"])),
            (_("Task"), f"{step.payload['task']} v{step.payload['version']}"),
        ),
        notes=tuple(step.payload["reasons"]),
    )


def _retrieve(account: Account, step: DecisionStep) -> Stage:
    pieces, documents = step.payload["pieces"], step.payload["documents"]
    flagged = [p for p in pieces if p[7]]
    sentence = ngettext("%(n)s passage was read.", "%(n)s passages were read.", len(pieces)) % {
        "n": len(pieces)
    }
    sentence += " " + ngettext(
        "Source: %(n)s document version.", "Sources: %(n)s document versions.", len(documents)
    ) % {"n": len(documents)}
    if step.payload["flags"]:
        sentence += " " + _("Noticed: %(what)s.") % {
            "what": ", ".join(word(RULE_HITS, f) for f in step.payload["flags"])
        }
    return Stage(
        0,
        _("Which text was read"),
        sentence,
        "file-text",
        step.seconds,
        tuple((_("Document version"), str(version)) for _document, version in documents),
        (_("Passage"), _("Noticed")) if flagged else (),
        tuple(Row((p[0], ", ".join(word(RULE_HITS, f) for f in p[7]))) for p in flagged),
        tuple(step.payload["reasons"]),
    )


def _protect(account: Account, step: DecisionStep) -> Stage:
    return Stage(
        0,
        _("What must not change"),
        ngettext(
            "%(n)s figure, date, clause or identifier was marked; it must survive word for word.",
            "%(n)s figures, dates, clauses and identifiers were marked; they must survive word for word.",
            step.payload["fields"],
        )
        % {"n": step.payload["fields"]},
        "fingerprint",
        step.seconds,
        tuple(
            (word(FIELD_KINDS, kind), str(n))
            for kind, n in (
                *sorted(step.payload["kinds"].items()),
                *((doubt, step.payload[doubt]) for doubt in DOUBTS if step.payload.get(doubt)),
            )
        ),
    )


def _compress(account: Account, step: DecisionStep) -> Stage:
    p = step.payload
    selected = any(r["stage"] == "select" for r in p["removals"])
    tokens = {"before": _count(p["tokens_before"]), "after": _count(p["tokens_after"])}
    if p["state"] == "refused":
        sentence = _("The clean-up would have changed a protected figure, so the text was sent as it is.")
    elif selected:
        sentence = (
            _(
                "What the question does not need was left out, by whole sentences and passages: "
                "%(before)s tokens became %(after)s. Everything that must be there still is."
            )
            % tokens
        )
    elif p["removals"]:
        sentence = (
            _(
                "Only repetition was taken out: %(before)s tokens became %(after)s. Nothing protected was lost."
            )
            % tokens
        )
    else:
        sentence = _("There was nothing to clean up: %(n)s tokens.") % {"n": _count(p["tokens_before"])}
    rows = tuple(
        Row(
            (
                r["evidence_id"],
                word(REMOVALS, r["reason"]),
                f"{_count(r['start'])}–{_count(r['end'])}",
                r["kept"] or "–",
                _count(r["tokens"]),
            )
        )
        for r in p["removals"]
    )
    facts = [
        (_("Tokens before"), tokens["before"]),
        (_("Tokens after"), tokens["after"]),
        (_("Protected fields before and after"), f"{p['fields_before']} / {p['fields_after']}"),
    ]
    if p.get("budget") is not None:
        facts.append((_("Budget of the question, in tokens"), _count(p["budget"])))
    if p.get("retokenised"):
        facts.append((_("Tokens changed where the rest was joined"), _count(p["retokenised"])))
    return Stage(
        0, _("Clean-up"), sentence, "layers", step.seconds, tuple(facts),
        (_("Passage"), _("Reason"), _("Characters"), _("Kept instead"), _("Tokens")) if rows else (),
        rows, tuple(p["reasons"]),
    )  # fmt: skip


def _assemble(account: Account, step: DecisionStep) -> Stage:
    p = step.payload
    layout = p.get("layout")  # older records hold no order but that of the document
    rows, at = [], 0
    for s in p["segments"]:
        belongs = _("shared by all cases") if s["static"] else _("this case")
        rows.append(
            Row((word(SEGMENTS, s["kind"]), belongs, _count(s["tokens"]), _share(at, p["total_tokens"])))
        )
        at += s["tokens"]
        if s["kind"] == "evidence" and layout and layout["mode"] == "edges":
            rows += [Row((piece, belongs, "", _percent(place))) for piece, place in layout["positions"]]
    facts = [
        (_("Room in the model"), _count(p["limit"])), (_("Prompt version"), p["prompt_version"]), (_("Template"), p["renderer"]),
        (_("Fingerprint of the shared part"), p["prefix_hash"][:16]), (_("Fingerprint with the document"), p["share_hash"][:16]),
    ]  # fmt: skip
    if layout:
        facts += [
            (_("Order of the passages"), word(ORDERS, layout["reason"])),
            (_("Tokens that the next question can share: in document order"), _count(layout["shared_if_document"])),
            (_("Tokens that the next question can share: best at the edges"), _count(layout["shared_if_edges"])),
        ]  # fmt: skip
    return Stage(
        0,
        _("What the model was given"),
        _(
            "%(total)s tokens: the shared part first (%(prefix)s), then the document, the question last. Nothing was cut."
        )
        % {"total": _count(p["total_tokens"]), "prefix": _count(p["prefix_tokens"])},
        "clipboard-list",
        step.seconds,
        tuple(facts),
        (_("Part"), _("Belongs to"), _("Tokens"), _("Begins at")),
        tuple(rows),
    )


def _share(part: int, whole: int) -> str:
    return _percent(part / whole if whole else 0.0)


def _percent(share: float) -> str:
    return format_rate(Decimal(round(100 * share)), "tr" if get_language() == "tr" else "en")


def _key(account: Account, step: DecisionStep) -> Stage:
    space = step.payload["namespace"]
    salt = next((a.salt_id for a in reversed(account.attempts) if a.salt_id), "")
    if step.payload["mode"] == "isolated":
        sentence = _("Only inside this tenant, and only among those with the same rights.")
    else:
        sentence = _("Nobody: a one-time salt was used.")
    rows = (
        Row((_("Tenant"), space["tenant"])),
        Row((_("Class of rights"), word(TRUST, space["trust_class"]))),
        Row((_("Epoch of rights"), space["acl_epoch"])),
        Row((_("Salt id (never the salt)"), salt or "–")),
    )
    return Stage(
        0,
        _("Who may share the computed prefix"),
        sentence,
        "key",
        step.seconds,
        ((_("Key scheme"), step.payload["scheme"]),),
        (_("Part of the namespace"), _("Value")),
        rows,
        tuple(step.payload["reasons"]),
    )


def _route(account: Account, step: DecisionStep) -> Stage:
    route = step.payload["route"]
    sentence = f"{sentence_case(word(TIERS, route['tier']))}. {word(ROUTE_REASONS, route['reason'])}"
    return Stage(
        0,
        _("Who answers"),
        sentence,
        "route",
        step.seconds,
        ((_("Rules that applied"), ", ".join(word(RULE_HITS, h) for h in route["rule_hits"]) or "–"),
         (_("A person must agree"), _("yes") if route["needs_approval"] else _("no")), (_("Rule set"), route["policy_version"])),
        notes=tuple(step.payload["solver_reasons"]),
    )  # fmt: skip


def _schedule(account: Account, step: DecisionStep) -> Stage | None:
    plan = step.payload["schedule"]
    if account.decision.tier in {"rules", "person"}:
        return None
    return Stage(
        0,
        _("When"),
        _("Urgency: %(band)s.") % {"band": word(BANDS, plan["band"])},
        "clock",
        step.seconds,
        ((_("May wait up to"), _("%(n)s min") % {"n": round(plan["queue_ttl"] / 60)}),),
        notes=tuple(plan["reasons"]),
    )


def _generate(account: Account, step: DecisionStep | None) -> Stage | None:
    if not account.attempts:
        return None
    last = account.attempts[-1]
    n = len(account.attempts)
    sentence = ngettext("%(n)s attempt was made", "%(n)s attempts were made", n) % {"n": n}
    sentence += f": {', '.join(word(KINDS, a.kind) for a in account.attempts)}."
    refused = [s for s in account.steps if s.stage == "refused"]
    return Stage(
        0,
        _("The model's answer"),
        sentence,
        "bot",
        sum(s for a in account.attempts for s in (a.prefill, a.decode) if s is not None) or None,
        ((_("Engine"), last.engine or "–"), (_("Model"), last.model.rstrip("/").rsplit("/", 1)[-1] or "–"), (_("Revision"), last.model_revision[:20] or "–")),
        notes=tuple(word(CAUSES, s.payload["code"]) for s in refused),
    )  # fmt: skip


def _checks(account: Account, step: DecisionStep | None) -> Stage | None:
    if not account.checks:
        return None
    last = max(c.seq for c in account.checks)
    newest = [
        c
        for c in account.checks
        if (c.round, c.attempt_no) == next((d.round, d.attempt_no) for d in account.checks if d.seq == last)
    ]
    failed = [c for c in newest if not c.passed]
    if failed:
        sentence = _("Not everything held: %(what)s.") % {
            "what": ", ".join(inside(word(CHECKS, c.name)) for c in failed)
        }
    else:
        sentence = _("Every check held: %(n)s of %(n)s.") % {"n": len(newest)}
    rows = []
    for check in account.checks:
        found = "; ".join(dict.fromkeys(word(FINDINGS, f["code"]) for f in check.findings)) or "–"
        rows.append(
            Row(
                (
                    str(check.attempt_no or "–"),
                    word(CHECKS, check.name),
                    _("held") if check.passed else _("did not hold"),
                    found,
                )
            )
        )
    seconds = [s.seconds for s in account.steps if s.stage == "checks" and s.seconds is not None]
    return Stage(
        0, _("Checks"), sentence, "list-checks", sum(seconds) or None, (),
        (_("Attempt"), _("Check"), _("Result"), _("Noticed")), tuple(rows),
    )  # fmt: skip


def _approve(account: Account, step: DecisionStep | None) -> Stage | None:
    request = account.approval
    if request is None:
        return None
    words = list(request.verdicts.all())
    if words:
        last = words[-1]
        said = {
            "approve": _("agreed"),
            "change": _("changed the answer"),
            "reject": _("rejected the answer"),
        }[last.verdict]
        sentence = _("%(who)s %(did)s: “%(why)s”") % {
            "who": said_by(last),
            "did": said,
            "why": last.reason,
        }
    else:
        sentence = _("A person has been asked; nobody has decided yet. Time running out never approves.")
    reasons = [word(FINDINGS, r) if r in FINDINGS else word(ROUTE_REASONS, r) for r in request.reasons]
    return Stage(
        0,
        _("A person's word"),
        sentence,
        "user-check",
        None,
        (
            (_("Asked because"), " ".join(reasons) or "–"),
            (_("Fingerprint of what was decided"), request.params_hash[:16]),
        ),
    )


def _count(value: Any) -> str:
    return "–" if value is None else number_format(value, 0, force_grouping=True)


_TELL: dict[str, Any] = {
    "classify": _classify,
    "retrieve": _retrieve,
    "protect": _protect,
    "compress": _compress,
    "assemble": _assemble,
    "key": _key,
    "route": _route,
    "schedule": _schedule,
    "generate": _generate,
    "checks": _checks,
    "approve": _approve,
}
