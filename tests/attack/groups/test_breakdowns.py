"""The index of what is broken down by what: all parts of a published cell, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.attack.groups.breakdowns import Breakdowns
from sdcensus.attack.targets import targets_of
from sdcensus.testing.island import island
from tests.attack.made import exactly, hide_below

TABLES = (("area+district", "sex"), ("sex", "age+class"), ("area+district", "sex", "age+class"))


@pytest.fixture(scope="module")
def index() -> Breakdowns:
    return Breakdowns(targets_of(exactly(island(300), *TABLES))[0])


def test_parts_of_exact_cells_add_up_to_them(index: Breakdowns) -> None:
    seen = set()
    for piece, breakdowns in index:
        every = np.arange(piece.values.size)
        for breakdown in breakdowns:
            rows = breakdown.rows(every)
            assert rows.whole.all()
            assert (rows.values.sum(axis=1) == piece.values.reshape(-1)).all()
            own = frozenset(side.variable.split()[0] for side in piece.sides)
            seen.add((own, breakdown.variable, breakdown.coarse is not None))
    # Another variable, a finer level of the same, and everybody by anything.
    assert (frozenset({"area", "sex"}), "age", False) in seen
    assert (frozenset({"area", "sex"}), "area", True) in seen
    assert (frozenset(), "sex", False) in seen


def test_cells_of_parts_are_those_that_hold_the_values(index: Breakdowns) -> None:
    for piece, breakdowns in index:
        every = np.arange(piece.values.size)
        for breakdown in breakdowns:
            rows = breakdown.rows(every)
            own = breakdown.fine.target.table.published.reshape(-1)[rows.cells]
            assert ((own == rows.values) | (rows.values == 0)).all()


def test_expected_shares_are_shares(index: Breakdowns) -> None:
    for piece, breakdowns in index:
        every = np.arange(piece.values.size)
        for breakdown in breakdowns:
            assert breakdown.expected(every).sum(axis=1) == pytest.approx(1.0)


def test_withheld_parts_are_unknown_and_never_0() -> None:
    tables = hide_below(exactly(island(300), *TABLES), 20)
    some = 0
    for piece, breakdowns in Breakdowns(targets_of(tables)[0]):
        for breakdown in breakdowns:
            rows = breakdown.rows(np.arange(piece.values.size))
            flags = breakdown.fine.target.table.flags
            if flags is None:
                continue
            hidden = flags.reshape(-1)[rows.cells] != 0
            assert not (rows.known & hidden & (rows.values > 0)).any()
            if breakdown.coarse is None:
                assert (rows.known == ~hidden).all()
            some += int(hidden.sum())
    assert some > 0
