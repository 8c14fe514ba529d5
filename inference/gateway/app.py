"""The door: a bare ASGI application on loopback, behind a shared secret."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import signal
from typing import Any, get_args

from structlog.contextvars import bound_contextvars

from inference.errors import BadWire
from inference.gateway.config import Config
from inference.gateway.dispatch import Dispatcher
from inference.gateway.engines import State
from inference.wire import TERMINAL, Frame, Ticket

BEAT = 10.0  # seconds between comment lines while nothing else is said
MAX_BODY = 8 * 1024 * 1024
STATES = get_args(State)
log = logging.getLogger(__name__)


class App:
    """Routes: `/v1/generate` (stream), `/v1/cancel`, `/v1/state`, `/v1/engines`, `/v1/attempts`, `/v1/attempts/ack`, `/v1/drain`, `/metrics`, `/health`."""

    def __init__(self, config: Config, dispatcher: Dispatcher) -> None:
        self.config, self.dispatcher = config, dispatcher

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        path, method = scope["path"], scope["method"]
        if path == "/health":
            await _json(send, {"ok": True})
            return
        given = dict(scope["headers"]).get(b"authorization", b"")
        if not hmac.compare_digest(given, f"Bearer {self.config.secret}".encode()):
            await _json(send, {"code": "not_signed_in", "message": "wrong secret"}, 401)
            return
        try:
            await self._route(f"{method} {path}", receive, send)
        except BadWire as refused:
            await _json(send, {"code": refused.error_code, "message": refused.message}, 400)

    async def _route(self, route: str, receive: Any, send: Any) -> None:
        work = self.dispatcher
        if route == "POST /v1/generate":
            ticket = Ticket.from_json(await _body(receive))
            with bound_contextvars(decision_id=ticket.decision_id, attempt_id=ticket.attempt_id):
                await self._generate(ticket, receive, send)
        elif route == "POST /v1/cancel":
            await _json(send, {"cancelled": work.cancel(str((await _body(receive)).get("attempt_id")))})
        elif route == "GET /v1/state":
            await _json(send, work.state().to_json())
        elif route == "GET /v1/engines":
            await _json(send, {"engines": [view.to_json() for view in work.engines()]})
        elif route == "GET /v1/attempts":
            await _json(send, {"attempts": [record.to_json() for record in work.spool.all()]})
        elif route == "POST /v1/attempts/ack":
            work.spool.acknowledge([str(i) for i in (await _body(receive)).get("ids", [])])
            await _json(send, {})
        elif route == "POST /v1/drain":
            work.drain()
            await _json(send, {})
        elif route == "GET /metrics":
            await _text(send, _metrics(work))
        else:
            await _json(send, {"code": "not_found", "message": "no such route"}, 404)

    async def _generate(self, ticket: Ticket, receive: Any, send: Any) -> None:
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")],
            }
        )
        frames = self.dispatcher.frames(ticket)
        gone = asyncio.create_task(_disconnected(receive))
        following: asyncio.Task[Any] | None = None
        try:
            while True:
                following = following or asyncio.ensure_future(anext(frames, None))
                done, _pending = await asyncio.wait(
                    {following, gone}, timeout=BEAT, return_when=asyncio.FIRST_COMPLETED
                )
                if gone in done:
                    return
                if following not in done:
                    await send({"type": "http.response.body", "body": b": waiting\n\n", "more_body": True})
                    continue
                frame, following = following.result(), None
                if frame is None:  # asked for more after the last one: the last one was heard
                    break
                if isinstance(frame, TERMINAL):
                    log.info("%s", frame.type, extra={"band": str(ticket.band), **_ending(frame)})
                await send(
                    {
                        "type": "http.response.body",
                        "body": f"data: {json.dumps(frame.to_json())}\n\n".encode(),
                        "more_body": True,
                    }
                )
            await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            if following is not None:
                following.cancel()
                await asyncio.wait({following})
            await frames.aclose()

    async def _lifespan(self, receive: Any, send: Any) -> None:
        tasks: list[asyncio.Task[None]] = []
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                tasks = [
                    asyncio.create_task(self.dispatcher.fleet.keep(), name="supervisors"),
                    asyncio.create_task(self._tick(), name="clock"),
                ]
                for task in tasks:
                    task.add_done_callback(_must_not_fail)
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.dispatcher.fleet.stop()
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            self.dispatcher.expire()
            self.dispatcher.pump()


def _ending(frame: Frame) -> dict[str, Any]:
    """What of a last frame the log says: codes and counts, no text."""
    names = ("finish", "reason", "cause", "error", "requeues")
    return {name: value for name in names if (value := getattr(frame, name, None)) not in (None, "")}


def _must_not_fail(task: asyncio.Task[None]) -> None:
    """A gateway that no longer watches its engines or its clock is none: it ends, and whoever started it starts it again."""
    if not task.cancelled() and task.exception() is not None:
        log.critical("the %s of the gateway failed", task.get_name(), exc_info=task.exception())
        signal.raise_signal(signal.SIGTERM)


def _metrics(work: Dispatcher) -> str:
    state = work.state()
    series: list[tuple[str, str, dict[str, float]]] = [
        (
            "nekibu_gateway_total",
            "counter",
            {f'what="{name}"': n for name, n in sorted(state.counters.items())},
        ),
        ("nekibu_gateway_queue_depth", "gauge", {f'band="{band}"': n for band, n in state.queues.items()}),
        (
            "nekibu_gateway_policy",
            "gauge",
            {f'what="{name}"': n for name, n in sorted(state.policy.items())},
        ),
        ("nekibu_gateway_engine", "gauge", {f'state="{name}"': name == state.state for name in STATES}),
        ("nekibu_gateway_engines", "gauge", {"": state.engines}),
        ("nekibu_gateway_engines_ready", "gauge", {"": state.engines_ready}),
        (
            "nekibu_gateway_engine_running",
            "gauge",
            {f'engine="{view.engine}"': view.running for view in work.engines()},
        ),
        ("nekibu_gateway_slots", "gauge", {"": state.slots or 0}),
        ("nekibu_gateway_running", "gauge", {"": state.running}),
        ("nekibu_gateway_ready", "gauge", {"": state.ready}),
    ]
    lines = []
    for name, kind, values in series:
        lines.append(f"# TYPE {name} {kind}")
        lines += [
            f"{name}{{{label}}} {float(n):.15g}" if label else f"{name} {float(n):.15g}"
            for label, n in values.items()
        ]
    return "\n".join(lines) + "\n"


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Any) -> dict[str, Any]:
    raw, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise BadWire("the caller went away")
        raw += message.get("body", b"")
        if len(raw) > MAX_BODY:
            raise BadWire("the message is too large")
        more = message.get("more_body", False)
    try:
        found = json.loads(raw or b"{}")
    except (ValueError, RecursionError):
        raise BadWire("the message is not JSON") from None
    if not isinstance(found, dict):
        raise BadWire("the message is not an object")
    return found


async def _json(send: Any, value: dict[str, Any], status: int = 200) -> None:
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"content-type", b"application/json")]}
    )
    await send({"type": "http.response.body", "body": json.dumps(value).encode()})


async def _text(send: Any, value: str) -> None:
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", b"text/plain; version=0.0.4")],
        }
    )
    await send({"type": "http.response.body", "body": value.encode()})
