"""Entry point `sglang.srt.platforms`: names our CPU platform to SGLang, or nothing where CUDA is present."""

from __future__ import annotations

PLATFORM = "nekibu_cpu"
PLATFORM_CLASS = "inference.engine.cpu_platform.CpuPlatform"


def activate() -> str | None:
    """The class that SGLang shall load, or None: a single activated plug-in would win over CUDA.

    Runs in every SGLang process before its arguments are parsed, so the attention backend's name is known in time.
    """
    import torch

    if torch.cuda.is_available():
        return None
    from sglang.srt.arg_groups.choices import ATTENTION_BACKEND_CHOICES, add_attention_backend_choices

    if PLATFORM not in ATTENTION_BACKEND_CHOICES:
        add_attention_backend_choices([PLATFORM])
    return PLATFORM_CLASS
