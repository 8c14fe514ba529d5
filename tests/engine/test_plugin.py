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


# Both need SGLang, which takes ten seconds to import: one interpreter, and each prints its word when it is through.
VALUES = """
import torch
from types import SimpleNamespace
from torch.nn import functional as F
from inference.engine import cpu_attention, cpu_linear
torch.manual_seed(7)
w, b = torch.randn(96, 64).bfloat16() / 8, torch.randn(96).bfloat16()
layer = SimpleNamespace(packed_weight=cpu_linear.pack(w))
method = cpu_linear.PackedLinear()
for rows in (1, 3, 40):
    x = torch.randn(rows, 64).bfloat16()
    for bias in (None, b):
        assert torch.allclose(method.apply(layer, x, bias).float(), F.linear(x, w, bias).float(), atol=0.03, rtol=0.02)
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
POINTS = """
import inspect, sglang, torch
from sglang.kernels.fused_op import BaseFusedOp
from sglang.srt.layers.attention.attention_registry import register_attention_backend
from sglang.srt.layers.layernorm import RMSNorm
from sglang.srt.layers.logits_processor import LogitsProcessor
from sglang.srt.layers.quantization.unquant import UnquantizedLinearMethod
from sglang.srt.layers.rotary_embedding.base import RotaryEmbedding
from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool
from sglang.srt.model_executor.forward_batch_info import ForwardBatch, ForwardMode
from sglang.srt.models.llama import LlamaForCausalLM, LlamaModel
names = lambda function: list(inspect.signature(function).parameters)
assert sglang.__version__ == "0.5.23", sglang.__version__
assert names(LlamaModel.forward) == ["self", "input_ids", "positions", "forward_batch", "input_embeds", "pp_proxy_tensors"]
assert names(LogitsProcessor._compute_lm_head) == ["self", "hidden_states", "lm_head", "embedding_bias", "out"]
assert names(UnquantizedLinearMethod.apply) == ["self", "layer", "x", "bias"]
assert names(RMSNorm.forward_native) == ["self", "x", "residual", "post_residual_addition", "quant_linear"]
assert names(RotaryEmbedding.forward_native)[:5] == ["self", "positions", "query", "key", "offsets"]
assert names(BaseFusedOp.register_oot_forward) == ["op_cls", "fn", "platform_key"]
fields = ForwardBatch.__dataclass_fields__.keys()
assert {"req_pool_indices", "seq_lens", "out_cache_loc", "extend_seq_lens_cpu", "extend_prefix_lens_cpu"} <= fields
source = inspect.getsource(LlamaForCausalLM.forward)
assert "hidden_states = self.model(" in source and "return self.logits_processor(" in source
from inference.engine import cpu_llama
assert cpu_llama._unlike_a_llama(torch.nn.Linear(2, 2)) == "it is a Linear"
print("known")
"""


@pytest.fixture(scope="module")
def words() -> list[str]:
    return _run(f"""
for part in ({VALUES!r}, {POINTS!r}):
    try:
        exec(part, {{}})
    except AssertionError:
        import traceback
        print(traceback.format_exc().replace(chr(10), " | "))
""").splitlines()


def test_linears_and_plans_keep_the_values(words: list[str]) -> None:
    """Packed weights multiply like F.linear (three rows and one), and plans mask exactly the padding."""
    assert "kept" in words


def test_what_we_replace_in_sglang_is_still_what_we_know(words: list[str]) -> None:
    """Each point where the CPU platform reaches into SGLang, in the version that is pinned. Another: read it again."""
    assert "known" in words
