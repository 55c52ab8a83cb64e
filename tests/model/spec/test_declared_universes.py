"""Universes by name: codes of their variables, however a condition spells them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from sdcensus.errors import ConditionError, SpecError
from sdcensus.model.schema.schema import DeclaredUniverse, Schema
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.cell_definitions import Definitions
from sdcensus.model.spec.covers import Part, covering
from sdcensus.model.spec.declared_universes import (
    is_code,
    set_condition,
    undeclared_sets,
    with_missing_codes,
    with_universe,
)
from sdcensus.model.spec.headings import universe_text
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import universe_of
from sdcensus.model.text import Text
from sdcensus.testing.island import island_schema
from sdcensus.testing.small_census import SmallCensus
from sdcensus.testing.strategies import small_censuses


def declared(name: str, condition: str, **more: Text) -> DeclaredUniverse:
    return DeclaredUniverse(name=name, condition=condition, **more)


GROWN = declared("grown", "age >= 4", label=Text.of({"en": "4 and over", "es": "4 y más"}))
SCHEMA = with_universe(island_schema(), GROWN)
#: Everything that chooses the same people.
SPELLINGS = (
    "grown",
    "age >= 4",
    "not age < 4",
    "4 <= age",
    "age > 3 and age <= 9",
    "age in (4, 5, 6, 7, 8, 9)",
    "age not in (0, 1, 2, 3)",
    "age@grown == 'grown'",
    "not age@grown == 'not_grown'",
    "age@half == 'h1' or age == 4",
    "grown or age@class == 'c2'",
    "not (not grown)",
)


def test_a_universe_is_a_level_of_its_variable() -> None:
    age = SCHEMA.variable("age")
    level = age.level("grown")
    assert level.universe
    assert [(code.code, code.label.show("es")) for code in level.codes] == [
        ("grown", "4 y más"),
        ("not_grown", "Los demás"),
    ]
    assert level.group == (1,) * 4 + (0,) * 6
    assert age.level_label("grown").show() == "4 and over"
    assert SCHEMA.universe("grown") is GROWN
    assert universe_text(universe_of("age >= 4", SCHEMA)) == "Age: 4 and over"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_however_it_is_spelt_it_is_the_same_question(spelling: str) -> None:
    universe = universe_of(spelling, SCHEMA)
    assert universe.canonical() == universe_of("age >= 4", SCHEMA).canonical()
    assert undeclared_sets(universe) == ()
    age = SCHEMA.variable("age")
    assert covering(age).cover(leaves_in(universe, age)) == (Part("grown", 0),)
    # One definition, so one number: as a condition, and as a code of an axis.
    condition = TableSpec.build(SCHEMA, ["sex"], universe=spelling)
    shown = TableSpec.build(SCHEMA, ["sex", "age@grown"])
    words = [Definitions.build(spec, kind="count").whole() for spec in (condition, shown)]
    np.testing.assert_array_equal(words[0], words[1][:, 0])


def test_a_universe_that_is_a_code_already_adds_nothing() -> None:
    for condition in ("age >= 5", "sex == 1", "area@district == 'D1'", "grown and sex == 0"):
        again = with_universe(SCHEMA, declared("also", condition))
        assert again.variables == SCHEMA.variables
        assert again.universe("also").condition == condition


@pytest.mark.parametrize(
    ("name", "condition", "words"),
    [
        ("age", "sex == 1", "'age' is the name of a variable"),
        ("grown", "age > 2", "has a level 'grown' already"),
        ("class", "age > 2", "has a level 'class' already"),
        ("and", "age > 2", "cannot be the name of a universe"),
        ("households", "age > 2", "cannot be the name of a universe"),
        ("15", "age > 2", "cannot be the name of a universe"),
        ("a-b", "age > 2", "cannot be the name of a universe"),
        ("all_", "age >= 0", "true for every record"),
        ("none", "age > 3 and age < 3", "true for no record"),
        ("mixed", "age > 2 or sex == 1", "joined by 'and'"),
        ("both", "age > 2 and sex == 1", "age >= 3 is no code of 'age'"),
        ("deep", "grownn", "There is no universe 'grownn'. Did you mean 'grown'?"),
        ("typo", "agee > 2", "There is no variable 'agee'"),
    ],
)
def test_mistakes(name: str, condition: str, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        with_universe(SCHEMA, declared(name, condition))
    assert words in str(caught.value)


def test_a_name_that_stands_alone_is_that_of_a_universe() -> None:
    with pytest.raises(ConditionError) as caught:
        universe_of("sex == 1 and (age)", SCHEMA)
    assert caught.value.at == 14
    assert "There is no universe 'age'" in str(caught.value)
    assert "age == 1" in str(caught.value)


def test_no_universe_is_made_of_itself() -> None:
    """As a store that somebody changed by hand could say."""
    looped = replace(SCHEMA, universes=(declared("one", "two"), declared("two", "one")))
    with pytest.raises(SpecError, match="no universe 'two'"):
        universe_of("two", looped)


def test_universes_follow_when_a_variable_gets_a_code_for_missing_values() -> None:
    unlike = with_universe(SCHEMA, declared("unlike", "age != 3"))
    longer = with_missing_codes(unlike)
    assert longer.universes == unlike.universes
    for name, size in (("grown", 6), ("unlike", 10)):
        universe = universe_of(name, longer)
        assert undeclared_sets(universe) == ()
        assert leaves_in(universe, longer.variable("age")).sum() == size


@given(small_censuses(), st.data())
def test_a_set_of_leaves_and_the_condition_for_it(census: SmallCensus, data: st.DataObject) -> None:
    schema = census.schema
    wide = [variable for variable in schema.variables if len(variable.codes) > 1]
    assume(wide)
    variable = data.draw(st.sampled_from(wide))
    leaves = _subset(variable, data)
    universe = universe_of(set_condition(variable, leaves), schema)
    np.testing.assert_array_equal(leaves_in(universe, variable), leaves)
    wider = with_universe(schema, declared("fresh", set_condition(variable, leaves)))
    assert undeclared_sets(universe_of("fresh", wider)) == ()
    assert is_code(leaves, wider.variable(variable.name).levels())
    before, after = (_codes(each, variable.name) for each in (schema, wider))
    sides = {frozenset(np.flatnonzero(side).tolist()) for side in (leaves, ~leaves)}
    assert after - before <= sides


def _subset(variable: Variable, data: st.DataObject) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    size = len(variable.codes)
    places = data.draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=size - 1))
    return np.isin(np.arange(size), sorted(places))


def _codes(schema: Schema, name: str) -> set[frozenset[int]]:
    return {
        frozenset(np.flatnonzero(level.group_array == at).tolist())
        for level in schema.variable(name).levels()
        for at in range(len(level.codes))
    }
