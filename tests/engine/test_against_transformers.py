"""The CPU platform computes the model that transformers computes: greedy tokens and their log-probabilities."""

from __future__ import annotations

import json
import subprocess
import sys
from statistics import median

from tests.engine.conftest import Engine, choices

PROMPTS = (
    "The capital of France is",
    "Water boils at a temperature of",
    "def add(a, b):\n    return",
    "The opposite of hot is",
    "Monday, Tuesday, Wednesday,",
    "Roses are red, violets are",
    "Once upon a time, there was a",
    "Türkiye'nin başkenti",
    "1, 2, 3, 4, 5,",
    "The chemical symbol for gold is",
    "In 1969, the first man landed on the",
    "SELECT name FROM users WHERE",
    "To be, or not to be, that is the",
    "<|im_start|>user\nSay hello.<|im_end|>\n<|im_start|>assistant\n",
)
LENGTHS = (64, 300, 800, 1500)  # of running text; the last is computed in two chunks
STEPS = 8  # tokens after the first; short prompts and single rows are computed with int8 weights
REFERENCE = """
import json, sys, torch
from transformers import AutoModelForCausalLM
path, texts = json.load(sys.stdin)
model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
with torch.inference_mode():
    for ids, last in texts:
        best = model(torch.tensor([ids]), logits_to_keep=last).logits[0].float().log_softmax(-1).topk(5)
        print(json.dumps([[[int(t), float(p)] for p, t in zip(*row)] for row in zip(best.values, best.indices)]))
"""


def test_tokens_are_the_reference_s_for_nearly_every_prompt(engine: Engine) -> None:
    """Against float32, bfloat16 and int8 may swap near ties; more of them, or a drift, is a defect.

    The reference reads what the engine wrote, so that one swap does not make two texts out of one.
    """
    prompts = [engine.ids(text) for text in PROMPTS] + [engine.text_of(length) for length in LENGTHS]
    answers = [engine.generate(ids, tokens=1 + STEPS, ignore_eos=True) for ids in prompts]
    written = [answer["output_ids"] for answer in answers]
    ours = [choices(answer) for answer in answers]
    texts = [(ids + more[:-1], len(more)) for ids, more in zip(prompts, written, strict=True)]
    reference = _reference(engine.status["model_path"], texts)
    first = [_compared(mine[0], theirs[0]) for mine, theirs in zip(ours, reference, strict=True)]
    later = [_compared(a, b) for mine, theirs in zip(ours, reference, strict=True) for a, b in zip(mine[1:], theirs[1:], strict=True)]  # fmt: skip
    assert sum(equal for equal, _ in first) >= len(first) - 2
    assert max(drift for _, drift in first) <= 0.6
    assert sum(equal for equal, _ in later) >= 0.95 * len(later)
    assert max(drift for _, drift in later) <= 0.8
    assert median(drift for _, drift in later) <= 0.15


def test_the_model_is_computed_by_the_native_decoder(engine: Engine) -> None:
    """The packaged model is a plain Llama: where it were taken for something else, it would be several times slower."""
    assert engine.status["launch"]["cpu_mode"] == "int8"
    assert "keeps SGLang's own forward" not in (engine.run_dir / "engine.log").read_text(errors="replace")


def _compared(ours: dict[int, float], theirs: dict[int, float]) -> tuple[bool, float]:
    """Whether the best token is the same, and how far apart the log-probabilities of common candidates are."""
    drift = max((abs(ours[token] - theirs[token]) for token in ours.keys() & theirs.keys()), default=0.0)
    return next(iter(ours)) == next(iter(theirs)), drift


def _reference(model: str, texts: list[tuple[list[int], int]]) -> list[list[dict[int, float]]]:
    """The five best candidates behind each of the last tokens. In a process of its own: torch stays out of this one."""
    done = subprocess.run(
        [sys.executable, "-c", REFERENCE],
        input=json.dumps([model, texts]),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [[dict(row) for row in json.loads(line)] for line in done.stdout.splitlines()]
