"""The server gets the arguments of its profile, nothing that breaks isolation, and no secret that is not its own."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inference.engine import launch
from inference.engine.weights import Model, NotAModel
from nekibu.errors import InvalidInput

MODEL = Model("smollm2-135m-instruct", "smollm2-135m-instruct@b179c9523d0e", Path("/models/s"))
SHAPE = launch.Shape(vocab_size=49_152, positions=8_192, kv_bytes_per_token=23_040)
GIGABYTE = 10**9
KEYS = launch.Keys("a" * 32, "b" * 32)


def arguments(profile: launch.Profile, free: int = 16 * GIGABYTE, **overrides: str) -> launch.Arguments:
    dashed = {name.replace("_", "-"): value for name, value in overrides.items()}
    return launch.arguments(MODEL, SHAPE, profile, 3000, free_memory=free, overrides=dashed)


def test_cpu_profile_names_its_backend_and_holds_its_pool() -> None:
    chosen = arguments("cpu")
    assert chosen["attention-backend"] == "nekibu_cpu"
    assert (chosen["context-length"], chosen["max-total-tokens"]) == (4_096, 32_768)
    assert chosen["weight-version"] == MODEL.revision
    assert "tp-size" not in chosen


@pytest.mark.parametrize("profile", ["cpu", "gpu"])
def test_paused_requests_fit_into_the_queue(profile: launch.Profile) -> None:
    chosen = arguments(profile)
    assert int(chosen["max-queued-requests"]) >= int(chosen["max-running-requests"]) + 16


def test_gpu_profile_leaves_the_device_to_sglang() -> None:
    chosen = arguments("gpu")
    assert not {"device", "attention-backend", "page-size"} & chosen.keys()
    assert chosen["context-length"] == 8_192  # the model's own limit, below the profile's 16 384


def test_little_memory_gives_fewer_tokens_but_always_one_context() -> None:
    assert arguments("cpu", free=GIGABYTE)["max-total-tokens"] == GIGABYTE // 4 // 23_040
    assert arguments("cpu", free=GIGABYTE // 10)["max-total-tokens"] == 4_096


def test_override_is_typed() -> None:
    chosen = arguments("cpu", max_running_requests="8", enable_mixed_chunk="true", schedule_policy="lof")
    assert (chosen["max-running-requests"], chosen["enable-mixed-chunk"], chosen["schedule-policy"]) == (
        8,
        True,
        "lof",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("enable_hierarchical_cache", "true"),
        ("enable_lmcache", "true"),
        ("disable_radix_cache", "true"),
        ("allow_auto_truncate", "true"),
        ("crash_dump_folder", "/tmp/x"),
        ("speculative_algorithm", "ngram"),
        ("tokenizer_worker_num", "2"),
        ("host", "0.0.0.0"),  # noqa: S104 - the refusal is the point
        ("api_key", "mine"),
    ],
)
def test_what_breaks_isolation_is_refused(name: str, value: str) -> None:
    with pytest.raises(launch.ForbiddenArgument):
        arguments("cpu", **{name: value})


def test_environment_is_a_closed_list() -> None:
    ours = {
        "PATH": "/bin",
        "DATABASE_URL": "x",
        "NEKIBU_GATEWAY_SECRET": "x",
        "SGLANG_PLATFORM": "x",
        "HTTPS_PROXY": "x",
    }
    kernels = Path("/models/kernels")
    cpu = launch.environment(ours, "cpu", threads=2, kernels=kernels)
    assert not {"DATABASE_URL", "NEKIBU_GATEWAY_SECRET", "HTTPS_PROXY"} & cpu.keys()
    assert (cpu["OMP_WAIT_POLICY"], cpu["OMP_NUM_THREADS"], cpu["SGLANG_PLATFORM"]) == (
        "passive",
        "2",
        "nekibu_cpu",
    )
    assert cpu["NUMBA_CACHE_DIR"] == str(kernels)
    gpu = launch.environment(ours, "gpu", threads=2, kernels=kernels)
    assert not {"SGLANG_PLATFORM", "OMP_WAIT_POLICY", launch.CPU_MODE_VARIABLE} & gpu.keys()
    assert gpu["HF_HUB_OFFLINE"] == "1"


@pytest.mark.parametrize("mode", launch.CPU_MODES)
def test_a_mode_reaches_the_process_that_computes(mode: launch.CpuMode) -> None:
    env = launch.environment({}, "cpu", threads=2, kernels=Path("/k"), cpu_mode=mode)
    assert launch.chosen_cpu_mode(env) == mode


def test_an_unknown_mode_is_refused() -> None:
    assert launch.chosen_cpu_mode({}) == launch.CPU_MODE
    with pytest.raises(InvalidInput, match=launch.CPU_MODE_VARIABLE):
        launch.chosen_cpu_mode({launch.CPU_MODE_VARIABLE: "fast"})


def test_stock_is_what_sglang_does_by_itself() -> None:
    chosen = launch.arguments(MODEL, SHAPE, "cpu", 3000, free_memory=16 * GIGABYTE, cpu_mode="stock")
    assert chosen["attention-backend"] == "torch_native"
    env = launch.environment({}, "cpu", threads=2, kernels=Path("/k"), cpu_mode="stock")
    assert not {"OMP_WAIT_POLICY", "SGLANG_EAGER_INPUT_NO_COPY", "THP_MEM_ALLOC_ENABLE"} & env.keys()


def test_one_core_is_left_on_larger_machines() -> None:
    assert [launch.compute_threads(cores) for cores in (1, 2, 4, 5, 16)] == [1, 2, 4, 4, 15]


def test_config_is_private_even_where_an_older_one_was_not(tmp_path: Path) -> None:
    path = tmp_path / "engine.yaml"
    path.write_text("old")
    path.chmod(0o644)
    launch.write_config(path, {"port": 3000, "enable-metrics": True, "served-model-name": 'a: "b" #c'}, KEYS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    lines = dict(line.split(": ", 1) for line in path.read_text().splitlines())
    assert json.loads(lines["served-model-name"]) == 'a: "b" #c'
    assert (lines["enable-metrics"], json.loads(lines["admin-api-key"])) == ("true", KEYS.admin)
    assert [entry.name for entry in tmp_path.iterdir()] == ["engine.yaml"]


@pytest.mark.parametrize(
    ("api", "admin"), [("", "b" * 32), ("a" * 32, ""), ("a" * 32, "a" * 32), ("short", "b" * 32)]
)
def test_no_start_without_two_good_keys(api: str, admin: str) -> None:
    with pytest.raises(launch.NoKeys):
        launch.Keys.take({"NEKIBU_ENGINE_KEY": api, "NEKIBU_ENGINE_ADMIN_KEY": admin})
    assert "a" * 32 not in repr(KEYS)


def test_shape_comes_from_the_model_s_own_configuration(tmp_path: Path) -> None:
    config = {"vocab_size": 49_152, "max_position_embeddings": 8_192, "num_hidden_layers": 30}
    config |= {"num_attention_heads": 9, "num_key_value_heads": 3, "hidden_size": 576}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert launch.Shape.read(tmp_path) == SHAPE
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(NotAModel, match=r"vocab_size|num_attention_heads"):
        launch.Shape.read(tmp_path)


def start(
    tmp_path: Path, *extra: str, **env: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, object]]:
    status = tmp_path / "status.json"
    command = [
        sys.executable,
        "-m",
        "inference.engine",
        "--profile",
        "cpu",
        "--models-dir",
        str(tmp_path),
        *extra,
    ]
    command += ["--port", "1", "--run-dir", str(tmp_path), "--status-file", str(status)]
    done = subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True, timeout=60, check=False
    )
    return done, json.loads(status.read_text())


def test_unusable_model_ends_with_a_sentence_and_the_code_that_forbids_a_restart(tmp_path: Path) -> None:
    done, status = start(
        tmp_path, "--model", "no-such-model", NEKIBU_ENGINE_KEY="a" * 32, NEKIBU_ENGINE_ADMIN_KEY="b" * 32
    )
    assert done.returncode == 78
    assert (status["stage"], status["model"]) == ("failed", "no-such-model")
    assert "not on this machine" in done.stderr
    assert "Traceback" not in done.stderr
    assert status["error"]["code"] == "not_a_model"  # type: ignore[index]


def test_missing_keys_end_the_start(tmp_path: Path) -> None:
    done, status = start(tmp_path, NEKIBU_ENGINE_KEY="", NEKIBU_ENGINE_ADMIN_KEY="")
    assert done.returncode == 78
    assert status["error"]["code"] == "no_keys"  # type: ignore[index]


CHILD = "from inference.engine.launch import die_with_parent as d; d(); print('up', flush=True); import time; time.sleep(60)"
PARENT = f"""
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], stdout=subprocess.PIPE)
child.stdout.readline(); print(child.pid, flush=True); sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="The parent-death signal is Linux's own.")
def test_engine_dies_with_a_killed_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert _alive(child)
        parent.kill()
        parent.wait()
    end = time.monotonic() + 5
    while _alive(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
