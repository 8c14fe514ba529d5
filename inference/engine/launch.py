"""How SGLang's server is started: arguments with their reasons, environment from a closed list, keys in a 0600 file."""

from __future__ import annotations

import ctypes
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from inference.engine.weights import DTYPE, Model, NotAModel
from nekibu.errors import InvalidInput

Profile = Literal["cpu", "gpu"]
CpuMode = Literal["stock", "packed", "native", "int8"]
Value = str | int | float | bool
Arguments = dict[str, Value]

# stock: SGLang's own path with its defaults, for comparisons. packed: its forward with our attention, products and small
# operators, for any model. native: the decoder of `cpu_decoder`, where the model is a Llama, else packed. int8: native
# with int8 weights where few rows are computed, which changes numbers a little (docs/benchmarks/cpu_engine.md).
CPU_MODES: tuple[CpuMode, ...] = ("stock", "packed", "native", "int8")
CPU_MODE: CpuMode = "int8"
CPU_MODE_VARIABLE = "NEKIBU_CPU_MODE"  # SGLang builds our platform object without arguments
CPU_KV_TOKENS = 32_768  # 0.70 GB for the packaged model
CPU_CONTEXT = 4_096
CPU_SLOTS = 16
GPU_CONTEXT = 16_384
GPU_SLOTS = 128

# What would break isolation between tenants, or the rule that a request is answered whole or refused.
FORBIDDEN: dict[str, str] = {
    "enable-hierarchical-cache": "its host copies are not separated by cache_salt in a way we have checked",
    "enable-lmcache": "its keys do not carry cache_salt",
    "disable-radix-cache": "nothing would be reused and the salt check could prove nothing",
    "allow-auto-truncate": "a shortened document would be judged as if it were whole",
    "crash-dump-folder": "it stores prompts",
}

# Everything a Python process with torch may need; nothing of ours: no database URL, no salt key, no proxy.
INHERITED = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH",
    "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR",
    "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
)  # fmt: skip

KEY_VARIABLE = "NEKIBU_ENGINE_KEY"
ADMIN_KEY_VARIABLE = "NEKIBU_ENGINE_ADMIN_KEY"


class ForbiddenArgument(InvalidInput):
    """This engine argument is refused."""

    code = "forbidden_argument"


class NoKeys(InvalidInput):
    """The engine is not started without its two keys: an SGLang server without a key opens every route."""

    code = "no_keys"


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets between gateway and engine; they never stand in argv, in the environment of the server or in a log."""

    api: str
    admin: str

    @classmethod
    def take(cls, environ: Mapping[str, str]) -> Keys:
        api, admin = environ.get(KEY_VARIABLE, ""), environ.get(ADMIN_KEY_VARIABLE, "")
        if len(api) < 16 or len(admin) < 16 or api == admin:
            raise NoKeys(
                f"{KEY_VARIABLE} and {ADMIN_KEY_VARIABLE} must be set, different and at least 16 long."
            )
        return cls(api, admin)

    def __repr__(self) -> str:
        return "Keys(…)"


@dataclass(frozen=True, slots=True)
class Shape:
    """What of the model's own configuration limits the launch."""

    vocab_size: int
    positions: int
    kv_bytes_per_token: int

    @classmethod
    def read(cls, model: Path) -> Shape:
        try:
            config = json.loads((model / "config.json").read_text())
            config = {**config, **config.get("text_config", {})}
            heads = config["num_attention_heads"]
            size = config.get("head_dim") or config["hidden_size"] // heads
            return cls(
                vocab_size=config["vocab_size"],
                positions=config.get("max_position_embeddings", CPU_CONTEXT),
                kv_bytes_per_token=(
                    2 * 2 * config["num_hidden_layers"] * config.get("num_key_value_heads", heads) * size
                ),
            )
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise NotAModel(f"{model / 'config.json'} cannot be read: {problem!r}") from problem


