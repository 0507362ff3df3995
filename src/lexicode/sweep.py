"""The sums of a search over all rows, 32 rows at a time: needs numba, and a processor with AVX2.

A table of sixteen bytes fits a vector register, and one instruction looks up 32 codes in it. numba has no such
instruction, so it is written out for LLVM. Numbers are rounded up to seven bits: two of them add up within a byte.
Codes of up to four bits lie two to a byte, as nibbles; codes of five and six bits are looked up in two and four tables,
of which all but one find nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba import njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic

from lexicode.composition import Floats
from lexicode.symbols import MOST_QUICK_CODEWORDS, SYMBOL_BITS, Symbols, joined_tables

LANES = 32
NIBBLE_BITS = 4
HIGHEST = 127
# So many numbers add up within 16 bits.
MOST_CODES = 2**16 // (HIGHEST + 1)
# Code for a processor that is not this one, which numba can be told to make, may lack the instruction.
_FOR_THIS_PROCESSOR = not config.DISABLE_JIT and not config.CPU_NAME and config.CPU_FEATURES is None
POSSIBLE = _FOR_THIS_PROCESSOR and binding.get_host_cpu_features().get("avx2", False)

_BYTES = ir.VectorType(ir.IntType(8), LANES)
_TABLE = ir.VectorType(ir.IntType(8), 16)
_TOTALS = ir.VectorType(ir.IntType(16), LANES)
_TWICE = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [*range(16), *range(16)])


@dataclass(frozen=True)
class QuickSweep:
    """All rows' codes, for codebooks of up to 64 codewords.

    blocks (B, bytes, 32) uint8: of each 32 rows the first bytes, then the second ones; the order in which they are read
    """

    blocks: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, symbols: Symbols, tables: Floats) -> QuickSweep | None:
        """symbols (S, V) of codes that name numbers of tables (M, K); None where it cannot be done"""
        M, K = tables.shape
        bits = K.bit_length() - 1
        if not POSSIBLE or K > MOST_QUICK_CODEWORDS or M > MOST_CODES:
            return None
        small = small_symbols(symbols, bits=bits, count=M)
        if bits <= NIBBLE_BITS:
            odd = small[1::2] << np.uint8(NIBBLE_BITS)
            small = small[::2]
            small[: len(odd)] |= odd
        V = symbols.shape[1]
        padded = np.zeros((len(small), -(-V // LANES) * LANES), dtype=np.uint8)
        padded[:, :V] = small
        return cls(np.ascontiguousarray(padded.reshape(len(small), -1, LANES).swapaxes(0, 1)))

    def highest(self, tables: Floats, factors: Floats, rounding: float) -> Floats:
        """tables (M, K), factors (V,) -> what each row's sum times its factor is at most, (V,) float32; sums may be
        wrong by `rounding`"""
        numbers = self._numbers(tables)
        lowest = numbers.min(axis=1, keepdims=True)
        above = numbers - lowest
        # One less, for a quotient may be rounded up; and no step that float32 would take for zero.
        step = max(float(above.max()) / (HIGHEST - 1), float(np.finfo(np.float32).tiny))
        base = float(lowest.sum(dtype=np.float64)) + rounding
        steps = np.ceil(above / np.float32(step)).astype(np.uint8)
        products = np.empty(len(factors), dtype=np.float32)
        _fill_products(
            self.blocks, steps.reshape(-1, 16), tables.shape[1], np.float32(step), np.float32(base), factors, products
        )
        return products

    def closer(self, tables: Floats, rounding: float, rows: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        """tables (M, K), rows (n,) -> what the sums of these rows are at least and at most, (n,) float32"""
        numbers = self._numbers(tables)
        if len(numbers) > self.blocks.shape[1]:
            numbers = (numbers[1::2, :, None] + numbers[::2, None]).reshape(-1, 256)
        codes = self.blocks[rows // LANES, :, rows % LANES]
        sums = numbers[np.arange(len(numbers)), codes].sum(axis=1)
        return sums - np.float32(rounding), sums + np.float32(rounding)

    def _numbers(self, tables: Floats) -> Floats:
        """tables (M, K) -> the numbers that a nibble can name, (2 * bytes, 16), or a wider code, (bytes, K)"""
        M, K = tables.shape
        if K > 16:
            return tables
        joined = NIBBLE_BITS // (K.bit_length() - 1)
        # Codes that are not there are 0, and find 0.
        padded = np.zeros((2 * self.blocks.shape[1] * joined, K), dtype=np.float32)
        padded[:M] = tables
        numbers = np.array(joined_tables(padded, symbol_bits=NIBBLE_BITS))
        # Codes of three bits leave half of a nibble's values without use.
        return np.tile(numbers, 16 // numbers.shape[1])


def small_symbols(symbols: Symbols, *, bits: int, count: int) -> npt.NDArray[np.uint8]:
    """symbols (S, V) of `count` codes a row -> (s, V) uint8: each code alone, or as many as fit four bits, joined"""
    joined = max(1, NIBBLE_BITS // bits)
    width = joined * bits
    each = SYMBOL_BITS // bits // joined
    small = np.empty((-(-count // joined), symbols.shape[1]), dtype=np.uint8)
    for number, row in enumerate(small):
        row[...] = symbols[number // each] >> np.uint16(width * (number % each)) & np.uint16((1 << width) - 1)
    return small


Step = Callable[[ir.IRBuilder, ir.Value], ir.Value]


def _looker(tables_a_byte: int, index: Step, following: Step) -> Any:
    """look_up(blocks, block, tables, totals): into totals (32,) uint16, of each row of a block, the sum of what its
    bytes find in tables (bytes * tables_a_byte, 16).

    index: what of a byte points into its first table; following: the byte as the next table sees it
    """

    @intrinsic
    def look_up(typing: Any, blocks: Any, block: Any, tables: Any, totals: Any) -> Any:
        def emit(context: Any, builder: ir.IRBuilder, signature: Any, arguments: tuple[Any, ...]) -> Any:
            blocks, tables, totals = (
                context.make_array(signature.args[at])(context, builder, arguments[at]) for at in (0, 2, 3)
            )
            length = builder.extract_value(blocks.shape, 1)

            def number(value: int) -> ir.Constant:
                return ir.Constant(length.type, value)

            def load(array: Any, at: ir.Value, kind: ir.VectorType) -> ir.Value:
                return builder.load(builder.bitcast(builder.gep(array.data, [at]), kind.as_pointer()), align=1)

            first = builder.mul(arguments[1], builder.mul(length, number(LANES)))
            total = cgutils.alloca_once_value(builder, ir.Constant(_TOTALS, [0] * LANES))
            with cgutils.for_range(builder, length) as loop:
                byte = load(blocks, builder.add(first, builder.mul(loop.index, number(LANES))), _BYTES)
                found = ir.Constant(_BYTES, [0] * LANES)
                for part in range(tables_a_byte):
                    at = builder.add(builder.mul(loop.index, number(16 * tables_a_byte)), number(16 * part))
                    table = load(tables, at, _TABLE)
                    # The instruction has a table for either half of the 32.
                    table = builder.shuffle_vector(table, table, _TWICE)
                    value = _call(builder, "llvm.x86.avx2.pshuf.b", table, index(builder, byte))
                    found = builder.add(found, value)
                    byte = following(builder, byte)
                builder.store(builder.add(builder.load(total), builder.zext(found, _TOTALS)), total)
            builder.store(builder.load(total), builder.bitcast(totals.data, _TOTALS.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(blocks, types.intp, tables, totals), emit

    return look_up


def _call(builder: ir.IRBuilder, name: str, *vectors: ir.Value) -> ir.Value:
    kind = ir.FunctionType(_BYTES, [_BYTES] * len(vectors))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), vectors)


def _all(value: int) -> ir.Constant:
    return ir.Constant(_BYTES, [value] * LANES)


_look_up_nibbles = _looker(
    2,
    lambda builder, byte: builder.and_(byte, _all(15)),
    lambda builder, byte: builder.lshr(byte, _all(NIBBLE_BITS)),
)


def _index_if_small(builder: ir.IRBuilder, byte: ir.Value) -> ir.Value:
    """What is 16 or more gets its highest bit set, and then the instruction finds 0."""
    return _call(builder, "llvm.uadd.sat.v32i8", byte, _all(0x70))


def _less_16(builder: ir.IRBuilder, byte: ir.Value) -> ir.Value:
    return builder.sub(byte, _all(16))


_look_up_five_bits = _looker(2, _index_if_small, _less_16)
_look_up_six_bits = _looker(4, _index_if_small, _less_16)


@njit(nogil=True, cache=True)
def _fill_products(
    blocks: npt.NDArray[np.uint8],
    tables: npt.NDArray[np.uint8],
    codewords: int,
    step: np.float32,
    base: np.float32,
    factors: npt.NDArray[np.float32],
    products: npt.NDArray[np.float32],
) -> None:
    """blocks (B, bytes, 32), tables (16 numbers each), factors (V,) -> products (V,): (base + step * sum) * factor"""
    totals = np.empty(LANES, dtype=np.uint16)
    for block in range(blocks.shape[0]):
        if codewords <= 16:
            _look_up_nibbles(blocks, block, tables, totals)
        elif codewords == 32:
            _look_up_five_bits(blocks, block, tables, totals)
        else:
            _look_up_six_bits(blocks, block, tables, totals)
        start = block * LANES
        for i in range(min(LANES, len(products) - start)):
            products[start + i] = (base + step * np.float32(totals[i])) * factors[start + i]
