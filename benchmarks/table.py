"""Plain text tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.result import Result


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest cell, numbers to the right."""
    body = [[_cell(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in [list(head), *body]) for i in range(len(head))]
    right = [bool(body) and all(_is_number(row[i]) for row in body) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    return "\n".join([line(head), line(["-" * width for width in widths]), *(line(row) for row in body)])


def results_table(results: Sequence[Result]) -> str:
    """The results of one benchmark as a person reads them."""
    marks = {True: "holds", False: "MISSED", None: ""}
    return table(
        ("figure", "value", "unit", "95 % interval", "n", "target", ""),
        ((r.name, r.value, r.unit, _interval(r.ci), r.n, r.target or "", marks[r.holds]) for r in results),
    )


def _interval(ci: tuple[float, float] | None) -> str:
    return "" if ci is None else f"{_cell(ci[0])} … {_cell(ci[1])}"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "–"
    return True
