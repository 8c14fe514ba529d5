"""Two tenants, one text, the real engine: computed prefixes are shared inside a tenant and never across its border."""

from __future__ import annotations

from typing import Any

from benchmarks.product import Api, Installation
from tests.e2e.conftest import ANKA, LETTER, MAVI, Desk

CRITERION = "negotiation"


def test_the_same_text_is_read_from_the_cache_inside_a_tenant_and_computed_anew_in_another(
    product: Installation,
) -> None:
    text = LETTER.replace(
        "Senior Buyer, Kestrel Foundry", "Buyer at Aldgate Mills"
    ).encode()  # a text that no other journey uses
    usage = {}
    for name, tenant in (("first", ANKA), ("again", ANKA), ("stranger", MAVI)):
        api = product.api("admin", tenant)
        usage[name] = first_call(api, "letter.txt", text)
        api.close()
    prompts = {name: figures["prompt_tokens"] for name, figures in usage.items()}
    assert len(set(prompts.values())) == 1, prompts  # the three calls are the same, token by token
    assert usage["again"]["cache_read"] >= 0.95 * prompts["again"]
    assert usage["again"]["cache_read"] > usage["first"]["cache_read"]
    assert usage["stranger"]["cache_read"] == 0
    assert usage["stranger"]["salt_id"] != usage["first"]["salt_id"] == usage["again"]["salt_id"]


def first_call(api: Api, name: str, body: bytes) -> dict[str, Any]:
    """The first attempt of the model on that CV, on a job of its own with the same rubric."""
    desk = Desk(api)
    job = desk.job(CRITERION)
    application = desk.upload(job, name, body, "Deneme Kişisi")
    (verdict,) = desk.evaluate(job)[application]["verdicts"]
    attempt: dict[str, Any] = api.get(f"decisions/{verdict['decision_id']}/trace/")["attempts"][0]
    return attempt
