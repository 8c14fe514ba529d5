"""Starts the engine, watches it, restarts it with growing pauses, and never leaves a process of its group behind."""

from __future__ import annotations

import asyncio
import ctypes
import hashlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

from inference.gateway import engines
from inference.gateway.config import Config
from inference.gateway.engines import Engine

EX_CONFIG = 78  # the engine says that starting it again would not help
_PASSED = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES",
    "XDG_CACHE_HOME", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
)  # fmt: skip


class Supervisor:
    """One engine's life. `on_ready` is told whenever it can take work, `on_lost` whenever it no longer can."""

    def __init__(self, config: Config, on_ready: Callable[[], None], on_lost: Callable[[], None]) -> None:
        self.config, self.on_ready, self.on_lost = config, on_ready, on_lost
        kind: Any = "fake" if config.fake else "sglang"
        self.engine = Engine(name="fake" if config.fake else "SGLang", kind=kind)
        self.child: subprocess.Popen[bytes] | None = None
        self.restarts = 0
        self.stopping = False
        self.last_token = time.monotonic()
        self.busy: Callable[[], bool] = lambda: False
        self._doubted = False

    async def keep(self) -> None:
        """Until `stop`: start, wait, check, watch, and again."""
        pause = 1.0
        self._reap_stale()
        while not self.stopping:
            began = time.monotonic()
            problem = await self._live()
            self.on_lost()
            await self._end()
            if self.stopping:
                return
            if time.monotonic() - began > 120:
                pause = 1.0
            self.restarts += 1
            self.engine.move(
                "down" if problem.startswith("final: ") else "restarting", problem.removeprefix("final: ")
            )
            if problem.startswith("final: "):
                pause = 60.0
            await asyncio.sleep(pause)
            pause = min(60.0, pause * 2)

    def doubt(self) -> None:
        """A stream broke: nothing more is handed over until the engine has proved that it lives."""
        if self.engine.state == "ready":
            self._doubted = True
            self.engine.move("restarting", "a stream broke")

    async def stop(self) -> None:
        """End the engine: SIGTERM, ten seconds, SIGKILL, and wait until the group is gone."""
        self.stopping = True
        await self._end(grace=10.0)

    async def _live(self) -> str:
        """One life of the engine; returns why it ended."""
        engine, expected = self.engine, {}
        if self.config.url:
            engine.url = self.config.url.rstrip("/")
            engine.move("loading", "waiting for the remote engine")
            self._describe_remote()
        else:
            engine.key, engine.admin_key = secrets.token_hex(24), secrets.token_hex(24)
            status_file = self._start()
        deadline = time.monotonic() + self.config.start_seconds
        while not await engines.is_ready(engine):
            if self._exited():
                return self._last_words()
            if not self.config.url and not self.config.fake:
                expected = self._read_status(status_file)
                if engine.state == "installing":
                    deadline = (
                        time.monotonic() + self.config.start_seconds
                    )  # unpacking the model has its own pace
            if time.monotonic() > deadline:
                return f"not ready after {self.config.start_seconds:.0f} s"
            await asyncio.sleep(0.3)
        if not self.config.url and not self.config.fake:
            expected = self._read_status(status_file)
        engine.connect()
        try:
            problem = await engines.learn(engine, expected) or await engines.isolated(engine)
        except (httpx.HTTPError, TimeoutError, ValueError, engines_lost()) as broken:
            return f"the first probe failed: {type(broken).__name__}"
        if problem:
            return f"final: {problem}"
        self.last_token = time.monotonic()
        self._doubted = False
        engine.move("ready")
        self.on_ready()
        return await self._watch()

    async def _watch(self) -> str:
        while not self.stopping:
            if self._exited():
                return self._last_words()
            if self._doubted:
                await asyncio.sleep(1.0)  # a dying server still answers for a moment
                if self._exited():
                    return self._last_words()
                if not await self._proves_alive():
                    return "the engine did not answer after a broken stream"
                self._doubted = False
                self.engine.move("ready")
                self.on_ready()
            if self.busy() and time.monotonic() - self.last_token > self.config.silence_seconds:
                return f"no token for {self.config.silence_seconds:.0f} s"
            if self.config.url and not await engines.is_ready(self.engine):
                await asyncio.sleep(2)
                if not await engines.is_ready(self.engine):
                    return "the remote engine does not answer"
            await asyncio.sleep(0.25)
        return "stopped"

    async def _proves_alive(self) -> bool:
        try:
            async with asyncio.timeout(20):
                return await engines.cached(self.engine, [11, 12, 13], secrets.token_hex(32)) is not None
        except (httpx.HTTPError, TimeoutError, engines_lost()):
            return False

    def _start(self) -> Path:
        config, engine = self.config, self.engine
        for folder in (config.run, config.logs, config.models):
            folder.mkdir(parents=True, exist_ok=True)
        port = _free_port()
        engine.url = f"http://127.0.0.1:{port}"
        status_file = config.run / "engine-status.json"
        status_file.unlink(missing_ok=True)
        env = {name: os.environ[name] for name in _PASSED if name in os.environ}
        if config.fake:
            command = [sys.executable, "-m", "inference.fake", "--port", str(port)]
            self._describe_fake()
        else:
            command = [
                sys.executable, "-m", "inference.engine", "--profile", config.profile, "--models-dir", str(config.models),
                "--port", str(port), "--run-dir", str(config.run), "--status-file", str(status_file),
                *(["--model", config.model] if config.model else []),
            ]  # fmt: skip
            env |= {"NEKIBU_ENGINE_KEY": engine.key, "NEKIBU_ENGINE_ADMIN_KEY": engine.admin_key}
            engine.move("installing", "preparing the model")
        with (config.logs / "engine.log").open("ab") as log:
            self.child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=env,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        (config.run / "engine.pid").write_text(str(self.child.pid))
        return status_file

    def _read_status(self, path: Path) -> dict[str, Any]:
        try:
            status = json.loads(path.read_text())
        except (OSError, ValueError):
            return {}
        engine, launch = self.engine, status.get("launch") or {}
        if status["stage"] == "loading":
            engine.model, engine.revision, engine.device = (
                status["model"],
                status["revision"],
                status["device"],
            )
            engine.tokenizer = status["tokenizer"]
            engine.context_length, engine.vocab_size = launch.get("context_length"), launch.get("vocab_size")
            public = {k: v for k, v in launch.items() if k not in {"port", "host"}}
            engine.fingerprint = hashlib.sha256(
                json.dumps([status["revision"], public], sort_keys=True).encode()
            ).hexdigest()[:16]
            if engine.state == "installing":
                engine.move("loading", "loading the model")
        return {
            "attention_backend": launch.get("attention_backend"),
            "weight_version": status.get("revision"),
            "dtype": launch.get("dtype"),
        }

    def _describe_fake(self) -> None:
        from inference.fake import engine as fake

        engine = self.engine
        engine.model, engine.revision, engine.device, engine.tokenizer = (
            fake.NAME,
            fake.REVISION,
            "none",
            "bytes",
        )
        engine.context_length, engine.vocab_size, engine.fingerprint = fake.CONTEXT, fake.VOCABULARY, "fake"
        engine.move("loading", "starting")

    def _describe_remote(self) -> None:
        engine, model = self.engine, Path(self.config.model or "")
        engine.device, engine.model = "remote", self.config.model or self.engine.url
        if (model / "tokenizer.json").is_file():
            from inference.tokens import load

            shape = (
                json.loads((model / "config.json").read_text()) if (model / "config.json").is_file() else {}
            )
            engine.tokenizer = str(model / "tokenizer.json")
            engine.vocab_size = shape.get("vocab_size") or load(engine.tokenizer).vocab_size
            engine.context_length = shape.get("max_position_embeddings")
        else:
            engine.move("down", "give NEKIBU_MODEL, the directory with the remote model's tokenizer.json")

    def _exited(self) -> bool:
        return self.child is not None and self.child.poll() is not None

    def _last_words(self) -> str:
        code = self.child.returncode if self.child else None
        status = self.config.run / "engine-status.json"
        if code == EX_CONFIG:
            with suppress(OSError, ValueError, KeyError, TypeError):
                return f"final: {json.loads(status.read_text())['error']['message']}"
        return f"the engine ended with status {code}"

    async def _end(self, grace: float = 0.0) -> None:
        if self.engine.http is not None:
            await self.engine.http.aclose()
            self.engine.http = None
        child, self.child = self.child, None
        if child is None:
            return
        if grace and child.poll() is None:
            child.terminate()
            until = time.monotonic() + grace
            while child.poll() is None and time.monotonic() < until:
                await asyncio.sleep(0.1)
        await _kill_group(child.pid)
        child.wait()
        (self.config.run / "engine.pid").unlink(missing_ok=True)
        _sweep_shared_memory()

    def _reap_stale(self) -> None:
        """A gateway that was killed takes its engine along; should one be left all the same, it ends now."""
        path = self.config.run / "engine.pid"
        try:
            pid = int(path.read_text())
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return
        if b"sglang" in words or b"inference.engine" in words or b"inference.fake" in words:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        path.unlink(missing_ok=True)


def engines_lost() -> type[Exception]:
    """The dialect's word for a broken stream."""
    from inference.gateway.dialect import EngineLost

    return EngineLost


async def _kill_group(pid: int) -> None:
    for _try in range(100):
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        await asyncio.sleep(0.1)


def _sweep_shared_memory() -> None:
    """Load snapshots of servers that are gone: one is left behind by each kill."""
    used: set[str] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            used.update(line.split()[-1] for line in maps.read_text().splitlines() if "sglang_loads_" in line)
    for left in Path("/dev/shm").glob("sglang_loads_*.shm"):  # noqa: S108
        if str(left) not in used:
            left.unlink(missing_ok=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)
