"""What a benchmark hands back: one figure with its interval, its target and whether it holds."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

Direction = Literal[">=", "<=", "=="]


@dataclass(frozen=True, slots=True)
class Result:
    """One figure. `target` reads like `>= 0.95`; a figure without a target only informs and `holds` is None."""

    name: str
    value: float | None
    unit: str
    ci: tuple[float, float] | None
    n: int
    target: str | None = None
    holds: bool | None = None

    def to_json(self) -> dict[str, Any]:
        raw = asdict(self)
        raw["value"] = _rounded(self.value)
        raw["ci"] = None if self.ci is None else [_rounded(end) for end in self.ci]
        return raw


def measured(
    name: str,
    value: float | None,
    unit: str,
    *,
    n: int,
    ci: tuple[float, float] | None = None,
    target: tuple[Direction, float] | None = None,
) -> Result:
    """A figure judged against its target. An undefined figure (None or NaN) never holds."""
    if target is None:
        return Result(name, value, unit, ci, n)
    direction, bound = target
    defined = value is not None and not math.isnan(value)
    holds = defined and {
        ">=": lambda v: v >= bound,
        "<=": lambda v: v <= bound,
        "==": lambda v: v == bound,
    }[direction](value)
    return Result(name, value if defined else None, unit, ci, n, f"{direction} {bound:g}", holds)


def last_line(results: list[Result]) -> str:
    """The machine-readable line: one object, or a list of them."""
    rows = [result.to_json() for result in results]
    return json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False, allow_nan=False)


def _rounded(value: float | None) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(f"{value:.6g}")
