"""The few promises of this app that can break: the engine is away, the queue is full, a text does not fit."""

from __future__ import annotations

from nekibu.errors import InvalidInput, OverBudget, Refused, Unavailable


class EngineDown(Unavailable):
    """The language model is not available at the moment."""

    code = "engine_down"


class GatewayLost(Unavailable):
    """The connection to the inference gateway was lost."""

    code = "gateway_lost"


class Draining(Unavailable):
    """The inference gateway is shutting down and takes no new work."""

    code = "draining"


class QueueFull(OverBudget):
    """The queue for this service class is full."""

    code = "queue_full"


class PromiseMissed(OverBudget):
    """The answer cannot begin in the promised time at the moment."""

    code = "predicted_miss"


class ContextTooLarge(Refused):
    """The text does not fit into the context of the model."""

    code = "context_too_large"


class BadWire(InvalidInput):
    """A message between the application and the gateway does not have the agreed form."""

    code = "bad_wire"


class BadUsage(InvalidInput):
    """A usage record contradicts itself."""

    code = "bad_usage"
