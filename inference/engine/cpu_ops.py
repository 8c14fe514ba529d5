"""Norm and rotary embedding on a CPU: the same arithmetic as SGLang's native paths in fewer passes over memory.

Both are filed under our platform's dispatch key and bound to SGLang's own modules, hence `self` as first argument.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from inference.engine.plugin import PLATFORM


def register() -> None:
    """File the operators for the exact classes; subclasses keep their native paths."""
    from sglang.kernels.fused_op import BaseFusedOp
    from sglang.srt.layers.layernorm import RMSNorm
    from sglang.srt.layers.rotary_embedding.base import RotaryEmbedding

    BaseFusedOp.register_oot_forward(RMSNorm, rms_norm, PLATFORM)
    BaseFusedOp.register_oot_forward(RotaryEmbedding, rotary_embedding, PLATFORM)


def rms_norm(
    self: Any,
    x: Tensor,
    residual: Tensor | None = None,
    post_residual_addition: Tensor | None = None,
    quant_linear: Any = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """RMS norm of `x` (+ `residual`); with a residual also returns the sum."""
    unusual = (
        post_residual_addition is not None
        or self.variance_size_override is not None
        or self.fp32_residual
        or self.override_orig_dtype is not None
    )
    if unusual:
        native: Tensor | tuple[Tensor, Tensor] = self.forward_native(
            x, residual, post_residual_addition, quant_linear
        )
        return native
    total = x if residual is None else x + residual
    normed = functional.rms_norm(total, (self.hidden_size,), self.weight, self.variance_epsilon)
    return normed if residual is None else (normed, total)


def rotary_embedding(
    self: Any,
    positions: Tensor,
    query: Tensor,
    key: Tensor,
    offsets: Tensor | None = None,
    fused_set_kv_buffer_arg: Any = None,
) -> tuple[Tensor, Tensor]:
    """Turn query and key by their positions. The angles are gathered once per forward: all layers share the module."""
    if offsets is not None or not self.is_neox_style or self.rotary_dim != self.head_size:
        native: tuple[Tensor, Tensor] = self.forward_native(
            positions, query, key, offsets, fused_set_kv_buffer_arg
        )
        return native
    memo = self.__dict__  # not setattr: torch would search its parameter tables on every call
    if memo.get("nekibu_positions") is not positions:
        cos, sin = self.cos_sin_cache.index_select(0, positions.flatten()).to(query.dtype).chunk(2, -1)
        memo.update(
            nekibu_positions=positions,
            nekibu_cos=torch.cat((cos, cos), -1)[:, None],
            nekibu_sin=torch.cat((-sin, sin), -1)[:, None],
        )
    cos, sin, size = memo["nekibu_cos"], memo["nekibu_sin"], self.head_size

    def turn(rows: Tensor) -> Tensor:
        heads = rows.reshape(positions.shape[0], -1, size)
        return torch.addcmul(heads * cos, torch.roll(heads, size // 2, -1), sin).reshape(rows.shape)

    return turn(query), turn(key)
