"""Suppression: what is shown is true and adds up, and nobody can compute what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.notes import notes_for
from sdcensus.methods.suppression.elimination import rows_of
from sdcensus.methods.suppression.interval_settings import INTERVAL_PARAMETERS
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.suppression.settings import Engine
from sdcensus.methods.suppression.sum_settings import CONTRIBUTION_PARAMETERS
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.elsewhere import CellsElsewhere
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.linked import count_linked
from sdcensus.testing.island import island
from tests.kernels.elimination.exact import Fractions
from tests.model.linked.test_linked import linked_specs

ISLAND = island(60)
LARGE = island(400)
Mask = npt.NDArray[np.bool_]


def closed_of(linked: LinkedCubes, method: Suppression) -> Mask:
    """The distinct cells that are closed, the same in every table."""
    mask = np.zeros(linked.tables.size, dtype=bool)
    for protected, cells in zip(
        method.protect_together(linked), linked.tables.cell_of, strict=True
    ):
        flags = held(protected).flags
        if flags is not None:
            mask[cells[(flags != 0) & (cells >= 0)]] = True
    return mask


def held(protected: Protected) -> Table:
    return protected.table.held_for("a test")


def interval(linked: LinkedCubes, closed: Mask, cell: int) -> tuple[float, float]:
    """What a linear program says of a closed cell: atoms from 0, open cells as they are."""
    from scipy.optimize import linprog

    size = linked.tables.size
    # Every combination that open cells do not tell to be empty may hold somebody.
    rows = rows_of(linked, (linked.counts == 0) & closed & linked.tables.published)
    matrix = np.zeros((size, rows.weights.size))
    owners = np.repeat(np.arange(size), np.diff(rows.columns.starts))
    matrix[owners, rows.columns.rows] = 1
    opened = linked.tables.published & ~closed
    ends = []
    for sign in (1, -1):
        solved: Any = linprog(
            sign * matrix[cell],
            A_eq=matrix[opened],
            b_eq=linked.counts[opened],
            bounds=(0, 1000),
            method="highs",
        )
        assert solved.status == 0
        ends.append(sign * solved.fun)
    return ends[0], ends[1]


@settings(max_examples=12)
@given(linked_specs(), st.sampled_from(("none", "alone", "any-sum")))
def test_no_primary_cell_can_be_recovered(specs: list[TableSpec], singles: str) -> None:
    """By linear programs, and in fractions; hierarchies of both kinds, linked tables."""
    linked = count_linked(ISLAND, specs)
    closed = closed_of(linked, Suppression(3, singles=singles, width=0))
    counts, published = linked.counts, linked.tables.published
    primary = np.flatnonzero((counts > 0) & (counts < 3) & published)
    assert closed[primary].all()
    rows = rows_of(linked, np.zeros(counts.size, dtype=bool))
    dense = np.zeros((rows.weights.size, counts.size), dtype=np.int64)
    dense[rows.columns.rows, np.repeat(np.arange(counts.size), np.diff(rows.columns.starts))] = 1
    span = Fractions(dense, np.flatnonzero(published & ~closed).tolist())
    for cell in primary[:6].tolist():
        assert not span.holds(cell)
        low, high = interval(linked, closed, cell)
        assert low < counts[cell] - 1e-7 or high > counts[cell] + 1e-7


@settings(max_examples=6)
@given(linked_specs(conditions=False))
def test_every_primary_cell_has_two_possible_whole_numbers(specs: list[TableSpec]) -> None:
    from sdcensus.solvers.audit.audit import audit_cells

    linked = count_linked(ISLAND, specs)
    closed = closed_of(linked, Suppression(3))
    counts, tables = linked.counts, linked.tables
    primary = (counts > 0) & (counts < 3) & tables.published
    hidden = closed | ~tables.published
    intervals = audit_cells(
        tables.equations, np.where(hidden, 0, counts), hidden, asked=primary, integer=True
    )
    assert (intervals.upper - intervals.lower)[primary].min(initial=1) >= 1


@given(linked_specs())
def test_bounded_zeros_kept_zeros_are_true_never_negative(specs: list[TableSpec]) -> None:
    """What is shown is the true count, in every table; empty cells are shown."""
    linked = count_linked(ISLAND, specs)
    protected_tables = Suppression(3, width=0).protect_together(linked)
    for protected, cube in zip(protected_tables, linked.cubes, strict=True):
        table = held(protected)
        flags = np.zeros(table.shape) if table.flags is None else table.flags
        assert (table.published[flags == 0] == cube.count[flags == 0]).all()
        assert not ((cube.count == 0) & (flags != 0)).any()
        assert set(np.unique(flags).tolist()) <= {0, Mark.WITHHELD}


@given(st.permutations(("area@district", "sex", "married")))
def test_the_order_of_axes_does_not_matter(axes: list[str]) -> None:
    first = held(Suppression(3).protect(LARGE.tabulate("area@district", "sex", "married")))
    other = held(Suppression(3).protect(LARGE.tabulate(*axes)))
    turn = [("area@district", "sex", "married").index(axis) for axis in axes]
    flags = np.zeros(first.shape) if first.flags is None else first.flags
    others = np.zeros(other.shape) if other.flags is None else other.flags
    assert (flags.transpose(turn) == others).all()
    assert (first.published.transpose(turn) == other.published).all()


def test_a_common_cell_is_closed_in_all_tables_or_in_none() -> None:
    specs = [ISLAND.spec("area", "sex"), ISLAND.spec("area", "age@class")]
    linked = count_linked(ISLAND, specs)
    first, second = Suppression(3).protect_together(linked)
    flags = [held(protected).flags for protected in (first, second)]
    assert flags[0] is not None
    assert flags[1] is not None
    assert (flags[0][:, -1] == flags[1][:, -1]).all()


CUBE = island(90, seed=0).tabulate("area", "married", "age@class").held_for("a test")


def flags_by(**said: Any) -> npt.NDArray[np.uint8]:
    flags = held(Suppression(**said).protect(CUBE)).flags
    return np.zeros(CUBE.shape, dtype=np.uint8) if flags is None else flags


#: Something said, and what it is compared with: what is said by default, if nothing stands there.
SETTINGS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"minimum": 8}, {}),
    ({"zeros": "protect"}, {}),
    ({"zeros": "candidates"}, {}),
    ({"group": 0}, {}),
    ({"group": 1, "group_axes": ("age",)}, {"group": 1}),
    ({"population": 90}, {}),
    ({"population": 300, "area": "area"}, {}),
    ({"singles": "any-sum"}, {}),
    ({"singles": "none"}, {}),
    ({"order": "totals-first"}, {}),
    ({"order": "zeros-first"}, {}),
    ({"order": "zeros-first", "zeros": "candidates"}, {"zeros": "candidates"}),
    ({"rules": (lambda cube: cube.count == cube.count.max(),)}, {}),
    ({"unless": lambda cube: cube.count == 1}, {}),
]
#: Settings with tests of their own: households have to be counted, releases to be there.
ELSEWHERE = {
    "households": "test_cells_of_one_household_are_closed",
    "width": "test_a_wider_interval_closes_more",
    "earlier_release": "test_cells_closed_before_stay_closed_and_open_ones_open",
    "contradictions": "test_a_cell_that_was_open_and_is_primary_now_is_named",
    "secondary": "test_the_way_to_secondary_cells_is_kept_to",
}


@pytest.mark.parametrize(("said", "beside"), SETTINGS, ids=lambda said: " ".join(said) or "-")
def test_every_setting_changes_what_is_closed(said: dict[str, Any], beside: dict[str, Any]) -> None:
    assert (flags_by(width=0, **said) != flags_by(width=0, **beside)).any()


def test_no_setting_is_without_a_test() -> None:
    tested = {name for said, _ in SETTINGS for name in said} | set(ELSEWHERE)
    tested |= {parameter.name for parameter in INTERVAL_PARAMETERS}  # test_interval_settings
    tested |= {parameter.name for parameter in CONTRIBUTION_PARAMETERS}  # test_sums
    assert {parameter.name for parameter in Suppression.takes} <= tested
    assert all(name in globals() for name in ELSEWHERE.values())


def test_cells_of_one_household_are_closed() -> None:
    """Five who live together are as few as one; the same five in two households are shown."""
    small = LARGE.tabulate("area@district", "married").held_for("a test")
    places = np.zeros(small.shape, dtype=np.uint32)
    first = Accumulators(small.count, small.key, first_household=places, last_household=places + 1)
    last = places + 1
    last[0, 0] = 0
    alone = Accumulators(small.count, small.key, first_household=places, last_household=last)
    method = Suppression(3, households=True)
    shown = held(method.protect(Cube(small.spec, small.origin, first)))
    assert shown.flags is None
    closed = held(method.protect(Cube(small.spec, small.origin, alone)))
    assert closed.flags is not None
    assert closed.flags[0, 0] == Mark.WITHHELD
    assert (closed.flags != 0).sum() >= 4
    assert held(Suppression(3).protect(Cube(small.spec, small.origin, alone))).flags is None


def test_an_empty_sum_does_not_tell_that_its_parts_are_empty() -> None:
    """Nobody below the first class of age is married, in no area: the sum of areas says so."""
    flags = flags_by(group=1, group_axes=("age",), width=0)
    empty = CUBE.count == 0
    assert empty[-1, 1, 0]
    assert (flags != 0)[:-1, 1, 0].any()
    assert flags[-1, 1, 0] == Mark.WITHHELD


def test_the_way_to_secondary_cells_is_kept_to() -> None:
    """What is asked for decides the numbers, and a way that does not exist is refused."""
    engines = {str(engine): Suppression(secondary=engine).parameters() for engine in Engine}
    assert {said["secondary"] for said in engines.values()} == set(Engine)
    with pytest.raises(SpecError, match="elimination"):
        Suppression(secondary="eliminaton")


def test_a_wider_interval_closes_more() -> None:
    assert flags_by(width=12).astype(bool).sum() > flags_by(width=1).astype(bool).sum()


def test_who_is_alone_is_thought_of_by_default() -> None:
    specs = [ISLAND.spec("area", "age@class")]
    linked = count_linked(ISLAND, specs)
    alone = closed_of(linked, Suppression(3, width=0))
    none = closed_of(linked, Suppression(3, width=0, singles="none"))
    assert alone.sum() >= none.sum()


# -- earlier releases ------------------------------------------------------------------------------


def earlier_of(table: Table, **changes: bool) -> CellsElsewhere:
    return CellsElsewhere.of([ProductTable.of("before", table, closing=Closing.SUMS)])


def changed(cube: Cube, **at: int) -> Cube:
    """The same table in another year: one cell and its totals are smaller by so many."""
    count = cube.count.copy()
    for text, less in at.items():
        place = tuple(int(part) for part in text[1:].split("_"))
        for corner in np.ndindex(*(2,) * count.ndim):
            index = tuple(-1 if last else here for last, here in zip(corner, place, strict=True))
            count[index] -= less
    values = cube.values.map(lambda array: count if array is cube.values.count else array)
    return Cube(cube.spec, cube.origin, values)


SERIES = LARGE.tabulate("area@district", "married").held_for("a test")


def test_cells_closed_before_stay_closed_and_open_ones_open() -> None:
    first = held(Suppression(30).protect(SERIES))
    assert first.flags is not None
    earlier = earlier_of(first)
    again = held(Suppression(1, earlier=earlier).protect(SERIES))
    assert again.flags is not None
    assert (again.flags == first.flags).all()
    assert not (held(Suppression(1).protect(SERIES)).flags is not None)


def test_a_cell_that_was_open_and_is_primary_now_is_named() -> None:
    before = earlier_of(held(Suppression(1).protect(SERIES)))
    small = int(SERIES.count[:-1, :-1].min())
    with pytest.raises(SpecError, match="area = "):
        Suppression(small + 1, earlier=before).protect(SERIES)
    method = Suppression(small + 1, earlier=before, contradictions="close")
    protected = method.protect(SERIES)
    assert held(protected).flags is not None
    assert any("Open before" in remark for remark in protected.audit.remarks)


def test_open_cells_that_tell_a_primary_one_are_named() -> None:
    """All but one cell of a table were open: the last one cannot become primary."""
    table = held(Suppression(1).protect(SERIES))
    flags = np.zeros(SERIES.shape, dtype=np.uint8)
    place = np.unravel_index(np.argmin(SERIES.count[:-1, :-1]), SERIES.count[:-1, :-1].shape)
    flags[place] = Mark.WITHHELD
    shown = np.where(flags, 0, table.published)
    before = earlier_of(Table(SERIES.spec, shown, flags))
    small = int(SERIES.count[place])
    with pytest.raises(SpecError, match=r"tell cells that may not be shown: area = .*from area = "):
        Suppression(small + 1, earlier=before).protect(SERIES)


# -- bad input and odd tables ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [{"minimum": 0}, {"group": -1}, {"width": -1}, {"population": 0}, {"zeros": "no"}],
    ids=str,
)
def test_wrong_settings_are_refused(said: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        Suppression(**said)


def test_a_rule_gives_a_mask() -> None:
    with pytest.raises(SpecError, match="mask"):
        Suppression(rules=(lambda cube: cube.count,)).protect(CUBE)  # type: ignore[arg-type, return-value]


def test_households_have_to_be_counted() -> None:
    with pytest.raises(SpecError, match="households"):
        Suppression(households=True).protect(CUBE)


def test_counts_below_zero_are_refused() -> None:
    with pytest.raises(SpecError, match="below 0"):
        Suppression(3).protect(changed(SERIES, _0_0=10_000))


@pytest.mark.parametrize("axes", [(), ("sex",), ("sex-total",), ("area@district-total", "sex")])
def test_odd_tables(axes: tuple[str, ...]) -> None:
    cube = ISLAND.tabulate(*axes).held_for("a test")
    for minimum in (1, 3, 10_000):
        table = held(Suppression(minimum).protect(cube))
        flags = np.zeros(cube.shape) if table.flags is None else table.flags
        assert (flags[(cube.count > 0) & (cube.count < minimum)] != 0).all()


def test_an_empty_table_is_shown() -> None:
    cube = island(0).tabulate("sex", "married").held_for("a test")
    assert held(Suppression(3).protect(cube)).flags is None


def test_readers_are_told_that_nothing_was_changed() -> None:
    method = Suppression(3)
    notes = notes_for(held(method.protect(CUBE)), method.claims())
    texts = " ".join(note.show("en") for note in notes)
    assert "as they are" in texts
    assert "small changes" not in texts


def test_the_office_is_told_how_many_are_primary() -> None:
    protected = Suppression(3).protect(CUBE)
    assert "primary" in " ".join(protected.audit.remarks)
    assert "primary" not in repr(protected.table)
    several = Suppression(3, group=0, population=20).protect(CUBE).audit.remarks
    assert "Primary cells by rule: small counts" in several[-1]
    assert "small areas" in several[-1]
