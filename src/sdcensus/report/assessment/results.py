"""What an assessment found: every figure of one table, and what of it anybody may see."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.parts import Part
from sdcensus.model.perturbation.rows import Perturbation
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Table
from sdcensus.report.study.results import CellFigures, Study
from sdcensus.risk.composite import CompositeRisk
from sdcensus.risk.detection.findings import Findings
from sdcensus.risk.feasibility import Feasibility
from sdcensus.risk.groups.broken_down import BrokenDown
from sdcensus.risk.looks.budget import LookBudget, Looks
from sdcensus.risk.posterior import PerceivedDisclosure, Posterior, VisibleSmall
from sdcensus.risk.unperturbed import Unperturbed
from sdcensus.utility.by_row import RowMeasures
from sdcensus.utility.deviations import Deviations
from sdcensus.utility.distances import Utility
from sdcensus.utility.evaluation import EvaluationRow
from sdcensus.utility.levels import UtilityAt


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicAssessment:
    """A published table in figures that every reader could compute.

    Attributes:
        table: The table, with its notes.
        title: What stands above it.
        shows: What it shows, in words.
        cells, interior_cells: How many cells it has, and of how many all others are sums.
        published_units: The sum of the published interior cells.
        zeros: How many interior cells are published as 0.
        withheld: How many cells have no number.
        visible: How many interior cells are published as 1 or 2.
        share_that_adds_up: The share of totals that equal the sum of their parts.
        largest_gap: The largest difference between a total and the sum of its parts.
        method: The name of the method.
        promises: What the method promises, as sentences.
        provenance: How it was made, if that is known.
    """

    table: Table
    title: str
    shows: str
    cells: int
    interior_cells: int | None
    published_units: int | None
    zeros: int | None
    withheld: int
    visible: VisibleSmall
    share_that_adds_up: float | None
    largest_gap: int | None
    method: str
    promises: tuple[str, ...]
    provenance: Provenance | None

    def __repr__(self) -> str:
        return f"<PublicAssessment of {self.table.spec.title}>"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Assessment(Confidential):
    """What was measured on one table.

    Attributes:
        public: What may be told to anyone: nothing in it was computed from true counts.
        population: Units in the table; ``None`` where they are not the sum of any of its cells.
        interior_cells: Cells of which all others are sums; ``None`` where there is no such part.
        empty, small: How many interior cells are empty, and how many hold 1 or 2 units.
        method: How it was protected, in a few words.
        cautions: What the method itself warns of.
        findings: What the true counts of this table would give away.
        groups_readable: Of the groups in which all have the same property, how many still look so
            in the published table.
        withheld: Withheld cells that follow from the numbers around them.
        perceived: Small counts that readers see, and how many are what they seem.
        intruder: What an intruder is taken to know.
        intervals: What is left when he works with this table alone: from the one who knows least
            to the one who knows most.
        given_away: Cells of 1 or 2 that the one who knows most can work out, some of them.
        exempt, exempt_small: Non-empty cells that the office publishes exactly on purpose, and how
            many of them hold 1 or 2.
        risk_before, risk_after: The composite risk of the true and of the published table.
        unperturbed: Small cells that are published as they are.
        posterior: What published small values mean, and what happens to true ones.
        utility: Distances over all cells, interior cells, margins, as far as there are any.
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
        smallest_group: What the rule of the smallest group guarantees, where it was applied.
        groups: What all tables together break down.
    """

    public: PublicAssessment
    population: int | None
    interior_cells: int | None
    empty: int | None
    small: int | None
    method: str
    cautions: tuple[str, ...]
    findings: tuple[Findings, ...]
    groups_readable: int
    withheld: Findings | None
    perceived: PerceivedDisclosure
    intruder: Intruder
    intervals: tuple[Feasibility, ...]
    given_away: tuple[CellFigures, ...]
    exempt: int
    exempt_small: int
    risk_before: CompositeRisk | None
    risk_after: CompositeRisk | None
    unperturbed: Unperturbed | None
    posterior: Posterior
    utility: tuple[tuple[Part, Utility], ...]
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
    smallest_group: GroupClaim | None = None
    groups: tuple[BrokenDown, ...] = ()

    def __repr__(self) -> str:
        return f"<Assessment of {self.public.table.spec.title}: confidential>"

    @property
    def table(self) -> Table:
        """The published table."""
        return self.public.table

    def utility_in(self, part: Part) -> Utility | None:
        """The distances over a part of the table, if it has one."""
        return dict(self.utility).get(part)

    @property
    def main(self) -> Feasibility | None:
        """What the intruder finds who knows the largest change: the headline of the page."""
        known = [one for one in self.intervals if one.knowledge == self.intruder.known]
        return known[-1] if known else None

    @property
    def sharpest(self) -> Feasibility | None:
        """What the intruder finds who knows everything about the method but its keys."""
        whole = [one for one in self.intervals if one.knowledge == self.intruder.whole]
        return whole[-1] if whole else self.main

    @property
    def worst_looks(self) -> tuple[LookBudget, Looks, float | None] | None:
        """The budget with the most looks at a cell, the cell, and the chance to find it."""
        if not self.budgets:
            return None
        budget = max(self.budgets, key=lambda one: one.asked.looks)
        return budget, budget.asked, self.chance_at(budget.asked)

    def chance_at(self, cell: Looks) -> float | None:
        """The chance that all tables together give a cell away, where noise has a variance."""
        return chance_at(cell, self.variance, self.noise)
