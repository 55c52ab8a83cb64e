"""Cells of other releases, found again in the tables that are protected."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.model.linked import elsewhere
from sdcensus.model.linked.elsewhere import NOTHING_ELSEWHERE, CellsElsewhere
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import island

ISLAND = island(60)


def product(spec: TableSpec, *marks: tuple[tuple[int, ...], Mark]) -> ProductTable:
    flags = np.zeros(spec.shape, dtype=np.uint8)
    for place, mark in marks:
        flags[place] = mark
    table = Table(spec, np.zeros(spec.shape, dtype=np.int64), flags)
    return ProductTable.of(spec.title, table, closing=Closing.SUMS)


def test_cells_are_found_again_in_another_spelling() -> None:
    before = product(
        ISLAND.spec("sex", "area@district"),
        ((0, 1), Mark.WITHHELD),
        ((1, 1), Mark.BELOW_THRESHOLD),
        ((0, 2), Mark.NOT_BROKEN_DOWN),
    )
    spec = ISLAND.spec("area", "sex-total", "married")
    tables = LinkedTables.of([ISLAND.spec("area@parish+district", "sex", "married")])
    for known in (
        CellsElsewhere.of([before]),
        CellsElsewhere.of([before], tables.specs),
    ):
        shown, closed = known.masks(tables)
        assert {tables.name(cell) for cell in np.flatnonzero(closed).tolist()} == {
            "area = D1, sex = 0, married = _T",
            "area = D1, sex = 1, married = _T",
        }
        assert shown.sum() == 4 * 3 - 3  # the one that is not broken down is neither
    assert not CellsElsewhere.of([before], [spec]).closed.size


def test_what_is_closed_anywhere_is_closed() -> None:
    spec = ISLAND.spec("sex")
    first, second = product(spec, ((0,), Mark.WITHHELD)), product(spec)
    both = CellsElsewhere.of([first]).also(CellsElsewhere.of([second]))
    assert (len(both.shown), len(both.closed)) == (2, 1)
    assert both.digest() == CellsElsewhere.of([second, first]).digest()
    assert both.digest() != CellsElsewhere.of([second]).digest()


def test_nothing_is_nothing() -> None:
    assert not NOTHING_ELSEWHERE
    tables = LinkedTables.of([ISLAND.spec("sex")])
    assert not np.any(NOTHING_ELSEWHERE.masks(tables))
    assert repr(NOTHING_ELSEWHERE) == "<CellsElsewhere: 0 shown, 0 closed>"


def test_a_table_of_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "MOST_CELLS", 2)
    with pytest.raises(SpecError, match="too many to keep"):
        CellsElsewhere.of([product(ISLAND.spec("sex"))])
    assert CellsElsewhere.of([product(ISLAND.spec("sex"))], [ISLAND.spec("sex")])
