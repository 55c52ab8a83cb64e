"""What the report measures, against counting by hand, identity by identity."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import Changes, NewValues
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.report.derivation.results import Effects
from sdcensus.session.census.census import Census
from sdcensus.session.derive import EffectQuestions, measured_effects, prepared
from sdcensus.session.derive.effects import REPETITIONS
from sdcensus.session.derive.questions import standing_for_all
from sdcensus.session.derive.step import Step
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import value_column
from sdcensus.testing.island import DISTRICT_OF, SECRET, island_store
from sdcensus.utility.evaluation import Stage
from tests.hamlet import write_hamlet
from tests.microdata.settlement import by_identity, dense, settlement
from tests.session.derive.toy_swap import toy_step

P, D, H = Entity.PERSON, Entity.DWELLING, Entity.HOUSEHOLD


def effects_of(step: Step, derived: DerivedRecords | None = None, **asked: object) -> Effects:
    questions = EffectQuestions(**asked)  # type: ignore[arg-type]
    return measured_effects(step, derived or step.run(), questions, SECRET)


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6), rate=st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_levels_and_small_cells_are_those_that_are_counted_by_hand(seed: int, rate: float) -> None:
    """Persons hold their area: two levels, and the country, of which nothing is protected."""
    with tempfile.TemporaryDirectory() as folder:
        store = island_store(Path(folder) / "a", 120, seed=seed).store
        assert isinstance(store, CensusStore)
        step = toy_step(store, rate)
        effects = effects_of(step, tables=("area,sex,age",))
        after = by_identity(step.trial().store)
    before = by_identity(store)
    groups = {"parish": range(7), "district": DISTRICT_OF, "": [0] * 7}
    table = effects.tables[0]
    assert [small.level for small in table.small] == list(groups)
    for level, (name, group) in zip(effects.area_levels, groups.items(), strict=True):
        moved = [who for who in before if group[before[who]["area"]] != group[after[who]["area"]]]
        assert (level.level, level.units, level.changed) == (name, len(before), len(moved))
        assert level.persons is None

        def cell(records: dict[str, int], group: object = group) -> tuple[int, int, int]:
            return group[records["area"]], records["sex"], records["age"]  # type: ignore[index]

        counts = Counter(map(cell, before.values()))
        small = next(small for small in table.small if small.level == name)
        unsafe = [who for who in before if counts[cell(before[who])] <= 2]
        kept = [who for who in unsafe if cell(before[who]) == cell(after[who])]
        changed = {cell(before[who]) for who in unsafe if who not in kept}
        assert small.cells == sum(count <= 2 for count in counts.values())
        assert (small.records, small.unprotected) == (len(unsafe), len(kept))
        assert small.changed == len(changed)
        assert small.unprotected_cells == small.cells - small.changed
    assert effects.area_levels[-1].changed == 0


def test_persons_follow_what_moves_them(tmp_path: Path) -> None:
    """Areas are held by dwellings; some persons live in no household, and never move."""
    store = settlement(tmp_path / "a", 3)
    step = toy_step(store, 0.6)
    effects = effects_of(step, tables=("area,sex", "dwellings: area,rooms"))
    before, after = by_identity(store), by_identity(step.trial().store)
    moved = Counter(who[0] for who in before if before[who]["area"] != after[who]["area"])
    finest = effects.area_levels[0]
    assert (finest.entity, finest.changed, finest.persons_changed) == (D, moved[D], moved[P])
    assert finest.persons == store.rows(P)
    assert 0 < moved[P] < store.rows(P)
    assert [table.spec.of for table in effects.tables] == [P, D]


def test_households_that_move_to_other_dwellings_are_counted_as_movers(tmp_path: Path) -> None:
    store = settlement(tmp_path / "a", 4)
    step = prepared(store, "random-swap", {"rate": 0.2, "members": ("sex",)}, secret=SECRET)
    effects = effects_of(step, tables=("area,sex",))
    before, after = by_identity(store), by_identity(step.trial().store)
    moved = Counter(who[0] for who in before if before[who]["area"] != after[who]["area"])
    finest, country = effects.area_levels[0], effects.area_levels[-1]
    assert (finest.entity, finest.changed, finest.persons_changed) == (H, moved[H], moved[P])
    assert moved[H] > 0 == moved[D]
    assert (country.level, country.changed) == ("", 0)


def test_stages_are_the_tables_of_the_store_and_what_is_published_of_it(tmp_path: Path) -> None:
    census = island_store(tmp_path / "a", 900)
    store = census.store
    assert isinstance(store, CensusStore)
    step = toy_step(store, 0.4)
    effects = effects_of(
        step,
        tables=("area,sex,age@class", "sex,age"),
        associations=("area,age", "sex,age"),
        scheme="CP3",
    )
    trial = step.trial()
    areas, country = effects.tables
    true = dense(census.tabulate(areas.spec)).count
    swapped = dense(trial.tabulate(trial.spec("area", "sex", "age@class"))).count
    stage = {each.stage: each for each in areas.stages}
    figures = stage[Stage.SWAPPED].utility
    filled = true > 0
    assert figures.mean_absolute_distance == np.abs(swapped - true)[filled].mean()
    assert figures.share_unchanged == (swapped == true).mean()
    published = EffectQuestions(scheme="CP3").method(trial, P, SECRET)
    noisy = published.protect(trial.tabulate("area", "sex", "age@class")).table.whole().published
    perturbed = stage[Stage.PUBLISHED].utility
    assert perturbed.mean_absolute_distance == np.abs(noisy - true)[filled].mean()
    rows = areas.evaluation.stages
    assert [row.stage for row in rows if row.margins] == list(Stage)
    assert [row.zeros for row in rows if row.margins] == [
        (counts == 0).sum() for counts in (true, swapped, noisy)
    ]
    # Without areas nothing moves: before cells are perturbed, the table is the original.
    untouched = country.stages[0].utility
    assert (untouched.mean_absolute_distance, untouched.share_unchanged) == (0.0, 1.0)
    assert country.stages[0].repeated["mean_absolute_distance"] == (0.0, 0.0, 0.0)
    with_area, without = effects.associations
    assert without.derived == without.original
    assert with_area.derived != with_area.original


def test_other_keys_give_other_measures_and_always_the_same(tmp_path: Path) -> None:
    store = island_store(tmp_path / "a", 900).store
    assert isinstance(store, CensusStore)
    first, again = (effects_of(toy_step(store, 0.4), tables=("area,age",)) for _ in range(2))
    assert first.repetitions == REPETITIONS
    stage = first.tables[0].stages[0]
    least, mean, most = stage.repeated["mean_absolute_distance"]
    assert least < mean < most
    # Half or twice the rate is beyond what chance does.
    assert stage.utility.mean_absolute_distance == pytest.approx(mean, rel=0.3)
    assert stage.repeated == again.tables[0].stages[0].repeated
    dropped = effects_of(prepared(store, "drop-records", {"where": "age == 9"}, secret=SECRET))
    assert dropped.repetitions == 0
    assert dropped.dropped[P] > 0


def test_imputed_records_count_as_protected(tmp_path: Path) -> None:
    """The measure DR counts perturbed or imputed: flags of the schema, and of the method."""
    store = island_store(tmp_path / "a", 150).store
    assert isinstance(store, CensusStore)
    step = toy_step(store, 0.0)
    plain = effects_of(step, tables=("area,age",)).tables[0].small[0]
    assert (plain.unprotected, plain.unprotected_share) == (plain.records, 1)
    every = np.arange(store.rows(P))
    imputed = DerivedRecords(store, Changes(imputed={"age": every}))
    small = effects_of(step, imputed, tables=("area,age", "area,sex")).tables
    assert small[0].small[0].unprotected == 0
    assert small[0].small[0].changed == 0
    assert small[1].small[0].unprotected == small[1].small[0].records


def test_weights_of_a_method_are_what_the_tables_count(tmp_path: Path) -> None:
    census = island_store(tmp_path / "a", 400)
    store = census.store
    assert isinstance(store, CensusStore)
    step = toy_step(store, 0.0)
    weight = np.ones(store.rows(P), dtype=np.int64)
    weight[::2] = 3
    (old,) = [each for each in store.schema.variables if each.role is Role.WEIGHT]
    values = weight * 10**old.decimals
    changes = Changes(amounts={old.name: NewValues(np.arange(values.size), values)})
    effects = effects_of(step, DerivedRecords(store, changes), tables=("sex",))
    assert effects.weights == (old.name,)
    total = effects.tables[0].evaluation.stages
    sums = {each.stage: each.maximum for each in total if each.margins}
    # What the method multiplies is what it is measured by.
    earlier = store.raw(P, value_column(old.name)).sum() / 10**old.decimals
    assert sums[Stage.ORIGINAL] == round(earlier)
    assert sums[Stage.SWAPPED] == weight.sum()


def test_a_table_that_stands_for_all_shows_areas_and_what_is_changed(tmp_path: Path) -> None:
    schema = write_hamlet(tmp_path).load().schema
    assert standing_for_all(schema, ()) == ("ed,sex,age@ten_year",)
    assert standing_for_all(schema, ("tenure",)) == ("ed,tenure,sex",)
    assert standing_for_all(schema, ("ed", "tenure")) == ("ed,sex,age@ten_year",)
    alone = replace(schema, variables=(Variable(name="x", entity=P),))
    assert standing_for_all(alone, ()) == ()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"tables": ("area,nothing",)}, "no variable 'nothing'"),
        ({"tables": (" , ",)}, "names no table"),
        ({"tables": ("ships: area",)}, "ships"),
        ({"associations": ("area",)}, "two variables"),
        ({"associations": ("area,sex,age",)}, "two variables"),
        ({"associations": ("area,area@district",)}, "two different"),
    ],
)
def test_questions_are_refused_before_any_work(
    tmp_path: Path, asked: dict[str, tuple[str, ...]], words: str
) -> None:
    census: Census = island_store(tmp_path / "a", 50)
    with pytest.raises(SpecError, match=words):
        EffectQuestions(**asked).checked(census.schema)  # type: ignore[arg-type]


def test_one_area_and_empty_tables_are_told_without_figures(tmp_path: Path) -> None:
    store = island_store(tmp_path / "a", 3).store
    assert isinstance(store, CensusStore)
    effects = effects_of(toy_step(store, 1.0), associations=("area,sex",))
    for stage in effects.tables[0].stages:
        distance = stage.utility.hellinger_normalised
        assert distance is None or math.isfinite(distance)
