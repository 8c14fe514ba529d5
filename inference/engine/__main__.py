"""Prepare the model, write the server's configuration, then become SGLang's server: same pid, same group, no memory left.

Started by the gateway, never by hand in production:
    python -m inference.engine --profile cpu --models-dir DIR --port N --run-dir DIR --status-file FILE
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path
from typing import Any

from inference.engine import launch, weights
from nekibu.errors import NekibuError

EX_CONFIG = 78  # a restart would not help: the supervisor shows the sentence instead of trying again


def main() -> None:
    """Does not return: the process becomes the server, or exits with a sentence."""
    launch.die_with_parent()
    chosen = _arguments()
    status: dict[str, Any] = {
        "stage": "installing",
        "model": chosen.model or weights.NAME,
        "revision": None,
        "model_path": None,
        "tokenizer": None,
        "device": "cpu" if chosen.profile == "cpu" else "cuda",
        "profile": chosen.profile,
        "launch": {},
        "pid": os.getpid(),
    }
    launch.write_status(chosen.status_file, status)
    try:
        keys = launch.Keys.take(os.environ)
        for name in (launch.KEY_VARIABLE, launch.ADMIN_KEY_VARIABLE):
            os.environ.pop(name, None)
        _be_quiet_and_offline()
        model = weights.prepare(chosen.models_dir, chosen.model)
        shape = launch.Shape.read(model.path)
        arguments = launch.arguments(
            model,
            shape,
            chosen.profile,
            chosen.port,
            free_memory=_free_memory(),
            cpu_mode=chosen.cpu_mode,
            overrides=dict(chosen.set),
        )
    except NekibuError as problem:
        error = {"code": problem.error_code, "message": problem.message}
        launch.write_status(chosen.status_file, {**status, "stage": "failed", "error": error})
        print(f"engine: {problem.message}", file=sys.stderr, flush=True)
        raise SystemExit(EX_CONFIG) from None

    config = chosen.run_dir / f"engine-{chosen.port}.yaml"
    launch.write_config(config, arguments, keys)
    threads = launch.compute_threads(len(os.sched_getaffinity(0)))
    status |= {
        "stage": "loading",
        "model": model.name,
        "revision": model.revision,
        "model_path": str(model.path),
        "tokenizer": str(model.tokenizer),
        "launch": _public(arguments) | {"vocab_size": shape.vocab_size} | _cpu_settings(chosen, threads),
    }
    launch.write_status(chosen.status_file, status)
    env = launch.environment(
        os.environ,
        chosen.profile,
        threads=threads,
        kernels=chosen.models_dir / "kernels",
        cpu_mode=chosen.cpu_mode,
    )
    server = [sys.executable, "-m", "sglang.launch_server", "--config", str(config)]
    os.execve(sys.executable, server, env)  # noqa: S606 - our own interpreter, no shell


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m inference.engine", description=__doc__)
    parser.add_argument("--profile", choices=("cpu", "gpu"), required=True)
    parser.add_argument("--model", help="a Hugging Face directory or name; default: the packaged model")
    parser.add_argument("--models-dir", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--run-dir", type=Path, required=True)
    parser.add_argument("--status-file", type=Path, required=True)
    parser.add_argument("--cpu-mode", choices=launch.CPU_MODES, default=launch.CPU_MODE, help="CPU only")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=_override,
        metavar="NAME=VALUE",
        help="change one SGLang argument, for a comparison of one lever; unsafe ones are refused",
    )
    return parser.parse_args()


def _override(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError("expected NAME=VALUE, for example max-running-requests=8")
    return name.removeprefix("--"), value


def _be_quiet_and_offline() -> None:
    """Before transformers is imported: no download, no progress bar in the log."""
    os.environ |= {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TQDM_DISABLE": "1",
    }
    logging.basicConfig(level=logging.WARNING)


def _free_memory() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _public(arguments: launch.Arguments) -> dict[str, Any]:
    """Names as JSON likes them. The keys are not among `arguments`."""
    return {name.replace("-", "_"): value for name, value in arguments.items()}


def _cpu_settings(chosen: argparse.Namespace, threads: int) -> dict[str, Any]:
    return {"cpu_mode": chosen.cpu_mode, "threads": threads} if chosen.profile == "cpu" else {}


if __name__ == "__main__":
    main()
