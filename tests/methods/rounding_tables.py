"""A small census for tests of rounding, and what consistency asks of a method."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.method import Method
from sdcensus.model.cube.cube import Accumulators, Cube, Origin, finish
from sdcensus.model.cube.sparse_cube import SparseCube, assemble
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import (
    Code,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.store.in_memory import InMemoryRecords

SECRET = Secret(bytes(range(32)))
OTHER_SECRET = Secret(bytes(range(1, 33)))


def _level(name: str, codes: Iterable[str], group: tuple[int, ...]) -> Level:
    return Level(name, tuple(Code(code) for code in codes), group)


BROAD = _level("broad", ["young", "old"], (0, 0, 0, 0, 1, 1, 1, 1))
# The last district has one area only: both are the same people.
DISTRICT = _level("district", ["D0", "D1", "D2"], (0, 0, 0, 1, 1, 2))
# Does not nest in districts.
SEAT = _level("seat", ["S0", "S1"], (0, 1, 0, 1, 0, 1))
AREA = Variable(
    name="area",
    entity=Entity.PERSON,
    codes=tuple(Code(f"E{at}") for at in range(6)),
    hierarchies=(Hierarchy("areas", (DISTRICT,)), Hierarchy("votes", (SEAT,))),
    role=Role.GEOGRAPHY,
)
SEX = Variable(name="sex", entity=Entity.PERSON, codes=(Code("1"), Code("2")))
AGE = Variable(
    name="age",
    entity=Entity.PERSON,
    codes=tuple(Code(f"A{at}") for at in range(8)),
    hierarchies=(Hierarchy("ages", (BROAD,)),),
)
WEIGHT = Variable(name="weight", entity=Entity.PERSON, role=Role.WEIGHT, continuous=True)
SCHEMA = Schema(
    census=CensusInfo(name="rounding"),
    entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
    variables=(AREA, SEX, AGE, WEIGHT),
)
FULL = ("area@area+district", "sex", "age")


def census(
    people: int = 300, *, seed: int = 20210321, space: KeySpace = KeySpace(), secret_id: str = ""
) -> Census:
    """Persons at random, more of them in the first areas and ages."""
    draws = np.random.default_rng(seed)
    keys = draws.integers(space.modulus, size=people, dtype=np.uint64).astype(np.uint32)
    codes = {
        "area": draws.integers(0, 6, people) * draws.integers(0, 2, people),
        "sex": draws.integers(0, 2, people),
        "age": np.minimum(draws.geometric(0.3, people) - 1, 7),
    }
    records = InMemoryRecords(
        SCHEMA,
        Entity.PERSON,
        codes={name: code.astype(np.uint8) for name, code in codes.items()},
        keys=keys,
        values={"weight": np.full(people, 1, dtype=np.int64)},
        origin=Origin(space, secret_id=secret_id, data_version="test"),
    )
    return Census(SCHEMA, records)


def cube(*by: str, people: int = 300, space: KeySpace = KeySpace(), **options: Any) -> Cube:
    """A table of that census, held whole."""
    made = census(people, space=space).tabulate(*by, **options)
    assert isinstance(made, Cube)
    return made


def cells(
    counts: Iterable[int] | npt.NDArray[np.int64], keys: Iterable[int] | npt.NDArray[Any]
) -> Accumulators:
    """Cells with these counts and keys."""
    return Accumulators(
        count=np.array(counts, dtype=np.int64), key=np.array(keys).astype(np.uint32)
    )


def one_way(counts: Iterable[int], keys: Iterable[int], space: KeySpace = KeySpace()) -> Cube:
    """A table by age with these interior cells, and its totals."""
    base = {
        "count": np.array(list(counts), dtype=np.int64),
        "key": np.array(list(keys), dtype=np.uint64),
    }
    return finish(TableSpec.build(SCHEMA, ["age"]), Origin(space), base)


def sparse(whole: Cube) -> SparseCube:
    """The same table, held as the cells that have people."""
    spec = whole.spec
    inside: Any = tuple(slice(0, axis.base_size) for axis in spec.axes)
    count, key = (array[inside].reshape(-1) for array in (whole.count, whole.key))
    numbers = np.flatnonzero(count)
    sums = {"count": count[numbers], "key": key[numbers].astype(np.uint64)}
    made = assemble(spec, whole.origin, numbers.astype(np.uint64), sums, largest_dense=0)
    assert isinstance(made, SparseCube)
    return made


def published(method: Method, table: Cube) -> npt.NDArray[np.int64]:
    """Published values, with -1 - flag where a flag stands instead of a number."""
    made = method.protect(table).table
    assert isinstance(made, Table)
    if made.flags is None:
        return made.published
    return np.where(made.flags != 0, -1 - made.flags.astype(np.int64), made.published)


def assert_consistent(method: Method, space: KeySpace = KeySpace()) -> None:
    """Demand the same numbers for the same people, however the cell is reached."""
    full = cube(*FULL, space=space)
    expected = published(method, full)
    areas = full.spec.axis("area")

    def same(other: Cube, part: npt.NDArray[np.int64]) -> None:
        assert published(method, other).tolist() == part.tolist()

    # Another order of axes.
    same(cube("age", "sex", FULL[0], space=space), expected.transpose(2, 1, 0))
    # Rolled up, and tabulated on fewer axes.
    plain = np.array([*range(6), areas.position("_T")])
    for table in (full.rollup("sex", "area"), cube("sex", "area", space=space)):
        same(table, expected[plain, :, -1].T)
    same(full.rollup("area@district"), expected[6:, -1, -1])
    same(full.rollup(), expected[-1, -1, -1])
    # Selected as a code, and as a condition in several spellings.
    women = expected[:, 1, :]
    same(full.select(sex="2"), women)
    everywhere = "sex != 1 and area@district in ('D0', 'D1', 'D2')"
    for text in ("sex == 2", "not sex == 1", "sex in (2)", everywhere):
        same(cube(FULL[0], "age", space=space, universe=text), women)
    # A subtotal with one child.
    only_child, its_district = areas.position("E5"), areas.position("D2")
    assert (expected[only_child] == expected[its_district]).all()
    # Held sparsely.
    if method.claims().takes_sparse:
        assert_takes_sparse(method, full)


def assert_takes_sparse(method: Method, whole: Cube) -> None:
    """Demand of a sparse cube the numbers of the one that is held whole."""
    expected = published(method, whole)
    made = method.protect(sparse(whole)).table
    assert isinstance(made, SparseTable)
    filled = np.zeros(whole.spec.cells, dtype=np.int64)
    filled[made.numbers.astype(np.int64)] = made.published
    assert filled.reshape(whole.shape).tolist() == expected.tolist()
