"""`python -m inference.fake --port N`: the fake engine as the gateway's child."""

from __future__ import annotations

import argparse
from pathlib import Path

import uvicorn

from inference.fake.engine import SLOTS, FakeEngine
from inference.fake.server import Server


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m inference.fake", description="The fake engine.")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument(
        "--delay", type=float, default=0.0, metavar="S", help="seconds per chunk of eight tokens"
    )
    parser.add_argument(
        "--slots", type=int, default=SLOTS, metavar="N", help="how many requests it says it can run at once"
    )
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="add a line of JSON for each request that ended, with what it cost",
    )
    parser.add_argument("--leaky", action="store_true", help="share computed tokens between namespaces")
    parser.add_argument("--forgetful", action="store_true", help="never reuse computed tokens")
    chosen = parser.parse_args()
    engine = FakeEngine(leaky=chosen.leaky, forgetful=chosen.forgetful)
    server = Server(engine, chosen.delay, chosen.slots, chosen.ledger)
    uvicorn.run(server, host="127.0.0.1", port=chosen.port, log_level="warning")


if __name__ == "__main__":
    main()
