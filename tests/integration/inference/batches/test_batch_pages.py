"""The pages of batches."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from inference.batches import services
from inference.models import Batch
from nekibu.tenants.scope import tenant_scope
from nekibu.users.models import User


@pytest.fixture
def browser_of(desk, person_of, tenant):
    """`browser_of(role)` → somebody of the tenant, reading English."""

    def make(role):
        client = Client(headers={"Accept-Language": "en"})
        user = User.objects.get(pk=person_of(tenant, role).user_id)
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


@pytest.fixture
def recruiter(browser_of):
    return browser_of("recruiter")


def upload(client, content):
    return client.post(reverse("batches"), {"file": SimpleUploadedFile("May.jsonl", content)}, follow=True)


def words(response):
    return " ".join(response.content.decode().split())


def test_from_the_upload_over_the_check_to_the_results(recruiter, desk):
    assert "No batch yet" in words(recruiter.get(reverse("batches")))
    seen = upload(recruiter, desk.line("a") + desk.line("b") + desk.line("gone", subject="nobody"))
    assert "3 lines can be asked" in words(seen) and "Start the batch" in words(seen)
    place = seen.redirect_chain[-1][0]
    with tenant_scope(desk.tenant.id):
        assert not Batch.objects.exists()
    started = recruiter.post(place, {"window": "1h", "name": "May letters"}, follow=True)
    page = started.redirect_chain[-1][0]
    assert "The file is being read." in words(started)
    desk.jobs()
    running = words(recruiter.get(page))
    assert "May letters" in running and "Pause" in running and "Cancel the batch" in running
    desk.work()
    ended = words(recruiter.get(page))
    assert "Completed" in ended and "Ask 1 again" in ended and "Pause" not in ended
    assert "What the question is about does not exist" in ended
    batch_id = page.rstrip("/").rsplit("/", 1)[-1]
    good = recruiter.get(reverse("batch-answers", args=[batch_id]))
    assert len(b"".join(good.streaming_content).splitlines()) == 2
    assert "May letters" in words(recruiter.get(reverse("batches")))
    again = recruiter.post(reverse("batch-retry", args=[batch_id]), {"window": "4h"}, follow=True)
    assert "Asks again what had no answer" in words(again)


def test_lines_that_cannot_be_asked_are_listed_and_nothing_can_be_started(recruiter, desk):
    seen = words(upload(recruiter, desk.line("a") + b"{}\nnonsense\n"))
    assert "2 lines cannot be asked" in seen
    assert "“custom_id” is missing." in seen and "not one JSON object" in seen
    assert "Start the batch" not in seen


@pytest.mark.parametrize(("files", "said"), [({}, "Choose a file first."), ({"file": b""}, "is empty")])
def test_an_upload_without_a_file_says_so(recruiter, files, said):
    data = {name: SimpleUploadedFile("x.jsonl", content) for name, content in files.items()}
    answer = recruiter.post(reverse("batches"), data)
    assert answer.status_code == 400 and said in words(answer)


def test_pausing_going_on_and_cancelling(recruiter, desk):
    batch_id = desk.open(2)
    for act, said in (
        ("pause", "Paused"),
        ("resume", "It goes on."),
        ("cancel", "It is being stopped."),
        ("cancel", "The batch has moved on since you opened the page."),
    ):
        answer = recruiter.post(reverse(f"batch-{act}", args=[batch_id]), follow=True)
        assert said in words(answer)
        assert recruiter.get(reverse(f"batch-{act}", args=[batch_id])).status_code == 405
    desk.jobs()
    assert "Cancelled" in words(recruiter.get(reverse("batch", args=[batch_id])))
    answer = recruiter.post(reverse("batch-retry", args=[batch_id]), {"window": "1h"}, follow=True)
    assert str(services.NothingToRetry().message) in words(answer)


def test_an_auditor_sees_it_and_is_offered_nothing(browser_of, desk):
    auditor, batch_id = browser_of("auditor"), desk.open(1)
    listed, seen = (
        words(auditor.get(reverse("batches"))),
        words(auditor.get(reverse("batch", args=[batch_id]))),
    )
    assert "New batch" not in listed
    assert "Pause" not in seen and "Cancel the batch" not in seen and "Cancel this batch?" not in seen
    assert auditor.post(reverse("batch-pause", args=[batch_id])).status_code == 403


def test_a_file_of_answers_is_not_a_file_of_questions(recruiter, desk):
    batch_id = desk.open(1)
    desk.work()
    output = desk.batch(batch_id).output_file_id
    assert recruiter.get(reverse("batch-check", args=[output])).status_code == 404


def test_deleted_files_are_said_to_be_deleted(recruiter, desk):
    from inference.batches import files

    batch_id = desk.open(1)
    desk.work()
    with tenant_scope(desk.tenant.id):
        for held in (desk.batch(batch_id).output_file, desk.batch(batch_id).input_file):
            files.delete(desk.actor, held)
    seen = words(recruiter.get(reverse("batch", args=[batch_id])))
    assert "deleted after seven days" in seen
    assert recruiter.get(reverse("batch-answers", args=[batch_id])).status_code == 410
    assert recruiter.get(reverse("batch-check", args=[desk.batch(batch_id).input_file_id])).status_code == 410
