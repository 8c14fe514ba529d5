"""What is wrong with the shape of something sent from outside, by field and in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError


def shape_errors(schema: Mapping[str, Any], value: Any) -> list[dict[str, str]]:
    """One error for each place where the value is not what the schema says; `field` is its path, empty for the whole."""
    return [
        {
            "field": "/".join(map(str, error.absolute_path)),
            "code": str(error.validator),
            "message": _words(error),
        }
        for error in Draft202012Validator(schema).iter_errors(value)
    ]


def _words(error: ValidationError) -> str:
    limit = error.validator_value
    match error.validator:
        case "required":
            missing = next(
                name for name in limit if name not in error.instance and repr(name) in error.message
            )
            return _("“%(name)s” is missing.") % {"name": missing}
        case "additionalProperties":
            known = error.schema.get("properties", {})
            names = ", ".join(f"“{name}”" for name in error.instance if name not in known)
            return _("There is no such field: %(names)s.") % {"names": names}
        case "type":
            return _("The value is of the wrong kind; expected: %(kind)s.") % {"kind": limit}
        case "enum":
            return _("This value is not one of the allowed ones.")
        case "maxLength":
            return ngettext(
                "At most %(n)s character is allowed.", "At most %(n)s characters are allowed.", limit
            ) % {"n": limit}
        case "maxItems":
            return ngettext(
                "At most %(n)s entry is allowed.", "At most %(n)s entries are allowed.", limit
            ) % {"n": limit}
    return _("The value does not have the required form.")
