"""What the product writes passes the product's own checks unchanged: recommendations, drafts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sdcensus.demo import make_country
from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.policy.document import read_policy
from sdcensus.documents.policy.text import policy_text
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import LONGEST, Secret
from sdcensus.session.answer import open_service
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.demo.country import make_demonstration
from sdcensus.session.gate.tied_units import ties_in_policy
from sdcensus.session.protect.plan_method import planned_method, planned_smallest_group
from sdcensus.session.protect.smallest_group import (
    group_claim,
    largest_private_household,
    suggested_smallest_group,
)
from sdcensus.session.publish.estimate import check_plan
from sdcensus.session.publish.run import publish
from sdcensus.session.recommend.files import write_recommendation
from sdcensus.session.recommend.plan_draft import draft_plan
from sdcensus.session.recommend.recommendation import recommend
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island_schema, island_store, island_units
from sdcensus.testing.stores import Units, write_store
from tests.hamlet import rows, write_hamlet


@dataclass(frozen=True)
class Place:
    """A census, and the file of its secret."""

    store: Path
    secret: Path
    quick: bool = True

    @property
    def census(self) -> Census:
        return open_store(self.store)


def of_the_demo(folder: Path) -> Place:
    """With households, families, dwellings, and identities between them."""
    made = make_demonstration(
        folder / "demo",
        country=make_country(6_000),
        seed=5,
        file_format="parquet",
        progress=no_progress,
    )
    return Place(made.store, made.secret, quick=False)


def of_a_hamlet(folder: Path) -> Place:
    """With persons in households."""
    persons, households = rows(houses=2_500)
    hamlet = write_hamlet(folder, persons=persons, households=households)
    hamlet.load()
    return Place(hamlet.store, hamlet.secret)


def of_an_island(folder: Path) -> Place:
    """Without households."""
    island_store(folder / "census.store", 6_000)
    write_secret(SECRET, folder / "office.secret")
    return Place(folder / "census.store", folder / "office.secret")


def without_areas(folder: Path) -> Place:
    """Without households and without geography."""
    whole, units = island_schema(), island_units(6_000)
    kept = tuple(
        variable for variable in whole.variables if variable.name in ("sex", "age", "married")
    )
    schema = replace(whole, variables=kept, impossible=())
    leaves = {one.name: units.leaves[one.name] for one in kept}
    write_store(
        folder / "census.store",
        schema,
        {Entity.PERSON: Units(keys=units.keys, leaves=leaves)},
        secret_id=SECRET.id,
    )
    write_secret(SECRET, folder / "office.secret")
    return Place(folder / "census.store", folder / "office.secret")


PLACES = {one.__name__: one for one in (of_the_demo, of_a_hamlet, of_an_island, without_areas)}


@pytest.fixture(scope="module", params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Place:
    make: Callable[[Path], Place] = PLACES[request.param]
    return make(tmp_path_factory.mktemp(request.param))


def guaranteed(plan_file: Path, census: Census) -> int:
    """Of how many units no cell is broken down in what a plan publishes."""
    plan = read_plan(plan_file, lambda _: census.schema)
    smallest = planned_smallest_group(plan, census.schema)
    assert smallest is not None
    method = planned_method(plan, census, Entity.PERSON, secret=Secret(bytes(LONGEST)))
    return group_claim(method, smallest).units


def test_a_recommended_builder_opens_unchanged(place: Place, tmp_path: Path) -> None:
    census = place.census
    found = recommend(census, "builder")
    assert found.policy.limits.dimensions is not None
    assert found.policy.limits.dimensions >= 3
    write_recommendation(found, place.store, tmp_path)
    policy, plan = tmp_path / "policy.toml", tmp_path / "plan.toml"
    service = open_service(place.store, policy, plan=plan, secret=place.secret)
    assert all(budget.met for budget in service.budgets)
    assert service.risks is not None
    assert not service.risks.risks
    assert not ties_in_policy(read_policy(policy, census.schema))
    assert guaranteed(plan, census) >= largest_private_household(census)
    # The same without its plan: nothing but noise of its own has to be said.
    assert found.noise.lookup is Lookup.DEFINITION
    assert read_policy(policy, census.schema).online.smallest_group is not None


@pytest.mark.parametrize("product", ["report", "programme"])
def test_a_recommended_plan_is_published_unchanged(
    place: Place, product: str, tmp_path: Path
) -> None:
    """Nobody has to accept a risk by name."""
    census = place.census
    write_recommendation(recommend(census, product), place.store, tmp_path)
    plan = tmp_path / "plan.toml"
    checked = check_plan(plan, secret=place.secret)
    assert not checked.gate.risks
    assert guaranteed(plan, census) == max(3, largest_private_household(census))
    if place.quick:
        publish(plan, secret=place.secret)
    assert "hashed" not in plan.read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", ["toml", "xlsx"])
def test_a_draft_is_published_unchanged(place: Place, ending: str, tmp_path: Path) -> None:
    census = place.census
    path = tmp_path / f"plan.{ending}"
    made = draft_plan(census, place.store, path)
    assert made.plan.protect is not None
    assert made.plan.protect.smallest_group is not None
    assert made.policy is None
    assert not check_plan(path, secret=place.secret).gate.risks
    assert guaranteed(path, census) == max(3, largest_private_household(census))
    if place.quick:
        publish(path, secret=place.secret)


@pytest.mark.soak
def test_the_demo_is_published_by_a_draft_and_by_advice(tmp_path: Path) -> None:
    place = of_the_demo(tmp_path)
    write_recommendation(recommend(place.census, "programme"), place.store, tmp_path / "advice")
    (tmp_path / "drafted").mkdir()
    draft_plan(place.census, place.store, tmp_path / "drafted" / "plan.toml")
    for folder in ("advice", "drafted"):
        report = publish(tmp_path / folder / "plan.toml", secret=place.secret)
        assert report.products


@pytest.mark.parametrize("smallest", [None, 4, 500])
def test_a_plan_says_what_the_policy_of_the_office_does_not(
    smallest: int | None, tmp_path: Path
) -> None:
    """A policy with a larger group stays as it is; a plan never lowers it."""
    place = of_an_island(tmp_path)
    census = place.census
    own = Policy(
        name="Own",
        schema=census.schema,
        limits=Limits(dimensions=3),
        online=OnlineRules(smallest_group=smallest),
    )
    file = tmp_path / "policy.toml"
    file.write_text(policy_text(own), encoding="utf-8", newline="\n")
    found = recommend(census, "programme", policy=own, policy_file=file)
    assert found.plan.protect is not None
    suggested = suggested_smallest_group(census, found.noise.design.max_deviation)
    assert found.plan.protect.smallest_group == (None if smallest == 500 else suggested)
    write_recommendation(found, place.store, tmp_path / "advice")
    assert guaranteed(tmp_path / "advice" / "plan.toml", census) >= largest_private_household(
        census
    )
    drafted = draft_plan(census, place.store, tmp_path / "plan.toml")
    assert drafted.policy == file
    assert guaranteed(tmp_path / "plan.toml", census) >= largest_private_household(census)
    publish(tmp_path / "plan.toml", secret=place.secret)
    said = " ".join(reason.what for reason in found.policy_reasons)
    assert f"published below {max(suggested, smallest or 0)} are not broken down" in said
