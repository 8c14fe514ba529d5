"""The tenant in scope: one transaction, one `SET LOCAL app.tenant`, and a refusal everywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.db import connection, transaction

from nekibu.errors import NekibuError

_current: ContextVar[UUID | None] = ContextVar("tenant", default=None)


class Unscoped(NekibuError):
    """Rows of a tenant were asked for outside a tenant's scope."""

    code = "unscoped"


class CrossTenant(NekibuError):
    """A row of one tenant was touched in the scope of another."""

    code = "cross_tenant"


def current_tenant() -> UUID:
    """The tenant in scope. Raises `Unscoped` when there is none."""
    tenant_id = _current.get()
    if tenant_id is None:
        raise Unscoped
    return tenant_id


def in_scope() -> bool:
    """Whether a tenant is in scope."""
    return _current.get() is not None


@contextmanager
def tenant_scope(tenant_id: UUID) -> Iterator[None]:
    """Open a transaction in which row security shows this tenant's rows and no other's.

    Nesting the same tenant gives a savepoint; nesting another raises `CrossTenant`.
    """
    held = _current.get()
    if held is not None and held != tenant_id:
        raise CrossTenant
    outer = connection.in_atomic_block
    with transaction.atomic():
        if held is None:
            set_local("app.tenant", str(tenant_id))
        token = _current.set(tenant_id)
        try:
            yield
        finally:
            _current.reset(token)
        if held is None and outer:
            set_local("app.tenant", "")


def set_local(name: str, value: str) -> None:
    """`SET LOCAL` a custom setting that row security policies read; it ends with the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config(%s, %s, true)", [name, value])
