"""Pages of the catalogue: what things cost and how caches behave, how far that can be relied on, and the forms for both."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from inference.catalogue import selectors, services, templates
from inference.catalogue.templates import SELF_HOSTED
from inference.models import Behaviour, Price, PriceKind
from inference.permissions import InferenceAction
from inference.web.forms import BehaviourForm, PriceForm, VerifyForm
from inference.web.words import PRICED, STANDINGS, word
from nekibu.errors import InvalidInput
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import decide
from nekibu.users.access import page

SHOWN = 200
TONES = {"current": "success", "stale": "warning"}


@page(InferenceAction.PRICE_READ)
def prices(request: HttpRequest) -> HttpResponse:
    """What was entered, newest first, and what there is to look up."""
    actor = _actor(request)
    now = timezone.now()
    return render(
        request,
        "inference/prices.html",
        {
            "prices": [_line(row, now) for row in selectors.prices_for(actor)[:SHOWN]],
            "behaviours": [_line(row, now) for row in selectors.behaviours_for(actor)[:SHOWN]],
            "price_templates": [
                {
                    "row": row,
                    "kind": PriceKind(row.kind).label,
                    "columns": [word(PRICED, c) for c in row.columns],
                    "host": _host(row.source_url),
                }
                for row in templates.PRICES
            ],
            "behaviour_templates": [
                {"row": row, "host": _host(row.source_url)} for row in templates.BEHAVIOURS
            ],
            "engine_unpriced": selectors.in_force(SELF_HOSTED, (), now, kinds=selectors.ENGINE) is None,
            "may_enter": bool(decide(actor, InferenceAction.PRICE_ENTER)),
        },
    )


@page(InferenceAction.PRICE_ENTER)
def new_price(request: HttpRequest) -> HttpResponse:
    """Enter a price; a template fills in what is known of it, which is no figure."""
    known = next((t for t in templates.PRICES if t.slug == request.GET.get("template")), None)
    start: dict[str, Any] = {}
    if known is not None:
        start = {
            "kind": known.kind, "provider": known.provider, "model": known.model, "currency": known.currency,
            "source_url": known.source_url,
        }  # fmt: skip
    form = PriceForm if known is None else PriceForm.of_kind(known.kind)
    return _enter(request, form, start, services.enter_price, "price")


@page(InferenceAction.PRICE_ENTER)
def new_behaviour(request: HttpRequest) -> HttpResponse:
    """Enter what is known of a cache; a template fills in what has to be compared with its source."""
    known = next((t for t in templates.BEHAVIOURS if t.slug == request.GET.get("template")), None)
    start: dict[str, Any] = {}
    if known is not None:
        names = (
            "provider",
            "model",
            "source_url",
            "min_cacheable",
            "granularity",
            "ttl_seconds",
            "discount_guaranteed",
        )
        start = {name: getattr(known, name) for name in names}
    return _enter(request, BehaviourForm, start, services.enter_behaviour, "behaviour")


@page(InferenceAction.PRICE_READ, POST=InferenceAction.PRICE_VERIFY)
def price(request: HttpRequest, price_id: UUID) -> HttpResponse:
    """One price with who compared it with its source; a POST says that somebody just did."""
    return _row(request, selectors.price_for(_actor(request), price_id), "price")


@page(InferenceAction.PRICE_READ, POST=InferenceAction.PRICE_VERIFY)
def behaviour(request: HttpRequest, behaviour_id: UUID) -> HttpResponse:
    """One behaviour with who compared it with its source; a POST says that somebody just did."""
    return _row(request, selectors.behaviour_for(_actor(request), behaviour_id), "behaviour")


def _enter(request: HttpRequest, kind: Any, start: dict[str, Any], act: Any, name: str) -> HttpResponse:
    form = kind(request.POST) if request.method == "POST" else kind(initial=start)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                row = act(actor=_actor(request), **form.values())
        except InvalidInput as refused:
            for error in refused.data["errors"]:
                form.add_error(error["field"] if error["field"] in form.fields else None, error["message"])
        else:
            messages.success(request, _("Entered. It counts as unverified until somebody has compared it."))
            return HttpResponseRedirect(reverse(name, args=[row.id]))
    return render(
        request,
        "inference/catalogue_form.html",
        {"form": form, "is_price": name == "price"},
        status=400 if form.is_bound else 200,
    )


def _row(request: HttpRequest, row: Price | Behaviour, name: str) -> HttpResponse:
    actor = _actor(request)
    form = VerifyForm(initial={"source_url": row.source_url})
    if request.method == "POST":
        form = VerifyForm(request.POST, request.FILES)
        if form.is_valid():
            seen = services.fingerprint(form.cleaned_data["snapshot"].chunks())
            with transaction.atomic():
                services.verify(
                    actor=actor, row=row, source_sha256=seen, source_url=form.cleaned_data["source_url"]
                )
            messages.success(request, _("Noted that you compared it today."))
            return HttpResponseRedirect(reverse(name, args=[row.pk]))
    return render(
        request,
        "inference/catalogue_row.html",
        {
            "line": _line(row, timezone.now()),
            "row": row,
            "facts": _facts(row),
            "form": form,
            "host": _host(row.source_url),
            "seen": [{"row": one, "host": _host(one.source_url)} for one in row.verifications.all()],
            "may_verify": bool(decide(actor, InferenceAction.PRICE_VERIFY)),
        },
        status=400 if form.is_bound else 200,
    )


def _line(row: Price | Behaviour, now: Any) -> dict[str, Any]:
    held = selectors.standing(row, now)
    return {
        "row": row,
        "url": reverse("price" if isinstance(row, Price) else "behaviour", args=[row.pk]),
        "kind": row.get_kind_display() if isinstance(row, Price) else _("Behaviour of a cache"),
        "amounts": _amounts(row) if isinstance(row, Price) else [],
        "standing": held,
        "state": word(STANDINGS, held.state),
        "tone": TONES[held.state],
    }


def _amounts(row: Price) -> list[tuple[str, str]]:
    return [
        (word(PRICED, name), _number(value)) for name in PRICED if (value := getattr(row, name)) is not None
    ]


def _facts(row: Price | Behaviour) -> list[tuple[str, str, str]]:
    """What a row says, in words; what nobody stated is said to be unknown."""
    if isinstance(row, Price):
        labels = PriceForm.base_fields
        return [
            (str(labels[name].label), _number(value), row.currency)
            for name in PRICED
            if (value := getattr(row, name)) is not None
        ]
    fields: dict[str, forms.Field] = BehaviourForm.base_fields
    names = ("granularity", "min_cacheable", "ttl_seconds", "discount_guaranteed", "isolation_claim")
    return [(str(fields[name].label), _said(getattr(row, name)), "") for name in names]


def _said(value: Any) -> str:
    if value is None or value == "":
        return _("not stated")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return _number(value) if isinstance(value, int) else str(value)


def _number(value: Any) -> str:
    shown = value.normalize() if hasattr(value, "normalize") else value
    places = max(0, -int(shown.as_tuple().exponent)) if hasattr(shown, "as_tuple") else 0
    return number_format(shown, places, force_grouping=True)


def _host(address: str) -> str:
    return urlsplit(address).hostname or ""


def _actor(request: HttpRequest) -> Actor:
    actor: Actor = request.actor  # type: ignore[attr-defined]
    return actor
