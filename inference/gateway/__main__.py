"""The gateway process: reads its configuration, keeps the engine, opens the door, drains on SIGTERM."""

from __future__ import annotations

import asyncio
import signal
from types import FrameType

import uvicorn

from inference.gateway.app import App
from inference.gateway.config import read, salt_key
from inference.gateway.dispatch import Dispatcher
from inference.gateway.spool import Spool
from inference.gateway.supervisor import Supervisor


class Server(uvicorn.Server):
    """Uvicorn that lets what runs end within the bound before it closes."""

    def __init__(self, config: uvicorn.Config, work: Dispatcher, seconds: float) -> None:
        super().__init__(config)
        self.work, self.seconds = work, seconds

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.work.draining or (sig == signal.SIGINT and self.work.draining):
            super().handle_exit(sig, frame)
            return
        self.work.drain()
        asyncio.get_event_loop().create_task(self._close(sig, frame))

    async def _close(self, sig: int, frame: FrameType | None) -> None:
        for _step in range(int(self.seconds * 10)):
            if not self.work.running:
                break
            await asyncio.sleep(0.1)
        super().handle_exit(sig, frame)


def main() -> None:
    """Serve until told to stop."""
    config = read()
    supervisor = Supervisor(config, on_ready=lambda: work.pump(), on_lost=lambda: work.lost())
    work = Dispatcher(supervisor, salt_key(config.state), Spool(config.run / "attempts"))
    uvicorn_config = uvicorn.Config(
        App(config, work),
        host="127.0.0.1",
        port=config.port,
        log_level="warning",
        lifespan="on",
        timeout_graceful_shutdown=3,
        loop="asyncio",
    )
    Server(uvicorn_config, work, config.drain_seconds).run()


if __name__ == "__main__":
    main()
