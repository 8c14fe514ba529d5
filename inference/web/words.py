"""What the codes of the record mean, in words for people."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from nekibu.language.turkish import lower, upper

Word = str | Promise

STATUS_TONE = {
    "accepted": "success",
    "failed": "error",
    "rejected": "error",
    "expired": "warning",
    "cancelled": "warning",
    "needs_person": "warning",
    "awaiting_approval": "warning",
}
ENGINE_STATES: dict[str, Word] = {
    "installing": _("Preparing the model"),
    "loading": _("Loading the model"),
    "ready": _("Ready"),
    "restarting": _("Restarting"),
    "down": _("Not reachable"),
}
ENGINE_TONE = {"ready": "success", "restarting": "warning", "down": "error"}
DECIDED_BY: dict[str, Word] = {"model": _("Model"), "rule": _("Rule"), "person": _("Person")}
TIERS: dict[str, Word] = {
    "rules": _("a rule answers"),
    "economic": _("the model answers"),
    "strong": _("the strong model answers"),
    "person": _("a person answers"),
}
ROUTE_REASONS: dict[str, Word] = {
    "default": _("Nothing speaks against the model answering, under all checks."),
    "hidden_text": _(
        "The document holds hidden text. It was not sent; because it is there, a person must agree to the answer."
    ),
    "quality_low": _("Parts of the document are hard to read, so a person must agree to the answer."),
    "opt_out": _("The person concerned does not want a machine's answer."),
    "human_only": _("This question is answered by people only."),
    "insufficient_evidence": _("There is no text in which evidence could be found."),
    "solver": _("A rule can decide this from the text itself, so no model is asked."),
    "context_too_large": _("The text does not fit into the model's context, and nothing is ever cut off."),
    "over_budget": _("The document has more passages than this task may read."),
    "no_strong_tier": _("The case needs a stronger model. None is installed, so a person answers."),
    "no_model_tier": _("No model may answer this task."),
    "override": _("A person answered in place of an earlier decision."),
}
RULE_HITS: dict[str, Word] = {
    "high_risk": _("high risk"),
    "adverse_effect": _("an effect against a person"),
    "injection": _("text that reads like an order to the machine"),
    "injection_suspected": _("text that reads like an order to the machine"),
    "contradiction": _("contradictory statements"),
    "min_tier": _("the task asks for the strong model"),
    "hidden_text": _("hidden text"),
    "quality_low": _("low reading quality"),
    "solver": _("a rule decides"),
    "opt_out": _("no machine's answer wanted"),
    "human_only": _("people only"),
    "insufficient_evidence": _("no text"),
    "context_too_large": _("too long for the model"),
    "over_budget": _("too many passages"),
    "low_quality": _("low reading quality"),
}
REMOVALS: dict[str, Word] = {
    "DUP_SPAN": _("copied block, word for word"),
    "BOILERPLATE": _("running header or footer"),
    "WHITESPACE": _("idle blanks"),
    "SERIALIZATION": _("the same data in a shorter form"),
    "STALE_TOOL_OUTPUT": _("an older output of a call that was made again"),
    "QUOTE_CHAIN": _("quoted mail whose words stand elsewhere"),
    "OFF_QUESTION": _("nothing in it belongs to the question"),
    "NEAR_DUP": _("the same words as in another place"),
    "SUPERSEDED_VERSION": _("a newer version is here"),
    "LOW_SCORE": _("fits the question far less than the rest"),
    "OVER_BUDGET": _("over the budget, and fits less than what stays"),
}
ORDERS: dict[str, Word] = {
    "shared": _("that of the document, so that other questions share it"),
    "short": _("that of the document: it is short"),
    "no_scores": _("that of the document: no passage is known to fit better"),
    "long": _("the best first and second best last, because the text is long"),
}
FINDINGS: dict[str, Word] = {
    "TRUNCATED": _("The answer was cut off because the room for it was used up."),
    "PARSE": _("The answer is not the agreed JSON."),
    "SCHEMA": _("The answer breaks the agreed form."),
    "UNKNOWN_SOURCE": _("A cited passage does not exist in the document."),
    "SOURCE_GONE": _("A cited passage can no longer be read."),
    "SOURCE_DIFFERS": _("A cited passage is not the same in the stored text."),
    "DUPLICATE_SOURCE": _("A passage was cited twice; it counts once."),
    "NO_EVIDENCE": _("The verdict names no verified passage. No evidence, no verdict."),
    "EVIDENCE_WITHOUT_VERDICT": _("Passages are cited although the answer says that nothing is stated."),
    "COUNTER_EVIDENCE": _("A passage speaks against the verdict."),
    "PROTECTED_ATTRIBUTE": _("The explanation named a protected attribute of a person; it was dropped."),
    "INVENTED_FIELD": _("The explanation holds a figure that is not in the text; it was dropped."),
    "GENERATION_FAILED": _("The model gave no answer."),
    "TERM_NOT_CITED": _("No cited passage names what the criterion asks for."),
    "MUST_NOT_STATED": _("A must criterion is not stated, so a person is asked."),
    "PART_UNREAD": _("A part of the file could not be read, so its silence proves nothing."),
    "KNOCKOUT": _("A knockout criterion never excludes anybody by itself; a person looks."),
}
CHECKS: dict[str, Word] = {
    "truncation": _("Whole answer"),
    "schema": _("Agreed form"),
    "sources": _("Sources re-read"),
    "protected": _("No invented figure, no protected attribute"),
    "evidence": _("Evidence for the verdict"),
    "rules": _("Rules of the task"),
    "generation": _("Answer of the model"),
}
PHASES: dict[str, Word] = {
    "gateway_queue": _("Waiting in the gateway"),
    "engine_queue": _("Waiting in the engine"),
    "prefill": _("Reading"),
    "decode": _("Writing"),
    "validate": _("Checking"),
    "approve": _("Waiting for a person"),
}
KINDS: dict[str, Word] = {
    "primary": _("first answer"),
    "repair": _("second try"),
    "escalation": _("stronger model"),
    "sample": _("second reading"),
}
FINISHES: dict[str, Word] = {
    "stop": _("complete"),
    "length": _("cut off"),
    "abort": _("aborted"),
    "error": _("failed"),
}
BANDS: dict[str, Word] = {
    "interactive": _("a person waits for it"),
    "standard": _("normal"),
    "batch": _("in the background"),
}
CACHE_STATES: dict[str, Word] = {
    "hit": _("read from the cache"),
    "miss": _("computed anew"),
    "unreported": _("not reported"),
}
PRODUCTS: dict[str, Word] = {
    "ats": _("recruiting"),
    "documents": _("documents"),
    "procurement": _("procurement"),
    "studio": _("workflows"),
}
DIMENSION_NAMES: dict[str, Word] = {
    "product": _("Product"),
    "task": _("Task"),
    "node": _("Node"),
    "risk": _("Risk"),
    "language": _("Language"),
    "model": _("Model"),
    "tier": _("Route"),
    "clock": _("Clock"),
    "band": _("Urgency"),
    "cache": _("Cache"),
}
PARTS: dict[str, Word] = {
    "backlog": _("Waiting for a worker"),
    "prepare": _("Preparing"),
    "unattributed": _("Unattributed"),
    "ttft": _("First token"),
    "tpot": _("Each further token"),
    "e2e": _("Altogether"),
    "model": _("Altogether, without people"),
}
LEVERS: dict[str, Word] = {
    "workers": _("more workers"),
    "band": _("another urgency"),
    "retrieval budget": _("fewer passages"),
    "compression": _("cleaner passages"),
    "slots": _("more slots"),
    "demotion": _("moving work to the background"),
    "slot cap": _("fewer requests at once"),
    "prefix order": _("order of the prefix"),
    "chunk size": _("size of the parts that are read at once"),
    "output bound": _("shorter answers"),
    "speculation": _("speculative decoding"),
    "batch size": _("size of the batch"),
    "quantisation": _("a smaller form of the model"),
    "rules": _("faster rules"),
    "source I/O": _("faster reading of sources"),
    "staffing": _("more people"),
    "batching of approvals": _("deciding several at once"),
    "find out what it is": _("finding out what it is"),
}
OUTCOMES: dict[str, Word] = {
    "accepted": _("accepted"),
    "waiting": _("waiting for a person"),
    "failed": _("failed"),
    "rejected": _("rejected"),
    "ended": _("expired or cancelled"),
}
FIGURE_WORDS: dict[str, Word] = {
    "decisions": _("All decisions"),
    "attempts": _("With a model that was asked"),
    "valid": _("Valid decisions"),
    "invalid": _("Without a valid answer"),
    "accepted": _("Accepted"),
    "waiting": _("Waiting for a person"),
    "failed": _("Failed"),
    "rejected": _("Rejected by a person"),
    "ended": _("Expired or cancelled"),
    "met": _("Target met"),
    "missed": _("Target missed"),
    "cancelled": _("Cancelled"),
    "current_cost": _("Cost verified"),
    "stale_cost": _("Price not verified lately"),
    "unknown_cost": _("Cost unknown"),
    "truncated": _("Answer cut off"),
    "schema_failed": _("Answer not in the agreed form"),
    "broken": _("Aborted or failed in the engine"),
    "usage_refused": _("Impossible figures"),
    "estimated": _("With an estimated figure"),
    "overrides": _("Corrected by a person"),
}
DATA_CLASSES: dict[str, Word] = {
    "personal": _("personal data"),
    "internal": _("internal"),
    "restricted": _("restricted"),
}
TRUST: dict[str, Word] = {"tenant": _("everybody in the company")}
FIELD_KINDS: dict[str, Word] = {
    "source_uri": _("web addresses"),
    "identifier": _("identifiers"),
    "date": _("dates"),
    "rate": _("rates"),
    "money": _("amounts of money"),
    "threshold": _("thresholds"),
    "duration": _("durations"),
    "quantity": _("quantities"),
    "currency": _("currencies"),
    "obligation": _("obligations, as whole clauses"),
    "exception": _("exceptions, as whole clauses"),
    "person_fact": _("facts about a person"),
    "ambiguous": _("of these, with more than one reading"),
    "unconfirmed": _("of these, read from an image and not confirmed"),
}
VALUES: dict[str, Word] = {"reasoning": _("Reasoning"), "verdict": _("Verdict"), "answer": _("Answer")}
CAUSES: dict[str, Word] = {
    "engine_lost": _("the engine was lost"),
    "gateway_lost": _("the gateway was lost"),
    "client_cancelled": _("the caller left"),
    "cancelled": _("it was cancelled"),
    "timeout": _("its time was over"),
    "queue_timeout": _("its time in the queue was over"),
    "queue_full": _("the queue was full"),
    "predicted_miss": _("the promised time could not be kept"),
    "preempted": _("another request took its place"),
    "bad_request": _("the engine refused the request"),
    "bad_token": _("a token is unknown to the model"),
    "too_long": _("too long for the model"),
    "draining": _("the gateway was shutting down"),
}
QUEUES: dict[str, Word] = {
    "interactive": _("A person waits"),
    "standard": _("Normal"),
    "batch": _("In the background"),
}
COUNTERS: dict[str, Word] = {
    "done": _("Answers"),
    "prompt_tokens": _("Tokens given to the model"),
    "cached_tokens": _("of these, read from the cache"),
    "output_tokens": _("Tokens written"),
    "restarts": _("Restarts of the engine"),
    "requeued": _("Handed over again"),
    "bad_usage": _("Answers with impossible figures"),
}
COST_STATES: dict[str, Word] = {
    "current": _("price verified"),
    "stale": _("price not verified lately"),
    "unknown": _("unknown"),
}
STANDINGS: dict[str, Word] = {
    "current": _("verified"),
    "stale": _("not verified lately"),
}
PRICED: dict[str, Word] = {
    "amount": _("amount"),
    "input": _("input"),
    "cache_read": _("read from the cache"),
    "cache_write_5m": _("written to the cache for 5 minutes"),
    "cache_write_1h": _("written to the cache for an hour"),
    "output": _("output"),
    "storage_hour": _("cache storage for an hour"),
}
SEGMENTS: dict[str, Word] = {
    "system": _("frame"),
    "turn": _("frame"),
    "instruction": _("instructions"),
    "rubric": _("rubric"),
    "evidence": _("passages of the document"),
    "question": _("the question"),
}


def counters(counted: Mapping[str, int]) -> list[tuple[str, int]]:
    """What the gateway counted, in words: what it did first, then what it refused and stopped, with the cause."""
    known = [(str(COUNTERS[name]), counted[name]) for name in COUNTERS if name in counted]
    return known + [(_counter(name), counted[name]) for name in sorted(counted) if name not in COUNTERS]


def _counter(name: str) -> str:
    kind, _separator, cause = name.partition("_")
    if kind == "refused":
        return gettext("Refused: %(cause)s") % {"cause": word(CAUSES, cause)}
    if kind == "aborted":
        return gettext("Stopped: %(cause)s") % {"cause": word(CAUSES, cause)}
    return name


def sentence_case(text: str) -> str:
    """With a capital at the beginning: in Turkish i becomes İ."""
    first = upper(text[:1]) if get_language() == "tr" else text[:1].upper()
    return f"{first}{text[1:]}"


def inside(text: str) -> str:
    """A label inside a sentence, in small letters: in Turkish I becomes ı."""
    return lower(text) if get_language() == "tr" else text.lower()


def word(table: dict[str, Word], code: str) -> str:
    """The words for a code; an unknown code is shown as it is, never hidden."""
    return str(table.get(code, code))


BATCH_TONE = {
    "completed": "success",
    "failed": "error",
    "expired": "warning",
    "cancelled": "warning",
    "cancelling": "warning",
    "paused": "warning",
}
ITEM_CAUSES: dict[str, Word] = {
    "not_found": _("What the question is about does not exist, or its documents were deleted."),
    "not_permitted": _("Whoever submitted the batch no longer has the right to ask this."),
    "unknown_task": _("The task is no longer offered in this version."),
    "invalid_input": _("The input is not what the task expects."),
    "context_too_large": _("The text does not fit into the model's context."),
    "attempts_exhausted": _("Work on it broke off five times, so it was given up."),
    "window_ended": _("The time of the batch was over."),
    "batch_cancelled": _("The batch was cancelled."),
    "batch_ended": _("The batch had ended."),
    "input_gone": _("The file with the questions was deleted."),
    "input_changed": _("The line is not the one that was taken in."),
    "idempotency_mismatch": _("The same custom_id had been asked with another question."),
    "internal_error": _("An error of the system; it is in its log."),
}
