"""A scripted averaging attack within a whole menu, on real tables and real noise."""

from __future__ import annotations

import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.documents.policy.document import read_policy
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.policy.menu import Menu
from sdcensus.model.policy.policy import menu_of
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Role, Variable
from sdcensus.risk.looks.budget import looks_at
from sdcensus.risk.looks.chance import large_variance, recovery, recovery_with
from sdcensus.session.census.census import Census
from sdcensus.session.looks.budget import budget_of_policy, design_for, needed
from sdcensus.session.watch import EVERYBODY, Pattern, Watch, WatchAlarm, WatchLimits
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET

#: How many codes the variables have by which the attacker divides area by age.
SIZES = (2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 7, 7)
AREAS, AGES, PEOPLE = 40, 6, 100_000
POLICY = 'name = "All"\n[limits]\ndimensions = 4\n[online]\nrecovery = 0.5\n'
VERSIONS = range(1, 4)

Way = tuple[int, Cube]


@pytest.fixture(scope="module")
def town() -> Census:
    draw = np.random.default_rng(11)
    names = {"area": AREAS, "age": AGES, **{f"v{at}": size for at, size in enumerate(SIZES)}}
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
            name: draw.integers(0, size, PEOPLE).astype(np.uint8) for name, size in names.items()
        },
        keys=draw.integers(0, 2**32, PEOPLE, dtype=np.uint64).astype(np.uint32),
        origin=Origin(KeySpace(), SECRET.id, "town"),
    )
    return Census(schema, records)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "policy.toml"
    path.write_text(POLICY, encoding="utf-8", newline="\n")
    return path


@pytest.fixture(scope="module")
def menu(town: Census, policy: Path) -> Menu:
    return menu_of(read_policy(policy, town.schema), town.schema, of=Entity.PERSON)


def partitions(menu: Menu) -> list[tuple[str, ...]]:
    """Every set of further variables that the menu lets the attacker divide area by age by."""
    others = [
        variable.variable.name
        for variable in menu.variables
        if variable.variable.name not in TARGET
    ]
    most = menu.dimensions - len(TARGET)
    return [one for size in range(most + 1) for one in itertools.combinations(others, size)]


TARGET = ("area", "age")


def averaged(menu: Menu) -> float:
    """The looks of everybody who averages: one over the parts of each way to add up."""
    return sum(
        1 / math.prod(len(menu.variable(name).variable.codes) for name in names)
        for names in partitions(menu)
    )


@pytest.fixture(scope="module")
def ways(town: Census, menu: Menu) -> list[Way]:
    """For each way to obtain area by age, how many parts are added up, and the table."""
    found = []
    for names in partitions(menu):
        cube = town.tabulate("area-total", "age-total", *(f"{name}-total" for name in names))
        assert isinstance(cube, Cube)
        found.append((math.prod(cube.shape[2:]), cube))
    return found


def recovered(ways: list[Way], design: PerturbationDesign) -> npt.NDArray[np.bool_]:
    """Which counts the best average of all ways, rounded, gets right; for several secrets."""
    truth = ways[0][1].count
    right = []
    for version in VERSIONS:
        method = CellKey(design, secret=SECRET, key_version=version)
        total, weights = np.zeros(truth.shape), 0.0
        for parts, cube in ways:
            table = method.protect(cube).table
            assert isinstance(table, Table)
            look = table.published.reshape(*truth.shape, -1).sum(axis=-1)
            total += look / parts
            weights += 1 / parts
        right.append(np.rint(total / weights) == truth)
    return np.concatenate(right)


def test_the_attack_recovers_what_the_look_budget_says_and_no_more(
    town: Census, policy: Path, menu: Menu, ways: list[Way]
) -> None:
    assert len(ways) == 1 + 12 + 66
    budget = budget_of_policy(town, policy)
    design = design_for(needed(budget, 0.5))
    allowed = recovery_with(budget.asked.looks, design)
    told = looks_at(menu, {"area": "area", "age": "age"})
    assert told.looks <= budget.asked.looks
    assert allowed <= 0.5
    right = recovered(ways, design)
    error = math.sqrt(0.25 / right.size)
    assert error < 0.02
    assert right.mean() <= allowed + 3 * error
    # Averages leave out the tables without area or age, which least squares use as well.
    assert averaged(menu) < told.looks
    assert right.mean() == pytest.approx(recovery_with(averaged(menu), design), abs=3 * error)


