"""A fake engine without weights: deterministic answers that cite what they read, and a real prefix tree per namespace.

`python -m inference.fake --port N` speaks SGLang's HTTP dialect, so the real gateway runs in front of it; `LocalGateway` is
the same engine inside this process, for tests. The interface says so wherever it is on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from inference.slo import Band
from inference.tokens import ByteTokenizer
from inference.usage import Usage
from inference.wire import AttemptRecord, Delta, Done, EngineState, Frame, Phases, Queued, Started, Ticket
from nekibu.language.terms import contains_term

NAME, REVISION = "nekibu-fake", "fake@1"
CONTEXT, VOCABULARY, SLOTS, POOL = 131_072, ByteTokenizer.vocab_size, 16, 2_000_000
Script = Callable[[str, dict[str, Any] | None], str | None]
_PIECE = re.compile(r"^\[(E\d+)\] (.*)$", re.MULTILINE)
_TERMS = re.compile(r"^Terms: (.*?)(?:<\|im_end\|>|$)", re.MULTILINE)


@dataclass(slots=True)
class PrefixTree:
    """Token ids that were computed before, as SGLang's radix tree keeps them: reuse ends one token before the end."""

    _root: dict[int, Any] = field(default_factory=dict)

    def match(self, ids: Sequence[int]) -> int:
        """How many leading tokens are known, at most all but the last."""
        node, known = self._root, 0
        for token in ids[: len(ids) - 1]:
            if token not in node:
                break
            node, known = node[token], known + 1
        return known

    def insert(self, ids: Sequence[int]) -> None:
        """Remember these tokens."""
        node = self._root
        for token in ids:
            node = node.setdefault(token, {})


@dataclass(frozen=True, slots=True)
class Answer:
    """One finished generation."""

    text: str
    cached: int
    prompt: int
    output: int
    finish: str


class FakeEngine:
    """Answers a prompt by rule. `script(prompt, schema)` may give another answer; None falls back to the rule."""

    def __init__(self, script: Script | None = None) -> None:
        self.script = script
        self.calls: list[str] = []
        self._trees: dict[str, PrefixTree] = {}
        self._lock = threading.Lock()
        self._tokenizer = ByteTokenizer()

    def generate(self, ids: Sequence[int], salt: str, max_out: int, schema_text: str | None) -> Answer:
        """One answer, with the cache figures of its namespace."""
        prompt = self._tokenizer.decode(list(ids), control=True)
        schema = json.loads(schema_text) if schema_text else None
        with self._lock:
            tree = self._trees.setdefault(salt, PrefixTree())
            cached = tree.match(ids)
            tree.insert(ids)
            self.calls.append(prompt)
        text = (self.script(prompt, schema) if self.script else None) or answer(prompt, schema)
        raw = text.encode()
        cut = raw[:max_out].decode(errors="ignore")
        return Answer(
            cut, cached, len(ids), min(len(raw) + 1, max_out), "stop" if len(raw) < max_out else "length"
        )


def answer(prompt: str, schema: dict[str, Any] | None) -> str:
    """What the prompt's own words allow: the pieces that name one of its terms, else that nothing is stated."""
    properties = (schema or {}).get("properties", {})
    if "verdict" not in properties:
        return json.dumps(_smallest(schema)) if schema else "ok"
    listed = _TERMS.findall(prompt)
    terms = [term.strip() for term in listed[-1].split(";") if term.strip()] if listed else []
    cited = [piece for piece, text in _PIECE.findall(prompt) if terms and contains_term(text, terms)][:3]
    said = "met" if cited else "not_stated"
    value = {
        "pieces": cited,
        "counter_pieces": [],
        "reasoning": "The cited pieces name it." if cited else "No piece names it.",
        "verdict": said,
    }
    return json.dumps({name: value[name] for name in properties if name in value}, ensure_ascii=False)


