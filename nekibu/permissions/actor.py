"""Who acts: built once at the door and passed down. There is no act without an actor; the system is one with a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

Channel = Literal["web", "api", "system"]


@dataclass(frozen=True, slots=True)
class Actor:
    """A person, a token of a person, or a named part of the system, in one tenant.

    `scopes` is None for a session; a token may do only what it names, and never more than its person.
    """

    tenant_id: UUID
    name: str
    user_id: UUID | None = None
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] | None = None
    channel: Channel = "web"

    @classmethod
    def system(cls, tenant_id: UUID, name: str) -> Actor:
        """A named part of the system, such as `worker` or `sweeper`."""
        return cls(tenant_id=tenant_id, name=name, roles=frozenset({"system"}), channel="system")

    @property
    def is_person(self) -> bool:
        """Whether a person stands behind the act, by session or by token."""
        return self.user_id is not None

    def to_json(self) -> dict[str, Any]:
        """For the message header of a job."""
        return {
            "tenant_id": str(self.tenant_id),
            "name": self.name,
            "user_id": str(self.user_id) if self.user_id else None,
            "roles": sorted(self.roles),
            "scopes": sorted(self.scopes) if self.scopes is not None else None,
            "channel": self.channel,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Actor:
        """The inverse of `to_json`."""
        return cls(
            tenant_id=UUID(value["tenant_id"]),
            name=value["name"],
            user_id=UUID(value["user_id"]) if value["user_id"] else None,
            roles=frozenset(value["roles"]),
            scopes=frozenset(value["scopes"]) if value["scopes"] is not None else None,
            channel=value["channel"],
        )
