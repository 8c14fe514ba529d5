"""The innermost loops of the decoder, written in LLVM's words: Python has none for multiplying pairs of numbers.

Two instructions carry a forward: `vdpbf16ps` multiplies sixteen pairs of bfloat16 and adds each to a float32,
`vpdpwssd` does so with pairs of int16 and int32. Where a processor lacks one, LLVM gets the same sum in plain
operations. Every loop takes integers only (addresses, strides in bytes, counts), so Python can call it by address.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils

PANEL = 32  # columns of a weight panel: two vectors of sixteen
AHEAD = 12  # turns between asking for a row of the cache and using it
GROUP = 64  # inputs that share one scale where weights are int8
TILES = (
    (8, False),
    (4, False),
    (1, False),
    (8, True),
    (4, True),
    (1, True),
)  # rows, whether weights are int8
SCORES, MIX = len(TILES), len(TILES) + 1  # places of the other two loops behind the tiles

_I16, _I32, _I64, _F32 = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
_FLOATS, _INTS = ir.VectorType(_F32, 16), ir.VectorType(_I32, 16)
_BYTES, _SHORTS, _WIDE = (ir.VectorType(ir.IntType(bits), 32) for bits in (8, 16, 32))


class _BFloat(ir.Type):
    """LLVM's bfloat, which llvmlite does not name."""

    def _to_string(self) -> str:
        return "bfloat"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _BFloat)

    def __hash__(self) -> int:
        return hash(_BFloat)


@dataclass(frozen=True, slots=True)
class Processor:
    """What the loops are compiled for."""

    name: str
    features: dict[str, bool]

    @classmethod
    def host(cls) -> Processor:
        return cls(binding.get_host_cpu_name(), dict(binding.get_host_cpu_features()))

    @property
    def registers(self) -> int:
        """Sums of sixteen numbers that a loop may keep at hand."""
        return 24 if self.features.get("avx512f") else 4


class _Loop:
    """A function under construction: its arguments, and words for what the loops have in common."""

    def __init__(self, module: ir.Module, name: str, arguments: int, processor: Processor) -> None:
        kind = ir.FunctionType(ir.VoidType(), [_I64] * arguments)
        self.function = ir.Function(module, kind, name)
        self.arguments = self.function.args
        self.builder = ir.IRBuilder(self.function.append_basic_block())
        self.processor = processor

    def place(self, base: Any, *products: tuple[Any, Any]) -> Any:
        """base + Σ a · b."""
        for one, other in products:
            one, other = (_I64(x) if isinstance(x, int) else x for x in (one, other))
            base = self.builder.add(base, self.builder.mul(one, other))
        return base

    def load(self, kind: ir.Type, base: Any, *products: tuple[Any, Any]) -> Any:
        address = self.builder.inttoptr(self.place(base, *products), kind.as_pointer())
        return self.builder.load(address, align=2)

    def save(self, value: Any, base: Any, *products: tuple[Any, Any]) -> None:
        address = self.builder.inttoptr(self.place(base, *products), value.type.as_pointer())
        self.builder.store(value, address, align=4)

    def variable(self, kind: ir.Type) -> Any:
        return cgutils.alloca_once_value(self.builder, kind([0] * 16 if kind is _INTS else [0.0] * 16))

    def splat(self, value: Any, kind: ir.Type) -> Any:
        one = self.builder.insert_element(kind(ir.Undefined), value, _I32(0))
        return self.builder.shuffle_vector(one, one, ir.VectorType(_I32, 16)([0] * 16))

    def call(self, name: str, kind: ir.Type, *arguments: Any) -> Any:
        declared = ir.FunctionType(kind, [argument.type for argument in arguments])
        return self.builder.call(
            cgutils.get_or_insert_function(self.builder.module, declared, name), arguments
        )

    def fused(self, one: Any, other: Any, total: Any) -> Any:
        return self.call("llvm.fma.v16f32", _FLOATS, one, other, total)

    def dot_bfloat(self, total: Any, one: Any, other: Any) -> Any:
        """total + the products of sixteen pairs of bfloat16, given as sixteen words."""
        b = self.builder
        if self.processor.features.get("avx512bf16"):
            pairs = ir.VectorType(_BFloat(), 32)
            name = "llvm.x86.avx512bf16.dpbf16ps.512"
            return self.call(name, _FLOATS, total, b.bitcast(one, pairs), b.bitcast(other, pairs))
        low, high = (b.shl, _INTS([16] * 16)), (b.and_, _INTS([0xFFFF0000] * 16))
        for pick, operand in (low, high):
            left, right = (b.bitcast(pick(words, operand), _FLOATS) for words in (one, other))
            total = self.fused(left, right, total)
        return total

    def dot_short(self, total: Any, one: Any, other: Any) -> Any:
        """total + the products of sixteen pairs of int16, given as sixteen words."""
        b = self.builder
        if self.processor.features.get("avx512vnni"):
            return self.call("llvm.x86.avx512.vpdpwssd.512", _INTS, total, one, other)
        products = b.mul(*(b.sext(b.bitcast(words, _SHORTS), _WIDE) for words in (one, other)))
        for odd in (0, 1):
            lanes = ir.VectorType(_I32, 16)([2 * i + odd for i in range(16)])
            total = b.add(total, b.shuffle_vector(products, products, lanes))
        return total

    def fetch(self, slots: Any, t: Any, count: Any, base: Any, line: Any, length: int) -> None:
        """Ask for the row that comes a few turns later: rows lie wherever the allocator had room."""
        b = self.builder
        later, last = b.add(t, _I64(AHEAD)), b.sub(count, _I64(1))
        later = b.select(b.icmp_signed("<", later, last), later, last)
        slot = b.sext(self.load(_I32, slots, (later, 4)), _I64)
        for part in range(0, length, 64):
            pointer = b.inttoptr(self.place(base, (slot, line), (part, 1)), ir.IntType(8).as_pointer())
            self.call("llvm.prefetch.p0", ir.VoidType(), pointer, _I32(0), _I32(3), _I32(1))

    def times(self, count: Any, body: Callable[[Any], None]) -> None:
        with cgutils.for_range(self.builder, count) as loop:
            body(loop.index)


