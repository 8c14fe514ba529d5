"""Turkish is spoken where nothing else is asked for, on every page; English where it is asked for. Nothing stays untranslated."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from django.template import Context, Template
from django.test import Client
from django.urls import reverse
from django.utils.translation import gettext, ngettext, override, pgettext

from nekibu.users.models import User
from tests.architecture.addresses import addresses
from tests.reading import catalogue, english_in, seen

# Answers that are not pages: files, and states for machines.
NOT_PAGES = {"ats-cv", "batch-answers", "batch-failures", "health", "ready", "metrics", "schema", "docs"}
SNAKE = re.compile(r"(?<![\w/.@-])[a-z]+(?:_[a-z]+)+(?![\w/.@-])")
TABS = {"ats-application": ("", "?tab=original", "?tab=hidden")}


@pytest.fixture
def reading(transactional_db, person_of):
    """`reading(tenant, role, language)` → a browser of that role that asks for this language, or for none."""

    def make(tenant, role="admin", language=None):
        client = Client(
            headers={"Accept-Language": language} if language else None, raise_request_exception=False
        )
        client.force_login(
            User.objects.get(pk=person_of(tenant, role).user_id),
            backend="django.contrib.auth.backends.ModelBackend",
        )
        return client

    return make


def pages(client, world):
    """Every page of the table of addresses, with its tabs: (name, text)."""
    for address in addresses():
        if address.is_api or address.name in NOT_PAGES:
            continue
        for tab in TABS.get(address.name, ("",)):
            response = client.get(address.path(world.ids) + tab)
            if response.status_code in {302, 405}:
                continue
            assert response.status_code == 200, (address.name, response.status_code)
            yield f"{address.name}{tab}", response.content.decode()


def data_of(world) -> list[str]:
    """Patterns of what is not ours to translate: the world's own texts and keys."""
    return [rf"{world.mark}[ -]\w+( \d+)?", r"criterion-\d+"]


def test_every_page_speaks_turkish_where_no_language_is_asked_for(tenant, world_of, reading):
    world, wrong, walked = world_of(tenant), {}, 0
    for name, page in pages(reading(tenant), world):
        assert '<html lang="tr"' in page or "<html" not in page
        walked += 1
        left = english_in(page, *data_of(world))
        if left:
            wrong[name] = left
    assert wrong == {}
    assert walked >= 13  # a walk that met no page would prove nothing


def test_every_page_speaks_english_where_it_is_asked_for(tenant, world_of, reading):
    world = world_of(tenant)
    turkish = dict(pages(reading(tenant), world))
    english = dict(pages(reading(tenant, language="en"), world))
    assert turkish.keys() == english.keys()
    assert [name for name in english if not english_in(english[name], *data_of(world))] == []
    letters = {name: set("ğşıİ") & set("".join(seen(english[name]))) for name in english}
    assert {name: found for name, found in letters.items() if found - set("ış")} == {}


def test_what_reads_the_same_in_both_languages_is_no_text_of_ours(tenant, world_of, reading):
    """A text that nobody marked for translation has no translation to differ from: it is found by not changing."""
    world = world_of(tenant)
    turkish = dict(pages(reading(tenant), world))
    english = dict(pages(reading(tenant, language="en"), world))
    same = {m.id for m in catalogue() if m.id == m.string} | {
        world.tenant.name,
        "Admin",
        "fake",
        "nekibu-fake",
    }
    data = re.compile(
        rf"{world.mark}|“mark”|(criterion|group)-\d|^· test$|^[0-9a-f]{{16}}$|^[\d.,]+ ms$|^E\d"
    )
    unchanged = {
        name: sorted(left)
        for name, page in turkish.items()
        if (
            left := {
                text
                for text in {*seen(page)} & {*seen(english[name])} - same
                if re.search(r"[^\W\d_]{2}", text) and not data.search(text)
            }
        )
    }
    assert unchanged == {}


def test_no_page_shows_a_code_in_place_of_words(tenant, world_of, reading):
    world = world_of(tenant)
    found = {
        name: codes
        for name, page in pages(reading(tenant), world)
        if (codes := sorted({code for text in seen(page) for code in SNAKE.findall(text)}))
    }
    assert found == {}


