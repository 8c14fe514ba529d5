"""Run by `test_decoder` in an interpreter of its own: torch stays out of the test process. Prints one JSON object."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from inference.engine.cpu_decoder import Batch, Decoder, Weights
from inference.engine.cpu_loops import Processor

HIDDEN, INNER, HEADS, KV_HEADS, SIZE, WORDS, LAYERS = 128, 320, 6, 2, 64, 512, 2
SLOTS, REQUESTS, CONTEXT = 8_000, 20, 320


def model() -> Weights:
    """Random, with outputs of the size that a trained model has."""
    torch.manual_seed(7)

    def matrix(outputs: int, inputs: int) -> Tensor:
        return (torch.randn(outputs, inputs) / inputs**0.5).bfloat16()

    turns = torch.arange(512)[:, None] / 10_000 ** (torch.arange(0, SIZE, 2) / SIZE)
    layers = [
        (
            matrix((HEADS + 2 * KV_HEADS) * SIZE, HIDDEN),
            matrix(HIDDEN, HEADS * SIZE),
            matrix(2 * INNER, HIDDEN),
            matrix(HIDDEN, INNER),
        )
        for _ in range(LAYERS)
    ]
    return Weights(
        layers=layers,
        head=matrix(WORDS, HIDDEN),
        embedding=torch.randn(WORDS, HIDDEN).bfloat16(),
        norms=(1 + torch.randn(2 * LAYERS + 1, HIDDEN) / 5).bfloat16(),
        angles=torch.cat((turns.cos(), turns.sin()), 1),
        heads=HEADS,
        kv_heads=KV_HEADS,
        size=SIZE,
        epsilon=1e-5,
        scaling=SIZE**-0.5,
    )


def reference(weights: Weights, ids: Tensor) -> Tensor:
    """The same Llama in float32, one prompt, without a cache."""
    cos, sin = (part[:, None] for part in weights.angles[: len(ids)].chunk(2, 1))
    norms = iter(weights.norms.float())

    def norm(x: Tensor) -> Tensor:
        return functional.rms_norm(x, (HIDDEN,), next(norms), weights.epsilon)

    def turn(x: Tensor) -> Tensor:
        a, b = x.view(len(ids), -1, SIZE).chunk(2, -1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).transpose(0, 1)

    x = weights.embedding[ids].float()
    for layer in weights.layers:
        qkv, output, gate_up, down = (matrix.float().T for matrix in layer)
        q, key, value = (norm(x) @ qkv).split((HEADS * SIZE, KV_HEADS * SIZE, KV_HEADS * SIZE), 1)
        value = value.view(len(ids), -1, SIZE).transpose(0, 1)
        seen = functional.scaled_dot_product_attention(
            turn(q)[None], turn(key)[None], value[None], is_causal=True, enable_gqa=True
        )
        x = x + seen[0].transpose(0, 1).reshape(len(ids), -1) @ output
        gate, up = (norm(x) @ gate_up).chunk(2, 1)
        x = x + (functional.silu(gate) * up) @ down
    return norm(x) @ weights.head.float().T


class Cache:
    """A decoder with a cache whose slots lie scattered; a request is a row of the table."""

    def __init__(
        self, weights: Weights, *, int8: bool = False, threads: int = 1, processor: Processor | None = None
    ) -> None:
        self.decoder = Decoder(weights, int8=int8, threads=threads, processor=processor)
        shape = (SLOTS, KV_HEADS, SIZE)
        pools = [[torch.full(shape, torch.nan).bfloat16() for _ in range(LAYERS)] for _ in range(2)]
        self.table = torch.randperm(SLOTS)[: REQUESTS * CONTEXT].int().view(REQUESTS, CONTEXT)
        self.decoder.bind(*pools, self.table, rows=64)
        self.filled = [0] * REQUESTS

    def add(self, requests: Sequence[int], news: Sequence[Tensor]) -> Tensor:
        """Logits of the new tokens of some requests."""
        starts = [self.filled[request] for request in requests]
        owners = torch.tensor([r for r, new in zip(requests, news, strict=True) for _ in new])
        positions = torch.cat([s + torch.arange(len(new)) for s, new in zip(starts, news, strict=True)])
        for request, new in zip(requests, news, strict=True):
            self.filled[request] += len(new)
        batch = Batch(
            ids=torch.cat(list(news)),
            positions=positions,
            places=self.table[owners, positions].long(),
            owners=owners,
            news=[len(new) for new in news],
            lengths=[self.filled[request] for request in requests],
        )
        return self.decoder.logits(self.decoder.forward(batch))


def main() -> None:
    weights = model()
    prompts = [
        torch.randint(WORDS, (length,))
        for length in (300, 1, 2, 3, 4, 5, 8, 9, 31, 32, 33, 64, 65, 100, 130, 7, 17)
    ]
    right = [reference(weights, prompt) for prompt in prompts]
    spread = right[0].std()
    errors: dict[str, float] = {}

    def note(name: str, got: Tensor, expected: Tensor) -> None:
        errors[name] = float(((got - expected).abs().max() / spread).nan_to_num(1e9))

    long, expected = prompts[0], right[0]
    note("whole", Cache(weights).add([3], [long]), expected)
    for cut in (1, 15, 16, 17, 63, 64, 65, 127, 128, 129):
        cache = Cache(weights)
        note(
            f"cut at {cut}", torch.cat([cache.add([3], [long[:cut]]), cache.add([3], [long[cut:]])]), expected
        )

    one, three = (Cache(weights, threads=threads) for threads in (1, 3))
    three.table.copy_(one.table)
    requests = list(range(len(prompts)))
    halves = [[p[: len(p) // 2 + 1] for p in prompts], [p[len(p) // 2 + 1 :] for p in prompts]]
    some = [request for request in requests if len(halves[1][request])]
    got = [one.add(requests, halves[0]), one.add(some, [halves[1][r] for r in some])]
    wanted = [
        torch.cat([r[: len(h)] for r, h in zip(right, halves[0], strict=True)]),
        torch.cat([right[r][len(halves[0][r]) :] for r in some]),
    ]
    note("side by side", torch.cat(got), torch.cat(wanted))
    different = float((three.add(requests, halves[0]) - got[0]).abs().max())
    different = max(different, float((three.add(some, [halves[1][r] for r in some]) - got[1]).abs().max()))
    for turn in range(20):
        word = torch.tensor([turn])
        tokens = [word] * (5 + turn % 3)
        fresh = [one.add(range(len(tokens)), tokens), three.add(range(len(tokens)), tokens)]
        different = max(different, float((fresh[0] - fresh[1]).abs().max()))
    errors["three threads"] = different

    for prefix, int8 in (("", False), ("int8, ", True)):
        note(f"{prefix}whole", Cache(weights, int8=int8).add([3], [long]), expected)
        for count in (1, 2, 4, 5, 16, 17):
            steps = one_by_one(Cache(weights, int8=int8), long, count)
            note(
                f"{prefix}one token for {count}",
                steps,
                torch.cat([expected[i : i + 1].expand(count, -1) for i in range(40)]),
            )

    host = Processor.host()
    for missing, families in (
        ("avx512bf16 and avx512vnni", ("avx512bf16", "avx512vnni")),
        ("avx512", ("avx512",)),
    ):
        features = {name: on and not name.startswith(families) for name, on in host.features.items()}
        processor = Processor("x86-64-v3" if missing == "avx512" else host.name, features)
        note(f"without {missing}", Cache(weights, processor=processor).add([3], [long]), expected)
        steps = one_by_one(Cache(weights, int8=True, processor=processor), long, 5)
        note(
            f"int8 without {missing}",
            steps,
            torch.cat([expected[i : i + 1].expand(5, -1) for i in range(40)]),
        )
    sys.stdout.write(json.dumps(errors))


def one_by_one(cache: Cache, ids: Tensor, requests: int) -> Tensor:
    """The same forty tokens for several requests, a token at a time."""
    return torch.cat([cache.add(range(requests), [ids[i : i + 1]] * requests) for i in range(40)])


if __name__ == "__main__":
    main()
