import pytest
from django.urls import reverse
from playwright.sync_api import sync_playwright
from ats.models import Application, CriterionVerdict, EvaluationRun
from nekibu.approvals.models import ApprovalRequest
from nekibu.tenants.scope import tenant_scope
from tests.integration.ats.test_pages import evaluated, samples, sign_in
from tests.integration.ats.conftest import *
pytestmark = pytest.mark.django_db(transaction=True)

def test_shots(tenant, evaluated, sign_in, live_server):
    browser = sign_in(tenant, "reviewer"); rc = {k: v.value for k, v in browser.cookies.items()}
    with tenant_scope(tenant.id):
        v = CriterionVerdict.objects.filter(evidence__0__bbox__0__isnull=False, state="verified").select_related("evaluation").first()
        n = CriterionVerdict.objects.filter(state="needs_person").select_related("evaluation").exclude(evidence=[]).first()
        w = ApprovalRequest.objects.get(subject_id=str(n.decision_id)) if n else ApprovalRequest.objects.first()
        run = EvaluationRun.objects.first()
    admin = {k: m.value for k, m in sign_in(tenant, "admin").cookies.items()}
    pages = {
        "jobs": reverse("ats-jobs"), "job": reverse("ats-job", args=[evaluated.id]), "rubric": reverse("ats-rubrics", args=[evaluated.id]),
        "run": reverse("ats-run", args=[run.id]), "app": reverse("ats-application", args=[v.evaluation.application_id]),
        "orig": reverse("ats-application", args=[v.evaluation.application_id]) + "?tab=original",
        "needs": reverse("ats-application", args=[(n or v).evaluation.application_id]), "inbox": reverse("inbox"), "approval": reverse("approval", args=[w.id]),
    }
    with sync_playwright() as p:
        b = p.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for width in (1440, 390):
            c = b.new_context(viewport={"width": width, "height": 900}, color_scheme="light" if width > 1000 else "dark")
            c.add_cookies([{"name": k, "value": x, "url": live_server.url} for k, x in admin.items()])
            page = c.new_page()
            page.on("console", lambda m: print("CONSOLE", m.type, m.text[:200]))
            page.on("pageerror", lambda e: print("ERROR", str(e)[:200]))
            for name, url in pages.items():
                page.goto(live_server.url + url); page.wait_for_timeout(1500 if name == "orig" else 400)
                page.screenshot(path=f"/tmp/shots/{name}-{width}.png")
                wide = page.evaluate("document.documentElement.scrollWidth")
                if wide > width: print("OVERFLOW", name, width, wide)
        b.close()
