"""The gateway process: reads its configuration, keeps the engines, opens the door, drains on SIGTERM.

python -m inference.gateway [options of the fake engine]
"""

from __future__ import annotations

import asyncio
import logging.config
import os
import sys
from types import FrameType

import uvicorn

from inference.gateway.app import App
from inference.gateway.config import Config, read, salt_key
from inference.gateway.dispatch import Dispatcher
from inference.gateway.fleet import Fleet
from inference.gateway.spool import Spool
from nekibu import logs
from nekibu.embedded import lock


class Server(uvicorn.Server):
    """Uvicorn that lets what runs end within the bound before it closes; asked a second time it closes at once."""

    def __init__(self, config: uvicorn.Config, work: Dispatcher, seconds: float) -> None:
        super().__init__(config)
        self.work, self.seconds = work, seconds
        self._closing: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._closing is None:
            self.work.drain()
            self._closing = asyncio.get_running_loop().create_task(self._close())
        else:
            self._end()

    async def _close(self) -> None:
        for _step in range(int(self.seconds * 10)):
            if not self.work.asked:
                break
            await asyncio.sleep(0.1)
        self._end()

    def _end(self) -> None:
        self.work.give_up()
        self.should_exit = True


def main() -> None:
    """Serve until told to stop."""
    logging.config.dictConfig(logs.config({"inference": "INFO"}, root="WARNING"))
    config = read(sys.argv[1:])
    config.run.mkdir(parents=True, exist_ok=True)
    try:
        with lock.hold(config.run / "gateway.lock", f"process {os.getpid()}, port {config.port}"):
            serve(config)
    except lock.Held as held:
        raise SystemExit(f"A gateway already runs on {config.state}: {held.holder}.") from None


def serve(config: Config) -> None:
    """The gateway on loopback, and nowhere else."""
    work = Dispatcher(Fleet.of(config), salt_key(config.state), Spool(config.run / "attempts"))
    uvicorn_config = uvicorn.Config(
        App(config, work),
        host="127.0.0.1",
        port=config.port,
        log_config=None,
        lifespan="on",
        timeout_graceful_shutdown=3,
        loop="asyncio",
        proxy_headers=False,
        server_header=False,
    )
    Server(uvicorn_config, work, config.drain_seconds).run()


if __name__ == "__main__":
    main()
