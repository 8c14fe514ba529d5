"""A task that selects: what is sent fits the question and its risk, and the trace and its page account for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from inference import registry, services
from inference.context import LONG
from inference.models import DecisionStep
from inference.tokens import ByteTokenizer
from inference.types import Budget, RetrievalBudget, ServicePolicy, text_digest
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from tests.unit.inference.specs import request

NAMES = ("bahçe", "deniz", "orman", "kitap", "müzik", "resim", "tarih", "çiçek")
TALK = [f"Bugün {one} ile {other} üzerine uzun uzun konuşuldu." for one in NAMES for other in NAMES]
DOCUMENT = "\n".join([*TALK[:30], "Python 2019-2024 arasında kullanıldı.", *TALK[30:], "Ekip bütçeyi onaylamak zorundadır."])  # fmt: skip


@pytest.fixture
def selecting(ask, lines, tenant):
    """`selecting(**changes)` → the outcome of one question of a task that selects, and its steps by stage."""

    def decide(key: str = "k", term: str = "Python", **changes: Any) -> tuple[Any, dict[str, Any]]:
        lines.documents["long"] = DOCUMENT
        values = {
            "compression": "select",
            "order": "edges",
            "retrieval_budget": RetrievalBudget(tokens=2_300),
        }
        spec = lines.spec(slug=f"{lines.slug}.{key}", **{**values, **changes})
        registry.register(spec)
        actor = Actor.system(tenant.id, "worker")
        outcome = services.decide(request(key, task=spec.slug, subject="long", term=term, actor=actor))
        with tenant_scope(tenant.id):
            steps = DecisionStep.objects.filter(decision_id=outcome.decision_id)
            return outcome, {step.stage: step.payload for step in steps}

    return decide


def prompt_of(gateway: Any) -> str:
    return ByteTokenizer().decode(gateway.tickets[-1].input_ids)


def test_what_the_question_does_not_need_is_not_sent_and_is_accounted_for(selecting, gateway):
    outcome, steps = selecting()
    assert (outcome.status, [c.quote for c in outcome.citations]) == (
        "accepted",
        ["Python 2019-2024 arasında kullanıldı."],
    )
    made, prompt = steps["compress"], prompt_of(gateway)
    assert made["tokens_after"] <= made["budget"] == 2_300 < made["tokens_before"]
    assert (
        made["tokens_before"] - made["tokens_after"]
        == sum(r["tokens"] for r in made["removals"]) + made["retokenised"]
    )
    for removal in made["removals"]:
        gone = DOCUMENT[removal["start"] : removal["end"]]
        assert (removal["reason"], removal["span_hash"]) == ("OFF_QUESTION", text_digest(gone))
        assert gone not in prompt
    assert made["fields_before"] == made["fields_after"] > 0
    assert "Ekip bütçeyi onaylamak zorundadır." in prompt  # an obligation stays, whatever is asked


def test_long_evidence_of_one_question_has_the_best_at_its_edges(selecting, gateway):
    _outcome, steps = selecting()
    layout = steps["assemble"]["layout"]
    assert (layout["mode"], layout["reason"]) == ("edges", "long")
    assert layout["shared_if_document"] - layout["shared_if_edges"] > LONG
    first = layout["positions"][0]
    sent = [line for line in prompt_of(gateway).split("\n") if line.startswith("[E")]
    assert sent[0] == f"[{first[0]}] Python 2019-2024 arasında kullanıldı."
    assert [place for _piece, place in layout["positions"]] == sorted(place for _piece, place in layout["positions"])  # fmt: skip


def test_another_question_gets_another_package(selecting, gateway):
    selecting("k1")
    first = prompt_of(gateway)
    selecting("k2", term="kitap")
    assert first.count("kitap") < prompt_of(gateway).count("kitap")


def test_high_risk_keeps_more_and_only_whole_passages_go(selecting):
    _outcome, low = selecting("k1")
    _outcome, high = selecting("k2", impact="high", reversibility="compensable")
    assert (low["classify"]["risk"], high["classify"]["risk"]) == ("R1", "R3")
    assert high["compress"]["budget"] > low["compress"]["budget"]
    assert high["compress"]["tokens_after"] > low["compress"]["tokens_after"]
    removed = {r["evidence_id"] for r in high["compress"]["removals"]}
    assert removed.isdisjoint({"E30", "E31", "E32"})  # what fits, and its neighbours


def test_what_may_not_go_and_does_not_fit_goes_to_a_person_uncut(selecting, gateway):
    policy = ServicePolicy(budget=Budget(max_in=1_000))
    outcome, steps = selecting(policy=policy)
    assert outcome.status == "accepted" and steps["compress"]["budget"] < 1_000
    outcome, steps = selecting("k2", policy=ServicePolicy(budget=Budget(max_in=200)))
    assert (outcome.status, outcome.reason) == ("needs_person", "context_too_large")
    assert steps["assemble"]["total_tokens"] > steps["assemble"]["limit"]
    assert len(gateway.tickets) == 1


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            (
                "What the question does not need was left out, by whole sentences and passages",
                "nothing in it belongs to the question",
                "Budget of the question, in tokens",
                "the best first and second best last, because the text is long",
                "Begins at",
                "obligations, as whole clauses",
            ),
        ),
        ("tr", ("Sorunun gerektirmediği", "soruyla ilgisi yok", "en uygunu başta", "yükümlülükler")),
    ],
)
def test_the_page_tells_it_in_the_readers_language(selecting, person_of, tenant, language, said):
    outcome, _steps = selecting()
    actor = person_of(tenant, "auditor")
    client = Client(headers={"Accept-Language": language})
    with tenant_scope(tenant.id):
        user = User.objects.get(pk=actor.user_id)
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    page = client.get(f"/decisions/{outcome.decision_id}/").content.decode()
    for words in said:
        assert words in page
