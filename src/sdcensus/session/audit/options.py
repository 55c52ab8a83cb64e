"""How an audit is done, and what it takes to be known."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from sdcensus.errors import SpecError


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How an audit is done.

    Attributes:
        percent: Whoever takes the middle of an interval and is off by at most this is near.
        width: Intervals narrower than this, in units of the values, are near.
        tolerance: By how much sums of published values may fail, in units of the values.
        lowest: The least that a cell can be; ``None`` for amounts that may be negative.
        withheld_from: Withheld cells are known to be at least this: 1 where empty ones are shown.
        withheld_below: Cells that a rule withholds are known to be smaller than this.
        atoms: Whether combinations of all codes count as further cells: ``None`` for no.
        whole: Whether bounds are those of whole numbers.
        separately: Whether each table is audited by itself.
        proofs: For how many cells at most the published cells are named that disclose them.
        workers: How many threads work; as many as processors if ``None``.
    """

    percent: Fraction = Fraction(10)
    width: Fraction = Fraction(0)
    tolerance: Fraction = Fraction(0)
    lowest: int | None = 0
    withheld_from: int | None = None
    withheld_below: int | None = None
    atoms: bool = False
    whole: bool = False
    separately: bool = False
    proofs: int = 100
    workers: int | None = None

    def __post_init__(self) -> None:
        if self.proofs < 0:
            raise SpecError("Proofs are written for 0 cells or more.")
        if self.withheld_below is not None and self.withheld_below < 1:
            raise SpecError("Cells are withheld below a number, 1 or more.")
        if self.withheld_from is not None and self.withheld_from < 0:
            raise SpecError("Withheld cells are known to be at least a number, 0 or more.")