def test_with_too_little_noise_the_same_attack_recovers_far_more(ways: list[Way]) -> None:
    weak = scheme("CP3(EU)")
    right = recovered(ways, weak)
    alone = recovered(ways[:1], weak)
    assert alone.mean() < 0.45
    assert right.mean() > 0.8
    looks = sum(1 / parts for parts, _ in ways)
    error = math.sqrt(0.25 / right.size)
    assert right.mean() == pytest.approx(recovery(looks, large_variance(weak)), abs=4 * error)


def _attack(
    watch: Watch, town: Census, menu: Menu, *, who: list[str], universe: str = ""
) -> list[tuple[int, float, WatchAlarm]]:
    """Ask every table of the attack: after how many, with what delay, alarms came."""
    found = []
    for at, names in enumerate(partitions(menu)):
        axes = [*names] if universe else [*TARGET, *names]
        spec = town.spec(*axes, universe=universe or None)
        seen = watch.seen(who[at % len(who)], spec, 60.0 * at)
        found += [(at + 1, seen.delay, alarm) for alarm in seen.alarms]
    return found


LIMITS = WatchLimits(units=PEOPLE)


def test_the_watch_counts_the_looks_of_the_budget_and_alarms_during_the_attack(
    town: Census, menu: Menu
) -> None:
    watch = Watch(limits=LIMITS)
    alarms = _attack(watch, town, menu, who=["eve"])
    after, delay, alarm = next(alarm for alarm in alarms if alarm[2].who == "eve")
    assert alarm.pattern is Pattern.AVERAGING
    values = dict(alarm.values)
    assert values["target"] == "persons by age, area"
    assert values["partitions"] == after
    assert float(values["information"]) >= LIMITS.information == values["limit"]
    assert values["codes"] == ""
    assert f"in {after} different ways" in alarm.sentence
    assert "persons by age, area" in alarm.sentence
    assert alarm.specs
    assert 0 < delay <= LIMITS.longest_delay
    # Long before the whole menu was asked for.
    assert after < len(partitions(menu)) / 2
    score = watch.score("eve")
    assert score.information == pytest.approx(averaged(menu))
    assert score.partitions == len(partitions(menu))
    assert watch.report().alarms[0].who in ("eve", EVERYBODY)
    assert watch.report().accounts[0].who == "eve"


def test_an_attack_on_one_cell_by_filters_is_the_same_attack(town: Census, menu: Menu) -> None:
    watch = Watch(limits=LIMITS)
    alarms = _attack(watch, town, menu, who=["eve"], universe="area == 7 and age == 2")
    alarm = next(alarm[2] for alarm in alarms if alarm[2].who == "eve")
    assert alarm.pattern is Pattern.AVERAGING
    assert dict(alarm.values)["codes"] == "age: 2; area: 7"
    assert "(age: 2; area: 7)" in alarm.sentence


def test_decoys_beside_the_target_do_not_hide_it(town: Census, menu: Menu) -> None:
    watch = Watch(limits=LIMITS)
    raised: list[WatchAlarm] = []
    for at, names in enumerate(partitions(menu)):
        decoy = 8 + at % 30
        spec = town.spec("area", "age", *names, universe=f"area in (7, {decoy}) and age in (2, 3)")
        raised += watch.seen("eve", spec, 0.0).alarms
    assert [one.pattern for one in raised][:1] == [Pattern.AVERAGING]


def test_accounts_that_share_the_work_are_seen_in_the_score_of_all(
    town: Census, menu: Menu
) -> None:
    limits = WatchLimits(units=PEOPLE, information_all=8.0)
    watch = Watch(limits=limits)
    crowd = [f"eve {at}" for at in range(40)]
    alarms = _attack(watch, town, menu, who=crowd)
    assert {one.who for _, _, one in alarms} == {EVERYBODY}
    assert all(watch.score(one).score < limits.slow_from for one in crowd)
    assert watch.score().information == pytest.approx(averaged(menu))


def test_the_same_looks_at_other_cells_are_no_attack(town: Census, menu: Menu) -> None:
    """Each question about another area: no cell is seen more often than once or twice.

    It is a walk through nearly all pairs of variables, though, which is another pattern.
    """
    watch = Watch(limits=dataclasses.replace(LIMITS, covered=1_000))
    for at, names in enumerate(partitions(menu)):
        spec = town.spec(*names, "age", universe=f"area == {at % AREAS}")
        seen = watch.seen("bob", spec, 60.0 * at)
        assert not seen.alarms
        assert seen.delay == 0
