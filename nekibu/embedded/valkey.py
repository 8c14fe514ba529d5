"""The embedded Valkey: broker, cache and live progress, with its log on disk, met on a socket."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

from nekibu.embedded.binaries import valkey_server
from nekibu.embedded.process import Child, wait_for


class Valkey:
    """One server in one directory."""

    def __init__(self, directory: Path, log: Path, *, durable: bool = True) -> None:
        self.directory, self.path = directory, directory / "valkey.sock"
        self.child = Child(
            "valkey",
            [
                str(valkey_server()), "--port", "0", "--unixsocket", str(self.path), "--unixsocketperm", "700",
                "--dir", str(directory), "--appendonly", "yes" if durable else "no", "--save", "",
                "--maxmemory-policy", "noeviction", "--daemonize", "no", "--loglevel", "warning",
            ],
            log,
        )  # fmt: skip

    def start(self, pause: Callable[[float], None] = time.sleep) -> None:
        """Run it, and wait until it answers. `pause` may raise to give up waiting."""
        if len(str(self.path)) > 107:
            raise SystemExit(
                f"The path {self.path} is too long for a socket. Choose a shorter NEKIBU_STATE, such as /var/lib/nekibu."
            )
        self.directory.mkdir(parents=True, exist_ok=True)
        self.directory.chmod(0o700)
        self.path.unlink(missing_ok=True)
        self.child.start()
        wait_for(self.ready, self.child, 600, "Valkey", pause)  # a long log takes its time

    def stop(self, seconds: float = 10) -> None:
        """Stop within the bound."""
        self.child.stop(seconds)
        self.path.unlink(missing_ok=True)

    def ready(self) -> bool:
        """Whether it answers PING (it says LOADING while it reads its log)."""
        try:
            with socket.socket(socket.AF_UNIX) as link:
                link.settimeout(2)
                link.connect(str(self.path))
                link.sendall(b"PING\r\n")
                return link.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def url(self) -> str:
        """Its address, for REDIS_URL."""
        return f"unix://{self.path}"
