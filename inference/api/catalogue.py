"""Prices and behaviours of caches over REST: entered, compared with their source, never changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from inference.api.serializers import Strict
from inference.catalogue import selectors, services, templates
from inference.models import Behaviour, Price, PriceKind, ServiceTier
from inference.permissions import InferenceAction
from nekibu.api.serializers import ERRORS, WRITE_ERRORS
from nekibu.api.views import BaseView
from nekibu.errors import InvalidInput
from nekibu.idempotency.decorator import idempotent

KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, required=True, description="1 to 255 characters"
)


def _money() -> serializers.DecimalField:
    return serializers.DecimalField(
        max_digits=18, decimal_places=6, min_value=0, required=False, allow_null=True, default=None
    )


class EffectiveIn(Strict):
    """What every row of the catalogue says."""

    provider = serializers.CharField(max_length=60)
    model = serializers.CharField(max_length=200, default="*")
    effective_from = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    source_url = serializers.URLField(max_length=500, required=False, allow_blank=True, default="")
    note = serializers.CharField(max_length=500, required=False, allow_blank=True, default="")


class PriceIn(EffectiveIn):
    """A price: of an hour or a minute, or of a million tokens of each bucket."""

    kind = serializers.ChoiceField(choices=PriceKind.choices)
    region = serializers.CharField(max_length=40, required=False, allow_blank=True, default="")
    tier = serializers.ChoiceField(choices=ServiceTier.choices, default=ServiceTier.STANDARD)
    currency = serializers.RegexField(r"^[A-Z]{3}$")
    amount = _money()
    input = _money()
    cache_read = _money()
    cache_write_5m = _money()
    cache_write_1h = _money()
    output = _money()
    storage_hour = _money()


class BehaviourIn(EffectiveIn):
    """What is known of a cache; null is "nobody stated it"."""

    min_cacheable = serializers.IntegerField(min_value=0, required=False, allow_null=True, default=None)
    granularity = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    ttl_seconds = serializers.IntegerField(min_value=0, required=False, allow_null=True, default=None)
    discount_guaranteed = serializers.BooleanField(required=False, allow_null=True, default=None)
    isolation_claim = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")


class VerifyIn(Strict):
    """That a row was compared with its source: the snapshot of what was seen, or its SHA-256."""

    source_url = serializers.URLField(max_length=500, required=False, allow_blank=True, default="")
    source_sha256 = serializers.RegexField(r"^[0-9a-f]{64}$", required=False)
    snapshot = serializers.FileField(required=False)


class VerificationOut(serializers.Serializer[Any]):
    """One comparison with the source."""

    at = serializers.DateTimeField(source="created_at")
    by = serializers.CharField(source="by.name")
    source_url = serializers.CharField()
    source_sha256 = serializers.CharField()


class StandingOut(serializers.Serializer[Any]):
    """How far a row can be relied on now."""

    state = serializers.ChoiceField(choices=["current", "stale"])
    verified_at = serializers.DateTimeField(allow_null=True)
    verified_by = serializers.ListField(child=serializers.CharField())
    carries_a_claim = serializers.BooleanField()


class EffectiveOut(serializers.Serializer[Any]):
    """What every row of the catalogue says, and how far it can be relied on."""

    id = serializers.UUIDField()
    provider = serializers.CharField()
    model = serializers.CharField()
    effective_from = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    source_url = serializers.CharField()
    note = serializers.CharField()
    entered_by = serializers.CharField(source="entered_by.name", allow_null=True, default=None)
    created_at = serializers.DateTimeField()
    standing = serializers.SerializerMethodField()
    verifications = VerificationOut(many=True)

    @extend_schema_field(StandingOut)
    def get_standing(self, row: Price | Behaviour) -> dict[str, Any]:
        return asdict(selectors.standing(row, timezone.now()))


class PriceOut(EffectiveOut):
    """A price."""

    kind = serializers.CharField()
    region = serializers.CharField()
    tier = serializers.CharField()
    currency = serializers.CharField()
    amount = _money()
    input = _money()
    cache_read = _money()
    cache_write_5m = _money()
    cache_write_1h = _money()
    output = _money()
    storage_hour = _money()


class BehaviourOut(EffectiveOut):
    """What is known of a cache."""

    min_cacheable = serializers.IntegerField(allow_null=True)
    granularity = serializers.IntegerField(allow_null=True)
    ttl_seconds = serializers.IntegerField(allow_null=True)
    discount_guaranteed = serializers.BooleanField(allow_null=True)
    isolation_claim = serializers.CharField()


class TemplatesOut(serializers.Serializer[Any]):
    """What is shipped: what to look up and where. Nothing of it is verified, and nothing is priced by it."""

    prices = serializers.ListField(child=serializers.DictField())
    behaviours = serializers.ListField(child=serializers.DictField())


class Prices(BaseView):
    """The tenant's prices."""

    actions = {"get": InferenceAction.PRICE_READ, "post": InferenceAction.PRICE_ENTER}

    @extend_schema(operation_id="prices_list", responses={200: PriceOut(many=True), **ERRORS})
    def get(self, request: Request) -> Response:
        """List all that were ever entered, newest first."""
        return self.page(request, selectors.prices_for(self.actor), PriceOut)

    @extend_schema(
        operation_id="prices_enter",
        parameters=[KEY],
        request=PriceIn,
        responses={201: PriceOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Enter a price that holds from a moment on; it is stale until somebody has compared it with its source."""
        row = services.enter_price(actor=self.actor, **_valid(PriceIn, request.data))
        return Response(PriceOut(selectors.price_for(self.actor, row.id)).data, status=201)


class OnePrice(BaseView):
    """One price."""

    actions = {"get": InferenceAction.PRICE_READ}

    @extend_schema(operation_id="prices_read", responses={200: PriceOut, **ERRORS})
    def get(self, request: Request, price_id: UUID) -> Response:
        """Read it with who compared it with its source."""
        return Response(PriceOut(selectors.price_for(self.actor, price_id)).data)


class _Verifying(BaseView):
    actions = {"post": InferenceAction.PRICE_VERIFY}
    parser_classes = [JSONParser, MultiPartParser]

    def verify(self, request: Request, row: Price | Behaviour) -> None:
        said = _valid(VerifyIn, request.data)
        snapshot, given = said.get("snapshot"), said.get("source_sha256")
        if (snapshot is None) == (given is None):
            raise InvalidInput(
                errors=[
                    {
                        "field": "snapshot",
                        "code": "required",
                        "message": _("Send the snapshot of the source, or its SHA-256."),
                    }
                ]
            )
        seen = given if snapshot is None else services.fingerprint(snapshot.chunks())
        services.verify(actor=self.actor, row=row, source_sha256=str(seen), source_url=said["source_url"])


class PriceVerify(_Verifying):
    """A person's word that a price is what its source says."""

    @extend_schema(
        operation_id="prices_verify",
        parameters=[KEY],
        request=VerifyIn,
        responses={201: PriceOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request, price_id: UUID) -> Response:
        """Say that it was compared with its source now."""
        self.verify(request, selectors.price_for(self.actor, price_id))
        return Response(PriceOut(selectors.price_for(self.actor, price_id)).data, status=201)


class Behaviours(BaseView):
    """What is known of caches."""

    actions = {"get": InferenceAction.PRICE_READ, "post": InferenceAction.PRICE_ENTER}

    @extend_schema(operation_id="behaviours_list", responses={200: BehaviourOut(many=True), **ERRORS})
    def get(self, request: Request) -> Response:
        """List all that were ever entered, newest first."""
        return self.page(request, selectors.behaviours_for(self.actor), BehaviourOut)

    @extend_schema(
        operation_id="behaviours_enter",
        parameters=[KEY],
        request=BehaviourIn,
        responses={201: BehaviourOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Enter what is known of a cache from a moment on."""
        row = services.enter_behaviour(actor=self.actor, **_valid(BehaviourIn, request.data))
        return Response(BehaviourOut(selectors.behaviour_for(self.actor, row.id)).data, status=201)


class OneBehaviour(BaseView):
    """One behaviour."""

    actions = {"get": InferenceAction.PRICE_READ}

    @extend_schema(operation_id="behaviours_read", responses={200: BehaviourOut, **ERRORS})
    def get(self, request: Request, behaviour_id: UUID) -> Response:
        """Read it with who compared it with its source."""
        return Response(BehaviourOut(selectors.behaviour_for(self.actor, behaviour_id)).data)


class BehaviourVerify(_Verifying):
    """A person's word that a behaviour is what its source says."""

    @extend_schema(
        operation_id="behaviours_verify",
        parameters=[KEY],
        request=VerifyIn,
        responses={201: BehaviourOut, **WRITE_ERRORS},
    )
    @idempotent
    def post(self, request: Request, behaviour_id: UUID) -> Response:
        """Say that it was compared with its source now."""
        self.verify(request, selectors.behaviour_for(self.actor, behaviour_id))
        return Response(BehaviourOut(selectors.behaviour_for(self.actor, behaviour_id)).data, status=201)


class Templates(BaseView):
    """What is shipped with the product."""

    actions = {"get": InferenceAction.PRICE_READ}

    @extend_schema(operation_id="catalogue_templates", responses={200: TemplatesOut, **ERRORS})
    def get(self, request: Request) -> Response:
        """Read what there is to enter and where its source is."""
        return Response(
            {
                "prices": [{**asdict(row), "verified_at": None} for row in templates.PRICES],
                "behaviours": [{**asdict(row), "verified_at": None} for row in templates.BEHAVIOURS],
            }
        )


def _valid(kind: type[serializers.Serializer[Any]], data: Any) -> dict[str, Any]:
    body = kind(data=data)
    body.is_valid(raise_exception=True)
    found: dict[str, Any] = body.validated_data
    return found
