"""What every test may use: a throw-away server, two tenants, actors in every role. Tests that need no database pay nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PURE = {"unit", "engine", "gpu", "e2e"}
# How a test that commits is cleaned up after. Truncating every table takes longer than most tests; row security and
# append-only triggers do not bind the one who runs this.
EMPTY_ALL = """
CREATE FUNCTION empty_all() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET session_replication_role = replica AS $$
DECLARE name regclass;
BEGIN
  FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND pg_relation_size(oid) > 0 AND relname NOT IN ('django_migrations', 'django_content_type', 'auth_permission')
  LOOP EXECUTE format('DELETE FROM %s', name); END LOOP;
END $$;
GRANT EXECUTE ON FUNCTION empty_all() TO nekibu_app;
"""
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
    master = {"USER": "postgres", "PASSWORD": settings.SECRETS.pg_superuser_password}
    with django_db_blocker.unblock():
        connection.settings_dict.update(owner)
        made = setup_databases(verbosity=0, interactive=False)
        connection.close()
        connection.settings_dict.update(master)
        with connection.cursor() as cursor:
            cursor.execute(EMPTY_ALL)
        connection.close()
        connection.settings_dict.update(USER="nekibu_app", PASSWORD=settings.SECRETS.pg_app_password)
        connection.ops.sql_flush = lambda *args, **options: ["SELECT empty_all()"]
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
