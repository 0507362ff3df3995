"""What an LSTM does at a step beside its matrix product, compiled by numba: one pass over each text's gates while they
are in the cache, where torch takes ten calls and ten passes.

Arrays over time are (T, n, ...); gates lie in the order input, forget, output, new. All are float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

# Without numpy's rule for division each could raise, and nothing would become vector code; with the rest a product and
# a sum may be one instruction.
compiled = njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nnan", "nsz"})

# Beyond it a sigmoid is 0 or 1 to the last bit that matters, and 2**n below stays a normal number.
LARGEST = np.float32(80.0)
LOG2_E = np.float32(1.44269504)
# ln 2 in two parts; n times the first is exact.
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
ONE, HALF, TWO = np.float32(1.0), np.float32(0.5), np.float32(2.0)
# exp(r) for |r| up to ln(2) / 2 is 1 + r + r*r * (these, the highest power first): Taylor's series, ended where the
# rest is smaller than float32's rounding.
SERIES = tuple(np.float32(1.0 / divisor) for divisor in (5040, 720, 120, 24, 6, 2))


@compiled
def _sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)) by arithmetic alone, which the compiler makes vector code of; it would call the library's exp
    for one number after the other."""
    y = -min(max(x, -LARGEST), LARGEST)
    n = np.floor(y * LOG2_E + HALF)
    r = (y - n * LN2_HIGH) - n * LN2_LOW
    a, b, c, d, e, f = SERIES
    power = ((((((a * r + b) * r + c) * r + d) * r + e) * r + f) * r * r + r) + ONE
    # 2**n: n stands in the bits of a float that hold its exponent.
    return ONE / (ONE + power * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32))


@compiled
def _tanh(x: Any) -> Any:
    return TWO * _sigmoid(TWO * x) - ONE


@compiled
def squash(values: Floats) -> tuple[Floats, Floats]:
    """values (n,) -> their sigmoids and hyperbolic tangents, as the steps compute them"""
    sigmoids, tangents = np.empty_like(values), np.empty_like(values)
    for i in range(len(values)):
        sigmoids[i], tangents[i] = _sigmoid(values[i]), _tanh(values[i])
    return sigmoids, tangents


@compiled
def advance(
    step: int,
    running: int,
    product: Floats,
    projected: Floats,
    words: Integers,
    gates: Floats,
    cells: Floats,
    states: Floats,
) -> None:
    """Fill gates[step], cells[step + 1] and states[step + 1] of the texts that run.

    product (n, 4 units): the state's part of the gates; projected (u, 4 units): the input's part, for each word;
    words (T, n); gates (T, n, 4 units); cells and states (T + 1, n, units)
    """
    units = states.shape[2]
    for i in range(running):
        word = words[step, i]
        for j in range(3 * units):
            gates[step, i, j] = _sigmoid(product[i, j] + projected[word, j])
        for j in range(units):
            new = 3 * units + j
            gates[step, i, new] = _tanh(product[i, new] + projected[word, new])
        for j in range(units):
            cells[step + 1, i, j] = (
                gates[step, i, units + j] * cells[step, i, j] + gates[step, i, j] * gates[step, i, 3 * units + j]
            )
        for j in range(units):
            states[step + 1, i, j] = gates[step, i, 2 * units + j] * _tanh(cells[step + 1, i, j])


@compiled
def retreat(
    step: int,
    place: int,
    running: int,
    words: Integers,
    gates: Floats,
    cells: Floats,
    of_state: Floats,
    of_cell: Floats,
    of_gates: Floats,
    of_projected: Floats,
) -> None:
    """The way back of `advance`: fill of_gates[place], bring of_cell to the step before, and add each text's gradient
    to that of its word.

    of_state, of_cell (n, units): the gradients of states[step + 1] and cells[step + 1]
    of_gates (some, n, 4 units), of the sums before they are squashed; zero where a text has ended
    of_projected (u, 4 units)
    """
    units = cells.shape[2]
    for i in range(running):
        word = words[step, i]
        for j in range(units):
            out = gates[step, i, 2 * units + j]
            tangent = _tanh(cells[step + 1, i, j])
            of_cell[i, j] += of_state[i, j] * out * (ONE - tangent * tangent)
            of_gates[place, i, 2 * units + j] = of_state[i, j] * tangent * out * (ONE - out)
        for j in range(units):
            into, new = gates[step, i, j], gates[step, i, 3 * units + j]
            of_gates[place, i, j] = of_cell[i, j] * new * into * (ONE - into)
        for j in range(units):
            into, new = gates[step, i, j], gates[step, i, 3 * units + j]
            of_gates[place, i, 3 * units + j] = of_cell[i, j] * into * (ONE - new * new)
        for j in range(units):
            keep = gates[step, i, units + j]
            of_gates[place, i, units + j] = of_cell[i, j] * cells[step, i, j] * keep * (ONE - keep)
            of_cell[i, j] *= keep
        for j in range(4 * units):
            of_projected[word, j] += of_gates[place, i, j]
    of_gates[place, running:] = 0
