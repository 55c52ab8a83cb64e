from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import StoreError
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Role, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.guard.changed_records import ChangedRecords
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET, island_schema, island_units
from sdcensus.testing.stores import Units, write_store

P = Entity.PERSON
AXES = ("area@parish+district", "area@district", "sex", "age@class+half", "age-total", "married")


class Stores:
    """Makes stores, each in a new folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count()

    def folder(self) -> Path:
        path = self._folder / str(next(self._numbers))
        path.mkdir()
        return path

    def __call__(
        self, units: Units, schema: Schema | None = None, secret_id: str = SECRET.id
    ) -> CensusStore:
        path = self.folder() / "s.store"
        return write_store(path, schema or island_schema(), {P: units}, secret_id=secret_id)


@pytest.fixture(scope="module")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    return Stores(tmp_path_factory.mktemp("stores"))


def cells_of(spec: TableSpec, leaves: dict[str, int]) -> set[tuple[int, ...]]:
    """Every cell of a table that holds a person, by the definition."""
    universe = spec.universe
    kinds = tuple(
        int(classes[leaves[variable.name]])
        for variable, classes in zip(universe.variables, universe.classes, strict=True)
    )
    if not universe.truth[kinds]:
        return set()
    axes = []
    for axis in spec.axes:
        leaf = leaves[axis.variable.name]
        groups = [
            0 if block.level == "_T" else axis.variable.level(block.level).group[leaf]
            for block in axis.blocks
        ]
        axes.append([block.start + at for block, at in zip(axis.blocks, groups, strict=True)])
    return set(itertools.product(*axes))


def by_hand(spec: TableSpec, old: Units, new: Units, *, weighted: bool = False) -> list[int]:
    counts = np.zeros(spec.shape, dtype=np.int64)
    people: dict[int, list[tuple[set[tuple[int, ...]], int]]] = {}
    for side, units in enumerate((old, new)):
        for at, key in enumerate(units.keys.tolist()):
            leaves = {name: int(leaf[at]) for name, leaf in units.leaves.items()}
            both = people.setdefault(key, [(set(), -1), (set(), -1)])
            both[side] = (cells_of(spec, leaves), int(units.values["weight"][at]))
    for (before, was), (after, now) in people.values():
        changed = before ^ after
        if weighted and was != now:
            changed = before | after
        for cell in changed:
            counts[cell] += 1
    return counts.reshape(-1).tolist()


def drawn_units(data: st.DataObject, units: Units) -> Units:
    """The same people in another order: some gone, some with other codes."""
    size = units.keys.size
    order = np.array(data.draw(st.permutations(range(size))))
    order = order[: data.draw(st.integers(0, size))]
    leaves = {name: leaf[order].copy() for name, leaf in units.leaves.items()}
    weight = units.values["weight"][order].copy()
    for at in range(order.size):
        kind = data.draw(st.integers(0, 3))
        if kind == 0:
            leaves["area"][at] = data.draw(st.integers(0, 6))
            leaves["age"][at] = data.draw(st.integers(0, 9))
        elif kind == 1:
            weight[at] += data.draw(st.integers(0, 1))
    return replace(units, keys=units.keys[order], leaves=leaves, values={"weight": weight})


@given(st.data())
def test_changed_records_behind_cells_are_those_of_looking_at_every_person(
    store_of: Stores, data: st.DataObject
) -> None:
    everybody = island_units(12, seed=data.draw(st.integers(0, 5)))
    old, new = drawn_units(data, everybody), drawn_units(data, everybody)
    by = data.draw(st.lists(st.sampled_from(AXES), max_size=3, unique_by=lambda one: one[:3]))
    where = data.draw(st.sampled_from([None, "age >= 3", "age < 5 or sex == 1"]))
    measure = data.draw(st.sampled_from(["count", "weighted"]))
    before, after = store_of(old), store_of(new)
    spec = TableSpec.build(after.schema, by, universe=where, measure=measure)
    changed = ChangedRecords(before, after)
    every = np.arange(spec.cells, dtype=np.uint64)
    found = changed.behind(spec, every)
    assert found.tolist() == by_hand(spec, old, new, weighted=measure == "weighted")
    # A choice of cells has the same counts, and stopping early never makes them larger.
    some = every[::3]
    assert changed.behind(spec, some).tolist() == found[::3].tolist()
    assert (changed.behind(spec, some, enough=1) <= found[::3]).all()


def test_nothing_changes_between_equal_stores(store_of: Stores) -> None:
    units = island_units(50)
    changed = ChangedRecords(store_of(units), store_of(units))
    spec = TableSpec.build(island_schema(), ["area", "sex"])
    assert not changed.behind(spec, np.arange(spec.cells, dtype=np.uint64)).any()
    assert repr(changed) == "<ChangedRecords: confidential>"
    assert "confidential" in repr(changed.units(spec))


def test_equal_digests_are_told_apart_by_their_order(store_of: Stores) -> None:
    units = island_units(6)
    twice = replace(units, digests=np.array([1, 1, 2, 3, 3, 3], dtype=np.uint64))
    fewer = replace(
        units,
        keys=units.keys[:5],
        leaves={name: leaf[:5] for name, leaf in units.leaves.items()},
        values={name: value[:5] for name, value in units.values.items()},
        digests=np.array([1, 1, 2, 3, 3], dtype=np.uint64),
    )
    spec = TableSpec.build(island_schema(), [])
    behind = ChangedRecords(store_of(twice), store_of(fewer)).behind(
        spec, np.zeros(1, dtype=np.uint64)
    )
    assert behind.tolist() == [1]


def with_codes(schema: Schema, name: str, codes: tuple[Code, ...]) -> Schema:
    made = replace(schema.variable(name), codes=codes, hierarchies=())
    others = [made if variable.name == name else variable for variable in schema.variables]
    return replace(schema, variables=tuple(others), impossible=())


def test_codes_are_compared_by_what_they_are_called(store_of: Stores) -> None:
    units = island_units(30)
    schema = island_schema()
    sex = schema.variable("sex").codes
    turned = with_codes(schema, "sex", (Code("new"), sex[1], sex[0]))
    same = replace(units, leaves={**units.leaves, "sex": 2 - units.leaves["sex"]})
    changed = ChangedRecords(store_of(units), store_of(same, turned))
    spec = TableSpec.build(turned, ["sex"])
    assert not changed.behind(spec, np.arange(spec.cells, dtype=np.uint64)).any()
    fewer = ChangedRecords(store_of(same, turned), store_of(units, with_codes(schema, "sex", sex)))
    assert not fewer.behind(TableSpec.build(schema, ["sex"]), np.arange(3, dtype=np.uint64)).any()


def test_people_with_a_code_that_is_gone_were_in_totals_only(store_of: Stores) -> None:
    units = island_units(30)
    schema = island_schema()
    sex = schema.variable("sex").codes
    wider = with_codes(schema, "sex", (*sex, Code("gone")))
    before = units.leaves["sex"].copy()
    before[:4] = 2
    old = store_of(replace(units, leaves={**units.leaves, "sex": before}), wider)
    new = store_of(units, with_codes(schema, "sex", sex))
    spec = TableSpec.build(new.schema, ["sex"])
    every = np.arange(spec.cells, dtype=np.uint64)
    found = ChangedRecords(old, new).behind(spec, every).tolist()
    codes = [code.code for code in spec.axes[0].codes]
    came = units.leaves["sex"][:4]
    assert dict(zip(codes, found, strict=True)) == {
        "_T": 0,
        sex[0].code: int((came == 0).sum()),
        sex[1].code: int((came == 1).sum()),
    }


def test_stores_that_cannot_be_compared_say_so(store_of: Stores) -> None:
    units = island_units(20)
    schema = island_schema()
    with pytest.raises(StoreError, match="different secrets"):
        ChangedRecords(store_of(units), store_of(units, secret_id="0" * 16))
    other = replace(schema, census=replace(schema.census, code=("X",)))
    with pytest.raises(StoreError, match="identify records in different ways"):
        ChangedRecords(store_of(units), store_of(units, other))
    spec = TableSpec.build(schema, ["sex"])
    cells = np.arange(spec.cells, dtype=np.uint64)
    lost = with_codes(schema, "sex", (Code("a"), Code("b")))
    with pytest.raises(StoreError, match="codes of 'sex' that the new one lacks"):
        ChangedRecords(store_of(units), store_of(units, lost)).behind(
            TableSpec.build(lost, ["age"], universe="sex == 'a'"), cells
        )
    without = replace(
        schema, variables=tuple(variable for variable in schema.variables if variable.name != "sex")
    )
    rest = replace(units, leaves={k: v for k, v in units.leaves.items() if k != "sex"})
    with pytest.raises(StoreError, match="no variable 'sex'"):
        ChangedRecords(store_of(rest, without), store_of(units)).behind(spec, cells)


def test_who_lives_in_a_changed_household_has_changed(store_of: Stores) -> None:
    household = Entity.HOUSEHOLD
    schema = Schema(
        census=CensusInfo(name="Homes"),
        entities=(
            EntitySpec(entity=P, id=("home", "no"), within=household),
            EntitySpec(entity=household, id=("home",)),
        ),
        variables=(
            Variable(
                name="area",
                entity=household,
                codes=tuple(Code(f"A{at}") for at in range(3)),
                role=Role.GEOGRAPHY,
            ),
            Variable(name="sex", entity=P, codes=(Code("1"), Code("2"))),
        ),
    )
    homes = np.array([0, 0, 0, 1, 1, 2])
    persons = Units(
        keys=np.arange(6), leaves={"sex": np.array([0, 1, 0, 1, 1, 0])}, parents={household: homes}
    )
    folder = store_of.folder()
    stores = [
        write_store(
            folder / f"{at}.store",
            schema,
            {household: Units(keys=np.arange(3), leaves={"area": np.array(areas)}), P: persons},
        )
        for at, areas in enumerate(([2, 1, 0], [1, 1, 0]))
    ]
    changed = ChangedRecords(*stores)
    by_area = TableSpec.build(schema, ["area", "sex-total"])
    behind = changed.behind(by_area, np.arange(by_area.cells, dtype=np.uint64))
    # The first home with its two men and its woman has moved from A2 to A1.
    assert behind.reshape(by_area.shape).tolist() == [[0, 0], [2, 1], [2, 1], [0, 0]]
    of_homes = TableSpec.build(schema, ["area"], of=household)
    every = np.arange(of_homes.cells, dtype=np.uint64)
    assert changed.behind(of_homes, every).tolist() == [0, 1, 1, 0]


def income(decimals: int = 2) -> Schema:
    amount = Variable(name="income", entity=P, continuous=True, decimals=decimals)
    schema = island_schema()
    return replace(schema, variables=(*schema.variables, amount))


def with_incomes(units: Units, incomes: npt.NDArray[np.int64]) -> Units:
    return replace(units, values={**units.values, "income": incomes})


@pytest.mark.parametrize(
    ("changes", "behind"),
    [
        ([0], 0),
        ([500], 1),
        ([500] * 10, 10),
        ([-500, 500] * 5, 10),
        ([500] * 9 + [-4_500], 2),  # nine changes hide as much as the tenth is
        ([1] * 11 + [100_000], 1),
    ],
    ids=str,
)
@pytest.mark.parametrize("measure", ["sum(income)", "weighted-sum(income)"])
def test_changes_of_a_sum_count_as_many_as_are_as_large_as_the_largest(
    store_of: Stores, changes: list[int], behind: int, measure: str
) -> None:
    units, schema = island_units(40), income()
    values = {**units.values, "weight": np.full(40, 10**6)}
    units = replace(units, leaves={**units.leaves, "sex": np.zeros(40, int)}, values=values)
    before = np.arange(40) * 1_000 + 5_000
    before[-1] = NO_VALUE
    after = before.copy()
    after[: len(changes)] += changes
    old = store_of(with_incomes(units, before), schema)
    new = store_of(with_incomes(units, after), schema)
    spec = TableSpec.build(schema, ["sex"], measure=measure)
    found = ChangedRecords(old, new).behind(spec, np.arange(3, dtype=np.uint64), enough=1)
    sexes = [code.code for code in spec.axes[0].codes]
    women = schema.variable("sex").codes[0].code
    assert found.tolist() == [behind if code in ("_T", women) else 0 for code in sexes]
    counts = TableSpec.build(schema, ["sex"])
    assert not ChangedRecords(old, new).behind(counts, np.arange(3, dtype=np.uint64)).any()


def test_who_moves_takes_an_amount_along_and_who_has_none_changes_no_sum(store_of: Stores) -> None:
    units, schema = island_units(40), income()
    sexes = np.zeros(40, int)
    units = replace(units, leaves={**units.leaves, "sex": sexes})
    incomes = np.where(np.arange(40) < 20, 0, 7_000)
    moved = sexes.copy()
    moved[:25] = 1  # twenty without an income, and five with the same
    old = store_of(with_incomes(units, incomes), schema)
    new = store_of(
        with_incomes(replace(units, leaves={**units.leaves, "sex": moved}), incomes), schema
    )
    spec = TableSpec.build(schema, ["sex-total"], measure="sum(income)")
    found = ChangedRecords(old, new).behind(spec, np.arange(2, dtype=np.uint64))
    assert found.tolist() == [5, 5]


def test_amounts_are_compared_by_their_size_and_a_store_without_them_says_so(
    store_of: Stores,
) -> None:
    units = island_units(30)
    old = store_of(with_incomes(units, np.full(30, 1_250)), income(2))
    new = store_of(with_incomes(units, np.full(30, 125)), income(1))
    spec = TableSpec.build(new.schema, ["sex"], measure="sum(income)")
    cells = np.arange(spec.cells, dtype=np.uint64)
    assert not ChangedRecords(old, new).behind(spec, cells).any()
    with pytest.raises(StoreError, match="no variable 'income'"):
        ChangedRecords(store_of(units), new).behind(spec, cells)
