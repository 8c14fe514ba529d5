"""Prices on pages and over the API: entered by who may, verified with a snapshot, told with how far they can be relied on."""

from __future__ import annotations

import hashlib
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from inference.models import Behaviour, Price, Verification
from nekibu.audit.models import AuditEvent
from nekibu.tenants.scope import tenant_scope

pytestmark = pytest.mark.usefixtures("gateway")  # the header of a page asks it

PRICES = "/api/v1/inference/prices/"
BODY = {
    "kind": "token",
    "provider": "openai",
    "currency": "USD",
    "input": "2",
    "cache_read": "0.50",
    "output": "8",
    "effective_from": "2026-01-01T00:00:00+03:00",
}


def post(client, path, body, key="k"):
    return client.post(path, body, content_type="application/json", headers={"Idempotency-Key": key})


def form(**changes):
    today = timezone.localdate().isoformat()
    return {
        "kind": "cpu_hour",
        "provider": "self-hosted",
        "model": "*",
        "tier": "standard",
        "currency": "USD",
        "amount": "0.05",
        "effective_from": today,
        **changes,
    }


def test_an_administrator_enters_the_hour_of_the_engine_and_compares_it_with_the_invoice(tenant, browser):
    client = browser(tenant, "admin")
    page = client.get("/operations/prices/").content.decode()
    assert "The own engine has no price" in page
    assert ">docs.sglang.ai</a>" in page and ">openai.com</a>" in page  # what there is to look up, and where
    start = client.get("/operations/prices/new/?template=own-cpu").content.decode()
    assert 'value="self-hosted"' in start and 'name="output"' not in start
    made = client.post("/operations/prices/new/?template=own-cpu", form())
    assert made.status_code == 302
    page = client.get(made["Location"]).content.decode()
    assert "Nobody has compared it yet." in page and "not verified lately" in page
    invoice = SimpleUploadedFile("invoice.pdf", b"an invoice")
    sent = {
        "source_url": "https://example.com/invoice",
        "snapshot": invoice,
        "compared": "on",
    }
    assert client.post(made["Location"], sent).status_code == 302
    page = client.get(made["Location"]).content.decode()
    assert hashlib.sha256(b"an invoice").hexdigest()[:16] in page and "not verified lately" not in page
    assert "The own engine has no price" not in client.get("/operations/prices/").content.decode()
    with tenant_scope(tenant.id):
        row = Price.objects.get()
        assert (row.amount, row.currency, row.entered_by.name) == (Decimal("0.05"), "USD", "Admin")
        tags = AuditEvent.objects.order_by("seq").values_list("tag", flat=True)
        assert list(tags)[-2:] == ["inference:price:entered", "inference:price:verified"]


@pytest.mark.parametrize("language", ["tr", "en"])
def test_an_amount_is_read_as_it_is_written_and_never_guessed(tenant, browser, language):
    client = browser(tenant, "admin", language)
    for written, meant in (
        ("1.234,56", "1234.56"),
        ("1,234.56", "1234.56"),
        ("0,05", "0.05"),
        ("0.123", "0.123"),
    ):
        assert client.post("/operations/prices/new/", form(amount=written)).status_code == 302
        with tenant_scope(tenant.id):
            assert Price.objects.order_by("-id").first().amount == Decimal(meant)
    doubtful = client.post("/operations/prices/new/", form(amount="2.750"))
    assert doubtful.status_code == 400
    assert "2750" in doubtful.content.decode() and "2.750" in doubtful.content.decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"amount": ""}, "A price of time states one amount"),
        ({"amount": "-1"}, "greater than or equal to 0"),
        ({"currency": "usd"}, "Enter a valid value"),
        ({"input": "3"}, "A price of time states one amount"),
        ({"expires_at": "2020-01-01"}, "The end must lie after the start."),
    ],
)
def test_a_form_that_says_nothing_or_too_much_comes_back_with_its_reason(tenant, browser, changes, said):
    response = browser(tenant, "admin").post("/operations/prices/new/", form(**changes))
    assert response.status_code == 400
    assert said in response.content.decode()
    with tenant_scope(tenant.id):
        assert not Price.objects.exists()


def test_a_comparison_needs_the_snapshot_and_the_persons_word(tenant, browser):
    client = browser(tenant, "admin")
    where = client.post("/operations/prices/new/", form())["Location"]
    for lacking in ({"compared": "on"}, {"snapshot": SimpleUploadedFile("s.html", b"x")}):
        assert client.post(where, lacking).status_code == 400
    with tenant_scope(tenant.id):
        assert not Verification.objects.exists()


