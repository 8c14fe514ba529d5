"""The portable CPU platform: what SGLang asks of a device, and the moment when our operators move in."""

from __future__ import annotations

import os
from typing import Any

from sglang.srt.platforms.cpu import CpuDeviceMixin
from sglang.srt.platforms.device_mixin import PlatformEnum
from sglang.srt.platforms.interface import PlatformCapabilities, SRTPlatform

from inference.engine import launch
from inference.engine.plugin import PLATFORM


class CpuPlatform(CpuDeviceMixin, SRTPlatform):
    """x86 or ARM without an accelerator: no graphs, no Triton, no pinned memory."""

    _enum = (
        PlatformEnum.OOT
    )  # out of tree: rope and its neighbours take their native paths and never look for vllm
    capabilities = PlatformCapabilities()  # supports_triton=False: torch allocators and index writers

    def get_default_attention_backend(self) -> str:
        """Not consulted while `--device cpu` is given (x86 would get intel_amx), so the flag is always passed too."""
        return PLATFORM

    def is_pin_memory_available(self, device: object = None) -> bool:
        return False

    def support_cuda_graph(self) -> bool:
        return False

    def get_dispatch_key_name(self) -> str:
        """The key under which `cpu_ops.register` files its operators."""
        return PLATFORM

    def init_backend(self) -> None:
        """Once per process that holds a model, before the model is built."""
        if launch.chosen_cpu_mode(os.environ) == "stock":
            return
        from sglang.srt.layers.attention.attention_registry import register_attention_backend

        from inference.engine import cpu_ops

        register_attention_backend(PLATFORM)(_attention)
        cpu_ops.register()


def _attention(runner: Any) -> Any:
    """SGLang asks for this once model and cache exist: the moment to choose who computes the rest of a forward."""
    from inference.engine import cpu_linear, cpu_llama
    from inference.engine.cpu_attention import THREADS, CpuAttention

    mode = launch.chosen_cpu_mode(os.environ)
    if mode == "packed" or not cpu_llama.adopt(runner, int8=mode == "int8", threads=THREADS):
        cpu_linear.convert(runner.model)
    return CpuAttention(runner)
