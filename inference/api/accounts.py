"""The accounts over REST: figures of a window and a slice as JSON or CSV, and the decisions behind a figure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from inference.api.serializers import DecisionRow
from inference.ledger.asking import asked_for, cut_of, narrowed, wrong
from inference.ledger.behind import FIGURES, LIMITS, decisions_behind
from inference.ledger.chains import Ceiling, ceiling_for
from inference.ledger.figures import to_json
from inference.ledger.selectors import Accounts, accounts_for
from inference.ledger.slices import DIMENSIONS, TIMES, Cut
from inference.permissions import InferenceAction
from nekibu.api.serializers import ERRORS
from nekibu.api.views import BaseView

_BEHIND = (
    "decisions",
    "valid",
    "invalid",
    "missed",
    "unknown_cost",
    "stale_cost",
    "truncated",
    "schema_failed",
    "broken",
)
PARAMETERS = [
    OpenApiParameter("from", str, description="ISO 8601; a date means local midnight"),
    OpenApiParameter("to", str, description="ISO 8601, not included; now where it is missing"),
    OpenApiParameter(
        "window", str, description="instead of from and to: 6h, 7d …; 24h where nothing is said"
    ),
    *(
        OpenApiParameter(name, str, many=True, description="may be given several times")
        for name in DIMENSIONS
    ),
]


class AccountsOut(serializers.Serializer[Any]):
    """Figures of a window. Money is text, rates and seconds are numbers, null is "not known"."""

    window = serializers.DictField(child=serializers.CharField())
    only = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    by = serializers.ListField(child=serializers.CharField())
    percentiles = serializers.ChoiceField(choices=["samples", "histograms"])
    pending = serializers.IntegerField()
    values = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    total = serializers.DictField()
    rows = serializers.ListField(child=serializers.DictField())
    ceiling = serializers.DictField(required=False, allow_null=True)


class CsvRenderer(BaseRenderer):
    """One line for each group and currency; what is no table (an error) is written as JSON."""

    media_type = "text/csv"
    format = "csv"
    charset = "utf-8"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        if not isinstance(data, dict) or "rows" not in data:
            return json.dumps(data, cls=JSONEncoder, ensure_ascii=False).encode()
        return table(data).encode()


class AccountsView(BaseView):
    """Tokens, money, times, hit rates and service of many decisions."""

    actions = {"get": InferenceAction.ACCOUNT_READ}
    renderer_classes = [JSONRenderer, CsvRenderer]

    @extend_schema(
        operation_id="accounts_read",
        parameters=[
            *PARAMETERS,
            OpenApiParameter(
                "by", str, description=f"up to two of {', '.join((*DIMENSIONS, *TIMES))}, by comma"
            ),
            OpenApiParameter(
                "include", str, enum=["ceiling"], description="the best sharing that was possible"
            ),
        ],
        responses={(200, "application/json"): AccountsOut, (200, "text/csv"): str, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Read the figures, whole and by group, each with its n and with links to the decisions behind it."""
        cut = cut_of(request.query_params)
        include = request.query_params.get("include", "")
        if include not in {"", "ceiling"}:
            raise wrong("include", _("Only the ceiling can be included."))
        said = told(accounts_for(self.actor, cut))
        if include:
            said["ceiling"] = _ceiling(ceiling_for(cut))
        return Response(said)


