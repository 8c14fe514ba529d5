"""What every test may use: a throw-away server, two tenants, actors in every role. Tests that need no database pay nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PURE = {"unit", "engine", "gpu", "e2e"}
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "1")


def _storeys(config: pytest.Config) -> set[str]:
    found: set[str] = set()
    for argument in config.args or ["tests"]:
        path = Path(argument.split("::")[0]).resolve()
        try:
            parts = path.relative_to(HERE).parts
        except ValueError:
            parts = ()
        found |= {parts[0]} if parts else {"integration"}
    return found


def pytest_configure(config: pytest.Config) -> None:
    """Start the throw-away server where the settings of the tests look for it, unless every chosen test is pure.

    pytest-django reads the settings before this file, so they choose the directory and the server follows.
    """
    if _storeys(config) <= PURE:
        return
    from django.conf import settings

    from tests.cluster import Cluster

    cluster = Cluster(state=settings.LAYOUT.state)
    cluster.start()
    config.add_cleanup(cluster.stop)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """Migrate as the owner, then test as the application: what production may not do, no test can do."""
    from django.conf import settings
    from django.db import connection
    from django.test.utils import setup_databases, teardown_databases

    owner = {"USER": "nekibu_owner", "PASSWORD": settings.SECRETS.pg_owner_password}
    with django_db_blocker.unblock():
        connection.settings_dict.update(owner)
        made = setup_databases(verbosity=0, interactive=False)
        with connection.cursor() as cursor:
            cursor.execute(
                "GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO nekibu_app"
            )  # how tests are cleaned
        connection.close()
        connection.settings_dict.update(USER="nekibu_app", PASSWORD=settings.SECRETS.pg_app_password)
    yield
    with django_db_blocker.unblock():
        connection.close()
        connection.settings_dict.update(owner)
        teardown_databases(made, verbosity=0)


@pytest.fixture
def tenant(db: None) -> Any:
    """The first tenant."""
    from nekibu.tenants.models import Tenant

    return Tenant.objects.create(slug="anka", name="Anka")


@pytest.fixture
def other_tenant(db: None) -> Any:
    """The second tenant."""
    from nekibu.tenants.models import Tenant

    return Tenant.objects.create(slug="mavi", name="Mavi")


@pytest.fixture
def person_of(db: None) -> Any:
    """`person_of(tenant, role)` → the actor of a new or known person."""
    from nekibu.permissions.actor import Actor
    from nekibu.tenants.scope import tenant_scope
    from nekibu.users.models import User
    from nekibu.users.services import add_member

    def make(tenant: Any, role: str) -> Actor:
        email = f"{role}@{tenant.slug}.example"
        user = User.objects.filter(email=email).first() or User.objects.create_user(
            email, role.title(), "a-long-password"
        )
        with tenant_scope(tenant.id):
            add_member(actor=Actor.system(tenant.id, "test"), user=user, role=role)
        return Actor(tenant_id=tenant.id, name=user.name, user_id=user.id, roles=frozenset({role}))

    return make
