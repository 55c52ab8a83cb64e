"""Small count rounding of the sets of records that tables tell apart: one rule, two roads.

The method for tables publishes what the rounded sets add up to; the method for records makes a
store of them. Both ask here, so both give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.small_counts.combinations import determined
from sdcensus.kernels.small_counts.differences import exposed_parts, given_away
from sdcensus.kernels.small_counts.incidence import Incidence
from sdcensus.kernels.small_counts.rounding import (
    GivenAway,
    RoundedCounts,
    Wishes,
    round_small_counts,
)
from sdcensus.model.linked.atoms import Atoms
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.vocabulary import option

Mask = npt.NDArray[np.bool_]
UInt64 = npt.NDArray[np.uint64]

LARGEST_BASE = 100


class InnerCheck(StrEnum):
    """Which small groups are looked for that published cells give away, and rounded too.

    ``none``: none. ``differences``: those that follow by subtracting one cell after the other.
    ``combinations``: those that follow from any combination of cells, which takes much longer.
    """

    NONE = "none"
    DIFFERENCES = "differences"
    COMBINATIONS = "combinations"


BASE = Parameter(
    "base",
    ValueKind.WHOLE,
    "Published counts are 0 or at least this number.",
    least=1,
    most=LARGEST_BASE,
    default=3,
)
THRESHOLD = Parameter(
    "threshold",
    ValueKind.WHOLE,
    "Smaller counts are small; the base if nothing is said here.",
    least=0,
)
FORCE = Parameter(
    "force",
    ValueKind.YES,
    "Round every smallest group, also those that feed no small count.",
)
INNER_CHECK = Parameter(
    "inner_check",
    ValueKind.WORD,
    "Which small groups are rounded too because published counts give them away.",
    words=tuple(InnerCheck),
    called="check of inner cells",
    default=InnerCheck.DIFFERENCES,
)

_CHECKS: dict[InnerCheck, GivenAway | None] = {
    InnerCheck.NONE: None,
    InnerCheck.DIFFERENCES: given_away,
    InnerCheck.COMBINATIONS: determined,
}


@dataclass(frozen=True, slots=True)
class SmallCountRule:
    """What is asked of small count rounding.

    Attributes:
        base: Published counts are 0 or at least this, 1 to 100.
        threshold: Counts below this are small, and become multiples of the base; the base if
            ``None``.
        force: Whether every smallest group becomes a multiple, also one that feeds nothing small.
        inner_check: Which small groups are looked for that published cells give away.
    """

    base: int
    threshold: int | None = None
    force: bool = False
    inner_check: InnerCheck | str = InnerCheck.DIFFERENCES

    def __post_init__(self) -> None:
        if type(self.base) is not int or not 1 <= self.base <= LARGEST_BASE:
            raise SpecError(f"The base is a whole number from 1 to {LARGEST_BASE}.")
        if self.threshold is None:
            object.__setattr__(self, "threshold", self.base)
        if type(self.threshold) is not int or self.threshold < self.base:
            raise SpecError(
                f"The threshold is a whole number and at least the base ({self.base}): otherwise"
                " some of the counts below the base stay as they are."
            )
        if type(self.force) is not bool:
            raise SpecError("Whether every smallest group is rounded is said by True or False.")
        object.__setattr__(
            self, "inner_check", option(InnerCheck, "check of inner cells", self.inner_check)
        )

    def parameters(self) -> dict[str, object]:
        """Everything that decides the numbers, as plain values."""
        return {
            "base": self.base,
            "threshold": self.threshold,
            "force": self.force,
            "inner_check": str(self.inner_check),
        }

    def rounded(self, tables: LinkedTables, atoms: Atoms, words: UInt64) -> RoundedCounts:
        """The counts of atoms that leave no published cell small.

        Args:
            tables: The tables.
            atoms: What they tell apart.
            words: A random word for each atom: it decides between choices that are equally good.
        """
        assert self.threshold is not None  # said when it was built
        starts, cells = atoms.starts, atoms.cells
        weights = None
        exposed = self._exposed(tables)
        if exposed.any():
            starts, cells = atoms.members(tables, tables.published | exposed)
            weights = tables.published.astype(np.int64)
        wishes = Wishes(
            base=self.base,
            most=self.threshold - 1,
            weights=weights,
            forced=np.ones(len(atoms), dtype=bool) if self.force else None,
            given_away=_CHECKS[InnerCheck(self.inner_check)],
        )
        return round_small_counts(
            atoms.counts, Incidence(starts, cells, tables.size), words, wishes
        )

    def _exposed(self, tables: LinkedTables) -> Mask:
        """Cells that no table shows and that are left of a total: as good as published.

        Ages by tens and by classes that do not nest show what both have in common.
        """
        if self.inner_check is InnerCheck.NONE or tables.published.all():
            return np.zeros(tables.size, dtype=bool)
        sums = tables.equations
        return exposed_parts(sums.starts, sums.columns, sums.values, tables.published)
