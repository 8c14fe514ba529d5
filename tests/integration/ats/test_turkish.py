"""A whole evaluation as a Turkish reader sees it: the reasons of rules, the notes of stages, the words of findings."""

from __future__ import annotations

import pytest
from django.urls import reverse

from ats import services
from ats.models import Application, CriterionVerdict, EvaluationRun
from inference.models import Decision
from nekibu.approvals.models import ApprovalRequest
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from samples import generate
from tests.integration.ats.conftest import work
from tests.reading import english_in

pytestmark = pytest.mark.django_db(transaction=True)
# Names of people and of the engine, and passages of a CV.
NAMES = (r"\b(Admin|Recruiter|Hiring_Manager)\b", r"E\d+ · “[^”]*”")


@pytest.fixture
def turkish(client, tenant, person_of):
    """An administrator who asked for no language."""
    person = User.objects.get(pk=person_of(tenant, "admin").user_id)
    client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def evaluated(tenant, job, person_of, gateway, no_doorbell):
    """A job with a CV of each kind: a plain one, hidden text, contradictory dates, a scan."""
    recruiter, made = person_of(tenant, "recruiter"), job(tenant)
    every = [s for s in generate.generate(count=24) if s.truth["job"] == "buyer"]
    odd = [
        next(s for s in every if s.truth["hidden"]),
        next(s for s in every if s.truth["criteria"]["experience"]["state"] == "conflict"),
        next(s for s in every if s.truth["quality"] == "needs_ocr"),
    ]
    with tenant_scope(tenant.id):
        for sample in {s.name: s for s in [*odd, *every[:1]]}.values():
            services.add_cv(actor=recruiter, job=made, name=sample.name, chunks=[sample.body])
    work(tenant)
    with tenant_scope(tenant.id):
        services.start_evaluations(actor=recruiter, job=made)
    work(tenant)
    return made


def test_every_page_of_an_evaluation_speaks_turkish(tenant, evaluated, turkish):
    with tenant_scope(tenant.id):
        paths = [reverse("ats-run", args=[EvaluationRun.objects.get().id]), reverse("inbox")]
        paths += [reverse("ats-application", args=[a.id]) for a in Application.objects.all()]
        paths += [reverse("decision", args=[d.id]) for d in Decision.objects.all()]
        paths += [reverse("approval", args=[a.id]) for a in ApprovalRequest.objects.all()]
        names = [rf"{a.candidate.name}" for a in Application.objects.select_related("candidate")]
    assert len(paths) > 15
    wrong = {}
    for path in paths:
        response = turkish.get(path)
        assert response.status_code == 200
        left = english_in(response.content.decode(), *NAMES, *names)
        if left:
            wrong[path] = left
    assert wrong == {}


def test_a_rules_reason_is_told_in_the_language_of_the_reader(tenant, evaluated, turkish, person_of):
    with tenant_scope(tenant.id):
        verdict = (
            CriterionVerdict.objects.filter(decided_by="rule", criterion__key="english")
            .exclude(verdict="not_stated")
            .select_related("evaluation")
            .first()
        )
    there = reverse("ats-application", args=[verdict.evaluation.application_id])
    assert "özgeçmişteki düzey: " in turkish.get(there).content.decode()
    english = turkish.get(there, headers={"Accept-Language": "en"}).content.decode()
    assert verdict.reasoning.startswith("the CV states ")
    assert verdict.reasoning in english
