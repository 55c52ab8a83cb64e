from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.model.cube.cube import Origin
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.policy.policy import AtLevel, Limits, Policy, VariableRule
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.schema import KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role
from sdcensus.risk.looks.chance import recovery_with
from sdcensus.session.census.census import Census
from sdcensus.session.policy.code_rules import passes
from sdcensus.session.protect.table import build_method, protect_table
from sdcensus.session.recommend.files import write_recommendation
from sdcensus.session.recommend.menus import MEAN_CELL
from sdcensus.session.recommend.noise import SMALL_CELLS, noise_for
from sdcensus.session.recommend.recommendation import (
    Recommendation,
    RecommendedProduct,
    noise_words,
    recommend,
    versions_of,
)
from sdcensus.session.recommend.tables import SPARSE_AREAS, has_many_small
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island, island_schema, island_store, island_units

PRODUCTS = ("report", "programme", "builder")


def census_of(schema: Schema, people: int = 2_000) -> Census:
    """The island with some of its variables, or with other roles."""
    units = island_units(people)
    names = [variable.name for variable in schema.variables if variable.is_axis]
    return Census(
        schema,
        InMemoryRecords(
            schema,
            Entity.PERSON,
            codes={name: units.leaves[name].astype(np.uint8) for name in names},
            keys=units.keys,
            origin=Origin(KeySpace(), SECRET.id, "island"),
        ),
    )


def with_variables(*names: str, roles: dict[str, Role | None] | None = None) -> Schema:
    schema = island_schema()
    kept = [variable for variable in schema.variables if variable.name in names]
    changed = [
        replace(one, role=roles[one.name]) if roles and one.name in roles else one for one in kept
    ]
    return replace(schema, variables=tuple(changed), impossible=())


@pytest.mark.parametrize("product", PRODUCTS)
def test_what_is_proposed_keeps_within_its_own_limits(product: str) -> None:
    census = island(5_000)
    found = recommend(census, product)
    noise = found.noise
    assert noise.together <= 0.5
    assert noise.together == pytest.approx(recovery_with(noise.looks, noise.design))
    assert noise.given_away <= 0.01
    assert noise.looks == max(budget.asked.looks for budget in found.budgets)
    for table in found.tables:
        spec = table.table.spec(census.schema)
        assert passes(found.policy, spec, "production")
        cells = np.prod(
            [
                len(axis.levels[0].codes)
                for axis in spec.axes
                if table.area is None or axis.variable.name != "area"
            ]
        )
        if table.area is not None:
            assert table.area.share_with(int(cells), MEAN_CELL) >= 1 - SPARSE_AREAS
    assert found.rejected
    assert all(one.why for one in found.rejected)
    assert all(reason.why for reason in found.policy_reasons)


def test_small_and_large_countries_get_different_advice() -> None:
    small, large = recommend(island(400), "report"), recommend(island(40_000), "report")
    areas = {table.table.name: table.area for table in small.tables}
    assert areas["age-by-sex"] is None  # fewer than two in a cell, in every area
    assert all(table.area is not None and table.area.axis == "area" for table in large.tables)
    assert any("fewer than 1,000" in caution for caution in small.cautions)
    assert ["before the first publication" in caution for caution in large.cautions] == [True]
    with pytest.raises(SpecError, match="No builder can be recommended"):
        recommend(island(40), "builder")
    assert not recommend(island(400), "builder").policy.rule_of("area").offered
    assert recommend(island(40_000), "builder").policy.limits.dimensions == 4


def test_many_ones_and_twos_ask_for_noise_that_shows_none() -> None:
    census = island(90)
    found = recommend(census, "programme")
    share = float(
        str(next(reason for reason in found.noise.reasons if "one or two units" in reason)).split(
            "%"
        )[0]
    )
    blocked = found.noise.design.blocked
    assert (blocked == 2) == (share / 100 > SMALL_CELLS)
    assert noise_for(found.budgets, SMALL_CELLS + 0.01).design.blocked == 2
    assert noise_for(found.budgets, SMALL_CELLS).design.blocked == 0
    # Where ones and twos are seen, no table has too many of them for the policy.
    assert blocked or not has_many_small(census, found.policy, found.tables)


def test_sensitive_variables_stand_with_large_areas_only() -> None:
    schema = with_variables("area", "sex", "age", "married", roles={"married": Role.SENSITIVE})
    found = recommend(census_of(schema, 6_000), "report")
    rule = found.policy.rule_of("married")
    assert rule.finest_area is not None
    assert str(rule.finest_area) == "area@district"
    assert not rule.as_filter
    table = next(table for table in found.tables if "married" in table.table.name)
    assert table.area is not None
    assert table.area.axis == "area@district"


def test_more_open_builders_are_rejected_with_their_noise() -> None:
    found = recommend(island(1_500), "builder")
    said = [one for one in found.rejected if one.what.startswith("a builder")]
    assert said
    assert any("variance" in one.why for one in said)
    assert found.policy.lock
    assert found.policy.limits.cells == 100_000


