"""Systematic samples: units in the order of their areas, of which every so many-th is taken.

One code for the sample that becomes a store and for samples that become files. Fractions are exact:
with ``numerator / denominator`` and a start that is drawn among the numbers below the denominator,
the unit at place ``i`` is taken when ``(start + i * numerator) / denominator`` crosses a whole
number on the way to the next. So each unit is taken with exactly that probability, and the number
of units that are taken is the expected one, rounded down or up.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.records.ordering import rows_by
from sdcensus.microdata.method import Draws

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

_WORD = 64


def order_by_area(area: Integers, words: Integers, digests: Integers) -> Integers:
    """Units by area, in each by their random words, and by digests where these are equal."""
    ordered, order = sort_cells(words, largest=(1 << _WORD) - 1)
    if (ordered[1:] == ordered[:-1]).any():
        order = np.lexsort((digests, words)).astype(np.uint32)
    by_area = rows_by(area[order], int(area.max(initial=0)))
    return order if by_area is None else order[by_area]


def places_taken(size: int, fraction: Fraction, start: int) -> Int64:
    """The places, from 0 on, of the units that are taken of so many.

    Args:
        size: How many units stand in order.
        fraction: The share that is taken; above 0 and at most 1.
        start: A whole number from 0 to below the fraction's denominator.

    Examples:
        >>> places_taken(10, Fraction(1, 3), 0), places_taken(10, Fraction(2, 5), 3)
        (array([2, 5, 8]), array([0, 3, 5, 8]))
    """
    step, whole = fraction.numerator, fraction.denominator
    number = (start + size * step) // whole
    if start + (size + 1) * step + whole < 1 << 62:
        crossings = np.arange(1, number + 1, dtype=np.int64) * whole - start
        return np.asarray(-(-crossings // step) - 1, dtype=np.int64)
    exact = (-((start - crossing * whole) // step) - 1 for crossing in range(1, number + 1))
    return np.fromiter(exact, dtype=np.int64, count=number)


def drawn_below(draws: Draws, limit: int, *counters: int) -> int:
    """A whole number from 0 to below a limit, each with exactly the same chance.

    Bits beyond those of the limit are cut off, and numbers that are too large are drawn again.
    """
    bits = (limit - 1).bit_length()
    if not bits:
        return 0
    parts = -(-bits // _WORD)
    attempt = 0
    while True:
        numbers = np.arange(attempt * parts, (attempt + 1) * parts, dtype=np.uint64)
        words = draws.words(np.zeros(parts, dtype=np.uint64), *counters, numbers)
        joined = sum(int(word) << (_WORD * place) for place, word in enumerate(words))
        value = joined & ((1 << bits) - 1)
        if value < limit:
            return value
        attempt += 1
