"""Poisson log-linear models of how many records of a sample have each combination of keys.

With main effects keys are independent, and everything follows from the counts of their values.
With all two-way terms the counts of each pair of keys are fitted, by iterative proportional
fitting over the whole table of keys.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sdcensus.risk.records.key_column import Integers

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

#: Fitting stops when margins are this near, as a share of all records, or after so many rounds.
PRECISION, MOST_ROUNDS = 1e-7, 200
#: Cells times pairs of keys times rounds that a fit with two-way terms may take: below a second.
MOST_WORK = 100_000_000
#: Where fewer rounds than these would be left, the table is too large for two-way terms.
FEWEST_ROUNDS = 20


class ModelTerms(StrEnum):
    """Which terms a model has."""

    MAIN = "main-effects"
    TWO_WAY = "two-way"


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel:
    """Expected counts of the combinations of keys that occur in a sample.

    Attributes:
        terms: Its terms.
        expected: For each combination that occurs the expected count.
        dispersion: The test of dispersion: about standard normal where the model is right, far
            above 0 where counts vary more than it says, below 0 where it follows them too closely.
        work: Cells times pairs of keys times rounds that it took to fit.
    """

    terms: ModelTerms
    expected: Floats
    dispersion: float
    work: int = 0


def dispersion(observed: Int64, expected: Floats, squares: float) -> float:
    """The test of Cameron and Trivedi: the sum of (f - e)^2 - f over all cells, standardised.

    Args:
        observed: The counts of the cells that occur.
        expected: What a model expects there.
        squares: The sum of the squared expected counts of all cells, empty ones included.
    """
    excess = np.sum((observed - expected) ** 2 - expected**2 - observed) + squares
    return float(excess / math.sqrt(2 * squares)) if squares > 0 else 0.0


def main_effects(codes: Sequence[Integers], observed: Int64) -> FittedModel:
    """Independent keys.

    Args:
        codes: For each key the code of each combination that occurs.
        observed: How many records each combination has.
    """
    total = float(observed.sum())
    expected, squares = np.full(observed.size, total), total**2
    for values in codes:
        shares = np.bincount(values, weights=observed) / max(total, 1.0)
        expected *= shares[values]
        squares *= float(np.sum(shares**2))
    return FittedModel(ModelTerms.MAIN, expected, dispersion(observed, expected, squares))


def two_way(codes: Sequence[Integers], observed: Int64) -> FittedModel | None:
    """All pairs of keys as observed; ``None`` for fewer than three keys or too large a table.

    The model of two keys with their two-way term is the table itself: it says nothing about others.
    """
    places = [np.unique(values, return_inverse=True)[1].reshape(-1) for values in codes]
    shape = tuple(int(values.max(initial=0)) + 1 for values in places)
    work = math.prod(shape) * math.comb(len(shape), 2)
    if len(shape) < 3 or work * FEWEST_ROUNDS > MOST_WORK or not observed.size:
        return None
    table = np.zeros(shape)
    np.add.at(table, tuple(places), observed)
    others = [
        tuple(axis for axis in range(len(shape)) if axis not in pair)
        for pair in itertools.combinations(range(len(shape)), 2)
    ]
    margins = [table.sum(axis=axes, keepdims=True) for axes in others]
    fitted = np.ones(shape)
    total = float(observed.sum())
    rounds = 0
    for _ in range(min(MOST_ROUNDS, MOST_WORK // work)):
        rounds += 1
        furthest = 0.0
        for axes, margin in zip(others, margins, strict=True):
            now = fitted.sum(axis=axes, keepdims=True)
            furthest = max(furthest, float(np.abs(now - margin).max()))
            fitted *= np.divide(margin, now, out=np.zeros_like(now), where=now > 0)
        if furthest <= PRECISION * total:
            break
    expected = fitted[tuple(places)]
    squares = float(np.sum(fitted**2))
    tested = dispersion(observed, expected, squares)
    return FittedModel(ModelTerms.TWO_WAY, expected, tested, work * rounds)
