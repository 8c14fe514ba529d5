"""Which rows of a table of cases a test holds: they stand in its id, so that a row without a test is found by its absence."""

from __future__ import annotations

import pytest


def case(*rows: str) -> pytest.MarkDecorator:
    """`@case("ACC-31")` above `def test_…(row)`: the rows become part of the test's id."""
    return pytest.mark.parametrize("row", [" ".join(rows)])
