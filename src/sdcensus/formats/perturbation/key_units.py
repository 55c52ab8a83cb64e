"""From probabilities and bounds to whole numbers of keys, in the order of their intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.quantise import quantise
from sdcensus.model.perturbation.table import DeviationRow
from sdcensus.model.schema.schema import LARGEST_MODULUS

Int64 = npt.NDArray[np.int64]

#: A mean deviation up to this comes from rounded figures; a larger one must be declared.
ROUNDING_BIAS = Fraction(1, 10**6)

#: Intervals of a row in their order: what they add and how likely they are.
Pieces = Sequence[tuple[int, Fraction]]


def checked_modulus(modulus: int) -> int:
    """Refuse a number of keys that no census can have."""
    if type(modulus) is not int or not 2 <= modulus <= LARGEST_MODULUS:
        raise SpecError(f"A key space has between 2 and {LARGEST_MODULUS} keys; a whole number.")
    return modulus


def is_power_of_ten(modulus: int) -> bool:
    """Whether keys are decimals of a fixed length, as in tau-ARGUS and the R packages.

    Examples:
        >>> is_power_of_ten(10**8), is_power_of_ten(2**32)
        (True, False)
    """
    return str(modulus).rstrip("0") == "1"


def mean_of(pieces: Pieces) -> Fraction:
    """The mean deviation of a row, exactly."""
    return sum((value * share for value, share in pieces), Fraction(0))


def balanced(row: DeviationRow) -> bool:
    """Whether the mean of a row is 0, or as near to it as its number of keys allows."""
    total = sum(map(int.__mul__, row.deviations, row.widths))
    step = math.gcd(*(value - row.deviations[0] for value in row.deviations))
    return total == 0 or abs(total) < step


def from_bounds(pieces: Pieces, modulus: int) -> DeviationRow:
    """Intervals whose upper bounds are kept: key ``k`` lies below a bound if ``k / modulus`` does.

    So the row gives for every decimal key what a program gives that compares it with the bounds.
    """
    kept: list[tuple[int, int]] = []
    upper, below = Fraction(0), 0
    for value, share in pieces:
        upper += share
        here = min(modulus, math.ceil(upper * modulus))
        if here > below:
            kept.append((value, here - below))
            below = here
    return _row(kept)


def from_shares(pieces: Pieces, modulus: int, *, unbiased: bool) -> DeviationRow:
    """Intervals whose probabilities are kept, with a mean of 0 if that is asked for.

    A deviation that has several intervals divides its keys among them in proportion.
    """
    totals: dict[int, Fraction] = {}
    for value, share in pieces:
        totals[value] = totals.get(value, Fraction(0)) + share
    values = sorted(totals)
    keys = quantise([totals[value] for value in values], values, modulus, unbiased=unbiased)
    of_value = dict(zip(values, keys, strict=True))
    done: dict[int, tuple[Fraction, int]] = {}
    kept: list[tuple[int, int]] = []
    for value, share in pieces:
        if not totals[value]:
            continue
        before, given = done.get(value, (Fraction(0), 0))
        upto = math.floor(of_value[value] * (before + share) / totals[value] + Fraction(1, 2))
        done[value] = (before + share, upto)
        if upto > given:
            kept.append((value, upto - given))
    return _row(kept)


def mean_of_row(row: DeviationRow) -> Fraction:
    """What a row adds on average, exactly."""
    return Fraction(sum(map(int.__mul__, row.deviations, row.widths)), row.keys)


def pieces_of(row: DeviationRow) -> list[tuple[int, Fraction]]:
    """The intervals of a row with their probabilities."""
    return [
        (value, Fraction(width, row.keys))
        for value, width in zip(row.deviations, row.widths, strict=True)
    ]


def requantised(row: DeviationRow, modulus: int, *, declared_biased: bool) -> DeviationRow:
    """A row in another key space; a bias that its few keys made unavoidable goes away."""
    if row.keys == modulus:
        return row
    keep = declared_biased and abs(mean_of_row(row)) > ROUNDING_BIAS and not balanced(row)
    return from_shares(pieces_of(row), modulus, unbiased=not keep)


def from_entries(deviations: Int64) -> DeviationRow:
    """A row from what each key adds; neighbouring keys that add the same share an interval."""
    starts = np.flatnonzero(np.diff(deviations, prepend=deviations[0] - 1))
    widths = np.diff(starts, append=deviations.size)
    return DeviationRow(tuple(deviations[starts].tolist()), tuple(widths.tolist()))


def entries_of(row: DeviationRow) -> Int64:
    """What each key adds."""
    return np.repeat(np.array(row.deviations, dtype=np.int64), row.widths)


def _row(kept: Sequence[tuple[int, int]]) -> DeviationRow:
    return DeviationRow(tuple(value for value, _ in kept), tuple(width for _, width in kept))
