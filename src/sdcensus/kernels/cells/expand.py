"""From the finest cells of a table to the cells of all its levels, without holding the grid.

Cells are kept by their numbers in mixed radix, ascending. The axis that runs fastest is expanded:
cells that differ on it alone stand next to each other, so what they are parts of is found without
a search. What comes out is placed by its digit on that axis, which thereby becomes the slowest.
One round over the axes, the last one first, expands all of them and leaves the numbers ascending
in the old order of axes. Each step is one pass over what it makes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.ranked import merge_into

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]


@compiled
def _sizes(
    numbers: UInt64, radix: np.uint64, firsts: Int64, places: Int64, sizes: Int64
) -> np.int64:
    """Count in ``sizes`` the cells that each place of the fastest axis will have; their sum."""
    seen = np.full(sizes.size, -1, dtype=np.int64)
    run = np.int64(-1)
    prefix = np.uint64(0)
    made = np.int64(0)
    for i in range(numbers.size):
        here = numbers[i] // radix
        if i == 0 or here != prefix:
            prefix = here
            run += 1
        digit = np.int64(numbers[i] - here * radix)
        for at in range(firsts[digit], firsts[digit + 1]):
            place = places[at]
            if seen[place] != run:
                seen[place] = run
                sizes[place] += 1
                made += 1
    return made


#: The first column of a list of largest contributions, and its further columns.
_LIST, _OF_LIST = 4, 5


def list_columns(width: int, fields: int) -> list[int]:
    """How the columns of a list of largest contributions are combined, for ``combines``."""
    return [_LIST | fields << 3 | width << 8, *[_OF_LIST] * (width - 1)]


@compiled
def _combine_into(
    values: Int64, source: Any, combines: Int64, target: Int64, cell: Any, spare: Int64
) -> None:
    for one in range(combines.size):
        value = values[source, one]
        how = combines[one] & 7
        if how == 0:
            target[cell, one] += value
        elif how == 1:
            target[cell, one] ^= value
        elif how == 2:
            target[cell, one] = min(target[cell, one], value)
        elif how == 3:
            target[cell, one] = max(target[cell, one], value)
        elif how == 4:
            end = one + (combines[one] >> 8)
            fields = combines[one] >> 3 & 31
            merge_into(values, source, one, end, target, cell, one, end, fields, spare)


@compiled
def _expand(
    numbers: UInt64,
    values: Int64,
    radix: np.uint64,
    others: np.uint64,
    firsts: Int64,
    places: Int64,
    combines: Int64,
    starts: Int64,
    out_numbers: UInt64,
    out_values: Int64,
) -> None:
    seen = np.full(starts.size, -1, dtype=np.int64)
    cell_of = np.zeros(starts.size, dtype=np.int64)
    spare = np.empty((1, combines.size), dtype=np.int64)
    run = np.int64(-1)
    prefix = np.uint64(0)
    for i in range(numbers.size):
        here = numbers[i] // radix
        if i == 0 or here != prefix:
            prefix = here
            run += 1
        digit = np.int64(numbers[i] - here * radix)
        for at in range(firsts[digit], firsts[digit + 1]):
            place = places[at]
            if seen[place] == run:
                _combine_into(values, i, combines, out_values, cell_of[place], spare)
                continue
            cell = starts[place]
            starts[place] += 1
            seen[place] = run
            cell_of[place] = cell
            out_numbers[cell] = np.uint64(place) * others + prefix
            for one in range(combines.size):
                out_values[cell, one] = values[i, one]


def expand_fastest(
    numbers: UInt64,
    values: Int64,
    *,
    radix: int,
    others: int,
    firsts: Int64,
    places: Int64,
    size: int,
    combines: Int64,
    most: int,
) -> tuple[UInt64, Int64] | None:
    """Expand the axis that runs fastest, and make it the slowest.

    Args:
        numbers: Cells by number, ascending, each once.
        values: What each cell holds; one column for each accumulator.
        radix: How many groups the axis has.
        others: How many combinations of the other axes there are.
        firsts, places: The places at which group ``g`` of the axis is counted are
            ``places[firsts[g]:firsts[g + 1]]``, each once; none if it is left out.
        size: How many places there are.
        combines: For each column of ``values``, how cells become one; members of ``Combine``, or
            what ``list_columns`` says.
        most: Give up if more cells than this would be made.

    Returns:
        Numbers, ascending, and values of the cells; ``None`` if there are too many.
    """
    sizes = np.zeros(size, dtype=np.int64)
    made = int(_sizes(numbers, np.uint64(radix), firsts, places, sizes))
    if made > most:
        return None
    starts = np.zeros(size, dtype=np.int64)
    np.cumsum(sizes[:-1], out=starts[1:])
    out_numbers = np.empty(made, dtype=np.uint64)
    out_values = np.empty((made, combines.size), dtype=np.int64)
    _expand(
        numbers,
        values,
        np.uint64(radix),
        np.uint64(others),
        firsts,
        places,
        combines,
        starts,
        out_numbers,
        out_values,
    )
    return out_numbers, out_values


@compiled
def _combine_sorted(
    numbers: UInt64,
    order: Integers,
    values: Int64,
    combines: Int64,
    out_numbers: UInt64,
    out_values: Int64,
) -> np.int64:
    cell = np.int64(-1)
    spare = np.empty((1, combines.size), dtype=np.int64)
    for i in range(numbers.size):
        if cell >= 0 and numbers[i] == out_numbers[cell]:
            _combine_into(values, order[i], combines, out_values, cell, spare)
            continue
        cell += 1
        out_numbers[cell] = numbers[i]
        for one in range(combines.size):
            out_values[cell, one] = values[order[i], one]
    return cell + 1


def combine_sorted(
    numbers: UInt64, order: Integers, values: Int64, combines: Int64
) -> tuple[UInt64, Int64]:
    """Cells of the same number become one.

    Args:
        numbers: Cells by number, ascending.
        order: Where in ``values`` each of them stands.
        values, combines: As for ``expand_fastest``.
    """
    out_numbers = np.empty(numbers.size, dtype=np.uint64)
    out_values = np.empty((numbers.size, combines.size), dtype=np.int64)
    size = int(_combine_sorted(numbers, order, values, combines, out_numbers, out_values))
    return out_numbers[:size], out_values[:size]


@compiled
def digits(numbers: UInt64, weight: np.uint64, radix: np.uint64, out: Integers) -> None:
    """The digit of ascending numbers that has this weight and radix."""
    low, high, digit = np.uint64(0), np.uint64(0), np.uint64(0)
    for i in range(numbers.size):
        here = numbers[i]
        # Neighbours mostly share their slower digits: no division then.
        if here >= high or here < low:
            whole = here // weight
            low = whole * weight
            high = low + weight
            digit = whole % radix
        out[i] = digit
