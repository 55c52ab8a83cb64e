from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.demo import make_country
from sdcensus.documents.policy.document import read_policy
from sdcensus.ingest.identities import undeclared_identities
from sdcensus.model.progress import no_progress
from sdcensus.model.published.table import Table
from sdcensus.model.schema.identities import ties_of
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import Question
from sdcensus.risk.looks.budget import look_budget
from sdcensus.risk.looks.chance import large_variance
from sdcensus.session.answer.budgets import open_budgets, open_menu
from sdcensus.session.answer.opening import open_service
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.demo.country import Demonstration, make_demonstration, noise_for
from sdcensus.session.gate.tied_units import ties_in_policy
from sdcensus.session.looks.budget import opened_plan
from sdcensus.session.protect.plan_method import planned_method


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    out = tmp_path_factory.mktemp("demo") / "demo"
    return make_demonstration(
        out, country=make_country(2_000), seed=5, file_format="parquet", progress=no_progress
    )


@pytest.fixture(scope="module")
def census(made: Demonstration) -> Census:
    return open_store(made.store)


def test_the_builder_of_the_demo_opens_with_the_noise_of_its_plan(made: Demonstration) -> None:
    service = open_service(made.store, made.policy, plan=made.plan, secret=made.server_secret)
    assert {budget.of.value for budget in service.budgets} >= {"person", "household", "dwelling"}
    assert all(budget.met and budget.chance <= budget.limit == 0.5 for budget in service.budgets)


def test_its_noise_stays_moderate(made: Demonstration, census: Census) -> None:
    """The smallest group grows with the largest deviation, and hides more with it."""
    design = noise_for(read_policy(made.policy, census.schema))
    assert design.max_deviation <= 10
    assert large_variance(design) <= 13


def test_builder_and_plan_publish_the_same_numbers(made: Demonstration, census: Census) -> None:
    service = open_service(made.store, made.policy, plan=made.plan, secret=made.secret)
    question = Question.from_json({"of": "persons", "by": ["ed@region", "sex", "age@broad"]})
    answer = service.answer(question, "public")
    plan, found = opened_plan(made.plan)
    method = planned_method(plan, found, Entity.PERSON, secret=made.secret)
    table = method.protect(census.tabulate("ed@region", "sex", "age@broad")).table
    assert isinstance(table, Table)
    assert answer.table is not None
    assert answer.table.values.tolist() == table.published.tolist()


def test_its_noise_is_no_larger_than_the_menu_needs(made: Demonstration, census: Census) -> None:
    policy = read_policy(made.policy, census.schema)
    plan, found = opened_plan(made.plan)
    methods = {
        entity.entity: planned_method(plan, found, entity.entity, secret=made.secret)
        for entity in census.schema.entities
    }
    budgets = open_budgets(policy, methods)
    variance = large_variance(noise_for(policy))
    for budget in budgets:
        assert budget.variance == pytest.approx(variance, rel=1e-6)
    largest = max(budget.requirement.variance for budget in budgets)
    assert largest <= variance <= 1.1 * largest  # upwards to two digits


def test_its_menu_is_useful(made: Demonstration, census: Census) -> None:
    policy = read_policy(made.policy, census.schema)
    for entity, least in (("person", 15), ("household", 11), ("dwelling", 7), ("building", 3)):
        menu = open_menu(
            policy, next(one.entity for one in census.schema.entities if one.entity.value == entity)
        )
        assert menu is not None
        assert len(menu.variables) >= least
        assert menu.dimensions == 3
        assert look_budget(menu).asked.looks > 1


def test_the_demo_declares_what_ties_its_units_and_shows_none_of_it_twice(
    made: Demonstration, census: Census
) -> None:
    assert undeclared_identities(census.store) == ()
    assert {tie.times for tie in ties_of(census.schema)} >= set(range(1, 11))
    policy = read_policy(made.policy, census.schema)
    assert ties_in_policy(policy) == ()
    # What it leaves out is what would show it.
    without = tuple(replace(rule, units=None) for rule in policy.variables)
    opened = ties_in_policy(replace(policy, variables=without))
    assert {tie.variable for tie in opened} == {"household_size", "household_type"}


def test_the_store_of_the_demo_keeps_its_map(made: Demonstration, census: Census) -> None:
    geography = census.schema.geography
    assert geography is not None
    content = census.store.map("ed")
    assert content == (made.folder / "country" / "codes" / "areas.geojson").read_bytes()
    for level in geography.levels():
        drawn = census.map("ed", level.name)
        assert drawn is not None
        codes = [one["properties"]["code"] for one in drawn["features"]]
        assert sorted(codes) == sorted(code.code for code in level.codes if not code.is_missing)
        assert census.map("ed", level.name) is drawn
    assert census.map("sex") is None


def test_levels_that_a_map_does_not_draw_are_joined(
    made: Demonstration, tmp_path: Path, census: Census
) -> None:
    from sdcensus.ingest.load import read_maps
    from sdcensus.model.schema.area_shapes import doubled_areas, read_shapes
    from sdcensus.session.census.maps import _at_level

    geography = census.schema.variable("ed")
    (only,) = read_maps(census.schema, made.folder / "country")
    assert not only.note
    drawn = read_shapes(only.content, geography, "map")
    joined = _at_level({"ed": drawn["ed"]}, geography, "parish")
    assert joined is not None
    areas = [
        dict(
            zip(
                one.codes,
                np.bincount(one.area_of, doubled_areas(one), len(one.codes)).tolist(),
                strict=True,
            )
        )
        for one in (joined, drawn["parish"])
    ]
    assert areas[0] == areas[1]


def test_areas_that_a_map_lacks_are_told(made: Demonstration, census: Census) -> None:
    from sdcensus.ingest.load import CensusMap

    document = json.loads(census.store.map("ed") or b"")
    assert {one["properties"]["level"] for one in document["features"]} >= {"ed", "parish"}
    lacking = CensusMap("ed", b"", ("E1", "E2"), "areas.geojson")
    assert str(lacking.note) == "areas.geojson does not show areas of ed: E1, E2"