def arguments(
    model: Model,
    shape: Shape,
    profile: Profile,
    port: int,
    *,
    free_memory: int,
    cpu_mode: CpuMode = CPU_MODE,
    overrides: Mapping[str, str] | None = None,
) -> Arguments:
    """Everything but the keys, under SGLang's dashed names. Raises `ForbiddenArgument` for what breaks isolation."""
    chosen: Arguments = _common(model, port)
    chosen |= _cpu(shape, free_memory, cpu_mode) if profile == "cpu" else _gpu(shape)
    chosen |= {name: _typed(text) for name, text in (overrides or {}).items()}
    refuse_forbidden(chosen)
    return chosen


def _common(model: Model, port: int) -> Arguments:
    return {
        "model-path": str(model.path),
        "served-model-name": model.name,
        "weight-version": model.revision,  # comes back with every answer, and so into the decision trace
        "dtype": DTYPE,
        "grammar-backend": "xgrammar",
        "constrained-json-disable-any-whitespace": True,  # small models fill free whitespace until the limit
        "schedule-policy": "fcfs",  # order is the gateway's; the choice `priority` crashes the scheduler
        "enable-priority-scheduling": True,
        "default-priority-value": 0,
        "priority-scheduling-preemption-threshold": 10,  # 20 (interactive) may pause 0 (batch), 15 may not pause 20
        "retraction-policy": "priority",
        "enable-metrics": True,  # also fills queue_time in the final chunk
        "enable-cache-report": True,  # cached_tokens, without which the salt check is blind
        "incremental-streaming-output": True,  # deltas; otherwise each chunk repeats the whole answer
        "sleep-on-idle": True,  # an idle scheduler otherwise spins on one core
        "log-level": "warning",  # info writes every argument and a line per batch
        "host": "127.0.0.1",
        "port": port,
    }


def _cpu(shape: Shape, free_memory: int, mode: CpuMode) -> Arguments:
    context = min(CPU_CONTEXT, shape.positions)
    affordable = (
        free_memory // 4 // shape.kv_bytes_per_token
    )  # a larger model on a CPU gets fewer tokens, not the machine
    return {
        "device": "cpu",
        "attention-backend": "torch_native"
        if mode == "stock"
        else "nekibu_cpu",  # must be given: x86 defaults to intel_amx and falls back to torch_native
        "sampling-backend": "pytorch",
        "cuda-graph-backend-decode": "disabled",
        "cuda-graph-backend-prefill": "disabled",
        "disable-overlap-schedule": True,
        "page-size": 1,  # larger pages take a Triton path
        "context-length": context,
        "max-total-tokens": max(context, min(CPU_KV_TOKENS, affordable)),
        "max-running-requests": CPU_SLOTS,
        "max-queued-requests": 2
        * CPU_SLOTS,  # at least slots + 16: paused requests come back through this queue
        "chunked-prefill-size": 1_024,
        "watchdog-timeout": 900,  # a long prefill on a busy machine is slow, not dead
    }


def _gpu(shape: Shape) -> Arguments:
    """One H200 with a 7–8B model. Attention, page size, overlap and graphs are left to SGLang."""
    return {
        "tp-size": 1,
        "context-length": min(GPU_CONTEXT, shape.positions),
        "mem-fraction-static": 0.85,
        "max-running-requests": GPU_SLOTS,
        "max-queued-requests": GPU_SLOTS + 16,
        "chunked-prefill-size": 2_048,
        "schedule-conservativeness": 1.1,
        "radix-eviction-policy": "slru",  # one long document must not push out everybody's shared prefix
        "watchdog-timeout": 120,
    }


