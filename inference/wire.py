"""The JSON that crosses the socket between the application and the gateway: frozen values, versioned, unknown fields refused."""

from __future__ import annotations

import dataclasses
import functools
import sys
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

from inference.errors import BadUsage, BadWire
from inference.slo import MAX_QUEUE_TTL, Band
from inference.usage import Usage

VERSION = 2
POOL = "default"  # the only pool of engines for now


class Message:
    """A value with a strict JSON form. Every message carries the version of this file's vocabulary."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        return {"v": VERSION, **_plain(self)}

    @classmethod
    def from_json(cls, raw: object) -> Self:
        """The value in `raw`. Raises `BadWire` for another version, an unknown or missing field, or a wrong type."""
        if not isinstance(raw, dict):
            raise BadWire(f"{cls.__name__} must be a JSON object")
        if raw.get("v") != VERSION:
            raise BadWire(
                f"{cls.__name__} has version {raw.get('v')!r}; this side speaks {VERSION}", field="v"
            )
        return _build(cls, {name: value for name, value in raw.items() if name != "v"})


@dataclass(frozen=True, slots=True)
class Ticket(Message):
    """One request for one answer. There is no field for salt, rid or priority: the gateway sets them."""

    attempt_id: str  # uuid4 hex, chosen by the caller, once per attempt
    decision_id: str
    band: Band
    queue_ttl: float  # seconds the request may wait before it is refused
    input_ids: tuple[int, ...]
    max_out: int
    tenant: str | None = None  # a namespace without its three parts shares nothing
    trust_class: str | None = None
    acl_epoch: str | None = None
    cache: Literal["isolated", "off"] = "isolated"
    deadline: float | None = None  # seconds from arrival until the answer must be whole
    prefix_hash: str = ""  # first sharing level: the static part
    prefix_tokens: int = 0
    share_hash: str = ""  # second sharing level: the static part and the document
    share_tokens: int = 0
    temperature: float = 0.0
    stop_token_ids: tuple[int, ...] = ()
    json_schema: str | None = None
    pool: str = POOL
    key: str = ""  # the task, whose answers are alike in length
    ttft: float | None = None  # seconds from arrival until the first token is promised; None: no promise
    on_predicted_miss: Literal["demote", "reject", "serve_late"] = "serve_late"
    share: float = 1.0  # of the service, beside tenants of share 1

    def __post_init__(self) -> None:
        if len(self.attempt_id) != 32 or set(self.attempt_id) - set("0123456789abcdef"):
            raise BadWire("attempt_id must be 32 lowercase hex characters", field="attempt_id")
        if not self.input_ids:
            raise BadWire("input_ids is empty", field="input_ids")
        if self.pool != POOL:
            raise BadWire(f"there is no pool {self.pool!r}", field="pool")
        if self.max_out < 1:
            raise BadWire("max_out must be at least 1", field="max_out")
        if not 0 < self.queue_ttl <= MAX_QUEUE_TTL:
            raise BadWire(
                f"queue_ttl must be above 0 and at most {MAX_QUEUE_TTL:.0f} seconds", field="queue_ttl"
            )
        if self.deadline is not None and self.deadline <= 0:
            raise BadWire("deadline must be in the future", field="deadline")
        if self.ttft is not None and self.ttft <= 0:
            raise BadWire("ttft must be above 0", field="ttft")
        if self.share <= 0:
            raise BadWire("share must be above 0", field="share")
        if not 0.0 <= self.temperature <= 2.0:
            raise BadWire("temperature must be between 0 and 2", field="temperature")
        if not 0 <= self.prefix_tokens <= len(self.input_ids) or not 0 <= self.share_tokens <= len(
            self.input_ids
        ):
            raise BadWire("a shared part cannot be longer than the input", field="prefix_tokens")


@dataclass(frozen=True, slots=True)
class Phases:
    """Where the time of one attempt went, in seconds; None where it was not observed."""

    gateway_queue: float | None = None
    engine_queue: float | None = None
    prefill: float | None = None
    decode: float | None = None


class Frame(Message):
    """One event of a generation, in the order of the classes below. `TERMINAL` ones end the stream."""

    __slots__ = ()
    type: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        return {"v": VERSION, "type": self.type, **_plain(self)}


@dataclass(frozen=True, slots=True)
class Queued(Frame):
    """The request waits: `position` counts from 1 in its band, `ahead` counts all that will be served before it."""

    type: ClassVar[str] = "queued"
    position: int
    ahead: int


@dataclass(frozen=True, slots=True)
class Started(Frame):
    """The request was handed to an engine."""

    type: ClassVar[str] = "started"
    engine: str
    model: str
    revision: str


@dataclass(frozen=True, slots=True)
class Delta(Frame):
    """New text, and how many tokens produced it (text may be empty while a character is incomplete)."""

    type: ClassVar[str] = "delta"
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Restart(Frame):
    """The engine was lost or had no room before its first token; the request waits again under the same deadline."""

    type: ClassVar[str] = "restart"


@dataclass(frozen=True, slots=True)
class Done(Frame):
    """The answer is whole (or the engine refused it: `finish` is `error` and `error` names the kind)."""

    type: ClassVar[str] = "done"
    finish: Literal["stop", "length", "abort", "error"]
    text: str
    usage: Usage
    phases: Phases
    ttft: float | None
    tpot: float | None
    requeues: int
    model_revision: str
    engine_fingerprint: str
    salt_id: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Refused(Frame):
    """Not served, and nothing was computed. `retry_after` in seconds; None: asking again will not help."""

    type: ClassVar[str] = "refused"
    reason: str
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Demoted(Frame):
    """Its time to the first token cannot be kept, and its task would rather have it done later: on the batch clock."""

    type: ClassVar[str] = "demoted"
    reason: str


@dataclass(frozen=True, slots=True)
class Aborted(Frame):
    """Ended in the middle. What was computed is in `usage` and is billed; the text so far came as deltas."""

    type: ClassVar[str] = "aborted"
    cause: str
    retryable: bool
    usage: Usage
    phases: Phases
    ttft: float | None
    tpot: float | None
    requeues: int
    model_revision: str
    engine_fingerprint: str
    salt_id: str


FRAMES: dict[str, type[Frame]] = {
    kind.type: kind for kind in (Queued, Started, Delta, Restart, Done, Refused, Demoted, Aborted)
}
TERMINAL = (Done, Refused, Demoted, Aborted)


def frame_from_json(raw: object) -> Frame:
    """The frame in `raw`. Raises `BadWire` when its type is unknown or its fields are wrong."""
    if not isinstance(raw, dict) or str(raw.get("type")) not in FRAMES:
        raise BadWire("unknown frame")
    kind = FRAMES[str(raw["type"])]
    return kind.from_json({name: value for name, value in raw.items() if name != "type"})


@dataclass(frozen=True, slots=True)
class AttemptRecord(Message):
    """What an attempt cost although nobody was there to hear it; kept until somebody acknowledges it."""

    attempt_id: str
    decision_id: str
    tenant: str | None
    band: Band
    ended_at: float  # Unix seconds
    finish: Literal["stop", "length", "abort", "error"]
    cause: str | None
    usage: Usage
    phases: Phases
    ttft: float | None
    tpot: float | None
    requeues: int
    model_revision: str
    engine_fingerprint: str
    salt_id: str


EngineStage = Literal["installing", "loading", "ready", "restarting", "down"]


@dataclass(frozen=True, slots=True)
class EngineView(Message):
    """One engine of the pool, as people see it."""

    engine: str
    state: EngineStage
    since: float  # Unix seconds of the last change
    detail: str
    model: str
    revision: str
    device: str
    slots: int | None
    max_total_tokens: int | None
    running: int
    restarts: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class EngineState(Message):
    """What the gateway knows of its engines as one: for the header, `/readyz`, and whoever must tokenise for them.

    `state` is that of the engine that is furthest, for work can be done as soon as one is ready; `worst` that of the engine
    that is least far. All engines of the pool have one model; slots and tokens are those of the engines that are ready.
    """

    engine: str  # a name for people: the fake says so
    kind: Literal["sglang", "fake"]
    state: EngineStage
    since: float  # Unix seconds of the last change
    detail: str
    model: str
    revision: str
    device: str
    tokenizer: str  # a tokenizer.json path, or "bytes"; empty until known
    template: str
    context_length: int | None = None
    max_input: int | None = None  # longest prompt the engine takes
    vocab_size: int | None = None
    slots: int | None = None
    max_total_tokens: int | None = None
    fingerprint: str = ""
    draining: bool = False
    running: int = 0
    engines: int = 1
    engines_ready: int = 0
    worst: EngineStage = "ready"
    queues: dict[str, int] = field(default_factory=dict)
    counters: dict[str, float] = field(default_factory=dict)
    policy: dict[str, float] = field(default_factory=dict)  # what the queue predicted, promised and put off

    @property
    def ready(self) -> bool:
        return self.state == "ready" and not self.draining


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: _plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return list(value)
    return value


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _build(kind: type[Any], raw: Mapping[str, Any], at: str = "") -> Any:
    fields = {item.name: item for item in dataclasses.fields(kind)}
    if unknown := sorted(set(raw) - set(fields)):
        raise BadWire(f"unknown field {at}{unknown[0]}", field=at + unknown[0])
    for name, item in fields.items():
        required = item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING
        if required and name not in raw:
            raise BadWire(f"missing field {at}{name}", field=at + name)
    hints = _hints(kind)  # type: ignore[arg-type]
    read = {name: _read(hints[name], value, at + name) for name, value in raw.items()}
    try:
        return kind(**read)
    except BadUsage as contradiction:
        raise BadWire(contradiction.message, field=at.rstrip(".")) from contradiction


def _read(hint: Any, value: Any, at: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return None if value is None else _read(next(a for a in arguments if a is not type(None)), value, at)
    if origin is Literal:
        if value in arguments:
            return value
    elif origin is tuple:
        if isinstance(value, list) and all(type(item) is arguments[0] for item in value):
            return tuple(value)
    elif origin is dict:
        if isinstance(value, dict) and all(type(item) in (int, float) for item in value.values()):
            return value
    elif hint is Band:
        if isinstance(value, str) and value in set(Band):
            return Band(value)
    elif dataclasses.is_dataclass(hint):
        if isinstance(value, dict):
            return _build(typing.cast("type[Any]", hint), value, f"{at}.")
    elif hint is float:
        if type(value) in (int, float) and abs(value) <= sys.float_info.max:  # neither NaN nor endless
            return float(value)
    elif type(value) is hint:
        return value
    raise BadWire(f"field {at} has a value of the wrong kind", field=at)
