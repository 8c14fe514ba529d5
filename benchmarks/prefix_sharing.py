"""How much of the prompts the engine reads from its prefix cache, against the best that any cache could do."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from benchmarks import replay, workload
from benchmarks.product import Api, Installation, installation
from benchmarks.registry import Options, benchmark
from benchmarks.replay import Prompt
from benchmarks.result import Result, measured
from benchmarks.statistics import bootstrap, interleaved, ratio
from benchmarks.table import table
from inference.metrics.prefixes import Share, ceiling

CVS, QUICK_CVS = 24, 4
DIRECT_CVS, QUICK_DIRECT_CVS = 8, 2
RUN_SECONDS = 3600.0
OF_CEILING, TURNED_AT_MOST = 0.95, 0.10


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt as it is in the traces, and when the engine got it."""

    decision: str
    application: str
    criterion: str
    at: datetime
    kind: str
    input_tokens: int
    cached: int
    output: int


@dataclass(frozen=True, slots=True)
class Direct:
    """One prompt sent straight to the gateway."""

    application: str
    arm: str
    input_tokens: int
    cached: int


@benchmark(
    "prefix_sharing",
    "token-weighted prefix-cache hit rate of 24 CVs × 5 criteria against its theoretical ceiling",
)
def run(options: Options) -> list[Result]:
    """One batch through the product's API; then the same prompts in both orders straight to the gateway, interleaved."""
    samples = workload.readable_cvs(QUICK_CVS if options.quick else CVS, options.seed)
    with installation() as installed:
        engine = installed.wait_for_engine()
        print(
            f"engine: {engine['engine']} ({engine['kind']}), model {engine['model']}, device {engine['device']}",
            flush=True,
        )
        api = installed.api("admin")
        work = workload.set_up(installed, samples, workload.asked_of_the_model)
        seconds = workload.wait_for_run(api, workload.start(api, work), RUN_SECONDS)
        evaluations = list(workload.evaluations(api, work))
        verdicts = [(e["application"], v) for e in evaluations for v in e["verdicts"]]
        traces = [api.get(f"decisions/{v['decision_id']}/trace/") for _, v in verdicts]
        replay.open_product(installed)
        prompts = replay.prompts(installed, traces, {v["decision_id"]: v["id"] for _, v in verdicts})
        calls = calls_of(traces)
        best = ceiling_of(calls, prompts)
        count = QUICK_DIRECT_CVS if options.quick else DIRECT_CVS
        direct = _both_orders(installed, calls, prompts, count, options.seed)
        spans = _spans(api, evaluations)
        api.close()
    print(_tables(calls, best, seconds))
    return [
        *_figures(calls, best, seconds, len(traces)),
        *_direct_figures(direct),
        measured("cited spans that re-read equal", ratio([(sum(spans), len(spans))]), "share", n=len(spans), target=(">=", 1.0)),
        measured("verdicts without evidence, neither not stated nor with a person", unsupported(v for _, v in verdicts),
                 "verdicts", n=len(verdicts), target=("==", 0)),
        measured("decisions without a whole trace", sum(not whole(t) for t in traces), "decisions", n=len(traces),
                 target=("==", 0)),
    ]  # fmt: skip


def calls_of(traces: Iterable[Mapping[str, Any]]) -> list[Call]:
    """Every attempt in the order in which the gateway handed it to the engine."""
    calls = []
    for trace in traces:
        asked = {s["payload"]["attempt_id"]: s for s in trace["steps"] if s["stage"] == "generate"}
        for attempt in trace["attempts"]:
            if attempt["uncached"] is None or attempt["cache_read"] is None:
                raise RuntimeError(
                    f"decision {trace['decision_id']}: attempt {attempt['attempt_no']} reports no tokens"
                )
            waited = float(attempt["phases"]["gateway_queue"] or 0)
            at = datetime.fromisoformat(asked[attempt["attempt_id"]]["at"]) + timedelta(seconds=waited)
            calls.append(
                Call(
                    trace["decision_id"],
                    trace["subject"]["id"],
                    trace["correlation"].get("criterion", ""),
                    at,
                    attempt["kind"],
                    attempt["uncached"] + attempt["cache_read"],
                    attempt["cache_read"],
                    attempt["output"] or 0,
                )
            )
    return sorted(calls, key=lambda call: call.at)


