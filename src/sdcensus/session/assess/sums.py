"""A table of sums assessed: who could be estimated from it, and what its readers lose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.methods.method import Method
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.primary_rules import PrimaryRule, PrimaryRules
from sdcensus.model.progress import Progress
from sdcensus.model.published.census_facts import CensusFacts
from sdcensus.model.published.gaps import gaps
from sdcensus.model.published.record_changes import cautions_of_records
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Role
from sdcensus.model.sentences import sentence
from sdcensus.model.text import Text
from sdcensus.report.magnitude.results import (
    DOMINANCE,
    FEWEST,
    RuleFigures,
    SumAssessment,
    SumFigures,
    SumStudy,
)
from sdcensus.risk.magnitude.attackers import WITHIN, Attacker, contributions_of, success_of
from sdcensus.risk.magnitude.estimation import (
    SIZES,
    Chances,
    cells_of_size,
    estimated,
    largest_risk,
    shown_cells,
)
from sdcensus.risk.magnitude.primary_rules import sensitive_cells
from sdcensus.risk.magnitude.repeated import repeated_cells, single_differences
from sdcensus.session.assess.measures import registered, tried
from sdcensus.session.assess.options import AssessOptions
from sdcensus.session.assess.public import public_assessment
from sdcensus.utility.ranks import rank_change
from sdcensus.utility.sums import changes_by_part, changes_in

Mask = npt.NDArray[np.bool_]

#: Chances over all keys take a millisecond for a cell where several contributions count.
CHANCES_UP_TO = 20_000


def assess_sums(
    cube: Cube,
    table: Table,
    said: AssessOptions,
    progress: Progress,
    *,
    compared: SumStudy | None = None,
    left_out: Sequence[str] = (),
) -> SumAssessment:
    """Measure risk and loss of one published table of sums.

    Args:
        cube: Sums with their contributions.
        table: What is to be published of them.
        said: How it was made, and what is asked.
        progress: Told how far it is.
        compared: The same table by other methods, if they were compared.
        left_out: What could not be measured before, and why.
    """
    reasons = [
        *left_out,
        sentence("sums.left_out.counts"),
        *(
            sentence("sums.left_out.measure", what=measure.title)
            for measure in registered()
            if hasattr(measure, "title")
        ),
    ]
    if said.others:
        reasons.append(sentence("sums.left_out.others"))
    progress("estimating the largest contributors", 0.2)
    figures = sum_figures(
        cube,
        table,
        said.method,
        within=said.within,
        members=max(said.coalition, 2),
        left_out=reasons,
    )
    method = said.method
    origin = cube.origin
    records = cautions_of_records(origin.lineage, origin.listed, [cube.spec])
    return SumAssessment(
        public=public_assessment(
            table,
            method=method,
            provenance=said.provenance,
            title=said.title,
            language=said.language,
        ),
        figures=figures,
        method=sentence("assess.page.no_method") if method is None else method.described_name,
        cautions=(*records, *(() if method is None else method.claims().cautions)),
        left_out=tuple(dict.fromkeys(reasons)),
        provenance=said.provenance,
        census=Text() if said.schema is None else CensusFacts.of(said.schema.census).name,
        compared=compared,
    )


def sum_figures(
    cube: Cube,
    table: Table,
    method: Method | None,
    *,
    within: float = WITHIN,
    members: int = 2,
    left_out: list[str] | None = None,
) -> SumFigures:
    """Measure one published table of sums.

    Args:
        cube: Sums with their contributions.
        table: What is published of them.
        method: How it was made, if that is known; tells the chances over all keys.
        within: How near an estimate is that counts, in percent.
        members: How many contributors behind the largest stand together in a coalition.
        left_out: Is told what could not be measured.
    """
    said = [] if left_out is None else left_out
    chances = _chances(cube, method)
    risk = largest_risk(cube, table, chances=chances, within=within, members=members)
    if risk.of(Attacker.SECOND).whole.expected is None:
        large = cube.spec.cells > CHANCES_UP_TO
        reason = sentence("sums.left_out.chances_large", n=CHANCES_UP_TO)
        said.append(reason if large else sentence("sums.left_out.chances"))
    known, _ = contributions_of(cube)
    lines = gaps(table)
    ranks = None
    if any(axis.variable.role is Role.GEOGRAPHY for axis in cube.spec.axes):
        ranks = tried(said, sentence("sums.further.ranks"), lambda: rank_change(cube, table))
    return SumFigures(
        cells=cube.spec.cells,
        filled=int((known.contributors > 0).sum()),
        withheld=int(((known.contributors > 0) & ~shown_cells(table)).sum()),
        risk=risk,
        rules=_rules(cube, table, within, chances, said),
        repeated=repeated_cells(cube, table, within=within),
        differences=single_differences(cube, table, within=within),
        changes=changes_by_part(cube, table),
        by_size=tuple(changes_in(cube, table, cells_of_size(known, size)) for size in SIZES),
        ranks=None if ranks is None else ranks.percent,
        adds_up=lines.share_that_adds_up,
        gap=_mean_gap(table),
    )


def _chances(cube: Cube, method: Method | None) -> Chances | None:
    """The chances of a method without steps after it: those move what was drawn."""
    if method is None or method.steps or cube.spec.cells > CHANCES_UP_TO:
        return None
    return lambda lower, upper: method.chances_between(cube, lower, upper)


def _rules(
    cube: Cube, table: Table, within: float, chances: Chances | None, left_out: list[str]
) -> tuple[RuleFigures, ...]:
    """Sensitive cells by rule, and by any of them."""
    rules = PrimaryRules(fewest=FEWEST, dominance=DOMINANCE, percent=within)
    sensitive = tried(left_out, sentence("sums.rules.title"), lambda: sensitive_cells(cube, rules))
    if sensitive is None:
        return ()
    second = success_of(Attacker.SECOND, cube, within=within)
    known, _ = contributions_of(cube)
    named: Sequence[tuple[PrimaryRule | None, Mask]] = [
        *sensitive.by_rule.items(),
        (None, sensitive.mask),
    ]
    figures = []
    for rule, mask in named:
        cells = mask & (known.contributors > 0)
        estimates = estimated(second, cube, table, cells, chances)
        figures.append(RuleFigures(rule, int(cells.sum()), estimates))
    return tuple(figures)


def _mean_gap(table: Table) -> float | None:
    """The mean gap between a total and its parts, relative to the total."""
    relative = [
        np.abs(line.gap[line.shown & (line.total != 0)])
        / np.abs(line.total[line.shown & (line.total != 0)])
        for line in gaps(table).along
    ]
    every = np.concatenate([np.zeros(0), *(each.reshape(-1) for each in relative)])
    return float(every.mean()) if every.size else None
