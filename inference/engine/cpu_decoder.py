"""One Llama on this processor: weights in panels, buffers, a program for each forward, and the threads that help."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor

from inference.engine import cpu_kernels as k
from inference.engine.cpu_loops import GROUP, PANEL, Loops, Processor

ALONE_ROWS = 4  # up to so many rows one thread draws all that memory gives; a second would only cost a neighbour's time
SPARE_ROWS = 8  # a tile may compute rows that nobody reads
LINE = 64  # bytes that a processor reads at once
STEP = 256  # the room for keys grows in steps
GENERATIONS = 1 << 22


@dataclass(frozen=True, slots=True)
class Weights:
    """A Llama without biases, in bfloat16; gate and up in one matrix, query, key and value too."""

    layers: Sequence[tuple[Tensor, Tensor, Tensor, Tensor]]  # qkv, o, gate_up, down: [outputs, inputs]
    head: Tensor
    embedding: Tensor
    norms: Tensor  # [2 · layers + 1, hidden]: before attention, before the MLP, …, before the output layer
    angles: Tensor  # [positions, size]: cosines, then sines
    heads: int
    kv_heads: int
    size: int
    epsilon: float
    scaling: float

    @property
    def hidden(self) -> int:
        return self.head.shape[1]

    @property
    def inner(self) -> int:
        return self.layers[0][k.DOWN].shape[1]

    @property
    def projected(self) -> int:
        return (self.heads + 2 * self.kv_heads) * self.size

    def whole_panels(self) -> bool:
        """Whether every matrix divides into panels and groups, which is what the kernels rely on."""
        outputs = (self.projected, self.head.shape[0], self.size)
        inputs = (self.hidden, self.inner, self.heads * self.size)
        return not any(n % PANEL for n in outputs) and not any(n % GROUP for n in inputs)

    def whole_groups(self) -> bool:
        """Whether int8 is possible: what attention writes at once is a head."""
        return self.size % GROUP == 0


@dataclass(frozen=True, slots=True)
class Batch:
    """The new tokens of one forward, those of a request side by side."""

    ids: Tensor  # int64, like the other three
    positions: Tensor
    places: Tensor  # the slot that takes a token's key and value
    owners: Tensor  # a token's request, as a row of the slot table
    news: Sequence[int]  # new tokens of each request
    lengths: Sequence[int]  # tokens of each request, those in the cache included


class Decoder:
    """`forward` and `logits`, for one caller at a time."""

    def __init__(
        self, weights: Weights, *, int8: bool, threads: int, processor: Processor | None = None
    ) -> None:
        self._shape, self._int8 = weights, int8
        self._kept: list[Any] = []  # what the frame holds addresses of
        self._frame = np.zeros(k.FRAME, np.int64)
        self._loops = Loops(weights.heads // weights.kv_heads, weights.size, processor)
        self._set_weights(weights)
        self._rows = self._context = 0
        self._programs: dict[int, np.ndarray] = {}
        self._control, self._generation = np.zeros(k.CONTROL, np.int64), 0
        self._threads = threads
        self._bells = [threading.Event() for _ in range(threads - 1)]
        nothing = np.zeros((0, 3), np.int64)  # compile now, not in the first request
        k.run(k.work.address, nothing, self._control, 0, True, self._frame)
        k.assist(k.work.address, self._control, 0, 0, self._frame)
        for number, bell in enumerate(self._bells, 1):
            threading.Thread(target=self._help, args=(number, bell), daemon=True).start()

    def bind(self, keys: Sequence[Tensor], values: Sequence[Tensor], table: Tensor, *, rows: int) -> None:
        """The cache: for each layer bfloat16 [slots, kv_heads, size], and int32 [requests, context] slots by position.

        `rows` is how many new tokens a forward usually has at most.
        """
        addresses = [np.array([t.data_ptr() for t in tensors], np.int64) for tensors in (keys, values)]
        self._kept += [keys, values]
        self._set(
            {k.KEYS: addresses[0], k.VALUES: addresses[1], k.TABLE: table, k.TABLE_LINE: table.stride(0)}
        )
        self._make_room(rows, table.shape[1])

    def forward(self, batch: Batch) -> Tensor:
        """Normalised hidden states of the new tokens, float32; their keys and values are in the cache afterwards."""
        rows, ids = len(batch.ids), batch.ids.numpy()
        if ids.min() < 0 or ids.max() >= len(self._shape.embedding):
            raise IndexError("A token id lies outside the vocabulary.")
        starts = np.array([0, *accumulate(batch.news)], np.int64)
        out = torch.empty(rows, self._shape.hidden)
        generation = self._open(rows, max(batch.lengths))
        self._point(
            {k.IDS: batch.ids, k.POSITIONS: batch.positions, k.PLACES: batch.places, k.OWNERS: batch.owners,
             k.STARTS: starts, k.OUT: out}
        )  # fmt: skip
        self._run(self._program(rows, batch), rows, generation)
        return out

    def logits(self, hidden: Tensor) -> Tensor:
        """The score of every token of the vocabulary, float32."""
        rows = hidden.shape[0]
        generation = self._open(rows, 1)
        out = torch.empty(rows + SPARE_ROWS, self._shape.head.shape[0])
        self._point({k.OUT: out})
        k.put_inputs(hidden.float().contiguous().numpy(), self._frame)
        chunks = self._chunks(rows, self._shape.head.shape[0])
        self._run(np.array([(k.HEAD, len(self._shape.layers), chunks)], np.int64), rows, generation)
        return out[:rows]

    # ---- programs

    def _program(self, rows: int, batch: Batch) -> np.ndarray:
        """(operation, layer, chunks), in order. Where each request has one new token, only their number matters."""
        single = len(batch.news) == rows
        if single and rows in self._programs:
            return self._programs[rows]
        s, spans = self._shape, -(-rows // k.SPAN)
        attention = [(k.SINGLE, rows * s.kv_heads)]
        if not single:
            attention = []
            for request, (new, length) in enumerate(zip(batch.news, batch.lengths, strict=True)):
                op = k.FIRST_REQUEST + 2 * request
                attention += [(op, -(-length // k.PACK)), (op + 1, -(-new // k.SPAN) * s.kv_heads)]
        phases = [
            (k.NORM_ATTENTION, spans),
            (k.PROJECT, self._chunks(rows, s.projected)),
            (k.TURN, spans),
            *attention,
            (k.ADD_ATTENTION, self._chunks(rows, s.hidden)),
            (k.NORM_MLP, spans),
            (k.EXPAND, self._chunks(rows, 2 * s.inner)),
            (k.ADD_MLP, self._chunks(rows, s.hidden)),
        ]
        layers = [(op, layer, chunks) for layer in range(len(s.layers)) for op, chunks in phases]
        program = np.array([(k.EMBED, 0, spans), *layers, (k.NORM_OUT, len(s.layers), spans)], np.int64)
        if single:
            self._programs[rows] = program
        return program

    @staticmethod
    def _chunks(rows: int, columns: int) -> int:
        panels = columns // PANEL
        return -(-rows // k.BLOCK) * -(-panels // k.width(panels))

    def _open(self, rows: int, longest: int) -> int:
        """A new generation: what a helper still has of the one before is void."""
        self._generation = (self._generation + 1) % GENERATIONS
        self._control[k.WORD] = self._generation << 40
        self._make_room(rows, longest)
        self._set({k.ROWS: rows, k.QUANTISED: int(self._int8 and rows <= k.INT8_ROWS)})
        return self._generation

    def _run(self, program: np.ndarray, rows: int, generation: int) -> None:
        alone = rows <= ALONE_ROWS or not self._bells
        if not alone:
            for bell in self._bells:
                bell.set()
        k.run(k.work.address, program, self._control, generation, alone, self._frame)

    def _help(self, number: int, bell: threading.Event) -> None:
        """Sleeps between forwards: an idle engine costs its neighbours nothing."""
        while bell.wait():
            bell.clear()
            k.assist(k.work.address, self._control, self._generation, number, self._frame)

    # ---- the frame

    def _point(self, places: Mapping[int, Tensor | np.ndarray]) -> None:
        """Addresses of arrays that outlive this forward in the caller's hands."""
        for place, array in places.items():
            self._frame[place] = array.data_ptr() if isinstance(array, Tensor) else array.ctypes.data

    def _set(self, places: Mapping[int, Tensor | np.ndarray | int]) -> None:
        """Numbers, and addresses of arrays that are kept."""
        for place, value in places.items():
            if isinstance(value, int):
                self._frame[place] = value
            else:
                self._kept.append(value)
                self._point({place: value})

    def _set_weights(self, weights: Weights) -> None:
        matrices = {
            (row, column): matrix
            for row, own in enumerate([*weights.layers, (weights.head,)])
            for column, matrix in enumerate(own)
        }
        sizes = [size for matrix in matrices.values() for size in _packed_sizes(matrix.numel(), self._int8)]
        parts = iter(arena(sizes))
        tables = [np.zeros((len(weights.layers) + 1, 4), np.int64) for _ in range(3)]
        for place, matrix in matrices.items():
            order = np.arange(matrix.shape[0])
            if (
                place[1] == k.GATE_UP
            ):  # a group of gate, the same group of up: SiLU(gate) · up needs both in a chunk
                order = order.reshape(2, -1, GROUP).swapaxes(0, 1).flatten()
            packed = [next(parts) for _ in tables]
            k.pack(bits(matrix), order, *packed)
            self._kept += packed
            for table, part in zip(tables, packed, strict=True):
                table[place] = part.ctypes.data
        self._set(
            {k.HIDDEN: weights.hidden, k.INNER: weights.inner, k.HEADS: weights.heads, k.KV_HEADS: weights.kv_heads,
             k.SIZE: weights.size, k.VOCABULARY: weights.head.shape[0], k.EPSILON: _float_bits(weights.epsilon),
             k.SCALING: _float_bits(weights.scaling), k.LOOPS: self._loops.addresses, k.EMBEDDING: weights.embedding,
             k.NORMS: weights.norms.float().contiguous(), k.ANGLES: weights.angles.float().contiguous(),
             k.WEIGHTS: tables[0], k.INT8: tables[1], k.SCALES: tables[2]}
        )  # fmt: skip

    def _make_room(self, rows: int, longest: int) -> None:
        """Buffers for that many new tokens and that long a request; they only ever grow."""
        if rows <= self._rows and longest <= self._context:
            return
        self._rows, self._context = max(rows, self._rows), max(-(-longest // STEP) * STEP, self._context)
        s, lines = self._shape, self._rows + SPARE_ROWS
        scale_line = max(s.hidden, s.inner, s.heads * s.size) // GROUP
        queries = k.SPAN * (s.heads // s.kv_heads) + SPARE_ROWS
        scratch = max(
            s.hidden,
            (k.BLOCK + SPARE_ROWS + 1) * k.width(2 * s.inner // PANEL) * PANEL,
            queries * (s.size + self._context) * 3 // 2 + STEP,
        )
        sizes = {
            k.RESIDUAL: (np.float32, lines * s.hidden),
            k.INPUT: (np.uint16, lines * max(s.hidden, s.heads * s.size)),
            k.INPUT_SCALE: (np.float32, k.INT8_ROWS * scale_line),
            k.INNER_SCALE: (np.float32, k.INT8_ROWS * scale_line),
            k.INNER_INPUT: (np.uint16, lines * s.inner),
            k.PROJECTED: (np.float32, lines * s.projected),
            k.QUERIES: (np.uint16, lines * s.heads * s.size),
            k.PACKED_KEYS: (np.uint16, s.kv_heads * self._context * s.size),
            k.PACKED_VALUES: (np.uint16, s.kv_heads * self._context * s.size),
            k.SCRATCH: (np.float32, self._threads * -(-scratch // 16) * 16),
        }
        self._room = dict(zip(sizes, arena(list(sizes.values())), strict=True))
        self._point(self._room)
        self._set(
            {k.SCALE_LINE: scale_line, k.CONTEXT: self._context, k.SCRATCH_LINE: -(-scratch // 16) * 16}
        )


def arena(sizes: Sequence[tuple[type[Any], int]]) -> list[np.ndarray]:
    """Arrays of zeros, each beginning with a cache line, in one piece of memory.

    numpy asks the system for huge pages where a piece is large; out of small pages a core reads a third less a second.
    """
    places = np.cumsum([0, *(-(-np.dtype(kind).itemsize * count // LINE) * LINE for kind, count in sizes)])
    whole = np.zeros(int(places[-1]) + LINE, np.uint8)
    whole = whole[-whole.ctypes.data % LINE :]
    return [
        whole[at : at + np.dtype(kind).itemsize * count].view(kind)
        for at, (kind, count) in zip(places.tolist(), sizes, strict=False)
    ]


def bits(tensor: Tensor) -> np.ndarray:
    """numpy has no bfloat16; its bits do as well."""
    return tensor.contiguous().view(torch.int16).numpy().view(np.uint16)


def _packed_sizes(count: int, int8: bool) -> list[tuple[type[Any], int]]:
    """Of one matrix: bfloat16, int8, and the scales of the latter."""
    small = count if int8 else 0
    return [(np.uint16, count), (np.int8, small), (np.float32, small // GROUP)]


def _float_bits(value: float) -> int:
    return int(np.float32(value).view(np.int32))
