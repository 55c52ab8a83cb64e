"""The canonical definition of a cell: equal exactly where cells ask the same, in every spelling."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from hypothesis import given, settings, strategies as st

from sdcensus.methods.listed_cells import ListedCells
from sdcensus.model.schema.implications import declared_rules
from sdcensus.model.schema.schema import Impossible, Schema
from sdcensus.model.schema.variable import Code, Level
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.cell_definitions import cell_definitions
from sdcensus.model.spec.record_sets import is_product, leaves_in, universe_of_cell
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe
from sdcensus.testing.island import island_schema
from sdcensus.testing.small_census import SmallCensus
from sdcensus.testing.strategies import (
    TableRequest,
    Where,
    conditions,
    small_censuses,
    table_requests,
)
from tests.examples import at_least

#: Which leaves of which variables a cell is about; a condition that is no product as its text.
Meaning = frozenset[tuple[str, object]]


def spec_of(schema: Schema, table: TableRequest) -> TableSpec:
    where = None if table.where is None else table.where.text
    return TableSpec.build(schema, table.by, of=table.of, universe=where)


def numbers_of(spec: TableSpec, schema: Schema) -> list[int]:
    """The definition of each cell, made at once; those that are listed are the same."""
    rules = declared_rules(schema)
    whole = cell_definitions(spec, rules).whole()
    every = ListedCells(np.arange(spec.cells, dtype=np.uint64))
    listed = cell_definitions(spec, rules).listed(every.positions(spec))
    assert whole.shape == spec.shape
    assert (np.broadcast_to(listed, spec.cells) == whole.ravel()).all()
    return whole.ravel().tolist()


def universes_of(spec: TableSpec) -> list[Universe]:
    return [universe_of_cell(spec, at) for at in np.ndindex(spec.shape)]


def agree(meanings: list[object], numbers: list[int]) -> None:
    """The same number exactly where the meaning is the same; ``None`` means nobody."""
    seen: dict[object, int] = {}
    for meaning, number in zip(meanings, numbers, strict=True):
        if meaning is not None:
            assert seen.setdefault(meaning, number) == number
    assert len(set(seen.values())) == len(seen)


@settings(max_examples=at_least(25))
@given(st.data())
def test_definitions_agree_exactly_where_the_questions_do(data: st.DataObject) -> None:
    """Any code lists, trees nested or not, axes, levels, orders and conditions."""
    census: SmallCensus = data.draw(small_censuses(most_units=0))
    first, second = (data.draw(table_requests(census)) for _ in range(2))
    meanings: list[object] = []
    numbers: list[int] = []
    for table in (first, second):
        spec = spec_of(census.schema, table)
        if spec.cells > 2_000:
            continue
        for universe in universes_of(spec):
            whole = (spec.of, str(universe.canonical()))
            meanings.append(whole if universe.truth.any() else None)
        numbers += numbers_of(spec, census.schema)
    agree(meanings, numbers)


# ------------------------------------------------------------------------------ implied codes


def sets_of(universe: Universe) -> dict[str, frozenset[int]]:
    """The leaves of each variable that a product is about; those with all leaves are left out."""
    return {
        variable.name: frozenset(np.flatnonzero(leaves_in(universe, variable)).tolist())
        for variable in universe.variables
    }


def reduced(
    sets: Mapping[str, frozenset[int]],
    schema: Schema,
    rules: list[Where],
    of: Mapping[str, set[str]],
) -> Meaning:
    """By loops over leaves: what is left when everything that follows is left out."""
    sizes = {variable.name: range(len(variable.codes)) for variable in schema.variables}

    def impossible(pair: dict[str, int]) -> bool:
        for rule in rules:
            others = sorted(of[rule.text] - set(pair))
            every = itertools.product(*(sizes[name] for name in others))
            if all(rule.holds({**pair, **dict(zip(others, one, strict=True))}) for one in every):
                return True
        return False

    def excludes(mine: str, leaves: Iterable[int], theirs: str) -> bool:
        outside = set(sizes[theirs]) - sets[theirs]
        pairs = itertools.product(leaves, outside)
        return all(impossible({mine: leaf, theirs: other}) for leaf, other in pairs)

    implies = {
        (mine, theirs)
        for mine, theirs in itertools.permutations(sets, 2)
        # What holds of everybody does not follow from anything.
        if excludes(mine, sets[mine], theirs) and not excludes(mine, sizes[mine], theirs)
    }
    for middle, mine, theirs in itertools.permutations(sets, 3):
        if (mine, middle) in implies and (middle, theirs) in implies:
            implies.add((mine, theirs))
    left = {
        name
        for name in sets
        if not any(
            (other, name) in implies and ((name, other) not in implies or other < name)
            for other in sets
        )
    }
    return frozenset((name, sets[name]) for name in left)


@settings(max_examples=at_least(25))
@given(st.data())
def test_codes_that_others_imply_by_declared_rules_are_left_out(data: st.DataObject) -> None:
    """Against loops over all leaves; implications of implications and mutual ones among them."""
    schema = _small_schema()
    usable = schema.usable(schema.entities[0].entity)
    rules = data.draw(st.lists(conditions(usable, 2), min_size=1, max_size=3))
    names = {
        rule.text: {
            one.name for one in usable if f"{one.name}@" in rule.text or f"{one.name} " in rule.text
        }
        for rule in rules
    }
    schema = replace(schema, impossible=tuple(Impossible(rule.text) for rule in rules))
    meanings: list[object] = []
    numbers: list[int] = []
    for by, where in (
        (("a", "b@pair", "c"), None),
        (("b@b+pair", "c"), "a@pair == 'p0'"),
        (("a@a+pair", "c"), "b == '1' or c == '0'"),
    ):
        spec = TableSpec.build(schema, by, universe=where)
        for universe in universes_of(spec):
            meaning: object = None
            if is_product(universe) and possible(universe, schema, rules):
                meaning = reduced(sets_of(universe), schema, rules, names)
            meanings.append(meaning)
        numbers += numbers_of(spec, schema)
    agree(meanings, numbers)


def possible(universe: Universe, schema: Schema, rules: list[Where]) -> bool:
    """Whether any record can be in a cell by all rules together."""
    names = [variable.name for variable in schema.variables]
    sets = sets_of(universe)
    leaves = (sets.get(variable.name, range(len(variable.codes))) for variable in schema.variables)
    every = (dict(zip(names, one, strict=True)) for one in itertools.product(*leaves))
    return bool(universe.truth.any()) and any(
        not any(rule.holds(record) for rule in rules) for record in every
    )


def _small_schema() -> Schema:
    """Three variables of three or four leaves, in pairs."""
    base = island_schema()
    area, person = base.variable("area"), base.entities[0]
    made = []
    for name, size in (("a", 4), ("b", 3), ("c", 3)):
        codes = tuple(Code(str(at)) for at in range(size))
        pairs = Level("pair", (Code("p0"), Code("p1")), tuple(at // 2 for at in range(size)))
        made.append(
            replace(
                base.variable("sex"),
                name=name,
                leaf_level=name,
                codes=codes,
                hierarchies=(replace(area.hierarchies[0], name="pairs", levels=(pairs,)),),
            )
        )
    return replace(base, entities=(person,), variables=tuple(made), impossible=())


def test_a_child_is_never_married() -> None:
    """The schema says that nobody below 3 is married: what follows is the same question."""
    schema = island_schema()
    rules = declared_rules(schema)

    def number(*by: str, where: str | None = None, **codes: str) -> int:
        spec = TableSpec.build(schema, by, universe=where)
        at = tuple(axis.position(codes[axis.variable.name]) for axis in spec.axes)
        return int(cell_definitions(spec, rules).whole()[at])

    child = number("age@class", age="c0")
    assert number("age@class", "married", age="c0", married="0") == child
    assert number("married", where="age < 3", married="0") == child
    assert number("age", where="married == 0", age="1") == number("age", age="1")
    assert number("married", where="age < 4", married="0") != number(
        "age", where="age < 4", age="_T"
    )
    # Who is married is at least 3: the other way round.
    married = number("married", married="1")
    assert number("married", where="age >= 3", married="1") == married
    assert number("age@half", "married", age="h1", married="1") != married
    # Without the rule they are different questions, whatever the data are.
    spec = TableSpec.build(schema, ["age@class", "married"])
    whole = cell_definitions(spec).whole()
    assert whole[0, 0] != whole[0, 2]


def test_of_codes_that_imply_each_other_the_first_variable_by_name_stays() -> None:
    schema = replace(
        island_schema(),
        impossible=(
            Impossible("age < 3 and married == 1"),
            Impossible("age >= 3 and married == 0"),
        ),
    )
    spec = TableSpec.build(schema, ["married", "age@class"])
    whole = cell_definitions(spec, declared_rules(schema)).whole()
    assert whole[0, 0] == whole[2, 0]  # age stays
    assert whole[0, 0] != whole[0, 3]


def test_a_question_that_counts_some_codes_only_has_the_definitions_of_all() -> None:
    """The builder counts the codes that are asked for, and all others as one."""
    schema = island_schema()
    whole = TableSpec.build(schema, ["area@parish+district", "sex"])
    area = schema.variable("area")
    parish = Level("parish", (Code("…"), area.codes[2], area.codes[6]), (0, 0, 1, 0, 0, 0, 2))
    narrow = replace(whole, axes=(make_axis(area, [parish], total=True), whole.axes[1]))
    every, some = (cell_definitions(one).whole() for one in (whole, narrow))
    assert (some[[1, 2, 3]] == every[[2, 6, 10]]).all()
    assert some[0, 0] not in every
    # Also where rules of the schema make codes follow from others.
    rules = declared_rules(schema)
    whole = TableSpec.build(schema, ["age", "married"])
    age = schema.variable("age")
    years = Level("age", (Code("…"), age.codes[1], age.codes[7]), (0, 1, 0, 0, 0, 0, 0, 2, 0, 0))
    narrow = replace(whole, axes=(make_axis(age, [years], total=True), whole.axes[1]))
    every, some = (cell_definitions(one, rules).whole() for one in (whole, narrow))
    assert (some[[1, 2, 3]] == every[[1, 7, 10]]).all()
    assert every[1, 0] == every[1, 2]  # nobody of that age is married


def test_the_definition_of_a_cell_never_changes() -> None:
    """What is published today has to be drawn in the same way in later years."""
    schema = island_schema()
    spec = TableSpec.build(schema, ["sex", "age@half"], universe="area@district == 'D1'")
    assert cell_definitions(spec, declared_rules(schema)).whole().tolist() == [
        [13281434137292035486, 9232090969098624347, 15990298776768191805],
        [5331674803545477284, 1282331635352066145, 8040539443021633603],
        [12921850240362512257, 8872507072169101118, 15630714879838668576],
    ]


def test_a_weighted_count_is_no_other_question() -> None:
    """Its noise is that of the count: the two together are no second look."""
    schema = island_schema()
    spec = TableSpec.build(schema, ["sex"])
    weighted = TableSpec.build(schema, ["sex"], measure="weighted")
    assert (cell_definitions(spec).whole() == cell_definitions(weighted).whole()).all()
