"""Numerators and bases of every figure, recounted one cell after the other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.parts import TablePart, parts_of
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.published.table import Mark, Table
from sdcensus.risk.counted_parts import part_counts
from sdcensus.risk.detection.detectors import detect
from sdcensus.risk.feasibility import feasibility
from sdcensus.testing.island import island_cube
from tests.utility.made import cubes_with_tables, two_way

Cell = tuple[int, int | None]


def listed(cube: Cube, table: Table, part: TablePart) -> list[Cell]:
    """True and published value of every cell of a part; ``None`` where it is withheld."""
    cells: list[Cell] = []
    for position in itertools.product(*(range(size) for size in cube.shape)):
        inside = all(at < axis.base_size for at, axis in zip(position, cube.spec.axes, strict=True))
        if part is TablePart.ALL or inside is (part is TablePart.INTERIOR):
            hidden = table.flags is not None and table.flags[position] != Mark.NONE
            value = None if hidden else int(table.published[position])
            cells.append((int(cube.count[position]), value))
    return cells


@settings(max_examples=60)
@given(cubes_with_tables(), st.booleans(), st.integers(0, 1 << 32))
def test_every_part_is_counted_alike(made: tuple[Cube, Table], withholds: bool, seed: int) -> None:
    cube, table = made
    if withholds:
        hidden = np.asarray(np.random.default_rng(seed).random(cube.shape) < 0.2)
        flags = np.array(hidden * np.uint8(Mark.WITHHELD), dtype=np.uint8)
        table = Table(cube.spec, np.array(np.where(hidden, 0, table.published)), flags)
    counted = part_counts(cube, table)
    assert [counts.part for counts in counted] == list(parts_of(cube.spec))
    for counts in counted:
        cells = listed(cube, table, counts.part)
        small = [(true, value) for true, value in cells if true in (1, 2)]
        kept = [true for true, value in small if value == true]
        seen = [(true, value) for true, value in cells if value in (1, 2)]
        assert counts.cells == len(cells)
        assert (counts.nonempty, counts.empty) == (
            sum(true > 0 for true, _ in cells),
            sum(true == 0 for true, _ in cells),
        )
        assert (counts.small.cells, counts.small.records) == (
            len(small),
            sum(true for true, _ in small),
        )
        assert counts.small.unchanged_cells == len(kept)
        assert counts.small.unchanged_records == sum(kept)
        assert counts.perceived.seen.nonzero == sum(bool(value) for _, value in cells)
        assert (counts.visible, counts.right) == (
            len(seen),
            sum(true == value for true, value in seen),
        )


@settings(max_examples=40)
@given(cubes_with_tables(false_nonzeros=False))
def test_what_is_given_away_is_counted_in_interior_cells_and_totals(
    made: tuple[Cube, Table],
) -> None:
    cube, table = made
    fits = feasibility(cube, table, Knowledge(max_deviation=2))
    lower, upper = fits.intervals.lower, fits.intervals.upper
    told = (lower == upper) | (upper <= 1)
    recounted = Table(cube.spec, np.asarray(told, dtype=np.int64).reshape(cube.shape))
    assert list(fits.parts) == list(parts_of(cube.spec))
    for part, given_away in fits.parts.items():
        cells = [(true, value) for true, value in listed(cube, recounted, part) if true > 0]
        small = [(true, value) for true, value in cells if true <= 2]
        assert (given_away.disclosed, given_away.cells) == (
            sum(value == 1 for _, value in cells),
            len(cells),
        )
        assert (given_away.small_disclosed, given_away.small_cells) == (
            sum(value == 1 for _, value in small),
            len(small),
        )
    assert (fits.disclosed, fits.cells) == (
        fits.parts[TablePart.ALL].disclosed,
        fits.parts[TablePart.ALL].cells,
    )


@settings(max_examples=40)
@given(cubes_with_tables())
def test_findings_in_interior_cells_and_totals_are_all_findings(made: tuple[Cube, Table]) -> None:
    cube, table = made
    singles, pairs, *_ = detect(cube)
    for part in parts_of(cube.spec):
        cells = listed(cube, table, part)
        assert singles.count_in(part) == sum(true == 1 for true, _ in cells)
        assert pairs.count_in(part) == sum(true == 2 for true, _ in cells)
    for findings in detect(cube, coalition=1):
        if TablePart.MARGINS in parts_of(cube.spec):
            parts = (TablePart.INTERIOR, TablePart.MARGINS)
            assert sum(findings.count_in(part) for part in parts) == findings.count


def test_an_example_by_hand() -> None:
    """Interior 1, 1, 2, 5; totals 2, 7, 3, 6 and 9. The first 1 and the total of 2 are changed."""
    cube = two_way([[1, 1], [2, 5]])
    published = cube.count.copy()
    published[0, 0], published[0, 2] = 2, 3
    interior, margins, whole = part_counts(cube, Table(cube.spec, published))
    assert (interior.small.cells, interior.small.unchanged_cells, interior.small.records) == (
        3,
        2,
        4,
    )
    assert (interior.visible, interior.right) == (3, 2)
    assert (margins.cells, margins.small.cells, margins.small.unchanged_cells) == (5, 1, 0)
    assert (margins.visible, margins.right) == (0, 0)
    assert (whole.cells, whole.small.cells, whole.small.unchanged_cells) == (9, 4, 2)


@pytest.mark.parametrize(
    ("by", "parts"),
    [
        (("area", "sex"), [TablePart.INTERIOR, TablePart.MARGINS, TablePart.ALL]),
        (("area-total", "sex-total"), [TablePart.INTERIOR, TablePart.ALL]),
        (("age@class+half", "sex"), [TablePart.ALL]),
    ],
)
def test_only_parts_that_a_table_has_are_told(by: tuple[str, ...], parts: list[TablePart]) -> None:
    cube = island_cube(*by)
    counted = part_counts(cube, Table(cube.spec, cube.count.copy()))
    assert [counts.part for counts in counted] == parts
    assert "confidential" in repr(counted[0])
