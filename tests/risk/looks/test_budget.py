from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.policy.menu import Menu, MenuVariable, finest_first
from sdcensus.model.schema.schema import DeclaredUniverse
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role, Variable
from sdcensus.model.spec.declared_universes import set_condition, with_universe
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.looks import axis as looks_axis
from sdcensus.risk.looks.axis import axis_forms
from sdcensus.risk.looks.budget import look_budget, look_budget_of_tables, looks_at
from sdcensus.risk.looks.chance import hypercube_looks
from sdcensus.testing.island import island_schema
from tests.examples import at_least
from tests.risk.least_squares import (
    cell_of,
    cells_of_menu,
    cells_of_tables,
    indicator,
    least_squares_looks,
)

SCHEMA = island_schema()


def variable(name: str, groups: tuple[int, ...], *, area: bool = False) -> Variable:
    """Leaves, and one coarser level if they fall into fewer groups."""
    levels: tuple[Level, ...] = ()
    size = max(groups) + 1
    if 1 < size < len(groups):
        levels = (Level(f"{name}_coarse", tuple(Code(str(at)) for at in range(size)), groups),)
    return Variable(
        name=name,
        entity=Entity.PERSON,
        codes=tuple(Code(str(at)) for at in range(len(groups))),
        hierarchies=(Hierarchy("tree", levels),) if levels else (),
        role=Role.GEOGRAPHY if area else None,
    )


def on_menu(*variables: Variable, dimensions: int, **limits: object) -> Menu:
    offered = tuple(
        MenuVariable(variable, finest_first(tuple(variable.levels()))) for variable in variables
    )
    return Menu(Entity.PERSON, offered, dimensions, **limits)  # type: ignore[arg-type]


def flat(*sizes: int) -> list[Variable]:
    return [variable(f"v{at}", tuple(range(size))) for at, size in enumerate(sizes)]


@pytest.mark.parametrize(
    ("cell", "looks", "naive"),
    [((0, 1), 7.06, 3.53), ((0, 2), 8.47, 3.23), ((0, 1, 2), 3.74, 1.00)],
)
def test_ten_variables_in_tables_of_three(
    cell: tuple[int, ...], looks: float, naive: float
) -> None:
    """Found by solving the whole lattice; counting 1/k of a look for k parts says half of it."""
    sizes = (2, 5, 2, 3, 4, 2, 6, 3, 5, 4)
    menu = on_menu(*flat(*sizes), dimensions=3)
    found = looks_at(menu, {f"v{at}": f"v{at}" for at in cell})
    assert found.exact
    assert found.looks == pytest.approx(looks, abs=0.005)
    others = [1 / size for at, size in enumerate(sizes) if at not in cell]
    room = 3 - len(cell)
    added_up = 1 + (sum(others) if room else 0)
    assert added_up == pytest.approx(naive, abs=0.005)
    # The simple bound: n / (n - 1) for each variable of the cell.
    bound = added_up * math.prod(sizes[at] / (sizes[at] - 1) for at in cell)
    assert added_up < found.looks <= bound


@given(st.lists(st.integers(2, 9), min_size=1, max_size=5))
def test_one_full_hypercube_has_the_product_of_one_plus_one_over_n(sizes: list[int]) -> None:
    menu = on_menu(*flat(*sizes), dimensions=len(sizes))
    assert looks_at(menu, {}).looks == pytest.approx(hypercube_looks(sizes))
    # A code of a variable and its total: the code is also the total without all the others.
    first = sizes[0]
    own = 1 / (1 - 1 / first + 1 / first**2 / (1 + 1 / first))
    expected = own * hypercube_looks(sizes[1:])
    assert looks_at(menu, {"v0": "v0"}).looks == pytest.approx(expected)


