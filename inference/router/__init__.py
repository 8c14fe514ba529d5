"""Stage 7: which tier answers. Hard rules first; in this form the economic tier is the only model there is."""

from __future__ import annotations

from inference.router.rules import Situation, choose_route

__all__ = ["Situation", "choose_route"]
