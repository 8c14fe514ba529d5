"""Property tests look at values, never at the clock: a busy machine must not fail them."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("nekibu", deadline=None)
settings.load_profile("nekibu")
