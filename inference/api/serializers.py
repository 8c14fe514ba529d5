"""The shapes of decisions in the API."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers


class Strict(serializers.Serializer[Any]):
    """Refuses unknown fields: there is no way to send a salt, a priority or a model."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                raise serializers.ValidationError(
                    {name: [_("There is no such field.")] for name in unknown}, code="unknown"
                )
        return super().to_internal_value(data)


class SubjectIn(Strict):
    """What the question is about."""

    type = serializers.CharField(max_length=100)
    id = serializers.CharField(max_length=64)


class DecisionIn(Strict):
    """A question to a registered task."""

    task = serializers.CharField(max_length=100)
    task_version = serializers.IntegerField(min_value=1, required=False, allow_null=True, default=None)
    subject = SubjectIn()
    inputs = serializers.DictField(required=False, default=dict)
    mode = serializers.ChoiceField(choices=["auto", "online", "batch"], default="auto")
    as_of = serializers.DateTimeField(required=False, allow_null=True, default=None)
    deadline_at = serializers.DateTimeField(required=False, allow_null=True, default=None)
    locale = serializers.ChoiceField(choices=["tr", "en"], default="tr")
    correlation = serializers.DictField(
        child=serializers.CharField(max_length=200), required=False, default=dict
    )


class OverrideIn(Strict):
    """A person's answer."""

    value = serializers.DictField()
    reason = serializers.CharField(max_length=2000)


class SubjectOut(serializers.Serializer[Any]):
    """What a decision is about."""

    type = serializers.CharField()
    id = serializers.CharField()


class DecisionRow(serializers.Serializer[Any]):
    """A decision in a list."""

    decision_id = serializers.UUIDField(source="id")
    task = serializers.CharField()
    task_version = serializers.IntegerField()
    status = serializers.CharField()
    valid = serializers.BooleanField(allow_null=True)
    decided_by = serializers.CharField()
    reason = serializers.CharField()
    risk = serializers.CharField()
    tier = serializers.CharField()
    subject_type = serializers.CharField()
    subject_id = serializers.CharField()
    correlation = serializers.DictField()
    cost_amount = serializers.DecimalField(max_digits=20, decimal_places=12, allow_null=True)
    cost_currency = serializers.CharField()
    cost_state = serializers.CharField()
    supersedes = serializers.UUIDField(source="supersedes_id", allow_null=True)
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)


class CitationOut(serializers.Serializer[Any]):
    """A source as it was re-read. Offsets count characters of the stored text."""

    evidence_id = serializers.CharField()
    pointer = serializers.CharField()
    document_id = serializers.CharField()
    version_id = serializers.CharField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()
    page = serializers.IntegerField(allow_null=True)
    quote = serializers.CharField()


class FindingOut(serializers.Serializer[Any]):
    """Something a check noticed."""

    code = serializers.CharField()
    check = serializers.CharField()
    severity = serializers.CharField()
    pointer = serializers.CharField()
    evidence_id = serializers.CharField()


class RouteOut(serializers.Serializer[Any]):
    """Who answered, and why."""

    tier = serializers.CharField()
    reason = serializers.CharField()
    clock = serializers.CharField()
    band = serializers.CharField()
    model = serializers.CharField(allow_null=True)
    revision = serializers.CharField(allow_null=True)


class UsageOut(serializers.Serializer[Any]):
    """Disjoint token counts; null is "not reported"."""

    uncached = serializers.IntegerField(allow_null=True)
    cache_read = serializers.IntegerField(allow_null=True)
    cache_write_5m = serializers.IntegerField(allow_null=True)
    cache_write_1h = serializers.IntegerField(allow_null=True)
    output = serializers.IntegerField(allow_null=True)
    reasoning = serializers.IntegerField(allow_null=True)


class CostOut(serializers.Serializer[Any]):
    """Money; `unknown` is not zero."""

    amount = serializers.CharField(allow_null=True)
    currency = serializers.CharField()
    state = serializers.ChoiceField(choices=["current", "stale", "unknown"])
    price_version = serializers.CharField()


class DecisionOut(serializers.Serializer[Any]):
    """One decision."""

    decision_id = serializers.UUIDField()
    task = serializers.CharField()
    task_version = serializers.IntegerField()
    status = serializers.CharField()
    valid = serializers.BooleanField(allow_null=True)
    decided_by = serializers.CharField(allow_null=True)
    reason = serializers.CharField()
    risk = serializers.CharField()
    subject = SubjectOut()
    correlation = serializers.DictField()
    value = serializers.DictField(allow_null=True)
    citations = CitationOut(many=True)
    findings = FindingOut(many=True)
    route = RouteOut()
    usage = UsageOut()
    phases = serializers.DictField(child=serializers.CharField(allow_null=True))
    times = serializers.DictField(child=serializers.CharField(allow_null=True))
    cost = CostOut()
    approval_id = serializers.UUIDField(allow_null=True)
    supersedes = serializers.UUIDField(allow_null=True)
    superseded_by = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)


class TraceOut(DecisionOut):
    """The whole record of one decision."""

    rounds = serializers.IntegerField()
    steps = serializers.ListField(child=serializers.DictField())
    attempts = serializers.ListField(child=serializers.DictField())
    checks = serializers.ListField(child=serializers.DictField())
    seals = serializers.ListField(child=serializers.DictField())


class StatusOut(serializers.Serializer[Any]):
    """The engine and its queues."""

    state = serializers.CharField()
    ready = serializers.BooleanField()
    engine = serializers.CharField()
    kind = serializers.CharField()
    model = serializers.CharField()
    revision = serializers.CharField()
    device = serializers.CharField()
    detail = serializers.CharField()
    draining = serializers.BooleanField()
    running = serializers.IntegerField()
    queues = serializers.DictField(child=serializers.IntegerField())
    context_length = serializers.IntegerField(allow_null=True)
    since = serializers.FloatField()
