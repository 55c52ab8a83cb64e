"""Assessments of tables that withhold cells and show the others as they are."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.methods.suppression.method import Suppression
from sdcensus.model.published.table import Mark, Table
from sdcensus.report.assessment.results import Assessment
from sdcensus.report.assessment.words import lead
from sdcensus.session.assess.assessment import assess_counts
from sdcensus.session.assess.options import AssessOptions
from sdcensus.session.assess.tables import assess_spec
from sdcensus.testing.island import island, island_cube

OPTIONS = AssessOptions(compare=False)


def test_only_withheld_cells_can_be_given_away() -> None:
    census = island(120)
    spec = census.spec("area@parish+district", "age@class")
    assessment = assess_spec(census, spec, Suppression(), OPTIONS)
    assert isinstance(assessment, Assessment)
    table, counts = assessment.table, island_cube("area@parish+district", "age@class", people=120)
    assert table.flags is not None
    withheld = (table.flags != 0) & (counts.count > 0)
    main = assessment.main
    assert main is not None
    assert (main.cells, main.disclosed) == (int(withheld.sum()), 0)
    assert "only cells that are withheld are" in lead(assessment)
    assert not assessment.given_away


def test_a_withheld_cell_that_follows_from_its_total_is_given_away() -> None:
    cube = island_cube("area@district", "sex", people=120)
    flags = np.zeros(cube.shape, dtype=np.uint8)
    flags[0, 0] = Mark.WITHHELD
    table = Table(cube.spec, np.where(flags != 0, 0, cube.count), flags)
    assessment = assess_counts(cube, table, AssessOptions(compare=False, method=Suppression()))
    main = assessment.main
    assert main is not None
    assert (main.cells, main.disclosed) == (1, 1)


@pytest.mark.parametrize("language", ["en", "es", "fr", "pt", "nl"])
def test_a_table_of_which_nothing_is_withheld_says_so(language: str) -> None:
    cube = island_cube("sex", people=120)
    method = Suppression()
    assessment = assess_counts(
        cube, Table(cube.spec, cube.count), AssessOptions(compare=False, method=method)
    )
    assert assessment.true_on_purpose
    said = lead(assessment, language)
    assert said
    assert "89" not in said


def test_other_methods_are_assessed_as_before() -> None:
    cube = island_cube("sex", people=120)
    assessment = assess_counts(cube, Table(cube.spec, cube.count), OPTIONS)
    assert not assessment.true_on_purpose
    assert assessment.main is not None
    assert assessment.main.cells == 3
