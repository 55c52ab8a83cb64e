"""One suite for every engine: what it says must equal loops over lists, to the last unit.

An engine passes if ``check_engine`` holds for what ``strategies.censuses_with_tables`` draws::

    @given(censuses_with_tables())
    def test_my_engine(drawn):
        census, table = drawn
        check_engine(MyEngine(...), census, table)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import xor
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.engine.requests import Engine, Tabulate
from sdcensus.errors import SpecError
from sdcensus.kernels.cells.replicates import REPLICATES, replicate_groups
from sdcensus.model.cube.contributions import (
    ABSOLUTE,
    CONTRIBUTOR_KEY,
    CONTRIBUTORS,
    HIGHEST,
    LOWEST,
    ContributionNeeds,
)
from sdcensus.model.cube.cube import SUM_OF, Cube
from sdcensus.model.cube.replicates import replicate_names
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import Combine, KeySpace, Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.described_units import household_of, leaf_of, value_of
from sdcensus.testing.small_census import SmallCensus, Unit
from sdcensus.testing.stores import Units, area_order, write_store
from sdcensus.testing.strategies import TableRequest

#: The number of the household of a record that has none.
NO_HOUSEHOLD = 0xFFFFFFFF

Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Contributed:
    """What a record, or all records of an owner, contribute to a cell."""

    contribution: int
    key: int
    amount: int
    weight: int
    waived: bool
    owner: object


@dataclass(slots=True)
class CellTruth:
    """What a cell must hold."""

    count: int = 0
    keys: list[int] = field(default_factory=list)
    weight: int = 0
    sums: dict[str, int] = field(default_factory=dict)
    households: set[int] = field(default_factory=set)
    contributions: list[Contributed] = field(default_factory=list)
    #: Of each record the key of its household, or its own without one, and what it adds to the
    #: estimate.
    drawn: list[tuple[int, int]] = field(default_factory=list)


def small_store(folder: Path, census: SmallCensus) -> tuple[CensusStore, dict[Entity, list[int]]]:
    """The census as a store, and the row of every unit in it."""
    units = {entity: _arrays(census, entity) for entity in census.units}
    orders = area_order(census.schema, units)
    places = {entity: np.argsort(order).tolist() for entity, order in orders.items()}
    return write_store(folder, census.schema, units, order=orders), places


def _arrays(census: SmallCensus, entity: Entity) -> Units:
    schema, own = census.schema, census.units[entity]
    described = [variable for variable in schema.variables if variable.entity is entity]
    return Units(
        keys=np.array([census.key(entity, unit) for unit in own], dtype=np.uint32),
        digests=np.array([census.digest(entity, unit) for unit in own], dtype=np.uint64),
        leaves={
            variable.name: np.array([unit.leaves[variable.name] for unit in own], dtype=np.int64)
            for variable in described
            if variable.is_axis
        },
        values={
            variable.name: np.array(
                [
                    NO_VALUE if unit.values[variable.name] is None else unit.values[variable.name]
                    for unit in own
                ],
                dtype=np.int64,
            )
            for variable in described
            if variable.continuous
        },
        owners={
            variable.name: np.array(
                [
                    len(own) + 4 + at if unit.owners[variable.name] is None else owner
                    for at, unit in enumerate(own)
                    for owner in [unit.owners[variable.name]]
                ],
                dtype=np.int64,
            )
            for variable in described
            if variable.owner
        },
        parents={
            parent: np.array(
                [-1 if unit.parents[parent] is None else unit.parents[parent] for unit in own],
                dtype=np.int64,
            )
            for parent in schema.parents(entity)
        },
    )


def tabulate_request(schema: Schema, table: TableRequest) -> Tabulate:
    """The table as a request for records of this schema."""
    spec = TableSpec.build(
        schema,
        table.by,
        of=table.of,
        universe=table.where.text if table.where else None,
        measure=table.measure,
    )
    return Tabulate(
        spec=spec,
        weights=table.weights,
        sums=table.sums,
        households=table.households,
        contributions=ContributionNeeds(largest=table.largest) if table.amount else None,
        replicates=table.replicates,
    )


def check_sparse_engine(
    engine: Engine,
    census: SmallCensus,
    table: TableRequest,
    *,
    schema: Schema | None = None,
    households: Sequence[int] | None = None,
) -> None:
    """Demand of an engine that holds no grid what ``check_engine`` demands.

    Only margins of amounts that belong to owners are refused by it: they are not made from cells.
    """
    request = tabulate_request(schema or census.schema, table)
    amount, spec = request.spec.amount, request.spec
    if amount is not None and amount.owner and any(len(axis.blocks) > 1 for axis in spec.axes):
        with suppress(SpecError):
            engine.tabulate(request)
            raise AssertionError("margins of amounts of owners have to be refused")
        return
    check_engine(engine, census, table, schema=schema, households=households)


def check_engine(
    engine: Engine,
    census: SmallCensus,
    table: TableRequest,
    *,
    schema: Schema | None = None,
    households: Sequence[int] | None = None,
) -> AnyCube:
    """Demand that the engine's cube equals the truth in every cell; give it back.

    Args:
        engine: The engine.
        census: The census that it is over.
        table: What to ask.
        schema: The schema of the engine's records, if it is not that of the census.
        households: The engine's number of each household. Engines that number in their own way
            are only asked which cells are made of one household.
    """
    request = tabulate_request(schema or census.schema, table)
    cube = engine.tabulate(request)
    check_cube(cube, census, table, households=households)
    return cube


def check_cube(
    cube: AnyCube,
    census: SmallCensus,
    table: TableRequest,
    *,
    households: Sequence[int] | None = None,
) -> None:
    """Demand that a cube of a table of the census equals the truth in every cell."""
    truth = true_cells(census, table, cube.spec)
    seen: set[Place] = set()
    for place, cell in cells_of(cube):
        assert place not in seen, f"cell {place} comes twice"
        seen.add(place)
        expected = truth.get(place, CellTruth())
        space = census.schema.keys.space
        key = _combined(expected.keys, space)
        assert cell["count"] == expected.count, (place, "count")
        assert cell["key"] == key, (place, "key")
        assert ("weight" in cell) is table.weights
        assert cell.get("weight", 0) == expected.weight, (place, "weight")
        for name in table.sums:
            assert cell[f"{SUM_OF}{name}"] == expected.sums.get(name, 0), (place, name)
        assert ("first_household" in cell) is table.households
        if table.households:
            _check_households(cell, expected, households, place)
        if table.amount:
            waivers = table.amount in census.waivers
            _check_contributions(cell, expected, table, space, place, waivers=waivers)
        if table.replicates:
            _check_replicates(cell, expected, place)
    shown = set(itertools.product(*(range(len(axis.codes)) for axis in cube.spec.axes)))
    if cube.dense is None:
        shown &= set(truth)  # only cells with records
    assert seen == shown


def _combined(keys: Sequence[int], space: KeySpace) -> int:
    return reduce(xor, keys, 0) if space.combine is Combine.XOR else sum(keys) % space.modulus


def _of_owners(records: Sequence[Contributed], space: KeySpace) -> list[Contributed]:
    """What owners contribute: the records of each that contribute anything, as one."""
    owned: dict[object, list[Contributed]] = {}
    for record in records:
        if record.contribution:
            owned.setdefault(record.owner, []).append(record)
    together = [
        Contributed(
            contribution=sum(record.contribution for record in own),
            key=_combined([record.key for record in own], space),
            amount=sum(record.amount for record in own),
            weight=min(record.weight for record in own),
            waived=all(record.waived for record in own),
            owner=owner,
        )
        for owner, own in owned.items()
    ]
    return [record for record in together if record.contribution]


def _check_contributions(
    cell: Mapping[str, Any],
    expected: CellTruth,
    table: TableRequest,
    space: KeySpace,
    place: Place,
    *,
    waivers: bool,
) -> None:
    """The sum, who contributes, the extremes, and the largest in their order."""
    behind = _of_owners(expected.contributions, space)
    amounts = [record.contribution for record in behind]
    assert cell[f"{SUM_OF}{table.amount}"] == sum(amounts), (place, "sum")
    assert cell[CONTRIBUTORS] == len(behind), (place, "contributors")
    assert cell[CONTRIBUTOR_KEY] == _combined([record.key for record in behind], space), place
    assert cell[ABSOLUTE] == sum(map(abs, amounts)), (place, "without signs")
    if behind:
        assert (cell[LOWEST], cell[HIGHEST]) == (min(amounts), max(amounts)), (place, "extremes")
    lists: dict[str, list[tuple[int, ...]]] = {
        "largest:amount+key": [(record.contribution, record.key) for record in behind]
    }
    if table.weighs:
        lists["by_amount:amount+weight"] = [(record.amount, record.weight) for record in behind]
    for plain, entries in lists.items():
        name = plain
        if waivers:
            name += "+waived"
            pairs = zip(entries, behind, strict=True)
            entries = [(*entry, int(record.waived)) for entry, record in pairs]
        # A sum of amounts as they are may be 0 where that of weighted ones is not.
        entries = [entry for entry in entries if entry[0]]
        if not table.largest:
            assert name not in cell
            continue
        ordered = sorted(entries, key=lambda entry: (abs(entry[0]), *entry), reverse=True)
        filled = ordered + [(0,) * (2 + waivers)] * table.largest
        flat = [number for entry in filled[: table.largest] for number in entry]
        assert cell[name] == flat, (place, name)


def contribution(amount: int, weight: int, unit: int) -> int:
    """An amount times a weight, rounded half away from zero."""
    size = (abs(amount) * weight + unit // 2) // unit
    return -size if amount < 0 else size


def _check_households(
    cell: Mapping[str, int], expected: CellTruth, numbers: Sequence[int] | None, place: Place
) -> None:
    first, last = cell["first_household"], cell["last_household"]
    if not expected.households:
        assert (first, last) == (NO_HOUSEHOLD, 0), (place, "an empty cell has no household")
    elif numbers is None:
        assert (first == last) is (len(expected.households) == 1), (place, "one household")
    else:
        rows = [
            NO_HOUSEHOLD if household < 0 else numbers[household]
            for household in expected.households
        ]
        assert (first, last) == (min(rows), max(rows)), (place, "households")


def _check_replicates(cell: Mapping[str, int], expected: CellTruth, place: Place) -> None:
    """What each group of households adds: those that the kernel puts into it, and no others."""
    sums = [0] * REPLICATES
    for cluster, value in expected.drawn:
        sums[int(replicate_groups(np.array([cluster]))[0])] += value
    assert [cell[name] for name in replicate_names()] == sums, (place, "replicates")


def cells_of(cube: AnyCube) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Every cell that a cube shows: its position on each axis, and its accumulators."""
    if isinstance(cube, Cube):
        for place in itertools.product(*(range(size) for size in cube.shape)):
            yield place, {name: array[place].tolist() for name, array in cube.values.items()}
        return
    for block in cube.blocks():
        for row, at in enumerate(block.positions.tolist()):
            yield tuple(at), {name: array[row].tolist() for name, array in block.values.items()}


