"""From figures to charts: one function for each question that a page answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from django.utils.translation import gettext as _

from inference.ledger.chains import Ceiling
from inference.ledger.figures import Figures, Spent
from inference.ledger.selectors import Row
from inference.metrics.phases import PARTS, Dominant
from inference.states import WAITING
from inference.web.operations.charts import Chart, Series, number, point_name
from inference.web.operations.filters import Scope, value_word
from inference.web.words import OUTCOMES, PHASES, TIERS, sentence_case, word
from inference.web.words import PARTS as PART_WORDS

AIM = 0.95  # of the requests that were sent should get what was promised
OUTCOME_TONES = {
    "accepted": "success",
    "waiting": "info",
    "failed": "error",
    "rejected": "warning",
    "ended": "",
}


def outcome_counts(figures: Figures) -> dict[str, int]:
    """Decisions by what became of them."""
    found = dict.fromkeys(OUTCOMES, 0)
    for status, n in figures.statuses.items():
        name = "waiting" if status in WAITING else status if status in found else "ended"
        found[name] += n
    return found


def outcomes(scope: Scope, rows: Sequence[Row]) -> Chart:
    """What became of the decisions, over time."""
    counts = [outcome_counts(row.figures) for row in rows]
    return Chart(
        "outcomes",
        "stack",
        "count",
        _("Asked"),
        _points(scope, rows),
        tuple(
            Series(
                sentence_case(word(OUTCOMES, name)),
                tuple(one[name] for one in counts),
                links=tuple(scope.behind(name, _key(scope.time, row)) for row in rows),
                tone=OUTCOME_TONES[name],
            )
            for name in OUTCOMES
            if any(one[name] for one in counts)
        ),
        _("Decisions by what became of them."),
    )


def attainment(scope: Scope, rows: Sequence[Row], name: str = "band") -> Chart:
    """Which share of the requests got what was promised, by urgency, with its interval."""
    kept = [row for row in rows if row.figures.targets.sent]
    bounds = [row.figures.targets.interval or (None, None) for row in kept]
    return Chart(
        "attainment",
        "bars",
        "percent",
        _("Urgency"),
        tuple(value_word(name, row.key[0]) for row in kept),
        (
            Series(
                _("Targets met"),
                tuple(row.figures.targets.share for row in kept),
                tuple(low for low, _high in bounds),
                tuple(high for _low, high in bounds),
                tuple(scope.behind("missed", {name: row.key[0]}) for row in kept),
            ),
        ),
        _("Share of the requests that got what their policy promises, with its interval."),
        aim=AIM,
    )


def attainment_over_time(scope: Scope, rows: Sequence[Row], bands: Sequence[str]) -> Chart:
    """The same over time, a line for each urgency; `rows` are listed by time and band."""
    shares = {row.key: row.figures.targets.share for row in rows}
    return Chart(
        "attainment-time",
        "lines",
        "percent",
        _("Asked"),
        *_crossed(scope, shares, "band", bands, behind="missed"),
        _("Share of the requests that got what was promised, over time."),
        aim=AIM,
    )


def hits(scope: Scope, rows: Sequence[Row]) -> Chart:
    """Tokens and requests that were read from the cache, over time."""
    return Chart(
        "hits",
        "lines",
        "percent",
        _("Asked"),
        _points(scope, rows),
        (
            Series(_("Of the tokens"), tuple(row.figures.reads.by_tokens for row in rows), links=_links(scope, rows, "attempts")),
            Series(_("Of the requests"), tuple(row.figures.reads.by_requests for row in rows), links=_links(scope, rows, "attempts")),
        ),
        _("What was read from the cache, as a share of the input tokens and of the requests."),
    )  # fmt: skip


def ceiling_steps(found: Ceiling) -> Chart | None:
    """From the best possible sharing down to what was read."""
    steps = found.steps
    if steps is None:
        return None
    names = (
        (_("Best possible, nobody kept apart"), steps.free),
        (_("Keeping apart costs"), -steps.isolation),
        (_("Best possible inside the name spaces"), steps.kept),
        (_("Parts too small to share"), -steps.too_small),
        (_("Evicted, out of order, or restarted"), -steps.lost),
        (_("Read from the cache"), steps.actual),
    )
    return Chart(
        "ceiling",
        "steps",
        "percent",
        _("Step"),
        tuple(name for name, _share in names),
        (Series(_("Of the input tokens"), tuple(share for _name, share in names)),),
        _("From the best sharing that any cache could have reached down to what was read."),
    )


def cost_per_valid(scope: Scope, rows: Sequence[Row], currency: str) -> Chart:
    """What a valid decision cost, over time, with its interval."""
    spent = [_spent(row.figures, currency) for row in rows]
    return Chart(
        "cost-per-valid",
        "lines",
        "money",
        _("Asked"),
        _points(scope, rows),
        (
            Series(
                _("Cost of a valid decision"),
                tuple(number(one.per_valid.amount) if one else None for one in spent),
                tuple(one.interval[0] if one and one.interval else None for one in spent),
                tuple(one.interval[1] if one and one.interval else None for one in spent),
                _links(scope, rows, "valid"),
            ),
        ),
        _("All spending, failed attempts included, over the decisions that hold; with its interval."),
        currency=currency,
    )


def spending(scope: Scope, rows: Sequence[Row], name: str, currency: str) -> Chart:
    """Where the money went, over time; `rows` are listed by time and a dimension."""
    known = {
        row.key: float(
            sum(amount for (kind, _state), (amount, _n) in row.figures.cell.money.items() if kind == currency)
        )
        for row in rows
    }
    return Chart(
        "spending",
        "stack",
        "money",
        _("Asked"),
        *_crossed(scope, known, name, sorted({value for _at, value in known})),
        _("Known spending over time."),
        currency=currency,
    )


def phases(found: Dominant) -> Chart:
    """What the slowest twentieth of the requests spends its time on, with intervals."""
    shares = [share for share in found.shares if share.mean > 0]
    return Chart(
        "phases",
        "rows",
        "percent",
        _("Phase"),
        tuple(part_word(share.phase) for share in shares),
        (
            Series(
                _("Share of the time"),
                tuple(share.mean for share in shares),
                tuple(share.low for share in shares),
                tuple(share.high for share in shares),
            ),
        ),
        _("Mean share of each phase in the whole time of the slowest twentieth, with its interval."),
    )


def waterfall(scope: Scope, figures: Figures) -> Chart:
    """The median and the slow end of each phase, one after the other."""
    kept = [name for name in PARTS if figures.times[name][0].n]
    slow = {name: figures.time(name, 0.95) for name in kept}
    return Chart(
        "waterfall",
        "rows",
        "seconds",
        _("Phase"),
        tuple(part_word(name) for name in kept),
        (
            Series(_("Half take at most"), tuple(figures.time(name, 0.5).value for name in kept)),
            Series(
                _("95 of 100 take at most"),
                tuple(slow[name].value for name in kept),
                links=tuple(
                    scope.behind("decisions", None, time=name, over=f"{value:.6f}")
                    if (value := slow[name].value) is not None
                    else ""
                    for name in kept
                ),
                tone="warning",
            ),
        ),
        _("Percentiles of each phase. They do not add up: each is of its own requests."),
    )  # fmt: skip


def routes(scope: Scope, rows: Sequence[Row]) -> Chart:
    """Who answered, over time; `rows` are listed by time and tier."""
    counts = {row.key: row.figures.counts["decisions"] for row in rows}
    tiers = [tier for tier in (*TIERS, "") if any(row.key[1] == tier for row in rows)]
    return Chart(
        "routes",
        "stack",
        "count",
        _("Asked"),
        *_crossed(scope, counts, "tier", tiers, missing=0),
        _("Decisions by who answered."),
    )


def overrides(scope: Scope, corrected: Mapping[tuple[str, ...], int]) -> Chart:
    """What people corrected, over time; counted by time and task."""
    return Chart(
        "overrides",
        "stack",
        "count",
        _("Corrected"),
        *_crossed(
            scope, corrected, "task", sorted({task for _at, task in corrected}), behind="overrides", missing=0
        ),
        _("Decisions that a person replaced by another answer."),
    )


def flow(scope: Scope, rows: Sequence[Row]) -> Chart:
    """From who answered to what became of it; `rows` are listed by tier."""
    kept = [name for name in OUTCOMES if any(outcome_counts(row.figures)[name] for row in rows)]
    return Chart(
        "flow",
        "flow",
        "count",
        _("Route"),
        tuple(value_word("tier", row.key[0]) for row in rows),
        tuple(
            Series(
                sentence_case(word(OUTCOMES, name)),
                tuple(outcome_counts(row.figures)[name] for row in rows),
                links=tuple(scope.behind(name, {"tier": row.key[0]}) for row in rows),
                tone=OUTCOME_TONES[name],
            )
            for name in kept
        ),
        _("From who answered to what became of it."),
    )


def currency_of(figures: Figures) -> str:
    """The currency that most was spent in."""
    return max(figures.spent, key=lambda spent: spent.known).cost.currency


def part_word(name: str) -> str:
    """A phase, or what lies beside the phases, in words."""
    return word(PHASES if name in PHASES else PART_WORDS, name)


def _spent(figures: Figures, currency: str) -> Spent | None:
    found = next((one for one in figures.spent if one.cost.currency == currency), None)
    return found or (figures.spent[0] if figures.spent[0].known == Decimal(0) else None)


def _crossed(
    scope: Scope,
    held: Mapping[tuple[str, ...], float | None],
    name: str,
    values: Sequence[str],
    *,
    behind: str = "decisions",
    missing: float | None = None,
) -> tuple[tuple[str, ...], tuple[Series, ...]]:
    """Moments, and a series over them for each value of a dimension; `held` is by both, and `missing` where it has nothing."""
    times = sorted({at for at, _value in held})
    series = tuple(
        Series(
            value_word(name, value),
            tuple(held.get((at, value), missing) for at in times),
            links=tuple(scope.behind(behind, {scope.time: at, name: value}) for at in times),
        )
        for value in values
    )
    return tuple(point_name(scope.time, at) for at in times), series


def _points(scope: Scope, rows: Sequence[Row]) -> tuple[str, ...]:
    return tuple(point_name(scope.time, row.key[0]) for row in rows)


def _links(scope: Scope, rows: Sequence[Row], figure: str) -> tuple[str, ...]:
    return tuple(scope.behind(figure, _key(scope.time, row)) for row in rows)


def _key(time: str, row: Row) -> dict[str, str]:
    return {time: row.key[0]}
