"""Command line: `python -m benchmarks --list`, `python -m benchmarks NAME [--quick]`, `python -m benchmarks --all`."""

from __future__ import annotations

import argparse
import signal
import sys

from benchmarks.registry import Options, known
from benchmarks.result import Result, last_line
from benchmarks.table import results_table, table


def main() -> int:
    """0 when every target holds, 1 when one is missed, 2 when a name is unknown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="name every benchmark and stop")
    parser.add_argument("--all", action="store_true", help="run every benchmark, one after the other")
    parser.add_argument("--quick", action="store_true", help="a small run; its figures are no claim")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    benchmarks = known()
    if arguments.list or not (arguments.names or arguments.all):
        print(table(("name", "what it measures"), ((b.name, b.summary) for b in benchmarks.values())))
        return 0
    names = list(benchmarks) if arguments.all else arguments.names
    if unknown := [name for name in names if name not in benchmarks]:
        print(f"No benchmark is named {', '.join(unknown)}; see --list.", file=sys.stderr)
        return 2
    # A tree that was started for a run is stopped on the way out, so the way out must be taken.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    results: list[Result] = []
    for name in names:
        print(f"# {name}: {benchmarks[name].summary}", flush=True)
        own = benchmarks[name].run(Options(quick=arguments.quick, seed=arguments.seed))
        print(f"\n{results_table(own)}\n", flush=True)
        results.extend(own)
    print(last_line(results))
    return 1 if any(result.holds is False for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
