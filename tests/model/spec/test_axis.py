"""Axes: any levels of a variable, in any order, and what they add up from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role, Variable
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis, parse_axis
from sdcensus.model.text import Text
from sdcensus.testing.strategies import axis_texts, variables

PARISH = Level("parish", (Code("P1"), Code("P2")), (0, 0, 1, 1))
DISTRICT = Level("district", (Code("D"),), (0, 0, 0, 0))
SEATS = Level("seat", (Code("S1"), Code("S2")), (0, 1, 0, 1))
ED = Variable(
    name="ed",
    entity=Entity.HOUSEHOLD,
    codes=tuple(Code(f"E{at}", Text.of(f"area {at}")) for at in range(4)),
    hierarchies=(Hierarchy("areas", (PARISH, DISTRICT)), Hierarchy("votes", (SEATS,))),
)


def axis(text: str) -> Axis:
    return parse_axis(text, {"ed": ED}.__getitem__)


def codes(text: str) -> list[str]:
    return [code.code for code in axis(text).codes]


def test_the_grammar_of_axes() -> None:
    leaves = ["E0", "E1", "E2", "E3"]
    assert codes("ed") == [*leaves, TOTAL]
    assert codes("ed+total") == [*leaves, TOTAL]
    assert codes("ed-total") == leaves
    assert codes("ed@parish") == ["P1", "P2", TOTAL]
    assert codes("ed@parish+district-total") == ["P1", "P2", "D"]
    assert codes("ed@district+ed-total") == [*leaves, "D"]
    assert codes(" ed @ parish + seat - total ") == ["P1", "P2", "S1", "S2"]
    assert codes("ed@parish+parish-total") == ["P1", "P2"]


def test_finest_levels_come_first_whatever_the_order_asked_for() -> None:
    assert codes("ed@district+parish+ed") == codes("ed@ed+parish+district")


@pytest.mark.parametrize(
    "text", ["", "@", "ed@", "ed@@parish", "ed parish", "ed@parish+", "ed/sex"]
)
def test_what_is_no_axis_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(SpecError, match=r"Write variable\[@level\]"):
        axis(text)


def test_unknown_levels_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'parish'"):
        axis("ed@parrish")
    with pytest.raises(SpecError, match="only the total can be taken away"):
        axis("ed-parish")
    with pytest.raises(UnknownName, match="There is no code 'P9'"):
        axis("ed@parish").position("P9")


def test_a_variable_without_codes_is_no_axis() -> None:
    amount = Variable(name="rent", entity=Entity.HOUSEHOLD, continuous=True)
    with pytest.raises(SpecError, match="continuous; give it levels"):
        parse_axis("rent", {"rent": amount}.__getitem__)
    name = Variable(name="name", entity=Entity.PERSON, role=Role.DIRECT_IDENTIFIER, codes=ED.codes)
    with pytest.raises(SpecError, match="no code list that is stored"):
        parse_axis("name", {"name": name}.__getitem__)


def test_nested_levels_add_up_from_the_finest_of_them() -> None:
    nested = axis("ed@parish+district")
    assert nested.base.tolist() == [0, 0, 1, 1]
    assert nested.base_size == 2
    assert nested.base_is_shown


def test_levels_that_do_not_nest_add_up_from_their_common_refinement() -> None:
    crossed = axis("ed@parish+seat")
    assert crossed.base_size == 4
    assert not crossed.base_is_shown


def test_a_refinement_with_as_many_groups_as_a_level_is_not_that_level() -> None:
    """A level with a code that no leaf has may by chance be as large as the refinement."""
    wide = Level("wide", (Code("a"), Code("b"), Code("c")), (0, 0, 1))
    other = Level("other", (Code("x"), Code("y")), (0, 1, 1))
    variable = Variable(
        name="v",
        entity=Entity.PERSON,
        codes=(Code("1"), Code("2"), Code("3")),
        hierarchies=(Hierarchy("one", (wide,)), Hierarchy("two", (other,))),
    )
    made = make_axis(variable, [wide, other], total=False)
    assert made.base_size == 3
    assert made.blocks[0].group[made.base].tolist() == [0, 0, 1]
    assert made.blocks[1].group[made.base].tolist() == [0, 1, 1]


@given(st.data(), variables("v", Entity.PERSON, Entity.PERSON))
def test_every_leaf_reaches_its_code_through_its_base_group(
    data: st.DataObject, variable: Variable
) -> None:
    made = parse_axis(data.draw(axis_texts(variable)), {"v": variable}.__getitem__)
    assert len(made.codes) == sum(block.size for block in made.blocks)
    for block in made.blocks:
        shown = [code.level for code in made.codes[block.start : block.start + block.size]]
        assert set(shown) == {block.level}
        expected = (
            np.zeros(len(variable.codes))
            if block.level == TOTAL
            else variable.level(block.level).group_array
        )
        assert np.array_equal(block.group[made.base], expected)
        assert not block.group.flags.writeable
    assert not made.base.flags.writeable
    first = made.levels[0]
    if all(first.refines(level) for level in made.levels):
        assert made.base_is_shown
        assert made.base_size == len(first.codes)


@given(st.data(), variables("v", Entity.PERSON, Entity.PERSON))
def test_the_shortest_form_of_an_axis_means_the_same(
    data: st.DataObject, variable: Variable
) -> None:
    lookup = {"v": variable}.__getitem__
    made = parse_axis(data.draw(axis_texts(variable)), lookup)
    again = parse_axis(made.name, lookup)
    assert again.canonical() == made.canonical()
    assert again.codes == made.codes


def test_the_canonical_form_knows_groups_of_leaves_and_no_names() -> None:
    same = Level("commune", (Code("second"), Code("first")), (1, 1, 0, 0))
    twin = Variable(
        name="ed",
        entity=Entity.HOUSEHOLD,
        codes=ED.codes,
        hierarchies=(Hierarchy("h", (same,)),),
    )
    named = parse_axis("ed@commune", {"ed": twin}.__getitem__)
    assert named.canonical() == axis("ed@parish").canonical()
    assert named.canonical() != axis("ed@parish-total").canonical()
    assert named.canonical() != axis("ed@seat").canonical()
