from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.policy.sections import parse_record_set
from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.policy.policy import (
    PRESETS,
    AtLevel,
    Decided,
    DesignRules,
    Detail,
    DetailOf,
    Limits,
    NotOffered,
    OneHousehold,
    OnlineRules,
    Policy,
    PolicyProblems,
    RecordSet,
    RoleRules,
    UserRole,
    VariableRule,
    WhenSparse,
    menu_of,
)
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.variable import Code, Entity, Variable
from sdcensus.model.spec.levels_told_apart import (
    coarser_or_equal,
    strictly_coarser,
    unfiltered,
    uses_of,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import island_schema

SCHEMA = island_schema()


def policy(**rules: Any) -> Policy:
    return Policy(name="test", schema=SCHEMA, **rules)


def spec(*by: str, where: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=where)


def problem(**rules: Any) -> str:
    with pytest.raises(PolicyProblems) as found:
        policy(**rules)
    return str(found.value)


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ({"limits": Limits(dimensions=0)}, "'dimensions' should be a whole number, 1 or more"),
        ({"limits": Limits(cells=-4)}, "'cells' should be a whole number"),
        ({"online": OnlineRules(mean_cell_size=-1)}, "'mean_cell_size' should be a number"),
        ({"online": OnlineRules(mean_cell_size=float("inf"))}, "'mean_cell_size' should be"),
        ({"online": OnlineRules(ones=float("nan"))}, "'ones' is a share"),
        ({"online": OnlineRules(ones_and_twos=1.5)}, "'ones_and_twos' is a share"),
        ({"online": OnlineRules(recovery=0)}, "'recovery' is a chance above 0 and below 1"),
        ({"online": OnlineRules(recovery=1)}, "'recovery' is a chance above 0 and below 1"),
        ({"online": OnlineRules(when_sparse=WhenSparse.C)}, "say from when on, by mean_cell_size"),
        (
            {
                "online": OnlineRules(mean_cell_size=2, when_sparse=WhenSparse.C),
                "exempt": (RecordSet("x", Entity.PERSON, ("area",)),),
            },
            "'c' cannot go with totals that are published exactly",
        ),
        ({"variables": (VariableRule(variable="agee"),)}, "Did you mean 'age'"),
        ({"variables": (VariableRule(variable="weight"),)}, "Tables cannot be made by 'weight'"),
        (
            {"variables": (VariableRule(variable="age", finest_level="clas"),)},
            "There is no level 'clas'. Did you mean 'class'",
        ),
        (
            {"variables": (VariableRule(variable="age", finest_area=AtLevel("sex")),)},
            "There is no geography 'sex'",
        ),
        (
            {"variables": (VariableRule(variable="age", finest_area=AtLevel("area", "province")),)},
            "There is no level 'province'",
        ),
        ({"never_together": ((AtLevel("age"),),)}, "two or more different variables"),
        ({"never_together": ((AtLevel("age"), AtLevel("sexx")),)}, "Did you mean 'sex'?"),
        (
            {"never_together": ((AtLevel("age", "decade"), AtLevel("sex")),)},
            "There is no level 'decade'",
        ),
        ({"roles": (RoleRules(role=UserRole.PUBLIC, online=False),)}, "cannot be off"),
        ({"roles": (RoleRules(role=UserRole.STAFF, cells=0),)}, "'cells' should be"),
        ({"design": DesignRules(minimum_population=-1)}, "'minimum_population' should be"),
        ({"design": DesignRules(one_household_cells=OneHousehold.WITHHOLD)}, "has no households"),
        (
            {"design": DesignRules(detail=(Detail(population=10, levels=(AtLevel("sex"),)),))},
            "has no coarser level",
        ),
        (
            {
                "design": DesignRules(
                    detail=(
                        Detail(population=0, levels=(AtLevel("age"),)),
                        Detail(population=10, levels=(AtLevel("age", "class"),)),
                    )
                )
            },
            "is finer than age@class, which larger areas get",
        ),
        (
            {"decided": Decided(not_offered=(NotOffered(AtLevel("area", "parish"), ("P9",)),))},
            "There is no code 'P9'",
        ),
        (
            {"decided": Decided(detail=(DetailOf(AtLevel("sex"), ("0",), (AtLevel("age"),)),))},
            "There is no geography 'sex'",
        ),
    ],
)
def test_rules_that_contradict_the_census_or_each_other_are_refused(
    rules: dict[str, Any], text: str
) -> None:
    assert text in problem(**rules)


