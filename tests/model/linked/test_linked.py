"""Tables as one set of cells: what is shared, what adds up, what they tell apart together."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import SparseMatrix
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.atoms import Atoms, joint_spec
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.linked import count_linked
from sdcensus.testing.island import island

ISLAND = island(60)
AXES = {
    "area": ("area", "area@district", "area@parish+district", "area@parish+district-total"),
    "sex": ("sex", "sex-total"),
    "age": ("age@class", "age@half", "age@class+half", "age@class+half-total", "age@age+class"),
    "married": ("married", "married-total"),
}
CONDITIONS = (None, "sex == 1", "age >= 5", "age < 3 or married == 1")


def dense(matrix: SparseMatrix) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    full = np.zeros(matrix.shape, dtype=np.int64)
    full[matrix.rows, matrix.columns] = matrix.values
    return full


@st.composite
def axes_of_table(draw: st.DrawFn, most: int = 3) -> tuple[str, ...]:
    variables = draw(st.permutations(sorted(AXES)))[: draw(st.integers(0, most))]
    return tuple(draw(st.sampled_from(AXES[name])) for name in variables)


@st.composite
def linked_specs(draw: st.DrawFn, *, conditions: bool = True) -> list[TableSpec]:
    return [
        ISLAND.spec(
            *draw(axes_of_table()),
            universe=draw(st.sampled_from(CONDITIONS)) if conditions else None,
        )
        for _ in range(draw(st.integers(1, 3)))
    ]


@given(linked_specs())
def test_cells_add_up_and_are_what_was_counted(specs: list[TableSpec]) -> None:
    linked = count_linked(ISLAND, specs)
    tables = linked.tables
    assert tables.adds_up(linked.counts)
    for spec, cube, values in zip(specs, linked.cubes, tables.spread(linked.counts), strict=True):
        counted = ISLAND.tabulate(spec).held_for("a test")
        assert (cube.count == counted.count).all()
        assert (cube.key == counted.key).all()
        assert (values == counted.count).all()


@given(linked_specs())
def test_atoms_make_up_every_published_cell(specs: list[TableSpec]) -> None:
    linked = count_linked(ISLAND, specs)
    atoms = linked.atoms
    sums = np.zeros(linked.tables.size, dtype=np.int64)
    np.add.at(sums, atoms.cells, np.repeat(atoms.counts, np.diff(atoms.starts)))
    published = linked.tables.published
    assert (sums[published] == linked.counts[published]).all()
    assert not sums[~published].any()
    assert (atoms.counts > 0).all()
    assert np.unique(atoms.definitions).size == len(atoms)


@given(linked_specs(), st.integers(0, 1000))
def test_other_values_of_atoms_add_up_in_every_table(specs: list[TableSpec], seed: int) -> None:
    linked = count_linked(ISLAND, specs)
    atoms, tables = linked.atoms, linked.tables
    assert (atoms.sums(tables, atoms.counts) == linked.counts).all()
    values = np.random.default_rng(seed).integers(0, 9, len(atoms))
    cells = atoms.sums(tables, values)
    assert tables.adds_up(cells)
    sums = np.zeros(tables.size, dtype=np.int64)
    np.add.at(sums, atoms.cells, np.repeat(values, np.diff(atoms.starts)))
    assert (sums[tables.published] == cells[tables.published]).all()


@settings(max_examples=40)
@given(linked_specs(conditions=False))
def test_equations_know_everything_that_code_lists_tell(specs: list[TableSpec]) -> None:
    """As much freedom as published cells have over all data, and not more."""
    tables = LinkedTables.of(specs)
    matrix = dense(tables.equations).astype(float)
    _, weights, directions = np.linalg.svd(matrix, full_matrices=True)
    rank = int((weights > 1e-9).sum())
    free = np.linalg.matrix_rank(directions[rank:].T[tables.published]) if tables.size else 0
    joint = joint_spec(specs)
    everywhere = Cube(
        joint,
        ISLAND.origin,
        ISLAND.tabulate(joint).held_for("a test").values.map(np.ones_like),
    )
    atoms = Atoms.of(tables, everywhere)
    members = np.zeros((len(atoms), tables.size))
    members[np.repeat(np.arange(len(atoms)), np.diff(atoms.starts)), atoms.cells] = 1
    assert free == np.linalg.matrix_rank(members[:, tables.published])


def test_a_cell_of_several_tables_is_one_cell() -> None:
    tables = LinkedTables.of([ISLAND.spec("sex", "married"), ISLAND.spec("married", "area")])
    first, second = tables.cell_of
    assert first[2].tolist() == second[:, -1].tolist()  # married people of all sexes and areas
    assert len(np.intersect1d(first, second)) == 3
    assert tables.published.sum() == 9 + 3 * 8 - 3


def test_levels_of_two_tables_add_up_although_neither_shows_both() -> None:
    tables = LinkedTables.of(
        [ISLAND.spec("area@parish-total", "sex-total"), ISLAND.spec("area@district-total")]
    )
    fine, coarse = tables.cell_of
    counts = count_linked(ISLAND, tables.specs).counts
    assert counts[coarse[0]] == counts[fine[:3]].sum()
    changed = counts.copy()
    changed[coarse[0]] += 1
    assert not tables.adds_up(changed)


@given(linked_specs())
def test_the_order_of_tables_and_axes_does_not_matter(specs: list[TableSpec]) -> None:
    turned = [spec.with_axes(spec.axes[::-1]) for spec in specs[::-1]]
    one, other = LinkedTables.of(specs), LinkedTables.of(turned)
    assert (one.hashes == other.hashes).all()
    assert (one.published == other.published).all()
    rows = {tuple(row) for row in dense(one.equations).tolist()}
    assert rows == {tuple(row) for row in dense(other.equations).tolist()}


@given(axes_of_table())
def test_one_cube_is_linked_without_a_second_count(by: tuple[str, ...]) -> None:
    cube = ISLAND.tabulate(*by).held_for("a test")
    if any("class+half" in axis for axis in by):
        with pytest.raises(SpecError, match="do not nest"):
            LinkedCubes.of_cube(cube)
        return
    alone, counted = LinkedCubes.of_cube(cube), count_linked(ISLAND, [cube.spec])
    assert (alone.counts == counted.counts).all()
    assert (alone.atoms.counts == counted.atoms.counts).all()
    assert (alone.atoms.keys == counted.atoms.keys).all()
    assert (alone.atoms.cells == counted.atoms.cells).all()
    assert (alone.atoms.definitions == counted.atoms.definitions).all()


def test_cells_are_named_by_their_codes() -> None:
    tables = LinkedTables.of([ISLAND.spec("sex", "married")])
    names = [tables.name(cell) for cell in tables.cell_of[0].reshape(-1).tolist()]
    codes = ("0", "1", "_T")
    expected = [
        f"sex = {sex}, married = {status}" for sex, status in itertools.product(codes, codes)
    ]
    assert names == expected


def test_what_cannot_be_linked_is_refused() -> None:
    with pytest.raises(SpecError, match="No table"):
        LinkedTables.of([])
    with pytest.raises(SpecError, match="different things"):
        LinkedTables.of([ISLAND.spec("sex"), ISLAND.spec("sex", measure="weighted")])


def test_nothing_confidential_is_shown() -> None:
    linked = count_linked(ISLAND, [ISLAND.spec("sex")])
    assert repr(linked) == "<LinkedCubes 1 tables: confidential>"
    assert repr(linked.atoms) == "<Atoms: confidential>"