def ceiling_of(calls: Sequence[Call], prompts: Mapping[str, Prompt]) -> list[Share]:
    """What an ideal cache would have held of each call.

    Where the engine held a part of the very first prompt already (the instructions, from earlier work of the same
    namespace), the ideal cache starts with it too. A repair adds an answer that is stored nowhere: its tokens beyond
    the prompt count as new.
    """
    sent = []
    unknown = -1
    for call in calls:
        ids = list(prompts[call.decision].ids)
        for _ in range(call.input_tokens - len(ids)):
            ids.append(unknown)
            unknown -= 1
        if call.input_tokens != len(ids):
            raise replay.NotTheSame(
                f"decision {call.decision}: the engine read {call.input_tokens} tokens, we sent {len(ids)}"
            )
        sent.append(ids)
    if sent and calls[0].cached:
        shares = ceiling([sent[0][: calls[0].cached], *sent])
        return shares[1:]
    return ceiling(sent)


def unsupported(verdicts: Iterable[Mapping[str, Any]]) -> int:
    """Verdicts that say something about the CV, cite nothing and ask nobody."""
    return sum(
        v["state"] not in {"needs_person", "failed"} and v["verdict"] != "not_stated" and not v["evidence"]
        for v in verdicts
    )


def whole(trace: Mapping[str, Any]) -> bool:
    """Every stage up to the answer stands in the trace; a model's answer has attempts, and each reports its tokens."""
    stages = {step["stage"] for step in trace["steps"]}
    needed = {"classify", "retrieve", "protect", "compress", "assemble", "key", "route", "schedule"}
    ended = bool(stages & {"rest", "close"})
    reported = all(a["output"] is not None and a["uncached"] is not None for a in trace["attempts"])
    answered = bool(trace["attempts"]) or trace["route"]["tier"] in {"rules", "person"}
    return needed <= stages and ended and answered and reported


def _both_orders(
    installed: Installation, calls: Sequence[Call], prompts: Mapping[str, Prompt], count: int, seed: int
) -> list[Direct]:
    """The prompts of some CVs in the product's order and turned round, each order in a namespace of its own."""
    from inference.client import GatewayClient

    client = GatewayClient(installed.gateway_url, installed.gateway_secret)
    chosen = list(dict.fromkeys(call.application for call in calls))[:count]
    primary = [call for call in calls if call.kind == "primary" and call.application in chosen]
    mark = secrets.token_hex(4)
    rows = []
    for number, arm in interleaved(("static first", "dynamic first"), len(primary), seed=seed):
        call = primary[number]
        prompt = prompts[call.decision]
        ids = prompt.ids if arm == "static first" else prompt.turned
        cached, total = _ask(client, ids, prompt.stop, f"benchmark-{mark}-{arm.split()[0]}")
        rows.append(Direct(call.application, arm, total, cached))
    return rows


def _ask(client: Any, ids: tuple[int, ...], stop: tuple[int, ...], tenant: str) -> tuple[int, int]:
    """Tokens read from the cache and tokens sent; only one token is asked for, because only the reading counts."""
    from inference.slo import Band
    from inference.wire import Done, Ticket

    ticket = Ticket(
        attempt_id=uuid4().hex, decision_id=f"benchmark-{uuid4().hex}", band=Band.STANDARD, queue_ttl=600.0,
        input_ids=ids, max_out=1, tenant=tenant, trust_class="tenant", acl_epoch="1.1", stop_token_ids=stop,
    )  # fmt: skip
    for frame in client.generate(ticket):
        if isinstance(frame, Done):
            if frame.usage.cache_read is None or frame.usage.uncached is None:
                raise RuntimeError("the engine reports no cached tokens")
            return frame.usage.cache_read, frame.usage.cache_read + frame.usage.uncached
        last = frame
    raise RuntimeError(f"the gateway did not answer: {last}")


