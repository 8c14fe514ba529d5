"""SGLang's Llama, computed by the native decoder: what it takes of the model, and the two methods it replaces.

SGLang keeps everything else: scheduling, the cache and its slots, sampling, grammars. A model that is not plainly a
Llama keeps SGLang's own forward, with `cpu_attention`, `cpu_linear` and `cpu_ops`.
"""

from __future__ import annotations

import logging
from typing import Any

import torch
from sglang.srt.layers.layernorm import RMSNorm
from sglang.srt.layers.quantization.unquant import UnquantizedLinearMethod
from sglang.srt.layers.radix_attention import RadixAttention
from sglang.srt.layers.rotary_embedding.base import RotaryEmbedding
from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool
from sglang.srt.model_executor.forward_batch_info import ForwardMode
from sglang.srt.models.llama import LlamaForCausalLM
from torch import Tensor

from inference.engine.cpu_attention import plain
from inference.engine.cpu_decoder import Batch, Decoder, Weights

logger = logging.getLogger(__name__)


def adopt(runner: Any, *, int8: bool, threads: int) -> bool:
    """Let the native decoder compute this runner's model. False where it cannot, and then the log says why."""
    model, pool = runner.model, runner.token_to_kv_pool
    reason = _unlike_a_llama(model) or _unlike_a_plain_cache(pool)
    weights = None if reason else _weights(model)
    if weights is not None and not weights.whole_panels():
        reason = "its dimensions do not divide into panels"
    if weights is None or reason:
        logger.warning("The model keeps SGLang's own forward on this CPU: %s.", reason)
        return False
    if int8 and not weights.whole_groups():
        logger.warning("Weights stay bfloat16: the heads are narrower than a group of int8 weights.")
        int8 = False
    decoder = Decoder(weights, int8=int8, threads=threads)
    rows = runner.server_args.chunked_prefill_size or runner.server_args.max_prefill_tokens
    decoder.bind(pool.k_buffer, pool.v_buffer, runner.req_to_token_pool.req_to_token, rows=rows)
    native = _Forward(model.model, decoder)
    model.model.forward = native.forward
    model.logits_processor._compute_lm_head = native.logits
    torch.set_num_threads(
        1
    )  # what is left for torch is small, and waking its threads costs more than they give
    return True


def _unlike_a_llama(model: Any) -> str | None:
    """What the kernels would compute wrongly, or None."""
    if type(model) is not LlamaForCausalLM:
        return f"it is a {type(model).__name__}"
    for name, module in model.named_modules():
        weight, method = getattr(module, "weight", None), getattr(module, "quant_method", None)
        if weight is not None and weight.dtype != torch.bfloat16:
            return f"{name} is {weight.dtype}"
        if getattr(module, "bias", None) is not None:
            return f"{name} has a bias"
        if name.endswith("_proj") and type(method) is not UnquantizedLinearMethod:
            return f"{name} is a {type(method).__name__}"
        if isinstance(module, RMSNorm) and module.variance_size_override is not None:
            return f"{name} is not a plain norm"
        if isinstance(module, RotaryEmbedding) and not (
            module.is_neox_style and module.rotary_dim == module.head_size
        ):
            return f"{name} turns a part of a head"
        if isinstance(module, RadixAttention) and not plain(module):
            return f"{name} has a window or a cap"
    attention = model.model.layers[0].self_attn
    if attention.num_heads != attention.total_num_heads:
        return "it is spread over several processes"
    return None


def _unlike_a_plain_cache(pool: Any) -> str | None:
    if type(pool) is not MHATokenToKVPool or pool.kv_cache_layout != "nhd":
        return f"its cache is a {type(pool).__name__}"
    if {t.dtype for t in (*pool.k_buffer, *pool.v_buffer)} != {torch.bfloat16}:
        return "its cache is not bfloat16"
    return None


def _weights(model: Any) -> Weights:
    inner, first = model.model, model.model.layers[0]
    attention = first.self_attn.attn
    norms = [
        n.weight for layer in inner.layers for n in (layer.input_layernorm, layer.post_attention_layernorm)
    ]
    return Weights(
        layers=[
            (
                layer.self_attn.qkv_proj.weight.data,
                layer.self_attn.o_proj.weight.data,
                layer.mlp.gate_up_proj.weight.data,
                layer.mlp.down_proj.weight.data,
            )
            for layer in inner.layers
        ],
        head=model.lm_head.weight.data,
        embedding=inner.embed_tokens.weight.data,
        norms=torch.stack([*norms, inner.norm.weight]).detach(),
        angles=first.self_attn.rotary_emb.cos_sin_cache,
        heads=attention.tp_q_head_num,
        kv_heads=attention.tp_k_head_num,
        size=attention.qk_head_dim,
        epsilon=inner.norm.variance_epsilon,
        scaling=attention.scaling,
    )


class _Forward:
    """In place of `LlamaModel.forward` and of the logits processor's product."""

    def __init__(self, model: Any, decoder: Decoder) -> None:
        self._model, self._decoder = model, decoder
        self._stock = type(model).forward

    def forward(
        self,
        input_ids: Tensor,
        positions: Tensor,
        forward_batch: Any,
        input_embeds: Tensor | None = None,
        pp_proxy_tensors: Any = None,
    ) -> Any:
        mode = forward_batch.forward_mode
        plain = mode in {ForwardMode.EXTEND, ForwardMode.MIXED, ForwardMode.DECODE}
        if not plain or input_embeds is not None or self._model.layers_to_capture:
            return self._stock(
                self._model, input_ids, positions, forward_batch, input_embeds, pp_proxy_tensors
            )
        owners = forward_batch.req_pool_indices.long()
        if mode.is_decode():
            lengths = forward_batch.seq_lens.tolist()
            news = [1] * len(lengths)
        else:
            news = forward_batch.extend_seq_lens_cpu
            lengths = [p + n for p, n in zip(forward_batch.extend_prefix_lens_cpu, news, strict=True)]
            owners = owners.repeat_interleave(torch.tensor(news))
        return self._decoder.forward(
            Batch(
                input_ids.long(), positions.long(), forward_batch.out_cache_loc.long(), owners, news, lengths
            )
        )

    def logits(
        self, hidden: Tensor, lm_head: Any, embedding_bias: Tensor | None = None, *, out: Tensor | None = None
    ) -> Tensor:
        if embedding_bias is not None:
            raise NotImplementedError("The output layer of this platform has no bias.")
        return self._decoder.logits(hidden)
