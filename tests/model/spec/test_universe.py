"""Conditions: where mistakes point, and one canonical form for each set of records."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.schema.code_lists import interval_level, range_codes, tree_levels
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.tree_rows import Node
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Role,
    Variable,
)
from sdcensus.model.spec.predicate import (
    And,
    Comparison,
    Name,
    Not,
    Or,
    Reference,
    Value,
    comparisons,
    parse_condition,
)
from sdcensus.model.spec.universe import EVERYTHING, Universe, universe_of

AGES = (*range_codes(0, 7), Code("99", kind=CodeKind.NOT_STATED))
TREE = tree_levels(
    [Node("P"), Node("Q"), Node("a", parent="P"), Node("b", parent="P"), Node("c", parent="Q")],
    ["parish"],
)
SCHEMA = Schema(
    census=CensusInfo(name="Census"),
    entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
    variables=(
        Variable(
            name="age",
            entity=Entity.PERSON,
            codes=AGES,
            hierarchies=(Hierarchy("age", (interval_level("wide", "0,3,6+", AGES),)),),
        ),
        Variable(name="sex", entity=Entity.PERSON, codes=(Code("1"), Code("2"), Code("it's"))),
        Variable(
            name="area",
            entity=Entity.PERSON,
            codes=TREE.leaves,
            hierarchies=(Hierarchy("area", TREE.levels),),
        ),
        Variable(name="income", entity=Entity.PERSON, continuous=True),
        Variable(name="name", entity=Entity.PERSON, role=Role.DIRECT_IDENTIFIER),
    ),
)
AXES = [SCHEMA.variable(name) for name in ("age", "area", "sex")]
#: All records that can be told apart: a position for age, area and sex.
RECORDS = list(product(*(range(len(variable.codes)) for variable in AXES)))
Record = tuple[int, ...]


def holds(universe: Universe, record: Record) -> bool:
    """Whether a record belongs, by the classes and the truth table alone."""
    position = dict(zip(("age", "area", "sex"), record, strict=True))
    at = tuple(
        int(classes[position[variable.name]])
        for variable, classes in zip(universe.variables, universe.classes, strict=True)
    )
    return bool(universe.truth[at])


# ---------------------------------------------------------------- the language


def test_and_binds_tighter_than_or_and_not_tightest() -> None:
    a, b, c = (parse_condition(f"{name} == 1") for name in "abc")
    assert parse_condition("a == 1 or b == 1 and not c == 1") == Or((a, And((b, Not(c)))))
    assert parse_condition("(a == 1 or b == 1) and c == 1") == And((Or((a, b)), c))


def test_values_may_stand_first_and_in_lists() -> None:
    assert parse_condition("15 <= age") == parse_condition("age >= 15")
    assert parse_condition("x@y not in ('a', 2,)") == Comparison(
        Reference(None, Name("x"), (Name("y"),)), "not in", (Value("a", quoted=True), Value("2"))
    )
    assert [
        each.operand.name.text for each in comparisons(parse_condition("a==1 and(b<2 or c>3)"))
    ] == [
        "a",
        "b",
        "c",
    ]


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("age >", "at its end", "expected a code or number"),
        ("age > old", "at character 7", "put 'old' in quotes"),
        ("age => 3", "at character 5", "write '>='"),
        ("person.age > 3", "at character 7", "write the variable alone"),
        ("!age == 3", "at character 1", "write 'not'"),
        ("age $ 3", "at character 5", r"'\$' means nothing"),
        ("age == 3 sex == 1", "at character 10", "expected 'and', 'or' or the end"),
        ("(age == 3", "at its end", r"expected '\)'"),
        ("age not 3", "at character 9", "expected 'in' after 'not'"),
        ("age in 3", "at character 8", r"expected '\('"),
        ("age in (3 4)", "at character 11", r"expected '\)'"),
        ("age@ == 3", "at character 6", "expected a level"),
        ("== 3", "at character 1", "expected the name of a variable"),
        ("age == 3 and", "at its end", "expected the name of a variable"),
        ("age == 'x", "at character 8", "has no ' at its end"),
        ("age == 3.5", "at character 8", "whole numbers only"),
    ],
)
def test_mistakes_point_at_the_character(text: str, where: str, words: str) -> None:
    with pytest.raises(SpecError, match=f"{where}: .*{words}"):
        parse_condition(text)


@pytest.mark.parametrize("word", ["and", "or"])
def test_a_chain_may_be_long(word: str) -> None:
    parsed = parse_condition(f" {word} ".join(f"age != {number}" for number in range(5001)))
    assert [int(each.values[0].text) for each in comparisons(parsed)] == list(range(5001))


@given(st.text("ab1'\"()=<>!,@ andortin$.-", max_size=40))
def test_any_text_is_a_condition_or_a_clear_error(text: str) -> None:
    try:
        condition = parse_condition(text)
        outcome = f"condition of {len(list(comparisons(condition)))} parts"
        if "of 0 parts" in outcome:
            outcome = str(universe_of(text, SCHEMA))  # nothing but names of universes
    except SpecError as error:
        outcome = str(error)
    assert "condition" in outcome
    assert "of 0 parts" not in outcome


def test_deep_nesting_is_refused_not_a_crash() -> None:
    with pytest.raises(SpecError, match="nested more than"):
        parse_condition("(" * 100_000 + "a == 1")
    with pytest.raises(SpecError, match="nested more than"):
        parse_condition("not " * 10_000 + "a == 1")


# ---------------------------------------------------------------- against a schema


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agee == 3", "no variable 'agee'. Did you mean 'age'"),
        ("age@wid == 3", "no level 'wid'. Did you mean 'wide'"),
        ("sex == 3", "'sex': There is no code '3'"),
        ("sex < 2", "codes of 'sex' are not numbers"),
        ("age < 'old'", "only be compared with a whole number"),
        ("age@wide < 4", "4 cuts through the code '3-5'"),
        ("age@wide >= 7", r"7 cuts through the code '6\+'"),
        ("income > 3", "'income' has no codes .* Give it levels"),
        ("name == 'x'", "'name' has no codes"),
    ],
)
def test_conditions_that_do_not_fit_the_schema_are_refused(text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        universe_of(text, SCHEMA)


def test_no_condition_is_everything() -> None:
    assert universe_of(None, SCHEMA).everything
    assert universe_of(" ", SCHEMA).canonical() == EVERYTHING.canonical()
    assert universe_of("age < 3 or not age < 3", SCHEMA).canonical() == EVERYTHING.canonical()
    assert not universe_of("age < 3 and age > 3", SCHEMA).everything


def test_missing_codes_lie_on_neither_side_of_a_number() -> None:
    below, above = universe_of("age < 4", SCHEMA), universe_of("age >= 4", SCHEMA)
    missing = (len(AGES) - 1, 0, 0)
    assert not holds(below, missing)
    assert not holds(above, missing)
    assert holds(universe_of("not age < 4", SCHEMA), missing)


def test_numbers_match_codes_with_other_zeros_where_that_is_clear() -> None:
    assert (
        universe_of("age == 03", SCHEMA).canonical() == universe_of("age == 3", SCHEMA).canonical()
    )
    with pytest.raises(UnknownName):
        universe_of("age == 08", SCHEMA)


# ---------------------------------------------------------------- canonical form

Meaning = Callable[[Record], bool]


def _ages(text: str, lower: int, upper: int) -> tuple[str, Meaning]:
    return text, lambda record: lower <= record[0] <= upper


def _one_of(text: str, axis: int, positions: set[int]) -> tuple[str, Meaning]:
    return text, lambda record: record[axis] in positions


#: Comparisons, each with a meaning that does not come from the code under test.
ATOMS = [
    _ages("age < 3", 0, 2),
    _ages("age <= 2", 0, 2),
    _ages("3 > age", 0, 2),
    _ages("age@wide == '0-2'", 0, 2),
    _ages("age >= 6", 6, 7),
    _ages("age@wide in ('6+')", 6, 7),
    _ages("age@wide > 2", 3, 7),
    _ages("age in (4, 5)", 4, 5),
    _one_of("age == 99", 0, {8}),
    _one_of("area@parish == 'P'", 1, {0, 1}),
    _one_of("area in ('b', 'a')", 1, {0, 1}),
    _one_of("area != 'c'", 1, {0, 1}),
    _one_of("area == 'c'", 1, {2}),
    _one_of("sex == 1", 2, {0}),
    _one_of('sex not in ("it\'s", 2)', 2, {0}),
    _one_of("sex != 1", 2, {1, 2}),
]


def _both(pair: tuple[tuple[str, Meaning], tuple[str, Meaning]]) -> tuple[str, Meaning]:
    (left, first), (right, second) = pair
    return f"({left}) and ({right})", lambda record: first(record) and second(record)


def _either(pair: tuple[tuple[str, Meaning], tuple[str, Meaning]]) -> tuple[str, Meaning]:
    (left, first), (right, second) = pair
    return f"({left}) or ({right})", lambda record: first(record) or second(record)


def _negated(one: tuple[str, Meaning]) -> tuple[str, Meaning]:
    text, meaning = one
    return f"not ({text})", lambda record: not meaning(record)


CONDITIONS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(_both),
        st.tuples(inner, inner).map(_either),
        inner.map(_negated),
    ),
    max_leaves=6,
)


@given(CONDITIONS)
def test_a_universe_holds_exactly_the_records_for_which_the_condition_is_true(
    condition: tuple[str, Meaning],
) -> None:
    text, meaning = condition
    universe = universe_of(text, SCHEMA)
    assert [holds(universe, record) for record in RECORDS] == [
        meaning(record) for record in RECORDS
    ]


@given(CONDITIONS, CONDITIONS)
def test_canonical_forms_are_equal_exactly_if_the_same_records_belong(
    first: tuple[str, Meaning], second: tuple[str, Meaning]
) -> None:
    same = all(first[1](record) == second[1](record) for record in RECORDS)
    canonical = [universe_of(text, SCHEMA).canonical() for text, _ in (first, second)]
    assert (canonical[0] == canonical[1]) is same


@given(st.sampled_from(ATOMS), CONDITIONS, CONDITIONS)
def test_equivalent_spellings_have_one_canonical_form(
    atom: tuple[str, Meaning], first: tuple[str, Meaning], second: tuple[str, Meaning]
) -> None:
    a, b, c = atom[0], first[0], second[0]
    spellings = [
        (f"({a}) and (({b}) or ({c}))", f"(({c}) and ({a})) or (({b}) and ({a}))"),
        (f"not (({a}) or ({b}))", f"not ({b}) and not ({a})"),
        (f"({a}) or (({a}) and ({b}))", a),
    ]
    for left, right in spellings:
        assert universe_of(left, SCHEMA).canonical() == universe_of(right, SCHEMA).canonical()


def test_the_order_of_a_code_list_is_no_matter() -> None:
    turned = Schema(
        census=SCHEMA.census,
        entities=SCHEMA.entities,
        variables=tuple(
            Variable(name=variable.name, entity=variable.entity, codes=variable.codes[::-1])
            for variable in SCHEMA.variables[:2]
        ),
    )
    text = "age in (1, 5) or sex == 2"
    assert universe_of(text, SCHEMA).canonical() == universe_of(text, turned).canonical()


def test_a_universe_cannot_be_changed() -> None:
    universe = universe_of("sex == 1", SCHEMA)
    with pytest.raises(ValueError, match="read-only"):
        universe.truth[0] = np.True_
