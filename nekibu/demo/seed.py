"""Two demo tenants: people, tokens, jobs with approved rubrics and, for the first, 24 sample CVs. Run again, it adds nothing."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings

from ats import services
from ats.models import Application, Job
from nekibu.permissions.actions import known_actions
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import ROLES, granted
from nekibu.tenants.models import Tenant
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import ApiToken, Membership, User
from nekibu.users.services import add_member, create_token
from samples import generate, rubrics

TENANTS = (("anka", "Anka Sanayi A.Ş."), ("mavi", "Mavi Lojistik A.Ş."))
NAMES = {
    "admin": "Deniz Aksoy", "recruiter": "Elif Kaya", "reviewer": "Mert Demir",
    "hiring_manager": "Selin Arslan", "interviewer": "Can Yıldız", "auditor": "Zeynep Koç",
}  # fmt: skip


def seed(base_url: str, *, cvs: int = 24) -> dict[str, Any]:
    """Make what is missing, and write `demo.json` (addresses, passwords and tokens, readable by its owner only)."""
    path = settings.ENVIRONMENT.state / "demo.json"
    held: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    password = held.get("users", [{}])[0].get("password") or f"nekibu-{secrets.token_hex(4)}"
    users, tokens, tenants = [], dict(held.get("tokens", {})), []
    for slug, name in TENANTS:
        tenant, _made = Tenant.objects.get_or_create(slug=slug, defaults={"name": name})
        tenants.append({"id": str(tenant.id), "slug": slug, "name": name})
        system = Actor.system(tenant.id, "seed")
        with tenant_scope(tenant.id):
            people = {role: _person(system, slug, role, password) for role in ROLES}
            tokens[slug] = {
                role: _token(system, people[role], role, tokens.get(slug, {}).get(role)) for role in ROLES
            }
            for data in (rubrics.BUYER, rubrics.BACKEND):
                _job(system, people["hiring_manager"], data)
        users += [
            {
                "email": f"{role}@{slug}.example",
                "password": password,
                "role": role,
                "tenant": slug,
                "label": f"{name} · {ROLES[role]}",
            }
            for role in ROLES
        ]
    first = Tenant.objects.get(slug=TENANTS[0][0])
    with tenant_scope(first.id):
        if not Application.objects.exists():
            _applications(Actor.system(first.id, "seed"), cvs)
    demo = {"base_url": base_url, "users": users, "tokens": tokens, "tenants": tenants}
    _write(path, demo)
    return demo


def _person(system: Actor, slug: str, role: str, password: str) -> User:
    email = f"{role}@{slug}.example"
    user = User.objects.filter(email=email).first() or User.objects.create_user(email, NAMES[role], password)
    add_member(actor=system, user=user, role=role)
    return user


def _token(system: Actor, user: User, role: str, held: str | None) -> str:
    if held and ApiToken.objects.filter(user=user, revoked_at__isnull=True).exists():
        return held
    return create_token(
        actor=system, user=user, name="demo", scopes=[a for a in known_actions() if a in granted([role])]
    )


def _job(system: Actor, manager: User, data: rubrics.JobData) -> None:
    if Job.objects.filter(title_tr=data.title_tr).exists():
        return
    job = services.create_job(
        actor=system,
        title_tr=data.title_tr,
        title_en=data.title_en,
        description_tr=data.description_tr,
        description_en=data.description_en,
    )
    criteria = [{**asdict(c), "terms": list(c.terms)} for c in data.criteria]
    rubric = services.create_rubric(actor=system, job=job, criteria=criteria)
    approver = Actor(
        tenant_id=system.tenant_id,
        name=manager.name,
        user_id=manager.id,
        roles=frozenset(m.role for m in Membership.objects.filter(user=manager)),
    )
    services.approve_rubric(actor=approver, rubric=rubric)


def _applications(system: Actor, count: int) -> None:
    jobs = {
        "buyer": Job.objects.get(title_tr=rubrics.BUYER.title_tr),
        "backend": Job.objects.get(title_tr=rubrics.BACKEND.title_tr),
    }
    for sample in generate.generate(count=count):
        services.add_cv(actor=system, job=jobs[sample.truth["job"]], name=sample.name, chunks=[sample.body])


def _write(path: Path, demo: dict[str, Any]) -> None:
    draft = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(demo, file, ensure_ascii=False, indent=1)
    draft.replace(path)
