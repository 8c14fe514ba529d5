"""One real SGLang server on the CPU for the whole session, started exactly as the gateway starts it."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tokenizers import Tokenizer

REPOSITORY = Path(__file__).resolve().parents[2]
START_SECONDS = (
    240.0  # 30 s on a quiet machine, and half a minute more where the weights are not unpacked yet
)
STOP_TOKEN = 2
TEXT = (
    "The applicant led a team of six engineers in Ankara from March 2019 to June 2023 and moved the payment service from "
    "one large program to eleven small ones. Before that she wrote embedded software for medical pumps, in C and later in "
    "Rust, and was responsible for the safety case. Her references confirm both positions. "
)


@dataclass(frozen=True)
class Engine:
    """The running child and how a test speaks to it."""

    pid: int
    url: str
    key: str
    admin_key: str
    run_dir: Path
    status: dict[str, Any]
    tokenizer: Tokenizer

    def post(self, path: str, body: dict[str, Any], *, key: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key or self.key}"}
        return httpx.post(self.url + path, json=body, headers=headers, timeout=120)

    def generate(
        self, ids: list[int], *, tokens: int = 1, salt: str | None = None, **sampling: Any
    ) -> dict[str, Any]:
        """One greedy answer, not streamed, with the log-probabilities of the five best first tokens."""
        response = self.post("/generate", self.request(ids, tokens=tokens, salt=salt, **sampling))
        assert response.status_code == 200, response.text
        return response.json()

    def request(
        self, ids: list[int], *, tokens: int = 1, salt: str | None = None, **sampling: Any
    ) -> dict[str, Any]:
        return {
            "rid": secrets.token_hex(16),
            "input_ids": ids,
            "cache_salt": salt or secrets.token_hex(32),
            "priority": 0,
            "stream": False,
            "return_logprob": "json_schema" not in sampling,
            "top_logprobs_num": 5,
            "sampling_params": {
                "max_new_tokens": tokens,
                "temperature": 0,
                "top_p": 1,
                "stop_token_ids": [STOP_TOKEN],
                **sampling,
            },
        }

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def text_of(self, length: int) -> list[int]:
        """Natural text of exactly `length` tokens: random ids give flat distributions whose winner is chance."""
        piece = self.ids(TEXT)
        return (piece * (length // len(piece) + 1))[:length]


def choices(answer: dict[str, Any]) -> list[dict[int, float]]:
    """For each token of the answer: log-probability of the five best candidates, best first."""
    tops = answer["meta_info"]["output_top_logprobs"]
    return [{token: probability for probability, token, *_ in best} for best in tops]


def first_choices(answer: dict[str, Any]) -> dict[int, float]:
    return choices(answer)[0]


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    if importlib.util.find_spec("sglang") is None:
        pytest.skip("SGLang is not installed here: make setup ENGINE=1 brings it.")
    run_dir = tmp_path_factory.mktemp("engine")
    models = Path(os.environ.get("NEKIBU_TEST_MODELS") or Path.home() / ".cache" / "nekibu" / "models")
    port, key, admin_key = _free_port(), secrets.token_urlsafe(32), secrets.token_urlsafe(32)
    status_file, log = run_dir / "status.json", run_dir / "engine.log"
    command = [sys.executable, "-m", "inference.engine", "--profile", "cpu", "--models-dir", str(models)]
    command += ["--port", str(port), "--run-dir", str(run_dir), "--status-file", str(status_file)]
    keys = {"NEKIBU_ENGINE_KEY": key, "NEKIBU_ENGINE_ADMIN_KEY": admin_key}
    with log.open("wb") as output:
        child = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            env={**os.environ, **keys, "DATABASE_URL": "postgresql://nobody:may-see-this@db.invalid/x"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until_ready(child, url, log)
        status = json.loads(status_file.read_text())
        tokenizer = Tokenizer.from_file(status["tokenizer"])
        yield Engine(child.pid, url, key, admin_key, run_dir, status, tokenizer)
    finally:
        _kill_group(child)


def _wait_until_ready(child: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if child.poll() is not None:
            pytest.fail(
                f"The engine ended with {child.returncode}:\n{log.read_text(errors='replace')[-3000:]}"
            )
        with contextlib.suppress(httpx.HTTPError):
            if httpx.get(f"{url}/ready", timeout=5).status_code == 200:
                return
        time.sleep(0.5)
    pytest.fail(
        f"The engine was not ready in {START_SECONDS:.0f} s:\n{log.read_text(errors='replace')[-3000:]}"
    )


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """The whole group, and not before every process of it is gone: a second engine beside it would need 4 GB more."""
    left = _shared_memory(child.pid)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait(timeout=30)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.killpg(child.pid, 0)
        except ProcessLookupError:
            break
        time.sleep(0.1)
    for segment in left:
        segment.unlink(missing_ok=True)


def _shared_memory(group: int) -> set[Path]:
    """The load snapshots that this engine has mapped: a kill leaves them behind, and their names are random."""
    found: set[Path] = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            if os.getpgid(int(process.name)) == group:
                maps = (process / "maps").read_text().split()
                found |= {Path(word) for word in maps if word.startswith("/dev/shm/sglang_loads_")}
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def nonce() -> str:
    """A salt that no other test uses."""
    return secrets.token_hex(32)


def random_ids(length: int) -> list[int]:
    return [random.randrange(100, 40_000) for _ in range(length)]
