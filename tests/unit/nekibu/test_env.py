"""The process environment: what is read, and what is refused with its name and an example."""

from __future__ import annotations

import pytest

from nekibu import env


def test_without_a_word_there_is_one_engine_of_our_own():
    found = env.read({})
    assert (found.engine_urls, found.engines) == ((), 1)


def test_one_address_or_several_by_comma():
    assert env.read({"NEKIBU_ENGINE_URL": "http://gpu:30000/"}).engine_urls == ("http://gpu:30000",)
    several = env.read({"NEKIBU_ENGINE_URL": "http://a:1, https://b:2"})
    assert several.engine_urls == ("http://a:1", "https://b:2")
    assert env.read({"NEKIBU_ENGINES": "2"}).engines == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NEKIBU_ENGINE_URL", "gpu:30000"),
        ("NEKIBU_ENGINE_URL", "ftp://gpu"),
        ("NEKIBU_ENGINE_URL", "http://"),
        ("NEKIBU_ENGINE_URL", "http://a,,http://b"),
        ("NEKIBU_ENGINE_URL", "http://a,"),
        ("NEKIBU_ENGINE_URL", "http://a, http://a/"),
        ("NEKIBU_ENGINES", "0"),
        ("NEKIBU_ENGINES", "-1"),
        ("NEKIBU_ENGINES", "two"),
        ("NEKIBU_ENGINES", "65"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_its_name_and_an_example(name, value):
    with pytest.raises(SystemExit) as refused:
        env.read({name: value})
    said = str(refused.value)
    assert said.startswith(f"{name}={value!r} cannot be used. Example: {name}=")
    example = said.rpartition("=")[2] if name == "NEKIBU_ENGINES" else said.rpartition(f"{name}=")[2]
    env.read({name: example})
