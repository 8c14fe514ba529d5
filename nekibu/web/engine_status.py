"""What the header and `/readyz` say about the engine: asked from the gateway at most every two seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inference.errors import EngineDown, GatewayLost
from inference.services import gateway
from inference.web.retelling import engine_detail
from inference.web.words import ENGINE_STATES
from inference.wire import EngineState

KEY = "nekibu:engine-state"
FRESH = 2  # seconds

DEVICES = {"none": "", "remote": gettext_lazy("on another machine")}


def engine_state() -> EngineState | None:
    """The gateway's word, or None when the gateway does not answer."""
    known = cache.get(KEY)
    if known is None:
        try:
            known = gateway().state().to_json()
        except (EngineDown, GatewayLost):
            known = {}
        cache.set(KEY, known, FRESH)
    return EngineState.from_json(known) if known else None


def engine_status() -> dict[str, Any]:
    """For templates: state with its word, model, device, and a flag when the answers are not those of a qualified engine."""
    state = engine_state()
    if state is None:
        return {
            "state": "down",
            "state_label": ENGINE_STATES["down"],
            "detail": _("The gateway does not answer."),
        }
    shown = "restarting" if state.draining and state.state == "ready" else state.state
    return {
        "state": shown,
        "state_label": ENGINE_STATES[shown],
        "name": state.engine,
        "model": state.model.rstrip("/").rsplit("/", 1)[-1],
        "revision": state.revision,
        "device": DEVICES.get(state.device, state.device),
        "context_length": state.context_length,
        "since": datetime.fromtimestamp(state.since, UTC),
        "detail": engine_detail(state.detail),
        "running": state.running,
        "engines": state.engines,
        "engines_ready": state.engines_ready,
        "worst": state.worst,
        "waiting": sum(state.queues.values()),
        **_flag(state),
    }


def _flag(state: EngineState) -> dict[str, str]:
    if state.kind == "fake":
        return {
            "flag": _("Fake engine"),
            "flag_note": _("Answers come from a fixed rule, not from a model. Use them for tests only."),
        }
    if settings.NEKIBU_ENGINE_UNQUALIFIED:
        return {
            "flag": _("Unqualified"),
            "flag_note": _(
                "This model has not passed the qualification tests for decisions. Check every verdict."
            ),
        }
    return {}