def _spans(api: Api, evaluations: Sequence[Mapping[str, Any]]) -> list[bool]:
    """For each cited span whether the stored text holds the quotation there."""
    same = []
    for evaluation in evaluations:
        text = api.get(f"ats/applications/{evaluation['application']}/text/")["text"]
        for verdict in evaluation["verdicts"]:
            same += [text[e["start"] : e["end"]] == e["quote"] for e in verdict["evidence"]]
    return same


def _sums(calls: Sequence[Call], best: Sequence[Share]) -> list[tuple[int, int, int]]:
    """Cached, possible and sent tokens for each CV: the cases of the bootstrap."""
    sums: dict[str, tuple[int, int, int]] = {}
    for call, share in zip(calls, best, strict=True):
        cached, possible, sent = sums.get(call.application, (0, 0, 0))
        sums[call.application] = (cached + call.cached, possible + share.cached, sent + call.input_tokens)
    return list(sums.values())


def _figures(calls: list[Call], best: list[Share], seconds: float, decisions: int) -> list[Result]:
    cases = _sums(calls, best)

    def hit(rows: Sequence[tuple[int, int, int]]) -> float:
        return ratio([(cached, sent) for cached, _, sent in rows])

    def possible(rows: Sequence[tuple[int, int, int]]) -> float:
        return ratio([(most, sent) for _, most, sent in rows])

    def of_ceiling(rows: Sequence[tuple[int, int, int]]) -> float:
        return ratio([(cached, most) for cached, most, _ in rows])

    sent, cached = sum(c.input_tokens for c in calls), sum(c.cached for c in calls)
    n = len(calls)
    return [
        measured("prefix_sharing: hit rate as a share of its ceiling", of_ceiling(cases), "share", n=n,
                 ci=bootstrap(cases, of_ceiling), target=(">=", OF_CEILING)),
        measured("hit rate by tokens", hit(cases), "share", n=n, ci=bootstrap(cases, hit)),
        measured("ceiling of the hit rate", possible(cases), "share", n=n),
        measured("calls", n, "calls", n=decisions),
        measured("input tokens", sent, "tokens", n=n),
        measured("input tokens that the engine computed", sent - cached, "tokens", n=n),
        measured("decisions per minute", 60 * decisions / seconds if seconds else math.nan, "1/min", n=decisions),
    ]  # fmt: skip


def _direct_figures(rows: Sequence[Direct]) -> list[Result]:
    results = []
    for arm, target in (("static first", None), ("dynamic first", TURNED_AT_MOST)):
        cases: dict[str, tuple[int, int]] = {}
        for row in rows:
            if row.arm == arm:
                cached, sent = cases.get(row.application, (0, 0))
                cases[row.application] = (cached + row.cached, sent + row.input_tokens)
        sums = list(cases.values())
        results.append(
            measured(
                f"hit rate straight to the gateway, {arm}",
                ratio(sums),
                "share",
                n=sum(r.arm == arm for r in rows),
                ci=bootstrap(sums, ratio),
                target=None if target is None else ("<=", target),
            )
        )
    return results


def _tables(calls: Sequence[Call], best: Sequence[Share], seconds: float) -> str:
    rows = []
    places = list(dict.fromkeys(call.application for call in calls))
    for place, application in enumerate(places, start=1):
        own = [(c, b) for c, b in zip(calls, best, strict=True) if c.application == application]
        sent, cached, most = (
            sum(c.input_tokens for c, _ in own),
            sum(c.cached for c, _ in own),
            sum(b.cached for _, b in own),
        )
        rows.append(
            (place, len(own), sent, cached, most, cached / sent, most / sent, sum(c.output for c, _ in own))
        )
    head = ("CV", "calls", "input", "cached", "possible", "hit rate", "ceiling", "output")
    return f"\n{table(head, rows)}\n\n{len(calls)} calls in {seconds:.1f} s"
