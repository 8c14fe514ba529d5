"""The plug-in never takes a GPU machine away from CUDA, and its small operators equal the native ones."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sglang") is None,
    reason="SGLang is not installed here: make setup ENGINE=1 brings it.",
)


def _run(code: str) -> str:
    """In a fresh interpreter: importing SGLang changes event loops and warnings of whoever does it."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_plugin_declines_where_cuda_is_present() -> None:
    code = (
        "import torch; torch.cuda.is_available = lambda: {cuda}\n"
        "from inference.engine.plugin import activate; print(activate())"
    )
    assert _run(code.format(cuda=True)) == "None"
    assert _run(code.format(cuda=False)).splitlines()[-1] == "inference.engine.cpu_platform.CpuPlatform"


def test_linears_and_plans_keep_the_values() -> None:
    """Packed weights multiply like F.linear (three rows and one), int8 stays close, and plans mask exactly the padding."""
    assert (
        _run(
            """
import torch
from types import SimpleNamespace
from torch.nn import functional as F
from inference.engine import cpu_attention, cpu_linear
torch.manual_seed(7)
w, b = torch.randn(96, 64).bfloat16() / 8, torch.randn(96).bfloat16()
packed, int8 = cpu_linear._prepare(w, "int8")
layer = SimpleNamespace(packed_weight=packed, int8_weight=None)
method = cpu_linear.PackedLinear()
for rows in (1, 3, 40):
    x = torch.randn(rows, 64).bfloat16()
    for bias in (None, b):
        assert torch.allclose(method.apply(layer, x, bias).float(), F.linear(x, w, bias).float(), atol=0.03, rtol=0.02)
one = torch.randn(1, 64).bfloat16()
coarse = cpu_linear._product(one, packed, int8).float()
assert 0 < (coarse - F.linear(one, w).float()).abs().max() < 0.2
table = torch.arange(40).reshape(4, 10)
plan = cpu_attention._plan_decode(table, torch.tensor([2, 0]), torch.tensor([3, 5]))
assert plan.rows.reshape(2, 5).tolist() == [[20, 21, 22, 0, 0], [0, 1, 2, 3, 4]]
assert torch.isinf(plan.bias).reshape(2, 5).tolist() == [[False, False, False, True, True], [False] * 5]
assert cpu_attention._plan_decode(table, torch.tensor([1]), torch.tensor([4])).bias is None
cold, warm, single = cpu_attention._plan_extends(table, [0, 1, 2], [0, 4, 7], [3, 2, 1])
assert cold.mask is None and single.mask is None
assert warm.rows.tolist() == [10, 11, 12, 13, 14, 15] and (warm.start, warm.end) == (3, 5)
assert warm.mask.tolist() == [[True] * 5 + [False], [True] * 6]
print("kept")
"""
        )
        == "kept"
    )