def true_cells(census: SmallCensus, table: TableRequest, spec: TableSpec) -> dict[Place, CellTruth]:
    """The non-empty cells of a table, by going through the units one by one."""
    schema = census.schema
    usable = schema.usable(table.of)
    weight = schema.weight(table.of)
    truth: dict[Place, CellTruth] = {}
    for number, unit in enumerate(census.units[table.of]):
        leaves = {variable.name: leaf_of(census, table.of, unit, variable) for variable in usable}
        if table.where is not None and not table.where.holds(leaves):
            continue
        for place in itertools.product(*(_positions(axis, leaves) for axis in spec.axes)):
            cell = truth.setdefault(place, CellTruth())
            cell.count += 1
            cell.keys.append(census.key(table.of, unit))
            if table.weights and weight is not None:
                cell.weight += value_of(census, table.of, unit, weight)
            for name in table.sums:
                amount = value_of(census, table.of, unit, schema.variable(name))
                cell.sums[name] = cell.sums.get(name, 0) + amount
            if table.amount:
                cell.contributions.append(_contributed(census, table, unit, weight, number))
            if table.households:
                cell.households.add(household_of(census, table.of, unit, number))
            if table.replicates and weight is not None:
                value = value_of(census, table.of, unit, weight)
                if table.amount:
                    value = _contributed(census, table, unit, weight, number).contribution
                household = household_of(census, table.of, unit, number)
                holder, held = table.of, unit
                if household >= 0:
                    holder = Entity.HOUSEHOLD
                    held = census.units[holder][household]
                cell.drawn.append((census.key(holder, held), value))
    return truth