def refuse_forbidden(chosen: Mapping[str, Value]) -> None:
    """Raise for an argument that would let one tenant see another's cache, or let a document be cut silently."""
    for name, reason in FORBIDDEN.items():
        if chosen.get(name) not in (None, False):
            raise ForbiddenArgument(f"The engine argument {name} is refused: {reason}.")
    if str(chosen.get("speculative-algorithm", "")).upper() == "NGRAM":
        raise ForbiddenArgument("NGRAM speculation is refused: its one trie is shared by all tenants.")
    if int(chosen.get("tokenizer-worker-num", 1)) > 1:
        raise ForbiddenArgument("tokenizer-worker-num above 1 is refused: no key would be checked.")
    if "api-key" in chosen or "admin-api-key" in chosen:
        raise ForbiddenArgument("The engine's keys are set by the gateway alone.")
    if chosen.get("host", "127.0.0.1") != "127.0.0.1":
        raise ForbiddenArgument("The engine listens on 127.0.0.1 only.")


def environment(
    environ: Mapping[str, str], profile: Profile, *, threads: int, kernels: Path, cpu_mode: CpuMode = CPU_MODE
) -> dict[str, str]:
    """The server's environment. libgomp reads its two variables before Python starts, so they must already be here."""
    env = {name: environ[name] for name in INHERITED if name in environ}
    env |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "PYTHONUNBUFFERED": "1",
        "SGLANG_TIMEOUT_KEEP_ALIVE": "75",  # the default of 5 s cuts pooled connections under the gateway's hands
        "SGLANG_REQ_WAITING_TIMEOUT": "120",  # two backstops behind the gateway's own deadlines
        "SGLANG_REQ_RUNNING_TIMEOUT": "600",
    }
    if profile == "cpu":
        env |= {
            "SGLANG_PLATFORM": "nekibu_cpu",  # never on a GPU machine: a plug-in that declines is an error then
            "OMP_NUM_THREADS": str(threads),
            "NUMBA_CACHE_DIR": str(kernels),  # compiled once, by the first engine that starts
            CPU_MODE_VARIABLE: cpu_mode,
        }
    if profile == "cpu" and cpu_mode != "stock":
        env["OMP_WAIT_POLICY"] = (
            "passive"  # spinning threads make decode seventeen times slower beside one busy process
        )
        env["THP_MEM_ALLOC_ENABLE"] = (
            "1"  # the cache in huge pages, out of which a core reads a third more a second
        )
    return env


def chosen_cpu_mode(environ: Mapping[str, str]) -> CpuMode:
    """What the launcher decided for this process."""
    for mode in CPU_MODES:
        if environ.get(CPU_MODE_VARIABLE, CPU_MODE) == mode:
            return mode
    raise InvalidInput(f"{CPU_MODE_VARIABLE} must be one of {', '.join(CPU_MODES)}.")


def compute_threads(cores: int) -> int:
    """All cores of a small machine; above four, one is left to everybody else."""
    return max(1, cores if cores <= 4 else cores - 1)


def write_config(path: Path, chosen: Mapping[str, Value], keys: Keys) -> None:
    """The YAML that SGLang reads once (JSON scalars are YAML). Only its owner can read it at any moment of its life."""
    lines = [f"{name}: {json.dumps(value)}\n" for name, value in chosen.items()]
    lines += [f"api-key: {json.dumps(keys.api)}\n", f"admin-api-key: {json.dumps(keys.admin)}\n"]
    _replace(path, "".join(lines), 0o600)


def write_status(path: Path, status: Mapping[str, Any]) -> None:
    """One JSON object for gateway, web and worker; readers see the old one or the new one, never half."""
    _replace(path, json.dumps(status, ensure_ascii=False, indent=1), 0o644)


def _replace(path: Path, text: str, mode: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.unlink(missing_ok=True)
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    aside.rename(path)


def die_with_parent() -> None:
    """Ask Linux to kill this process when its parent ends; the wish survives exec. Elsewhere nothing happens."""
    set_parent_death_signal = 1
    try:
        ctypes.CDLL(None, use_errno=True).prctl(set_parent_death_signal, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return


def _typed(text: str) -> Value:
    """`8` is a number, `true` a flag, everything else a word."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) else text
