from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.rounding import RandomRounding
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.policy.policy import (
    AtLevel,
    DesignRules,
    Detail,
    OneHousehold,
    Policy,
    RecordSet,
    VariableRule,
)
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import (
    Code,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.risk.detection.findings import FindingKind
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.policy import Outcome, ask
from sdcensus.session.policy.design import (
    check_exempt,
    design,
    with_decisions,
)
from sdcensus.session.policy.households import one_household_cells, withhold_households
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import island
from sdcensus.testing.stores import Units, write_store
from tests.session.policy.policy_tables import policy

CENSUS = island(400)


def counted(*by: str) -> dict[str, int]:
    cube = CENSUS.tabulate(*by)
    assert isinstance(cube, Cube)
    return {cell.codes[0]: cell.count for cell in cube.cells()}


def test_areas_with_too_few_people_are_not_offered_at_their_level() -> None:
    made = policy(design=DesignRules(minimum_population=40))
    report = design(made, CENSUS)
    people = counted("area@parish-total")
    expected = tuple(code for code, count in people.items() if count < 40)
    assert 0 < len(expected) < 7
    found = {str(area.at): area.codes for area in report.areas}
    assert found["area@parish"] == expected
    assert found["area@district"] == ("D2",)
    decided = with_decisions(report)
    verdict = ask(decided, CENSUS.spec("area", "sex"))
    assert verdict.outcome is Outcome.WITHHELD
    assert verdict.withheld[0].codes == expected


def test_single_levels_have_a_minimum_of_their_own() -> None:
    made = policy(design=DesignRules(minimum_population_at=((AtLevel("area", "parish"), 10**6),)))
    report = design(made, CENSUS)
    assert [(str(area.at), len(area.codes)) for area in report.areas] == [("area@parish", 7)]


def test_a_single_small_area_in_its_group_is_told() -> None:
    people = counted("area@parish-total")
    smallest = sorted(people.values())[:2]
    made = policy(design=DesignRules(minimum_population=smallest[1] + 1))
    found = {str(area.at): area for area in design(made, CENSUS).areas}["area@parish"]
    # P6 is a district of its own: nobody can take it from its parts.
    assert set(found.alone) == set(found.codes) - {"P6"}


def test_categories_with_too_few_people_are_found_at_every_level() -> None:
    made = policy(
        design=DesignRules(minimum_category=36),
        variables=(VariableRule(variable="age", finest_level="class"),),
    )
    report = design(made, CENSUS)
    assert {str(category.at) for category in report.categories} == {
        "sex@sex",
        "age@class",
        "married@married",
    }
    ages = policy(design=DesignRules(minimum_category=36))
    found = {str(category.at): category for category in design(ages, CENSUS).categories}["age@age"]
    people = counted("age-total")
    assert found.codes == tuple(code for code, count in people.items() if count < 36)


def test_detail_goes_by_the_size_of_areas() -> None:
    people = counted("area@parish-total")
    middle = sorted(people.values())[3]
    rules = DesignRules(detail=(Detail(population=middle, levels=(AtLevel("age", "age"),)),))
    decided = with_decisions(design(policy(design=rules), CENSUS))
    small = {code for code, count in people.items() if count < middle}
    (detail,) = [one for one in decided.decided.detail if one.at.level == "parish"]
    assert set(detail.codes) == small
    assert [one.variable for one in detail.finest] == ["age"]
    verdict = ask(decided, CENSUS.spec("area", "age"))
    assert set(verdict.withheld[0].codes) == small
    coarse = CENSUS.spec("area", f"age@{detail.finest[0].level}")
    assert ask(decided, coarse).outcome is Outcome.ALLOWED


def test_what_goes_into_the_policy_holds_no_count() -> None:
    rules = DesignRules(minimum_population=40, minimum_category=36)
    report = design(policy(design=rules), CENSUS)
    decided = with_decisions(report)
    assert "confidential" in repr(report)
    assert "confidential" in repr(report.areas[0])
    told, with_counts = " ".join(report.lines()), " ".join(report.lines(counts=True))
    for one in (*report.areas, *report.categories):
        for code, count in zip(one.codes, one.counts, strict=True):
            assert f"{code} ({count:,})" in with_counts
            assert f"({count:,})" not in told
    assert not any("count" in name for name in type(decided.decided).__dataclass_fields__)
    with pytest.raises(Refused):
        report.__reduce_ex__(4)


# ------------------------------------------------------------------------------- exempt totals


def area_census() -> Census:
    """Four places in two districts, and in two constituencies that differ by one place of 1."""
    draw = np.random.default_rng(2)
    codes = tuple(Code(str(at)) for at in range(4))
    two = (Code("a"), Code("b"))
    schema = Schema(
        census=CensusInfo(name="areas"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=(
            Variable(
                name="place",
                entity=Entity.PERSON,
                codes=codes,
                role=Role.GEOGRAPHY,
                hierarchies=(
                    Hierarchy("d", (Level("district", two, (0, 0, 1, 1)),)),
                    Hierarchy("c", (Level("constituency", two, (0, 0, 0, 1)),)),
                ),
            ),
        ),
    )
    place = np.repeat(np.arange(4), [50, 40, 1, 60])
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={"place": place.astype(np.uint8)},
        keys=draw.integers(0, 1 << 32, place.size, dtype=np.uint64).astype(np.uint32),
        values={},
        origin=Origin(KeySpace(), "", "x"),
    )
    return Census(schema, records)


def test_exempt_totals_that_differ_by_few_people_are_found() -> None:
    """District a has 90 people, constituency a 91: the difference is one person."""
    census = area_census()
    district = RecordSet("people by district", Entity.PERSON, ("place@district",))
    constituency = RecordSet("people by constituency", Entity.PERSON, ("place@constituency",))
    one = Policy(name="x", schema=census.schema, exempt=(district,))
    both = Policy(name="x", schema=census.schema, exempt=(district, constituency))
    assert check_exempt(one, census) == ()
    found = check_exempt(both, census)
    assert sum(one.count for one in found) > 0
    report = design(both, census)
    assert any("Exempt totals that show few people together" in line for line in report.lines())
    assert any("no two of them differ" in line for line in design(one, census).lines())


def test_exempt_totals_that_are_few_people_by_themselves_are_found() -> None:
    """Place 2 has one person: publishing its total exactly names that person."""
    census = area_census()
    place = RecordSet("people by place", Entity.PERSON, ("place",))
    made = Policy(name="x", schema=census.schema, exempt=(place,))
    found = check_exempt(made, census)
    assert [(one.kind, one.count) for one in found] == [(FindingKind.IDENTIFICATION, 1)]
    lines = list(design(made, census).lines(counts=True))
    at = lines.index("Exempt totals that are few people by themselves: 1.")
    assert "one person" in lines[at + 1]


# --------------------------------------------------------------------------------- one household


def household_census(folder: Path) -> Census:
    """Six persons: two of area 0 live together, of area 1 two apart and one in no household."""
    schema = Schema(
        census=CensusInfo(name="households"),
        entities=(
            EntitySpec(
                entity=Entity.PERSON,
                id=("id",),
                within=Entity.HOUSEHOLD,
                link=("h",),
                optional=True,
            ),
            EntitySpec(entity=Entity.HOUSEHOLD, id=("h",)),
        ),
        variables=(
            Variable(
                name="area",
                entity=Entity.PERSON,
                codes=tuple(Code(str(at)) for at in range(4)),
                role=Role.GEOGRAPHY,
            ),
        ),
    )
    people = Units(
        keys=np.arange(6, dtype=np.uint32) * 77_777,
        leaves={"area": np.array([0, 0, 1, 1, 2, 2])},
        parents={Entity.HOUSEHOLD: np.array([0, 0, 1, 2, -1, -1])},
    )
    households = Units(keys=np.arange(3, dtype=np.uint32))
    write_store(folder, schema, {Entity.HOUSEHOLD: households, Entity.PERSON: people})
    return open_store(folder)


def test_cells_of_one_household_are_found_and_withheld(tmp_path: Path) -> None:
    census = household_census(tmp_path / "store")
    cube = census.tabulate("area", households=True)
    assert isinstance(cube, Cube)
    found = one_household_cells(cube)
    assert found.cells.tolist() == [True, False, False, False, False]
    assert (found.count, found.nonzero, found.share) == (1, 4, 0.25)
    assert "confidential" in repr(found)
    report = Policy(
        name="x",
        schema=census.schema,
        design=DesignRules(one_household_cells=OneHousehold.REPORT),
    )
    table = RandomRounding(3).protect(cube).table
    assert isinstance(table, Table)
    shown = withhold_households(table, found)
    assert shown.flags is not None
    assert np.flatnonzero(shown.flags == Mark.WITHHELD).tolist() == [0]
    lines = list(design(report, census, tables=[census.spec("area")]).lines())
    assert any("one household: 1, 25.0 % of those that hold anybody" in line for line in lines)
    empty = census.tabulate("area", universe="area == '3'", households=True)
    assert one_household_cells(empty).share is None


def test_tables_without_households_are_refused(tmp_path: Path) -> None:
    census = household_census(tmp_path / "store")
    with pytest.raises(SpecError, match="households=True"):
        one_household_cells(census.tabulate("area"))
    cube = census.tabulate("area", households=True)
    other = RandomRounding(3).protect(census.tabulate()).table
    with pytest.raises(SpecError, match="not the table whose households"):
        withhold_households(other, one_household_cells(cube))  # type: ignore[arg-type]
