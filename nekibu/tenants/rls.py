"""Row security as migration operations: who sees a row is decided by PostgreSQL, not by the care of a query's author."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.migrations.operations.base import Operation

TENANT = "tenant_id = nullif(current_setting('app.tenant', true), '')::uuid"


class Isolate(Operation):
    """Force row security on a model's table: only rows of the tenant in scope exist, for the owner's role too.

    `also` is a further SQL condition under which a row may be read (never written), for the few tables that are
    needed before the tenant is known.
    """

    reversible = True

    def __init__(self, model: str, also: str | None = None) -> None:
        self.model, self.also = model, also

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [self.model], {"also": self.also} if self.also else {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The models stay as they are."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        table = schema_editor.quote_name(to_state.apps.get_model(app_label, self.model)._meta.db_table)
        schema_editor.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        schema_editor.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        schema_editor.execute(
            f"CREATE POLICY tenant_isolation ON {table} USING ({TENANT}) WITH CHECK ({TENANT})"
        )
        if self.also:
            schema_editor.execute(f"CREATE POLICY before_tenant ON {table} FOR SELECT USING ({self.also})")

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        table = schema_editor.quote_name(from_state.apps.get_model(app_label, self.model)._meta.db_table)
        schema_editor.execute(f"DROP POLICY IF EXISTS before_tenant ON {table}")
        schema_editor.execute(f"DROP POLICY tenant_isolation ON {table}")
        schema_editor.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
        schema_editor.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")

    def describe(self) -> str:
        return f"Row security on {self.model}"


class AppendOnly(Operation):
    """Rows of this table are written once: a trigger refuses UPDATE and DELETE, and the application role loses both rights."""

    reversible = True

    def __init__(self, model: str) -> None:
        self.model = model

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [self.model], {}

    def state_forwards(self, app_label: str, state: Any) -> None:
        """The models stay as they are."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        table = schema_editor.quote_name(to_state.apps.get_model(app_label, self.model)._meta.db_table)
        schema_editor.execute(
            f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change()"
        )
        schema_editor.execute(if_role(f"REVOKE UPDATE, DELETE ON {table} FROM {{role}}"))

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        table = schema_editor.quote_name(from_state.apps.get_model(app_label, self.model)._meta.db_table)
        schema_editor.execute(f"DROP TRIGGER append_only ON {table}")

    def describe(self) -> str:
        return f"{self.model} is append-only"


def if_role(statement: str) -> str:
    """Run a statement for the application role where that role exists (it does not on a bare test server)."""
    role = settings.APPLICATION_ROLE
    body = statement.format(role=f'"{role}"').replace("'", "''")
    return (
        f"DO $do$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') "
        f"AND current_user <> '{role}' THEN EXECUTE '{body}'; END IF; END $do$"
    )
