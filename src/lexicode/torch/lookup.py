"""Packed codes -> rows and scores, in torch operations that compile, export and carry gradients.

Codewords are named by int32 numbers `m * K + k`, unpacked in small steps, and `embedding_bag` adds them up in
registers. It adds codebooks 0, 1, 2, … in this order, as every runtime of lexicode does, so that rows agree with
numpy's to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

from lexicode.scheme import CodeScheme

# Scores are made in blocks of this many words a hidden vector: the numbers of one block then stay in the cache.
BLOCK_WORDS = 32_768
# Torch shares out more numbers than 32,768 among its threads; on a busy machine a quick step loses more by waiting for
# all of them than it gains, so quick steps are kept below that.
STEP_NUMBERS = 32_000


def numbers_of(ids: Tensor, packed: Tensor, scheme: CodeScheme) -> Tensor:
    """ids (n,), packed (V, bytes) uint8 -> (n, M) int32, the codeword numbers of these rows"""
    step = max(1, STEP_NUMBERS // scheme.codebooks)
    if not in_steps(packed) or len(ids) <= step:
        return codeword_numbers(functional.embedding(ids, packed), scheme)
    parts = torch.split(ids, step)
    return torch.cat([codeword_numbers(functional.embedding(part, packed), scheme) for part in parts])


def in_steps(packed: Tensor) -> bool:
    """Whether small steps pay: not in a graph, which fuses them, nor on a device that wants all work at once."""
    return not torch.compiler.is_compiling() and packed.device.type == "cpu"


def codeword_numbers(packed: Tensor, scheme: CodeScheme) -> Tensor:
    """packed (n, bytes) uint8 -> (n, M) int32: for each codebook m the number m * K + k of the codeword named"""
    M, K = scheme.codebooks, scheme.codewords
    firsts = torch.arange(0, M * K, K, dtype=torch.int32, device=packed.device)
    return torch.add(unpacked(packed, scheme), firsts)


def unpacked(packed: Tensor, scheme: CodeScheme) -> Tensor:
    """packed (n, bytes) uint8 -> codes (n, M), uint8 or int32. The layout of the bits is told in lexicode.packing."""
    M, bits, mask = scheme.codebooks, scheme.bits, scheme.codewords - 1
    if bits == 8:
        return packed
    # Exporters to ONNX lose the type of shifted bytes.
    if 8 % bits == 0 and not torch.compiler.is_exporting():
        shifts = torch.arange(0, 8, bits, dtype=torch.uint8, device=packed.device)
        return torch.bitwise_right_shift(packed.unsqueeze(-1), shifts).bitwise_and(mask).flatten(1)[:, :M]
    positions = torch.arange(0, M * bits, bits, device=packed.device)
    first, last = positions // 8, packed.shape[1] - 1
    # A component of at most 12 bits lies in at most three bytes; where the row ends sooner, the mask hides the rest.
    word = packed.index_select(1, first).int()
    for step in (1, 2):
        word = word | packed.index_select(1, (first + step).clamp(max=last)).int() * 256**step
    return torch.bitwise_right_shift(word, (positions % 8).int()) & mask


def summed(numbers: Tensor, codewords: Tensor) -> Tensor:
    """numbers (n, M) int32, codewords (M * K, dim) -> (n, dim), the sum over m"""
    if torch.onnx.is_in_onnx_export():
        # ONNX has no such operator, and a loop over rows in its place would be slow; the order is then the runtime's.
        return functional.embedding(numbers, codewords).sum(1)
    return functional.embedding_bag(numbers, codewords, mode="sum")


def joined(numbers: Tensor, codewords: Tensor, columns: Tensor | None) -> Tensor:
    """numbers (n, M) int32, codewords (M * K, width), columns as `column_sources` gives them -> (n, dim)"""
    side_by_side = functional.embedding(numbers, codewords).flatten(1)
    if columns is None:
        return side_by_side
    # One more column of zeros stands for "no codebook".
    padded = functional.pad(side_by_side, (0, 1))
    rows = padded.index_select(1, columns[0])
    for sources in columns[1:]:
        rows = rows + padded.index_select(1, sources)
    return rows


def column_sources(offsets: Sequence[int], width: int, dim: int) -> Tensor | None:
    """Where each column of a product code comes from, when codebooks lie side by side as M * width columns.

    (n, dim) int64: column c is the sum over i of side-by-side column `sources[i, c]`, and M * width means none.
    None when they lie as they should already.
    """
    found: list[list[int]] = [[] for _ in range(dim)]
    for m, start in enumerate(offsets):
        for column in range(width):
            found[start + column].append(m * width + column)
    none = len(offsets) * width
    if found == [[column] for column in range(none)]:
        return None
    depth = max(len(sources) for sources in found)
    return torch.tensor([[*sources, *[none] * (depth - len(sources))] for sources in found]).T.contiguous()


def with_exact(rows: Tensor, ids: Tensor, exact_ids: Tensor, exact_rows: Tensor) -> Tensor:
    """rows (n, dim) of ids (n,) -> the same, but exact_rows[e] (E, dim) wherever an id is exact_ids[e] (E,) int64"""
    wanted = ids.long()
    # Exporters have no searchsorted; in a plain call it is many steps in one.
    find = halving_places if torch.compiler.is_exporting() else sorted_places
    places = find(wanted, exact_ids)
    found = exact_ids[places].eq(wanted).unsqueeze(1)
    return torch.where(found, functional.embedding(places, exact_rows), rows)


def sorted_places(ids: Tensor, ascending: Tensor) -> Tensor:
    """ids (n,), ascending (E,), both int64 -> (n,): where an id stands among them, or anywhere if it does not"""
    return torch.searchsorted(ascending, ids).clamp(max=len(ascending) - 1)


def halving_places(ids: Tensor, ascending: Tensor) -> Tensor:
    """The same, in steps of half the length each, by operations that every runtime has."""
    last = len(ascending) - 1
    places = torch.zeros_like(ids)
    for power in reversed(range(last.bit_length())):
        probes = (places + (1 << power)).clamp(max=last)
        places = torch.where(ascending[probes] <= ids, probes, places)
    return places


def summed_products(packed: Tensor, products: Tensor, scheme: CodeScheme) -> Tensor:
    """packed (V, bytes) uint8, products (M, K, B) of each codeword with B vectors -> (V, B), the sum over m"""
    by_byte = 8 % scheme.bits == 0
    tables = byte_sums(products, packed.shape[1]) if by_byte else products
    if in_steps(packed) and by_byte and products.shape[2] == 1:
        return single_sums(packed, tables.squeeze(2)).unsqueeze(1)
    flat = tables.flatten(0, 1)
    firsts = torch.arange(0, len(flat), tables.shape[1], dtype=torch.int32, device=packed.device)
    # A graph that is exported for any number of hidden vectors cannot be cut by it.
    blocks = (packed,) if torch.compiler.is_exporting() else torch.split(packed, BLOCK_WORDS * products.shape[2])
    pieces = [summed(torch.add(block if by_byte else unpacked(block, scheme), firsts), flat) for block in blocks]
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces)


def single_sums(packed: Tensor, tables: Tensor) -> Tensor:
    """packed (V, bytes) uint8, tables (bytes, 256) -> (V,): what one hidden vector needs, column by column"""
    pieces = []
    for block in torch.split(packed, STEP_NUMBERS):
        sums = tables[0].index_select(0, block[:, 0].int())
        for position in range(1, len(tables)):
            sums = sums + tables[position].index_select(0, block[:, position].int())
        pieces.append(sums)
    return torch.cat(pieces)


def byte_sums(products: Tensor, count: int) -> Tensor:
    """products (M, K, B), K of 1, 2, 4 or 8 bits -> (count, 256, B): the sum of the products that a byte names"""
    M, K, B = products.shape
    codes_per_byte = 8 // (K.bit_length() - 1)
    groups = functional.pad(products, (0, 0, 0, 0, 0, count * codes_per_byte - M)).view(count, codes_per_byte, K, B)
    sums = groups[:, 0]
    for position in range(1, codes_per_byte):
        # The later code of a byte lies in its higher bits.
        sums = (groups[:, position].unsqueeze(2) + sums.unsqueeze(1)).flatten(1, 2)
    return sums