@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("people", [400, 5_000])
def test_plan_and_policy_read_back_and_hold_no_count(
    product: str, people: int, tmp_path: Path
) -> None:
    census = island(people)
    found = recommend(census, product)
    folder = tmp_path / "advice" / "first"
    files = write_recommendation(found, tmp_path / "island.store", folder)
    assert folder / "plan.toml" in files
    plan = read_plan(folder / "plan.toml", lambda _: census.schema)
    assert plan == replace(found.plan, store="../../island.store")
    assert read_policy(folder / "policy.toml", census.schema) == found.policy
    assert (folder / "perturbation.csv").exists() == (not found.noise.strength)
    for name in ("plan.toml", "policy.toml"):
        text = (folder / name).read_text(encoding="utf-8")
        for area in found.facts.areas:
            for size in area.units:
                assert size < 10 or f"{size}" not in text.replace(",", "").split()
    with pytest.raises(OutputError, match="already exists"):
        write_recommendation(found, tmp_path / "island.store", folder)


def test_files_that_are_there_are_left_alone(tmp_path: Path) -> None:
    found = recommend(island(5_000), "report")
    (tmp_path / "policy.toml").write_text("mine", encoding="utf-8", newline="\n")
    with pytest.raises(OutputError, match=r"policy\.toml already exists"):
        write_recommendation(found, tmp_path / "x.store", tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["policy.toml"]
    (tmp_path / "file").write_text("", encoding="utf-8", newline="\n")
    with pytest.raises(OutputError, match="not a folder"):
        write_recommendation(found, tmp_path / "x.store", tmp_path / "file")


def test_the_proposed_noise_protects_a_table(tmp_path: Path) -> None:
    census = island_store(tmp_path / "island.store", 5_000)
    found = recommend(census, "builder")
    assert not found.noise.strength
    write_recommendation(found, tmp_path / "island.store", tmp_path)
    write_secret(SECRET, tmp_path / "office.secret")
    assert found.plan.protect is not None
    settings = dict(found.plan.protect.settings)
    assert set(settings) == {"perturbation"}  # definition keys are the usual ones
    method = build_method(
        found.plan.protect.method,
        census,
        options=MethodOptions(perturbation=tmp_path / str(settings["perturbation"])),
        secret=tmp_path / "office.secret",
    )
    protected = protect_table(census, found.plan.tables[0].spec(census.schema), method)
    assert protected.table.published.shape == protected.table.spec.shape


def test_a_table_that_the_policy_refuses_has_finest_versions() -> None:
    census = island(5_000)
    found = recommend(census, "report")
    policy = replace(found.policy, limits=Limits(dimensions=2, cells=50), roles=())
    found = replace(found, policy=policy)
    asked = versions_of(found, census, census.spec("area", "age", "sex", "married"))
    assert asked.verdict.outcome == "refused"
    assert asked.versions
    for version in asked.versions:
        assert len(version.axes) <= 2
        assert version.cells <= 50
    fine = versions_of(found, census, census.spec("sex"))
    assert fine.versions == (fine.spec,)


def test_an_office_keeps_to_its_own_policy(tmp_path: Path) -> None:
    census = island(5_000)
    own = Policy(
        name="Own",
        schema=census.schema,
        limits=Limits(dimensions=2, cells=100),
        variables=(VariableRule(variable="married", offered=False),),
    )
    file = tmp_path / "own.toml"
    found = recommend(census, "report", policy=own, policy_file=file)
    assert found.policy is own
    assert all(len(table.table.by) <= 2 for table in found.tables)
    assert not any("married" in table.table.name for table in found.tables)
    written = write_recommendation(found, tmp_path / "island.store", tmp_path / "out")
    assert "policy.toml" not in [one.name for one in written]
    plan = read_plan(tmp_path / "out" / "plan.toml")
    assert plan.policy is not None
    assert plan.policy.file == "../own.toml"


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_policy_that_opens_nothing_is_refused(product: str) -> None:
    census = island(5_000)
    closed = Policy(
        name="Closed",
        schema=census.schema,
        variables=tuple(
            VariableRule(variable=name, offered=False) for name in ("area", "sex", "age", "married")
        ),
    )
    with pytest.raises(SpecError, match=r"lets none of the usual tables pass|offers no variable"):
        recommend(census, product, policy=closed)


@pytest.mark.parametrize("product", PRODUCTS)
def test_a_census_without_geography_has_tables_of_the_whole(product: str) -> None:
    found = recommend(census_of(with_variables("sex", "age", "married")), product)
    assert all(table.area is None for table in found.tables)
    assert any("no geography" in caution for caution in found.cautions)
    assert found.noise.together <= 0.5


def test_a_census_of_areas_alone_has_one_table() -> None:
    found = recommend(census_of(with_variables("area")), "report")
    assert [table.table.by for table in found.tables] == [("area",)]
    assert any("recognised as age or sex" in caution for caution in found.cautions)


def test_empty_areas_are_named_and_do_not_make_tables_sparse() -> None:
    schema = with_variables("area", "sex")
    units = island_units(2_000)
    area = units.leaves["area"]
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={
            "area": np.where(area == 6, 5, area).astype(np.uint8),
            "sex": units.leaves["sex"].astype(np.uint8),
        },
        keys=units.keys,
        origin=Origin(KeySpace(), SECRET.id, "island"),
    )
    found = recommend(Census(schema, records), "report")
    assert any("1 area has no persons" in caution for caution in found.cautions)
    assert found.tables[0].area is not None
    assert found.tables[0].area.axis == "area"