def _contributed(
    census: SmallCensus, table: TableRequest, unit: Unit, weight: Variable | None, number: int
) -> Contributed:
    amount = value_of(census, table.of, unit, census.schema.variable(table.amount))
    own, given = 1, amount
    if weight is not None and table.weighs:
        own = value_of(census, table.of, unit, weight)
        given = contribution(amount, own, 10**weight.decimals)
    waived = False
    if table.amount in census.waivers:
        name, leaves = census.waivers[table.amount]
        waived = leaf_of(census, table.of, unit, census.schema.variable(name)) in leaves
    owner = unit.owners.get(table.amount)
    return Contributed(
        given,
        census.key(table.of, unit),
        amount,
        own,
        waived,
        ("itself", number) if owner is None else owner,
    )


def _positions(axis: Axis, leaves: Mapping[str, int]) -> list[int]:
    """The positions of an axis that show a unit: one of each level, and the total."""
    leaf = leaves[axis.variable.name]
    shown: dict[str, int] = {}
    positions = []
    for position, code in enumerate(axis.codes):
        at = shown.get(code.level, 0)
        shown[code.level] = at + 1
        if code.is_total or axis.variable.level(code.level).group[leaf] == at:
            positions.append(position)
    return positions


def same_cubes(one: AnyCube, other: AnyCube) -> bool:
    """Whether two cubes of the same shape hold the same numbers in every non-empty cell."""

    def held(cube: AnyCube) -> dict[Place, dict[str, Any]]:
        return {place: cell for place, cell in cells_of(cube) if cell["count"]}

    return one.spec.shape == other.spec.shape and held(one) == held(other)
