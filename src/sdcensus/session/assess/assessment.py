"""One table assessed: what an intruder could learn from it, and what its readers lose.

Every figure is measured on this table. Conclusions name their scope: this table alone, or
together with which others; for an intruder who knows what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.interior import interior
from sdcensus.model.cube.parts import Part
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.perturbation.rows import Perturbation
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.structural import structural_zeros
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.composite import CompositeRisk, composite_risk_of
from sdcensus.risk.detection.detectors import detect
from sdcensus.risk.detection.findings import FindingKind, Findings
from sdcensus.risk.detection.withheld import withheld_that_follow
from sdcensus.risk.feasibility import Feasibility, How
from sdcensus.risk.groups.broken_down import BrokenDown
from sdcensus.risk.looks.budget import LookBudget, Looks
from sdcensus.risk.posterior import (
    PerceivedDisclosure,
    Posterior,
    perceived_disclosure,
    posterior_observed_of,
)
from sdcensus.risk.unperturbed import Unperturbed, unperturbed_small_of
from sdcensus.session.assess.compared import compared_with
from sdcensus.session.assess.figures import (
    by_area,
    checked_pair,
    distances_of,
    population_of,
    small_given_away,
)
from sdcensus.session.assess.knowledge import (
    Intruder,
    chance_at,
    given_intruder,
    intervals_of,
    intruder_of,
    noise_of,
    variance_of,
)
from sdcensus.session.assess.public import PublicAssessment, public_assessment
from sdcensus.session.assess.together import Tabulate, budgets_of, differences_of
from sdcensus.session.protect.smallest_group import GroupClaim, group_claim
from sdcensus.session.study.cells import CellFigures, worst
from sdcensus.session.study.study import Study
from sdcensus.utility.by_row import RowMeasures
from sdcensus.utility.deviations import Deviations, deviation_distribution
from sdcensus.utility.distances import Utility
from sdcensus.utility.evaluation import EvaluationRow, evaluation_row
from sdcensus.utility.levels import UtilityAt

Result = TypeVar("Result")

#: Tables with at most so many cells are gone through by linear programs without being asked.
EXACT_UP_TO = 1_500
#: Tables with more cells than this are not protected anew by other methods, unless asked for.
COMPARED_UP_TO = 600_000


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


def assess_table(
    cube: AnyCube,
    table: AnyTable | Protected,
    *,
    method: Method | None = None,
    perturbation: Perturbation | None = None,
    knowledge: Knowledge | None = None,
    provenance: Provenance | None = None,
    schema: Schema | None = None,
    sensitive: Sequence[str] | None = None,
    coalition: int = 1,
    compare: bool | None = None,
    exact: bool | None = None,
    others: Sequence[TableSpec] = (),
    tabulate: Tabulate | None = None,
    budgets: Sequence[LookBudget] | None = None,
    groups: Sequence[BrokenDown] = (),
    recovery_limit: float | None = None,
    number: int = 1,
    title: str = "",
    language: str | None = None,
    progress: Progress = no_progress,
) -> Assessment:
    """Measure risk and utility of one published table.

    Args:
        cube: True counts.
        table: What is to be published of them, alone or as a method gives it back.
        method: How it was protected; tells what an intruder may know.
        perturbation: The noise of the method, if it is not a method with one of its own.
        knowledge: What an intruder is taken to know; by default what the method says.
        provenance: How the table was made.
        schema: Tells which cells cannot hold anyone.
        sensitive: The variables that tell something; by default those that the schema calls so.
        coalition: How many members of a group may put together what they know.
        compare: Whether to protect the table by other methods and show them beside it; by default
            if it is not too large.
        exact: Whether to find exact intervals by linear programs; by default for small tables.
        others: Other tables with the same people: published before, or planned.
        tabulate: Counts the other tables, such as ``census.tabulate``; without it they are counted
            from the cube, where it is fine enough.
        budgets: How often all tables together look at a cell; by default of this table and the
            others, if there are any.
        groups: What all tables together break down, if it was measured.
        recovery_limit: The chance of recovery that the office accepts.
        number: The number of the table on the evaluation sheet.
        title: What stands above the pages; by default what the table shows, in words.
        language: The language of labels.
        progress: Told how far it is.
    """
    if isinstance(table, Protected):
        provenance = provenance or table.provenance
        table = table.table
    cube, table = checked_pair(cube, table)
    limit = recovery_limit
    if limit is not None and not 0 < limit < 1:
        raise SpecError("The chance of recovery that is accepted lies between 0 and 1.")
    left_out: list[str] = []

    def tried(what: str, make: Callable[[], Result]) -> Result | None:
        """A measure that may have no meaning for a table, which then is said."""
        try:
            return make()
        except SdcensusError as error:
            left_out.append(f"{what}: {error}")
            return None

    progress("looking for what true counts give away", 0.0)
    impossible = None
    if schema is not None:
        impossible = tried(
            "Cells that cannot hold anyone", lambda: structural_zeros(cube.spec, schema)
        )
    findings = detect(cube, sensitive=sensitive, coalition=coalition, structural=impossible)
    progress("working out what an intruder could", 0.2)
    intruder = (
        intruder_of(cube, table, method, perturbation)
        if knowledge is None
        else given_intruder(cube, table, method, knowledge)
    )
    programs = table.spec.cells <= EXACT_UP_TO if exact is None else exact
    fitting = intervals_of(cube, intruder, exact=programs, left_out=left_out, progress=progress)
    progress("measuring what readers lose", 0.5)
    inside = None
    if all(axis.base_is_shown for axis in cube.spec.axes):
        inside = cube.count[interior(cube.spec)]
    risk_after = tried("Composite risk", lambda: composite_risk_of(cube, table))
    levels, rows = by_area(cube, table, left_out)
    progress("comparing with other tables", 0.6)
    between = tried(
        "Differences",
        lambda: differences_of(cube, others, tabulate, left_out=left_out, progress=progress),
    )
    if budgets is None:
        budgets = budgets_of(cube.spec, others) if others else ()
    progress("comparing methods", 0.7)
    name = _name(method, noise_of(method, perturbation))
    compared = None
    main = [one for one in fitting if one.knowledge == intruder.known and one.how is How.SHUTTLE]
    if main and _wanted(cube, compare, left_out):
        value = None if risk_after is None else risk_after.value
        compared = tried(
            "Other methods",
            lambda: compared_with(cube, table, method, main[0], value, language=language),
        )
    exempt = np.zeros(cube.shape, dtype=bool) if intruder.exempt is None else intruder.exempt
    return Assessment(
        public=public_assessment(
            table, method=method, provenance=provenance, title=title, language=language
        ),
        population=population_of(cube, inside),
        interior_cells=None if inside is None else int(inside.size),
        empty=None if inside is None else int((inside == 0).sum()),
        small=None if inside is None else int(((inside > 0) & (inside <= 2)).sum()),
        method=name,
        cautions=() if method is None else method.claims().cautions,
        findings=tuple(one for one in findings if one),
        groups_readable=groups_readable(
            findings, detect(table, sensitive=sensitive, structural=impossible)
        ),
        withheld=(withheld_that_follow(table) or None) if table.flags is not None else None,
        perceived=perceived_disclosure(cube, table, margins=inside is None),
        intruder=intruder,
        intervals=tuple(fitting),
        given_away=small_given_away(cube, table, intruder, fitting, language),
        exempt=int((exempt & (cube.count > 0)).sum()),
        exempt_small=int((exempt & (cube.count > 0) & (cube.count <= 2)).sum()),
        risk_before=tried("Composite risk of the true table", lambda: composite_risk_of(cube)),
        risk_after=risk_after,
        unperturbed=tried("Small cells that stay", lambda: unperturbed_small_of(cube, table)),
        posterior=posterior_observed_of(cube, table, margins=inside is None),
        utility=distances_of(cube, table, has_interior=inside is not None),
        levels=levels,
        rows=rows,
        deviations=tried(
            "How often each change occurs", lambda: deviation_distribution(cube, table)
        ),
        worst=worst(cube, table, language=language),
        compared=None if compared is None else compared[0],
        chosen=None if compared is None else compared[1],
        others=len(others),
        budgets=tuple(budgets),
        variance=variance_of(method, perturbation),
        noise=noise_of(method, perturbation),
        recovery_limit=recovery_limit,
        differences=between or (),
        evaluation=evaluation_row(number, cube, table),
        left_out=tuple(dict.fromkeys(left_out)),
        provenance=provenance,
        smallest_group=_group_claim(method, provenance),
        groups=tuple(groups),
    )


def _group_claim(method: Method | None, provenance: Provenance | None) -> GroupClaim | None:
    """What the smallest group guarantees; ``method.protect`` alone applies and claims nothing."""
    if method is None or provenance is None or not provenance.smallest_group:
        return None
    return group_claim(method, provenance.smallest_group)


def _wanted(cube: Cube, compare: bool | None, left_out: list[str]) -> bool:
    """Whether other methods are compared."""
    if compare is not None:
        return compare
    if cube.spec.cells > COMPARED_UP_TO:
        left_out.append(
            f"Other methods: the table has more than {COMPARED_UP_TO:,} cells; they are compared if"
            " that is asked for (--compare)."
        )
        return False
    return True


def _name(method: Method | None, noise: Perturbation | None) -> str:
    if method is None:
        return "method not named"
    name = getattr(noise, "name", "")
    return f"{method.described_name}, {name}" if name else method.described_name


def groups_readable(true: Sequence[Findings], published: Sequence[Findings]) -> int:
    """How many groups in which all have the same property still look so when published.

    Noise that keeps empty cells empty keeps such groups readable: all other cells of the line are
    published as 0.
    """

    def groups(found: Sequence[Findings]) -> set[tuple[int, int]]:
        return {
            pair
            for one in found
            if one.kind is FindingKind.GROUP_ATTRIBUTE
            for pair in zip(one.cells.tolist(), one.axes.tolist(), strict=True)
        }

    return len(groups(true) & groups(published))