class AccountDecisions(BaseView):
    """What a figure is made of."""

    actions = {"get": InferenceAction.ACCOUNT_READ}

    @extend_schema(
        operation_id="accounts_decisions",
        parameters=[
            *PARAMETERS,
            OpenApiParameter("figure", str, enum=list(FIGURES)),
            OpenApiParameter("time", str, enum=list(LIMITS), description="with over or under, in seconds"),
            OpenApiParameter("over", float),
            OpenApiParameter("under", float),
        ],
        responses={200: DecisionRow(many=True), **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """List the decisions behind a figure of the accounts, newest first."""
        asked = request.query_params
        figure, time = asked.get("figure", "decisions"), asked.get("time", "")
        if figure not in FIGURES:
            raise wrong("figure", _("There is no such figure."))
        if time and time not in LIMITS:
            raise wrong("time", _("There is no such time."))
        over, under = (_seconds(asked, name) for name in ("over", "under"))
        rows = decisions_behind(self.actor, cut_of(asked), figure, time, over, under)
        return self.page(request, rows, DecisionRow)


def told(accounts: Accounts) -> dict[str, Any]:
    """Accounts as JSON, each group with the links to what is behind it."""
    cut = accounts.cut
    rows = [
        {
            "key": dict(zip(cut.by, row.key, strict=True)),
            **to_json(row.figures),
            "links": links(narrowed(cut, row.key)),
        }
        for row in accounts.rows
    ]
    return {
        "window": {"from": cut.window.start.isoformat(), "to": cut.window.end.isoformat()},
        "only": {name: list(values) for name, values in cut.only.items()},
        "by": list(cut.by),
        "percentiles": "samples" if accounts.exact else "histograms",
        "pending": accounts.pending,
        "values": {name: list(values) for name, values in accounts.values.items()},
        "total": {**to_json(accounts.total), "links": links(Cut(cut.window, cut.only))},
        "rows": rows,
    }


def links(cut: Cut) -> dict[str, str]:
    """Where the decisions behind each figure are listed."""
    path = reverse("api-account-decisions")
    return {figure: f"{path}?{urlencode([*asked_for(cut), ('figure', figure)])}" for figure in _BEHIND}


def table(said: Mapping[str, Any]) -> str:
    """The figures as CSV, the whole last; a text that a spreadsheet would run is quoted."""
    written = io.StringIO()
    out = csv.writer(written)
    out.writerow([*said["by"], *_columns(said["total"], 0)])
    for row in [*said["rows"], {"key": dict.fromkeys(said["by"], "*"), **said["total"]}]:
        for number in range(len(row["cost"])):
            out.writerow(
                [*(_plain(row["key"][name]) for name in said["by"]), *_columns(row, number).values()]
            )
    return written.getvalue()


def _columns(row: Mapping[str, Any], currency: int) -> dict[str, Any]:
    cost, hits, targets = row["cost"][currency], row["hits"], row["targets"]
    return {
        "decisions": row["decisions"],
        "valid": row["valid"],
        "attempts": row["attempts"],
        "currency": cost["currency"],
        "cost": cost["amount"],
        "cost_state": cost["state"],
        "cost_known": cost["known"],
        "cost_unknown_attempts": cost["unknown_attempts"],
        "cost_per_valid": cost["per_valid"]["amount"],
        "cost_per_valid_state": cost["per_valid"]["state"],
        **{f"tokens_{name}": n for name, n in row["tokens"].items()},
        **{f"hit_rate_{name}": hits[name] for name in ("by_tokens", "by_requests", "mean_ratio", "coverage")},
        **{f"target_{name}": targets[name] for name in ("met", "sent", "cancelled", "attainment", "goodput")},
        **{f"failed_{name}": n for name, n in row["failures"].items()},
        **{
            f"{name}_{part}_{what}": row["times"][name][part][what]
            for name in row["times"]
            for part in ("p50", "p95", "p99")
            for what in ("value", "n")
        },
        "dominant": row["dominant"]["phase"],
        "dominant_machine": row["dominant_machine"]["phase"],
    }


def _plain(value: str) -> str:
    return f"'{value}" if value[:1] in {"=", "+", "-", "@", "\t", "\r"} else value


def _ceiling(found: Ceiling) -> dict[str, Any]:
    return {**asdict(found), "steps": asdict(found.steps) if found.steps else None}


def _seconds(asked: Mapping[str, Any], name: str) -> float | None:
    text = asked.get(name)
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise wrong(name, _("Give a number of seconds.")) from None
