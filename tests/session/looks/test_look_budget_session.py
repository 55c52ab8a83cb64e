"""The look budget of a census: from code lists, from the data, and as attacked from outside."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.attack.averaging import averages, rounded
from sdcensus.attack.targets import targets_of
from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import DocumentError, Refused, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.policy.menu import Menu, MenuVariable, finest_first
from sdcensus.model.published.table import PublishedTable
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Role, Variable
from sdcensus.risk.looks.budget import NOT_COVERED, look_budget, looks_at
from sdcensus.risk.looks.chance import (
    edge_probability,
    large_variance,
    recoveries,
    recovery_with,
    required,
)
from sdcensus.session.answer.budgets import open_budgets, refuse_weak
from sdcensus.session.census.census import Census
from sdcensus.session.looks.budget import (
    budget_in,
    budget_of_plan,
    budget_of_policy,
    design_for,
    limit_of,
    looks_in_data,
    looks_in_policy,
    needed,
    schemes_against,
)
from sdcensus.session.recommend.noise import noise_for
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island, island_store
from tests.attack.housed import housed_schema, without_identities

#: Publications under keys of their own that are attacked by averaging.
VERSIONS = 6
#: Areas, ages, and twelve further variables with so many codes.
SIZES = (2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 8, 10)


def town(people: int, *, seed: int = 3) -> Census:
    """A census whose variables say nothing about each other."""
    draw = np.random.default_rng(seed)
    names = {"area": 12, "age": 6, **{f"v{at}": size for at, size in enumerate(SIZES)}}
    return small_census(names, [draw.integers(0, name, people) for name in names.values()], draw)


def small_census(
    names: dict[str, int], values: list[npt.NDArray[np.int64]], draw: np.random.Generator
) -> Census:
    schema = Schema(
        census=CensusInfo(name="Village"),
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
    keys = draw.integers(0, 2**32, len(values[0]), dtype=np.uint64).astype(np.uint32)
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={name: own.astype(np.uint8) for name, own in zip(names, values, strict=True)},
        keys=keys,
        origin=Origin(KeySpace(), SECRET.id, "village"),
    )
    return Census(schema, records)


def three_way(census: Census) -> Menu:
    offered = tuple(
        MenuVariable(variable, finest_first(tuple(variable.levels())))
        for variable in census.schema.variables
        if variable.is_axis
    )
    return Menu(Entity.PERSON, offered, dimensions=3)


@pytest.mark.parametrize("name", ["CP3(EU)", "CP3", "CP4"])
def test_averaging_published_tables_finds_no_more_counts_than_the_budget_says(name: str) -> None:
    """Area by age in all three-way tables: averaging sees published values only."""
    census = town(20_000)
    menu = three_way(census)
    design = scheme(name)
    codes = looks_at(menu, {"area": "area", "age": "age"})
    averaged = 1 + sum(1 / size for size in SIZES)
    assert codes.looks > 1.15 * averaged  # averages leave out all tables that lack area or age
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
        found = averages(targets, {target.name: large_variance(design) for target in targets})
        own = next(one for one in found if one.piece.target.name == "own")
        together.append(float((rounded(own) == truth.count).mean()))
        alone.append(float((published[0].table.published == truth.count).mean()))
    # 8 publications of 72 cells: one standard error is two percent.
    error = 0.02
    assert np.mean(together) == pytest.approx(recovery_with(averaged, design), abs=3 * error)
    assert np.mean(together) <= recovery_with(codes.looks, design) + 3 * error
    # Had the tables added nothing, the difference would be seen.
    assert np.mean(together) > np.mean(alone) + 0.12


@dataclass(frozen=True)
class Attack:
    """What least squares finds in all tables of a small census, and what was said beforehand."""

    right: float
    said: float
    by_parts: float
    error: float
    averaged: float = 0.0
    averaged_error: float = 0.0


def averaged_by_the_lab(
    census: Census, menu: Menu, chosen: dict[str, str], design: PerturbationDesign
) -> tuple[float, int]:
    """The share of cells that the averaging attack finds in everything, and of how many."""
    names = [variable.variable.name for variable in menu.variables]
    cubes = [
        (" ".join(choice), census.tabulate(*(f"{name}-total" for name in choice)))
        for number in range(1, menu.dimensions + 1)
        for choice in itertools.combinations(names, number)
    ]
    truth = census.tabulate(*(f"{name}-total" for name in chosen))
    assert isinstance(truth, Cube)
    filled = truth.count > 0
    right = []
    for version in range(1, VERSIONS + 1):
        method = CellKey(design, secret=SECRET, key_version=version)
        published = [PublishedTable(name, method.protect(cube).table) for name, cube in cubes]
        targets, _ = targets_of(published)
        found = averages(targets, {target.name: large_variance(design) for target in targets})
        own = next(one for one in found if one.piece.target.name == " ".join(chosen))
        right.append((rounded(own).reshape(truth.count.shape) == truth.count)[filled])
    return float(np.mean(right)), int(np.size(right))


def solved(
    seed: int,
    *,
    people: int,
    dimensions: int,
    sizes: tuple[int, ...],
    draws: int = 60,
    lab: bool = False,
) -> Attack:
    """Publish every table with noise of its own in every cell, and solve all of them together.

    The intruder knows the variance of every cell and which ones are empty.
    """
    draw = np.random.default_rng(seed)
    design = design_perturbation(5, 4.0)
    names = ["area", *(f"v{at}" for at in range(1, len(sizes)))]
    weights = [draw.dirichlet(np.full(size, 5.0)) for size in sizes]
    values = [
        draw.choice(size, p=own, size=people) for size, own in zip(sizes, weights, strict=True)
    ]
    # The second variable goes with the first for every third person.
    follows = draw.random(people) < 1 / 3
    values[1] = np.where(follows, values[0] % sizes[1], values[1])
    census = small_census(dict(zip(names, sizes, strict=True)), values, draw)
    menu = replace(three_way(census), dimensions=dimensions)
    chosen = {"area": "area", "v1": "v1"} if dimensions > 1 else {"area": "area"}
    said = looks_in_data(census, menu, chosen, perturbation=design)
    axes = [names.index(name) for name in chosen]

    profile = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes))
    count = np.bincount(np.ravel_multi_index(values, sizes), minlength=profile.shape[1])
    classes = [
        one
        for number in range(dimensions + 1)
        for one in itertools.combinations(range(len(sizes)), number)
    ]
    rows = []
    possible = np.ones(profile.shape[1], dtype=bool)
    for class_ in classes:
        cell = np.zeros(profile.shape[1], dtype=np.int64)
        for at in class_:
            cell = cell * sizes[at] + profile[at]
        member = cell[None, :] == np.arange(cell.max() + 1)[:, None]
        possible &= (member @ count > 0)[cell]
        rows.append(member)
        if list(class_) == axes:
            wanted = member
    equations = np.concatenate(rows)
    truth = equations @ count
    equations, truth = equations[truth > 0][:, possible].astype(float), truth[truth > 0]
    wanted = wanted[wanted @ count > 0]
    sight = 1 / np.sqrt([design.variance(int(one)) for one in truth])
    solver = wanted[:, possible] @ np.linalg.pinv(equations * sight[:, None], rcond=1e-9)
    noise = np.zeros((draws, truth.size))
    for one in np.unique(truth).tolist():
        chances = design.probabilities(one)
        size = (draws, int((truth == one).sum()))
        noise[:, truth == one] = draw.choice(
            design.deviations(one), p=chances / chances.sum(), size=size
        )
    right = np.rint(((truth + noise) * sight) @ solver.T) == wanted @ count
    by_parts = []
    for own in wanted:
        looks = 0.0
        for class_ in classes:
            if set(axes) <= set(class_):
                inside = np.flatnonzero(own & (count > 0))
                looks += 1 / len(np.unique(profile[np.array(class_)][:, inside], axis=1).T)
        by_parts.append(looks)
    chance = said.recovery(design)
    assert chance is not None
    averaged, cells = averaged_by_the_lab(census, menu, chosen, design) if lab else (0.0, 1)
    return Attack(
        float(np.mean(right)),
        chance,
        float(recoveries(np.array(by_parts), design).mean()),
        0.5 / np.sqrt(np.size(right) / 4),  # cells of one publication go together a little
        averaged,
        0.5 / np.sqrt(cells / 4),
    )


@pytest.mark.parametrize(
    ("people", "dimensions", "sizes"),
    [
        (400, 1, (3, 2, 4)),
        (300, 2, (3, 4, 2, 3)),
        (2_000, 2, (4, 2, 3, 3)),
        (1_000, 3, (3, 2, 2, 3, 2)),
        (150, 3, (3, 4, 2, 3)),
        (3_000, 3, (4, 3, 3, 2, 2)),
    ],
)
def test_least_squares_find_no_more_than_the_budget_from_the_data_says(
    people: int, dimensions: int, sizes: tuple[int, ...]
) -> None:
    found = [solved(seed, people=people, dimensions=dimensions, sizes=sizes) for seed in range(3)]
    right, said, by_parts = (
        float(np.mean([getattr(one, name) for one in found]))
        for name in ("right", "said", "by_parts")
    )
    error = 2.5 * found[0].error / np.sqrt(len(found))
    assert right <= said + error
    # Counting parts alone promised less, and the attack shows it.
    if dimensions > 1:
        assert right > by_parts + error


@given(
    people=st.integers(100, 3_000),
    dimensions=st.integers(1, 3),
    sizes=st.lists(st.integers(2, 4), min_size=3, max_size=4).map(tuple),
    seed=st.integers(0, 10_000),
)
@settings(max_examples=min(150, settings().max_examples))
def test_no_linear_attack_finds_more_than_the_budget_from_the_data_says(
    people: int, dimensions: int, sizes: tuple[int, ...], seed: int
) -> None:
    """Over random menus and data: least squares over everything, and the averages of the lab."""
    found = solved(seed, people=people, dimensions=dimensions, sizes=sizes, draws=300, lab=True)
    assert found.right <= found.said + 3.5 * found.error
    assert found.averaged <= found.said + 3.5 * found.averaged_error


def test_small_groups_are_seen_often_unless_they_are_not_broken_down() -> None:
    census = town(400)
    menu = three_way(census)
    cells = {"area": "area", "age": "age"}
    open_ = looks_in_data(census, menu, cells)
    sizes = {one.smallest: one.looks for one in open_.by_size()}
    assert sizes[1] > sizes[3] > looks_at(menu, cells).looks
    kept = looks_in_data(census, menu, cells, unbroken=15)
    assert (kept.looks <= open_.looks + 1e-6).all()
    assert kept.looks.mean() < open_.looks.mean()


def test_large_cells_of_free_variables_have_the_looks_of_the_code_lists() -> None:
    census = town(60_000)
    menu = replace(three_way(census), dimensions=2)
    told = looks_in_data(census, menu, {"area": "area"})
    assert told.left_out == 0
    expected = looks_at(menu, {"area": "area"}).looks
    assert (told.looks >= expected - 1e-9).all()
    assert told.looks == pytest.approx(expected, rel=0.02)


def test_what_is_not_covered_stands_beside_every_figure(tmp_path: Path) -> None:
    """In one sentence, which the page of the staff has in every language."""
    words = files("sdcensus") / "words"
    for language in ("en", "es", "fr", "nl"):
        text = (words / language / "web" / "staff.toml").read_text(encoding="utf-8")
        said = next(line for line in text.splitlines() if line.startswith("averaging_why"))
        assert len(said) > 300
        assert (NOT_COVERED in said) is (language == "en")
    census = island(300)
    menu = three_way(census)
    weak = CellKey(scheme("CP1"), secret=SECRET)
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8", newline="\n")
    read = read_policy(policy, census.schema)
    opened = open_budgets(read, {Entity.PERSON: weak})
    with pytest.raises(Refused) as refused:
        refuse_weak(read, opened, {Entity.PERSON: weak})
    assert NOT_COVERED in str(refused.value)
    noise = noise_for((look_budget(menu),), None)
    assert NOT_COVERED in noise.reasons[0]


def test_results_from_true_counts_are_confidential() -> None:
    census = town(500)
    told = looks_in_data(census, three_way(census), {"area": "area"})
    assert repr(told) == "<CellLooks area@area: confidential>"
    assert {repr(one) for one in told.by_size(scheme("CP3"))} == {"<LooksBySize: confidential>"}
    (scheme_looks,) = schemes_against(look_budget(three_way(census)), ["CP3"])
    assert f"{scheme_looks}" == "<SchemeLooks CP3: confidential>"


def test_a_census_without_people_has_no_cells_to_look_at() -> None:
    census = town(0)
    told = looks_in_data(census, three_way(census), {"area": "area"})
    assert told.recovery(scheme("CP3")) is None
    assert told.by_size(scheme("CP3")) == ()


def test_tables_beyond_the_number_are_left_out_and_said_so() -> None:
    census = island(300)
    menu = three_way(census)
    few = looks_in_data(census, menu, {"area": "parish"}, most_tables=2)
    assert few.tables == 2
    assert few.left_out > 0
    many = looks_in_data(census, menu, {"area": "parish"})
    assert many.left_out == 0
    assert (many.looks >= few.looks - 1e-6).all()
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
    assert recovery_with(looks, design) <= 0.5
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
    assert {level.area for level in budget.levels} == {"area", "area@district", ""}
    assert "up to 2 of 4 variables" in budget.sentence
    assert limit_of(census, policy) == 0.4
    assert limit_of(census, None) == 0.5
    assert needed(budget, 0.4).variance == pytest.approx(budget.asked.variance(0.4))
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
    # Seven parishes, two sexes and their totals: a parish by sex, its total, the sexes of all.
    two, seven = (1 / (1 - 1 / n + 1 / n**2 / (1 + 1 / n)) for n in (2, 7))
    assert of_plan.asked.looks == pytest.approx(max(two * seven, 1.5 * seven, two * 8 / 7))
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


MIXED = """\
name = "Homes"
[limits]
dimensions = 2
[variable.place]
offered = false
"""


def test_budgets_of_households_count_tables_of_persons(tmp_path: Path) -> None:
    """For the office and for the server alike; where nothing is declared, nothing is counted."""
    schema = housed_schema()
    policy = tmp_path / "policy.toml"
    policy.write_text(MIXED, encoding="utf-8", newline="\n")
    read = read_policy(policy, schema)
    silent = read_policy(policy, without_identities(schema))
    method = CellKey(scheme("CP3"), secret=SECRET)
    for of in (Entity.HOUSEHOLD, Entity.PERSON):
        tied, apart = budget_in(read, of=of), budget_in(silent, of=of)
        assert tied.asked.looks > 1.2 * apart.asked.looks
        assert "persons and households by size" in tied.across
        assert apart.across == ""
        opened = {
            budget.of: budget.budget
            for budget in open_budgets(
                read, dict.fromkeys((Entity.PERSON, Entity.HOUSEHOLD), method)
            )
        }
        assert opened[of].asked.looks == pytest.approx(tied.asked.looks)
    # Alone on the server, households are seen by their own tables only.
    (alone,) = open_budgets(read, {Entity.HOUSEHOLD: method})
    assert alone.budget.asked.looks == pytest.approx(
        budget_in(silent, of=Entity.HOUSEHOLD).asked.looks
    )
