"""Methods that protect tables together, withhold or coarsen, in a study beside the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.methods import ConventionalRounding, Suppression
from sdcensus.methods.linked import LinkedMethod, LinkedOutcome
from sdcensus.methods.method import Method, MethodKind
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Mark, Table
from sdcensus.report.study.page import page
from sdcensus.report.study.results import Candidate
from sdcensus.report.study.rows import sheets
from sdcensus.session.study.study import compare, compare_cubes
from sdcensus.testing.island import island

ISLAND = island(120)


@dataclass(frozen=True, slots=True)
class HideSmall(LinkedMethod):
    """Withholds every cell below a number, in all tables; notes how often it was asked."""

    below: int
    asked: list[int]

    name: ClassVar[str] = "hide-small"
    kind: ClassVar[MethodKind] = MethodKind.WITHHOLDS

    @property
    def largest_deviation(self) -> int | None:
        return 0

    def parameters(self) -> Mapping[str, object]:
        return {"below": self.below}

    def claims(self) -> Claims:
        return Claims(bounded=True, zeros_kept=True, consistent=True, shown_are_true=True)

    def publish_linked(
        self, linked: LinkedCubes, progress: Progress = no_progress
    ) -> LinkedOutcome:
        self.asked.append(len(linked.cubes))
        small = (linked.counts > 0) & (linked.counts < self.below)
        flags = np.where(small, np.uint8(Mark.WITHHELD), np.uint8(0))
        return LinkedOutcome(np.where(small, 0, linked.counts), flags)


@dataclass(frozen=True, slots=True)
class OnlyDistricts(Method):
    """Publishes districts where parishes were asked for."""

    name: ClassVar[str] = "only-districts"
    kind: ClassVar[MethodKind] = MethodKind.WITHHOLDS

    @property
    def largest_deviation(self) -> int | None:
        return 0

    def parameters(self) -> Mapping[str, object]:
        return {}

    def claims(self) -> Claims:
        return Claims(bounded=True, zeros_kept=True)

    def protect(self, cube: AnyCube) -> Protected:
        coarse = cube.held_for("a test").rollup("area@district", "sex")
        return self.finished(cube, Table(coarse.spec, coarse.count.copy()))


SPECS = (ISLAND.spec("area@parish+district", "sex"), ISLAND.spec("area@parish", "age@class"))


def test_tables_of_a_study_are_protected_together_and_once() -> None:
    method = HideSmall(6, [])
    rounding = Candidate(name="round", method=ConventionalRounding(3))
    study = compare(ISLAND, SPECS, [Candidate(name="hide", method=method), rounding])
    assert method.asked == [2]
    for spec, table in zip(SPECS, study.tables, strict=True):
        counts = ISLAND.tabulate(spec).held_for("a test").count
        hidden, rounded = table.results
        assert hidden.withheld is not None
        assert hidden.withheld.withheld == ((counts > 0) & (counts < 6)).sum()
        assert hidden.utility.mean_absolute_distance == 0
        assert hidden.loss == hidden.withheld.filled_distance
        assert rounded.withheld is None
        assert rounded.loss == rounded.utility.mean_absolute_distance


def test_disclosed_cells_of_exact_tables_are_hidden_ones_and_open_small_ones() -> None:
    study = compare(
        ISLAND,
        [ISLAND.spec("area@parish", "sex", "age@class")],
        [
            Candidate(name="ones", method=HideSmall(2, [])),
            Candidate(name="many", method=HideSmall(1_000, [])),
        ],
    )
    ones, many = study.tables[0].results
    counts = ISLAND.tabulate("area@parish", "sex", "age@class").held_for("a test").count
    assert ones.small_disclosed is not None
    assert ones.small_disclosed >= (counts == 2).sum()
    assert many.small_disclosed == 0
    assert many.disclosed == 0


def test_closed_counts_that_may_be_shown_are_not_given_away() -> None:
    """Suppression closes larger counts for others, and readers may compute these."""
    study = compare(
        ISLAND,
        [ISLAND.spec("area@parish", "sex", "age@class")],
        [Candidate(name=f"below {minimum}", method=Suppression(minimum)) for minimum in (3, 6)],
    )
    counts = ISLAND.tabulate("area@parish", "sex", "age@class").held_for("a test").count
    for result, minimum in zip(study.tables[0].results, (3, 6), strict=True):
        assert result.cells == ((counts > 0) & (counts < minimum)).sum()
        assert result.disclosed == 0


def test_a_coarser_table_stands_beside_the_others() -> None:
    spec = ISLAND.spec("area@parish+district", "sex")
    study = compare(ISLAND, [spec], [Candidate(name="coarse", method=OnlyDistricts())])
    (result,) = study.tables[0].results
    assert result.withheld is not None
    assert result.withheld.withheld == 6 * 3  # the parish that is a district of its own stays
    assert result.utility.mean_absolute_distance == 0


def test_page_and_workbook_tell_what_is_withheld() -> None:
    candidates = [
        Candidate(name="hide", method=HideSmall(6, [])),
        Candidate(name="round", method=ConventionalRounding(3)),
    ]
    study = compare(ISLAND, SPECS, candidates)
    assert "What is withheld" in page(study, None)
    assert "withheld" in [sheet.key for sheet in sheets(study)]
    plain = compare(ISLAND, SPECS, candidates[1:])
    assert "What is withheld" not in page(plain, None)


def test_without_records_each_table_is_protected_alone() -> None:
    method = HideSmall(6, [])
    cubes = [ISLAND.tabulate(spec).held_for("a test") for spec in SPECS]
    compare_cubes(cubes, [Candidate(name="hide", method=method)])
    assert method.asked == [1, 1]


def test_the_smallest_group_needs_another_method() -> None:
    with pytest.raises(SpecError, match="smallest_group"):
        compare(ISLAND, SPECS, [Candidate(name="hide", method=HideSmall(6, []))], smallest_group=5)