def test_all_problems_are_told_at_once() -> None:
    text = problem(limits=Limits(dimensions=0, cells=0), online=OnlineRules(recovery=2))
    assert text.count("should be a whole number") == 2
    assert "'recovery'" in text


def test_options_are_words_of_their_lists() -> None:
    with pytest.raises(UnknownName, match=r"There is no role 'publik'\. Did you mean 'public'"):
        RoleRules(role="publik")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="'withhold-area'"):
        OnlineRules(when_sparse="withhold area")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="There is no role 'nobody'"):
        policy().role("nobody")


def test_a_role_changes_what_the_policy_says_and_nothing_else() -> None:
    made = policy(
        limits=Limits(dimensions=5, cells=1000),
        online=OnlineRules(mean_cell_size=2),
        roles=(
            RoleRules(role=UserRole.REGISTERED, dimensions=6),
            RoleRules(role=UserRole.PRODUCTION, cells=10**6, online=False),
        ),
    )
    assert (made.role("public").dimensions, made.role("public").cells) == (5, 1000)
    assert (made.role("registered").dimensions, made.role("registered").cells) == (6, 1000)
    assert made.online_for("registered") == made.online
    assert made.online_for("production") == OnlineRules()


def test_presets_have_the_published_limits() -> None:
    """New Zealand 2 for each geographic unit, the United Kingdom 1, the United States 3."""
    assert (PRESETS["NZ"].mean_cell_size, PRESETS["NZ"].below) == (2, 6)
    assert PRESETS["UK"].mean_cell_size_of_table == 1
    assert PRESETS["US"].mean_cell_size_of_table == 3


# ---------------------------------------------------------------------------------------- menus


def test_a_menu_has_the_offered_variables_at_their_levels() -> None:
    made = policy(
        limits=Limits(dimensions=3, cells=500),
        variables=(
            VariableRule(variable="married", offered=False),
            VariableRule(variable="age", finest_level="class"),
            VariableRule(variable="sex", finest_area=AtLevel("area", "district")),
        ),
        never_together=((AtLevel("age"), AtLevel("area", "parish")),),
    )
    menu = menu_of(made, SCHEMA)
    assert [variable.variable.name for variable in menu.variables] == ["area", "sex", "age"]
    assert [level.name for level in menu.variable("age").levels] == ["class"]
    assert [level.name for level in menu.variable("area").levels] == ["parish", "district"]
    assert menu.variable("sex").finest_areas == (("area", ("district",)),)
    assert (menu.dimensions, menu.cells) == (3, 500)
    age, area, sex = (menu.variable(name) for name in ("age", "area", "sex"))
    district = area.levels[1]
    assert menu.allows({"age": age.levels[0], "area": district})
    assert not menu.allows({"age": age.levels[0], "area": area.levels[0]})
    assert not menu.allows({"sex": sex.levels[0], "area": area.levels[0]})


def test_a_menu_without_limit_has_all_variables_together() -> None:
    assert menu_of(policy(), SCHEMA).dimensions == 4


def test_a_menu_of_nothing_is_refused() -> None:
    hidden = tuple(
        VariableRule(variable=name, offered=False) for name in ("area", "sex", "age", "married")
    )
    with pytest.raises(SpecError, match="offers no variable of persons"):
        menu_of(policy(variables=hidden), SCHEMA)


