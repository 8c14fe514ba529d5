"""The phases of a Llama forward, in Python loops that LLVM (numba) compiles once and keeps on disk.

A forward is a program: rows of (operation, layer, number of chunks). `run` goes through it, every thread inside
`assist` takes chunks of the phase that is open, `work` computes one. Between the matrices everything is float32;
inputs of a matrix are bfloat16, or int16 with a scale for each group where weights are int8.

What a chunk needs stands in one array of integers, the frame: dimensions, and addresses of arrays that the caller
keeps alive. Whatever is compiled stays in this file, because numba's cache notices a change of the file and of no other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from inference.engine.cpu_loops import GROUP, MIX, PANEL, SCORES

INT8_ROWS = 16  # above, int8 weights cost more arithmetic than they save memory traffic
BLOCK = 64  # rows of one chunk of a product
SPAN = 16  # rows of one chunk of everything else; new tokens of one chunk of an attention
PACK = 128  # keys of one chunk of a repacking

# Operations. From FIRST_REQUEST on, pairs of repacking and attention, one pair for each request of an extend.
EMBED, NORM_ATTENTION, NORM_MLP, NORM_OUT, TURN, SINGLE, PROJECT, ADD_ATTENTION, ADD_MLP, EXPAND, HEAD = range(11)  # fmt: skip
FIRST_REQUEST = 100

# Columns of the tables of matrices. In the row behind the last layer, the first is the output layer.
QKV, OUTPUT, GATE_UP, DOWN = range(4)

# The frame. Lines without a comment are dimensions.
(
    HIDDEN, INNER, HEADS, KV_HEADS, SIZE, VOCABULARY, CONTEXT,
    EPSILON, SCALING,  # bits of a float32
    LOOPS,  # int64, addresses of the innermost loops
    EMBEDDING,  # uint16 [vocabulary, hidden]; bfloat16 bits, like every uint16 below
    NORMS,  # float32 [2 · layers + 1, hidden]
    ANGLES,  # float32 [positions, size]: cosines, then sines
    WEIGHTS, INT8, SCALES,  # int64 [layers + 1, 4], addresses of panels
    KEYS, VALUES,  # int64 [layers], addresses of uint16 [slots, kv_heads · size]
    TABLE, TABLE_LINE,  # int32 [requests, TABLE_LINE]: a request's slots in the order of its tokens
    RESIDUAL,  # float32 [rows, hidden]
    INPUT, INNER_INPUT,  # uint16 [rows, max(hidden, heads · size)], [rows, inner]
    INPUT_SCALE, INNER_SCALE, SCALE_LINE,  # float32 [INT8_ROWS, SCALE_LINE]
    PROJECTED,  # float32 [rows, (heads + 2 · kv_heads) · size]
    QUERIES,  # uint16 [rows, heads · size]
    PACKED_KEYS,  # uint32 [kv_heads, CONTEXT / PANEL, size / 2, PANEL], pairs along the head
    PACKED_VALUES,  # uint32 [kv_heads, size / PANEL, CONTEXT / 2, PANEL], pairs of neighbouring keys
    SCRATCH, SCRATCH_LINE,  # float32 [threads, SCRATCH_LINE]
    ROWS, IDS, POSITIONS, PLACES,  # int64 [rows]; a place is the slot that takes the row's key and value
    OWNERS,  # int64 [rows], rows of TABLE
    STARTS,  # int64 [requests + 1]: the rows of a request lie side by side
    QUANTISED,  # 1: weights are int8 in this forward
    OUT,  # float32 [rows, hidden] of a forward, [rows, vocabulary] of the output layer
    FRAME,
) = range(41)  # fmt: skip

Array = Any  # numba knows which
FAST = {"reassoc", "contract", "arcp", "nsz"}
compiled = njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")


# ---- words that Python does not have

_I64 = ir.IntType(64)
_INT, _VOID = types.intp, types.void


def _calls(count: int) -> Any:
    """A call of an address with `count` integers."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_I64] * count)
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return _VOID(*[_INT] * (count + 1)), generate


