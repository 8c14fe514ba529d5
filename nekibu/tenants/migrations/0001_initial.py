from django.contrib.postgres.operations import TrigramExtension, UnaccentExtension
from django.db import migrations, models
from pgvector.django import VectorExtension

import nekibu.ids
from nekibu.tenants.rls import if_role

REFUSE = """
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'rows of % are append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege'; END $$
"""


def grant(apps, schema_editor):
    for statement in (
        "GRANT USAGE ON SCHEMA public TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
        "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO {role}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
        "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {role}",
    ):
        schema_editor.execute(if_role(statement))


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    run_before = [("contenttypes", "0001_initial"), ("sessions", "0001_initial"), ("axes", "0001_initial"), ("auth", "0001_initial")]
    operations = [
        TrigramExtension(),
        UnaccentExtension(),
        VectorExtension(),
        migrations.RunPython(grant, migrations.RunPython.noop),
        migrations.RunSQL(REFUSE, "DROP FUNCTION refuse_change()"),
        migrations.CreateModel(
            name="Tenant",
            fields=[
                ("id", models.UUIDField(default=nekibu.ids.new_id, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(unique=True)),
                ("name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"db_table": "tenants_tenant"},
        ),
    ]