def _tile(module: ir.Module, rows: int, int8: bool, processor: Processor) -> None:
    """out[rows, 32] (+)= a[rows, 2 · steps] · one panel.

    int8 weights meet int16 inputs and are summed as integers within a group of inputs, whose two scales are applied
    then. `keep` adds to what is in `out`.
    """
    at_once = min(rows, processor.registers // 2)
    loop = _Loop(module, f"tile_{rows}_{'int8' if int8 else 'bfloat'}", 10, processor)
    for first in range(0, rows, at_once):
        _rows_of_tile(loop, range(first, first + at_once), int8)
    loop.builder.ret_void()


def _rows_of_tile(loop: _Loop, rows: range, int8: bool) -> None:
    a, a_line, a_scale, a_scale_line, panel, scale, steps, out, out_line, keep = loop.arguments
    b = loop.builder
    cells = [(row, half) for row in rows for half in (0, 1)]
    sums = {cell: loop.variable(_FLOATS) for cell in cells}
    parts = {cell: loop.variable(_INTS) for cell in cells} if int8 else {}
    for total in sums.values():
        b.store(_FLOATS([0.0] * 16), total)
    with b.if_then(cgutils.is_not_null(b, keep)):
        for row, half in cells:
            b.store(loop.load(_FLOATS, out, (out_line, row), (64, half)), sums[row, half])

    def step(index: Any) -> None:
        if int8:
            narrow = [loop.load(_BYTES, panel, (index, 64), (32, half)) for half in (0, 1)]
            weights = [b.bitcast(b.sext(part, _SHORTS), _INTS) for part in narrow]
        else:
            weights = [loop.load(_INTS, panel, (index, 128), (64, half)) for half in (0, 1)]
        for row in rows:
            pair = loop.splat(loop.load(_I32, a, (a_line, row), (index, 4)), _INTS)
            for half in (0, 1):
                total, dot = (
                    (parts[row, half], loop.dot_short) if int8 else (sums[row, half], loop.dot_bfloat)
                )
                b.store(dot(b.load(total), weights[half], pair), total)

    def group(index: Any) -> None:
        for part in parts.values():
            b.store(_INTS([0] * 16), part)
        loop.times(_I64(GROUP // 2), lambda inner: step(loop.place(inner, (index, GROUP // 2))))
        factors = [loop.load(_FLOATS, scale, (index, 4 * PANEL), (64, half)) for half in (0, 1)]
        for row in rows:
            own = loop.splat(loop.load(_F32, a_scale, (a_scale_line, row), (index, 4)), _FLOATS)
            for half in (0, 1):
                value = b.fmul(b.sitofp(b.load(parts[row, half]), _FLOATS), factors[half])
                b.store(loop.fused(value, own, b.load(sums[row, half])), sums[row, half])

    if int8:
        loop.times(b.udiv(steps, _I64(GROUP // 2)), group)
    else:
        loop.times(steps, step)
    for row, half in cells:
        loop.save(b.load(sums[row, half]), out, (out_line, row), (64, half))


def _scores(module: ir.Module, heads: int, size: int, processor: Processor) -> None:
    """out[head, t] = q[head] · the key in slot t, for the heads that share a KV head."""
    loop = _Loop(module, "scores", 7, processor)
    keys, key_line, slots, count, q, out, out_line = loop.arguments
    b, parts = loop.builder, range(size // 32)
    queries = {
        (head, part): loop.load(_INTS, q, (size * 2, head), (64, part))
        for head in range(heads)
        for part in parts
    }

    def one(t: Any) -> None:
        slot = b.sext(loop.load(_I32, slots, (t, 4)), _I64)
        loop.fetch(slots, t, count, keys, key_line, size * 2)
        key = [loop.load(_INTS, keys, (slot, key_line), (64, part)) for part in parts]
        for head in range(heads):
            total = _FLOATS([0.0] * 16)
            for part in parts:
                total = loop.dot_bfloat(total, key[part], queries[head, part])
            reduced = loop.call("llvm.vector.reduce.fadd.v16f32", _F32, _F32(0.0), total)
            reduced_call = reduced
            reduced_call.fastmath.add("reassoc")
            loop.save(reduced, out, (out_line, head), (t, 4))

    loop.times(count, one)
    b.ret_void()


def _mix(module: ir.Module, heads: int, size: int, processor: Processor) -> None:
    """out[head] = Σ weight[head, t] · the value in slot t."""
    loop = _Loop(module, "mix", 7, processor)
    values, value_line, slots, count, weights, weight_line, out = loop.arguments
    b = loop.builder
    words = ir.VectorType(_I16, 16)
    at_once = max(1, processor.registers // heads)
    for first in range(0, size // 16, at_once):
        parts = range(first, min(first + at_once, size // 16))
        sums = {(head, part): loop.variable(_FLOATS) for head in range(heads) for part in parts}

        def one(t: Any, parts: range = parts, sums: dict[tuple[int, int], Any] = sums) -> None:
            slot = b.sext(loop.load(_I32, slots, (t, 4)), _I64)
            loop.fetch(slots, t, count, values, value_line, size * 2)
            shift = _INTS([16] * 16)
            narrow = {part: loop.load(words, values, (slot, value_line), (32, part)) for part in parts}
            value = {part: b.bitcast(b.shl(b.zext(n, _INTS), shift), _FLOATS) for part, n in narrow.items()}
            for head in range(heads):
                weight = loop.splat(loop.load(_F32, weights, (weight_line, head), (t, 4)), _FLOATS)
                for part in parts:
                    total = sums[head, part]
                    b.store(loop.fused(value[part], weight, b.load(total)), total)

        loop.times(count, one)
        for (head, part), total in sums.items():
            loop.save(b.load(total), out, (size * 4, head), (64, part))
    b.ret_void()


class Loops:
    """Machine code for one processor and one shape of attention; lives as long as this object."""

    def __init__(self, heads_per_kv_head: int, size: int, processor: Processor | None = None) -> None:
        processor = processor or Processor.host()
        module = ir.Module("loops")
        for rows, int8 in TILES:
            _tile(module, rows, int8, processor)
        _scores(module, heads_per_kv_head, size, processor)
        _mix(module, heads_per_kv_head, size, processor)
        features = ",".join(f"{'+' if on else '-'}{name}" for name, on in sorted(processor.features.items()))
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        target = binding.Target.from_default_triple()
        machine = target.create_target_machine(cpu=processor.name, features=features, opt=3, jit=True)
        parsed = binding.parse_assembly(str(module))
        options = binding.create_pipeline_tuning_options(speed_level=3)
        binding.create_pass_builder(machine, options).getModulePassManager().run(
            parsed, binding.create_pass_builder(machine, options)
        )
        self._code = binding.create_mcjit_compiler(parsed, machine)
        self._code.finalize_object()
        names = [f"tile_{rows}_{'int8' if int8 else 'bfloat'}" for rows, int8 in TILES]
        self.addresses = np.array(
            [self._code.get_function_address(name) for name in [*names, "scores", "mix"]], np.int64
        )
