"""Weights of files: exact products, totals that stay, and no word of areas."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.microdata.method import FactTable
from sdcensus.microdata.release.records import Sample
from sdcensus.microdata.release.weight_classes import first_classes
from sdcensus.microdata.release.weights import HEADINGS, class_means, told_weight
from sdcensus.model.release.plan import Making
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import write_store
from tests.microdata.release.designs import plan_of, sample_of
from tests.microdata.release.valley import H, P, valley, valley_schema, valley_units

Integers = npt.NDArray[Any]


def with_weights(path: Path, weights: Integers | None = None, **own: Integers) -> CensusStore:
    """The valley with other weights of households, and perhaps weights of persons."""
    units = valley_units(1, 600)
    schema = valley_schema()
    if weights is not None:
        units[H] = replace(units[H], values={"correction": weights})
    if own:
        second = Variable(name="own", entity=P, role=Role.WEIGHT, continuous=True, decimals=3)
        schema = replace_variables(schema, second)
        units[P] = replace(units[P], values={**units[P].values, **own})
    return write_store(path, schema, units, secret_id=SECRET.id)


def replace_variables(schema: Schema, added: Variable) -> Schema:
    return replace(schema, variables=(*schema.variables, added))


def table_of(sample: Sample) -> FactTable:
    (table,) = [table for table in sample.facts if table.name == "weights-and-areas"]
    return table


def column(table: FactTable, heading: str) -> list[Any]:
    return [row[HEADINGS.index(heading)] for row in table.rows]


@given(
    value=st.integers(1, 10**9),
    decimals=st.integers(0, 6),
    fraction=st.fractions(Fraction(1, 200), 1, max_denominator=500),
)
def test_a_weight_is_the_interval_times_that_of_the_census(
    value: int, decimals: int, fraction: Fraction
) -> None:
    weight = told_weight(value, decimals, 1 / fraction)
    assert weight == round(Fraction(value, 10**decimals) / fraction * 10**6)


def test_halves_go_to_even_numbers_and_weights_that_do_not_fit_are_refused() -> None:
    assert [told_weight(value, 7, Fraction(1)) for value in (15, 25, 35)] == [2, 2, 4]
    for value, decimals in ((1, 9), (1 << 52, 0)):
        with pytest.raises(SpecError, match="too large or too small"):
            told_weight(value, decimals, Fraction(10))


@given(st.lists(st.tuples(st.integers(1, 10**12), st.integers(0, 4)), min_size=1, max_size=60))
def test_means_of_classes_keep_their_totals(pairs: list[tuple[int, int]]) -> None:
    weights = np.array([weight for weight, _ in pairs])
    classes = np.array([number for _, number in pairs])
    means = class_means(weights, classes)
    for number in np.unique(classes):
        own = classes == number
        assert abs(int(means[own].sum()) - int(weights[own].sum())) <= own.sum() / 2
        assert np.unique(means[own]).size == 1


@given(counts=st.lists(st.integers(1, 50), min_size=1, max_size=40), most=st.integers(1, 12))
def test_there_are_at_most_as_many_classes_as_the_office_says(counts: list[int], most: int) -> None:
    classes = first_classes(np.array(counts), most)
    assert (np.diff(classes) >= 0).all()
    assert np.unique(classes).tolist() == [*range(int(classes.max()) + 1)]
    assert classes.max() < most


def test_weights_that_name_areas_become_one_weight(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley", households=600)
    sample = sample_of(store, plan_of("1/3"))
    table = table_of(sample)
    assert min(column(table, "unique")) == 1.0
    assert min(column(table, "dependence")) > 1
    for heading in ("unique-now", "pointed-now", "dependence-now"):
        assert set(column(table, heading)) == {0.0}
    for entity in (H, P):
        assert np.unique(sample.weights[entity]).size == 1
        exact = 3 * store.values(entity, store.schema.variable("correction"))[sample.rows[entity]]
        total = int(sample.weights[entity].sum())
        assert abs(total - 1000 * int(exact.sum())) <= exact.size


def test_weights_that_have_nothing_to_do_with_areas_stay_in_classes(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    few = with_weights(tmp_path / "few", draw.choice([900, 1000, 1250], 600))
    sample = sample_of(few, plan_of("1/3"))
    assert set(sample.weights[H].tolist()) == {2_700_000, 3_000_000, 3_750_000}
    assert set(sample.weights[H].tolist()) >= set(sample.weights[P].tolist()) - {3_000_000}
    many = with_weights(tmp_path / "many", draw.integers(800, 1300, 600))
    sample = sample_of(many, plan_of("1/3", making=Making(weight_classes=4)))
    assert 2 <= np.unique(sample.weights[H]).size <= 4
    table = table_of(sample)
    assert max(column(table, "pointed-now")) == 0.0
    assert max(column(table, "dependence-now")) <= 0.2  # by chance, with 600 households


def test_areas_that_the_file_tells_may_have_weights_of_their_own(tmp_path: Path) -> None:
    units = valley_units(1, 600)
    district = units[Entity.DWELLING].leaves["area"] % 3
    store = with_weights(tmp_path / "store", 1000 + 50 * district)
    told = sample_of(store, plan_of("1/3"), areas="district")
    assert np.unique(told.weights[H]).size == 3
    hidden = sample_of(store, plan_of("1/3"))
    assert np.unique(hidden.weights[H]).size == 1


def test_two_weights_say_nothing_together(tmp_path: Path) -> None:
    # Each alone is even over the districts; together they tell which it is.
    draw = np.random.default_rng(4)
    units = valley_units(1, 600)
    district = units[Entity.DWELLING].leaves["area"] % 3
    first = draw.integers(0, 3, 600)
    holder = units[P].parents[H]
    second = np.append((first + district) % 3, 0)[holder]
    store = with_weights(tmp_path / "store", 1000 + 100 * first, own=1000 + 100 * second)
    plan = plan_of("1/3")
    alone = sample_of(store, plan_of("1/3", making=Making(nonresponse_weight="correction")))
    assert np.unique(alone.weights[H]).size == 3
    together = sample_of(store, plan)
    assert np.unique(together.weights[H]).size == 1
    assert np.unique(together.weights[P]).size == 1


@pytest.mark.parametrize("wrong", [0, -5, -(1 << 63)])
def test_weights_that_are_missing_or_not_above_0_are_refused_with_their_number(
    tmp_path: Path, wrong: int
) -> None:
    weights = np.full(600, 1000)
    weights[[3, 77]] = wrong
    store = with_weights(tmp_path / "store", weights)
    with pytest.raises(SpecError, match=r"2 households have no weight above 0 in 'correction'"):
        sample_of(store, plan_of("1/3"))
    remedy = plan_of("1/3", making=Making(nonresponse_weight="none"))
    assert set(sample_of(store, remedy).weights[H].tolist()) == {3_000_000}


def test_a_weight_is_named_by_its_name(tmp_path: Path) -> None:
    store = with_weights(tmp_path / "store", np.full(600, 1500))
    named = plan_of("1/2", making=Making(nonresponse_weight="correction"))
    assert set(sample_of(store, named).weights[H].tolist()) == {3_000_000}
    for name, mistake in (
        ("sex", "is no weight in the schema. Weights are: correction"),
        ("x", "'x'"),
    ):
        with pytest.raises(SpecError, match=mistake):
            sample_of(store, plan_of("1/2", making=Making(nonresponse_weight=name)))
