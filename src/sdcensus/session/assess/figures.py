"""Figures of an assessment that have a meaning for some tables only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sdcensus.errors import SdcensusError, SpecError
from sdcensus.methods.method import Method, MethodKind
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.parts import TablePart, parts_of
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.schema.variable import Role
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import Measure
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.assessment.results import COMPARED
from sdcensus.report.study.results import Candidate, CellFigures, Study, StudyResult
from sdcensus.risk.feasibility import Feasibility
from sdcensus.session.assess.knowledge import Intruder
from sdcensus.session.study.candidates import scheme_candidates
from sdcensus.session.study.cells import given_away, worst
from sdcensus.session.study.study import compare_cubes
from sdcensus.utility.by_row import RowMeasures, per_row
from sdcensus.utility.distances import Utility, utility_of
from sdcensus.utility.levels import UtilityAt, by_level


def checked_pair(cube: AnyCube, table: AnyTable) -> tuple[Cube, Table]:
    """A cube and a table that belong together and can be held whole."""
    given: tuple[object, object] = (cube, table)
    if not isinstance(given[0], AnyCube) or not isinstance(given[1], AnyTable):
        raise SpecError(
            "An assessment compares a cube with the table made from it: sc.assess(cube, table)."
        )
    counted, shown = cube.dense, table.dense
    if counted is None or shown is None:
        raise SpecError(
            f"{cube.spec.title}: the table is too large to be assessed whole. Take fewer or"
            " coarser axes, or one part of the areas (--where)."
        )
    if cube.spec != table.spec or cube.shape != table.shape:
        raise SpecError(
            f"True counts are of {cube.spec.title}, and the published table is of"
            f" {table.spec.title}. Assess a table with the cube that it was made from."
        )
    if cube.spec.amount is not None:
        return counted, shown
    if cube.spec.measure is not Measure.COUNT:
        raise SpecError(
            f"{cube.spec.title}: weighted counts are not assessed. Assess the table of records"
            " that stands behind it, with a method for counts of records; the sampling errors of"
            " estimates are in the signs that 'sample-rounding' gives them."
        )
    if (table.published < 0).any():
        raise SpecError(
            f"{table.spec.title}: published counts are whole numbers, 0 or more. Give the table as"
            " it was published."
        )
    return counted, shown


def population_of(cube: Cube) -> int | None:
    """How many units are counted: the sum of interior cells, or the grand total."""
    if TablePart.INTERIOR in parts_of(cube.spec):
        return int(cube.count[interior(cube.spec)].sum())
    if all(axis.total for axis in cube.spec.axes):
        return int(cube.count[(-1,) * len(cube.shape)])
    return None


def small_given_away(
    cube: Cube,
    table: Table,
    intruder: Intruder,
    fitting: Sequence[Feasibility],
    language: str | None,
) -> tuple[CellFigures, ...]:
    """Cells of 1 or 2 that the one who knows most can work out, exempt ones left out."""
    if not fitting or not fitting[-1].small_disclosed:
        return ()
    intervals = fitting[-1].intervals
    exactly = intruder.on_purpose
    if exactly is not None:
        intervals = replace(
            intervals, upper=np.where(exactly, intervals.lower + 9, intervals.upper)
        )
    return given_away(cube, table, intervals, language=language)


def distances_of(cube: Cube, table: Table) -> tuple[tuple[TablePart, Utility], ...]:
    """Distances over every part that the table has."""
    return tuple((part, utility_of(cube, table, part)) for part in parts_of(cube.spec))


def by_area(
    cube: Cube, table: Table, left_out: list[str]
) -> tuple[tuple[UtilityAt, ...], RowMeasures | None]:
    """Distances at each level of the areas, and for each area; nothing where there are none."""
    if not any(axis.variable.role is Role.GEOGRAPHY for axis in cube.spec.axes):
        return (), None
    try:
        return by_level(cube, table), per_row(cube, table)
    except SdcensusError as error:
        what = sentence("assess.left_out.by_area")
        left_out.append(sentence("assess.left_out.why", what=what, why=error.said))
        return (), None


#: What the table is called among them, if it is by another method.
ITSELF = "this table"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AsPublished(Method):
    """A table that is there already, among methods that make theirs."""

    table: Table

    name: ClassVar[str] = "as-published"
    kind: ClassVar[MethodKind] = MethodKind.PERTURBS

    def __repr__(self) -> str:
        return f"<AsPublished {self.table.spec.title}>"

    def parameters(self) -> Mapping[str, object]:
        """None: nothing is made."""
        return {}

    def claims(self) -> Claims:
        """Nothing is promised of a table of which only the values are known."""
        return Claims(for_publication=False)

    def protect(self, cube: AnyCube) -> Protected:
        """The table as it is."""
        return self.finished(cube, self.table)


def compared_with(
    cube: Cube,
    table: Table,
    method: Method | None,
    found: Feasibility,
    risk: float | None,
    *,
    language: str | None = None,
) -> tuple[Study, str]:
    """The table by the schemes of the founding study, and as it is itself.

    Where the table was made by one of the schemes it stands in its place: keys that are looked up
    in another way give slightly other figures.

    Args:
        cube: True counts.
        table: What is published.
        method: How it was made, if that is known.
        found: What the table gives away to whoever knows the largest change.
        risk: Its composite risk.
        language: The language of labels.

    Returns:
        The study, and the name under which the table itself is among its results.
    """
    scheme = None if method is None else method.scheme
    listed = [name for name in COMPARED if name != scheme]
    candidates = scheme_candidates(listed, (NoiseDraw.ASCENDING,), zeros_known=True)
    own = Candidate(
        name=scheme or ITSELF, method=AsPublished(table), knowledge=found.knowledge, draw=None
    )
    study = compare_cubes([cube], candidates, language=language)
    result = StudyResult(
        candidate=own,
        disclosed=found.disclosed,
        cells=found.cells,
        small_disclosed=found.small_disclosed,
        small_cells=found.small_cells,
        risk=risk,
        utility=utility_of(cube, table),
        profile=None,
        worst=worst(cube, table, language=language),
        given_away=given_away(cube, table, found.intervals, language=language),
    )
    results = list(study.tables[0].results)
    at = COMPARED.index(scheme) if scheme in COMPARED else len(results)
    results.insert(at, result)
    compared = replace(
        study,
        tables=(replace(study.tables[0], results=tuple(results)),),
        candidates=tuple(result.candidate for result in results),
    )
    return compared, own.name
