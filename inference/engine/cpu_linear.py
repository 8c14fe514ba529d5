"""Linear layers on a CPU: weights reordered once for oneDNN, the same values as `F.linear`.

For models that the native decoder does not know: it brings products of its own.
"""

from __future__ import annotations

from typing import Any

import torch
from sglang.srt.layers.quantization.unquant import UnquantizedLinearMethod
from torch import Tensor


class PackedLinear(UnquantizedLinearMethod):
    """SGLang's unquantised linear with the product replaced; weights were attached to the layer by `convert`."""

    def apply(self, layer: Any, x: Tensor, bias: Tensor | None = None) -> Tensor:
        return _product(x, layer.packed_weight, bias)


def convert(model: Any) -> int:
    """Repack every plain bfloat16 linear of `model` and its logits. Returns how many layers were changed."""
    if not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return 0
    method, changed = PackedLinear(), 0
    for module in model.modules():
        plain = type(getattr(module, "quant_method", None)) is UnquantizedLinearMethod
        if plain and module.weight.dtype == torch.bfloat16:
            module.packed_weight = pack(module.weight.data)
            module.quant_method = method
            changed += 1
    return changed + _convert_logits(model)


def _convert_logits(model: Any) -> int:
    """The output layer. With tied embeddings it is `embed_tokens`, whose quant_method is not asked for logits."""
    head, logits = getattr(model, "lm_head", None), getattr(model, "logits_processor", None)
    if head is None or logits is None or head.weight.dtype != torch.bfloat16:
        return 0
    packed = pack(head.weight.data)

    def compute(
        hidden: Tensor, lm_head: Any, embedding_bias: Tensor | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        return _product(hidden, packed, embedding_bias)

    logits._compute_lm_head = compute
    return 1


def pack(weight: Tensor) -> Tensor:
    """The order in which oneDNN reads a weight."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous(), None)
    return packed


def _product(x: Tensor, packed: Tensor, bias: Tensor | None) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], "")
    return product