@intrinsic
def _call_5(context: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    return _calls(5)


@intrinsic
def _call_7(context: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> Any:
    return _calls(7)


@intrinsic
def _call_10(
    context: Any, function: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any, j: Any
) -> Any:  # fmt: skip
    return _calls(10)


@intrinsic
def _pointer(context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(_INT), generate


@intrinsic
def _read(context: Any, address: Any) -> Any:
    """What another thread may write; in order with everything else, like the three that follow."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(arguments[0], _I64.as_pointer()), "seq_cst", 8)

    return _INT(_INT), generate


@intrinsic
def _write(context: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], _I64.as_pointer())
        builder.store_atomic(arguments[1], place, "seq_cst", 8)
        return context.get_dummy_value()

    return _VOID(_INT, _INT), generate


@intrinsic
def _add(context: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], _I64.as_pointer())
        return builder.atomic_rmw("add", place, arguments[1], "seq_cst")

    return _INT(_INT, _INT), generate


@intrinsic
def _replace(context: Any, address: Any, seen: Any, value: Any) -> Any:
    """Write `value` if `seen` still stands there; says whether it did."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = builder.inttoptr(arguments[0], _I64.as_pointer())
        return builder.extract_value(builder.cmpxchg(place, *arguments[1:], "seq_cst", "seq_cst"), 1)

    return types.boolean(_INT, _INT, _INT), generate


_sched_yield = types.ExternalFunction("sched_yield", types.int32())


# ---- small arithmetic


@compiled
def _widen(bits: int) -> Any:
    return np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32)


@compiled
def _narrow(value: float) -> Any:
    """The nearest bfloat16, ties to even."""
    bits = np.float32(value).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    return np.uint16(np.uint32(bits + np.uint32(0x7FFF) + odd) >> np.uint32(16))


@compiled
def _exp(value: float) -> Any:
    """e to a power between −87 and 88, to about two units in the last place; libm's would not be vectorised."""
    x = min(max(np.float32(value), np.float32(-87.0)), np.float32(88.0)) * np.float32(1.4426950408889634)
    whole = np.floor(x + np.float32(0.5))
    r = x - whole
    p = np.float32(0.0013333558146428443)
    p = p * r + np.float32(0.009618129107628477)
    p = p * r + np.float32(0.05550410866482158)
    p = p * r + np.float32(0.2402265069591007)
    p = p * r + np.float32(0.6931471805599453)
    p = p * r + np.float32(1.0)
    return p * np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)).view(np.float32)


