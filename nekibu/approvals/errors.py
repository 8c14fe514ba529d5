"""The promises of approvals that can break."""

from __future__ import annotations

from nekibu.errors import Conflict, NekibuError, NotPermitted


class ApprovalVoid(Conflict):
    """What was to be decided has changed since the request was made; a new request is needed."""

    code = "approval_void"


class OtherParameters(NekibuError):
    """These are not the parameters of this request. Read it again and decide on what it says now."""

    code, status = "other_parameters", 412


class ParametersNeeded(NekibuError):
    """Say on which parameters you decide: send the request's ETag in If-Match."""

    code, status = "parameters_needed", 428


class MethodNotAllowed(NekibuError):
    """A decision is made by POST only."""

    code, status = "method_not_allowed", 405


class StepUpNeeded(NotPermitted):
    """The risk is high: give your password once more to decide this."""

    code = "step_up_required"


class StepUpFailed(NotPermitted):
    """This is not your password. Nothing was decided."""

    code = "step_up_failed"


class DecidingStopped(Conflict):
    """Deciding has been stopped for this kind of question."""

    code = "deciding_stopped"


class DelegationRefused(Conflict):
    """This delegation is not possible."""

    code = "delegation_refused"