def test_a_behaviour_is_entered_from_its_template_and_compared(tenant, browser):
    client = browser(tenant, "admin")
    start = client.get("/operations/behaviours/new/?template=sglang").content.decode()
    assert 'value="self-hosted"' in start and 'name="granularity" value="1"' in start
    sent = {
        "provider": "self-hosted",
        "model": "*",
        "granularity": "1",
        "discount_guaranteed": "unknown",
        "effective_from": "2026-01-01",
    }
    made = client.post("/operations/behaviours/new/", sent)
    assert made.status_code == 302
    page = client.get(made["Location"]).content.decode()
    assert "not stated" in page
    client.post(made["Location"], {"snapshot": SimpleUploadedFile("s.html", b"x"), "compared": "on"})
    with tenant_scope(tenant.id):
        row = Behaviour.objects.get()
        assert (row.granularity, row.min_cacheable, row.discount_guaranteed) == (1, None, None)
        assert row.verifications.get().source_sha256 == hashlib.sha256(b"x").hexdigest()


def test_an_auditor_reads_prices_and_cannot_enter_or_verify_them(tenant, browser):
    client = browser(tenant, "admin")
    where = client.post("/operations/prices/new/", form())["Location"]
    auditor = browser(tenant, "auditor")
    page = auditor.get("/operations/prices/").content.decode()
    assert "Enter a price" not in page
    assert "You have just compared it" not in auditor.get(where).content.decode()
    assert auditor.get("/operations/prices/new/").status_code == 403
    assert auditor.post(where, {"compared": "on"}).status_code == 403
    assert browser(tenant, "interviewer").get("/operations/prices/").status_code == 403


def test_prices_over_the_api_are_exact_text_and_told_with_their_standing(tenant, browser):
    client = browser(tenant, "admin")
    made = post(client, PRICES, BODY)
    assert made.status_code == 201
    said = made.json()
    assert (said["input"], said["cache_read"], said["output"], said["cache_write_5m"]) == (
        "2.000000", "0.500000", "8.000000", None,
    )  # fmt: skip
    assert said["standing"] == {
        "state": "stale", "verified_at": None, "verified_by": [], "carries_a_claim": False,
    }  # fmt: skip
    assert post(client, PRICES, BODY).json()["id"] == said["id"]  # the same key is the same act
    verified = post(client, f"{PRICES}{said['id']}/verify/", {"source_sha256": "ab" * 32})
    assert verified.status_code == 201
    assert verified.json()["standing"]["state"] == "current"
    snapshot = {"snapshot": SimpleUploadedFile("page.html", b"the page")}
    again = client.post(f"{PRICES}{said['id']}/verify/", snapshot, headers={"Idempotency-Key": "file"})
    assert again.json()["verifications"][-1]["source_sha256"] == hashlib.sha256(b"the page").hexdigest()
    assert [row["id"] for row in client.get(PRICES).json()["results"]] == [said["id"]]
    assert client.get(f"{PRICES}{said['id']}/").json()["standing"]["verified_by"] == ["Admin"]


@pytest.mark.parametrize(
    "body",
    [
        {**BODY, "amount": "1"},
        {**BODY, "input": None, "cache_read": None, "output": None},
        {**BODY, "input": "-1"},
        {**BODY, "input": "0.0000001"},
        {**BODY, "currency": "dollars"},
        {**BODY, "verified_at": "2026-01-01T00:00:00Z"},
        {**BODY, "effective_from": "soon"},
    ],
)
def test_the_api_refuses_what_contradicts_itself_and_takes_no_word_about_verification(tenant, browser, body):
    assert post(browser(tenant, "admin"), PRICES, body).status_code == 400
    with tenant_scope(tenant.id):
        assert not Price.objects.exists()


@pytest.mark.parametrize("body", [{}, {"source_sha256": "x"}, {"source_url": "https://example.com/"}])
def test_the_api_takes_no_verification_without_what_was_seen(tenant, browser, body):
    client = browser(tenant, "admin")
    price = post(client, PRICES, BODY).json()
    assert post(client, f"{PRICES}{price['id']}/verify/", body, key="v").status_code == 400


def test_shipped_templates_are_told_as_unverified(tenant, browser):
    said = browser(tenant, "auditor").get("/api/v1/inference/catalogue/templates/").json()
    rows = said["prices"] + said["behaviours"]
    assert len(rows) > 8
    assert {row["verified_at"] for row in rows} == {None}
    assert all("amount" not in row for row in rows)


def test_behaviours_over_the_api(tenant, browser):
    client = browser(tenant, "admin")
    path = "/api/v1/inference/behaviours/"
    body = {"provider": "vllm", "granularity": 16, "effective_from": "2026-01-01T00:00:00Z"}
    made = post(client, path, body).json()
    assert (made["granularity"], made["min_cacheable"], made["standing"]["state"]) == (16, None, "stale")
    assert post(client, path, {**body, "granularity": 0}, key="z").status_code == 400
    told = post(client, f"{path}{made['id']}/verify/", {"source_sha256": "cd" * 32}, key="v")
    assert told.json()["standing"]["state"] == "current"
    assert client.get(f"{path}{made['id']}/").json() == client.get(path).json()["results"][0]
