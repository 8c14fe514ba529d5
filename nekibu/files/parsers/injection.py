"""Text that reads like an order to the machine. It stays visible text; it is flagged, never obeyed."""

from __future__ import annotations

import re

_ORDERS = re.compile(
    r"(ignore|disregard|forget|override)\s+(all\s+|any\s+|the\s+|your\s+)*(previous|prior|above|earlier|preceding)\s+\w*\s*(instruction|prompt|rule|direction)"
    r"|(önceki|yukarıdaki|bundan önceki)\s+(tüm\s+|bütün\s+)?(talimat|komut|yönerge|kural)\w*\s+(yok\s?say|unut|dikkate\s+alma|geçersiz)"
    r"|<\|?(im_start|im_end|system|assistant|endoftext)\|?>|^\s*(system|assistant|user)\s*:|###\s*(system|instruction)"
    r"|(mark|score|rate|rank)\s+(this|the|every|all)\s+(candidate|applicant|person|criteri\w+)"
    r"|(reviewer|system)\s+note\s*:|you\s+are\s+now\s+(an?|the)\s"
    r"|(bu|tüm|her)\s+(aday|kriter|ölçüt)\w*\s.{0,40}(karşılan|karşılıyor|en yüksek|tam puan)"
    r"|(bu\s+adaya|adaya)\s+(en\s+yüksek|tam)\s+puan",
    re.IGNORECASE | re.MULTILINE,
)


def suspicious(text: str) -> list[tuple[int, int]]:
    """Places of instruction-like text, as (start, end)."""
    return [match.span() for match in _ORDERS.finditer(text)]
