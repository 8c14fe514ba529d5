"""Starts the engine, proves it, watches it, and starts it again with growing pauses."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import os
import secrets
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from inference.gateway import engines, router
from inference.gateway.backoff import LONGEST, Backoff
from inference.gateway.child import Child
from inference.gateway.config import Config, Place
from inference.gateway.dialect import EngineLost
from inference.gateway.engines import Engine
from inference.reasons import EngineNote

EX_CONFIG = 78  # the engine says that starting it again would not help
_PASSED = (
    "PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES",
    "XDG_CACHE_HOME", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
)  # fmt: skip
BREAKS, BREAK_SECONDS = (
    5,
    30.0,
)  # streams that break so often, though the engine proves each time that it lives
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ended:
    """Why a life of the engine ended. `final`: starting it again at once would end the same way."""

    why: str
    final: bool = False


class Supervisor:
    """One engine's life. `on_ready` is told whenever it can take work, `on_lost` whenever it no longer can."""

    def __init__(
        self,
        config: Config,
        on_ready: Callable[[], None] = lambda: None,
        on_lost: Callable[[], None] = lambda: None,
        *,
        place: Place | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.config, self.on_ready, self.on_lost = config, on_ready, on_lost
        self.clock, self.sleep, self.transport = clock, sleep, transport
        self.place = place = place or config.places[0]
        self.engine = Engine(name=place.name, kind="fake" if config.fake else "sglang")
        self.child = Child(config.run / place.file("engine.pid"), config.logs / place.file("engine.log"))
        self.restarts = 0
        self.stopping = False
        self.busy: Callable[[], bool] = lambda: False
        self.agrees: Callable[[Engine], str] = lambda engine: ""
        self._doubted = False
        self._breaks: list[float] = []
        self._silent = 0.0  # seconds of work since the last token
        self._served_since: float | None = None

    async def keep(self) -> None:
        """Until `stop`: start, wait, check, watch, and again."""
        backoff = Backoff()
        await self.child.reap_stale()
        while not self.stopping:
            self._served_since = None
            ended = await self._live()
            if self.stopping:
                return
            now = self.clock()
            pause, down = backoff.after(0.0 if self._served_since is None else now - self._served_since, now)
            if ended.final:
                pause, down = LONGEST, True
            log.warning("the engine %s ended: %s; again in %.0f s", self.engine.name, ended.why, pause)
            self.engine.move("down" if down else "restarting", ended.why)
            self.on_lost()
            await self.engine.disconnect()
            await self.child.end()
            self.restarts += 1
            await self.sleep(pause)

    def heard(self) -> None:
        """The engine said something."""
        self._silent = 0.0

    def doubt(self) -> None:
        """A stream broke: nothing more is handed over until the engine has proved that it lives."""
        if self.engine.state == "ready":
            self._doubted = True
            now = self.clock()
            self._breaks = [then for then in self._breaks if now - then < BREAK_SECONDS] + [now]
            self.engine.move("restarting", EngineNote.BROKE.say())

    async def stop(self) -> None:
        """End the engine: SIGTERM, ten seconds, SIGKILL, and wait until the group is gone."""
        self.stopping = True
        self.engine.move("down", EngineNote.STOPS.say())
        await self.child.end(grace=10.0)
        await self.engine.disconnect()

    async def _live(self) -> Ended:
        """One life of the engine."""
        engine = self.engine
        if self.place.url:
            engine.url, engine.key, engine.admin_key = self.place.url, self.config.key, self.config.admin_key
            if not self._describe_remote():
                return Ended(EngineNote.NO_TOKENIZER.say(), final=True)
        else:
            engine.key, engine.admin_key = secrets.token_hex(24), secrets.token_hex(24)
            self._start()
        engine.connect(self.transport)
        problem = await self._wait_until_ready() or await self._proof()
        if problem:
            return problem
        other = self.agrees(
            engine
        )  # nothing is awaited from here to `ready`: two engines cannot both be the first
        if other:
            return Ended(other, final=True)
        self.heard()
        self._doubted, self._breaks = False, []
        self._served_since = self.clock()
        log.info("the engine %s is ready: %s on %s", engine.name, engine.model, engine.device)
        engine.move("ready")
        self.on_ready()
        return await self._watch()

    async def _wait_until_ready(self) -> Ended | None:
        engine = self.engine
        deadline = self.clock() + self.config.start_seconds
        while not await engines.is_ready(engine):
            if self.stopping:
                return Ended(EngineNote.STOPPED.say())
            if self.child.code is not None:
                return self._last_words()
            if engine.kind == "sglang" and not self.place.url:
                self._read_status()
                if engine.state == "installing":  # unpacking the model has its own pace
                    deadline = self.clock() + self.config.start_seconds
            if self.clock() > deadline:
                return Ended(EngineNote.NOT_READY.say(seconds=f"{self.config.start_seconds:.0f}"))
            await self.sleep(0.3)
        return None

    async def _proof(self) -> Ended | None:
        """It is the one that was launched, and it keeps tenants apart."""
        expected = self._read_status() if self.engine.kind == "sglang" and not self.place.url else {}
        try:
            if self.place.url:
                self.engine.workers = await router.workers(self.engine.connected)
            problem = await engines.learn(self.engine, expected) or await engines.isolated(self.engine)
        except (httpx.HTTPError, TimeoutError, ValueError, EngineLost) as broken:
            return Ended(EngineNote.NO_PROBE.say(error=type(broken).__name__))
        return Ended(problem, final=True) if problem else None

    async def _watch(self) -> Ended:
        before, asked = self.clock(), self.clock()
        while not self.stopping:
            if self.child.code is not None:
                return self._last_words()
            if self._doubted:
                if len(self._breaks) >= BREAKS:
                    return Ended(EngineNote.BREAKS.say(count=BREAKS, seconds=f"{BREAK_SECONDS:.0f}"))
                await self.sleep(1.0)  # a dying server still answers for a moment
                if self.child.code is not None:
                    return self._last_words()
                if not await self._proves_alive():
                    return Ended(EngineNote.NO_ANSWER.say())
                self._doubted = False
                self.engine.move("ready")
                self.on_ready()
            now = self.clock()
            # Only time with work counts: an engine that nobody asks says nothing, and is well.
            self._silent += now - before if self.busy() else 0.0
            before = now
            if self._silent > self.config.silence_seconds:
                if not await self._proves_alive():
                    return Ended(EngineNote.SILENT.say(seconds=f"{self.config.silence_seconds:.0f}"))
                self.heard()
            if self.place.url and now - asked > 1.0:
                asked = now
                if not await engines.is_ready(self.engine):
                    await self.sleep(2.0)
                    if not await engines.is_ready(self.engine):
                        return Ended(EngineNote.REMOTE_GONE.say())
                if self.engine.workers and await self._changed():
                    self.engine.move("restarting", EngineNote.WORKERS_CHANGED.say())
                    problem = await self._proof()
                    if problem:
                        return problem
                    self.engine.move("ready")
                    self.on_ready()
            await self.sleep(0.25)
        return Ended(EngineNote.STOPPED.say())

    async def _changed(self) -> bool:
        """Whether others stand behind the router than those who have proved themselves."""
        try:
            return await router.workers(self.engine.connected) != self.engine.workers
        except httpx.HTTPError:
            return False  # the next look at its readiness says more

    async def _proves_alive(self) -> bool:
        try:
            async with asyncio.timeout(20):
                return await engines.cached(self.engine, [11, 12, 13], secrets.token_hex(32)) is not None
        except (httpx.HTTPError, TimeoutError, EngineLost):
            return False

    def _start(self) -> None:
        config, engine = self.config, self.engine
        for folder in (config.run, config.models):
            folder.mkdir(parents=True, exist_ok=True)
        port = _free_port()
        engine.url = f"http://127.0.0.1:{port}"
        self._status_file.unlink(missing_ok=True)
        env = {name: os.environ[name] for name in _PASSED if name in os.environ}
        if self.place.gpu is not None:
            env["CUDA_VISIBLE_DEVICES"] = self.place.gpu
        if config.fake:
            command = [sys.executable, "-m", "inference.fake", "--port", str(port), *config.fake_options]
            self._describe_fake()
        else:
            command = [
                sys.executable, "-m", "inference.engine", "--profile", config.profile, "--models-dir", str(config.models),
                "--port", str(port), "--run-dir", str(config.run), "--status-file", str(self._status_file),
                *(["--model", config.model] if config.model else []),
            ]  # fmt: skip
            env |= {"NEKIBU_ENGINE_KEY": engine.key, "NEKIBU_ENGINE_ADMIN_KEY": engine.admin_key}
            engine.move("installing", EngineNote.PREPARING.say())
        self.child.start(command, env)

    @property
    def _status_file(self) -> Path:
        return self.config.run / self.place.file("engine-status.json")

    def _read_status(self) -> dict[str, Any]:
        """What the engine's launcher has written so far; returns what its server must confirm."""
        try:
            status = json.loads(self._status_file.read_text())
        except (OSError, ValueError):
            return {}
        engine, launch = self.engine, status.get("launch") or {}
        if status.get("stage") == "loading":
            engine.model, engine.revision = status["model"], status["revision"]
            engine.device, engine.tokenizer = status["device"], status["tokenizer"]
            engine.context_length, engine.vocab_size = launch.get("context_length"), launch.get("vocab_size")
            public = {k: v for k, v in launch.items() if k not in {"port", "host"}}
            engine.fingerprint = hashlib.sha256(
                json.dumps([status["revision"], public], sort_keys=True).encode()
            ).hexdigest()[:16]
            if engine.state == "installing":
                engine.move("loading", EngineNote.LOADING.say())
        return {
            "attention_backend": launch.get("attention_backend"),
            "weight_version": status.get("revision"),
            "dtype": launch.get("dtype"),
        }

    def _describe_fake(self) -> None:
        from inference.fake import engine as fake

        engine = self.engine
        engine.model, engine.revision, engine.device = fake.NAME, fake.REVISION, "none"
        engine.tokenizer, engine.fingerprint = "bytes", fake.FINGERPRINT
        engine.context_length, engine.vocab_size = fake.CONTEXT, fake.VOCABULARY
        engine.move("loading", EngineNote.STARTING.say())

    def _describe_remote(self) -> bool:
        """False when nobody could tokenise for it, and so nothing sent to it could be checked."""
        engine, model = self.engine, Path(self.config.model or "")
        engine.device, engine.model = "remote", self.config.model or engine.url
        engine.revision = ""  # it may come back with other weights
        if not (model / "tokenizer.json").is_file():
            return False
        shape = json.loads((model / "config.json").read_text()) if (model / "config.json").is_file() else {}
        engine.tokenizer = str(model / "tokenizer.json")
        if "vocab_size" in shape:
            engine.vocab_size = shape["vocab_size"]
        else:
            from inference.tokens import load

            engine.vocab_size = load(engine.tokenizer).vocab_size
        engine.context_length = shape.get("max_position_embeddings")
        engine.move("loading", EngineNote.REMOTE.say())
        return True

    def _last_words(self) -> Ended:
        code = self.child.code
        if code == EX_CONFIG:
            with suppress(OSError, ValueError, KeyError, TypeError):
                return Ended(json.loads(self._status_file.read_text())["error"]["message"], final=True)
        return Ended(EngineNote.ENDED.say(code=code))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