def test_the_five_way_table_of_saint_kitts_has_two_looks() -> None:
    # ECLAC 2020: 97 ages, 2 sexes, 10 ethnic groups, 14 parishes, 6 places of birth; 162,960 cells.
    sizes = [97, 2, 10, 14, 6]
    assert math.prod(sizes) == 162_960
    assert hypercube_looks(sizes) == pytest.approx(2.08, abs=0.005)


def test_more_variables_in_a_table_are_elementary_symmetric_sums() -> None:
    sizes = (2, 3, 4, 5, 6)
    shares = [1 / size for size in sizes]
    for most in range(1, 5):
        expected = math.fsum(
            math.prod(chosen)
            for number in range(most + 1)
            for chosen in itertools.combinations(shares, number)
        )
        menu = on_menu(*flat(*sizes), dimensions=most)
        assert looks_at(menu, {}).looks == pytest.approx(expected)


def test_a_code_with_one_child_has_no_look_through_it() -> None:
    # Two districts: one of three parishes, one of a single parish.
    area = variable("area", (0, 0, 0, 1), area=True)
    menu = on_menu(area, dimensions=1)
    alone = looks_at(menu, {"area": "area_coarse"}, {"area": "1"})
    divided = looks_at(menu, {"area": "area_coarse"}, {"area": "0"})
    # Its own value, and the country (1) without the other district, which has 1 + 1/3 looks.
    assert alone.looks == pytest.approx(1 + 1 / (1 + 3 / 4))
    # Its own value, three parishes, and the country without the other district.
    assert divided.looks == pytest.approx(1 + 1 / 3 + 1 / (1 + 1))
    assert looks_at(menu, {"area": "area_coarse"}).looks == divided.looks
    assert looks_at(menu, {"area": "area"}, {"area": "3"}).looks == pytest.approx(alone.looks)


def brute_force(menu: Menu, chosen: Mapping[str, Level], codes: Mapping[str, str]) -> float:
    """All allowed tables at once, by least squares."""
    variables = [variable.variable for variable in menu.variables]
    shape = [len(variable.codes) for variable in variables]
    target = cell_of(variables, chosen, codes)
    return least_squares_looks(cells_of_menu(menu), target, shape)


@st.composite
def menus(draw: st.DrawFn) -> Menu:
    variables = []
    for at in range(draw(st.integers(1, 4))):
        groups = draw(st.lists(st.integers(0, 2), min_size=2, max_size=5 if at < 2 else 3))
        order = sorted(set(groups))
        groups = sorted(order.index(group) for group in groups)
        variables.append(variable(f"v{at}", tuple(groups), area=at == 0))
    never = []
    names = [variable.name for variable in variables]
    if len(names) > 1 and draw(st.booleans()):
        pair = draw(st.permutations(names))[:2]
        never.append(
            tuple(
                (name, draw(st.sampled_from(["", *(level.name for level in variable.levels())])))
                for name in pair
                for variable in variables
                if variable.name == name
            )
        )
    menu = on_menu(*variables, dimensions=draw(st.integers(1, 4)), never_together=tuple(never))
    if draw(st.booleans()) and len(names) > 1:
        coarse = [level.name for level in variables[0].levels()][-1]
        last = menu.variables[-1]
        finest = (("v0", (coarse,)),)
        offered = (*menu.variables[:-1], MenuVariable(last.variable, last.levels, finest))
        menu = Menu(menu.of, offered, menu.dimensions, menu.cells, menu.never_together)
    return menu


