"""Acts on the catalogue: enter a row, and say that one was compared with its source. No row is ever changed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from inference.models import Behaviour, Price, PriceKind, Verification
from inference.models.economics import TOKEN_COLUMNS
from inference.permissions import InferenceAction, InferenceTag
from nekibu.audit.record import record
from nekibu.errors import InvalidInput, NotPermitted
from nekibu.permissions.actor import Actor
from nekibu.permissions.policies import require

_SHA256 = re.compile(r"[0-9a-f]{64}")


def enter_price(*, actor: Actor, **values: Any) -> Price:
    """Add a price that holds from `effective_from` on. It is stale until a person has compared it with its source."""
    require(actor, InferenceAction.PRICE_ENTER)
    return _enter(actor, Price(**values), InferenceTag.PRICE_ENTERED)


def enter_behaviour(*, actor: Actor, **values: Any) -> Behaviour:
    """Add what is known of a cache from `effective_from` on."""
    require(actor, InferenceAction.PRICE_ENTER)
    return _enter(actor, Behaviour(**values), InferenceTag.BEHAVIOUR_ENTERED)


def verify(*, actor: Actor, row: Price | Behaviour, source_sha256: str, source_url: str = "") -> Verification:
    """Say that the row was compared with its source now, and keep the fingerprint of what was seen there."""
    require(actor, InferenceAction.PRICE_VERIFY, row)
    if actor.user_id is None:
        raise NotPermitted(_("Only a person can compare a row with its source."))
    if not _SHA256.fullmatch(source_sha256):
        raise InvalidInput(
            errors=[
                {
                    "field": "source_sha256",
                    "code": "invalid",
                    "message": _("Give the SHA-256 of what was seen: 64 hexadecimal digits."),
                }
            ]
        )
    subject: dict[str, Any] = {"price" if isinstance(row, Price) else "behaviour": row}
    with transaction.atomic():
        made: Verification = Verification.objects.create(
            **subject,
            by_id=actor.user_id,
            source_url=source_url or row.source_url,
            source_sha256=source_sha256,
        )
        tag = InferenceTag.PRICE_VERIFIED if isinstance(row, Price) else InferenceTag.BEHAVIOUR_VERIFIED
        record(actor, tag, row, source_sha256=source_sha256, source_url=made.source_url)
    return made


def fingerprint(chunks: Iterable[bytes]) -> str:
    """SHA-256 of a snapshot, in hex."""
    seen = hashlib.sha256()
    for chunk in chunks:
        seen.update(chunk)
    return seen.hexdigest()


def _enter(actor: Actor, row: Any, tag: InferenceTag) -> Any:
    row.entered_by_id = actor.user_id
    errors = _malformed(row) or _contradictory(row)
    if errors:
        raise InvalidInput(errors=errors)
    with transaction.atomic():
        row.save(force_insert=True)
        record(actor, tag, row, **_said(row))
    return row


def _said(row: Any) -> dict[str, Any]:
    """What was entered, for the audit trail: every column that says something."""
    left_out = {"id", "tenant", "created_at", "entered_by"}
    said = {f.name: getattr(row, f.name) for f in row._meta.concrete_fields if f.name not in left_out}
    return {name: value for name, value in said.items() if value not in (None, "")}


def _malformed(row: Any) -> list[dict[str, str]]:
    """What is wrong with single fields."""
    try:
        row.full_clean(exclude=["tenant", "entered_by"], validate_unique=False, validate_constraints=False)
    except ValidationError as wrong:
        return [
            _error(field, str(error.code or "invalid"), " ".join(error.messages))
            for field, errors in wrong.error_dict.items()
            for error in errors
        ]
    return []


def _contradictory(row: Any) -> list[dict[str, str]]:
    """What is wrong between fields. The database holds the same rules."""
    found = []
    if row.expires_at is not None and row.expires_at <= row.effective_from:
        found.append(_error("expires_at", "order", _("The end must lie after the start.")))
    if isinstance(row, Price):
        priced = [name for name in TOKEN_COLUMNS if getattr(row, name) is not None]
        if row.kind == PriceKind.TOKEN and (row.amount is not None or not priced):
            found.append(
                _error(
                    "input",
                    "kind",
                    _("A price of tokens states at least one price for a million tokens, and no hour."),
                )
            )
        if row.kind != PriceKind.TOKEN and (row.amount is None or priced):
            found.append(
                _error("amount", "kind", _("A price of time states one amount, and no price of tokens."))
            )
        found += [
            _error(name, "negative", _("A price cannot be below zero."))
            for name in ("amount", *TOKEN_COLUMNS)
            if (value := getattr(row, name)) is not None and value < 0
        ]
    return found


def _error(field: str, code: str, message: str) -> dict[str, str]:
    return {"field": field, "code": code, "message": message}
