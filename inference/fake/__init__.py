"""A fake engine without weights, shipped for tests and labelled in the interface wherever it is on.

`python -m inference.fake --port N` speaks SGLang's HTTP dialect, so the real gateway runs in front of it; `LocalGateway` is
the same engine inside this process.
"""

from __future__ import annotations

from inference.fake.engine import FakeEngine
from inference.fake.local import LocalGateway

__all__ = ["FakeEngine", "LocalGateway"]
