"""Command line: `python -m samples --seed 7 --out DIR --count 24`."""

from __future__ import annotations

import argparse
from pathlib import Path

from samples import generate


def main() -> None:
    """Writes the files and says what was written."""
    parser = argparse.ArgumentParser(prog="python -m samples", description="Invented CVs with truth records.")
    parser.add_argument("--seed", type=int, default=generate.SEED)
    parser.add_argument("--count", type=int, default=generate.COUNT)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    samples = generate.write(arguments.out, arguments.seed, arguments.count)
    size = sum(len(sample.body) for sample in samples) // 1024
    print(f"{len(samples)} CVs ({size} KiB) and truth.json in {arguments.out}")


if __name__ == "__main__":
    main()
