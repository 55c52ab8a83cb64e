"""Homes by places of work: two geographies in one table, each with its map."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.session.answer import TableService
from tests.regions import COMMUNES, regions
from tests.session.answer.services import METHOD
from tests.web.browser.building import Builder
from tests.web.servers import Place, opened


@pytest.fixture(scope="module")
def land(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Homes have no map here, and places of work have one."""
    folder = tmp_path_factory.mktemp("land")
    census = regions(folder / "census", homes_on_map=False)
    policy = Policy(
        name="test",
        schema=census.schema,
        limits=Limits(dimensions=5, cells=100_000),
        online=OnlineRules(),
    )
    with opened(folder, TableService(census, policy, {Entity.PERSON: METHOD})) as made:
        yield made


def test_the_map_is_that_of_the_geography_that_has_one(
    land: Place, builder: Callable[..., Builder]
) -> None:
    page = builder(None, url=land.server.url).ask("home@region", "work@region")
    window = page.page
    page.control("tab-map").click()
    expect(window.locator(".r-drawing svg path").nth(3)).to_be_attached()
    expect(page.control("map-area")).to_have_value("work")
    # Four regions, and one for those who work nowhere.
    assert window.locator(".r-areas [role=option]").count() == len({row[0] for row in COMMUNES}) + 1
    page.control("map-area").select_option("home")
    expect(window.locator(".r-drawing")).to_contain_text(page.says("result.map.no_shapes"))
    page.control("map-area").select_option("work")
    expect(window.locator(".r-drawing svg path").nth(3)).to_be_attached()


def test_levels_that_share_their_codes_are_rows_of_their_own(
    land: Place, builder: Callable[..., Builder]
) -> None:
    page = builder(None, url=land.server.url).ask("home@region+province")
    told = page.page.locator("#result").inner_text()
    assert "Region 11" in told
    assert "Province 11" in told