@compiled
def _put(values: Array, out: Array, scale: Array, quantised: int) -> None:
    """Store float32 `values` as inputs of a matrix."""
    if not quantised:
        for i in range(values.shape[0]):
            out[i] = _narrow(values[i])
        return
    for group in range(values.shape[0] // GROUP):
        part = values[group * GROUP : (group + 1) * GROUP]
        largest = np.float32(1e-20)
        for i in range(GROUP):
            largest = max(largest, abs(part[i]))
        factor = np.float32(32767.0) / largest
        for i in range(GROUP):
            out[group * GROUP + i] = np.uint16(np.int32(np.rint(part[i] * factor)))
        scale[group] = largest / np.float32(32767.0)


@compiled
def _norm(row: Array, weight: Array, epsilon: float, out: Array) -> None:
    total = np.float32(0.0)
    for i in range(row.shape[0]):
        total += row[i] * row[i]
    factor = np.float32(1.0) / np.sqrt(total / np.float32(row.shape[0]) + epsilon)
    for i in range(row.shape[0]):
        out[i] = row[i] * factor * weight[i]


@compiled
def _largest(scores: Array, seen: int) -> Any:
    """By their bits, turned so that they order like integers: LLVM keeps a maximum of floats in order, for the sake of NaN."""
    bits = carray(_pointer(scores.ctypes.data), (seen,), np.int32)
    top = np.int32(-(2**31))
    for t in range(seen):
        top = max(top, np.int32(bits[t] ^ ((bits[t] >> np.int32(31)) & np.int32(0x7FFFFFFF))))
    return np.int32(top ^ ((top >> np.int32(31)) & np.int32(0x7FFFFFFF))).view(np.float32)


@compiled
def _activate(gate_up: Array, out: Array) -> None:
    """SiLU(gate) · up: a group of columns of gate, then the same group of up."""
    for i in range(GROUP):
        out[i] = gate_up[i] / (np.float32(1.0) + _exp(-gate_up[i])) * gate_up[GROUP + i]


@compiled
def _rotate(source: Array, angles: Array, half: int, target: Array) -> None:
    for i in range(half):
        target[i] = _narrow(source[i] * angles[i] - source[half + i] * angles[half + i])
    for i in range(half):
        target[half + i] = _narrow(source[half + i] * angles[i] + source[i] * angles[half + i])


# ---- arrays of the frame


@compiled
def _floats(address: int, rows: int, line: int) -> Array:
    return carray(_pointer(address), (rows, line), np.float32)


@compiled
def _halves(address: int, rows: int, line: int) -> Array:
    return carray(_pointer(address), (rows, line), np.uint16)


@compiled
def _words(address: int, rows: int, line: int) -> Array:
    return carray(_pointer(address), (rows, line), np.uint32)


@compiled
def _longs(address: int, count: int) -> Array:
    return carray(_pointer(address), (count,), np.int64)


@compiled
def _real(bits: int) -> Any:
    return np.int32(bits).view(np.float32)


@compiled
def _scales(address: int, f: Array, row: int, first: int) -> Array:
    """Where the scales of a row's inputs stand, from the group of input `first` on. Unused where weights are bfloat16."""
    return _floats(address, INT8_ROWS, f[SCALE_LINE])[min(row, INT8_ROWS - 1), first // GROUP :]


@compiled
def _scratch(f: Array, thread: int) -> Array:
    return _floats(f[SCRATCH] + thread * f[SCRATCH_LINE] * 4, 1, f[SCRATCH_LINE])[0]


# ---- operations


@compiled
def _normalise(f: Array, which: int, chunk: int, thread: int) -> None:
    hidden, rows = f[HIDDEN], f[ROWS]
    residual, weight = _floats(f[RESIDUAL], rows, hidden), _floats(f[NORMS], which + 1, hidden)[which]
    inputs, out = _halves(f[INPUT], rows, max(hidden, f[HEADS] * f[SIZE])), _scratch(f, thread)[:hidden]
    for row in range(chunk * SPAN, min((chunk + 1) * SPAN, rows)):
        _norm(residual[row], weight, _real(f[EPSILON]), out)
        _put(out, inputs[row], _scales(f[INPUT_SCALE], f, row, 0), f[QUANTISED])


@compiled
def _product(
    loops: Array, a: int, a_line: int, a_scale: int, a_scale_line: int, panel: int, panel_line: int, scale: int,
    scale_line: int, steps: int, out: int, out_line: int, rows: int, panels: int, keep: int,
) -> None:  # fmt: skip
    """Tile by tile. The last tile of the rows may compute up to six rows that nobody reads; buffers have room for them."""
    for _ in range(panels):
        row = 0
        while row < rows:
            which, height = (0, 8) if rows - row > 4 else (1, 4) if rows - row > 1 else (2, 1)
            _call_10(
                loops[which], a + row * a_line, a_line, a_scale + row * a_scale_line, a_scale_line, panel, scale,
                steps, out + row * out_line, out_line, keep,
            )  # fmt: skip
            row += height
        panel += panel_line
        scale += scale_line
        out += PANEL * 4


@compiled
def width(panels: int) -> int:
    """Panels of one chunk: enough chunks for every thread, and whole groups where the output is quantised again."""
    return 12 if panels >= 48 else 4


@compiled
def _multiply(op: int, f: Array, layer: int, chunk: int, thread: int) -> None:
    """One chunk of a matrix, with what follows it while its output is at hand: the residual's sum, or SiLU(gate) · up."""
    hidden, inner, span = f[HIDDEN], f[INNER], (f[HEADS] + 2 * f[KV_HEADS]) * f[SIZE]
    source, scales, inputs, line, keep = f[INPUT], f[INPUT_SCALE], hidden, max(hidden, f[HEADS] * f[SIZE]), 0
    if op == PROJECT:
        which, columns, out = QKV, span, f[PROJECTED]
    elif op == ADD_ATTENTION:
        which, columns, out, inputs, keep = OUTPUT, hidden, f[RESIDUAL], f[HEADS] * f[SIZE], 1
    elif op == ADD_MLP:
        which, columns, out, inputs, keep = DOWN, hidden, f[RESIDUAL], inner, 1
        source, scales, line = f[INNER_INPUT], f[INNER_SCALE], inner
    elif op == HEAD:
        which, columns, out = 0, f[VOCABULARY], f[OUT]
    else:
        which, columns, out = GATE_UP, 2 * inner, 0
    panels, rows = columns // PANEL, f[ROWS]
    blocks, wide = (rows + BLOCK - 1) // BLOCK, width(panels)
    row, first = chunk % blocks * BLOCK, chunk // blocks * wide
    count, many = min(BLOCK, rows - row), min(wide, panels - first)
    if op == EXPAND:
        place, step = _scratch(f, thread).ctypes.data, wide * PANEL * 4
    else:
        place, step = out + (row * columns + first * PANEL) * 4, columns * 4

    loops, at = _longs(f[LOOPS], 8), layer * 4 + which
    if f[QUANTISED]:
        loops = loops[3:]
        panel_line, scale_line = inputs * PANEL, inputs // GROUP * PANEL * 4
        panel, scale = _longs(f[INT8], at + 1)[at], _longs(f[SCALES], at + 1)[at]
    else:
        panel_line, scale_line = inputs * PANEL * 2, 0
        panel, scale = _longs(f[WEIGHTS], at + 1)[at], 0
    _product(
        loops, source + row * line * 2, line * 2, scales, f[SCALE_LINE] * 4, panel + first * panel_line,
        panel_line, scale + first * scale_line, scale_line, inputs // 2, place, step, count, many, keep,
    )  # fmt: skip
    if op != EXPAND:
        return
    halves = _halves(f[INNER_INPUT], rows, inner)
    lines, values = _floats(place, count, wide * PANEL), _scratch(f, thread)[(BLOCK + 8) * wide * PANEL :]
    for r in range(count):
        for group in range(many * PANEL // (2 * GROUP)):
            _activate(lines[r, group * 2 * GROUP :], values[group * GROUP :])
        _put(
            values[: many * 16],
            halves[row + r, first * 16 :],
            _scales(f[INNER_SCALE], f, row + r, first * 16),
            f[QUANTISED],
        )


@compiled
def _turn(f: Array, layer: int, chunk: int) -> None:
    """Rotary embedding of queries and keys; keys and values go to their slots."""
    heads, kv_heads, size, rows = f[HEADS], f[KV_HEADS], f[SIZE], f[ROWS]
    half, span = size // 2, kv_heads * size
    positions, places = _longs(f[POSITIONS], rows), _longs(f[PLACES], rows)
    projected, queries = (
        _floats(f[PROJECTED], rows, heads * size + 2 * span),
        _halves(f[QUERIES], rows, heads * size),
    )
    for row in range(chunk * SPAN, min((chunk + 1) * SPAN, rows)):
        place, position, source = places[row], positions[row], projected[row]
        angles = _floats(f[ANGLES], position + 1, size)[position]
        keys = _halves(_longs(f[KEYS], layer + 1)[layer], place + 1, span)[place]
        values = _halves(_longs(f[VALUES], layer + 1)[layer], place + 1, span)[place]
        for head in range(heads):
            _rotate(source[head * size :], angles, half, queries[row, head * size :])
        for head in range(kv_heads):
            _rotate(source[(heads + head) * size :], angles, half, keys[head * size :])
        for i in range(span):
            values[i] = _narrow(source[heads * size + span + i])


@compiled
def _attend_single(f: Array, layer: int, chunk: int, thread: int) -> None:
    """One token and one KV head: keys and values are read where they lie."""
    row, head = chunk // f[KV_HEADS], chunk % f[KV_HEADS]
    size, group, rows = f[SIZE], f[HEADS] // f[KV_HEADS], f[ROWS]
    line, base = f[KV_HEADS] * size * 2, head * group * size
    seen = _longs(f[POSITIONS], rows)[row] + 1
    slots = f[TABLE] + _longs(f[OWNERS], rows)[row] * f[TABLE_LINE] * 4
    loops, scratch = _longs(f[LOOPS], 8), _scratch(f, thread)
    out, scores = scratch[: group * size], scratch[group * size : group * (size + seen)]
    q = f[QUERIES] + (row * f[HEADS] * size + base) * 2
    keys, values = _longs(f[KEYS], layer + 1)[layer], _longs(f[VALUES], layer + 1)[layer]
    place, scaling = scores.ctypes.data, _real(f[SCALING])
    _call_7(loops[SCORES], keys + head * size * 2, line, slots, seen, q, place, seen * 4)
    for g in range(group):
        weights = scores[g * seen : (g + 1) * seen]
        top, total = _largest(weights, seen), np.float32(0.0)
        for t in range(seen):
            weights[t] = _exp((weights[t] - top) * scaling)
            total += weights[t]
        for t in range(seen):
            weights[t] /= total
    _call_7(loops[MIX], values + head * size * 2, line, slots, seen, place, seen * 4, out.ctypes.data)
    inputs = _halves(f[INPUT], rows, max(f[HIDDEN], f[HEADS] * size))
    _put(out, inputs[row, base:], _scales(f[INPUT_SCALE], f, row, base), f[QUANTISED])


@compiled
def _repack(f: Array, layer: int, request: int, chunk: int) -> None:
    """Keys and values of one request from their slots into panels, so that attention is a product like any other."""
    size, kv_heads, context = f[SIZE], f[KV_HEADS], f[CONTEXT]
    half, span = size // 2, kv_heads * size
    starts = _longs(f[STARTS], request + 2)
    last = starts[request + 1] - 1
    length = _longs(f[POSITIONS], last + 1)[last] + 1
    owner = _longs(f[OWNERS], last + 1)[last]
    slots = carray(_pointer(f[TABLE] + owner * f[TABLE_LINE] * 4), (length,), np.int32)
    first, end = chunk * PACK, min((chunk + 1) * PACK, (length + PANEL - 1) // PANEL * PANEL)
    key_pool, value_pool = _longs(f[KEYS], layer + 1)[layer], _longs(f[VALUES], layer + 1)[layer]
    packed_keys = _words(f[PACKED_KEYS], kv_heads * context // PANEL * half, PANEL)
    packed_values = _words(f[PACKED_VALUES], kv_heads * (size // PANEL) * context // 2, PANEL)
    for t in range(first, end):
        source = _words(key_pool + np.int64(slots[min(t, length - 1)]) * span * 2, 1, span // 2)[0]
        for head in range(kv_heads):
            line = (head * (context // PANEL) + t // PANEL) * half
            for i in range(half):
                packed_keys[line + i, t % PANEL] = source[head * half + i]
    for pair in range(first // 2, end // 2):
        even, odd = 2 * pair, 2 * pair + 1
        low = _halves(value_pool + np.int64(slots[min(even, length - 1)]) * span * 2, 1, span)[0]
        high = _halves(value_pool + np.int64(slots[min(odd, length - 1)]) * span * 2, 1, span)[0]
        keep_low, keep_high = np.uint32(even < length), np.uint32(odd < length)
        for part in range(kv_heads * (size // PANEL)):
            panel = packed_values[part * (context // 2) + pair]
            for i in range(PANEL):
                at = part * PANEL + i
                panel[i] = np.uint32(low[at]) * keep_low | (np.uint32(high[at]) * keep_high) << np.uint32(16)


@compiled
def _attend(f: Array, request: int, chunk: int, thread: int) -> None:
    """A block of new tokens of one request and one KV head, against the repacked cache."""
    kv_heads, size, group, rows, context = f[KV_HEADS], f[SIZE], f[HEADS] // f[KV_HEADS], f[ROWS], f[CONTEXT]
    head, block = chunk % kv_heads, chunk // kv_heads
    starts, positions = _longs(f[STARTS], request + 2), _longs(f[POSITIONS], rows)
    begin = starts[request] + block * SPAN
    end = min(begin + SPAN, starts[request + 1])
    lines, panels = (end - begin) * group, (positions[end - 1] + PANEL) // PANEL
    width, spare, base = panels * PANEL, SPAN * group + 8, head * group * size
    scratch, loops, scaling = _scratch(f, thread), _longs(f[LOOPS], 8), _real(f[SCALING])
    out = _floats(scratch.ctypes.data, spare, size)
    scores = _floats(scratch.ctypes.data + spare * size * 4, spare, width)
    q = _halves(scratch.ctypes.data + spare * (size + width) * 4, spare, size)
    weights = _halves(scratch.ctypes.data + spare * (size + width) * 4 + spare * size * 2, spare, width)
    queries = _halves(f[QUERIES], rows, f[HEADS] * size)
    for line in range(lines):
        source = queries[begin + line // group, base + line % group * size :]
        for i in range(size):
            q[line, i] = source[i]
    keys = f[PACKED_KEYS] + head * context * size * 2
    values = f[PACKED_VALUES] + head * context * size * 2
    _product(
        loops, q.ctypes.data, size * 2, 0, 0, keys, size * PANEL * 2, 0, 0, size // 2,
        scores.ctypes.data, width * 4, lines, panels, 0,
    )  # fmt: skip
    for line in range(lines):
        own, to, seen = scores[line], weights[line], positions[begin + line // group] + 1
        top, total = _largest(own, seen), np.float32(0.0)
        for t in range(seen):
            value = _exp((own[t] - top) * scaling)
            total += value
            to[t] = _narrow(value)
        for t in range(seen, width):
            to[t] = np.uint16(0)
        own[0] = np.float32(1.0) / total
    _product(
        loops, weights.ctypes.data, width * 2, 0, 0, values, context // 2 * PANEL * 4, 0, 0, width // 2,
        out.ctypes.data, size * 4, lines, size // PANEL, 0,
    )  # fmt: skip
    inputs = _halves(f[INPUT], rows, max(f[HIDDEN], f[HEADS] * size))
    for line in range(lines):
        row, at = begin + line // group, base + line % group * size
        for i in range(size):
            out[line, i] *= scores[line, 0]
        _put(out[line], inputs[row, at:], _scales(f[INPUT_SCALE], f, row, at), f[QUANTISED])


@cfunc(_VOID(*[_INT] * 5), nopython=True, cache=True, fastmath=FAST, error_model="numpy")
def work(op: int, layer: int, chunk: int, thread: int, frame: int) -> None:
    """One chunk of one phase."""
    f = _longs(frame, FRAME)
    rows, hidden = f[ROWS], f[HIDDEN]
    first, last = chunk * SPAN, min((chunk + 1) * SPAN, rows)
    if op == EMBED:
        residual, ids = _floats(f[RESIDUAL], rows, hidden), _longs(f[IDS], rows)
        for row in range(first, last):
            source = _halves(f[EMBEDDING] + ids[row] * hidden * 2, 1, hidden)[0]
            for i in range(hidden):
                residual[row, i] = _widen(source[i])
    elif op == NORM_ATTENTION:
        _normalise(f, 2 * layer, chunk, thread)
    elif op == NORM_MLP:
        _normalise(f, 2 * layer + 1, chunk, thread)
    elif op == NORM_OUT:
        residual, out = _floats(f[RESIDUAL], rows, hidden), _floats(f[OUT], rows, hidden)
        weight = _floats(f[NORMS], 2 * layer + 1, hidden)[2 * layer]
        for row in range(first, last):
            _norm(residual[row], weight, _real(f[EPSILON]), out[row])
    elif op == TURN:
        _turn(f, layer, chunk)
    elif op == SINGLE:
        _attend_single(f, layer, chunk, thread)
    elif op <= HEAD:
        _multiply(op, f, layer, chunk, thread)
    elif (op - FIRST_REQUEST) % 2 == 0:
        _repack(f, layer, (op - FIRST_REQUEST) // 2, chunk)
    else:
        _attend(f, (op - FIRST_REQUEST) // 2, chunk, thread)


@compiled
def put_inputs(hidden: Array, f: Array) -> None:
    """Hidden states as inputs of the output layer."""
    rows = hidden.shape[0]
    inputs = _halves(f[INPUT], rows, max(f[HIDDEN], f[HEADS] * f[SIZE]))
    for row in range(rows):
        _put(hidden[row], inputs[row], _scales(f[INPUT_SCALE], f, row, 0), f[QUANTISED])


@compiled
def pack(matrix: Array, order: Array, panels: Array, int8: Array, scales: Array) -> None:
    """bfloat16 [outputs, inputs] into panels [outputs / 32, inputs / 2, 32, 2], its rows in another order.

    Where `int8` is not empty, also into int8 panels and their scales [outputs / 32, groups, 32]: symmetric, one scale
    for each output and group of inputs.
    """
    inputs = matrix.shape[1]
    for row in range(matrix.shape[0]):
        source, place = matrix[order[row]], row // PANEL * inputs * PANEL + row % PANEL * 2
        for i in range(inputs // 2):
            panels[place + 2 * PANEL * i] = source[2 * i]
            panels[place + 2 * PANEL * i + 1] = source[2 * i + 1]
        if int8.shape[0] == 0:
            continue
        for group in range(inputs // GROUP):
            largest = np.float32(1e-8)
            for i in range(group * GROUP, (group + 1) * GROUP):
                largest = max(largest, abs(_widen(source[i])))
            factor = np.float32(127.0) / largest
            for i in range(group * GROUP, (group + 1) * GROUP):
                at = place + i // 2 * 2 * PANEL + i % 2
                int8[at] = np.int8(np.int32(np.rint(_widen(source[i]) * factor)))
            at = (row // PANEL * (inputs // GROUP) + group) * PANEL + row % PANEL
            scales[at] = largest / np.float32(127.0)


# ---- threads
# One word holds all that a claim depends on: whose forward (22 bits), how many chunks the phase has (20), which is next
# (20). A thread swaps the word for its successor or has nothing, so what it read can never be stale. Nobody waits for a
# helper to come, only for chunks that one has taken: a helper that the system has put aside delays a forward little.

WORD, DONE, OP, LAYER, CONTROL = 0, 16, 32, 33, 64  # places in the control array, in cache lines of their own
PATIENCE = 2_000  # turns before a waiting thread offers its core to others


@compiled
def _take(code: int, control: Array, generation: int, thread: int, frame: Array) -> int:
    """Work until no chunk of the open phase is left. The number of chunks done, or −1 if the forward is another."""
    word, own = control.ctypes.data + WORD * 8, 0
    while True:
        seen = _read(word)
        if seen >> 40 != generation:
            return -1
        chunk = seen & 0xFFFFF
        if chunk >= seen >> 20 & 0xFFFFF:
            return own
        if _replace(word, seen, seen + 1):
            _call_5(code, control[OP], control[LAYER], chunk, thread, frame.ctypes.data)
            own += 1
            if thread:
                _add(control.ctypes.data + DONE * 8, 1)


@compiled
def assist(code: int, control: Array, generation: int, thread: int, frame: Array) -> None:
    """Take chunks until this forward is over."""
    idle = 0
    while True:
        own = _take(code, control, generation, thread, frame)
        if own < 0:
            return
        idle = 0 if own else idle + 1
        if idle > PATIENCE:
            _sched_yield()


@compiled
def run(code: int, program: Array, control: Array, generation: int, alone: bool, frame: Array) -> None:
    """Go through the phases; each begins when every chunk of the one before it is done."""
    word, done = control.ctypes.data + WORD * 8, control.ctypes.data + DONE * 8
    for phase in range(program.shape[0]):
        op, layer, chunks = program[phase, 0], program[phase, 1], program[phase, 2]
        if alone or chunks == 1:
            for chunk in range(chunks):
                _call_5(code, op, layer, chunk, 0, frame.ctypes.data)
            continue
        control[OP], control[LAYER] = op, layer
        _write(done, 0)
        _write(word, generation << 40 | chunks << 20)
        own, idle = _take(code, control, generation, 0, frame), 0
        while _read(done) + own < chunks:
            idle += 1
            if idle > PATIENCE:
                _sched_yield()
    _write(word, (generation + 1) << 40)
