"""Prose of an answer: no invented figure, and no attribute of a person that must not count."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from inference.types import Finding, ProtectedField

Scan = Callable[[str], tuple[ProtectedField, ...]]
ECHOED = {"money", "date", "rate", "threshold", "identifier", "source_uri"}
ATTRIBUTES = {
    "age": r"yaşında|yaşı\b|doğum tarihi|years old|date of birth|\baged? \d",
    "sex": r"\bcinsiyet\w*|\bkadın\b|\berkek\b|\bgender\b|\bfemale\b|\bmale\b|\bwoman\b|\bman\b",
    "family": r"\bevli\b|\bbekar\b|\bbekâr\b|medeni (hal|durum)|\bmarried\b|marital|\bhamile\w*|pregnan\w+|çocuk sahibi",
    "belief": r"\bdini\b|\bmezhe\w+|religio\w+|\bmuslim\b|\bchristian\b|\bjewish\b|sendika üyesi|trade union member",
    "origin": r"etnik|\buyruk\w*|\buyruğ\w*|ethnic\w*|nationality|\bırk(ı|sal)?\b|\brace\b|memleket\w*",
    "health": r"\bengelli\w*|disab(led|ility)|sağlık durumu|health condition",
}
_ATTRIBUTE = re.compile(
    "|".join(f"(?P<{name}>{pattern})" for name, pattern in ATTRIBUTES.items()), re.IGNORECASE
)


def check(
    value: Mapping[str, Any],
    paths: tuple[str, ...],
    package: frozenset[str],
    figures: Callable[[tuple[ProtectedField, ...]], frozenset[str]],
    scan: Scan,
) -> tuple[Mapping[str, Any], tuple[Finding, ...]]:
    """The answer with unfit prose taken out, and why. `package` holds the figures that were in the evidence and question."""
    clean, findings = dict(value), []
    for path in paths:
        key = path.removeprefix("/")
        text = clean.get(key)
        if not isinstance(text, str):
            continue
        named = _ATTRIBUTE.search(text)
        if named:
            clean[key] = ""
            findings.append(
                Finding("PROTECTED_ATTRIBUTE", "protected", "warn", path, data={"attribute": named.lastgroup})
            )
            continue
        invented = [f for f in scan(text) if f.kind in ECHOED and not figures((f,)) <= package]
        if invented:
            clean[key] = ""
            findings.append(
                Finding(
                    "INVENTED_FIELD",
                    "protected",
                    "escalate",
                    path,
                    data={"kinds": sorted({f.kind for f in invented})},
                )
            )
    return clean, tuple(findings)
