"""The path of a decision on one page: the only file that knows the order of the stages."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import uuid4

from django.utils import timezone

from inference.cache_key import cache_key, trust_class
from inference.checks import Answer, run_checks
from inference.classify import Classified
from inference.compression import Selection, compress, relevance, selection_for
from inference.context import build_context, repair_tail
from inference.protected import clauses, extract, locales, numbers, scan
from inference.reasons import Noted
from inference.registry import TaskSpec
from inference.retrieval import retrieve
from inference.router import Situation, choose_route
from inference.scheduling import schedule
from inference.selectors import acl_epoch
from inference.tokens import Tokenizer
from inference.trace import Trace
from inference.types import (
    AttemptKind,
    CacheKey,
    CheckReport,
    Citation,
    Completion,
    ContextPackage,
    Evidence,
    Finding,
    Prompt,
    Route,
    Schedule,
    Solved,
    Subject,
    TaskProfile,
    TaskRequest,
)
from inference.wire import EngineState, Ticket

T = TypeVar("T")
Build = Callable[[tuple[Evidence, ...], Mapping[str, float] | None], ContextPackage]


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is known before a model is asked."""

    request: TaskRequest
    spec: TaskSpec
    subject: Subject
    profile: TaskProfile
    evidence: tuple[Evidence, ...]
    package: ContextPackage
    key: CacheKey
    route: Route
    plan: Schedule
    solved: Solved | None
    figures: frozenset[str]
    schema_text: str


@dataclass(frozen=True, slots=True)
class Attempting:
    """One attempt that is to be made."""

    kind: AttemptKind
    ticket: Ticket

    def again(self) -> Attempting:
        """The same attempt under a new id, after a crash."""
        return replace(self, ticket=replace(self.ticket, attempt_id=uuid4().hex))


def prepare(
    request: TaskRequest, asked: Classified, engine: EngineState, tokenizer: Tokenizer, trace: Trace
) -> Prepared:
    """Classify → retrieve → protect → compress → assemble → key → route → schedule; each step with its reasons."""
    spec, subject, profile = asked.spec, asked.subject, asked.profile
    trace.step(
        "classify",
        risk=profile.risk,
        data_class=profile.data_class,
        spec_hash=profile.spec_hash,
        task=spec.slug,
        version=spec.version,
        flags=profile.flags,
        opt_out=profile.ai_opt_out,
        actor=profile.actor_digest,
        reasons=profile.reasons,
        policy=profile.policy,
    )

    found, seconds = timed(lambda: retrieve(spec, request, subject))
    flags = profile.flags | found.flags
    sharing = trust_class(
        found.pieces, restricted=profile.data_class == "restricted", actor_id=str(request.actor.user_id or "")
    )
    profile = replace(profile, flags=flags, trust_class=sharing, acl_epoch=acl_epoch(sharing))
    trace.step(
        "retrieve",
        seconds,
        documents=found.documents,
        flags=found.flags,
        reasons=found.reasons,
        pieces=[
            [p.id, p.document_id, p.version_id, p.start, p.end, p.page, p.score, list(p.findings)]
            for p in found.pieces
        ],
    )

    writings = locales(found.pieces)  # decided once: what is left after the clean-up is read the same way
    fields, seconds = timed(lambda: extract(found.pieces, writings))
    trace.step(
        "protect",
        seconds,
        fields=len(fields),
        kinds=_counted(f.kind for f in fields),
        ambiguous=sum(f.ambiguous for f in fields),
        unconfirmed=sum(f.grade != "exact" for f in fields),
        writings=sorted(set(writings.values())),
    )

    def count(text: str) -> int:
        return len(tokenizer.encode(text, data=True))

    prompt = spec.prompt(request, subject)
    build = _builder(spec, prompt, engine, tokenizer)
    selection = (
        _selection(spec, profile, prompt, found.pieces, build) if spec.compression == "select" else None
    )
    small, seconds = timed(
        lambda: compress(
            found.pieces,
            fields,
            mode=spec.compression,
            extract=lambda pieces: extract(pieces, writings),
            count=count,
            cut=clauses,
            selection=selection,
        )
    )
    trace.step(
        "compress",
        seconds,
        state=small.state,
        reasons=small.reasons,
        tokens_before=small.tokens_before,
        tokens_after=small.tokens_after,
        fields_before=small.fields_before,
        fields_after=small.fields_after,
        removals=small.removals,
        retokenised=small.retokenised,
        budget=small.budget,
    )

    package, seconds = timed(lambda: build(small.evidence, _fit(spec, small.evidence, prompt)))
    trace.step(
        "assemble",
        seconds,
        prompt_version=spec.prompt_version,
        renderer=package.renderer_version,
        template=package.template,
        tokenizer=package.tokenizer_id.rsplit("/", 1)[-1],
        prefix_hash=package.prefix_hash,
        prefix_tokens=package.prefix_tokens,
        share_hash=package.share_hash,
        share_tokens=package.share_tokens,
        total_tokens=package.total_tokens,
        limit=package.limit,
        too_large=package.too_large,
        order_mode=package.layout.mode,
        layout=package.layout,
        segments=_segments(package),
    )

    key = cache_key(
        tenant=str(request.tenant_id),
        trust_class=profile.trust_class,
        acl_epoch=profile.acl_epoch,
        policy=spec.policy.cache,
    )
    trace.step("key", scheme=key.scheme, namespace=key.kv, mode=key.mode, reasons=key.reasons)

    solved, seconds = timed(
        lambda: spec.solve(request, subject, found.pieces) if spec.solve and not profile.ai_opt_out else None
    )
    route = choose_route(
        Situation(
            ai_opt_out=profile.ai_opt_out,
            human_only="human_only" in flags,
            sources_required=spec.sources_required,
            pieces=len(found.pieces),
            solved=solved is not None,
            too_large=package.too_large,
            risk=profile.risk,
            adverse=spec.adverse_effect_on_person,
            flags=flags,
            tiers=spec.tiers,
            min_tier=spec.min_tier,
            approval=spec.policy.approval.mode,
        )
    )
    trace.step(
        "route",
        seconds,
        route=route,
        solver=solved.rule if solved else None,
        solver_reasons=solved.reasons if solved else (),
    )

    plan = schedule(
        spec.policy, request.mode, now=timezone.now(), deadline_at=request.deadline_at, device=engine.device
    )
    trace.step("schedule", schedule=plan)
    # What a rule read was the text as it was found; what a model read is the text as it was sent.
    evidence = found.pieces if route.tier == "rules" else small.evidence
    figures = (
        numbers(fields)
        | numbers(scan(prompt.question))
        | numbers(f for _, text in prompt.static for f in scan(text))
    )
    return Prepared(
        request, spec, subject, profile, evidence, package, key, route, plan, solved, figures, ordered(spec)
    )


