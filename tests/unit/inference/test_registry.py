"""Registration refuses what no task may be."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inference.registry import BadSpec, find, register
from inference.types import Approval, CachePolicy, ServicePolicy
from nekibu.errors import NotFound
from tests.unit.inference.specs import SCHEMA, Lines

never = ServicePolicy(approval=Approval(mode="never"))


@pytest.mark.parametrize(
    "changes",
    [
        {"impact": "high", "policy": never},
        {"reversibility": "irreversible", "policy": never},
        {"adverse_effect_on_person": True},
        {"policy": ServicePolicy(cache=CachePolicy(response=True))},
        {"min_tier": "strong"},
        {"claim_paths": ()},
        {"output_schema": {**SCHEMA, "additionalProperties": True}},
        {"output_schema": {**SCHEMA, "properties": {"note": {"type": "string"}}}},
        {"output_schema": {**SCHEMA, "properties": {"list": {"type": "array", "items": {"enum": ["a"]}}}}},
    ],
)
def test_an_unsafe_task_is_refused(changes):
    with pytest.raises(BadSpec):
        register(Lines().spec(slug="lines.unsafe", **changes))


def test_one_version_has_one_content():
    lines = Lines()
    spec = lines.spec(slug="lines.once")
    register(spec)
    register(replace(spec))
    with pytest.raises(BadSpec):
        register(replace(spec, prompt_version="lines-2"))
    register(replace(spec, version=2, prompt_version="lines-2"))
    assert find("lines.once").version == 2
    assert find("lines.once", 1) == spec
    with pytest.raises(NotFound):
        find("lines.once", 3)
    with pytest.raises(NotFound):
        find("lines.unheard")