@settings(max_examples=at_least(80))
@given(menus(), st.data())
def test_looks_are_those_of_least_squares(menu: Menu, data: st.DataObject) -> None:
    """Exactly, where variables may stand at all their levels; never fewer, where they may not."""
    number = data.draw(st.integers(0, min(2, len(menu.variables))))
    of = data.draw(st.permutations(menu.variables))[:number]
    chosen = {one.variable.name: data.draw(st.sampled_from(one.levels)) for one in of}
    codes = {
        name: data.draw(st.sampled_from([code.code for code in level.codes]))
        for name, level in chosen.items()
    }
    if not menu.allows(chosen):
        with pytest.raises(SpecError, match="no table"):
            looks_at(menu, chosen, codes)
        return
    found = looks_at(menu, chosen, codes)
    expected = brute_force(menu, chosen, codes)
    if found.exact:
        assert found.looks == pytest.approx(expected)
    else:
        assert found.looks >= expected - 1e-9
    assert looks_at(menu, chosen).looks >= found.looks - 1e-9
    if not menu.never_together and not any(variable.finest_areas for variable in menu.variables):
        assert found.exact


@given(menus())
def test_the_budget_names_the_worst_cell_of_each_level(menu: Menu) -> None:
    try:
        budget = look_budget(menu)
    except SpecError:
        assert not any(
            menu.allows({variable.variable.name: level})
            for variable in menu.variables
            for level in variable.levels
        )
        return
    for row in budget.levels:
        names = [text.partition("@") for text in ([row.area] if row.area else []) + list(row.axes)]
        chosen = {name: level or name for name, _, level in names}
        assert looks_at(menu, chosen).looks == pytest.approx(row.looks)
    # No other cell with an area and one variable has more.
    assert budget.asked.looks <= budget.worst.looks
    # Areas as a whole are asked for like any other cell; only everybody is not.
    assert all(level.looks <= budget.asked.looks for level in budget.levels if level.area)
    others = [variable for variable in menu.variables if variable != menu.geography]
    for area in [] if menu.geography is None else [menu.geography]:
        for level in area.levels:
            for other in others:
                for fine in other.levels:
                    chosen_levels = {area.variable.name: level, other.variable.name: fine}
                    if menu.allows(chosen_levels):
                        most = looks_at(menu, chosen_levels).looks
                        assert most <= budget.asked.looks + 1e-9


