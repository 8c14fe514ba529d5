"""What the gateway is started with, and what it refuses to start with."""

from __future__ import annotations

import pytest

from inference.gateway.config import read

SECRET = "a-secret-of-enough-characters"


@pytest.fixture
def environment(monkeypatch, tmp_path):
    for name in ("NEKIBU_ENGINE_URL", "NEKIBU_MODEL", "NEKIBU_FAKE_ENGINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NEKIBU_STATE", str(tmp_path))
    monkeypatch.setenv("NEKIBU_GATEWAY_PORT", "8123")
    monkeypatch.setenv("NEKIBU_GATEWAY_SECRET", SECRET)
    return monkeypatch


def test_it_says_where_everything_is(environment, tmp_path):
    config = read()
    assert (config.port, config.secret, config.fake, config.url) == (8123, SECRET, False, None)
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
