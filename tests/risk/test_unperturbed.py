from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods import CellKey, ThresholdRounding
from sdcensus.methods.perturbation.schemes import SCHEMES, scheme
from sdcensus.methods.perturbation.sources import truncated_normal
from sdcensus.model.cube.parts import TablePart
from sdcensus.risk.unperturbed import (
    unperturbed_or_imputed,
    unperturbed_small,
    unperturbed_small_expected,
    unperturbed_small_of,
)
from sdcensus.testing.island import SECRET, island_cube


def test_an_example_by_hand() -> None:
    """Ones: two of three unchanged. Twos: one of two. So 3 of 5 cells, and 4 of 7 records."""
    found = unperturbed_small([1, 1, 1, 2, 2, 0, 3], [1, 1, 0, 2, 3, 0, 3])
    assert found.share_of_cells == 3 / 5
    assert found.share_of_records == 4 / 7


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=40), st.integers(1, 4))
def test_shares_by_counting(cells: list[tuple[int, int]], small: int) -> None:
    found = unperturbed_small(
        [true for true, _ in cells], [published for _, published in cells], small=small
    )
    few = [(true, published) for true, published in cells if 1 <= true <= small]
    same = [true for true, published in few if true == published]
    assert found.share_of_cells == (len(same) / len(few) if few else None)
    records = sum(true for true, _ in few)
    assert found.share_of_records == (sum(same) / records if few else None)


@pytest.mark.parametrize("name", SCHEMES)
def test_expected_shares_are_the_probabilities_to_stay(name: str) -> None:
    """Rounding leaves no 1 and no 2; the others those of rows 1 and 2, weighed by cells."""
    design = scheme(name)
    found = unperturbed_small_expected(design, [1] * 30 + [2] * 10 + [0, 7])
    stay = design.stay(1), design.stay(2)
    assert found.share_of_cells == pytest.approx((30 * stay[0] + 10 * stay[1]) / 40)
    assert found.share_of_records == pytest.approx((30 * stay[0] + 20 * stay[1]) / 50)
    if design.blocked >= 2:
        assert found.share_of_cells == 0


def test_the_lookup_of_the_ons_leaves_more_than_its_study_prints() -> None:
    """Printed are 0.142 and 0.188; small counts stay more often in either reading."""
    for deviation in (2**0.5, 2.0):
        design = truncated_normal(deviation)
        found = unperturbed_small_expected(design, [1, 2])
        assert found.share_of_cells is not None
        assert found.share_of_cells > 0.2


def test_tables_keep_as_many_small_cells_as_expected_and_another_scheme_does_not() -> None:
    same, expected, other = 0.0, 0.0, 0.0
    cells = 0
    for seed in range(12):
        cube = island_cube("area", "sex", "age", "married", people=300, seed=seed)
        table = CellKey(scheme("CP3"), secret=SECRET).protect(cube).table
        found = unperturbed_small_of(cube, table)
        inner = cube.count[:7, :2, :10, :2]
        cells += found.cells
        same += found.unchanged_cells
        expected += unperturbed_small_expected(scheme("CP3"), inner).unchanged_cells
        other += unperturbed_small_expected(scheme("CP1"), inner).unchanged_cells
    assert abs(same - expected) < 4 * np.sqrt(cells * 0.25)
    assert abs(same - other) > 4 * np.sqrt(cells * 0.25)


def test_small_cells_that_are_withheld_are_not_published_as_they_are() -> None:
    found = unperturbed_small([1, 2, 2], [1, 0, 2], shown=[True, False, True])
    assert (found.cells, found.unchanged_cells, found.withheld_cells) == (3, 2, 1)
    cube = island_cube("area", "sex", "age")
    table = ThresholdRounding(threshold=10, base=5).protect(cube).table
    assert unperturbed_small_of(cube, table).share_of_cells == 0


def test_totals_are_looked_at_if_asked_for() -> None:
    cube = island_cube("area", "sex", people=8)
    table = CellKey(scheme("CP1"), secret=SECRET).protect(cube).table
    few = (cube.count >= 1) & (cube.count <= 2)
    assert unperturbed_small_of(cube, table, part=TablePart.ALL).cells == few.sum()
    assert unperturbed_small_of(cube, table).cells == few[:7, :2].sum()


def test_without_small_cells_there_is_no_share() -> None:
    for counts in ([], [0, 0], [7, 8]):
        found = unperturbed_small(counts, counts)
        assert (found.share_of_cells, found.share_of_records) == (None, None)


def test_mistakes_are_refused() -> None:
    with pytest.raises(SpecError, match="one shape"):
        unperturbed_small([1, 2], [1])
    with pytest.raises(SpecError, match="1 or more"):
        unperturbed_small([1], [1], small=0)
    with pytest.raises(SpecError, match="1 or more"):
        unperturbed_small_expected(scheme("CP1"), [1], small=0)
    with pytest.raises(SpecError, match="below 0"):
        unperturbed_small([1], [-1])


def test_nothing_is_shown_of_the_result() -> None:
    assert repr(unperturbed_small([1], [1])) == "<Unperturbed: confidential>"


CELLS = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 4), st.integers(0, 5), st.integers(0, 5), st.booleans()
    ),
    max_size=30,
)


@given(CELLS)
def test_perturbed_or_imputed_by_counting(cells: list[tuple[int, int, int, int, bool]]) -> None:
    """Cell by cell: untouched records whose cell is shown as it was tabulated."""
    rows = [
        (true, min(kept, true, derived), derived, published, shown)
        for true, kept, derived, published, shown in cells
    ]
    true, kept, derived, published, shown = (
        np.array([row[at] for row in rows], dtype=bool if at == 4 else np.int64) for at in range(5)
    )
    result = unperturbed_or_imputed(true, kept, derived, published, shown=shown)
    small = [row for row in rows if row[0] in (1, 2)]
    assert result.cells == len(small)
    assert result.records == sum(row[0] for row in small)
    same = [row for row in small if row[4] and row[2] == row[3]]
    assert result.unchanged_records == sum(row[1] for row in same)
    assert result.unchanged_cells == sum(row[0] == row[1] == row[2] for row in same)
    # Where no record was changed or imputed it is the measure for tables.
    plain = unperturbed_or_imputed(true, true, true, published, shown=shown)
    table = unperturbed_small(true, published, shown=shown)
    assert (plain.unchanged_cells, plain.unchanged_records, plain.withheld_cells) == (
        table.unchanged_cells,
        table.unchanged_records,
        table.withheld_cells,
    )
