"""The look budget of a census: from code lists, from the data, and as attacked from outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.attack.averaging import averages, rounded
from sdcensus.attack.targets import targets_of
from sdcensus.errors import DocumentError, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube import Cube, Origin
from sdcensus.model.entity import Entity, EntitySpec
from sdcensus.model.key_space import KeySpace
from sdcensus.model.menu import Menu, MenuVariable, finest_first
from sdcensus.model.publication import PublishedTable
from sdcensus.model.schema import CensusInfo, Schema
from sdcensus.model.variable import Code, Role, Variable
from sdcensus.risk.look_budget import look_budget, looks_at
from sdcensus.risk.looks_chance import (
    edge_probability,
    large_variance,
    recovery,
    required,
)
from sdcensus.session.census import Census
from sdcensus.session.look_budget import (
    budget_of_plan,
    budget_of_policy,
    design_for,
    limit_of,
    looks_in_data,
    looks_in_policy,
    needed,
    schemes_against,
)
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island, island_store

#: Areas, ages, and twelve further variables with so many codes.
SIZES = (2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 8, 10)


def town(people: int, *, seed: int = 3) -> Census:
    """A census whose variables say nothing about each other."""
    draw = np.random.default_rng(seed)
    names = {"area": 12, "age": 6, **{f"v{at}": size for at, size in enumerate(SIZES)}}
    schema = Schema(
        census=CensusInfo(name="Town"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=tuple(
            Variable(
                name=name,
                entity=Entity.PERSON,
                codes=tuple(Code(str(at)) for at in range(size)),
                role=Role.GEOGRAPHY if name == "area" else None,
            )
            for name, size in names.items()
        ),
    )
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={
            name: draw.integers(0, size, people).astype(np.uint8) for name, size in names.items()
        },
        keys=draw.integers(0, 2**32, people, dtype=np.uint64).astype(np.uint32),
        origin=Origin(KeySpace(), SECRET.id, "town"),
    )
    return Census(schema, records)


def three_way(census: Census) -> Menu:
    offered = tuple(
        MenuVariable(one, finest_first(tuple(one.levels())))
        for one in census.schema.variables
        if one.is_axis
    )
    return Menu(Entity.PERSON, offered, dimensions=3)


@pytest.mark.parametrize("name", ["CP3(EU)", "CP3", "CP4"])
def test_an_attack_on_published_tables_finds_as_many_counts_as_the_budget_says(name: str) -> None:
    """Area by age in all three-way tables: averaging sees published values only."""
    census = town(20_000)
    menu = three_way(census)
    design = scheme(name)
    told = looks_in_data(census, menu, {"area": "area", "age": "age"})
    codes = looks_at(menu, {"area": "area", "age": "age"})
    assert codes.looks == pytest.approx(1 + sum(1 / size for size in SIZES))
    truth = census.tabulate("area-total", "age-total")
    cubes = [
        (f"v{at}", census.tabulate("area-total", "age-total", f"v{at}-total"))
        for at in range(len(SIZES))
    ]
    assert isinstance(truth, Cube)
    alone, together = [], []
    for version in range(1, 9):
        method = CellKey(design, secret=SECRET, key_version=version)
        published = [PublishedTable("own", method.protect(truth).table)]
        published += [PublishedTable(at, method.protect(cube).table) for at, cube in cubes]
        targets, _ = targets_of(published)
        found = averages(targets, {one.name: large_variance(design) for one in targets})
        own = next(one for one in found if one.piece.target.name == "own")
        together.append(float((rounded(own) == truth.count).mean()))
        alone.append(float((published[0].table.published == truth.count).mean()))
    predicted = told.recovery(large_variance(design))
    assert predicted is not None
    # 8 publications of 72 cells: one standard error is two percent.
    assert np.mean(together) == pytest.approx(predicted, abs=0.06)
    assert np.mean(together) == pytest.approx(codes.recovery(large_variance(design)), abs=0.06)
    # Had the tables added nothing, or twice as much, the difference would be seen.
    assert np.mean(together) > np.mean(alone) + 0.12
    assert abs(np.mean(together) - recovery(2 * codes.looks, large_variance(design))) > 0.06


def test_nobody_looks_at_a_single_person_twice() -> None:
    census = town(60)
    told = looks_in_data(census, three_way(census), {"area": "area", "age": "age"})
    ones = told.looks[told.count == 1]
    twos = told.looks[told.count == 2]
    assert ones.size
    assert twos.size
    assert (ones == 1).all()
    # Both together, and one by one: one look, and half a look.
    assert np.allclose(np.unique(twos), [1.0, 1.5], atol=1e-9) or np.allclose(twos, 1.5)
    sizes = {one.smallest: one.looks for one in told.by_size()}
    assert sizes[1] < sizes[2] < sizes[3]


def test_large_cells_of_free_variables_have_the_looks_of_the_code_lists() -> None:
    census = town(60_000)
    menu = three_way(census)
    told = looks_in_data(census, menu, {"area": "area"})
    assert told.left_out == 0
    expected = looks_at(menu, {"area": "area"}).looks
    assert told.looks == pytest.approx(expected, rel=1e-9)


def test_results_from_true_counts_are_confidential() -> None:
    census = town(500)
    told = looks_in_data(census, three_way(census), {"area": "area"})
    assert repr(told) == "<CellLooks area@area: confidential>"
    assert {repr(one) for one in told.by_size(1.0)} == {"<LooksBySize: confidential>"}
    (scheme_looks,) = schemes_against(look_budget(three_way(census)), ["CP3"])
    assert f"{scheme_looks}" == "<SchemeLooks CP3: confidential>"


def test_a_census_without_people_has_no_cells_to_look_at() -> None:
    census = town(0)
    told = looks_in_data(census, three_way(census), {"area": "area"})
    assert told.recovery(1.0) is None
    assert told.by_size(1.0) == ()


def test_tables_beyond_the_number_are_left_out_and_said_so() -> None:
    census = island(300)
    menu = three_way(census)
    few = looks_in_data(census, menu, {"area": "parish"}, most_tables=2)
    assert few.tables == 3
    assert few.left_out is None or few.left_out > 0
    many = looks_in_data(census, menu, {"area": "parish"})
    assert many.left_out == 0
    # Parts with the same records are weighted as the average finds them, so that more tables
    # may help little; they never take a look away from a single record.
    assert (many.looks >= 1).all()
    with pytest.raises(SpecError, match="no table"):
        looks_in_data(census, Menu(menu.of, menu.variables, 1), {"area": "parish", "sex": "sex"})


@pytest.mark.parametrize("blocked", [0, 2])
@pytest.mark.parametrize(("looks", "sums"), [(1.0, 10), (3.7, 2_000), (34.4, 3_000_000)])
def test_a_design_meets_what_is_required_and_not_much_more(
    looks: float, sums: int, blocked: int
) -> None:
    wanted = required(looks, 0.5, sums)
    design = design_for(wanted, blocked=blocked)
    assert wanted.met_by(design)
    assert recovery(looks, large_variance(design)) <= 0.5
    assert design.blocked == blocked
    assert edge_probability(design) <= wanted.edge
    if looks > 4:
        assert large_variance(design) <= wanted.variance * 1.1


def test_no_design_for_more_looks_than_noise_withstands() -> None:
    with pytest.raises(SpecError, match="Open fewer tables"):
        design_for(required(3_000, 0.5, 1000))


POLICY = """\
name = "Island"
[limits]
dimensions = 2
[online]
recovery = 0.4
"""


def test_policies_and_plans_have_budgets(tmp_path: Path) -> None:
    store = tmp_path / "island.store"
    census = island_store(store)
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8", newline="\n")
    budget = budget_of_policy(census, policy)
    assert budget.of is Entity.PERSON
    assert {one.area for one in budget.levels} == {"area", "area@district", ""}
    assert "up to 2 of 4 variables" in budget.sentence
    assert limit_of(census, policy) == 0.4
    assert limit_of(census, None) == 0.5
    assert needed(budget, 0.4).variance == pytest.approx(budget.worst_in_areas.variance(0.4))
    found = looks_in_policy(census, policy, ["area", "sex"])
    assert "area" in found.title
    with pytest.raises(SpecError, match="one level"):
        looks_in_policy(census, policy, ["area@parish+district"])
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'store = "island.store"\n[[table]]\nname = "one"\nrows = ["area"]\ncolumns = ["sex"]\n',
        encoding="utf-8",
        newline="\n",
    )
    (of_plan,) = budget_of_plan(plan)
    assert of_plan == budget_of_plan(plan, census)[0]
    assert of_plan.worst_in_areas.looks == 1
    # Seven parishes and their total, each by two sexes; both sexes and their total by parish.
    assert dict(of_plan.lines) == {2: 8, 7: 3}
    plan.write_text(
        'store = "gone.store"\n[[table]]\nname = "one"\n', encoding="utf-8", newline="\n"
    )
    with pytest.raises(DocumentError, match="line 1: store"):
        budget_of_plan(plan)


def test_a_policy_that_opens_nothing_is_refused(tmp_path: Path) -> None:
    rules = "".join(
        f"[variable.{name}]\noffered = false\n" for name in ("area", "sex", "age", "married")
    )
    policy = tmp_path / "policy.toml"
    policy.write_text(f'name = "Closed"\n{rules}', encoding="utf-8", newline="\n")
    with pytest.raises(SpecError, match="offers no variable"):
        budget_of_policy(island(50), policy)
