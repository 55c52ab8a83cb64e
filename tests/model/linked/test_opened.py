"""Closed cells against everything that other products show, by brute force over definitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.inference.derivation import derivable
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked import comparable
from sdcensus.model.linked.atoms import Atoms, joint_spec
from sdcensus.model.linked.comparable import ComparedProducts
from sdcensus.model.linked.opened import compare_products
from sdcensus.model.linked.products import Closing, ProductTable, together_word
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.published.table import Mark, SparseTable, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.document import spec_from_json, spec_to_json
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import island
from tests.methods.magnitude.incomes import income_census

ISLAND = island(60)
AXES = {
    "area": ("area", "area@district", "area@parish+district-total", "area@district-total"),
    "sex": ("sex", "sex-total"),
    "age": ("age@class", "age@half", "age@class+half-total", "age", "age@age+half"),
    "married": ("married", "married-total"),
}
CONDITIONS = (None, None, "sex == 1", "age >= 5", "age < 3 or married == 1", "married == 0")
Mask = npt.NDArray[np.bool_]


def product(spec: TableSpec, closed: Mask | None, name: str = "", **words: Any) -> ProductTable:
    published = np.zeros(spec.shape, dtype=np.int64)
    flags = None if closed is None else np.where(closed, np.uint8(Mark.WITHHELD), np.uint8(0))
    closing = words.pop("closing", Closing.SUMS)
    return ProductTable.of(
        name or spec.title, Table(spec, published, flags), closing=closing, **words
    )


def cells(spec: TableSpec, *named: tuple[str, ...]) -> Mask:
    """Some cells of a table by their codes."""
    closed = np.zeros(spec.shape, dtype=bool)
    for codes in named:
        closed[tuple(axis.position(code) for axis, code in zip(spec.axes, codes, strict=True))] = 1
    return closed


@st.composite
def products(draw: st.DrawFn) -> list[ProductTable]:
    tables = []
    for at in range(draw(st.integers(1, 3))):
        names = draw(st.permutations(sorted(AXES)))[: draw(st.integers(0, 2))]
        spec = ISLAND.spec(
            *(draw(st.sampled_from(AXES[name])) for name in names),
            universe=draw(st.sampled_from(CONDITIONS)),
        )
        closed = None
        if at == 0 or draw(st.booleans()):
            drawn = draw(st.lists(st.booleans(), min_size=spec.cells, max_size=spec.cells))
            closed = np.array(drawn, dtype=bool).reshape(spec.shape)
        tables.append(product(spec, closed, name=f"t{at}"))
    return tables


def members(specs: Sequence[TableSpec]) -> tuple[LinkedTables, Any]:
    """For each distinct cell the atoms that it holds, whatever the data."""
    tables = LinkedTables.of(specs)
    joint = joint_spec(specs)
    counted = ISLAND.tabulate(joint).held_for("a test")
    possible = cell_hashes(joint).any(axis=1).reshape(joint.shape)
    everywhere = Cube(
        joint, ISLAND.origin, counted.values.map(lambda one: possible.astype(one.dtype))
    )
    atoms = Atoms.of(tables, everywhere)
    held = np.zeros((tables.size, len(atoms)))
    held[atoms.cells, np.repeat(np.arange(len(atoms)), np.diff(atoms.starts))] = 1
    return tables, held


def brute_force(tables: Sequence[ProductTable]) -> list[list[bool]]:
    """For each table which of its closed cells lie in the span of all cells with a number."""
    linked, held = members([table.spec for table in tables])
    shown = []
    for table, numbers in zip(tables, linked.cell_of, strict=True):
        fine = numbers >= 0 if table.missing is None else (numbers >= 0) & ~table.missing
        shown.append(numbers[fine])
    known = held[np.unique(np.concatenate(shown))]
    rank = np.linalg.matrix_rank(known) if known.size else 0
    found = []
    for table, numbers in zip(tables, linked.cell_of, strict=True):
        closed = np.zeros(table.spec.shape, bool) if table.closed is None else table.closed
        asked = numbers[closed & (numbers >= 0)]
        found.append(
            [bool(np.linalg.matrix_rank(np.vstack([known, held[cell]])) == rank) for cell in asked]
        )
    return found


@settings(max_examples=30)
@given(products())
def test_what_follows_is_what_lies_in_the_span_of_all_cells(tables: list[ProductTable]) -> None:
    if any(table.spec.axes and not table.spec.cells for table in tables):
        return
    compared = ComparedProducts.of(tables)
    known = compared.known(range(len(tables)))
    targets = np.zeros(known.size, dtype=bool)
    for numbers, _ in compared.closed:
        targets[numbers] = True
    found = derivable(compared.sums, known, targets)
    assert [found[numbers].tolist() for numbers, _ in compared.closed] == brute_force(tables)


LEGAL = ISLAND.spec("area@district", "sex", name="legal")
#: Two cells of each of two districts: neither can be computed from the table itself.
CLOSED = cells(LEGAL, ("D0", "0"), ("D0", "1"), ("D1", "0"), ("D1", "1"))


def test_a_closed_cell_that_another_table_shows_is_found_in_any_spelling() -> None:
    legal = product(LEGAL, CLOSED)
    turned = product(ISLAND.spec("sex", "married", "area@district-total", name="other"), None)
    (shown,) = compare_products([legal, turned]).opened
    assert (shown.closed_in, shown.opened_by, len(shown.cells)) == (0, (1,), 4)
    assert shown.names[0] == "area = D0, sex = 0"
    assert not shown.parts
    condition = product(ISLAND.spec("area@district", universe="sex == 1", name="women"), None)
    (shown, *_) = compare_products([legal, condition]).opened
    assert shown.names == ("area = D0, sex = 1", "area = D1, sex = 1")


def test_finer_codes_that_add_up_to_a_closed_cell_are_found_and_named() -> None:
    fine = product(ISLAND.spec("area@parish-total", "sex-total", "age", name="fine"), None)
    (summed,) = compare_products([product(LEGAL, CLOSED), fine]).opened
    assert summed.opened_by == (1,)
    assert len(summed.cells) == 4
    assert summed.parts == ("plus area = P0 … P2, sex = 0, added up from fine",)


def test_a_difference_of_two_tables_is_found() -> None:
    """Neither other table has the cell, and neither gives it away alone."""
    legal = product(LEGAL, CLOSED)
    halves = [
        product(ISLAND.spec("area@district", "sex", universe=where, name=where), None)
        for where in ("married == 0", "married == 1")
    ]
    assert not compare_products([legal, halves[0]]).opened
    (summed,) = compare_products([legal, *halves]).opened
    assert summed.opened_by == (1, 2)
    assert len(summed.cells) == 4
    young = product(ISLAND.spec("sex", "area@district", universe="age < 5", name="young"), None)
    old = product(ISLAND.spec("area@district", "sex", universe="age >= 5", name="old"), None)
    (summed,) = compare_products([young, legal, old]).opened
    assert (summed.closed_in, summed.opened_by) == (1, (0, 2))


def test_a_total_less_all_others_is_found() -> None:
    spec = ISLAND.spec("sex-total", "area@district-total", name="legal")
    legal = product(spec, cells(spec, ("0", "D0")))
    assert not compare_products([legal]).opened
    total = product(ISLAND.spec(name="everybody"), None)
    (summed,) = compare_products([legal, total]).opened
    assert summed.opened_by == (1,)
    assert "plus the total of everybody" in summed.parts
    assert "less sex = 1, area = D0 of legal" in summed.parts


def test_what_a_table_leaves_open_by_itself_is_not_blamed_on_others() -> None:
    """A single gap in a row follows from its total: that is the affair of its method."""
    legal = product(LEGAL, cells(LEGAL, ("D0", "0")))
    beside = product(ISLAND.spec("married", name="beside"), None)
    assert not compare_products([legal, beside]).opened
    shown = product(ISLAND.spec("sex-total", "area@district", name="shown"), None)
    assert [opened.parts for opened in compare_products([legal, shown]).opened] == [()]


def test_tables_that_were_protected_together_are_one() -> None:
    rows = ISLAND.spec("area@district", "sex", name="rows")
    columns = ISLAND.spec("area@district-total", "age@half", name="columns")
    word = together_word([rows, columns])
    closed = cells(rows, ("D0", "0"), ("D0", "1"), ("D1", "0"), ("D1", "1"))
    first = product(rows, closed, together=word)
    second = product(columns, cells(columns, ("D0", "h0"), ("D0", "h1")), together=word)
    assert not compare_products([first, second]).opened


def test_a_method_that_closes_cells_only_asks_nothing_of_sums() -> None:
    fine = product(ISLAND.spec("area@parish-total", "sex-total", name="fine"), None)
    legal = product(LEGAL, CLOSED, closing=Closing.CELLS)
    assert not compare_products([legal, fine]).opened
    shown = product(ISLAND.spec("area@district", "sex", "married", name="shown"), None)
    assert compare_products([legal, shown]).opened


def test_weighted_counts_of_a_closed_cell_give_it_away() -> None:
    weighted = product(ISLAND.spec("area@district", "sex", measure="weighted", name="w"), None)
    assert len(compare_products([product(LEGAL, CLOSED), weighted]).opened) == 1
    fine = product(ISLAND.spec("area", "sex", measure="weighted", name="fine"), None)
    (summed,) = compare_products([product(LEGAL, CLOSED), fine]).opened
    assert summed.parts


def test_cells_that_others_close_too_are_not_shown_by_them() -> None:
    other = ISLAND.spec("sex", "area@district", "married", name="other")
    flat = cells(other, *((sex, area, "_T") for sex in "01" for area in ("D0", "D1")))
    found = compare_products([product(LEGAL, CLOSED), product(other, flat)]).opened
    (summed,) = found  # the married and the others add up
    assert summed.parts == (
        "plus sex = 0, area = D0, married = 0 of other",
        "plus sex = 0, area = D0, married = 1 of other",
    )
    married = cells(
        other,
        *((sex, area, code) for sex in "01" for area in ("D0", "D1") for code in ("0", "1", "_T")),
    )
    assert not compare_products([product(LEGAL, CLOSED), product(other, married)]).opened


def test_tables_that_were_read_again_are_compared_by_their_codes() -> None:
    def read(spec: TableSpec) -> TableSpec:
        return spec_from_json(spec_to_json(spec), where="a test")

    legal = product(read(LEGAL), CLOSED)
    fine = product(read(ISLAND.spec("area@parish-total", "sex", name="fine")), None)
    halves = product(ISLAND.spec("age@half", "sex", name="halves"), None)
    (summed,) = compare_products([legal, halves, fine]).opened
    assert summed.opened_by == (2,)


def test_other_code_lists_are_said_to_be_unknown() -> None:
    other = island(60)
    spec = other.spec("sex", "area@district-total")
    axis = spec.axes[0]
    variable = replace(axis.variable, codes=axis.variable.codes[::-1])
    renamed = replace(spec, axes=(make_axis(variable, [variable.level()], total=True),), name="n")
    comparison = compare_products([product(LEGAL, CLOSED), product(renamed, None)])
    assert not comparison.opened
    assert "another code list for 'sex'" in comparison.unchecked[0]


def test_fine_tables_are_taken_at_the_codes_that_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparable, "MOST_CELLS", 60)
    large = product(ISLAND.spec("age", "married", "area", name="large"), None)
    comparison = compare_products([product(LEGAL, CLOSED), large])
    assert not comparison.opened
    assert not comparison.unchecked
    monkeypatch.setattr(comparable, "MOST_CELLS", 10)
    comparison = compare_products([product(LEGAL, CLOSED), large])
    assert "too many cells" in comparison.unchecked[0]


def test_other_units_are_not_the_same_cells_and_sparse_tables_show_all_of_theirs() -> None:
    legal = product(LEGAL, CLOSED)
    nothing = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)
    listed = SparseTable(ISLAND.spec("area", "sex"), *nothing)
    (summed,) = compare_products([legal, ProductTable.of("listed", listed)]).opened
    assert len(summed.cells) == 4
    households = replace(LEGAL, of=Entity.HOUSEHOLD)
    assert not compare_products([legal, product(households, None)]).opened


def test_nothing_is_compared_where_nothing_is_closed() -> None:
    assert compare_products([]) == compare_products([product(LEGAL, None)])
    assert not product(LEGAL, CLOSED, closing=Closing.NOTHING).closes


def test_gaps_of_other_tables_are_looked_at_before_they_are_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fine = ISLAND.spec("area@parish-total", "sex-total", name="fine")
    flags = np.zeros(fine.shape, dtype=np.uint8)
    flags[:6] = Mark.NOT_BROKEN_DOWN  # all parishes of both districts
    gaps = ProductTable.of("fine", Table(fine, np.zeros(fine.shape, dtype=np.int64), flags))
    legal = product(LEGAL, CLOSED)
    assert not compare_products([legal, gaps]).opened
    # Where that is too much, the safe side stands.
    plain = ComparedProducts.of

    def limited(tables: Sequence[ProductTable]) -> ComparedProducts:
        if any(table.missing is not None and not table.closes for table in tables):
            raise comparable.TooManyCellsError
        return plain(tables)

    monkeypatch.setattr(ComparedProducts, "of", limited)
    (summed,) = compare_products([legal, gaps]).opened
    assert summed.opened_by == (1,)


def test_tables_without_axes_and_with_conditions_only() -> None:
    everybody = ISLAND.spec(name="everybody")
    women = ISLAND.spec(universe="sex == 1", name="women")
    closed = product(women, np.ones((), dtype=bool))
    assert not compare_products([closed]).opened
    assert not compare_products([closed, product(everybody, None)]).opened
    men = product(ISLAND.spec(universe="sex == 0", name="men"), None)
    (summed,) = compare_products([closed, product(everybody, None), men]).opened
    assert summed.names == ("the total (with a condition on sex)",)
    assert summed.parts == (
        "plus the total of everybody",
        "less the total (with a condition on sex) of men",
    )
    (shown,) = compare_products([closed, product(ISLAND.spec("sex", name="sexes"), None)]).opened
    assert shown.opened_by == (1,)


def test_a_closed_cell_that_no_record_can_be_in_is_nobodys() -> None:
    """It is 0 for any data, closed or not."""
    spec = ISLAND.spec("age@class", universe="age >= 5", name="old")
    young = cells(spec, ("c0",))
    assert not compare_products([product(spec, young), product(ISLAND.spec("sex"), None)]).opened


def test_sums_are_compared_by_their_amount_and_not_with_counts() -> None:
    census = income_census(60)

    def shown(*by: str, measure: str, closed: bool = False) -> ProductTable:
        spec = census.spec(*by, measure=measure, name=measure)
        mask = cells(spec, ("D0", "0"), ("D0", "1"), ("D1", "0"), ("D1", "1")) if closed else None
        return product(spec, mask)

    legal = shown("area@district", "sex", measure="sum(income)", closed=True)
    for measure in ("count", "sum(rent)"):
        assert not compare_products([legal, shown("area@district", "sex", measure=measure)]).opened
        assert not compare_products([legal, shown("area@parish", "sex", measure=measure)]).opened
    for measure in ("sum(income)", "weighted-sum(income)"):
        (again,) = compare_products([legal, shown("sex", "area@district", measure=measure)]).opened
        assert len(again.cells) == 4
        (finer,) = compare_products(
            [legal, shown("area@parish-total", "sex-total", measure=measure)]
        ).opened
        assert finer.parts
    counts = shown("area@district", "sex", measure="count", closed=True)
    assert not compare_products([counts, shown("sex", "area", measure="sum(income)")]).opened
