"""Gaps between published totals and their parts, from published tables alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import adds_up, constraints, with_totals
from sdcensus.model.published.gaps import gaps
from sdcensus.model.published.table import Mark, SparseTable, Table
from tests.methods.nearly_additive import spec_of, tables, variable

#: ECLAC 2020, Table 8: religion by district of Belize as perturbed, with totals.
TABLE_8 = (
    (382, 485, 9737, 1496, 1545, 246, 13894),
    (26, 14, 44, 68, 45, 6, 200),
    (619, 421, 3856, 1850, 1764, 2400, 10912),
    (58, 104, 366, 162, 48, 7, 744),
    (104, 95, 336, 41, 22, 5, 606),
    (66, 0, 425, 49, 27, 5, 568),
    (710, 1006, 1432, 1081, 505, 335, 5071),
    (2536, 4947, 331, 2852, 206, 621, 11491),
    (525, 293, 6125, 369, 860, 577, 8747),
    (131, 189, 385, 500, 67, 7, 1277),
    (824, 150, 1905, 2605, 1260, 1852, 8591),
    (1720, 2035, 5079, 10844, 2845, 3120, 25643),
    (14, 18, 248, 113, 94, 35, 520),
    (18331, 19940, 33260, 24264, 12878, 13259, 121936),
    (3977, 2306, 5377, 3000, 1364, 465, 16491),
    (12, 7, 242, 102, 8, 3, 366),
    (2729, 7154, 5434, 6466, 2405, 3120, 27310),
    (6482, 5478, 12086, 13680, 5527, 3806, 47057),
    (39243, 44651, 86666, 69539, 31463, 29865, 301431),
)
ROWS = [3, -3, 2, -1, 3, -4, 2, -2, -2, -2, -5, 0, -2, 4, 2, -8, 2, -2, 4]
COLUMNS = [-3, 9, -2, -3, -7, -4, 7]


def test_table_8_of_the_founding_study() -> None:
    """The printed discrepancies of rows and columns, and of the grand total with all cells."""
    spec = spec_of([variable("religion", 18), variable("district", 6)], ["religion", "district"])
    found = gaps(Table(spec, np.array(TABLE_8)))
    down, across = found.along
    assert (down.axis, across.axis) == (0, 1)
    assert down.gap[0].tolist() == COLUMNS
    assert across.gap[:, 0].tolist() == ROWS
    assert down.parts.tolist() == [18]
    assert across.parts.tolist() == [6]
    assert across.nonzero_parts[5].tolist() == [5]
    assert found.from_interior is not None
    assert found.from_interior[-1, -1] == -6
    assert found.lines == 26
    assert found.largest == 9
    assert found.share_that_adds_up == 1 / 26


def test_one_grand_total_against_three_sums() -> None:
    """STACE 2024, Table 5.1: 371 beside 372 (rows), 369 (columns) and 368 (cells)."""
    spec = spec_of([variable("a", 2), variable("b", 2)], ["a", "b"])
    values = np.array([[90, 83, 175], [100, 95, 197], [189, 180, 371]])
    found = gaps(Table(spec, values))
    rows, columns = found.along
    assert rows.gap[0, -1] == 371 - 372
    assert columns.gap[-1, 0] == 371 - 369
    assert found.from_interior is not None
    assert found.from_interior[-1, -1] == 371 - 368
    assert columns.gap[0, 0] == 175 - 173


@given(tables())
def test_gaps_are_what_keeps_a_table_from_adding_up(table: Table) -> None:
    """The same as the equations of the table, in another order."""
    found = gaps(table)
    wanted = -constraints(table.spec).times(table.published.reshape(-1))
    mine = np.concatenate(
        [np.zeros(0, dtype=np.int64), *(one.gap.reshape(-1) for one in found.along)]
    )
    assert sorted(mine.tolist()) == sorted(wanted.tolist())
    if found.from_interior is not None:
        assert adds_up(table.spec, table.published) == (not found.from_interior.any())


@given(tables())
def test_an_additive_table_has_no_gap(table: Table) -> None:
    inside = tuple(slice(0, size) for size in table.spec.base_shape)
    whole = Table(table.spec, with_totals(table.spec, table.published[inside]))
    found = gaps(whole)
    assert not any(one.gap.any() for one in found.along)
    assert found.largest in (0, None)


def test_a_line_with_a_withheld_cell_has_no_gap_to_see() -> None:
    spec = spec_of([variable("a", 3), variable("b", 2)], ["a", "b"])
    values = np.array([[5, 0, 6], [2, 2, 4], [1, 1, 2], [8, 4, 12]])
    flags = np.zeros(spec.shape, dtype=np.uint8)
    flags[0, 1] = Mark.WITHHELD
    found = gaps(Table(spec, values, flags))
    down, across = found.along
    assert down.shown.tolist() == [[True, False, True]]
    assert across.shown[:, 0].tolist() == [False, True, True, True]
    assert not across.gap[0].any()
    assert found.from_interior is None
    assert found.lines == 5
    assert found.flat()[0].size == 5


def test_every_level_is_compared_with_the_one_below() -> None:
    spec = spec_of([variable("a", 4, (0, 0, 1, 1), (0, 0, 0, 0))], ["a@a+a_0+a_1"])
    values = np.array([1, 2, 3, 4, 4, 7, 12, 12])
    found = gaps(Table(spec, values))
    assert [(one.level, one.parts_level) for one in found.along] == [
        ("a_0", "a"),
        ("a_1", "a_0"),
        ("_T", "a_1"),
    ]
    assert [one.gap.tolist() for one in found.along] == [[1, 0], [1], [0]]
    assert [one.parts.tolist() for one in found.along] == [[2, 2], [2], [1]]


def test_tables_without_totals_or_axes_have_no_gaps() -> None:
    for table in (
        Table(spec_of([], []), np.array(7)),
        Table(spec_of([variable("a", 2)], ["a-total"]), np.array([1, 2])),
    ):
        found = gaps(table)
        assert found.lines == 0
        assert found.share_that_adds_up is None
        assert found.largest is None


def test_a_sparse_table_is_refused_with_a_remedy() -> None:
    spec = spec_of([variable("a", 2)], ["a"])
    sparse = SparseTable(spec, np.array([0], dtype=np.uint64), np.array([3]))
    with pytest.raises(SpecError, match="fewer or coarser axes"):
        gaps(sparse)
