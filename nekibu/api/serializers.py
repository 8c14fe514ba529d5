"""The error shape, for the OpenAPI description."""

from __future__ import annotations

from rest_framework import serializers


class FieldError(serializers.Serializer):
    """What is wrong with one field."""

    field = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class Error(serializers.Serializer):
    """Every error of the API has this shape."""

    code = serializers.CharField()
    message = serializers.CharField()
    errors = FieldError(many=True)  # type: ignore[assignment]
    retryable = serializers.BooleanField()


ERRORS = {400: Error, 401: Error, 403: Error, 404: Error}
WRITE_ERRORS = {**ERRORS, 409: Error, 422: Error, 429: Error, 503: Error}
