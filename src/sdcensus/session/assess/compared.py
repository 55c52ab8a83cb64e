"""An assessed table beside the same table by other methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from sdcensus.methods.method import Method, MethodKind
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Table
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.assessment.results import COMPARED
from sdcensus.report.study.results import Candidate, Study, StudyResult
from sdcensus.risk.feasibility import Feasibility
from sdcensus.session.study.cells import given_away, worst
from sdcensus.session.study.study import compare_cubes, scheme_candidates
from sdcensus.utility.distances import utility_of

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
    listed = [one for one in COMPARED if one != scheme]
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
