"""The fake engine behind SGLang's HTTP dialect: a bare ASGI application, for the real gateway to stand in front of."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

from inference.fake.engine import CONTEXT, POOL, REVISION, SLOTS, VOCABULARY, Answer, FakeEngine


class Server:
    """SGLang's words for the fake engine: a bare ASGI application.

    Like SGLang it dies of a token that does not exist, and goes on taking requests while it stops. A `ledger` outlives it:
    what each request cost, written before its last chunk is sent.
    """

    def __init__(
        self, engine: FakeEngine, delay: float = 0.0, slots: int = SLOTS, ledger: Path | None = None
    ) -> None:
        self.engine, self.delay, self.slots, self.ledger = engine, delay, slots, ledger
        self.running: set[str] = set()
        self.stopped: set[str] = set()  # of those that run: aborted
        self.aborted = 0

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
            rid = (await _body(receive)).get("rid", "")
            self.stopped |= {running for running in self.running if rid and running.startswith(rid)}
            await _json(send, {})
        elif path == "/server_info":
            await _json(
                send,
                {
                    "max_total_num_tokens": POOL,
                    "max_req_input_len": CONTEXT,
                    "max_running_requests": self.slots,
                    "page_size": 1,
                    "weight_version": REVISION,
                },
            )
        elif path == "/metrics":
            await _text(
                send,
                f"sglang:num_running_reqs {len(self.running)}\nsglang:num_aborted_requests_total {self.aborted}\n",
            )
        elif path in {"/ready", "/health"}:
            await _json(send, {})
        else:
            await _json(send, {"error": "unknown path"}, 404)

    async def _generate(self, body: dict[str, Any], receive: Any, send: Any) -> None:
        ids, sampling, rid = body["input_ids"], body["sampling_params"], body["rid"]
        if not ids or rid in self.running:
            await _json(send, {"error": {"message": "empty input or a known rid"}}, 400)
            return
        if any(not 0 <= token < VOCABULARY for token in ids):
            os._exit(1)
        self.running.add(rid)
        gone = asyncio.create_task(_disconnected(receive))
        try:
            ended = await self._stream(rid, ids, _namespace(body), sampling, gone, send)
            self.aborted += not ended
        finally:
            gone.cancel()
            self.running.discard(rid)
            self.stopped.discard(rid)

    async def _stream(
        self,
        rid: str,
        ids: list[int],
        salt: str,
        sampling: dict[str, Any],
        gone: asyncio.Task[None],
        send: Any,
    ) -> bool:
        """The chunks of one answer. False when it was aborted, or nobody listened any more."""
        began = time.time()
        found = self.engine.generate(
            ids, salt, sampling["max_new_tokens"], sampling.get("json_schema"), remember=False
        )
        length = {"type": "length", "length": len(found.ids)}
        finish = {"type": "stop", "matched": 2} if found.finish == "stop" else length
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream")],
            }
        )
        done = 0

        async def say(text: str, new: tuple[int, ...], finish_reason: dict[str, Any] | None) -> None:
            info = {
                "id": rid,
                "prompt_tokens": found.prompt,
                "cached_tokens": found.cached,
                "completion_tokens": done,
                "weight_version": REVISION,
                "queue_time": 0.0,
                "forward_entry_time": began,
                "prefill_finished_time": began,
                "request_finished_ts": time.time(),
                "finish_reason": finish_reason,
            }
            chunk = {"text": text, "output_ids": list(new), "meta_info": info}
            body = f"data: {json.dumps(chunk)}\n\n".encode()
            await send({"type": "http.response.body", "body": body, "more_body": True})

        for text, new in found.chunks():
            if self.delay:
                await asyncio.sleep(self.delay)
            if gone.done():
                self._note(found, done, "abort")
                return False
            if rid in self.stopped:
                self._note(found, done, "abort")
                await say("", (), {"type": "abort", "message": "Aborted"})
                break
            if not done:
                self.engine.remember(ids, salt)
            done += len(new)
            if done == len(found.ids):
                self._note(found, done, found.finish)
            await say(text, new, finish if done == len(found.ids) else None)
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})
        return rid not in self.stopped

    def _note(self, found: Answer, output: int, finish: str) -> None:
        if self.ledger is not None:
            row = {"prompt": found.prompt, "cached": found.cached, "output": output, "finish": finish}
            with self.ledger.open("a") as file:
                file.write(f"{json.dumps(row)}\n")


def _namespace(body: dict[str, Any]) -> str:
    """SGLang's rule: who shares has the same salt and the same extra key."""
    return json.dumps([body.get("cache_salt") or "", body.get("extra_key") or ""])


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
    await _text(send, json.dumps(value), status, b"application/json")


async def _text(send: Any, value: str, status: int = 200, kind: bytes = b"text/plain") -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": value.encode()})