def test_thirty_variables_with_four_more_in_a_table_take_a_moment() -> None:
    variables = [
        variable(f"v{at}", tuple(leaf // 2 for leaf in range(6 + at % 5))) for at in range(29)
    ]
    area = variable("area", tuple(leaf // 4 for leaf in range(100)), area=True)
    menu = on_menu(area, *variables, dimensions=5)
    budget = look_budget(menu)
    assert budget.asked.looks > 100
    # Combinations that no table has anyway change nothing, though every table is gone through.
    free = on_menu(area, *variables, dimensions=3)
    wide = on_menu(
        area,
        *variables,
        dimensions=3,
        never_together=((("v0", ""), ("v1", ""), ("v2", ""), ("v3", "")),),
    )
    pair = on_menu(area, *variables, dimensions=3, never_together=((("v0", ""), ("v1", "")),))
    cell = {"area": "area"}
    assert looks_at(wide, cell).looks == pytest.approx(looks_at(free, cell).looks)
    assert looks_at(pair, cell).looks < looks_at(free, cell).looks
    assert looks_at(pair, cell).exact


def test_the_largest_number_of_cells_does_not_count() -> None:
    """A larger table can be asked for area by area."""
    variables = flat(4, 5, 6)
    small = look_budget(on_menu(*variables, dimensions=3, cells=40))
    assert small == look_budget(on_menu(*variables, dimensions=3))


def test_menus_without_the_cell_are_refused() -> None:
    menu = on_menu(*flat(2, 3), dimensions=1)
    with pytest.raises(SpecError, match="no table by v0, v1"):
        looks_at(menu, {"v0": "v0", "v1": "v1"})
    with pytest.raises(UnknownName, match="v9"):
        looks_at(menu, {"v9": "v9"})
    with pytest.raises(UnknownName, match="code"):
        looks_at(menu, {"v0": "v0"}, {"v0": "7"})


# ------------------------------------------------------------------------------------ tables


def table(*by: str, where: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=where)


def worst(*specs: TableSpec, own: int = 2) -> dict[str, float]:
    (budget,) = look_budget_of_tables(specs, own=own)
    return {level.title: level.looks for level in budget.levels}


AXES = [variable for variable in SCHEMA.variables if variable.is_axis]


def solved(specs: list[TableSpec], chosen: Mapping[str, str], codes: Mapping[str, str]) -> float:
    """The looks at a cell of some tables, by least squares."""
    levels = {name: SCHEMA.variable(name).level(level) for name, level in chosen.items()}
    target = cell_of(AXES, levels, codes)
    shape = [len(one.codes) for one in AXES]
    return least_squares_looks(cells_of_tables(specs, AXES), target, shape)


@st.composite
def tables(draw: st.DrawFn) -> list[TableSpec]:
    found = []
    choices = ("area", "area@district", "area@parish+district", "sex", "age@class", "married")
    wheres = (None, None, None, "sex == 1", "age >= 3", "age < 5 and married == 1")
    for _ in range(draw(st.integers(1, 3))):
        by: dict[str, str] = {}
        for text in draw(st.sets(st.sampled_from(choices), min_size=1, max_size=3)):
            total = "-total" if draw(st.integers(0, 4)) == 0 else ""
            by.setdefault(text.partition("@")[0], f"{text}{total}")
        found.append(table(*by.values(), where=draw(st.sampled_from(wheres))))
    return found


@settings(max_examples=at_least(25))
@given(tables())
def test_no_cell_of_a_plan_has_more_looks_than_its_budget_says(specs: list[TableSpec]) -> None:
    shape = [len(one.codes) for one in AXES]
    shown = cells_of_tables(specs, AXES)
    equations = np.stack([indicator(one, shape) for one in shown])
    # The variance of the best estimate of a published cell is its leverage.
    left, size_of, _ = np.linalg.svd(equations, full_matrices=False)
    variance = (left[:, size_of > 1e-9] ** 2).sum(axis=1)
    most = max(
        1 / float(own)
        for own, cell in zip(variance, shown, strict=True)
        if any(len(leaves) < size for leaves, size in zip(cell, shape, strict=True)) or own == 1
    )
    (budget,) = look_budget_of_tables(specs, own=3)
    assert budget.asked.looks >= most - 1e-6
    # The bound is no wild guess.
    assert budget.worst.looks <= 1.5 * max(1 / float(own) for own in variance)
    if budget.worst.exact:
        assert budget.worst.looks == pytest.approx(max(1 / float(own) for own in variance))


def test_a_table_of_a_plan_has_the_looks_of_its_own_margins() -> None:
    # Seven parishes, two sexes, two groups, with totals: each variable by itself and its total.
    two = 1 / (1 - 1 / 2 + 1 / 4 / (1 + 1 / 2))
    seven = 1 / (1 - 1 / 7 + 1 / 49 / (1 + 1 / 7))
    found = worst(table("area", "sex", "married"))
    assert found["area"] == pytest.approx(seven * hypercube_looks([2, 2]))
    assert found["area, sex"] == pytest.approx(seven * two * 1.5)
    assert found["area, married, sex"] == pytest.approx(seven * two * two)
    assert found["everything"] == pytest.approx(hypercube_looks([7, 2, 2]))
    specs = [table("area", "sex", "married")]
    cell = {"area": "P1", "sex": "1"}
    assert solved(specs, {"area": "area", "sex": "sex"}, cell) == pytest.approx(seven * two * 1.5)


def test_the_same_table_twice_is_one_look() -> None:
    once = worst(table("area", "sex"))
    assert worst(table("area", "sex"), table("sex", "area")) == once
    assert worst(table("area", "sex"), table("area")) == once


def test_levels_of_an_area_look_at_each_other() -> None:
    specs = [table("area@parish+district", "sex")]
    found = worst(*specs)
    codes = [code.code for code in SCHEMA.variable("area").level("district").codes]
    most = max(solved(specs, {"area": "district"}, {"area": code}) for code in codes)
    assert found["area@district"] == pytest.approx(most)


def test_a_filter_is_the_same_records_as_a_code() -> None:
    axis = table("area", "sex", "married")
    filtered = table("area", "married", where="sex == 1")
    assert max(worst(axis, filtered).values()) == pytest.approx(max(worst(axis).values()))
    found = worst(axis, filtered)
    assert found["area, sex"] == pytest.approx(worst(axis)["area, sex"])
    # By itself it looks at the filtered cells only, not at everybody.
    alone = worst(filtered)
    one_sex = worst(table("area", "married"))
    assert alone["area, sex (filtered)"] == pytest.approx(one_sex["area"], rel=1e-6)
    assert "area" not in alone


def test_tables_of_some_ages_do_not_add_up_to_all() -> None:
    adults = table("area", "age", where="age >= 3")
    found = worst(table("area"), adults)
    assert found["area"] == pytest.approx(worst(table("area"))["area"], rel=0.02)
    # A parish of people of three and over, by seven ages and as their sum.
    alone = worst(table("area-total", "age", where="age >= 3"))
    ages = 1 / (1 - 1 / 7 + 1 / 49 / (1 + 1 / 7))
    assert alone == pytest.approx({"area, age": max(ages, 1 + 1 / 7)}, rel=1e-5) or alone == (
        pytest.approx({"area, age (filtered)": 1 + 1 / 7}, rel=1e-5)
    )


def test_another_kind_of_condition_is_compared_with_itself_only() -> None:
    either = "age < 3 or sex == 1"
    found = worst(table("area", "married", where=either), table("area", "sex"))
    assert found["area"] == pytest.approx(worst(table("area", "sex"))["area"])


def test_weighted_tables_are_the_looks_of_their_counts() -> None:
    """The noise is that of the count, so that both together are one look."""
    weighted = TableSpec.build(SCHEMA, ["sex"], measure="weighted")
    assert worst(weighted) == worst(table("sex"))
    assert worst(table("sex"), weighted) == worst(table("sex"))
    assert worst(table("area"), weighted) == worst(table("area"), table("sex"))


@given(
    st.sets(st.sampled_from(["area", "area@district", "sex", "age@class", "age@half", "married"]))
)
def test_a_plan_of_one_table_by_each_choice_is_a_menu(axes: set[str]) -> None:
    by_variable: dict[str, list[Level]] = {}
    for text in axes:
        name, _, level = text.partition("@")
        by_variable.setdefault(name, []).append(SCHEMA.variable(name).level(level or None))
    offered = tuple(
        MenuVariable(SCHEMA.variable(name), finest_first(levels))
        for name, levels in by_variable.items()
    )
    if not offered:
        return
    menu = Menu(Entity.PERSON, offered, dimensions=len(offered))
    joined = [
        f"{name}@{'+'.join(level.name for level in finest_first(levels))}"
        for name, levels in by_variable.items()
    ]
    of_menu = {level.title: level.looks for level in look_budget(menu, own=1).levels}
    of_table = worst(table(*joined), own=1)
    assert of_table == pytest.approx(of_menu)


def test_very_open_menus_have_at_most_so_many_looks() -> None:
    """Nine variables out of sixty: too many choices to go through, so limits are left out."""
    variables = [variable(f"v{at}", tuple(range(3 + at % 4))) for at in range(60)]
    never = ((("v0", ""), ("v1", "")),)
    limited = look_budget(on_menu(*variables, dimensions=9, never_together=never), own=0)
    free = look_budget(on_menu(*variables, dimensions=9), own=0)
    assert not limited.worst.exact
    assert free.worst.exact
    assert limited.worst.looks == pytest.approx(free.worst.looks)
    assert limited.lines[0][1] > 1e9


def two_trees(name: str, *groups: tuple[int, ...], area: bool = False) -> Variable:
    """A variable with several levels that need not lie in each other."""
    hierarchies = tuple(
        Hierarchy(
            f"tree{at}",
            (Level(f"l{at}", tuple(Code(f"{at}-{one}") for one in range(max(group) + 1)), group),),
        )
        for at, group in enumerate(groups)
    )
    codes = tuple(Code(str(at)) for at in range(len(groups[0])))
    role = Role.GEOGRAPHY if area else None
    return Variable(
        name=name, entity=Entity.PERSON, codes=codes, hierarchies=hierarchies, role=role
    )


def test_a_level_that_cuts_across_a_forbidden_one_is_forbidden_as_well() -> None:
    # Neither of the two levels is coarser, so the menu forbids both of them beside v1.
    area = two_trees("area", (0, 0, 1, 1), (0, 1, 1, 0), area=True)
    other = variable("v1", (0, 1, 2))
    never = ((("area", "l0"), ("v1", "")),)
    menu = on_menu(area, other, dimensions=2, never_together=never)
    assert not menu.allows({"area": area.level("l1"), "v1": other.level("v1")})
    assert looks_at(menu, {}).looks == pytest.approx(brute_force(menu, {}, {}))
    crossing = {"area": area.level("l1")}
    expected = brute_force(menu, crossing, {"area": "1-0"})
    assert looks_at(menu, crossing).looks == pytest.approx(expected)
    free = on_menu(area, other, dimensions=2)
    for name in ("l0", "l1", "area"):
        cell = {"area": area.level(name), "v1": other.level("v1")}
        codes = {"area": cell["area"].codes[0].code, "v1": "0"}
        found = looks_at(free, cell, codes)
        assert found.exact
        assert found.looks == pytest.approx(brute_force(free, cell, codes))


def test_levels_that_cut_across_each_other_without_their_common_parts() -> None:
    area = two_trees("area", (0, 0, 0, 1, 1, 1), (0, 1, 1, 0, 1, 0), area=True)
    other = variable("v1", (0, 1, 2))
    levels = (area.level("l0"), area.level("l1"))
    menu = Menu(
        Entity.PERSON,
        (MenuVariable(area, levels), MenuVariable(other, tuple(other.levels()))),
        dimensions=2,
    )
    cell = {"area": area.level("l0"), "v1": other.level("v1")}
    codes = {"area": "0-1", "v1": "2"}
    assert looks_at(menu, cell, codes).looks == pytest.approx(brute_force(menu, cell, codes))


def test_large_systems_of_levels_are_solved_without_their_matrix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codes = np.random.default_rng(7).integers(0, 5, size=(2, 40))
    area = two_trees(
        "area", *(tuple(np.unique(own, return_inverse=True)[1].tolist()) for own in codes)
    )
    levels = tuple(area.levels())
    small = axis_forms(levels)
    monkeypatch.setattr(looks_axis, "LARGEST_MATRIX", 10)
    looks_axis._forms.cache_clear()
    large = axis_forms(levels)
    looks_axis._forms.cache_clear()
    assert large.exact
    assert large.gain == pytest.approx(small.gain)
    for name, own in small.codes.items():
        assert large.codes[name].share == pytest.approx(own.share)
        assert large.codes[name].rest == pytest.approx(own.rest)


def test_the_worst_cell_is_worst_within_the_limits() -> None:
    """A district of two leaves, and one of eight in four wards: the first has the most looks.

    Beside v1 no area is finer than a ward, and the first district is not divided any more.
    """
    wards = (0, 0, 1, 1, 2, 2, 3, 3, 4, 4)
    area = two_trees("area", (0, 0, *(1,) * 8), wards, area=True)
    other = variable("v1", (0, 1))
    offered = (
        MenuVariable(area, finest_first(tuple(area.levels()))),
        MenuVariable(other, tuple(other.levels()), (("area", ("l0", "l1")),)),
    )
    menu = Menu(Entity.PERSON, offered, dimensions=2)
    chosen = {"area": area.level("l0"), "v1": other.level("v1")}
    codes = [{"area": area, "v1": "0"} for area in ("0-0", "0-1")]
    solved_looks = [brute_force(menu, chosen, code) for code in codes]
    found = looks_at(menu, chosen)
    assert max(solved_looks) <= found.looks <= 1.3 * max(solved_looks)


def test_tables_without_totals_have_a_budget() -> None:
    spec = TableSpec.build(SCHEMA, ["sex-total", "age-total", "married-total"])
    (budget,) = look_budget_of_tables([spec])
    (only,) = budget.levels
    assert only.title == "age, married, sex"
    assert only.looks == pytest.approx(1)
    assert budget.lines == ()


def test_sums_of_every_number_of_parts_are_counted_once() -> None:
    """Seven parishes in districts of 3, 3 and 1, and two sexes, each with totals."""
    spec = TableSpec.build(SCHEMA, ["area@parish+district", "sex"])
    (budget,) = look_budget_of_tables([spec, TableSpec.build(SCHEMA, ["sex", "area"])])
    areas, sexes = 7 + 3 + 1, 2 + 1
    # Parishes and districts each add up to the country, and parishes to two of the districts; in
    # the second table sexes add up in parishes again, which are counted with that table.
    found = dict(budget.lines)
    assert found[7] == sexes
    assert found[3] == sexes + 2 * sexes
    assert found[2] == areas + 7 + 1


@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=6),
    st.sets(st.integers(0, 5), min_size=1, max_size=5),
    st.integers(1, 2),
    st.data(),
)
@settings(max_examples=60, deadline=None)
def test_a_declared_universe_is_looks_that_the_budget_counts(
    groups: list[int], inside: set[int], dimensions: int, data: st.DataObject
) -> None:
    """Against least squares over every cell of every table, the universe among the codes."""
    plain = variable("age", tuple(sorted(groups)))
    condition = [at in inside for at in range(len(groups))]
    assume(0 < sum(condition) < len(condition))
    schema = with_universe(
        replace(SCHEMA, variables=(plain,)),
        DeclaredUniverse(name="some", condition=set_condition(plain, np.array(condition))),
    )
    wider = schema.variable("age")
    other = variable("other", (0, 1, 2))
    before, after = (on_menu(one, other, dimensions=dimensions) for one in (plain, wider))
    level = data.draw(st.sampled_from(list(plain.levels())))
    code = data.draw(st.sampled_from([level.codes[at].code for at in set(level.group)]))
    looks = [looks_at(menu, {"age": level.name}, {"age": code}) for menu in (before, after)]
    solved = [brute_force(menu, {"age": level}, {"age": code}) for menu in (before, after)]
    for measured, exact in zip(looks, solved, strict=True):
        assert measured.looks >= exact - 1e-9
        if measured.exact:
            assert measured.looks == pytest.approx(exact)
    assert solved[1] >= solved[0] - 1e-9
    assert looks[1].looks >= looks[0].looks - 1e-9
    if wider is plain:  # it was a code already
        assert looks == [looks[0]] * 2


def test_declaring_a_universe_raises_the_looks_at_everybody() -> None:
    """Its code and all others are one more way to add up everybody; a code of before is none."""
    ages = variable("age", (0, 0, 1, 1, 2, 2))
    plain = replace(SCHEMA, variables=(ages,))
    grown = with_universe(plain, DeclaredUniverse(name="grown", condition="age in (1, 2, 3)"))
    known = with_universe(plain, DeclaredUniverse(name="known", condition="age in (2, 3)"))
    menus = [on_menu(one.variable("age"), dimensions=1) for one in (plain, known, grown)]
    looks = [look_budget(menu).worst.looks for menu in menus]
    assert looks[0] == pytest.approx(looks[1])
    assert looks[2] > looks[0] + 0.3
