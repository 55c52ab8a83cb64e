"""The smallest group: what is hidden, by the definition; what it guarantees; what it reads."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import SpecError
from sdcensus.methods.additivity import Additivity
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.light_touch import LightTouch
from sdcensus.methods.method import Method
from sdcensus.methods.per_unit import PerUnitDeviations
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.methods.semi_controlled import SemiControlledRounding
from sdcensus.methods.threshold import ThresholdRounding
from sdcensus.model.cube.ancestors import ancestry_of
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import Tail
from sdcensus.model.published.table import AnyTable, Mark, Table
from sdcensus.model.schema.schema import Combine
from sdcensus.model.schema.variable import Variable
from sdcensus.model.secret import Secret
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.record_sets import is_product, leaves_in, leaves_of
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe, restrict
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import (
    GroupRule,
    Tabulate as Counting,
    group_claim,
    note_for,
)
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.conformance import small_store
from sdcensus.testing.described_units import leaf_of
from sdcensus.testing.island import SECRET, island
from sdcensus.testing.small_census import SmallCensus
from sdcensus.testing.strategies import (
    TableRequest,
    censuses_with_tables,
    small_censuses,
    table_requests,
)
from tests.examples import at_least

Mask = npt.NDArray[np.bool_]
Leaves = Mapping[str, frozenset[int]]

STAY = DesignRow((0,), (1.0,))
#: Unbiased, and no count moves by more than three.
THREE = PerturbationDesign(
    rows=(
        STAY,
        DesignRow((-1, 0, 3), (0.6, 0.2, 0.2)),
        DesignRow((-2, 0, 2), (0.25, 0.5, 0.25)),
        DesignRow((-3, 0, 3), (0.25, 0.5, 0.25)),
    ),
    tail=Tail(3),
)
METHODS: tuple[Method, ...] = (
    CellKey(THREE, secret=Secret(bytes(range(32)))),
    CellKey(THREE, lookup="ascending"),
    RandomRounding(3),
    ConventionalRounding(4),
    ThresholdRounding(threshold=3, base=2),
)
SIZES = st.integers(2, 8)


def held(cube: AnyCube) -> Cube:
    assert isinstance(cube, Cube)
    return cube


def shown(protected_table: AnyTable) -> Mask:
    """Which cells the rule shows."""
    assert isinstance(protected_table, Table)
    flags = protected_table.flags
    if flags is None:
        return np.ones(protected_table.shape, dtype=bool)
    return np.asarray(flags != Mark.NOT_BROKEN_DOWN)


class Brute:
    """The rule by its definition: a product of sets of leaves for every ancestor, one by one."""

    def __init__(self, census: SmallCensus, store: CensusStore, method: Method) -> None:
        self.census, self.method = census, method
        self.origin = (
            MemoryEngine(store, threads=1)
            .tabulate(
                Tabulate(
                    spec=TableSpec.build(store.schema, [], of=census.schema.entities[0].entity)
                )
            )
            .origin
        )
        self.schema = store.schema
        self._known: dict[object, int] = {}

    def ancestors(self, spec: TableSpec, place: tuple[int, ...]) -> Iterator[Universe]:
        """The records of every proper ancestor of a cell."""
        product = is_product(spec.universe)
        sets: dict[str, tuple[Variable, frozenset[int]]] = {}
        for axis, at in zip(spec.axes, place, strict=True):
            held = leaves_of(axis, at)
            if product:
                held = held & leaves_in(spec.universe, axis.variable)
            sets[axis.variable.name] = axis.variable, frozenset(np.flatnonzero(held).tolist())
        for one in spec.universe.variables if product else ():
            if one.name not in sets:
                held = leaves_in(spec.universe, one)
                sets[one.name] = one, frozenset(np.flatnonzero(held).tolist())
        own = {name: leaves for name, (_, leaves) in sets.items()}
        wider = [set(_wider(variable, leaves)) for variable, leaves in sets.values()]
        for chosen in itertools.product(*wider):
            made = dict(zip(sets, chosen, strict=True))
            universe = EVERYTHING
            for name, leaves in made.items():
                variable = sets[name][0]
                mask = np.isin(np.arange(len(variable.codes)), sorted(leaves))
                universe = restrict(universe, variable, mask)
            if product:
                if made != own:
                    yield universe
                continue
            yield universe
            if made != own:
                with_condition = spec.universe
                for name, leaves in made.items():
                    variable = sets[name][0]
                    mask = np.isin(np.arange(len(variable.codes)), sorted(leaves))
                    with_condition = restrict(with_condition, variable, mask)
                yield with_condition

    def true_count(self, spec: TableSpec, universe: Universe) -> tuple[int, int]:
        """The units of a universe and their key, by going through the lists."""
        count, keys = 0, []
        for unit in self.census.units[spec.of]:
            leaves = [
                leaf_of(self.census, spec.of, unit, variable) for variable in universe.variables
            ]
            at = tuple(
                int(classes[leaf]) for classes, leaf in zip(universe.classes, leaves, strict=True)
            )
            if universe.truth[at]:
                count += 1
                keys.append(self.census.key(spec.of, unit))
        space = self.schema.keys.space
        if space.combine is Combine.XOR:
            return count, int(np.bitwise_xor.reduce(np.array(keys, dtype=np.int64))) if keys else 0
        return count, sum(keys) % space.modulus

    def published(self, spec: TableSpec, universe: Universe) -> int:
        """What is published for the records of a universe, as a table of one cell."""
        known = (spec.of, repr(universe.canonical()))
        if known not in self._known:
            count, key = self.true_count(spec, universe)
            cell = TableSpec(of=spec.of, axes=(), universe=universe)
            values = Accumulators(np.array(count, dtype=np.int64), np.array(key, dtype=np.uint32))
            table = self.method.protect(Cube(cell, self.origin, values)).table
            assert isinstance(table, Table)
            self._known[known] = int(table.published[()])
        return self._known[known]

    def shown(self, spec: TableSpec, smallest: int) -> Mask:
        """Which cells are shown."""
        made = np.zeros(spec.shape, dtype=bool)
        for place in itertools.product(*(range(size) for size in spec.shape)):
            made[place] = all(
                self.published(spec, ancestor) >= smallest
                for ancestor in self.ancestors(spec, place)
            )
        return made


def _wider(variable: Variable, leaves: frozenset[int]) -> Iterator[frozenset[int]]:
    """The set itself, every declared code that holds it, and everything."""
    yield leaves
    yield frozenset(range(len(variable.codes)))
    for level in variable.levels():
        for code in range(len(level.codes)):
            group = frozenset(at for at, one in enumerate(level.group) if one == code)
            if leaves and leaves <= group:
                yield group


def table_of(
    store: CensusStore, table: TableRequest, engine: MemoryEngine | None = None
) -> tuple[TableSpec, MemoryEngine]:
    where = table.where.text if table.where else None
    spec = TableSpec.build(store.schema, table.by, of=table.of, universe=where)
    return spec, engine or MemoryEngine(store, threads=1)


def counting(engine: MemoryEngine) -> Counting:
    return lambda one: engine.tabulate(Tabulate(spec=one))


@given(censuses_with_tables(most_units=30), st.sampled_from(METHODS), SIZES)
@settings(max_examples=at_least(25))
def test_what_is_hidden_is_the_definition(
    drawn: tuple[SmallCensus, TableRequest], method: Method, smallest: int
) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", census)
        spec, engine = table_of(store, table)

        tabulate = counting(engine)
        made = GroupRule(smallest).protect(spec, method, tabulate)
        plain = method.protect(tabulate(spec)).table
        brute = Brute(census, store, method)
        np.testing.assert_array_equal(shown(made.table), brute.shown(spec, smallest))
        # What is shown is what the method alone publishes.
        assert isinstance(made.table, Table)
        assert isinstance(plain, Table)
        kept = shown(made.table)
        np.testing.assert_array_equal(made.table.published[kept], plain.published[kept])
        if plain.flags is not None and made.table.flags is not None:
            np.testing.assert_array_equal(made.table.flags[kept], plain.flags[kept])
        assert not made.table.published[~kept].any()
        assert made.provenance.smallest_group == smallest
        assert made.provenance.spec_hash == spec.hash()
        assert made.audit.cube.spec is spec
        # The claim: no cell of so few units is broken down.
        units = group_claim(method, smallest).units
        for place in np.argwhere(kept).tolist():
            for ancestor in brute.ancestors(spec, tuple(place)):
                assert brute.true_count(spec, ancestor)[0] > units or not units
        del store, engine  # Windows removes no file that is mapped


@given(st.data(), small_censuses(most_units=40), st.sampled_from(METHODS), SIZES)
@settings(max_examples=12)
def test_a_cell_is_hidden_in_all_tables_or_in_none(
    data: st.DataObject, census: SmallCensus, method: Method, smallest: int
) -> None:
    """Whatever levels a table shows, in whatever order, with its codes as axes or conditions."""
    requests = [data.draw(table_requests(census)) for _ in range(3)]
    known: dict[tuple[int, int], bool] = {}
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", census)
        engine = MemoryEngine(store, threads=1)
        for table in requests:
            spec, _ = table_of(store, table, engine)
            if not is_product(spec.universe):
                continue  # "any other condition is left out whole": judged by its own spelling
            made = GroupRule(smallest).protect(spec, method, counting(engine))
            hashes = cell_hashes(spec)
            for (first, second), own in zip(
                hashes.tolist(), shown(made.table).reshape(-1).tolist(), strict=True
            ):
                if first or second:  # cells that can hold nobody are no groups
                    assert known.setdefault((first, second), own) is own
        del store, engine  # Windows removes no file that is mapped


@given(censuses_with_tables(most_units=40), st.sampled_from(METHODS), SIZES)
@settings(max_examples=12)
def test_what_is_shown_is_closed_upwards(
    drawn: tuple[SmallCensus, TableRequest], method: Method, smallest: int
) -> None:
    """With a cell every cell of the table that holds it is shown; a larger K shows no more."""
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", census)
        spec, engine = table_of(store, replace(table, where=None))

        tabulate = counting(engine)
        kept = shown(GroupRule(smallest).protect(spec, method, tabulate).table)
        larger = shown(GroupRule(smallest + 2).protect(spec, method, tabulate).table)
        assert not (larger & ~kept).any()
        leaves = [
            [
                frozenset(np.flatnonzero(leaves_of(axis, at)).tolist())
                for at in range(len(axis.codes))
            ]
            for axis in spec.axes
        ]
        places = np.argwhere(kept).tolist()
        for place in places:
            mine = [sets[at] for sets, at in zip(leaves, place, strict=True)]
            if not all(mine):
                continue
            for other in np.argwhere(~kept).tolist():
                theirs = [sets[at] for sets, at in zip(leaves, other, strict=True)]
                assert not all(a <= b for a, b in zip(mine, theirs, strict=True))
        del store, engine  # Windows removes no file that is mapped


@given(censuses_with_tables(most_units=40), SIZES, st.integers(0, 2**32 - 1))
@settings(max_examples=12)
def test_only_published_values_are_read(
    drawn: tuple[SmallCensus, TableRequest], smallest: int, seed: int
) -> None:
    """Two stores with other counts and equal published values hide the same cells."""
    census, table = drawn
    base, draws = 4, np.random.default_rng(seed)
    method = ConventionalRounding(base)
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", census)
        spec, engine = table_of(store, table)

        tabulate = counting(engine)

        def other(one: TableSpec) -> Cube:
            """Other counts that are rounded to the same."""
            cube = held(tabulate(one))
            published = method.protect(cube).table.published
            moved = np.maximum(published + draws.integers(-1, 2, size=cube.shape), 0)
            values = Accumulators(np.asarray(moved, dtype=np.int64), cube.key)
            made = Cube(one, cube.origin, values)
            np.testing.assert_array_equal(method.protect(made).table.published, published)
            return made

        first = GroupRule(smallest).protect(spec, method, tabulate).table
        second = GroupRule(smallest).protect(spec, method, other).table
        assert first == second
        del store, engine  # Windows removes no file that is mapped


def test_weighted_tables_are_judged_by_their_units() -> None:
    """Weights of ten make two persons twenty; they stay two."""
    census = island()
    method = CellKey(THREE, secret=SECRET)
    for by in (("area", "age", "sex"), ("age@class", "sex")):
        spec = census.spec(*by)
        weighted = replace(spec, measure=Measure.WEIGHTED, weight_decimals=6)
        judged = GroupRule(12).protect(spec, method, census.tabulate).table
        other = GroupRule(12).protect(weighted, method, census.tabulate).table
        np.testing.assert_array_equal(shown(judged), shown(other))


def test_steps_come_after_the_rule_has_read() -> None:
    """It reads what the method publishes, before totals are made to add up; and it says so."""
    census = island()
    method = CellKey(THREE, secret=SECRET)
    spec = census.spec("area", "age", "sex")
    alone = GroupRule(9).protect(spec, method, census.tabulate)
    added = GroupRule(9).protect(spec, Pipeline(method, Additivity()), census.tabulate)
    np.testing.assert_array_equal(shown(alone.table), shown(added.table))
    assert group_claim(method, 9).units == 5
    assert not group_claim(method, 9).adds_up
    assert group_claim(Pipeline(method, Additivity()), 9).adds_up


def test_exempt_cells_are_judged_as_they_are_published() -> None:
    """The exact total of an exempt table decides, not a perturbed one that nobody sees."""
    census = island()
    spec = census.spec("sex", "married")
    exact = int(held(census.tabulate("sex")).count[0])
    method = CellKey(THREE, secret=SECRET, exempt=[census.spec("sex")])
    below = GroupRule(exact + 1).protect(spec, method, census.tabulate).table
    at = GroupRule(exact).protect(spec, method, census.tabulate).table
    assert not shown(below)[0, 0]
    assert shown(at)[0, 0]


def test_methods_without_a_bound_in_every_cell_are_refused() -> None:
    """With the reason; and methods whose numbers depend on the table around them."""
    census, secret = island(), Secret(bytes(range(32)))
    spec = census.spec("sex")
    unbounded = (
        PerUnitDeviations(2, secret=secret, totals="own"),
        LightTouch(THREE, secret=secret),
    )
    for method in unbounded:
        with pytest.raises(SpecError, match="far from the truth"):
            GroupRule(5).protect(spec, method, census.tabulate)
    for other in (SemiControlledRounding(3, secret=secret), RandomRounding(3, draw="independent")):
        with pytest.raises(SpecError, match="other numbers in other tables"):
            GroupRule(5).protect(spec, other, census.tabulate)
    # Without the rule they are as they were.
    assert GroupRule(None).protect(spec, unbounded[0], census.tabulate).table.published.size


@pytest.mark.parametrize("wrong", [0, 1, -3, 2.0, "23", True])
def test_the_size_is_a_whole_number(wrong: object) -> None:
    with pytest.raises(SpecError, match="whole number"):
        GroupRule(wrong)  # type: ignore[arg-type]


def test_readers_are_told_in_their_language_and_only_what_is_public() -> None:
    census: Census = island()
    method = CellKey(THREE, secret=SECRET)
    made = GroupRule(17).protect(census.spec("area", "age"), method, census.tabulate)
    assert not shown(made.table).all()
    (note,) = made.table.notes
    for language in ("en", "es", "fr", "nl"):
        assert "17" in note.show(language)
        assert Mark.NOT_BROKEN_DOWN.meaning.show(language)
    assert note_for(17) == note
    # 17 - 3 - 1: with K it would tell the largest deviation.
    units = group_claim(method, 17).units
    assert units == 13
    assert str(units) not in note.show("en")
    plain = method.protect(census.tabulate("area", "age")).provenance.to_json()
    assert made.provenance.to_json() == {**plain, "smallest_group": 17}
    assert str(units) in group_claim(method, 17).sentence


def test_the_table_of_ancestors_has_only_what_is_needed() -> None:
    """Levels that are finer than what is shown are not counted; a crossing one is, in part."""
    census = island()
    spec = census.spec("age@class-total", "sex")
    extended = ancestry_of(spec).extended
    assert [len(axis.codes) for axis in extended.axes] == [
        len(spec.axes[0].codes) + 2 + 1,  # both halves hold a class, and the total
        len(spec.axes[1].codes),
    ]
    assert len(ancestry_of(census.spec("age@half")).extended.axes[0].codes) == 3


def test_cells_that_may_grow_are_judged_as_they_have_grown() -> None:
    """Perturbed zeros: what is shown is what the method alone publishes, also under a condition."""
    census = island(60)
    method = CellKey(
        THREE.with_perturbed_zeros({2: 0.3}), secret=SECRET, zeros="perturb", schema=census.schema
    )
    for by, where in (
        (("area@parish+district", "age"), None),
        (("area", "married"), "age < 5 and sex == 1"),
        (("age@age+class", "sex"), "age >= 2"),
        (("area", "sex"), "age == 1 or married == 1"),
    ):
        spec = census.spec(*by, universe=where)
        made = GroupRule(6).protect(spec, method, census.tabulate).table
        plain = method.protect(census.tabulate(spec)).table
        assert isinstance(made, Table)
        kept = shown(made)
        assert kept.any()
        assert not kept.all()
        np.testing.assert_array_equal(made.published[kept], plain.published[kept])
