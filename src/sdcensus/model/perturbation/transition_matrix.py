"""With which probability a code becomes another: the matrix of PRAM, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.transitions import WHOLE
from sdcensus.model.confidential import Confidential

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: The rows of a matrix as they are written or designed: exact numbers.
Rows = Sequence[Sequence[Fraction | float]]

#: By how much the sum of a row may miss one: what rounding to nine decimals leaves of 1,000 codes.
TOLERANCE = Fraction(1, 10**6)
#: Matrices of more codes are not made: a row would have hardly a probability for each.
MOST_CODES = 4096


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TransitionMatrix(Confidential):
    """The probabilities of PRAM as multiples of 2**-32, so that every machine draws the same.

    Confidential: whoever knows it can say how likely a published value is the true one, and an
    invariant one is computed from true frequencies.

    Attributes:
        codes: What rows and columns stand for.
        weights: Row by row; each sums to ``WHOLE``.
    """

    codes: tuple[str, ...]
    weights: Int64

    def __post_init__(self) -> None:
        size = len(self.codes)
        sums = self.weights.sum(axis=1)
        if self.weights.shape != (size, size) or (sums != WHOLE).any() or (self.weights < 0).any():
            raise ValueError("rows of a transition matrix sum to one")
        self.weights.flags.writeable = False

    def __repr__(self) -> str:
        return "<TransitionMatrix: confidential>"

    @classmethod
    def from_rows(cls, codes: Sequence[str], rows: Rows) -> TransitionMatrix:
        """Make rows whole numbers: each entry changes by less than 2**-32."""
        numerators = []
        for at, row in enumerate(rows):
            ratios = [share.as_integer_ratio() for share in row]
            common = math.lcm(*(below for _, below in ratios))
            whole = [above * (common // below) for above, below in ratios]
            if abs(Fraction(sum(whole), common) - 1) > TOLERANCE:
                raise ValueError(f"row {at} does not sum to one")
            numerators.append(whole)
        return cls.from_parts(codes, numerators)

    @classmethod
    def from_parts(cls, codes: Sequence[str], rows: Sequence[Sequence[int]]) -> TransitionMatrix:
        """Share out each row in proportion to whole numbers, by the largest remainders."""
        weights = np.zeros((len(codes), len(codes)), dtype=np.int64)
        for at, row in enumerate(rows):
            weights[at] = _shared_out(row)
        return cls(tuple(codes), weights)

    @property
    def probabilities(self) -> Float64:
        """The same as numbers between 0 and 1; exact in 64 bits."""
        return self.weights / WHOLE

    @property
    def stay(self) -> Float64:
        """For each code the probability that it stays."""
        return np.diagonal(self.weights) / WHOLE

    def expected(self, totals: Int64) -> Float64:
        """How many records each code is expected to have afterwards."""
        return _exact_product(totals, self.weights)

    def spread(self, totals: Int64) -> Float64:
        """The standard deviation of how many records each code has afterwards."""
        probabilities = self.probabilities
        variance = totals @ (probabilities * (1 - probabilities))
        return np.sqrt(variance)

    def invariant(self, totals: Int64, alpha: Fraction = Fraction(1)) -> TransitionMatrix:
        """The matrix that leaves these totals as they are, in expectation.

        R = PQ with Q[k,j] = P[j,k] p[j] / sum of p[i] P[i,k], and alpha R + (1 - alpha) I. What is
        expected misses the totals by less than the number of records times 2**-32. Only sums,
        products and quotients in one order, which every machine rounds alike: a product of
        matrices by a library would differ in the last bit.
        """
        probabilities = self.probabilities
        reached = np.zeros(len(self.codes))
        for code, total in enumerate(totals.tolist()):
            reached += total * probabilities[code]
        rows = np.zeros_like(probabilities)
        for middle in range(len(self.codes)):
            back = np.zeros(len(self.codes))
            if reached[middle] > 0:
                back = probabilities[:, middle] * totals / reached[middle]
            else:  # no record ever comes here
                back[middle] = 1.0
            rows += probabilities[:, middle][:, None] * back[None, :]
        share = float(alpha)
        rows *= share
        rows[np.diag_indices_from(rows)] += 1 - share
        return TransitionMatrix.from_rows(self.codes, rows.tolist())


def _shared_out(parts: Sequence[int]) -> list[int]:
    """``WHOLE`` in proportion to whole numbers: rounded down, the rest to the largest remainders.

    Examples:
        >>> [WHOLE - sum(_shared_out([1, 1, 1])), _shared_out([1, 1, 1])[0] - WHOLE // 3]
        [0, 1]
    """
    total = sum(parts)
    quotients = [divmod(part * WHOLE, total) for part in parts]
    weights = [quotient for quotient, _ in quotients]
    left = WHOLE - sum(weights)
    order = sorted(range(len(parts)), key=lambda at: (-quotients[at][1], at))
    for at in order[:left]:
        weights[at] += 1
    return weights


def _exact_product(totals: Int64, weights: Int64) -> Float64:
    """Totals times weights over ``WHOLE``: whole numbers beyond 64 bits, divided once."""
    product = totals.astype(object) @ weights.astype(object)
    return np.array([int(number) / WHOLE for number in product], dtype=np.float64)


def check_size(codes: int, what: str) -> None:
    """Refuse lists of codes for which no matrix is made."""
    if codes > MOST_CODES:
        raise SpecError(
            f"{what} has {codes:,} codes or combinations, and a transition matrix can have"
            f" {MOST_CODES:,}. Name fewer variables in it, or leave it out."
        )
