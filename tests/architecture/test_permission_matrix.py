"""Every address says who may ask it, and keeps its word for every role, for tokens and for strangers."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse

from nekibu.permissions.actions import known_actions
from nekibu.permissions.actor import Actor
from nekibu.permissions.roles import ROLES, granted
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User
from nekibu.users.services import create_token
from tests.architecture.addresses import FURTHER, METHODS, PUBLIC, addresses, guarded

REFUSED = {405}


def test_every_address_has_a_name_of_its_own_and_says_who_may_ask_it():
    found = addresses()
    names = [a.name for a in found]
    assert len(found) > 40
    assert "" not in names
    assert len(names) == len(set(names))
    assert [a.name for a in found if a.says_nothing] == []


def test_only_the_named_addresses_are_public():
    assert {a.name for a in addresses() if a.is_public} == PUBLIC


def test_every_act_that_an_address_needs_is_of_the_closed_vocabulary():
    acts = {act for a in guarded() for act in a.actions.values()}
    assert acts <= set(known_actions())


def test_api_views_answer_exactly_the_methods_that_they_guard():
    wrong = []
    for address in guarded():
        if address.is_api:
            answered = {m for m in METHODS if hasattr(address.view.cls, m)}
            if answered != set(address.actions):
                wrong.append((address.name, sorted(answered), sorted(address.actions)))
    assert wrong == []


def test_a_role_may_do_what_it_was_granted_and_nothing_else(tenant, world_of, signed_in):
    world, wrong, told = world_of(tenant), [], {True: 0, False: 0}
    for role in ROLES:
        client = signed_in(tenant, role)
        for address in guarded():
            for method in _methods(address):
                allowed = address.act(method) in granted([role])
                status = address.ask(client, method, world.ids).status_code
                if status in REFUSED and not address.is_api:
                    continue
                told[allowed] += 1
                if (status != 403) != allowed or status >= 500:
                    wrong.append((role, method, address.name, status, "allowed" if allowed else "denied"))
    assert wrong == []
    assert min(told.values()) > 60  # a walk that was turned away everywhere would prove nothing


def test_a_method_without_an_act_is_refused_even_to_an_administrator(tenant, world_of, signed_in):
    world, client, wrong = world_of(tenant), signed_in(tenant, "admin"), []
    for address in guarded():
        for method in METHODS:
            if address.is_api and method not in address.actions:
                status = address.ask(client, method, world.ids).status_code
                if status not in {403, 405}:
                    wrong.append((method, address.name, status))
    assert wrong == []


def test_a_stranger_is_sent_to_the_sign_in_page_or_told_to_sign_in(tenant, world_of):
    world, client, wrong = world_of(tenant), Client(), []
    for address in guarded():
        for method in _methods(address):
            response = address.ask(client, method, world.ids)
            if address.is_api:
                fine = response.status_code == 401 and response["WWW-Authenticate"] == "Bearer"
            else:
                sent = response.status_code == 302 and response["Location"].startswith(reverse("sign-in"))
                fine = sent or response.status_code in REFUSED
            if not fine:
                wrong.append((method, address.name, response.status_code))
    assert wrong == []


def test_the_description_of_the_api_is_for_those_who_are_signed_in(tenant, signed_in):
    for name in ("schema", "docs"):
        assert Client().get(reverse(name)).status_code == 401
        assert signed_in(tenant, "interviewer").get(reverse(name)).status_code == 200


def test_a_token_may_do_only_what_it_names_even_for_an_administrator(tenant, world_of, person_of):
    world, wrong = world_of(tenant), []
    person = User.objects.get(pk=person_of(tenant, "admin").user_id)
    system = Actor.system(tenant.id, "test")
    acts = sorted({act for a in guarded() if a.is_api for act in a.actions.values()})
    for scope in acts:
        with tenant_scope(tenant.id):
            text = create_token(actor=system, user=person, name=str(scope), scopes=[scope])
        client = Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)
        for address in guarded():
            for method, act in address.actions.items() if address.is_api else ():
                status = address.ask(client, method, world.ids).status_code
                if (status != 403) != (act == scope and address.name not in FURTHER) or status >= 500:
                    wrong.append((scope, method, address.name, status))
    assert wrong == []


def _methods(address):
    """A page is asked both ways, whatever it says; one that serves only one of them refuses the other to everybody."""
    return sorted(address.actions) if address.is_api else ("get", "post")
