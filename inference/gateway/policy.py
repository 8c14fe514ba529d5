"""Which rules the queue follows, and the times that they speak of. The defaults are the policy; the rest is for comparison."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules on is what the gateway serves with; all off is first come, first served."""

    bands: bool = True  # a higher band goes first
    fair: bool = True  # in a band, the tenant that was served least
    due: bool = True  # of a tenant, what is due first
    admission: bool = True  # what cannot keep its promise is demoted or rejected, as its task says
    hold_back: bool = True  # batch leaves room for those who wait in person
    near: float = 0.05  # seconds: among what is due so closely together, the last prefix goes on
    span: float = 2.0  # seconds over which work is counted
    memory: float = 60.0  # seconds over which promises kept are counted


FIRST_COME = Policy(bands=False, fair=False, due=False, admission=False, hold_back=False)
