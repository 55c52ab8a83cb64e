"""What members of a household mean to each other: one who is found gives the others away."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.uniques.fitting import survival
from sdcensus.kernels.uniques.numbering import compressed
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: From which risk on a household is counted as being at risk.
LIKELY = 0.5
#: Products are rounded: what is so close to the limit is at the limit.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HouseholdRisk(Confidential):
    """The risk that somebody of a household is found.

    Attributes:
        households: How many have members in the file.
        expected: In how many of them somebody is expected to be found.
        likely: How many have a risk of one half or more.
        outside: Records of the file that belong to no household: they are not counted here.
    """

    households: int
    expected: float
    likely: int
    outside: int = 0

    def __repr__(self) -> str:
        return "<HouseholdRisk: confidential>"

    @property
    def mean(self) -> float:
        """The mean risk of a household."""
        return self.expected / self.households if self.households else 0.0

    @property
    def likely_share(self) -> float:
        """The share of households with a risk of one half or more."""
        return self.likely / self.households if self.households else 0.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Members(Confidential):
    """The records of a file by household.

    Attributes:
        rows: The row of each household with members, ascending.
        order: Records one household after the other.
        starts: Where each household begins in ``order``; one more at the end.
        outside: How many records belong to no household.
    """

    rows: Int64
    order: Int64
    starts: Int64
    outside: int

    def __repr__(self) -> str:
        return "<Members: confidential>"

    @classmethod
    def of(cls, households: Integers) -> Members:
        """Take the row of each record's household; below 0 or ``NO_ROW`` for none."""
        rows = np.asarray(households).astype(np.int64)
        inside = np.flatnonzero((rows >= 0) & (rows != int(NO_ROW)))
        numbers, known = compressed(rows[inside], int(rows[inside].max(initial=0)))
        starts = np.zeros(known.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(numbers, minlength=known.size), out=starts[1:])
        order = inside[np.argsort(numbers, kind="stable")]
        return cls(known, order, starts, int(rows.size - inside.size))

    def risks(self, matches: Floats) -> Floats:
        """For each household the chance that at least one of its members is found.

        Args:
            matches: For each record of the file, how many of the census it may be (F*).
        """
        out = np.empty(self.rows.size, dtype=np.float64)
        survival(1.0 / np.maximum(matches, 1.0), self.order, self.starts, out)
        return 1.0 - out

    def measured(self, matches: Floats) -> HouseholdRisk:
        """What is counted of the households of a file."""
        risks = self.risks(matches)
        return HouseholdRisk(
            households=int(risks.size),
            expected=math.fsum(risks.tolist()),
            likely=int(np.count_nonzero(risks >= LIKELY - _ROUNDING)),
            outside=self.outside,
        )


def household_risk(matches: Floats, households: Integers) -> HouseholdRisk:
    """The risk of households, 1 - product of (1 - 1/F*) over the members in the file.

    Args:
        matches: For each record of the file, how many of the census it may be (F*).
        households: The row of its household; below 0 or ``NO_ROW`` for none.

    Examples:
        >>> round(household_risk(np.array([2.0, 4.0, 10.0]), np.zeros(3, dtype=int)).mean, 4)
        0.6625
    """
    return Members.of(households).measured(matches)
