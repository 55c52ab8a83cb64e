"""What must not change a number: order, splitting, renaming, rolling up, slicing."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import assume, given, strategies as st

from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.schema.schema import Combine
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.conformance import (
    cells_of,
    check_cube,
    same_cubes,
    small_store,
    tabulate_request,
)
from sdcensus.testing.small_census import SmallCensus, Unit
from sdcensus.testing.strategies import TableRequest, axis_texts, censuses_with_tables

Drawn = tuple[SmallCensus, TableRequest]
DENSE, SPARSE = 50_000_000, 0


@contextmanager
def engine_over(census: SmallCensus, *, largest_dense: int = DENSE) -> Iterator[MemoryEngine]:
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "s", census)
        yield MemoryEngine(store, threads=1, largest_dense=largest_dense)
        del store


def cube_of(census: SmallCensus, table: TableRequest, *, largest_dense: int = DENSE) -> AnyCube:
    with engine_over(census, largest_dense=largest_dense) as engine:
        return engine.tabulate(tabulate_request(census.schema, table))


def without_households(table: TableRequest) -> TableRequest:
    """Numbers of households are rows of a store: another order gives others."""
    return replace(table, households=False)


@given(censuses_with_tables(), st.randoms(use_true_random=False))
def test_permuting_the_rows_changes_nothing(drawn: Drawn, draws: random.Random) -> None:
    census, table = drawn
    table = without_households(table)
    moved = {
        entity: draws.sample(range(len(own)), len(own)) for entity, own in census.units.items()
    }
    place = {entity: {old: new for new, old in enumerate(order)} for entity, order in moved.items()}
    units = {
        entity: [_with_parents(census.units[entity][old], place) for old in order]
        for entity, order in moved.items()
    }
    shuffled = SmallCensus(census.schema, units)
    assert same_cubes(cube_of(census, table), cube_of(shuffled, table))


def _with_parents(unit: Unit, place: Mapping[Entity, Mapping[int, int]]) -> Unit:
    parents = {
        parent: None if at is None else place[parent][at] for parent, at in unit.parents.items()
    }
    return replace(unit, parents=parents)


@given(censuses_with_tables(counts_only=True), st.integers(0, 12))
def test_two_halves_add_up_to_the_whole(drawn: Drawn, cut: int) -> None:
    census, table = drawn
    table = without_households(table)
    own = census.units[table.of]
    # Units that hold others stay whole: only who is counted is split.
    assume(not any(table.of in census.schema.parents(other) for other in census.units))
    halves = [
        cube_of(SmallCensus(census.schema, {**census.units, table.of: part}), table)
        for part in (own[:cut], own[cut:])
    ]
    whole = cube_of(census, table)
    space = census.schema.keys.space
    left, right = (dict(cells_of(half)) for half in halves)
    for cell, values in cells_of(whole):
        for name, value in values.items():
            one, other = left[cell][name], right[cell][name]
            if name == "key":
                joined = one ^ other if space.combine is Combine.XOR else one + other
                assert value == joined % space.modulus
            else:
                assert value == one + other


@given(censuses_with_tables())
def test_renaming_codes_changes_no_number(drawn: Drawn) -> None:
    census, table = drawn
    table = replace(table, where=None)
    schema = census.schema
    renamed = SmallCensus(
        replace(schema, variables=tuple(map(_renamed, schema.variables))), census.units
    )
    one, other = cube_of(census, table), cube_of(renamed, table)
    assert same_cubes(one, other)
    if one.spec.axes:
        assert one.spec.hash() != other.spec.hash()  # but it is another table


def _renamed(variable: Variable) -> Variable:
    codes = tuple(replace(code, code=f"new {code.code}") for code in variable.codes)
    return replace(variable, codes=codes)


@given(censuses_with_tables(), st.data())
def test_rolling_up_equals_tabulating(drawn: Drawn, data: st.DataObject) -> None:
    census, table = drawn
    fine = tabulate_request(census.schema, table).spec
    kept = data.draw(st.permutations(fine.axes), label="axes") if fine.axes else []
    kept = kept[: data.draw(st.integers(0, len(kept)), label="how many")]
    by = tuple(
        _coarser(data, axis.variable, [level.name for level in axis.levels]) for axis in kept
    )
    coarse = replace(table, by=by)
    with tempfile.TemporaryDirectory() as folder:
        store, places = small_store(Path(folder) / "s", census)
        households = places.get(Entity.HOUSEHOLD)
        for largest in (DENSE, SPARSE):
            engine = MemoryEngine(store, threads=1, largest_dense=largest)
            cube = engine.tabulate(tabulate_request(store.schema, table))
            rolled = cube.rollup(*by)
            assert rolled.spec == tabulate_request(store.schema, coarse).spec
            check_cube(rolled, census, coarse, households=households)
        del store, engine


def _coarser(data: st.DataObject, variable: Variable, shown: list[str]) -> str:
    """An axis at levels that a table shows, or that add up from one that it shows."""
    reachable = [
        level.name
        for level in variable.levels()
        if any(variable.level(one).refines(level) for one in shown)
    ]
    names = data.draw(st.lists(st.sampled_from(reachable), min_size=1, unique=True))
    total = data.draw(st.sampled_from(["", "-total"]))
    return f"{variable.name}@{'+'.join(names)}{total}"


@given(censuses_with_tables(), st.data())
def test_slicing_equals_tabulating_with_the_universe(drawn: Drawn, data: st.DataObject) -> None:
    census, table = drawn
    spec = tabulate_request(census.schema, table).spec
    chosen: dict[str, str] = {}
    meanings = []
    for axis in spec.axes:
        if data.draw(st.booleans()):
            one = data.draw(st.sampled_from(axis.codes))
            alike = [code for code in axis.codes if code.code == one.code]
            # Where a code stands at several levels, the level is said too.
            chosen[axis.variable.name] = one.code if len(alike) == 1 else f"{one.level}:{one.code}"
            if not one.is_total:
                meanings.append((axis.variable, one.level, one.code))
    rest = tuple(
        text
        for text, axis in zip(table.by, spec.axes, strict=True)
        if axis.variable.name not in chosen
    )
    conditions = [f"{one.name}@{level} == {_quoted(code)}" for one, level, code in meanings]
    if table.where is not None:
        conditions.append(f"({table.where.text})")
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "s", census)
        filtered = TableSpec.build(
            store.schema,
            rest,
            of=table.of,
            universe=" and ".join(conditions) or None,
            measure=table.measure,
        )
        for largest in (DENSE, SPARSE):
            engine = MemoryEngine(store, threads=1, largest_dense=largest)
            request = tabulate_request(store.schema, table)
            sliced = engine.tabulate(request).select(**chosen)
            direct = engine.tabulate(replace(request, spec=filtered))
            assert sliced.spec == filtered
            assert same_cubes(sliced, direct)
        del store, engine


def _quoted(code: str) -> str:
    return f'"{code}"' if "'" in code else f"'{code}'"


@given(censuses_with_tables(), st.data())
def test_the_order_of_axes_is_no_matter(drawn: Drawn, data: st.DataObject) -> None:
    census, table = drawn
    order = data.draw(st.permutations(range(len(table.by))))
    turned = replace(table, by=tuple(table.by[at] for at in order))
    one, other = cube_of(census, table), cube_of(census, turned)
    assert one.spec == other.spec
    assert isinstance(one, Cube)
    assert isinstance(other, Cube)
    for (name, array), (also, back) in zip(one.values.items(), other.values.items(), strict=True):
        assert name == also
        turned_array = array.transpose((*order, *range(len(order), array.ndim)))
        assert np.array_equal(turned_array, back)


@given(censuses_with_tables())
def test_going_through_the_cells_shows_codes_and_labels(drawn: Drawn) -> None:
    census, table = drawn
    dense, sparse = cube_of(census, table), cube_of(census, table, largest_dense=SPARSE)
    assert isinstance(dense, Cube)
    assert isinstance(sparse, SparseCube)
    cells = list(dense.cells())
    assert len(cells) == dense.spec.cells
    for cell, (place, values) in zip(cells, cells_of(dense), strict=True):
        shown = [axis.codes[at] for axis, at in zip(dense.spec.axes, place, strict=True)]
        assert cell.codes == tuple(code.code for code in shown)
        assert (cell.count, cell.key) == (values["count"], values["key"])
        assert cell.labels == tuple(code.label.show() or code.code for code in shown)

    def held(some: Any) -> list[tuple[object, ...]]:
        return sorted((one.codes, one.labels, one.count, one.key) for one in some if one.count)

    assert held(cells) == held(sparse.cells())


@given(censuses_with_tables())
def test_a_total_is_the_sum_of_every_level(drawn: Drawn) -> None:
    census, table = drawn
    spec = tabulate_request(census.schema, table).spec
    by = tuple(
        f"{axis.variable.name}@{'+'.join(level.name for level in axis.levels)}"
        for axis in spec.axes
    )
    cube = cube_of(census, replace(table, by=by))
    assert isinstance(cube, Cube)
    for at, axis in enumerate(cube.spec.axes):
        total = cube.count.take(-1, axis=at)
        for block in axis.blocks[:-1]:
            part = cube.count.take(range(block.start, block.start + block.size), axis=at)
            assert np.array_equal(part.sum(axis=at), total)


@given(censuses_with_tables(), st.data())
def test_every_spelling_of_a_table_is_the_same_table(drawn: Drawn, data: st.DataObject) -> None:
    census, table = drawn
    spec = tabulate_request(census.schema, table).spec
    spelled = []
    for axis in spec.axes:
        names = data.draw(st.permutations([level.name for level in axis.levels]))
        total = "+total" if axis.total else "-total"
        spelled.append(f" {axis.variable.name} @ {' + '.join(names)} {total}")
    order = data.draw(st.permutations(range(len(spelled))))
    again = replace(table, by=tuple(spelled[at] for at in order))
    if table.where is not None:
        again = replace(again, where=replace(table.where, text=f"not (not ({table.where.text}))"))
    assert tabulate_request(census.schema, again).spec.hash() == spec.hash()


@given(censuses_with_tables(), st.data())
def test_different_tables_have_different_hashes(drawn: Drawn, data: st.DataObject) -> None:
    census, table = drawn
    schema = census.schema
    spec = tabulate_request(schema, table).spec
    texts = [data.draw(axis_texts(axis.variable)) for axis in spec.axes]
    other = TableSpec.build(schema, texts, of=table.of, measure=table.measure)
    same = spec.universe.everything and all(
        mine.canonical() == theirs.canonical()
        for mine, theirs in zip(spec.axes, other.axes, strict=True)
    )
    assert (spec.hash() == other.hash()) is same
    for axis in spec.axes:
        rest = [one for one in spec.axes if one is not axis]
        assert spec.with_axes(rest) != spec
    kinds = {unit for unit in census.units if unit is not table.of}
    assert all(
        TableSpec.build(schema, [], of=kind) != TableSpec.build(schema, [], of=table.of)
        for kind in kinds
    )


@given(censuses_with_tables())
def test_weighted_tables_hold_counts_and_weights(drawn: Drawn) -> None:
    census, table = drawn
    assume(census.schema.weight(table.of) is not None)
    table = replace(table, weights=True)
    spec = TableSpec.build(
        census.schema,
        table.by,
        of=table.of,
        universe=table.where.text if table.where else None,
        measure="weighted",
    )
    with engine_over(census) as engine:
        cube = engine.tabulate(Tabulate(spec=spec, sums=table.sums))
    check_cube(cube, census, replace(table, households=False))
    assert spec.hash() != tabulate_request(census.schema, table).spec.hash()
