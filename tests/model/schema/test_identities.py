"""Identities between units: which codes tie them, and which classes do not."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.model.schema.identities import (
    OpenTie,
    mixing_levels,
    number_of,
    open_in_menus,
    open_in_tables,
    remedy_sentence,
    tie_sentence,
    tied_parts,
    ties_of,
)
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Hierarchy, Level
from sdcensus.model.spec.table_spec import TableSpec
from tests.attack.housed import housed_schema, without_identities

SCHEMA = housed_schema()


def menus(schema: Schema, *levels: str, persons: bool = True) -> tuple[OpenTie, ...]:
    size = schema.variable("size")
    offered = {Entity.HOUSEHOLD: {"size": [size.level()]}}
    if persons:
        offered[Entity.PERSON] = {"size": [size.level(level) for level in levels], "sex": []}
        if not levels:
            del offered[Entity.PERSON]["size"]
    return open_in_menus(schema, offered)


def test_sizes_are_the_numbers_of_their_codes() -> None:
    sizes = {
        tie.times: tie.leaves[0][1] for tie in ties_of(SCHEMA) if tie.leaves[0][0].name == "size"
    }
    assert sorted(sizes) == [1, 2, 3, 4, 5]
    assert all(int(leaves.sum()) == 1 for leaves in sizes.values())
    [reference] = [tie for tie in ties_of(SCHEMA) if tie.leaves[0][0].name == "place"]
    assert (reference.times, reference.leaves[0][1].tolist()) == (1, [True, False])


@pytest.mark.parametrize(
    ("code", "number"),
    [
        (Code("03"), 3),
        (Code("x"), None),
        (Code("0"), None),
        (Code("²"), None),
        (Code("6"), None),
        (Code("98", kind=CodeKind.NOT_APPLICABLE), None),
        (Code("a", lower=4, upper=4), 4),
        (Code("a", lower=4, upper=5), None),
        (Code("a", lower=4, upper=None), None),
    ],
)
def test_a_code_says_a_single_number_or_none(code: Code, number: int | None) -> None:
    size = replace(SCHEMA.variable("size"), counts_open=("6",))
    assert number_of(size, code) == number


def test_single_sizes_are_refused_on_persons_where_households_are_offered() -> None:
    [tie] = menus(SCHEMA, "size")
    assert (tie.each, tie.holds, tie.variable) == (Entity.HOUSEHOLD, Entity.PERSON, "size")
    assert tie.codes == ("01", "02", "03", "04", "05")  # "06" is six and more
    assert tie.times == (1, 2, 3, 4, 5)
    assert tie.mixing == ("grouped", "shifted")
    assert "[variable.size]" in remedy_sentence(tie)
    assert "up to 25 more looks" in tie_sentence(tie)


def test_classes_that_mix_sizes_are_not_refused() -> None:
    assert menus(SCHEMA, "grouped") == ()
    assert menus(SCHEMA, "shifted") == ()
    assert menus(SCHEMA) == ()


def test_classes_that_mix_by_themselves_but_not_together_are() -> None:
    # 1 to 3 less 1 to 2 is 3, and 3 to 4 less that is 4.
    [tie] = menus(SCHEMA, "grouped", "shifted")
    assert tie.codes == ()
    assert tie.times == (3, 4)


def test_nothing_is_refused_where_one_of_the_units_is_not_offered_or_nothing_is_declared() -> None:
    assert menus(SCHEMA, "size", persons=False) == ()
    assert menus(without_identities(SCHEMA), "size") == ()
    size = SCHEMA.variable("size")
    assert open_in_menus(SCHEMA, {Entity.PERSON: {"size": [size.level()]}}) == ()


def test_a_code_that_is_said_to_be_open_mixes() -> None:
    closed = housed_schema(open_code=False)
    [tie] = menus(closed, "size")
    assert tie.codes[-1] == "06"


def specs(*tables: tuple[str, tuple[str, ...], str | None]) -> list[TableSpec]:
    return [
        TableSpec.build(SCHEMA, by, of=Entity(of), universe=where, name=f"t{at}")
        for at, (of, by, where) in enumerate(tables)
    ]


@pytest.mark.parametrize(
    ("table", "found"),
    [
        (("person", ("area", "size"), None), True),
        (("person", ("area", "size@grouped"), None), False),
        (("person", ("area",), "size == '02'"), True),
        # What a condition leaves out is the total less the rest.
        (("person", ("area",), "size != '02'"), True),
        (("person", ("area",), "size in ('01', '02')"), False),
        (("person", ("area", "size@grouped"), "size in ('01', '03', '04')"), True),
        (("person", ("area", "place"), None), True),
        (("person", ("area", "sex"), None), False),
        (("household", ("area", "tenure"), None), False),
    ],
)
def test_tables_of_a_plan(table: tuple[str, tuple[str, ...], str | None], found: bool) -> None:
    ties = open_in_tables(SCHEMA, specs(("household", ("area", "size"), None), table))
    assert bool(ties) is found
    if ties:
        assert ties[0].tables == ("t1",)
    # Without tables of households there is nothing that persons could be put beside.
    assert open_in_tables(SCHEMA, specs(table)) == ()


def test_classes_of_two_tables_are_taken_together() -> None:
    ties = open_in_tables(
        SCHEMA,
        specs(
            ("household", ("area",), None),
            ("person", ("size@grouped",), None),
            ("person", ("size@shifted",), None),
        ),
    )
    assert [tie.tables for tie in ties] == [("t1", "t2")]


def test_a_level_mixes_if_none_of_its_codes_is_of_one_number() -> None:
    size = SCHEMA.variable("size")
    found = mixing_levels(ties_of(SCHEMA), Entity.PERSON, size)
    assert [level.name for level in found] == ["grouped", "shifted"]


@given(st.data())
def test_some_sum_of_classes_is_of_tied_leaves_exactly_if_it_is_found(data: st.DataObject) -> None:
    """Brute force over small whole factors of all classes of two levels."""
    leaves = data.draw(st.integers(2, 5))
    groups = [
        tuple(np.unique(data.draw(st.lists(st.integers(0, 2), min_size=leaves, max_size=leaves)),
                        return_inverse=True)[1].tolist())
        for _ in range(2)
    ]  # fmt: skip
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=leaves, max_size=leaves))
    schema = housed_schema()
    codes = tuple(Code(f"c{at}", lower=size, upper=size) for at, size in enumerate(sizes))
    levels = [
        Level(f"l{at}", tuple(Code(f"g{n}") for n in range(max(group) + 1)), group)
        for at, group in enumerate(groups)
    ]
    variable = replace(
        schema.variable("size"),
        codes=codes,
        counts_open=(),
        hierarchies=tuple(Hierarchy(level.name, (level,)) for level in levels),
    )
    changed = replace(
        schema,
        variables=tuple(variable if one.name == "size" else one for one in schema.variables),
    )
    found = open_in_menus(changed, {Entity.HOUSEHOLD: {}, Entity.PERSON: {"size": levels}})
    classes = np.array(
        [[at == n for at in group] for group in groups for n in range(max(group) + 1)], dtype=int
    )
    by_hand = set()
    for factors in itertools.product((-1, 0, 1), repeat=len(classes)):
        summed = np.array(factors) @ classes
        if summed.any():
            held = {sizes[at] for at in np.flatnonzero(summed)}
            if len(held) == 1:
                by_hand |= held
    if by_hand:  # what factors of 1 find is found; others need larger factors
        assert found
        assert by_hand <= set(found[0].times)
    for tie in found:
        for times in tie.times:
            mask = np.array(sizes) == times
            assert np.linalg.matrix_rank(classes[:, ~mask]) < np.linalg.matrix_rank(classes)


def test_parts_within_leaves() -> None:
    leaves = np.array([True, True, False, True])
    assert tied_parts(leaves, np.array([0, 0, 1, 1])) == (0,)
    assert tied_parts(leaves, np.array([0, 1, 2, 3])) == (0, 1, 3)
    assert tied_parts(np.zeros(4, dtype=bool), np.array([0, 1, 2, 3])) == ()