def _smallest(schema: dict[str, Any]) -> Any:
    """The smallest value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: _smallest(schema["properties"][name]) for name in schema.get("required", [])}
    if kind == "array":
        return [_smallest(schema["items"]) for _ in range(schema.get("minItems", 0))]
    return {
        "string": "x" * schema.get("minLength", 0),
        "integer": schema.get("minimum", 0),
        "number": schema.get("minimum", 0),
        "boolean": False,
    }.get(str(kind))


class LocalGateway:
    """The fake engine behind the gateway's protocol, in this process."""

    def __init__(self, engine: FakeEngine | None = None) -> None:
        self.engine = engine or FakeEngine()
        self._records: dict[str, AttemptRecord] = {}

    def generate(self, ticket: Ticket) -> Iterator[Frame]:
        """Queued, started, deltas, done. Closed early, it leaves a record of what was spent."""
        salt = "|".join(
            [ticket.tenant or ticket.attempt_id, ticket.trust_class or "", ticket.acl_epoch or ""]
        )
        if ticket.cache == "off":
            salt = ticket.attempt_id
        yield Queued(1, 0)
        yield Started(NAME, NAME, REVISION)
        found = self.engine.generate(ticket.input_ids, salt, ticket.max_out, ticket.json_schema)
        usage = Usage(
            uncached=found.prompt - found.cached,
            cache_read=found.cached,
            output=found.output,
            cache_write_5m=0,
            cache_write_1h=0,
        )
        phases = Phases(gateway_queue=0.0, engine_queue=0.0, prefill=0.001, decode=0.001)
        try:
            for start in range(0, len(found.text), 16):
                yield Delta(found.text[start : start + 16], 16)
        except GeneratorExit:
            self._records[ticket.attempt_id] = AttemptRecord(
                ticket.attempt_id, ticket.decision_id, ticket.tenant, Band(ticket.band), time.time(), "abort", "client_cancelled", usage, phases,
                0.001, None, 0, REVISION, "fake", "fake",
            )  # fmt: skip
            raise
        finish: Any = found.finish
        yield Done(finish, found.text, usage, phases, 0.001, 0.0001, 0, REVISION, "fake", "fake")

    def cancel(self, attempt_id: str) -> bool:
        """Nothing runs between two frames here."""
        return False

    def state(self) -> EngineState:
        """Always ready."""
        return EngineState(
            engine="fake", kind="fake", state="ready", since=0.0, detail="", model=NAME, revision=REVISION, device="none", tokenizer="bytes",
            template="chatml", context_length=CONTEXT, max_input=CONTEXT, vocab_size=VOCABULARY, slots=SLOTS, max_total_tokens=POOL, fingerprint="fake",
        )  # fmt: skip

    def attempts(self) -> list[AttemptRecord]:
        """Records not yet acknowledged."""
        return list(self._records.values())

    def acknowledge(self, ids: list[str]) -> None:
        """Forget them."""
        for attempt_id in ids:
            self._records.pop(attempt_id, None)


class Server:
    """SGLang's words for the fake engine: a bare ASGI application."""

    def __init__(self, delay: float) -> None:
        self.engine, self.delay = FakeEngine(), delay
        self.aborted: set[str] = set()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        path = scope["path"]
        if path == "/generate":
            await self._generate(await _body(receive), receive, send)
        elif path == "/abort_request":
            self.aborted.add((await _body(receive)).get("rid", ""))
            await _json(send, {})
        elif path == "/server_info":
            await _json(
                send,
                {
                    "max_total_num_tokens": POOL,
                    "max_req_input_len": CONTEXT,
                    "max_running_requests": SLOTS,
                    "weight_version": REVISION,
                },
            )
        elif path in {"/ready", "/health", "/metrics"}:
            await _json(send, {})
        else:
            await _json(send, {"error": "unknown path"}, 404)

    async def _generate(self, body: dict[str, Any], receive: Any, send: Any) -> None:
        sampling, rid = body["sampling_params"], body["rid"]
        began = time.time()
        found = self.engine.generate(
            body["input_ids"],
            body.get("cache_salt") or "",
            sampling["max_new_tokens"],
            sampling.get("json_schema"),
        )
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream")],
            }
        )
        gone = asyncio.create_task(_disconnected(receive))
        meta = {
            "id": rid,
            "prompt_tokens": found.prompt,
            "cached_tokens": found.cached,
            "weight_version": REVISION,
            "queue_time": 0.0,
        }
        steps = max(1, (len(found.text) + 7) // 8)
        for step in range(steps):
            if self.delay:
                await asyncio.sleep(self.delay)
            if gone.done():
                return
            last, text = step == steps - 1, found.text[8 * step : 8 * step + 8]
            finish: dict[str, Any] | None = None
            if rid in self.aborted:
                finish, last, text = {"type": "abort", "message": "Aborted"}, True, ""
            elif last:
                finish = (
                    {"type": "stop", "matched": 2}
                    if found.finish == "stop"
                    else {"type": "length", "length": found.output}
                )
            done = found.output if last else min(found.output, 8 * (step + 1))
            now = time.time()
            info = meta | {
                "completion_tokens": done,
                "finish_reason": finish,
                "forward_entry_time": began,
                "prefill_finished_time": began,
                "request_finished_ts": now,
            }
            chunk = {"text": text, "output_ids": [byte + 3 for byte in text.encode()], "meta_info": info}
            await send(
                {
                    "type": "http.response.body",
                    "body": f"data: {json.dumps(chunk)}\n\n".encode(),
                    "more_body": True,
                }
            )
            if last:
                break
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})
        gone.cancel()


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Any) -> dict[str, Any]:
    raw, more = b"", True
    while more:
        message = await receive()
        raw += message.get("body", b"")
        more = message.get("more_body", False)
    found: dict[str, Any] = json.loads(raw or b"{}")
    return found


async def _json(send: Any, value: dict[str, Any], status: int = 200) -> None:
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]}
    )
    await send({"type": "http.response.body", "body": json.dumps(value).encode()})


def main() -> None:
    """Serve until SIGTERM."""
    import uvicorn

    parser = argparse.ArgumentParser(description="The fake engine.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds per chunk of eight tokens")
    chosen = parser.parse_args()
    uvicorn.run(Server(chosen.delay), host="127.0.0.1", port=chosen.port, log_level="warning")


if __name__ == "__main__":
    main()
