"""Two tenants with the same kinds of rows: neither sees, names or moves anything of the other, at any address."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from nekibu.users.models import User
from tests.architecture.addresses import guarded
from tests.architecture.world import rows_of

# Pages on which nothing of a tenant stands. Every other one must show its own rows, or a walk over it proves nothing.
NOTHING_OF_A_TENANT = {
    "engine", "engine-status", "operations-live", "api-inference-status", "api-decision-events", "price-new", "behaviour-new",
    "api-catalogue-templates", "api-batch-events",
}  # fmt: skip


def text_of(response) -> str:
    """Everything that was answered, headers too."""
    head = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
    return head if response.streaming else f"{head}\n{response.content.decode()}"


@pytest.fixture
def worlds(tenant, other_tenant, world_of):
    return world_of(tenant), world_of(other_tenant)


def test_another_tenants_object_does_not_exist_for_any_method_of_any_address(
    tenant, other_tenant, worlds, signed_in
):
    _own, other = worlds
    client, wrong, asked = signed_in(tenant, "admin"), [], 0
    before = rows_of(other_tenant)
    for address in guarded():
        if not address.kwargs:
            continue
        for method in sorted(address.actions) if address.is_api else ("get", "post"):
            response = address.ask(client, method, other.ids)
            if response.status_code == 405 and not address.is_api:
                continue
            asked += 1
            said = text_of(response).replace(address.path(other.ids), "")
            if response.status_code != 404 or other.mark in said:
                wrong.append((method, address.name, response.status_code))
    assert wrong == []
    assert asked > 25
    assert rows_of(other_tenant) == before


def test_no_address_names_a_row_of_another_tenant_and_each_shows_its_own(tenant, worlds, signed_in):
    own, other = worlds
    client, leaks, empty = signed_in(tenant, "admin"), [], []
    for address in guarded():
        if "get" not in address.actions:
            continue
        response = address.ask(client, "get", own.ids)
        if response.status_code == 405:
            continue
        assert response.status_code == 200, (address.name, response.status_code)
        said = text_of(response)
        leaks += [(address.name, found) for found in (other.mark, *other.all_ids) if found in said]
        shows = own.mark in said or any(row in said.replace(address.path(own.ids), "") for row in own.all_ids)
        if not shows and address.name not in NOTHING_OF_A_TENANT:
            empty.append(address.name)
    assert leaks == []
    assert empty == []


def test_every_list_of_the_api_holds_rows_of_the_own_tenant_only(tenant, worlds, signed_in):
    own, _other = worlds
    client, lists = signed_in(tenant, "admin"), 0
    for address in guarded():
        if address.is_api and not address.kwargs and "get" in address.actions:
            body = address.ask(client, "get", own.ids).json()
            if "results" in body:
                lists += 1
                found = {row.get("id") or row.get("decision_id") for row in body["results"]}
                assert found, address.name
                assert found <= own.all_ids, address.name
    assert lists >= 8


@pytest.mark.parametrize(
    ("name", "field"),
    [("applications", "job"), ("rubrics", "job"), ("evaluations", "job"), ("evaluations", "run")],
)
def test_a_filter_by_another_tenants_id_finds_nothing(tenant, worlds, signed_in, name, field):
    own, other = worlds
    client = signed_in(tenant, "admin")
    path = f"/api/v1/ats/{name}/"
    assert client.get(path, {field: own.ids[f"{field}_id"]}).json()["results"]
    assert client.get(path, {field: other.ids[f"{field}_id"]}).json()["results"] == []


def test_another_tenants_ids_in_a_body_are_unknown(tenant, other_tenant, worlds, signed_in):
    own, other = worlds
    client = signed_in(tenant, "admin")
    before = rows_of(other_tenant)
    criterion = {"key": "k", "statement_tr": "a", "statement_en": "a", "kind": "must", "method": "model"}
    job, foreign = str(own.ids["job_id"]), str(other.ids["job_id"])
    asked = [
        ("rubrics", {"job": foreign, "criteria": [criterion]}),
        ("evaluations", {"job": foreign}),
        ("evaluations", {"job": job, "applications": [str(other.ids["application_id"])]}),
    ]
    for number, (name, body) in enumerate(asked):
        response = client.post(
            f"/api/v1/ats/{name}/",
            body,
            content_type="application/json",
            headers={"Idempotency-Key": f"foreign-{number}"},
        )
        assert response.status_code == 404, (name, response.content)
    upload = {"job": foreign, "file": SimpleUploadedFile("cv.txt", b"x")}
    assert (
        client.post(
            "/api/v1/ats/applications/", upload, headers={"Idempotency-Key": "foreign-file"}
        ).status_code
        == 404
    )
    page = client.post(f"/ats/jobs/{job}/evaluate/", {"application": str(other.ids["application_id"])})
    assert page.status_code == 404
    assert rows_of(other_tenant) == before


def test_an_idempotency_key_of_one_tenant_says_nothing_to_another(tenant, other_tenant, worlds, signed_in):
    answers = []
    for mine, world in zip((tenant, other_tenant), worlds, strict=True):
        body = {"job": str(world.ids["job_id"]), "applications": [str(world.ids["application_id"])]}
        answers.append(
            signed_in(mine, "recruiter").post(
                "/api/v1/ats/evaluations/",
                body,
                content_type="application/json",
                headers={"Idempotency-Key": "the same key"},
            )
        )
    assert [a.status_code for a in answers] == [202, 202]
    assert answers[0].json()["id"] != answers[1].json()["id"]
    assert "Idempotent-Replay" not in answers[1]


def test_a_person_of_two_tenants_is_in_one_at_a_time(tenant, other_tenant, worlds, signed_in, person_of):
    from nekibu.permissions.actor import Actor
    from nekibu.tenants.scope import tenant_scope
    from nekibu.users.services import add_member

    own, other = worlds
    client = signed_in(tenant, "recruiter")
    person = User.objects.get(pk=person_of(tenant, "recruiter").user_id)
    with tenant_scope(other_tenant.id):
        add_member(actor=Actor.system(other_tenant.id, "test"), user=person, role="auditor")
    statuses = {}
    for chosen in (tenant, other_tenant):
        session = client.session
        session["tenant"] = str(chosen.id)
        session.save()
        statuses[chosen.slug] = [
            client.get(f"/api/v1/ats/jobs/{w.ids['job_id']}/").status_code for w in (own, other)
        ]
    assert statuses == {"anka": [200, 404], "mavi": [404, 200]}
    created = client.post(
        "/api/v1/ats/jobs/",
        {"title_tr": "x", "title_en": "x"},
        content_type="application/json",
        headers={"Idempotency-Key": "k"},
    )
    assert created.status_code == 403  # a recruiter there is only an auditor here
