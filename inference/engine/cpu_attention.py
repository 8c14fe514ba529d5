"""Attention on a CPU that pays only for new tokens: prefix rows are keys, never queries; a decode step has no loop.

SGLang's torch_native backend recomputes attention over the whole prefix and walks the batch in Python. Here an extend
computes the new rows alone, and a decode gathers all requests into one padded call.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import torch
from sglang.srt.layers.attention.torch_native_backend import TorchNativeAttnBackend
from sglang.srt.layers.radix_attention import AttentionType
from sglang.srt.mem_cache.memory_pool import KVWriteLoc
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

THREADS = int(os.environ.get("OMP_NUM_THREADS") or torch.get_num_threads())
SMALL_BATCH = 4  # products of few rows lose more by waking a second thread than they gain


@dataclass(frozen=True, slots=True)
class Extend:
    """One request of an extend batch: its slice of the query rows, its rows in the KV pool, and who may see whom."""

    start: int
    end: int
    rows: Tensor
    mask: Tensor | None


@dataclass(frozen=True, slots=True)
class Decode:
    """One decode step: KV rows of all requests, padded to the longest and flattened; a bias hides the padding."""

    rows: Tensor
    batch: int
    longest: int
    bias: Tensor | None


class CpuAttention(TorchNativeAttnBackend):
    """Decoder self-attention over SGLang's paged KV pool (page size 1). All other kinds keep the parent's path."""

    decode: Decode
    extends: tuple[Extend, ...] = ()
    _planned = False

    def init_forward_metadata(self, forward_batch: Any) -> None:
        """Once per forward, before the first layer."""
        super().init_forward_metadata(forward_batch)
        self._planned = False

    def _plan(self, forward_batch: Any) -> None:
        """Everything that the layers of a forward share; at the first layer, because a native forward needs none of it."""
        if self._planned:
            return
        self._planned = True
        decoding = forward_batch.forward_mode.is_decode()
        torch.set_num_threads(1 if decoding and forward_batch.batch_size <= SMALL_BATCH else THREADS)
        table = self.req_to_token_pool.req_to_token
        if decoding:
            self.decode = _plan_decode(table, forward_batch.req_pool_indices, forward_batch.seq_lens)
        elif forward_batch.extend_seq_lens is not None:
            self.extends = _plan_extends(
                table,
                forward_batch.req_pool_indices.tolist(),
                forward_batch.extend_prefix_lens.tolist(),
                forward_batch.extend_seq_lens.tolist(),
            )

    def forward_decode(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        layer: Any,
        forward_batch: Any,
        save_kv_cache: bool = True,
        **kwargs: Any,
    ) -> Tensor:
        """One new token per request. The query heads that share a KV head become its query rows: nothing is repeated."""
        if not plain(layer):
            return super().forward_decode(q, k, v, layer, forward_batch, save_kv_cache)
        self._plan(forward_batch)
        plan, kv_heads, size = self.decode, layer.tp_k_head_num, layer.qk_head_dim
        keys, values = (
            pool.index_select(0, plan.rows).view(plan.batch, plan.longest, kv_heads, size).transpose(1, 2)
            for pool in self._key_value_pools(layer, forward_batch, k, v, save_kv_cache)
        )
        queries = q.reshape(plan.batch, kv_heads, -1, size)
        out = scaled_dot_product_attention(queries, keys, values, attn_mask=plan.bias, scale=layer.scaling)
        return out.reshape(plan.batch, -1)

    def forward_extend(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        layer: Any,
        forward_batch: Any,
        save_kv_cache: bool = True,
        **kwargs: Any,
    ) -> Tensor:
        """Several new tokens per request, after a prefix that may already lie in the cache."""
        if not plain(layer):
            return super().forward_extend(q, k, v, layer, forward_batch, save_kv_cache)
        self._plan(forward_batch)
        key_pool, value_pool = self._key_value_pools(layer, forward_batch, k, v, save_kv_cache)
        q = q.view(-1, layer.tp_q_head_num, layer.qk_head_dim)
        out = torch.empty_like(q)
        for part in self.extends:
            keys, values = (
                pool.index_select(0, part.rows).transpose(0, 1)[None] for pool in (key_pool, value_pool)
            )
            out[part.start : part.end] = scaled_dot_product_attention(
                q[part.start : part.end].transpose(0, 1)[None],
                keys,
                values,
                attn_mask=part.mask,
                is_causal=part.mask is None and part.end - part.start > 1,
                scale=layer.scaling,
                enable_gqa=True,
            )[0].transpose(0, 1)
        return out.view(out.shape[0], -1)

    def _key_value_pools(
        self, layer: Any, forward_batch: Any, k: Tensor | None, v: Tensor | None, save: bool
    ) -> tuple[Tensor, Tensor]:
        """This layer's pools, with the new rows written in first."""
        if save and k is not None:
            where = KVWriteLoc(forward_batch.out_cache_loc, self.swa_out_cache_loc)
            self.token_to_kv_pool.set_kv_buffer(layer, where, k, v)
        pool = self.token_to_kv_pool
        return pool.get_key_buffer(layer.layer_id), pool.get_value_buffer(layer.layer_id)


def plain(layer: Any) -> bool:
    """Causal decoder attention without window, cap or heads of two sizes: what this file computes."""
    return (
        layer.attn_type == AttentionType.DECODER
        and not layer.is_cross_attention
        and layer.qk_head_dim == layer.v_head_dim
        and (layer.sliding_window_size or -1) < 0
        and not layer.logit_cap
    )


def _plan_decode(table: Tensor, requests: Tensor, lengths: Tensor) -> Decode:
    counts = lengths.tolist()
    longest = max(counts)
    live = torch.arange(longest)[None] < lengths[:, None]
    rows = torch.where(live, table[requests, :longest].long(), 0).reshape(-1)
    if min(counts) == longest:
        return Decode(rows, len(counts), longest, None)
    bias = torch.zeros(len(counts), 1, 1, longest, dtype=torch.bfloat16)
    return Decode(rows, len(counts), longest, bias.masked_fill_(~live[:, None, None], float("-inf")))


def _plan_extends(
    table: Tensor, requests: list[int], prefixes: list[int], news: list[int]
) -> tuple[Extend, ...]:
    parts, start = [], 0
    for request, prefix, new in zip(requests, prefixes, news, strict=True):
        length = prefix + new
        mask = None
        # is_causal aligns the triangle at the top left, which is wrong behind a prefix
        if prefix and new > 1:
            mask = torch.arange(length)[None] <= torch.arange(prefix, length)[:, None]
        parts.append(Extend(start, start + new, table[request, :length].long(), mask))
        start += new
    return tuple(parts)
