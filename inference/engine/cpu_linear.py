"""Linear layers on a CPU: weights reordered once for oneDNN, or int8 weights where one or two rows are multiplied.

Nearly 60 % of a decode step is spent here. `packed` gives the same values as `F.linear`; `int8` is weight-only and a
launch setting of its own, because it changes numbers and so the engine's fingerprint.
"""

from __future__ import annotations

import os
from typing import Any, Literal

import torch
from sglang.srt.layers.quantization.unquant import UnquantizedLinearMethod
from torch import Tensor

Mode = Literal["off", "packed", "int8"]
MODES: tuple[Mode, ...] = ("off", "packed", "int8")
VARIABLE = "NEKIBU_CPU_LINEARS"  # written by launch.py: the platform object is built without arguments
INT8_ROWS = 2  # above two rows the int8 product is two to three times slower than the packed one

Int8Weight = tuple[Tensor, Tensor]


def chosen_mode() -> Mode:
    """What the launcher decided for this process."""
    mode = os.environ.get(VARIABLE) or "packed"
    if mode not in MODES:
        raise ValueError(f"{VARIABLE}={mode!r}: expected one of {', '.join(MODES)}")
    return mode


class PackedLinear(UnquantizedLinearMethod):
    """SGLang's unquantised linear with the product replaced; weights were attached to the layer by `convert`."""

    def apply(self, layer: Any, x: Tensor, bias: Tensor | None = None) -> Tensor:
        if bias is None:
            return _product(x, layer.packed_weight, layer.int8_weight)
        return _packed_product(x, layer.packed_weight, bias)


def convert(model: Any, mode: Mode) -> int:
    """Repack every plain bfloat16 linear of `model` and its logits. Returns how many layers were changed."""
    if mode == "off" or not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return 0
    method, changed = PackedLinear(), 0
    for module in model.modules():
        plain = type(getattr(module, "quant_method", None)) is UnquantizedLinearMethod
        if plain and module.weight.dtype == torch.bfloat16:
            module.packed_weight, module.int8_weight = _prepare(module.weight.data, mode)
            module.quant_method = method
            changed += 1
    return changed + _convert_logits(model, mode)


def _convert_logits(model: Any, mode: Mode) -> int:
    """The output layer. With tied embeddings it is `embed_tokens`, whose quant_method is not asked for logits."""
    head, logits = getattr(model, "lm_head", None), getattr(model, "logits_processor", None)
    if head is None or logits is None or head.weight.dtype != torch.bfloat16:
        return 0
    packed, int8 = _prepare(head.weight.data, mode)

    def compute(
        hidden: Tensor, lm_head: Any, embedding_bias: Tensor | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        if embedding_bias is not None:
            return _packed_product(hidden, packed, embedding_bias)
        return _product(hidden, packed, int8)

    logits._compute_lm_head = compute
    return 1


def _prepare(weight: Tensor, mode: Mode) -> tuple[Tensor, Int8Weight | None]:
    packed = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), None)
    return packed, _to_int8(weight) if mode == "int8" else None


def _to_int8(weight: Tensor) -> Int8Weight:
    """Symmetric, one scale per output row."""
    scale = (weight.float().abs().amax(1) / 127).clamp_min(1e-8)
    quantised = (weight.float() / scale[:, None]).round().clamp_(-127, 127).to(torch.int8)
    return quantised.contiguous(), scale.to(torch.bfloat16)


def _product(x: Tensor, packed: Tensor, int8: Int8Weight | None) -> Tensor:
    if int8 is not None and x.shape[0] <= INT8_ROWS:
        return torch._weight_int8pack_mm(x, *int8)
    return _packed_product(x, packed, None)


def _packed_product(x: Tensor, packed: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")
    return product
