"""How many queries an address needs does not grow with its rows, and stays within the budget that is written down."""

from __future__ import annotations

import json
from pathlib import Path

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.architecture.addresses import guarded

BUDGET = Path(__file__).with_name("query_counts.json")
FEW, MANY = 2, 7


def counted(client, world) -> dict[str, int]:
    """Queries of every GET for an administrator, who sees most."""
    found = {}
    for address in guarded():
        if "get" in address.actions:
            with CaptureQueriesContext(connection) as queries:
                response = address.ask(client, "get", world.ids)
            if response.status_code != 405:
                assert response.status_code == 200, (address.name, response.status_code)
                found[address.name] = len(queries)
    return found


def test_no_address_queries_once_per_row_or_more_than_its_budget(tenant, other_tenant, world_of, signed_in):
    few = counted(signed_in(tenant, "admin"), world_of(tenant, FEW))
    many = counted(signed_in(other_tenant, "admin"), world_of(other_tenant, MANY))
    assert {name: (few[name], many[name]) for name in few if few[name] != many[name]} == {}
    budget = json.loads(BUDGET.read_text())
    over = {
        name: (count, budget.get(name))
        for name, count in few.items()
        if name not in budget or count > budget[name]
    }
    assert over == {}, f"measured now: {json.dumps(few, indent=1, sort_keys=True)}"
    assert set(budget) == set(few)
