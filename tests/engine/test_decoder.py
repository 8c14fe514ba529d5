"""The native decoder computes a Llama: against plain torch in float32, cut in every way, on other processors too."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sglang") is None,
    reason="SGLang is not installed here: make setup ENGINE=1 brings it.",
)

# Largest error of any logit, in standard deviations of the logits: what inputs in bfloat16, and weights in int8, cost a
# model of two layers. A wrong mask, slot or angle gives errors above 1.
BFLOAT = 0.03
INT8 = 0.08


@pytest.fixture(scope="module")
def errors() -> dict[str, float]:
    """Largest difference of a logit from the reference, in units of the logits' standard deviation, for each case."""
    script = Path(__file__).with_name("decoder_cases.py")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_prompt_at_once_equals_the_reference(errors: dict[str, float]) -> None:
    assert errors["whole"] <= BFLOAT


@pytest.mark.parametrize("cut", [1, 15, 16, 17, 63, 64, 65, 127, 128, 129])
def test_a_prompt_in_two_pieces_equals_the_reference(errors: dict[str, float], cut: int) -> None:
    """Around the sizes in which rows, tokens and keys are cut: every new row sees the cache and its own past."""
    assert errors[f"cut at {cut}"] <= BFLOAT


def test_requests_of_all_lengths_side_by_side_do_not_mix(errors: dict[str, float]) -> None:
    assert errors["side by side"] <= BFLOAT


@pytest.mark.parametrize("requests", [1, 2, 4, 5, 16, 17])
def test_one_token_for_each_of_several_requests_equals_the_reference(
    errors: dict[str, float], requests: int
) -> None:
    assert errors[f"one token for {requests}"] <= BFLOAT


def test_int8_weights_cost_a_little_and_only_where_few_rows_are_computed(errors: dict[str, float]) -> None:
    assert errors["one token for 1"] < errors["int8, one token for 1"] <= INT8
    assert errors["int8, one token for 16"] <= INT8
    assert errors["int8, whole"] == errors["whole"]


def test_threads_change_nothing(errors: dict[str, float]) -> None:
    """Three threads on two cores, forty forwards: each bit is that of one thread."""
    assert errors["three threads"] == 0


@pytest.mark.parametrize("missing", ["avx512bf16 and avx512vnni", "avx512"])
def test_a_processor_without_the_instructions_gets_the_same_sums(
    errors: dict[str, float], missing: str
) -> None:
    assert errors[f"without {missing}"] <= BFLOAT
    assert errors[f"int8 without {missing}"] <= INT8
