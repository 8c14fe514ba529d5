"""What the inbox promises to people: what waits and how long, giving away and back, standing in, one's password, nothing chosen."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from nekibu.approvals import services
from nekibu.approvals.models import ApprovalRequest, Delegation, Group, Notice, Verdict
from nekibu.approvals.selectors import attention_for
from nekibu.permissions.actor import Actor
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User


@pytest.fixture
def browser(transactional_db):
    """`browser(actor)` → a session of that person, reading English."""

    def make(actor):
        client = Client(headers={"Accept-Language": "en"})
        client.force_login(
            User.objects.get(pk=actor.user_id), backend="django.contrib.auth.backends.ModelBackend"
        )
        return client

    return make


def text(response, status=200):
    assert response.status_code == status
    page = unescape(response.content.decode())
    assert 'style="' not in page and "<script>" not in page  # the content security policy would refuse both
    return page


def form_of(page):
    assert not re.search(r'name="answer"[^>]*checked', page), "a choice was made beforehand"
    return {"nonce": re.search(r'name="nonce" value="([^"]+)"', page).group(1), "reason": "I looked"}


def backdate(request, **ago):
    with tenant_scope(request.tenant_id):
        ApprovalRequest.objects.filter(pk=request.pk).update(created_at=timezone.now() - timedelta(**ago))


def status_of(request):
    with tenant_scope(request.tenant_id):
        return ApprovalRequest.objects.get(pk=request.pk).status


# --- what waits ------------------------------------------------------------------------------------------------------


def test_the_inbox_says_who_waits_how_long_and_what_has_to_be_seen_at_once(transfer, person, say, browser):
    ada, ben = person("Ada"), person("Ben")
    old = transfer(quorum=2, risk="R3", expires_at=timezone.now() + timedelta(hours=5))
    say(ben, old, confirmed_at=timezone.now())
    new = transfer()
    backdate(old, days=3)
    page = text(browser(ada).get(reverse("inbox")))
    for said in (
        "2 questions wait",
        "the oldest for 3 days",
        "1 of 2 agreed",
        "high risk",
        "expires in 4 hours",
    ):
        assert said in page
    assert page.index(old.title) < page.index(new.title)
    mine = text(browser(ben).get(reverse("inbox")))
    assert new.title in mine and old.title not in mine  # he has spoken


def test_the_list_is_narrowed_by_queue_age_and_hands(transfer, person, browser, tenant):
    boss, ben = person("Yönetici", "admin"), person("Ben")
    with tenant_scope(tenant.id):
        group = services.create_group(actor=boss, key="treasury", name="Hazine")
        services.join_group(actor=boss, group_id=group.id, user_id=ben.user_id)
    first, second, third = transfer(), transfer(roles=["treasury"]), transfer(reasons=["a new supplier"])
    backdate(second, days=4)
    with tenant_scope(tenant.id):
        services.assign(actor=boss, approval_id=first.id, user_id=ben.user_id)

    def shown(**query):
        page = text(browser(boss).get(reverse("inbox"), query))
        return {r for r in (first, second, third) if f'href="/inbox/{r.id}/"' in page}

    assert shown() == shown(view="all") == {first, second, third}
    assert shown(queue="treasury") == shown(age="3") == {second}
    assert shown(view="all", holder="Ben") == {first}
    assert shown(holder="-") == {second, third}
    assert shown(reason="a new supplier") == {third}
    assert shown(view="given") == shown(age="7") == set()
    page = text(browser(boss).get(reverse("inbox"), {"view": "all"}))
    assert "Who waits how long" in page and "Hazine" in page and "4 days" in page
    page = text(browser(ben).get(reverse("inbox"), {"view": "given"}))
    assert first.title in page and "given to you" in page


def test_a_long_inbox_has_pages(transfer, person, browser, monkeypatch):
    from nekibu.approvals.web import views

    monkeypatch.setattr(views, "PER_PAGE", 2)
    made = [transfer() for _ in range(5)]
    client, seen = browser(person("Ada")), []
    for number in (1, 2, 3):
        page = text(client.get(reverse("inbox"), {"page": number}))
        seen += re.findall(r'class="row-link" href="/inbox/([0-9a-f-]{36})/"', page)
        assert ('rel="next"' in page) == (number < 3)
    assert seen == [str(r.id) for r in made]


def test_what_was_decided_can_be_read_later(transfer, person, say, browser):
    ada, ben = person("Ada"), person("Ben", "hiring_manager")
    request = transfer()
    with tenant_scope(ada.tenant_id):
        services.delegate(actor=ada, user_id=ben.user_id, ends_at=timezone.now() + timedelta(days=1))
    say(ben, request, "change", value={"amount": "80"}, reason="too much")
    client = browser(ada)
    page = text(client.get(reverse("inbox-decided")))
    assert request.title in page and "Ben for Ada" in page and "Changed" in page
    assert request.title not in text(client.get(reverse("inbox-decided"), {"status": "approved"}))
    page = text(client.get(reverse("approval", args=[request.id])))
    for said in ("Ben for Ada decided before: Change. “too much”", "/amount", "100", "80"):
        assert said in page


# --- deciding --------------------------------------------------------------------------------------------------------


def test_the_page_shows_exactly_what_is_carried_out_and_chooses_nothing(bank, transfer, person, browser):
    client, request = browser(person("Ada")), transfer()
    there = reverse("approval", args=[request.id])
    page = text(client.get(there))
    for said in (
        request.params_hash,
        request.parameters["to"],
        "tuğla",
        "Approve exactly this",
        "over the limit",
    ):
        assert said in page
    sent = form_of(page) | {"answer": "approve"}
    assert client.post(there, sent).status_code == 302
    assert bank.done == [(request.subject_id, "approve", request.parameters)]
    late = text(client.post(there, sent), 409)
    assert "Ada decided before" in late and "Your form was not recorded." in late


def test_a_refused_form_keeps_what_was_typed_and_decides_nothing(transfer, person, browser, audit):
    client, request = browser(person("Ada")), transfer()
    there = reverse("approval", args=[request.id])
    sent = form_of(text(client.get(there)))
    page = text(client.post(there, sent | {"reason": "İyi düşündüm"}), 400)
    assert "İyi düşündüm</textarea>" in page
    form_of(page)
    page = text(client.post(there, sent | {"answer": "approve", "nonce": "forged"}), 404)
    assert "This form is not known here" in page
    assert status_of(request) == "pending"
    assert [r.payload["code"] for r in audit("approvals:request:refused")] == [
        "invalid_input",
        "form_unknown",
    ]


def test_a_get_never_decides_whatever_it_carries(transfer, person, browser, audit):
    client, request = browser(person("Ada")), transfer()
    there = reverse("approval", args=[request.id])
    sent = form_of(text(client.get(there))) | {"answer": "approve"}
    assert client.get(there, sent).status_code == 405
    assert status_of(request) == "pending"
    (row,) = audit("approvals:request:refused")
    assert (row.payload["status"], row.subject_id) == (405, str(request.id))


def test_keys_lead_through_the_questions_and_choose_but_do_not_send(transfer, person, browser):
    first, second, third = transfer(), transfer(), transfer()
    page = text(browser(person("Ada")).get(reverse("approval", args=[second.id])))
    assert re.search(rf'href="/inbox/{first.id}/" data-key="k"', page)
    assert re.search(rf'href="/inbox/{third.id}/" data-key="j"', page)
    assert "2 of 3" in page
    for key in "ar":
        assert re.search(rf'<label data-key="{key}"[^>]*><input class="radio', page)
    assert not re.search(r"<button[^>]*data-key=\"[acr]\"", page)


def test_high_risk_takes_the_password_and_remembers_it_for_a_while(bank, transfer, person, browser, audit):
    ada = person("Ada")
    client, first, second = browser(ada), transfer(risk="R3"), transfer(risk="R3")
    there = reverse("approval", args=[first.id])
    page = text(client.get(there))
    assert 'name="password"' in page
    sent = form_of(page) | {"answer": "approve"}
    assert "give your password" in text(client.post(there, sent), 403)
    assert "not your password" in text(client.post(there, sent | {"password": "wrong"}), 403)
    assert bank.done == []
    assert client.post(there, sent | {"password": "a-long-password"}).status_code == 302
    there = reverse("approval", args=[second.id])
    page = text(client.get(there))
    assert 'name="password"' not in page
    assert client.post(there, form_of(page) | {"answer": "approve"}).status_code == 302
    assert len(bank.done) == 2
    codes = [r.payload["code"] for r in audit("approvals:request:refused")]
    assert codes == ["step_up_required", "step_up_failed"]
    assert len(audit("approvals:identity:confirmed")) == 1
    with tenant_scope(ada.tenant_id):
        assert all(Verdict.objects.values_list("stepped_up", flat=True))


def test_whoever_cannot_decide_reads_why(transfer, person, browser):
    ada = person("Ada")
    page = text(browser(ada).get(reverse("approval", args=[transfer(ada, four_eyes=True).id])))
    assert "You asked for this or changed it yourself" in page and 'name="nonce"' not in page
    page = text(browser(person("Eda", "auditor")).get(reverse("approval", args=[transfer().id])))
    assert "A person with another role decides this." in page and 'name="nonce"' not in page


def test_a_word_among_several_can_be_taken_back_on_the_page(transfer, person, say, browser):
    ada, request = person("Ada"), transfer(quorum=2)
    client, there = browser(ada), reverse("approval", args=[request.id])
    sent = form_of(text(client.get(there))) | {"answer": "approve"}
    after = client.post(there, sent, follow=True)
    assert "1 more person has to agree" in text(after)
    page = text(client.get(there))
    assert "Take my word back" in page and 'name="nonce"' not in page
    client.post(reverse("approval-take-back", args=[request.id]))
    page = text(client.get(there))
    assert "taken back" in page and 'name="nonce"' in page
    assert say(person("Ben"), request).status == "pending"


# --- giving away, standing in, groups, the switch ----------------------------------------------------------------------


def test_many_questions_are_given_away_at_once_and_taken_back_with_one_click(
    transfer, person, browser, tenant, audit
):
    boss, ben = person("Yönetici", "admin"), person("Ben")
    requests = [transfer() for _ in range(3)]
    with tenant_scope(tenant.id):
        services.assign(actor=boss, approval_id=requests[2].id, user_id=boss.user_id)
    client, there = browser(boss), reverse("inbox-assign")
    client.post(there, {"ids": [str(r.id) for r in requests], "user": str(ben.user_id)})

    def holders():
        with tenant_scope(tenant.id):
            return list(ApprovalRequest.objects.order_by("id").values_list("assignee_id", flat=True))

    assert holders() == [ben.user_id] * 3
    assert "3 questions were given away." in text(client.get(reverse("inbox")))
    with tenant_scope(tenant.id):
        assert Notice.objects.get(person_id=ben.user_id).facts == {"by": "Yönetici", "n": 3}
    client.post(there, {"undo": "1"})
    assert holders() == [None, None, boss.user_id]
    assert "given away" not in text(client.get(reverse("inbox")))
    assert len(audit("approvals:request:assigned")) == 7
    for wrong in ({"ids": ["x"]}, {"ids": [], "user": str(ben.user_id)}):
        client.post(there, wrong)
    assert holders() == [None, None, boss.user_id]
    assert (
        browser(ben).post(there, {"ids": [str(requests[0].id)]}).status_code == 302
    )  # a reviewer may give away too
    assert browser(person("Eda", "recruiter")).post(there, {}).status_code == 403


def test_my_delegations_are_made_and_ended_on_their_page(person, browser, tenant, transfer, audit):
    ada, ben = person("Ada"), person("Ben", "hiring_manager")
    client, there = browser(ada), reverse("delegations")
    today = timezone.localdate()
    sent = {"user": str(ben.user_id), "starts": today.isoformat(), "ends": today.isoformat(), "note": "izin"}
    for missing in ("user", "starts", "ends"):
        text(client.post(there, sent | {missing: ""}), 400)
    page = text(client.post(there, sent, follow=True))
    for said in ("Ben", "in force", "izin"):
        assert said in page
    with tenant_scope(tenant.id):
        held = Delegation.objects.get()
    assert timezone.localtime(held.ends_at).date() == today + timedelta(days=1)  # the whole last day
    assert "You have handed over to Ben for that time already." in text(client.post(there, sent), 409)
    assert "You also decide in the name of Ada" in text(browser(ben).get(reverse("inbox")))
    transfer()
    assert "in the name of <strong>Ada</strong>" in text(
        browser(ben).get(reverse("approval", args=[only_request(tenant)]))
    )
    client.post(reverse("delegation-end", args=[held.id]))
    assert "ended early" in text(client.get(there))
    assert browser(person("Can")).post(reverse("delegation-end", args=[held.id])).status_code == 404
    codes = [r.payload["code"] for r in audit("approvals:request:refused")]
    assert codes == ["invalid_input"] * 3 + ["delegation_twice", "not_found"]


def only_request(tenant):
    with tenant_scope(tenant.id):
        return ApprovalRequest.objects.get().id


def test_one_question_is_handed_over_on_its_page(transfer, person, browser):
    ada, ben = person("Ada"), person("Ben", "hiring_manager")
    request = transfer()
    browser(ada).post(reverse("approval-hand-over", args=[request.id]), {"user": str(ben.user_id)})
    page = text(browser(ben).get(reverse("inbox")))
    assert request.title in page and "Ada asks you to decide in their name" in page


def test_groups_are_made_and_filled_on_their_page(person, browser, tenant):
    boss, ben = person("Yönetici", "admin"), person("Ben", "recruiter")
    client, there = browser(boss), reverse("approval-groups")
    assert "no role's name" in text(client.post(there, {"key": "reviewer", "name": "x"}), 400)
    text(client.post(there, {"key": "treasury", "name": "Hazine"}, follow=True))
    with tenant_scope(tenant.id):
        group = Group.objects.get()
    one = reverse("approval-group", args=[group.id])
    client.post(one, {"user": str(ben.user_id)})
    assert "Ben" in text(client.get(there))
    client.post(one, {"leave": str(ben.user_id)})
    with tenant_scope(tenant.id):
        assert group.members.count() == 0
    assert browser(ben).get(there).status_code == 403


def test_the_switch_is_seen_by_everybody_and_turned_by_an_administrator(transfer, person, browser, tenant):
    boss, ada, request = person("Yönetici", "admin"), person("Ada"), transfer()
    client, there = browser(ada), reverse("approval", args=[request.id])
    sent = form_of(text(client.get(there))) | {"answer": "approve"}
    browser(boss).post(reverse("inbox-stop"), {"reason": "yanlış model"})
    assert "yanlış model" in text(client.get(reverse("inbox")))
    assert "Deciding has been stopped" in text(client.post(there, sent), 409)
    assert client.post(reverse("inbox-stop"), {"reason": "x"}).status_code == 403
    page = text(browser(boss).get(reverse("inbox")))
    release = re.search(r'action="(/inbox/release/[^"]+)"', page).group(1)
    browser(boss).post(release)
    assert client.post(there, sent).status_code == 302


def test_the_header_counts_what_waits_and_what_was_told_until_it_is_read(
    transfer, person, say, browser, tenant
):
    ada, ben = person("Ada"), person("Ben", "hiring_manager")
    first, _second = transfer(), transfer()
    with tenant_scope(tenant.id):
        services.delegate(actor=ada, user_id=ben.user_id, ends_at=timezone.now() + timedelta(days=1))

    def count(actor):
        with tenant_scope(tenant.id):
            return attention_for(actor)

    assert (count(ada), count(ben)) == (2, 3)  # Ben is also told that Ada handed over
    say(ben, first)
    assert (count(ada), count(ben)) == (2, 2)  # Ada is told that Ben decided in her name
    client = browser(ada)
    page = text(client.get(reverse("inbox")))
    assert "Ben decided in your name" in page and '<span class="count">2</span>' in page
    client.post(reverse("inbox-read"))
    assert count(ada) == 1
    with tenant_scope(tenant.id):
        services.remind_due(actor=Actor.system(tenant.id, "beat"), now=timezone.now() + timedelta(days=2))
    assert count(ada) == 1  # a reminder speaks of what is counted already
    assert "Reminder: 1 question waits for you" in text(client.get(reverse("inbox")))
