"""The chance that a published sum lies between two bounds, over all keys that a cell could have.

The steps are those of ``sum_noise``; instead of one draw, every interval of keys is gone through,
with its share of all keys, and with it every place in the step over which a deviation is spread.
Where one contribution counts, nothing is left out. Where more count, all but the last are taken at
a few places of their steps, and sums that are reached on the way are put together to a few hundred
classes, each with its chance and its mean. Contributions are taken to be drawn independently, as
hashes are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.magnitude.draws import flat
from sdcensus.kernels.magnitude.numeric_rows import BILLION, NumericRows, deviation
from sdcensus.kernels.magnitude.sum_noise import (
    SumNoise,
    height_of,
    magnitude_of,
    measured_by,
    spread_of,
)
from sdcensus.kernels.magnitude.wide import scaled
from sdcensus.kernels.perturbation.lookup import PIECE, frozen, in_pieces

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Classes of sums that are kept between two contributions, where three or more count.
CLASSES = 512
#: Places of a step at which all contributions but the last are taken.
PLACES = 4

_0, _1, _32 = np.uint64(0), np.uint64(1), np.uint64(32)
_BILLION = np.uint64(BILLION)
_CONTRIBUTION, _UNIT = 0, 1


def chances_between(
    total: Int64,
    sizes: Int64,
    contributors: Int64,
    noise: SumNoise,
    lower: Int64,
    upper: Int64,
    *,
    sensitive: Mask | None = None,
    threads: int | None = None,
) -> Float64:
    """For each cell the chance that its published sum lies between two bounds, both included.

    Args:
        total, sizes, contributors, noise, sensitive, threads: As in ``publish_sums``.
        lower, upper: The bounds of each cell.
    """
    out = np.empty(total.shape, dtype=np.float64)
    flat_out, cells = out.reshape(-1), out.size
    totals, numbers, low, high = (
        flat(array, cells, np.int64) for array in (total, contributors, lower, upper)
    )
    columns = np.ascontiguousarray(sizes).reshape(cells, sizes.shape[-1])
    marks = flat(sensitive, cells, np.bool_)
    most = _most_intervals(noise.rows)

    def work(begin: int) -> None:
        piece = slice(begin, begin + PIECE)
        _chances(
            frozen(totals[piece]),
            frozen(columns[piece]),
            frozen(numbers[piece]),
            frozen(marks[piece]),
            noise,
            most,
            frozen(low[piece]),
            frozen(high[piece]),
            flat_out[piece],
        )

    in_pieces(work, cells, threads)
    return out


def _most_intervals(rows: NumericRows) -> int:
    """How many intervals of keys two rows next to each other have at most."""
    begins = np.append(rows.guide[:, 0], rows.uppers.size)
    lengths = np.append(np.diff(begins), 0)
    return int((lengths[:-1] + lengths[1:]).max())


@compiled
def _row_above(height: np.uint64, table: int, rows: NumericRows) -> int:
    """The first row whose anchor is not below a height; the end of the table where all are."""
    row = rows.first[table]
    while row < rows.first[table + 1] and np.uint64(rows.anchors[row]) * _BILLION < height:
        row += 1
    return int(row)


@compiled
def _upper(row: int, key: np.uint64, rows: NumericRows) -> np.uint64:
    """The first key behind the interval of a key in a row."""
    at = rows.guide[row, key >> rows.shift]
    while key >= rows.uppers[at]:
        at += 1
    return rows.uppers[at]  # type: ignore[no-any-return]


@compiled
def _intervals(
    height: np.uint64, table: int, noise: SumNoise, moved: Int64, chance: Float64
) -> int:
    """Every deviation at a height, with its share of the keys; how many there are."""
    rows, modulus = noise.rows, noise.keys.modulus
    row = _row_above(height, table, rows)
    begin, end = rows.first[table], rows.first[table + 1]
    number, key = 0, _0
    while key < modulus:
        following = _upper(min(row, end - 1), key, rows)
        if begin < row < end:
            following = min(following, _upper(row - 1, key, rows))
        following = min(following, modulus)
        moved[number] = deviation(height, table, key, rows)
        chance[number] = np.float64(following - key) / np.float64(modulus)
        number += 1
        key = following
    return number


@compiled
def _on_grid(
    left: np.uint64,
    size: np.uint64,
    factor: np.uint64,
    measure: int,
    distance: np.uint64,
    step: np.uint64,
    noise: SumNoise,
) -> np.uint64:
    """By how much a sum changes with rotated keys."""
    measured = left
    if measure == _UNIT:
        measured = noise.small.unit
    elif measure == _CONTRIBUTION:
        measured, distance = size, scaled(factor, distance, _BILLION)
    return scaled(measured, distance, step * _BILLION)


@compiled
def _amount_of_step(
    left: np.uint64, size: np.uint64, factor: np.uint64, measure: int, noise: SumNoise
) -> float:
    """What a deviation of one is, as an amount."""
    if measure == _UNIT:
        return np.float64(noise.small.unit)
    if measure == _CONTRIBUTION:
        return np.float64(size) * np.float64(factor) / 1e9
    return np.float64(left)


@compiled
def _ramp(value: float, low: float, high: float, base: float) -> float:
    """The integral, up to a value, of the chance that a number is rounded between two bounds.

    The chance is 1 between them, and falls to 0 over one base outside.
    """
    area = 0.0
    if value > low - base:
        within = min(value, low) - (low - base)
        area += within * within / (2.0 * base)
    if value > low:
        area += min(value, high) - low
    if value > high:
        beyond = min(value, high + base) - high
        area += beyond - beyond * beyond / (2.0 * base)
    return area


@compiled
def _between(first: float, last: float, low: int, high: int, base: int) -> float:
    """The chance to be published between bounds, spread evenly from one value to another."""
    # Published are multiples of the base, and never less than 0.
    least, greatest = -((-low) // base) * base, high // base * base
    if greatest < 0 or least > greatest:
        return 0.0
    least = max(least, 0)
    chance, begin, end = 0.0, first, last
    if first < 0.0:
        below = 1.0 if last <= 0.0 else -first / (last - first)
        if least == 0:
            chance += below
        if below >= 1.0:
            return chance
        begin = 0.0
    # Nothing is below 0: what would be rounded there is rounded to 0 already.
    bottom = np.float64(least) if least > 0 else -1e300
    if end - begin < 1e-9:
        return chance + _at(begin, bottom, np.float64(greatest), np.float64(base))
    lowest = np.float64(least) if least > 0 else begin - np.float64(base)
    area = _ramp(end, lowest, np.float64(greatest), np.float64(base)) - _ramp(
        begin, lowest, np.float64(greatest), np.float64(base)
    )
    return chance + area / (last - first)


@compiled
def _at(value: float, low: float, high: float, base: float) -> float:
    """The chance that one value is rounded between two bounds."""
    if value < low:
        return max(0.0, 1.0 - (low - value) / base)
    if value > high:
        return max(0.0, 1.0 - (value - high) / base)
    return 1.0


@compiled
def _drawn_between(
    left: np.uint64,
    amount: float,
    moved: int,
    half: int,
    extra: float,
    low: int,
    high: int,
    base: int,
) -> float:
    """The chance of a deviation that is spread, to both sides of 0 where it is."""
    begin, end = np.float64(moved - half) / 1e9, np.float64(moved + half) / 1e9
    start = np.float64(left)
    if begin >= 0.0 or end <= 0.0:
        sign = 1.0 if begin >= 0.0 else -1.0
        first, last = start + (begin + sign * extra) * amount, start + (end + sign * extra) * amount
        return _between(first, last, low, high, base)
    below = -begin / (end - begin)
    down = _between(start + (begin - extra) * amount, start - extra * amount, low, high, base)
    up = _between(start + extra * amount, start + (end + extra) * amount, low, high, base)
    return below * down + (1.0 - below) * up


@compiled
def _moved_by(left: np.uint64, change: np.uint64, moved: int) -> np.uint64:
    if moved >= 0:
        return left + change
    return left - change if change < left else _0


@compiled
def _inside(value: np.uint64, low: int, high: int) -> bool:
    return bool(low <= np.int64(value) <= high)


@compiled
def _together(
    reached: UInt64, often: Float64, number: int, values: UInt64, chances: Float64
) -> int:
    """Put sums together to classes of equal width, each with its chance and its mean."""
    if number <= CLASSES:
        values[:number] = reached[:number]
        chances[:number] = often[:number]
        return number
    least, most = reached[0], reached[0]
    for at in range(number):
        least, most = min(least, reached[at]), max(most, reached[at])
    width = np.float64(most - least) + 1.0
    means = np.zeros(CLASSES)
    chances[:CLASSES] = 0.0
    for at in range(number):
        above = np.float64(reached[at] - least)
        which = min(int(above / width * CLASSES), CLASSES - 1)
        chances[which] += often[at]
        means[which] += often[at] * above
    kept = 0
    for which in range(CLASSES):
        if chances[which] > 0.0:
            values[kept] = least + np.uint64(means[which] / chances[which] + 0.5)
            chances[kept] = chances[which]
            kept += 1
    return kept


@compiled
def _settled(value: np.uint64, low: int, high: int, noise: SumNoise) -> float:
    """The chance that a sum which moves no more is rounded between two bounds."""
    if noise.keys.rule == 0:
        return 1.0 if _inside(scaled(value, _1, noise.base) * noise.base, low, high) else 0.0
    return _between(np.float64(value), np.float64(value), low, high, int(noise.base))


class _Step(NamedTuple):
    """One contribution to one sum: what noise is measured by, and in which table it is drawn."""

    left: np.uint64
    size: np.uint64
    factor: np.uint64
    measure: int
    table: int
    step: np.uint64
    extra: np.uint64


@compiled
def _last_inside(
    at: _Step, low: int, high: int, noise: SumNoise, moved: Int64, shares: Float64
) -> float:
    """The chance to be between two bounds after the last contribution."""
    height = height_of(at.left, at.size, at.factor, at.measure, noise.small.unit)
    amount = _amount_of_step(at.left, at.size, at.factor, at.measure, noise) / np.float64(at.step)
    extra, base, inside = np.float64(at.extra) / 1e9, int(noise.base), 0.0
    for number in range(_intervals(height, at.table, noise, moved, shares)):
        if noise.keys.rule == 0:
            distance = np.uint64(abs(moved[number])) + at.extra
            change = _on_grid(at.left, at.size, at.factor, at.measure, distance, at.step, noise)
            value = _moved_by(at.left, change, moved[number])
            inside += shares[number] * _settled(value, low, high, noise)
            continue
        half = 0 if at.measure == _UNIT else spread_of(moved[number], height, at.step)
        inside += shares[number] * _drawn_between(
            at.left, amount, moved[number], half, extra, low, high, base
        )
    return inside


@compiled
def _reach(
    at: _Step,
    share: float,
    noise: SumNoise,
    moved: Int64,
    shares: Float64,
    reached: UInt64,
    often: Float64,
    number: int,
) -> int:
    """Add the sums that one contribution leads to, with their chances; how many there are."""
    height = height_of(at.left, at.size, at.factor, at.measure, noise.small.unit)
    amount = _amount_of_step(at.left, at.size, at.factor, at.measure, noise) / np.float64(at.step)
    for interval in range(_intervals(height, at.table, noise, moved, shares)):
        if noise.keys.rule == 0:
            distance = np.uint64(abs(moved[interval])) + at.extra
            change = _on_grid(at.left, at.size, at.factor, at.measure, distance, at.step, noise)
            reached[number] = _moved_by(at.left, change, moved[interval])
            often[number] = share * shares[interval]
            number += 1
            continue
        half = 0 if at.measure == _UNIT else spread_of(moved[interval], height, at.step)
        for piece in range(PLACES):
            middle = moved[interval] + half * (2 * piece + 1 - PLACES) // PLACES
            steps = np.float64(abs(middle) + np.int64(at.extra)) / 1e9
            reached[number] = _moved_by(at.left, np.uint64(steps * amount + 0.5), middle)
            often[number] = share * shares[interval] / PLACES
            number += 1
    return number


@compiled
def _chances(
    total: Int64,
    sizes: Int64,
    contributors: Int64,
    sensitive: Mask,
    noise: SumNoise,
    most: int,
    lower: Int64,
    upper: Int64,
    out: Float64,
) -> None:
    moved, shares = np.empty(most, np.int64), np.empty(most)
    values, chances = np.empty(CLASSES, np.uint64), np.empty(CLASSES)
    sums = PLACES * CLASSES * most if noise.shares.size > 1 else 1
    reached, often = np.empty(sums, np.uint64), np.empty(sums)
    for cell in range(total.size):
        low, high = lower[cell], upper[cell]
        if total[cell] < 0:
            low, high = -upper[cell], -lower[cell]
        values[0], chances[0], states = np.uint64(abs(total[cell])), 1.0, 1
        places = min(noise.shares.size, contributors[cell])
        inside = 0.0
        if places == 0:
            inside = _settled(values[0], low, high, noise)
        for place in range(places):
            size = np.uint64(abs(sizes[cell, place]))
            factor = scaled(noise.shares[place], magnitude_of(size, noise.magnitude), _BILLION)
            number = 0
            for state in range(states):
                left, share = values[state], chances[state]
                measure = -1
                if left != _0 and factor != _0 and size != _0:
                    measure = measured_by(left, size, factor, place, noise.small)
                if measure < 0:
                    # No contribution moves it any more.
                    inside += share * _settled(left, low, high, noise)
                    continue
                table = 1 if noise.parity and contributors[cell] % 2 == 1 else 0
                if measure == _UNIT:
                    table = 2
                step = np.uint64(noise.rows.steps[table])
                more = place == 0 and sensitive[cell] and measure != _UNIT
                extra = noise.extra * step if more else _0
                at = _Step(left, size, factor, measure, table, step, extra)
                if place == places - 1:
                    inside += share * _last_inside(at, low, high, noise, moved, shares)
                else:
                    number = _reach(at, share, noise, moved, shares, reached, often, number)
            if place < places - 1:
                states = _together(reached, often, number, values, chances)
        out[cell] = min(inside, 1.0)
