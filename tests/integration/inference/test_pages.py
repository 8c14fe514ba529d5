"""The list of decisions, the trace of one, and the engine's page."""

from __future__ import annotations

from django.core.cache import cache
from django.test import Client

from inference import connection
from nekibu.tenants.scope import tenant_scope
from nekibu.web.engine_status import KEY
from tests.gateway import GatewayProcess, until


def text_of(client, path):
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def test_the_trace_explains_itself(ask, browser, tenant):
    outcome = ask()
    page = text_of(browser(tenant, "auditor"), f"/decisions/{outcome.decision_id}/")
    for sentence in (
        "The model answered, and the answer passed every check.",
        "Every check held: 6 of 6.",
        "Only inside this tenant, and only among those with the same rights.",
        "Nothing speaks against the model answering",
        "Python 2019-2024",
        "Waiting in the gateway",
    ):
        assert sentence in page
    assert (
        page.index("Which text was read")
        < page.index("Clean-up")
        < page.index("Who answers")
        < page.index("Checks")
    )
    assert 'style="' not in page and "<script>" not in page  # the content security policy would refuse both


def test_the_trace_says_why_a_person_is_asked_and_what_the_person_said(
    ask, lines, browser, tenant, person_of
):
    from nekibu.approvals import services as approvals
    from nekibu.approvals.models import ApprovalRequest

    lines.flags = frozenset({"hidden_text"})
    outcome = ask()
    reviewer = person_of(tenant, "reviewer")
    client = browser(tenant, "recruiter")
    page = text_of(client, f"/decisions/{outcome.decision_id}/")
    assert "There is an answer, but it does not count until a person agrees." in page
    assert "This is only a proposal." in page
    with tenant_scope(tenant.id):
        waiting = ApprovalRequest.objects.get()
        approvals.decide(
            actor=reviewer,
            approval_id=waiting.id,
            verdict="reject",
            reason="<b>not this</b>",
            params=waiting.params_hash,
        )
    page = text_of(client, f"/decisions/{outcome.decision_id}/")
    assert "A person rejected the answer." in page
    assert "&lt;b&gt;not this&lt;/b&gt;" in page


def test_a_removal_is_shown_with_its_reason(ask, lines, browser, tenant):
    block = "\n".join(
        f"In {year} I moved the billing system to Python and PostgreSQL." for year in (2019, 2020, 2021)
    )
    lines.documents["a"] = f"{block}\nHobbies\n{block}"
    page = text_of(browser(tenant, "recruiter"), f"/decisions/{ask().decision_id}/")
    assert page.count("copied block, word for word") == 3
    assert "Only repetition was taken out" in page


def test_the_list_and_its_filter(ask, browser, tenant):
    first, second = ask("k1"), ask("k2", subject="b")
    client = browser(tenant, "recruiter")
    page = text_of(client, "/decisions/")
    assert page.index(str(second.decision_id)) < page.index(str(first.decision_id))
    page = text_of(client, "/decisions/?subject=b")
    assert str(second.decision_id) in page and str(first.decision_id) not in page
    assert "No decisions" in text_of(client, "/decisions/?status=failed")
    assert text_of(client, "/decisions/?after=nonsense&status=nonsense")


def test_strangers_and_other_tenants_see_nothing(ask, browser, tenant, other_tenant):
    path = f"/decisions/{ask().decision_id}/"
    assert Client().get(path).status_code == 302
    assert browser(other_tenant, "admin").get(path).status_code == 404
    assert browser(tenant, "interviewer").get(path).status_code == 403
    assert str(path) not in text_of(browser(other_tenant, "recruiter"), "/decisions/")


def test_the_engine_page_names_engine_and_model(ask, browser, tenant, gateway):
    page = text_of(browser(tenant, "interviewer"), "/engine/")
    assert "nekibu-fake" in page


def test_the_engine_page_shows_each_of_several_engines(browser, tenant, tmp_path):
    process = GatewayProcess(tmp_path, NEKIBU_ENGINES="2")
    try:
        process.start()
        until(lambda: process.client.state().engines_ready == 2)
        connection.install(process.client)
        cache.delete(KEY)
        page = text_of(browser(tenant, "interviewer"), "/engine/")
        assert "fake 1" in page and "fake 2" in page
        assert "2 of 2 ready" in page
        ready = Client().get("/readyz").json()["engine"]
        assert (ready["engines"], ready["engines_ready"], ready["worst"]) == ("2", "2", "ready")
    finally:
        connection.install(None)
        cache.delete(KEY)
        process.close()
