"""The noise of sums by cell keys: sums, their largest contributions and keys in, published out.

Whole numbers from end to end. Amounts are in units of their last decimal; shares, factors and
heights are in billionths, each rounded half up; products have 128 bits and are rounded once, to a
whole amount. So every machine, engine and order of rows gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels._compile import compiled
from sdcensus.kernels.magnitude.draws import DEFINED, SumKeys, drawn, flat
from sdcensus.kernels.magnitude.numeric_rows import BILLION, NumericRows, deviation
from sdcensus.kernels.magnitude.wide import TOO_LARGE, less, rounded_by, scaled
from sdcensus.kernels.perturbation.lookup import PIECE, frozen, in_pieces

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: Which table is looked up: that of all cells (or of even numbers of contributors), that of odd
#: numbers, that of small values.
PLAIN_TABLE, ODD_TABLE, SMALL_TABLE = 0, 1, 2

#: Draws behind those of contributions, of which there are six: how published sums are rounded,
#: and where in its step each deviation lies.
ROUNDING_PLACE, SPREAD_PLACE = 6, 7

_0, _1, _2, _32 = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(32)
_BILLION = np.uint64(BILLION)
_FAR = np.uint64(1_000 * BILLION)
_LOW = np.uint64(0xFFFFFFFF)
# What a part of the noise is measured by: the contribution, the unit of small values, the total.
_CONTRIBUTION, _UNIT, _TOTAL = 0, 1, 2


class Magnitude(NamedTuple):
    """The relative size of noise: shares in billionths, sizes in last decimals.

    Attributes:
        small, large: Below the flex point, and far above it.
        flex_point: From where it falls.
        power: How fast; 0 for a share that is the same everywhere.
    """

    small: np.uint64
    large: np.uint64
    flex_point: np.uint64
    power: int

    @classmethod
    def build(cls, small: int, large: int = 0, flex_point: int = 0, power: int = 0) -> Magnitude:
        """Take shares in billionths and the flex point in last decimals."""
        return cls(np.uint64(small), np.uint64(large), np.uint64(flex_point), power)


class SmallValues(NamedTuple):
    """Small values, which have a table of their own; sizes in last decimals.

    Attributes:
        below: From what size on contributions are not small; 0 where none is.
        restart_below: For each contribution, the total below which it is small after all.
        unit: One step of their table.
    """

    below: np.uint64
    restart_below: UInt64
    unit: np.uint64

    @classmethod
    def build(cls, below: int, restart_below: Sequence[int], unit: int) -> SmallValues:
        """Take sizes in last decimals."""
        restart = frozen(np.array(restart_below, dtype=np.uint64))
        return cls(np.uint64(below), restart, np.uint64(unit))


class SumNoise(NamedTuple):
    """Everything that decides the noise of sums; shares in billionths.

    Attributes:
        rows: The numeric tables: plain, odd, small.
        keys: With what is drawn.
        magnitude: The relative size.
        small: What happens to small values.
        shares: What each of the largest contributions counts, the largest first.
        extra: The least distance that is added in sensitive cells.
        parity: Whether odd numbers of contributors have a table of their own.
        base: Of what published sums are multiples, in last decimals.
    """

    rows: NumericRows
    keys: SumKeys
    magnitude: Magnitude
    small: SmallValues
    shares: UInt64
    extra: np.uint64
    parity: bool
    base: np.uint64 = np.uint64(1)


def publish_sums(
    total: Int64,
    sizes: Int64,
    contributors: Int64,
    key: UInt32,
    noise: SumNoise,
    *,
    definition: UInt64 | None = None,
    sensitive: Mask | None = None,
    threads: int | None = None,
) -> Int64:
    """The published value of each sum.

    Args:
        total: True sums, of any shape.
        sizes: What noise is measured by, one more axis: contributions, the largest first; signs
            are no matter.
        contributors: How many contribute.
        key: Cell keys.
        noise: The parameters.
        definition: What each cell asks, for keys by definition.
        sensitive: Cells with extra noise.
        threads: How many threads share the work; as many as there are processors by default.
    """
    out = np.empty(total.shape, dtype=np.int64)
    flat_out, cells = out.reshape(-1), out.size
    totals, numbers, keys = (flat(array, cells, object) for array in (total, contributors, key))
    columns = np.ascontiguousarray(sizes).reshape(cells, sizes.shape[-1])
    if noise.keys.rule == DEFINED and definition is None:
        raise TypeError("Keys by definition need the definition of every cell.")
    meanings, marks = flat(definition, cells, np.uint64), flat(sensitive, cells, np.bool_)

    def work(begin: int) -> None:
        piece = slice(begin, begin + PIECE)
        sound = _publish(
            frozen(totals[piece]),
            frozen(columns[piece]),
            frozen(numbers[piece]),
            frozen(keys[piece]),
            frozen(meanings[piece]),
            frozen(marks[piece]),
            noise,
            flat_out[piece],
        )
        if not sound:
            raise SpecError(
                "The noise of a sum cannot be computed: a key does not fit the perturbation table,"
                " or the sum with its noise is beyond 64 bits. Publish the amount in a larger unit,"
                " or with fewer decimals."
            )

    in_pieces(work, cells, threads)
    return out


def magnitudes(size: Int64, magnitude: Magnitude) -> Int64:
    """The relative size of noise at each size of a contribution, in billionths.

    Examples:
        >>> flexible = Magnitude.build(200_000_000, 30_000_000, flex_point=1000, power=2)
        >>> magnitudes(np.array([999, 1000, 2000, 10000]), flexible)
        array([200000000, 200000000, 194444445,  95123967])
    """
    out = np.empty(size.size, dtype=np.int64)
    _magnitudes(frozen(np.ascontiguousarray(size).reshape(-1)), magnitude, out)
    return out.reshape(size.shape)


@compiled
def magnitude_of(size: np.uint64, magnitude: Magnitude) -> np.uint64:
    """The relative size of noise at a size of a contribution, in billionths."""
    # With r = 2 z_f / (z + z_f), the published formula is large + 2 small r^(q-1) -
    # (small + large) r^q: nothing in it is larger than two shares.
    small, large = magnitude.small, magnitude.large
    if magnitude.power == 0 or size < magnitude.flex_point:
        return small
    ratio = scaled(_2 * _BILLION, magnitude.flex_point, size + magnitude.flex_point)
    below = _BILLION
    for _ in range(magnitude.power - 1):
        below = scaled(below, ratio, _BILLION)
    falling = scaled(_2 * small, below, _BILLION)
    return large + falling - scaled(small + large, scaled(below, ratio, _BILLION), _BILLION)


@compiled
def _magnitudes(size: Int64, magnitude: Magnitude, out: Int64) -> None:
    for at in range(size.size):
        out[at] = magnitude_of(np.uint64(abs(size[at])), magnitude)


@compiled
def measured_by(
    left: np.uint64, size: np.uint64, factor: np.uint64, place: int, small: SmallValues
) -> int:
    """What the noise of one contribution is measured by; -1 where there is none any more."""
    measure, beyond = _UNIT, bool(left < small.unit)
    if size >= small.below:
        # Contributions of both signs: the noise of one could be larger than what is left.
        measure, beyond = _CONTRIBUTION, less(left, _BILLION, size, factor)
    if not beyond:
        return measure
    if left >= small.restart_below[place]:
        return _TOTAL
    return _UNIT if place == 0 else -1


@compiled
def height_of(
    left: np.uint64, size: np.uint64, factor: np.uint64, measure: int, unit: np.uint64
) -> np.uint64:
    """How many times what noise is measured by goes into the sum, in billionths."""
    if measure == _UNIT:
        return scaled(left, _BILLION, unit)
    if measure == _TOTAL:
        return _BILLION
    return max(scaled(scaled(left, _BILLION, size), _BILLION, factor), _BILLION)


@compiled
def spread_of(moved: int, height: np.uint64, step: np.uint64) -> int:
    """Over how much to both sides a deviation is spread: half a step, or what can be taken away.

    Amounts are often round numbers. With deviations on a grid, what a published sum is more than a
    round number would tell how far it was moved, in shares of the largest contribution.
    """
    # Far above what any deviation takes away, the height is no matter.
    lowest = np.int64(min(height, _FAR) * step) + moved
    # On the line between two anchors rounding can lead a billionth below what there is.
    return int(min(np.int64(500_000_000), max(np.int64(0), lowest)))


@compiled
def _change(
    left: np.uint64,
    size: np.uint64,
    factor: np.uint64,
    measure: int,
    distance: np.uint64,
    step: np.uint64,
    draw: np.uint64,
    noise: SumNoise,
) -> np.uint64:
    """By how much a sum changes, as a whole amount."""
    measured = left
    if measure == _UNIT:
        measured = noise.small.unit
    elif measure == _CONTRIBUTION:
        measured, distance = size, scaled(factor, distance, _BILLION)
    if noise.keys.rule == 0:  # a rotated key has nothing left to round by
        return scaled(measured, distance, step * _BILLION)
    return rounded_by(measured, distance, step * _BILLION, draw & _LOW)


@compiled
def _rounded(left: np.uint64, key: np.uint64, definition: np.uint64, noise: SumNoise) -> np.uint64:
    """A multiple of the base: the next above with the chance of what is left over."""
    if noise.keys.rule == 0:
        return scaled(left, _1, noise.base) * noise.base
    draw = drawn(key, definition, ROUNDING_PLACE, noise.keys)
    return rounded_by(left, _1, noise.base, draw >> _32) * noise.base


@compiled
def _publish(
    total: Int64,
    sizes: Int64,
    contributors: Int64,
    key: UInt32,
    definition: UInt64,
    sensitive: Mask,
    noise: SumNoise,
    out: Int64,
) -> bool:
    for cell in range(total.size):
        left = np.uint64(abs(total[cell]))
        for place in range(min(noise.shares.size, contributors[cell])):
            size = np.uint64(abs(sizes[cell, place]))
            share = magnitude_of(size, noise.magnitude)
            factor = scaled(noise.shares[place], share, _BILLION)
            if left == _0 or factor == _0 or size == _0:
                break
            measure = measured_by(left, size, factor, place, noise.small)
            if measure < 0:
                break
            table = 1 if noise.parity and contributors[cell] % 2 == 1 else 0
            if measure == _UNIT:
                table = 2
            draw = drawn(np.uint64(key[cell]), definition[cell], place, noise.keys)
            if draw >> _32 >= noise.keys.modulus:
                return False
            height = height_of(left, size, factor, measure, noise.small.unit)
            moved = deviation(height, table, draw >> _32, noise.rows)
            step = np.uint64(noise.rows.steps[table])
            if noise.keys.rule != 0 and measure != _UNIT:
                within = drawn(
                    np.uint64(key[cell]), definition[cell], SPREAD_PLACE + place, noise.keys
                )
                half = spread_of(moved, height, step)
                # From -half to half, as a share of 2**32.
                moved += int((np.uint64(2 * half) * (within >> _32)) >> _32) - half
            distance = np.uint64(abs(moved))
            if place == 0 and sensitive[cell] and measure != _UNIT:
                distance += noise.extra * step
            change = _change(left, size, factor, measure, distance, step, draw, noise)
            if change >= TOO_LARGE or left + change >= TOO_LARGE:
                return False
            if moved >= 0:
                left += change
            else:
                left = left - change if change < left else _0
        if noise.base > _1:
            left = _rounded(left, np.uint64(key[cell]), definition[cell], noise)
            if left >= TOO_LARGE:
                return False
        out[cell] = np.int64(left) if total[cell] >= 0 else -np.int64(left)
    return True