def first_attempt(prepared: Prepared, decision_id: str) -> Attempting:
    """The primary attempt: greedy, within the task's budget."""
    return Attempting(
        "primary",
        _ticket(
            prepared,
            decision_id,
            tuple(prepared.package.input_ids),
            prepared.spec.policy.budget.max_out,
            first=True,
        ),
    )


def next_attempt(
    prepared: Prepared,
    report: CheckReport,
    done: Completion,
    decision_id: str,
    tokenizer: Tokenizer,
    made: int,
) -> Attempting | None:
    """What may still be tried after a failed check: one repair of the form, one rerun with more room; never for sources."""
    policy, package = prepared.spec.policy, prepared.package
    if made >= policy.retry.max_attempts:
        return None
    if report.verdict == "truncated":
        room = package.limit + policy.budget.max_out - package.total_tokens
        larger = min(2 * done.max_out, room)
        if larger <= done.max_out:
            return None
        return Attempting("repair", _ticket(prepared, decision_id, tuple(package.input_ids), larger))
    if report.verdict == "repairable" and policy.retry.repair and done.kind == "primary":
        codes = "; ".join(
            f"{f.code} {f.pointer or '/'} {f.data.get('keyword', f.data.get('what', ''))}"
            for f in report.findings
        )
        tail = repair_tail(
            tokenizer, done.text, f"The answer was refused: {codes}. Answer again with the JSON object only."
        )
        if package.total_tokens + len(tail) > package.limit:
            return None
        return Attempting(
            "repair", _ticket(prepared, decision_id, (*package.input_ids, *tail), policy.budget.max_out)
        )
    return None


def put_off(prepared: Prepared) -> Schedule:
    """The schedule of a decision whose promise could not be kept: the batch clock, for the reason that it says."""
    request, plan = prepared.request, prepared.plan
    later = schedule(prepared.spec.policy, "batch", now=timezone.now(), deadline_at=request.deadline_at)
    return replace(later, reasons=(Noted.PUT_OFF.say(seconds=f"{plan.ttft or 0:.0f}"), *later.reasons))


def finish(prepared: Prepared, completion: Completion, trace: Trace) -> CheckReport:
    """Check one answer, of a model or of a rule, and record what was found."""
    value = (
        prepared.solved.value if prepared.solved is not None and completion.served_from == "rules" else None
    )
    if completion.finish in {"abort", "error"}:
        failure = Finding("GENERATION_FAILED", "generation", "escalate", data={"cause": completion.cause})
        report = CheckReport("escalate", (failure,), None, (), 0, 0, 0.0, (("generation", False),))
    else:
        report = run_checks(
            Answer(
                prepared.spec,
                prepared.request,
                prepared.subject,
                prepared.evidence,
                completion,
                value,
                prepared.figures,
                numbers,
                scan,
            )
        )
    trace.checks(report, completion.attempt_no)
    return report


