"""Strict JSON, then JSON Schema 2020-12. Findings hold codes and pointers, never the text of the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from jsonschema import Draft202012Validator

from inference.types import Finding


class _Refused(ValueError):
    pass


def parse(text: str) -> tuple[Mapping[str, Any] | None, tuple[Finding, ...]]:
    """The object in `text`, and nothing around it. Doubled keys, NaN, fences and trailing text are errors."""
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_float=Decimal, parse_constant=_no_constant)
    except _Refused as refused:
        return None, (Finding("PARSE", "schema", "warn", data={"what": str(refused)}),)
    except (ValueError, RecursionError):
        return None, (Finding("PARSE", "schema", "warn", data={"what": "not JSON"}),)
    if not isinstance(value, dict):
        return None, (Finding("PARSE", "schema", "warn", data={"what": "not an object"}),)
    return value, ()


def check(value: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[Finding, ...]:
    """One finding for each place where the value is not what the schema says."""
    validator = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    errors = sorted(validator.iter_errors(value), key=lambda e: list(map(str, e.absolute_path)))
    return tuple(
        Finding(
            "SCHEMA",
            "schema",
            "warn",
            "".join(f"/{part}" for part in e.absolute_path),
            data={"keyword": e.validator},
        )
        for e in errors[:20]
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused("a key stands twice")
    return value


def _no_constant(name: str) -> Any:
    raise _Refused(f"{name} is no number")
