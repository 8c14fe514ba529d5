"""Where the native decoder's time goes: each kind of phase alone, over all layers of a model of the packaged one's shape."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.registry import Options, benchmark
from benchmarks.result import Result, measured
from benchmarks.statistics import bootstrap
from benchmarks.table import table

if TYPE_CHECKING:
    from inference.engine.cpu_decoder import Batch, Decoder

HIDDEN, INNER, HEADS, KV_HEADS, SIZE, WORDS, LAYERS = 576, 1_536, 9, 3, 64, 49_152, 30
SLOTS, REQUESTS, CONTEXT = 32_768, 24, 4_096
ROUNDS, QUICK_ROUNDS = 15, 5
WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Load:
    """A forward that is typical of something: new tokens of each request, and what each has in the cache already."""

    name: str
    news: Sequence[int]
    cached: int


LOADS = (
    Load("decode, one stream behind 200 tokens", [1], 200),
    Load("decode, sixteen streams behind 200 tokens", [1] * 16, 200),
    Load("20 new tokens behind 1,200 cached", [20], 1_200),
    Load("prefill of 1,000 tokens", [1_000], 0),
)


@benchmark(
    "cpu_profile",
    "the native decoder by phases: which share of a forward each takes, without a server around it",
)
def run(options: Options) -> list[Result]:
    """No engine is started; numba compiles at the first run."""
    decoder = _decoder()
    results: list[Result] = []
    for load in LOADS:
        times = _times(decoder, load, QUICK_ROUNDS if options.quick else ROUNDS, options.seed)
        middle = {name: median(seconds) for name, seconds in times.items()}
        parts = sum(seconds for name, seconds in middle.items() if name != WHOLE)
        rows = [
            (n, 1e3 * s, 100 * s / parts)
            for n, s in sorted(middle.items(), key=lambda p: -p[1])
            if n != WHOLE
        ]
        print(f"\n{load.name}\n{table(('phase', 'ms', '%'), rows)}", flush=True)
        whole = [1e3 * s for s in times[WHOLE]]
        results.append(
            measured(
                f"{load.name}: a forward", median(whole), "ms", n=len(whole), ci=bootstrap(whole, median)
            )
        )
    print(f"load {os.getloadavg()[0]:.1f}")
    return results


def _times(decoder: Decoder, load: Load, rounds: int, seed: int) -> dict[str, list[float]]:
    """Seconds of each kind of phase and of a whole forward, interleaved in shuffled rounds."""
    import numpy as np
    import torch

    from inference.engine import cpu_kernels as k

    batch, rng = _batch(load), random.Random(seed)
    hidden = decoder.forward(batch)[-len(load.news) :]
    program, rows = decoder._program(len(batch.ids), batch), len(batch.ids)
    names = {k.EMBED: "norms, rope, embedding", k.NORM_ATTENTION: "norms, rope, embedding", k.NORM_MLP: "norms, rope, embedding",
             k.NORM_OUT: "norms, rope, embedding", k.TURN: "norms, rope, embedding", k.PROJECT: "query, key, value",
             k.ADD_ATTENTION: "output projection", k.EXPAND: "gate and up", k.ADD_MLP: "down"}  # fmt: skip
    kinds: dict[str, list[int]] = {}
    for place, op in enumerate(program[:, 0].tolist()):
        kinds.setdefault(names.get(op, "attention"), []).append(place)

    # A forward's own arrays go with it; the phases alone need some that stay.
    out, starts = torch.empty(rows, HIDDEN), np.array([0, *accumulate(load.news)], np.int64)

    def part(places: list[int]) -> Callable[[], None]:
        own = program[places]
        return lambda: decoder._run(own, rows, decoder._open(rows, 1))

    def settle() -> None:
        """The frame points at this batch again, whatever was computed last."""
        decoder.forward(batch)
        decoder._point({k.OUT: out, k.STARTS: starts})

    def whole() -> None:
        decoder.forward(batch)
        decoder.logits(hidden)

    arms: dict[str, Callable[[], Any]] = {name: part(places) for name, places in kinds.items()}
    arms |= {"output layer": lambda: decoder.logits(hidden), WHOLE: whole}
    times: dict[str, list[float]] = {name: [] for name in arms}
    for _ in range(rounds):
        settle()
        for name in rng.sample(sorted(arms), len(arms)):
            began = time.perf_counter()
            arms[name]()
            times[name].append(time.perf_counter() - began)
            if name in {"output layer", WHOLE}:
                settle()
    return times


def _decoder() -> Decoder:
    """Random weights: time does not depend on what they say."""
    import torch

    from inference.engine.cpu_decoder import Decoder, Weights

    torch.manual_seed(7)

    def matrix(outputs: int, inputs: int) -> torch.Tensor:
        return (torch.randn(outputs, inputs) / inputs**0.5).bfloat16()

    turns = torch.arange(CONTEXT)[:, None] / 10_000 ** (torch.arange(0, SIZE, 2) / SIZE)
    width = HEADS * SIZE
    layers = [
        (
            matrix(width + 2 * KV_HEADS * SIZE, HIDDEN),
            matrix(HIDDEN, width),
            matrix(2 * INNER, HIDDEN),
            matrix(HIDDEN, INNER),
        )
        for _ in range(LAYERS)
    ]
    head = matrix(WORDS, HIDDEN)
    weights = Weights(
        layers=layers, head=head, embedding=head, norms=torch.ones(2 * LAYERS + 1, HIDDEN).bfloat16(),
        angles=torch.cat((turns.cos(), turns.sin()), 1), heads=HEADS, kv_heads=KV_HEADS, size=SIZE, epsilon=1e-5,
        scaling=SIZE**-0.5,
    )  # fmt: skip
    decoder = Decoder(weights, int8=True, threads=os.cpu_count() or 1)
    caches = [[torch.zeros(SLOTS, KV_HEADS, SIZE).bfloat16() for _ in range(LAYERS)] for _ in range(2)]
    slots = torch.arange(REQUESTS * CONTEXT, dtype=torch.int32).reshape(REQUESTS, CONTEXT) % SLOTS
    decoder.bind(caches[0], caches[1], slots, rows=1_024)
    return decoder


def _batch(load: Load) -> Batch:
    import torch

    from inference.engine.cpu_decoder import Batch

    owners = torch.tensor([request for request, new in enumerate(load.news) for _ in range(new)])
    positions = torch.tensor([load.cached + at for new in load.news for at in range(new)])
    places = (owners * CONTEXT + positions) % SLOTS
    return Batch(
        torch.randint(0, WORDS, (len(owners),)),
        positions,
        places,
        owners,
        load.news,
        [load.cached + new for new in load.news],
    )
