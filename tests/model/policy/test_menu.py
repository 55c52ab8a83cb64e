"""A menu allows what its limits allow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.policy.menu import Menu, MenuVariable, finest_first
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.testing.island import island_schema

SCHEMA = island_schema()


def offered(name: str, areas: tuple[tuple[str, tuple[str, ...]], ...] = ()) -> MenuVariable:
    variable = SCHEMA.variable(name)
    return MenuVariable(variable, finest_first(list(variable.levels())), areas)


def at(**levels: str) -> dict[str, Level]:
    return {name: SCHEMA.variable(name).level(level) for name, level in levels.items()}


MENU = Menu(
    Entity.PERSON,
    (
        offered("area"),
        offered("age"),
        offered("sex"),
        offered("married", (("area", ("district",)),)),
    ),
    dimensions=3,
    cells=200,
    never_together=((("age", "class"), ("married", "")),),
)


def test_variables_levels_and_dimensions_limit_a_menu() -> None:
    assert MENU.allows(at(area="parish", sex="sex"))
    assert MENU.allows({})
    assert not MENU.allows(at(area="parish", sex="sex", age="half", married="married"))
    assert not MENU.allows({"weight": SCHEMA.variable("sex").level()})


def test_totals_count_among_the_cells() -> None:
    # 8 areas with their total, 11 ages, 3 sexes: 264 cells
    assert not MENU.allows(at(area="parish", age="age", sex="sex"))
    assert MENU.allows(at(area="parish", age="half", sex="sex"))


def test_a_variable_can_need_coarser_areas() -> None:
    assert not MENU.allows(at(area="parish", married="married"))
    assert MENU.allows(at(area="district", married="married"))


def test_a_forbidden_level_forbids_all_that_are_not_coarser() -> None:
    assert not MENU.allows(at(age="class", married="married"))
    assert not MENU.allows(at(age="age", married="married"))
    # Halves do not nest in classes, so they could show parts of them.
    assert not MENU.allows(at(age="half", married="married"))
    assert MENU.allows(at(age="half", sex="sex"))
    areas = replace(MENU, never_together=((("area", "parish"), ("sex", "")),))
    assert not areas.allows(at(area="parish", sex="sex"))
    assert areas.allows(at(area="district", sex="sex"))


def test_what_is_not_on_the_menu_is_refused_by_name() -> None:
    with pytest.raises(UnknownName, match="sex"):
        MENU.variable("sexx")
    with pytest.raises(SpecError):
        Menu(Entity.PERSON, (), 0)
    assert MENU.geography is not None
    assert MENU.geography.variable.name == "area"
