"""What an assessment found: every figure of one table, and what of it anybody may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.measure import Measured, PublicRow, Row, Side
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Table
from sdcensus.model.text import Text
from sdcensus.report.study.results import CellFigures, Study
from sdcensus.risk.counted_parts import PartCounts
from sdcensus.risk.detection.findings import Findings
from sdcensus.risk.feasibility import Feasibility
from sdcensus.risk.groups.broken_down import BrokenDown
from sdcensus.risk.looks.budget import LookBudget, Looks
from sdcensus.risk.posterior import PerceivedDisclosure, Posterior
from sdcensus.risk.unperturbed import Unperturbed
from sdcensus.utility.by_row import RowMeasures
from sdcensus.utility.deviations import Deviations
from sdcensus.utility.distances import Utility
from sdcensus.utility.evaluation import EvaluationRow
from sdcensus.utility.levels import UtilityAt

Result = TypeVar("Result")

#: The schemes beside which a table is shown: those of the founding study.
COMPARED = ("CP1", "CP2", "CP3(EU)", "RR3", "CP3", "CP4", "CP3(1,2)", "RR5")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicPart:
    """A part of a published table in figures that every reader could compute.

    Attributes:
        part: Which cells: interior ones, totals and subtotals, or all.
        cells: How many there are.
        withheld: How many of them have no number.
        zeros, visible: How many are published as 0, and how many as 1 or 2.
    """

    part: TablePart
    cells: int
    withheld: int
    zeros: int
    visible: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicAssessment:
    """A published table in figures that every reader could compute.

    Attributes:
        table: The table, with its notes.
        title: What stands above it.
        shows: What it shows, in words.
        parts: The same figures for interior cells, for totals and subtotals, and for all.
        method: The name of the method.
        promises: What the method promises, as sentences.
        provenance: How it was made, if that is known.
        rows: What public measures say of it.
    """

    table: Table
    title: str
    shows: str
    parts: tuple[PublicPart, ...]
    method: str
    promises: tuple[str, ...]
    provenance: Provenance | None
    rows: tuple[PublicRow, ...]

    def __repr__(self) -> str:
        return f"<PublicAssessment of {self.table.spec.title}>"

    @property
    def whole(self) -> PublicPart:
        """All cells of the table."""
        return self.parts[-1]


@dataclass(frozen=True, slots=True, repr=False)
class RecordFigures(Confidential):
    """What is left of the records of small interior cells; and how the original is seen.

    Attributes:
        untouched: Small cells and their records that are neither perturbed nor imputed; against the
            original where there is one.
        perceived: Cells that are published as 1 or 2 and have that count in the original.
        change: The mean change of a cell that is not empty in the original.
    """

    untouched: Unperturbed
    perceived: PerceivedDisclosure | None = None
    change: float | None = None

    def __repr__(self) -> str:
        return "<RecordFigures: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Assessment(Confidential):
    """What was measured on one table.

    Attributes:
        public: What may be told to anyone: nothing in it was computed from true counts.
        population: Units in the table; ``None`` where they are not the sum of any of its cells.
        counted: How many cells are empty, small, kept and seen: of interior cells, of totals and
            subtotals, and of all.
        method: How it was protected, in a few words.
        cautions: What the method itself warns of.
        findings: What the true counts of this table would give away.
        groups_readable: Of the groups in which all have the same property, how many still look so
            in the published table.
        withheld: Withheld cells that follow from the numbers around them.
        known: What an intruder is taken to know: the largest change, and what is known of empty
            and withheld cells.
        whole: The same with all that the method says; ``None`` where that narrows nothing more.
        assumed: What a reader has to know about the intruder, as sentences.
        true_on_purpose: Whether all numbers that are shown are true, and others are withheld.
        intervals: What is left when he works with this table alone: from the one who knows least
            to the one who knows most.
        given_away: Cells of 1 or 2 that the one who knows most can work out, some of them.
        measured: What every registered measure found, with its rows.
        posteriors: What published small values mean, and what happens to true ones, in each part.
        utility: Distances over interior cells, margins, all cells, as far as there are any.
        levels: Distances at each level of the area, where the table has one.
        rows: Distances for each area with their spread, where the table has areas.
        deviations: How often each change occurs; ``None`` where they are too far apart.
        worst: The cells that changed most.
        compared: The same table by other methods and as it is, if they were compared.
        chosen: The name under which the table itself is among them.
        others: How many other tables it was compared with.
        budgets: How often all tables together look at a cell.
        variance: The variance of the noise of large counts, if every cell has noise of its own.
        noise: The perturbation behind it, if it has one.
        recovery_limit: The chance of recovery that the office accepts, if it named one.
        differences: What the true counts of other tables and of this one give away together.
        evaluation: The row of the evaluation sheet.
        left_out: What could not be measured, and why.
        provenance: How the table was made, if that is known.
        smallest_group: What the rule of the smallest group guarantees, as a sentence; empty where
            it was not applied.
        groups: What all tables together break down.
        census: What the census is called, where that is known.
        records: The same of records, where some are imputed or the store is a derived one.
    """

    public: PublicAssessment
    population: int | None
    counted: tuple[PartCounts, ...]
    method: str
    cautions: tuple[str, ...]
    findings: tuple[Findings, ...]
    groups_readable: int
    withheld: Findings | None
    known: Knowledge
    whole: Knowledge | None
    assumed: tuple[str, ...]
    intervals: tuple[Feasibility, ...]
    given_away: tuple[CellFigures, ...]
    measured: tuple[Measured, ...]
    posteriors: tuple[tuple[TablePart, Posterior], ...]
    utility: tuple[tuple[TablePart, Utility], ...]
    levels: tuple[UtilityAt, ...]
    rows: RowMeasures | None
    deviations: Deviations | None
    worst: tuple[CellFigures, ...]
    compared: Study | None
    chosen: str | None
    others: int
    budgets: tuple[LookBudget, ...]
    variance: float | None
    noise: Perturbation | None
    recovery_limit: float | None
    differences: tuple[Findings, ...]
    evaluation: EvaluationRow
    left_out: tuple[str, ...]
    provenance: Provenance | None
    smallest_group: str = ""
    groups: tuple[BrokenDown, ...] = ()
    census: Text = Text()
    records: RecordFigures | None = None
    true_on_purpose: bool = False

    def __repr__(self) -> str:
        return f"<Assessment of {self.public.table.spec.title}: confidential>"

    @property
    def table(self) -> Table:
        """The published table."""
        return self.public.table

    def counted_in(self, part: TablePart) -> PartCounts | None:
        """How many cells a part of the table has, of each kind; ``None`` where there is no such."""
        return next((counts for counts in self.counted if counts.part is part), None)

    def utility_in(self, part: TablePart) -> Utility | None:
        """The distances over a part of the table, if it has one."""
        return dict(self.utility).get(part)

    @property
    def main(self) -> Feasibility | None:
        """What the intruder finds who knows the largest change: the headline of the page."""
        return self._last(self.known)

    @property
    def sharpest(self) -> Feasibility | None:
        """What the intruder finds who knows everything about the method but its keys."""
        return self._last(self.whole) or self.main

    def _last(self, knowledge: Knowledge | None) -> Feasibility | None:
        fitting = [each for each in self.intervals if each.knowledge == knowledge]
        return fitting[-1] if fitting else None

    def result(self, kind: type[Result]) -> Result | None:
        """What the measure with this kind of result found, if there is anything to say."""
        results = (each.result for each in self.measured)
        return next((result for result in results if isinstance(result, kind)), None)

    def rows_of(self, side: Side) -> tuple[Row, ...]:
        """The rows of all measures in this part of the report."""
        measured = [each for each in self.measured if each.measure.side is side]
        return tuple(row for each in measured for row in each.rows)

    @property
    def worst_looks(self) -> tuple[LookBudget, Looks, float | None] | None:
        """The budget with the most looks at a cell, the cell, and the chance to find it."""
        if not self.budgets:
            return None
        budget = max(self.budgets, key=lambda each: each.asked.looks)
        return budget, budget.asked, self.chance_at(budget.asked)

    def chance_at(self, cell: Looks) -> float | None:
        """The chance that all tables together give a cell away, where noise has a variance."""
        return cell.chance(self.variance, self.noise)
