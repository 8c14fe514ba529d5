"""What is shipped: which prices and behaviours there are to enter, and where their official source is. Nothing here is verified.

A template is never used to price anything. It names what a person has to look up; its figures of behaviour are what has to
be compared with the source before they count.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PriceTemplate:
    """A price that a tenant may want to enter. It has no amount, and `verified_at` is null by definition."""

    slug: str
    kind: str
    provider: str
    model: str
    currency: str
    columns: tuple[str, ...]  # what has a price there
    source_url: str = ""


@dataclass(frozen=True, slots=True)
class BehaviourTemplate:
    """What is said of a cache, to be compared with its source."""

    slug: str
    provider: str
    model: str
    source_url: str
    min_cacheable: int | None = None
    granularity: int | None = None
    ttl_seconds: int | None = None
    discount_guaranteed: bool | None = None
    isolation_claim: str = ""
    note: str = ""


SELF_HOSTED = "self-hosted"

PRICES = (
    PriceTemplate("own-cpu", "cpu_hour", SELF_HOSTED, "*", "USD", ("amount",)),
    PriceTemplate("own-gpu", "gpu_hour", SELF_HOSTED, "*", "USD", ("amount",)),
    PriceTemplate("person", "human_minute", "people", "*", "TRY", ("amount",)),
    PriceTemplate(
        "openai", "token", "openai", "*", "USD", ("input", "cache_read", "output"),
        "https://openai.com/api/pricing/",
    ),
    PriceTemplate(
        "anthropic", "token", "anthropic", "*", "USD",
        ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output"),
        "https://www.anthropic.com/pricing",
    ),
    PriceTemplate(
        "gemini", "token", "google", "*", "USD", ("input", "cache_read", "output", "storage_hour"),
        "https://ai.google.dev/gemini-api/docs/pricing",
    ),
    PriceTemplate(
        "deepseek", "token", "deepseek", "*", "USD", ("input", "cache_read", "output"),
        "https://api-docs.deepseek.com/quick_start/pricing",
    ),
)  # fmt: skip

BEHAVIOURS = (
    BehaviourTemplate(
        "sglang", SELF_HOSTED, "*", "https://docs.sglang.ai/", granularity=1,
        isolation_claim="namespaces by cache salt", note="one least-recently-used capacity for all namespaces",
    ),
    BehaviourTemplate(
        "vllm", "vllm", "*", "https://docs.vllm.ai/", granularity=16, note="only full blocks are shared",
    ),
    BehaviourTemplate(
        "openai", "openai", "*", "https://platform.openai.com/docs/guides/prompt-caching", min_cacheable=1024,
        discount_guaranteed=False, note="automatic, exact prefix with tools; the discount differs by model",
    ),
    BehaviourTemplate(
        "anthropic", "anthropic", "*", "https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching",
        min_cacheable=1024, ttl_seconds=300, discount_guaranteed=True,
        note="explicit breakpoints; the least length is 512, 1,024 or 4,096 by model, and below it nothing is said",
    ),
    BehaviourTemplate(
        "gemini", "google", "*", "https://ai.google.dev/gemini-api/docs/caching", min_cacheable=1024,
        discount_guaranteed=False, note="implicit without a guarantee, explicit with storage by the hour; 1,024 or 4,096",
    ),
)  # fmt: skip
