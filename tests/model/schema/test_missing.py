"""Every stored variable with codes can be given a place for what is missing."""

from __future__ import annotations

from sdcensus.model.schema.code_lists import range_codes, tree_levels
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
from sdcensus.model.spec.declared_universes import UNKNOWN, with_missing_codes

TREE = tree_levels([Node("P"), Node("a", parent="P"), Node("b", parent="P")], ["parish"])
SCHEMA = Schema(
    census=CensusInfo(name="Census"),
    entities=(EntitySpec(entity=Entity.PERSON, id=("no",)),),
    variables=(
        Variable(
            name="area",
            entity=Entity.PERSON,
            codes=TREE.leaves,
            hierarchies=(Hierarchy("area", TREE.levels),),
        ),
        Variable(name="age", entity=Entity.PERSON, codes=range_codes(0, 3)),
        Variable(
            name="sex",
            entity=Entity.PERSON,
            codes=(Code("1"), Code("2"), Code("8", kind=CodeKind.NOT_APPLICABLE)),
        ),
        Variable(name="income", entity=Entity.PERSON, continuous=True),
        Variable(name="name", entity=Entity.PERSON, role=Role.DIRECT_IDENTIFIER),
    ),
)


def test_variables_without_a_missing_code_get_one_leaf_more_at_every_level() -> None:
    area = with_missing_codes(SCHEMA).variable("area")
    assert [code.code for code in area.codes] == ["a", "b", "_U"]
    assert [code.code for code in area.level("parish").codes] == ["P", "_U"]
    assert area.level("parish").group == (0, 0, 1)
    assert area.missing_position == 2
    assert with_missing_codes(SCHEMA).variable("age").codes == (*range_codes(0, 3), UNKNOWN)


def test_variables_with_a_missing_code_or_without_codes_stay_as_they_are() -> None:
    changed = with_missing_codes(SCHEMA)
    for name in ("income", "name"):
        assert changed.variable(name) == SCHEMA.variable(name)
    # "Not applicable" is no place for a value that nobody can read.
    assert [code.code for code in changed.variable("sex").codes] == ["1", "2", "8", "_U"]


def test_doing_it_twice_changes_nothing_more() -> None:
    once = with_missing_codes(SCHEMA)
    assert with_missing_codes(once) == once != SCHEMA
