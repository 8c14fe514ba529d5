"""What a process may load: each is imported in a fresh interpreter, because a static check cannot see what an import runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from nekibu.env import PROJECT

HEAVY = {"django", "rest_framework", "celery", "channels", "psycopg", "sglang", "torch", "transformers"}
ENGINE = {"sglang", "torch", "transformers"}


def loaded(module: str) -> set[str]:
    """Top names in `sys.modules` after importing `module`, without Django's settings in the environment."""
    code = f"import json, sys, {module}; print(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    "module",
    [
        "inference.gateway.app", "inference.gateway.dispatch", "inference.gateway.supervisor", "inference.gateway.__main__",
        "inference.wire", "inference.client", "inference.fake", "inference.tokens", "inference.metrics.cost", "inference.metrics.hits", "inference.metrics.phases", "inference.engine.launch", "inference.engine.weights",
        "nekibu.embedded.run", "nekibu.files.parsers.sandbox", "nekibu.language.terms", "ats.rules", "ats",
    ],
)  # fmt: skip
def test_a_room_that_runs_without_django_loads_neither_it_nor_an_engine(module):
    found = loaded(module)
    assert module.split(".")[0] in found
    assert found & HEAVY == set()


def test_the_engines_plug_in_costs_other_processes_nothing():
    assert loaded("inference.engine.plugin") & ENGINE == set()


def test_the_web_process_and_the_worker_load_no_engine():
    for module in ("nekibu.asgi", "nekibu.celery"):
        code = f"import json, sys, {module}; import django; django.setup(); print(json.dumps(sorted({{n.split('.')[0] for n in sys.modules}})))"
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=PROJECT,
            env={"PATH": "/usr/bin:/bin", "DJANGO_SETTINGS_MODULE": "nekibu.settings.test"},
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        found = set(json.loads(done.stdout.strip().splitlines()[-1]))
        assert "django" in found
        assert found & ENGINE == set()