def test_bad_input_is_refused_with_the_reason() -> None:
    with pytest.raises(UnknownName, match=r"no product 'newspaper'.*report, programme, builder"):
        recommend(island(50), "newspaper")
    with pytest.raises(SpecError, match="no variable with codes"):
        recommend(census_of(with_variables()), "report")
    empty = census_of(with_variables("sex"), 0)
    with pytest.raises(SpecError, match="no persons"):
        recommend(empty, "report")
    with pytest.raises(SpecError, match="too small for any table"):
        recommend(island(1), "report")


def test_reasons_are_sentences_and_results_are_confidential() -> None:
    found = recommend(island(5_000), RecommendedProduct.PROGRAMME)
    assert isinstance(found, Recommendation)
    for line in noise_words(found.noise):
        assert line.endswith(".")
        assert "safe" not in line
    for one in (found, found.facts, found.noise, *found.tables, *found.facts.areas):
        assert "confidential" in repr(one)
        assert "5000" not in f"{one}"


def crossing_schema() -> Schema:
    """The island with constituencies that cut across its districts, and with squares."""
    schema = with_variables("area", "sex", "age", "married", roles={"married": Role.SENSITIVE})
    area = next(variable for variable in schema.variables if variable.name == "area")
    codes = tuple(Code(f"C{at}") for at in range(4))
    constituencies = Hierarchy("votes", (Level("constituency", codes, (0, 1, 1, 1, 2, 3, 3)),))
    regions = Hierarchy("regions", (Level("region", codes[:2], (0, 0, 0, 1, 1, 1, 1)),))
    other = replace(area, hierarchies=(*area.hierarchies, constituencies, regions))
    return replace(
        schema,
        variables=tuple(other if variable is area else variable for variable in schema.variables),
    )


@pytest.mark.parametrize("product", PRODUCTS)
def test_areas_of_tables_lie_in_each_other(product: str) -> None:
    found = recommend(census_of(crossing_schema(), 9_000), product)
    assert [area.level.name for area in found.facts.areas] == ["parish", "district", "region"]
    assert [one.level.name for one in found.facts.across] == ["constituency"]
    assert any("area@constituency cuts across" in caution for caution in found.cautions)
    rule = found.policy.rule_of("married")
    assert str(rule.finest_area) == "area@region"  # one district is too small
    table = next(table for table in found.tables if "married" in table.table.name)
    assert table.area is not None
    assert table.area.level.name == "region"
    assert not any("no areas" in caution for caution in found.cautions)


def test_why_a_table_has_no_areas_is_said() -> None:
    census = census_of(with_variables("area", "sex", "age", "married"), 9_000)
    schema = census.schema
    small = AtLevel("area", "district")
    given = Policy(
        name="p",
        schema=schema,
        variables=(VariableRule(variable="married", finest_area=small),),
        never_together=((small, AtLevel("married", "")),),
    )
    found = recommend(census, "report", policy=given)
    assert [table.table.name for table in found.tables if table.refused] == ["married-sex"]
    text = " ".join(found.cautions)
    assert "tables has no areas: the policy refuses every level" in text
    assert "sparse" not in text
    sparse = " ".join(recommend(island(400), "report").cautions)
    assert "sparse" in sparse
    assert "the policy refuses" not in sparse


def test_squares_are_offered_by_no_product() -> None:
    grid = GridSpec("age", "x", "y", 3857, 1_000, (0, 0, 10_000, 1_000))
    census = census_of(replace(with_variables("area", "sex", "age"), grids=(grid,)))
    main = census.schema.geography
    assert main is not None
    for product in PRODUCTS:
        policy = recommend(census, product).policy
        offered = {one: policy.rule_of(one).offered for one in ("area", "age")}
        assert offered == {one: one == main.name for one in offered}


def test_one_area_is_no_area_for_a_builder() -> None:
    schema = with_variables("area", "sex", "age")
    area = next(variable for variable in schema.variables if variable.name == "area")
    whole = Hierarchy("whole", (Level("country", (Code("all"),), (0,) * 7),))
    one = replace(area, hierarchies=(*area.hierarchies, whole))
    schema = replace(
        schema, variables=tuple(one if each is area else each for each in schema.variables)
    )
    census = census_of(schema, 100)
    policy = recommend(census, "builder").policy
    assert not policy.rule_of("area").offered
    with pytest.raises(SpecError, match="No builder can be recommended"):
        recommend(census_of(schema, 30), "builder")


def test_independent_noise_is_not_said_to_add_up() -> None:
    words = " ".join(noise_words(recommend(island(5_000), "builder").noise))
    assert "add up as" not in words
    assert "noise of different questions is independent" in words