def test_pages_of_errors_and_of_signing_in_speak_turkish(tenant, world_of, reading):
    world = world_of(tenant)
    interviewer, stranger = reading(tenant, "interviewer"), Client()
    shown = {
        "sign-in": stranger.get(reverse("sign-in")),
        "wrong": stranger.post(reverse("sign-in"), {"username": "a@b.example", "password": "not this one"}),
        "absent": interviewer.get("/ats/jobs/00000000-0000-7000-8000-000000000000/"),
        "nowhere": interviewer.get("/nowhere/"),
        "forbidden": interviewer.get(reverse("ats-application", args=[world.ids["application_id"]])),
        "language": interviewer.post(reverse("set-language"), {"language": "xx"}),
    }
    assert {name: response.status_code for name, response in shown.items()} == {
        "sign-in": 200, "wrong": 200, "absent": 404, "nowhere": 404, "forbidden": 403, "language": 400,
    }  # fmt: skip
    left = {
        name: english_in(response.content.decode(), "^Interviewer$|(?<=\n)Interviewer(?=\n)")
        for name, response in shown.items()
    }
    assert {name: texts for name, texts in left.items() if texts} == {}
    assert "E-posta adresi ile parola eşleşmiyor" in shown["wrong"].content.decode()


def test_an_error_of_the_api_is_said_in_the_language_that_is_asked_for(tenant, world_of, reading):
    world = world_of(tenant)
    key = {"Idempotency-Key": "k"}
    decision = f"/api/v1/decisions/{world.ids['decision_id']}/"
    task, subject = "ats.criterion_first_pass", {"type": "a", "id": "b"}
    asked = [
        ("get", "/api/v1/ats/jobs/00000000-0000-7000-8000-000000000000/", None, {}, 404),
        ("get", "/api/v1/ats/rubrics/?job=none", None, {}, 400),
        ("post", "/api/v1/ats/jobs/", {"title_tr": "x", "title_en": "x"}, {}, 400),
        ("post", "/api/v1/ats/jobs/", {}, key, 400),
        ("post", "/api/v1/decisions/", {"task": "none", "subject": subject, "salt": "x"}, key, 400),
        ("post", "/api/v1/decisions/", {"task": task, "subject": subject, "inputs": {"x": 1}}, key, 400),
        ("post", f"{decision}override/", {"value": {"verdict": "no"}, "reason": " "}, key, 400),
    ]  # fmt: skip
    said: dict[str | None, list[str]] = {None: [], "en": []}
    for language, sentences in said.items():
        client = reading(tenant, language=language)
        for method, path, sent, headers, status in asked:
            more = {"data": sent, "content_type": "application/json"} if sent is not None else {}
            response = getattr(client, method)(path, headers=headers, **more)
            assert response.status_code == status, (path, response.content)
            body = response.json()
            sentences += [body["message"], *(e["message"] for e in body["errors"])]
    assert len(said[None]) == len(said["en"]) > 8
    assert [a for a, b in zip(said[None], said["en"], strict=True) if a == b] == []
    assert set("".join(said["en"])) & set("çğıöşüİ") == set()


def test_the_compiled_messages_are_those_of_the_sources():
    """Pages read the compiled file, which git does not keep: an old one would prove nothing."""
    with override("tr"):
        for message in catalogue():
            if isinstance(message.id, tuple):
                assert tuple(ngettext(*message.id, n) for n in (1, 2)) == message.string
            elif message.id:
                said = pgettext(message.context, message.id) if message.context else gettext(message.id)
                assert said == message.string


def test_numbers_and_times_are_written_as_the_language_writes_them():
    """A thousand, a share, a duration and a date."""
    at = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)
    written = {
        language: render(
            "{{ n|count }} {{ share|percent:1 }} {{ time|seconds }} {{ at|moment }}",
            language, n=1234, share=0.615, time=1.5, at=at,
        )
        for language in ("tr", "en")
    }  # fmt: skip
    assert written["tr"].startswith("1.234 %61,5 1,5 sn ")
    assert written["en"].startswith("1,234 61.5% 1.5 s ")
    assert 'title="30 Kasım 2026 17:05"' in written["tr"]
    assert 'title="Nov. 30, 2026, 5:05 p.m."' in written["en"]


def render(source: str, language: str, **values: object) -> str:
    with override(language):
        return Template("{% load nekibu_ui %}" + source).render(Context(values))
