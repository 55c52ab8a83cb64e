"""What an audit found, for those who render it. Says how withheld cells can be computed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from sdcensus.model.confidential import Confidential
from sdcensus.solvers.audit.certificate import Side
from sdcensus.solvers.audit.intervals import CellStatus


@dataclass(frozen=True, slots=True, repr=False)
class ProofTerm(Confidential):
    """A cell in a proof: how often it counts, and its value or the bound that is used of it."""

    cell: str
    factor: Fraction
    value: int

    def __repr__(self) -> str:
        return "<ProofTerm: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Proof(Confidential):
    """Why a bound holds.

    Attributes:
        side: Which bound; both if the cell is a sum of published cells.
        bound: The bound.
        published: The published cells that prove it, without those that are 0.
        zeros: How many published cells of 0 it needs besides.
        withheld: Withheld cells of which a bound is used.
        slack: By how much equations may fail, as often as they are used.
        elsewhere: The table that publishes the cell, where one does.
    """

    side: Side | None
    bound: int
    published: tuple[ProofTerm, ...] = ()
    zeros: int = 0
    withheld: tuple[ProofTerm, ...] = ()
    slack: Fraction = Fraction(0)
    elsewhere: str = ""

    def __repr__(self) -> str:
        return "<Proof: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AuditedCell(Confidential):
    """One withheld cell.

    Attributes:
        table: A table that withholds it.
        cell: Its codes.
        secondary: Whether it protects another cell; ``None`` where the file does not say.
        lower, upper: Its smallest and largest value; ``None`` where there is none.
        status: What became of it.
        proofs: Why, for cells that are disclosed or nearly.
    """

    table: str
    cell: str
    secondary: bool | None
    lower: int | None
    upper: int | None
    status: CellStatus
    proofs: tuple[Proof, ...] = ()

    def __repr__(self) -> str:
        return "<AuditedCell: confidential>"

    @property
    def width(self) -> int | None:
        """How far its bounds lie apart."""
        if self.lower is None or self.upper is None:
            return None
        return self.upper - self.lower


@dataclass(frozen=True, slots=True, repr=False)
class AuditedTable(Confidential):
    """One file: how many cells it has, and how many are shown, withheld and not listed."""

    name: str
    cells: int
    shown: int
    withheld: int
    absent: int
    tool: str

    def __repr__(self) -> str:
        return f"<AuditedTable {self.name}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class FailedSum(Confidential):
    """A sum of published cells that is not what it should be: its total, and the gap."""

    total: str
    parts: int
    gap: int

    def __repr__(self) -> str:
        return "<FailedSum: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AuditFindings(Confidential):
    """What an audit of some tables together found.

    Attributes:
        tables: The tables.
        cells: All withheld cells, the worst first.
        atoms: How many combinations of codes were used as further cells; 0 for none.
        whole: Whether bounds are those of whole numbers.
        fractional: Cells with a bound that no table of whole numbers is known to reach.
        unproven: Cells with a bound that rests on a solver's arithmetic.
        decimals: How many digits values have behind the point.
        percent, width: From when on a cell counts as nearly disclosed.
        levels: Whether a file has protection levels of its own, which count as well.
        tolerance: By how much sums may fail.
        failed: Sums that fail by no more than that.
        wrong: Withheld cells whose own value, in the file, lies outside of its interval.
        notes: What else is to be known.
    """

    tables: tuple[AuditedTable, ...]
    cells: tuple[AuditedCell, ...]
    atoms: int = 0
    whole: bool = False
    fractional: int = 0
    unproven: int = 0
    decimals: int = 0
    percent: Fraction = Fraction(0)
    width: int = 0
    levels: bool = False
    tolerance: int = 0
    failed: tuple[FailedSum, ...] = ()
    wrong: int = 0
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<AuditFindings of {len(self.tables)} tables: confidential>"

    def count(self, status: CellStatus) -> int:
        """How many withheld cells are so."""
        return sum(cell.status is status for cell in self.cells)

    @property
    def unbounded(self) -> int:
        """How many have no largest value."""
        return sum(cell.upper is None for cell in self.cells)

    def widths(self) -> Counter[int | None]:
        """How many cells have an interval of each width."""
        return Counter(cell.width for cell in self.cells)