def weigh(
    prepared_for: TaskSpec,
    request: TaskRequest,
    subject: Subject,
    value: Mapping[str, Any],
    evidence: tuple[Evidence, ...],
) -> tuple[Mapping[str, Any], tuple[Citation, ...], bool]:
    """A person's answer against the same schema, sources and evidence rule: what stands, and whether all of it does."""
    text = json.dumps(dict(value))
    done = Completion("", 0, "primary", text, "stop", served_from="rules")
    spec = replace(prepared_for, rules=(), free_text_paths=())
    report = run_checks(Answer(spec, request, subject, evidence, done, value))
    return report.value or value, report.citations, report.valid


def ordered(spec: TaskSpec) -> str:
    """The schema as the engine gets it: its order is kept, because evidence comes before the verdict."""
    return json.dumps(spec.output_schema, separators=(",", ":"), ensure_ascii=False)


def timed(stage: Callable[[], T]) -> tuple[T, float]:
    """A stage's result and the seconds it took."""
    began = time.perf_counter()
    return stage(), time.perf_counter() - began


def _ticket(
    prepared: Prepared, decision_id: str, input_ids: tuple[int, ...], max_out: int, *, first: bool = False
) -> Ticket:
    """Only the first attempt may be put off: later ones would throw away what was paid."""
    package, plan, key = prepared.package, prepared.plan, prepared.key
    return Ticket(
        attempt_id=uuid4().hex,
        decision_id=decision_id,
        band=plan.band,
        queue_ttl=plan.queue_ttl,
        input_ids=input_ids,
        max_out=max_out,
        tenant=key.kv.tenant or None,
        trust_class=key.kv.trust_class or None,
        acl_epoch=key.kv.acl_epoch or None,
        cache=key.mode,
        deadline=plan.deadline,
        prefix_hash=package.prefix_hash,
        prefix_tokens=package.prefix_tokens,
        share_hash=package.share_hash,
        share_tokens=package.share_tokens,
        stop_token_ids=package.stop_token_ids,
        json_schema=prepared.schema_text,
        pool=prepared.route.pool,
        key=prepared.spec.slug,
        ttft=plan.ttft,
        on_predicted_miss=plan.on_predicted_miss if first else "serve_late",
    )


def _builder(spec: TaskSpec, prompt: Prompt, engine: EngineState, tokenizer: Tokenizer) -> Build:
    """The package of one question around whatever evidence is left."""

    def build(evidence: tuple[Evidence, ...], scores: Mapping[str, float] | None) -> ContextPackage:
        return build_context(
            prompt,
            evidence,
            tokenizer,
            tokenizer_id=engine.tokenizer,
            template=engine.template,
            context_length=min(engine.context_length or 0, engine.max_input or engine.context_length or 0),
            max_in=spec.policy.budget.max_in,
            max_out=spec.policy.budget.max_out,
            order=spec.order,
            scores=scores,
        )

    return build


def _selection(
    spec: TaskSpec,
    profile: TaskProfile,
    prompt: Prompt,
    pieces: tuple[Evidence, ...],
    build: Build,
) -> Selection:
    """What may be sent for this question at this risk: the task's budget, within what the package leaves free."""
    frame = build(tuple(replace(piece, text="") for piece in pieces), None)
    return selection_for(
        spec.retrieval_budget,
        profile.risk,
        question=prompt.question,
        terms=prompt.terms,
        room=max(frame.limit - frame.total_tokens, 0),
        required=spec.required_kinds,
    )


def _fit(spec: TaskSpec, evidence: tuple[Evidence, ...], prompt: Prompt) -> dict[str, float] | None:
    """How well each piece fits the question: the retriever's word, or shared words; only where order may depend on it."""
    if spec.order == "document":
        return None
    if all(piece.score is not None for piece in evidence):
        return {piece.id: piece.score or 0.0 for piece in evidence}
    fit = relevance([piece.text for piece in evidence], prompt.question, prompt.terms)
    return {piece.id: score for piece, score in zip(evidence, fit, strict=True)}


def _segments(package: ContextPackage) -> list[dict[str, Any]]:
    """The layout for the trace: each static part and the question alone, the document as one row."""
    rows: list[dict[str, Any]] = []
    for segment in package.segments:
        if segment.kind == "evidence" and rows and rows[-1]["kind"] == "evidence":
            rows[-1]["tokens"] += segment.tokens
            rows[-1]["pieces"] += 1
        else:
            rows.append(
                {"kind": segment.kind, "static": segment.static, "tokens": segment.tokens, "pieces": 1}
            )
    return rows


def _counted(kinds: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for kind in kinds:
        counts[kind] = counts.get(kind, 0) + 1
    return counts
