"""What the gateway is started with, and what it refuses to start with."""

from __future__ import annotations

import pytest

from inference.gateway import config as module
from inference.gateway.config import Place, read

SECRET = "a-secret-of-enough-characters"


@pytest.fixture
def environment(monkeypatch, tmp_path):
    for name in ("NEKIBU_ENGINE_URL", "NEKIBU_ENGINES", "NEKIBU_MODEL", "NEKIBU_FAKE_ENGINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NEKIBU_STATE", str(tmp_path))
    monkeypatch.setenv("NEKIBU_GATEWAY_PORT", "8123")
    monkeypatch.setenv("NEKIBU_GATEWAY_SECRET", SECRET)
    return monkeypatch


def test_it_says_where_everything_is(environment, tmp_path):
    config = read()
    assert (config.port, config.secret, config.fake, config.urls) == (8123, SECRET, False, ())
    assert (config.run, config.logs, config.models) == (
        tmp_path / "run",
        tmp_path / "logs",
        tmp_path / "models",
    )


@pytest.mark.parametrize("secret", ["", "short"])
def test_without_a_secret_worth_the_name_it_does_not_start(environment, secret):
    environment.setenv("NEKIBU_GATEWAY_SECRET", secret)
    with pytest.raises(SystemExit, match="NEKIBU_GATEWAY_SECRET"):
        read()


def test_arguments_go_to_the_fake_engine_and_to_no_other(environment):
    with pytest.raises(SystemExit, match="--leaky"):
        read(["--leaky"])
    environment.setenv("NEKIBU_FAKE_ENGINE", "1")
    assert read(["--delay", "1"]).fake_options == ("--delay", "1")


def test_the_secret_is_not_printed(environment):
    assert SECRET not in repr(read())


def test_an_engine_that_is_alone_needs_no_number(environment):
    assert read().places == (Place("SGLang"),)
    environment.setenv("NEKIBU_ENGINE_URL", "http://gpu.example:30000/")
    assert read().places == (Place("SGLang", 1, "http://gpu.example:30000"),)


def test_children_are_counted_and_each_has_its_own_files(environment):
    environment.setenv("NEKIBU_ENGINES", "2")
    places = read().places
    assert [place.name for place in places] == ["SGLang 1", "SGLang 2"]
    assert [place.file("engine.pid") for place in places] == ["engine.pid", "engine-2.pid"]
    assert [place.file("engine-status.json") for place in places] == [
        "engine-status.json",
        "engine-status-2.json",
    ]


def test_several_addresses_are_several_engines(environment):
    environment.setenv("NEKIBU_ENGINE_URL", "http://a:1, http://b:2/x")
    assert [(place.name, place.url) for place in read().places] == [
        ("SGLang a:1", "http://a:1"),
        ("SGLang b:2/x", "http://b:2/x"),
    ]


def test_children_and_addresses_do_not_go_together(environment):
    environment.setenv("NEKIBU_ENGINES", "2")
    environment.setenv("NEKIBU_ENGINE_URL", "http://a:1")
    with pytest.raises(SystemExit, match="NEKIBU_ENGINES"):
        read()


def test_each_child_gets_a_gpu_of_its_own_and_there_are_no_more_children_than_gpus(environment):
    environment.setattr(module, "_gpus", lambda: ("3", "5"))
    assert read().places == (Place("SGLang"),)
    environment.setenv("NEKIBU_ENGINES", "2")
    assert [place.gpu for place in read().places] == ["3", "5"]
    environment.setenv("NEKIBU_ENGINES", "3")
    with pytest.raises(SystemExit, match="2 GPUs"):
        read()