def test_squares_of_a_grid_do_not_stand_beside_a_variable_with_a_finest_area() -> None:
    squares = Variable(name="square", entity=Entity.PERSON, codes=(Code("a"), Code("b")))
    schema = replace(
        SCHEMA,
        variables=(*SCHEMA.variables, squares),
        grids=(GridSpec("square", "x", "y", 3035, 1000, (0, 0, 2000, 1000)),),
    )
    rule = VariableRule(variable="sex", finest_area=AtLevel("area", "district"))
    menu = menu_of(Policy(name="grid", schema=schema, variables=(rule,)), schema)
    assert menu.variable("sex").finest_areas == (("area", ("district",)), ("square", ()))
    levels = {variable.variable.name: variable.levels[-1] for variable in menu.variables}
    assert menu.allows({"sex": levels["sex"], "area": levels["area"]})
    assert not menu.allows({"sex": levels["sex"], "square": levels["square"]})


def test_a_level_of_which_no_code_is_offered_is_not_on_the_menu() -> None:
    codes = tuple(code.code for code in SCHEMA.variable("area").codes)
    hidden = Decided(not_offered=(NotOffered(AtLevel("area", "parish"), codes),))
    menu = menu_of(policy(decided=hidden), SCHEMA)
    assert [level.name for level in menu.variable("area").levels] == ["district"]


# ------------------------------------------------------------------------- what a table tells


def test_a_variable_that_is_axis_and_filter_is_used_once() -> None:
    uses = uses_of(spec("area", "sex", where="sex == 1 and age >= 3"))
    assert [use.variable.name for use in uses] == ["area", "sex", "age"]


def test_a_condition_is_said_at_the_coarsest_level_that_can() -> None:
    levels = {
        "age < 3": "class",
        "age < 5": "half",
        "age < 4": "age",
        "age@class in ('c0', 'c2')": "class",
    }
    for where, level in levels.items():
        (use,) = uses_of(spec(where=where))
        assert use.condition_level is not None
        assert use.condition_level.name == level


def test_an_axis_cut_by_a_condition_tells_more_than_either() -> None:
    (use,) = uses_of(spec("age@class", where="age < 5"))
    parts = use.partitions[0]
    assert len(np.unique(parts)) == 4  # the class from 3 to 6 is cut at 5
    assert strictly_coarser(SCHEMA.variable("age").level("class").group_array, parts)


def test_the_table_without_its_condition_has_the_condition_as_axes() -> None:
    made = unfiltered(spec("area@district-total", "age@half", where="sex == 1 and age < 5"))
    assert [axis.name for axis in made.axes] == ["area@district", "age@half", "sex"]
    assert made.universe.everything
    same = spec("area", "age")
    assert unfiltered(same) == same


LEVELS = [level.group_array for level in SCHEMA.variable("age").levels()]


@given(st.sampled_from(LEVELS), st.sampled_from(LEVELS))
def test_coarser_means_that_no_group_is_cut(one: Any, other: Any) -> None:
    expected = all(len(set(one[other == group])) == 1 for group in set(other.tolist()))
    assert coarser_or_equal(one, other) is expected


# --------------------------------------------------------------------------------- record sets


@pytest.mark.parametrize(
    ("text", "of", "by", "where"),
    [
        ("usual residents by district", Entity.PERSON, ("area@district",), ""),
        ("area@district", Entity.PERSON, ("area@district",), ""),
        ("by sex", Entity.PERSON, ("sex",), ""),
        ("persons by parish, sex", Entity.PERSON, ("area@parish", "sex"), ""),
        ("People by area where age >= 3", Entity.PERSON, ("area",), "age >= 3"),
    ],
)
def test_exempt_totals_are_said_in_words(
    text: str, of: Entity, by: tuple[str, ...], where: str
) -> None:
    assert parse_record_set(text, SCHEMA) == RecordSet(text, of, by, where)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("residents by distric", "Did you mean 'district'"),
        ("cows by district", "There is no kind of unit 'cows'"),
        ("households by district", "There is no kind of unit 'households'"),
        ("persons by sex where agee > 3", "There is no variable 'agee'"),
        ("", "names no axis"),
    ],
)
def test_exempt_totals_that_cannot_be_understood_are_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        parse_record_set(text, SCHEMA)
