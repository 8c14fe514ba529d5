"""The list of benchmarks, filled by a decorator: any module of this package that uses it is found."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

import benchmarks
from benchmarks.result import Result


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line decided. `quick` gives a smaller run whose figures are no claim."""

    quick: bool = False
    seed: int = 7


Run = Callable[[Options], list[Result]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A named measurement and the sentence that says what it measures."""

    name: str
    summary: str
    run: Run


_KNOWN: dict[str, Benchmark] = {}


def benchmark(name: str, summary: str) -> Callable[[Run], Run]:
    """Registers a function under a name. A second function of the same name is a mistake and raises."""

    def register(run: Run) -> Run:
        if name in _KNOWN:
            raise ValueError(f"two benchmarks are named {name!r}")
        _KNOWN[name] = Benchmark(name, summary, run)
        return run

    return register


def known() -> dict[str, Benchmark]:
    """Every benchmark of this package by name."""
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if not module.name.startswith("__"):
            importlib.import_module(f"benchmarks.{module.name}")
    return dict(sorted(_KNOWN.items()))
