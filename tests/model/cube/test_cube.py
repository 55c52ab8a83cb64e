"""Cubes: confidential, read-only, and able to become every coarser table."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from sdcensus.errors import Refused, SpecError, UnknownName
from sdcensus.model.cube.cube import Accumulators, Cell, Cube, Origin, finish
from sdcensus.model.cube.sparse_cube import AnyCube, SparseBlock, SparseCube, assemble
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Hierarchy, Level, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text

PARISH = Level("parish", (Code("P1"), Code("P2")), (0, 0, 1, 1))
SEAT = Level("seat", (Code("S1"), Code("S2")), (0, 1, 0, 1))
ED = Variable(
    name="ed",
    entity=Entity.PERSON,
    codes=tuple(Code(f"E{at}") for at in range(4)),
    hierarchies=(Hierarchy("areas", (PARISH,)), Hierarchy("votes", (SEAT,))),
)
SEX = Variable(
    name="sex",
    entity=Entity.PERSON,
    codes=(
        Code("1", Text.of({"en": "Male", "es": "Hombre"})),
        Code("2", Text.of({"en": "Female", "es": "Mujer"})),
    ),
)
SCHEMA = Schema(
    census=CensusInfo(name="census"),
    entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
    variables=(ED, SEX),
)
#: True counts that occur nowhere else: seven-digit primes.
COUNTS = np.array([[1000003, 1000033], [1000037, 1000039], [1000081, 1000099], [1000117, 0]])
ORIGIN = Origin(KeySpace(), secret_id="b7a551f2cc2b4dff")


def spec(*by: str, universe: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=universe)


def dense(*by: str) -> Cube:
    table = spec(*by)
    assert table.base_shape == (4, 2)
    return finish(table, ORIGIN, {"count": COUNTS, "key": COUNTS.astype(np.uint64) * 4000})


def sparse(*by: str) -> SparseCube:
    cube = assemble(
        spec(*by),
        ORIGIN,
        np.arange(8, dtype=np.uint64)[:7],
        {
            "count": COUNTS.reshape(-1)[:7],
            "key": COUNTS.reshape(-1)[:7].astype(np.uint64) * 4000,
        },
        largest_dense=0,
    )
    assert isinstance(cube, SparseCube)
    return cube


def cell() -> Cell:
    return next(dense("ed", "sex").cells())


def block() -> SparseBlock:
    return next(sparse("ed", "sex").blocks())


CONFIDENTIAL: list[Callable[[], object]] = [
    lambda: dense("ed", "sex"),
    lambda: sparse("ed", "sex"),
    lambda: dense("ed", "sex").values,
    block,
    cell,
]


@pytest.mark.parametrize("make", CONFIDENTIAL)
def test_printing_shows_that_it_is_confidential_and_no_count(make: Callable[[], object]) -> None:
    one = make()
    for shown in (repr(one), str(one), f"{one}", f"{one:>200}", f"{one!r}", repr([one])):
        assert "confidential" in shown
        for count in {*COUNTS.reshape(-1).tolist(), int(COUNTS.sum())} - {0}:
            assert str(count) not in shown
            assert str(count * 4000 % 2**32) not in shown


@pytest.mark.parametrize("make", CONFIDENTIAL)
def test_pickling_and_copying_are_refused(make: Callable[[], object]) -> None:
    one = make()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(Refused, match="confidential"):
            pickle.dumps(one, protocol)
    for copied in (copy.copy, copy.deepcopy):
        with pytest.raises(Refused, match="confidential"):
            copied(one)
    with pytest.raises(Refused):
        pickle.dumps({"a": [one]})


def test_a_cube_says_its_shape_only() -> None:
    assert repr(dense("ed", "sex")) == "<Cube 5×3: confidential>"
    assert repr(sparse("ed", "sex")) == "<SparseCube 5×3: confidential>"
    assert repr(dense("ed", "sex").rollup()) == "<Cube one cell: confidential>"
    assert repr(block()) == "<SparseBlock ed×sex: confidential>"
    assert repr(cell()) == "<Cell E0×1: confidential>"


def test_nothing_in_a_cube_can_be_changed() -> None:
    for cube in (dense("ed", "sex"), dense("ed", "sex").rollup("ed"), sparse("ed", "sex")):
        for _, array in cube.values.items():
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0
        with pytest.raises(FrozenInstanceError):
            cube.origin = ORIGIN  # type: ignore[misc]
    numbers = sparse("ed", "sex").numbers
    with pytest.raises(ValueError, match="read-only"):
        numbers[0] = 1


def test_margins_are_sums_of_the_finest_cells() -> None:
    cube = dense("ed@parish+ed", "sex")
    assert cube.count[:4, :2].tolist() == COUNTS.tolist()
    assert cube.count[4:6, :2].tolist() == [
        (COUNTS[0] + COUNTS[1]).tolist(),
        (COUNTS[2] + COUNTS[3]).tolist(),
    ]
    assert int(cube.count[6, 2]) == int(COUNTS.sum())
    assert int(cube.key[6, 2]) == int(COUNTS.sum()) * 4000 % 2**32


@pytest.mark.parametrize("make", [dense, sparse])
def test_levels_that_do_not_nest_can_be_rolled_up_together(
    make: Callable[..., AnyCube],
) -> None:
    """Each level adds up from itself; no cell of their common refinement is needed."""
    crossed = make("ed@parish+seat", "sex")
    rolled = crossed.rollup("ed@parish+seat")
    assert isinstance(rolled, Cube)
    by_area = COUNTS.sum(axis=1)
    assert rolled.count.tolist() == [
        by_area[0] + by_area[1],
        by_area[2] + by_area[3],
        by_area[0] + by_area[2],
        by_area[1] + by_area[3],
        by_area.sum(),
    ]


@pytest.mark.parametrize("make", [dense, sparse])
def test_what_a_table_does_not_show_cannot_be_rolled_up_from_it(
    make: Callable[..., AnyCube],
) -> None:
    with pytest.raises(SpecError, match="ed@ed is finer than what the table shows"):
        make("ed@parish+seat", "sex").rollup("ed")
    with pytest.raises(UnknownName, match="There is no axis 'age'"):
        make("ed", "sex").rollup("age")
    with pytest.raises(SpecError, match="only one axis"):
        make("ed", "sex").rollup("ed", "ed@parish")


@pytest.mark.parametrize("make", [dense, sparse])
def test_selecting_a_code_is_tabulating_with_the_universe(
    make: Callable[..., AnyCube],
) -> None:
    cube = make("ed@parish+ed", "sex")
    women = cube.select(sex="2")
    assert isinstance(women, Cube)
    assert women.spec == spec("ed@parish+ed", universe="sex == 2")
    assert women.count[:4].tolist() == COUNTS[:, 1].tolist()
    parish = cube.select(ed="P2", sex="_T")
    assert isinstance(parish, Cube)
    assert parish.count.shape == ()
    assert int(parish.count) == int(COUNTS[2:].sum())
    assert parish.spec == spec(universe="ed@parish == 'P2'")
    whole = cube.select(ed="_T", sex="_T")
    assert whole.spec == spec()
    with pytest.raises(UnknownName, match="There is no code '3'"):
        cube.select(sex="3")
    with pytest.raises(SpecError, match="no axis 'age'"):
        cube.select(age="1")


def test_cells_carry_labels_in_the_asked_language() -> None:
    cube = dense("ed-total", "sex")
    first = next(cube.cells(language="es"))
    assert (first.codes, first.labels) == (("E0", "1"), ("E0", "Hombre"))
    assert (first.count, first.key) == (1000003, 1000003 * 4000 % 2**32)
    assert [cell.codes for cell in cube.cells()] == [
        (area.code, sex) for area in ED.codes for sex in ("1", "2", "_T")
    ]
    assert sum(1 for _ in sparse("ed-total", "sex-total").cells()) == 7  # without the empty one


def test_accumulators_have_the_shape_of_the_table() -> None:
    with pytest.raises(SpecError, match="needs the shape"):
        Cube(
            spec("sex"),
            ORIGIN,
            Accumulators(count=np.zeros(2, np.int64), key=np.zeros(2, np.uint32)),
        )


def test_a_grid_beyond_all_numbers_is_refused() -> None:
    wide = Variable(
        name="wide", entity=Entity.PERSON, codes=tuple(Code(str(at)) for at in range(1 << 16))
    )
    names = ["a", "b", "c", "d"]
    schema = Schema(
        census=SCHEMA.census,
        entities=SCHEMA.entities,
        variables=tuple(
            Variable(name=name, entity=wide.entity, codes=wide.codes) for name in names
        ),
    )
    table = TableSpec.build(schema, names)
    with pytest.raises(SpecError, match=r"more than 2\*\*63 cells"):
        assemble(table, ORIGIN, np.zeros(0, np.uint64), {})
