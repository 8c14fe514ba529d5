"""A question, what it is about, and who asks it under which policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from inference.types.canonical import digest, plain
from inference.types.policy import ServicePolicy
from nekibu.permissions.actor import Actor

Risk = Literal["R0", "R1", "R2", "R3"]
Mode = Literal["auto", "online", "batch"]


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """One question to one registered task. There is no field for salt, rid, priority, model or engine parameters."""

    actor: Actor
    task: str
    subject: tuple[str, str]  # type, id
    idempotency_key: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    task_version: int | None = None
    as_of: datetime | None = None
    mode: Mode = "auto"
    deadline_at: datetime | None = None
    locale: str = "tr"
    correlation: Mapping[str, str] = field(default_factory=dict)  # run, node, batch, evaluation …
    endpoint: str = "decide"

    @property
    def tenant_id(self) -> UUID:
        """The tenant is the actor's; nobody asks for another."""
        return self.actor.tenant_id

    def content_hash(self) -> str:
        """What must be equal for the same key to mean the same request; the actor's name and channel do not count."""
        return digest(
            [self.task, self.task_version, self.subject, self.inputs, self.as_of, self.mode, self.endpoint]
        )

    def to_json(self) -> dict[str, Any]:
        """For the encrypted body of a request that waits."""
        value: dict[str, Any] = plain(self)
        return {**value, "actor": self.actor.to_json()}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> TaskRequest:
        """The inverse of `to_json`."""
        return cls(
            **{
                **value,
                "actor": Actor.from_json(value["actor"]),
                "subject": tuple(value["subject"]),
                "as_of": datetime.fromisoformat(value["as_of"]) if value["as_of"] else None,
                "deadline_at": datetime.fromisoformat(value["deadline_at"]) if value["deadline_at"] else None,
            }
        )


@dataclass(frozen=True, slots=True)
class Subject:
    """What a task is about, loaded and authorised by the product. `value` is the product's own frozen value.

    `label` stays in the record for good, so it names the thing and not the person. `group_key` gathers the questions
    to a person about one thing (five criteria of one application) into one entry of the inbox.
    """

    type: str
    id: str
    label: str
    value: Any = None
    ai_opt_out: bool = False
    language: str = "tr"
    flags: frozenset[str] = frozenset()  # hidden_text, injection, contradiction, quality_low, human_only …
    url: str = ""
    group_key: str = ""
    group_title: str = ""


@dataclass(frozen=True, slots=True)
class TaskProfile:
    """Who asks what, what is at stake, and under which policy."""

    task: str
    version: int
    spec_hash: str
    actor_digest: str
    risk: Risk
    reversibility: str
    data_class: str
    trust_class: str
    acl_epoch: str
    policy: ServicePolicy
    language: str
    ai_opt_out: bool
    flags: frozenset[str]
    reasons: tuple[str, ...]
