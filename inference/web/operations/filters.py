"""What a page of the operations area is about: a window and a slice out of its address, and the form that changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlencode

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inference import registry
from inference.ledger.asking import asked_for, cut_of, narrowed, whole_days, wrong
from inference.ledger.slices import Cut, Window
from inference.web.words import (
    BANDS,
    CACHE_STATES,
    DIMENSION_NAMES,
    PRODUCTS,
    TIERS,
    Word,
    sentence_case,
    word,
)
from nekibu.permissions.actor import Actor

OFFERED = ("product", "task", "node", "risk", "band", "tier", "model", "cache")
SPANS: dict[str, Word] = {
    "24h": gettext_lazy("Last 24 hours"),
    "7d": gettext_lazy("7 days"),
    "30d": gettext_lazy("30 days"),
    "90d": gettext_lazy("90 days"),
}
DEFAULT = "7d"
HOURLY = timedelta(days=2)  # a window that is no longer is shown by the hour
PAGES: tuple[tuple[str, Word], ...] = (
    ("operations", gettext_lazy("Overview")),
    ("operations-service", gettext_lazy("Service")),
    ("operations-phases", gettext_lazy("Phases")),
    ("operations-cache", gettext_lazy("Cache")),
    ("operations-cost", gettext_lazy("Cost")),
    ("operations-routes", gettext_lazy("Routes")),
    ("batches", gettext_lazy("Batches")),
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The window and the slice that a page shows, and how its address says so."""

    cut: Cut
    span: str  # one of SPANS; empty where a start and an end are given
    time: str  # hour or day: what its points are

    def by(self, *names: str) -> Cut:
        """The same, listed by these names."""
        return Cut(self.cut.window, self.cut.only, names)

    def query(self, **changes: str) -> str:
        """Its parameters, some of them changed; an empty one is left out."""
        held: list[tuple[str, str]] = (
            [("window", self.span)] if self.span else asked_for(Cut(self.cut.window))
        )
        held += [(name, value) for name, values in self.cut.only.items() for value in values]
        kept = [(name, value) for name, value in held if name not in changes]
        return urlencode([*kept, *((name, value) for name, value in changes.items() if value)])

    def behind(self, figure: str, key: Mapping[str, str] | None = None, **more: str) -> str:
        """Where the decisions behind a figure are listed: of the whole scope, or of one group of it."""
        key = key or {}
        cut = narrowed(self.by(*key), tuple(key.values()))
        asked = [*asked_for(cut), ("figure", figure), *more.items()]
        return f"{reverse('operations-decisions')}?{urlencode(asked)}"


def scope_of(request: HttpRequest) -> Scope:
    """The scope that an address asks for. Raises InvalidInput with the parameter that is wrong."""
    asked = request.GET.copy()
    for name in [*OFFERED, "window", "from", "to"]:  # a form sends what nobody chose as an empty text
        if asked.getlist(name) == [""] and name not in asked.getlist("none"):
            del asked[name]
    for name in asked.pop("none", []):
        asked[name] = ""
    if "from" in asked or "to" in asked:
        asked.pop("window", None)
        return _scope(cut_of(asked), "")
    span = asked.pop("window", [DEFAULT])[-1]
    if span not in SPANS:
        raise wrong("window", _("Choose one of the times that are offered."))
    window = _window(span)
    return _scope(Cut(window, cut_of(asked).only), span)


def _window(span: str) -> Window:
    now = timezone.now()
    number = int(span[:-1])
    return Window(now - timedelta(hours=number), now) if span.endswith("h") else whole_days(number, now)


def _scope(cut: Cut, span: str) -> Scope:
    length = cut.window.end - cut.window.start
    return Scope(cut, span, "hour" if length <= HOURLY else "day")


def choices_of(scope: Scope, values: Mapping[str, Sequence[str]]) -> list[dict[str, object]]:
    """The lists of the filter form: a dimension with one value cannot be cut, and is offered only while it is chosen."""
    found: list[dict[str, object]] = []
    for name in OFFERED:
        chosen = scope.cut.only.get(name, ())
        known = sorted({*values.get(name, ()), *chosen})
        if len(known) < 2 and not chosen:
            continue
        found.append(
            {
                "name": name,
                "label": word(DIMENSION_NAMES, name),
                "options": [(value, value_word(name, value), value in chosen) for value in known if value],
            }
        )
    return found


def value_word(name: str, value: str) -> str:
    """A value of a dimension in words."""
    if not value:
        return _("no model") if name in {"model", "cache"} else _("none")
    if name == "task":
        titles = {spec.slug: spec.title for spec in registry.registered()}
        return _(titles[value]) if value in titles else value
    tables: dict[str, dict[str, Word]] = {
        "product": PRODUCTS,
        "band": BANDS,
        "tier": TIERS,
        "cache": CACHE_STATES,
    }
    return sentence_case(word(tables[name], value)) if name in tables else value


def tabs(scope: Scope, here: str) -> list[dict[str, object]]:
    """The pages of the area, each with the same window and slice."""
    query = scope.query()
    return [
        {"url": f"{reverse(name)}?{query}", "label": label, "current": name == here, "icon": "", "count": ""}
        for name, label in PAGES
    ]


def only_query(query: QueryDict) -> str:
    """An address's parameters without the page of a list."""
    kept = query.copy()
    kept.pop("after", None)
    return kept.urlencode()


def actor_of(request: HttpRequest) -> Actor:
    """Who reads the page."""
    return request.actor  # type: ignore[attr-defined]
