"""What every integration test leaves behind: nothing."""

from __future__ import annotations

import pytest

from inference import registry


@pytest.fixture(autouse=True)
def _forget_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that a test registers ends with it."""
    monkeypatch.setattr(registry, "_specs", dict(registry._specs))
