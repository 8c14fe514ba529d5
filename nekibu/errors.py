"""The error tree: few promises that can break, each with a code, an HTTP status and a sentence for the reader."""

from __future__ import annotations

from typing import Any, ClassVar


class NekibuError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str | None = None, *, code: str | None = None, **data: Any) -> None:
        self.message = message or (type(self).__doc__ or "").strip().splitlines()[0]
        self.error_code = code or self.code
        self.data = data
        super().__init__(self.message)


class InvalidInput(NekibuError):
    """The request is not valid."""

    code, status = "invalid_input", 400


class NotSignedIn(NekibuError):
    """Sign in first."""

    code, status = "not_signed_in", 401


class NotPermitted(NekibuError):
    """You do not have the right to do this."""

    code, status = "not_permitted", 403


class NotFound(NekibuError):
    """There is no such object."""

    code, status = "not_found", 404


class Conflict(NekibuError):
    """The object is no longer in the state that this act expects."""

    code, status = "conflict", 409


class IllegalMove(Conflict):
    """This move is not possible from the current state."""

    code = "illegal_move"


class AlreadyDecided(Conflict):
    """This request has already been decided."""

    code = "already_decided"


class StaleVersion(Conflict):
    """The object has changed since you opened it."""

    code = "stale_version"


class Gone(NekibuError):
    """This request has expired."""

    code, status = "expired", 410


class TooLarge(NekibuError):
    """The file is too large."""

    code, status = "too_large", 413


class Refused(NekibuError):
    """A rule of the domain refuses this."""

    code, status = "refused", 422


class OverBudget(NekibuError):
    """A limit has been reached."""

    code, status, retryable = "over_budget", 429, True


class Unavailable(NekibuError):
    """A part of the system is not available at the moment. Try again shortly."""

    code, status, retryable = "unavailable", 503, True
