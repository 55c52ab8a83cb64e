"""The map of a grid: every square is drawn in the colour of its number, and can be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.session.answer import TableService
from sdcensus.session.census.census import open_store
from sdcensus.session.derive import derive
from sdcensus.testing.grid_island import SIDE, SOUTH, WEST, grid_island
from tests.gridland import gridland
from tests.microdata.test_multilevel_grid import GRID, village
from tests.session.answer.services import METHOD
from tests.web.browser.building import Builder, words
from tests.web.browser.test_accessibility import check
from tests.web.servers import TABLES, Place, opened

COLUMNS, ROWS = 24, 18
#: The colour in the middle of each square, from the south-west, row by row.
COLOURS = """([columns, rows]) => {
  const canvas = document.querySelector(".r-squares canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const colours = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const x = Math.floor(((column + 0.5) / columns) * canvas.width);
      const y = Math.floor(((rows - row - 0.5) / rows) * canvas.height);
      const from = 4 * (y * canvas.width + x);
      colours.push([...data.slice(from, from + 4)]);
    }
  }
  return colours;
}"""
#: How many colours lie in some squares: a hatch has two.
IN_SQUARES = """([columns, rows, squares]) => {
  const canvas = document.querySelector(".r-squares canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const [wide, high] = [canvas.width / columns, canvas.height / rows];
  return squares.map(([column, row]) => {
    const seen = new Set();
    for (let y = 2; y < high - 2; y += 1) {
      for (let x = 2; x < wide - 2; x += 1) {
        const across = Math.floor(column * wide + x);
        const from = 4 * (Math.floor((rows - 1 - row) * high + y) * canvas.width + across);
        seen.add(data.slice(from, from + 4).join());
      }
    }
    return seen.size;
  });
}"""


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    census = grid_island(COLUMNS, ROWS, 9_000)
    limits = Limits(dimensions=3, cells=100_000)
    policy = Policy(name="grid", schema=census.schema, limits=limits, online=OnlineRules())
    service = TableService(census, policy, {Entity.PERSON: METHOD})
    with opened(tmp_path_factory.mktemp("grid"), service) as place:
        yield place


@pytest.fixture
def map_page(grid: Place, builder: Callable[..., Builder]) -> Callable[..., Page]:
    def open_map(*by: str, **more: str) -> Page:
        page = builder(None, url=grid.server.url).ask(*by, tab="map", **more).page
        expect(page.locator(".r-squares[data-drawn]")).to_be_visible()
        return page

    return open_map


def answer(grid: Place, *by: str) -> dict[str, Any]:
    document: dict[str, Any] = grid.client.post(TABLES, json={"of": "persons", "by": by}).json()
    return document


def classes(page: Page) -> list[tuple[int, int, tuple[int, ...]]]:
    """The classes of the legend: from, to, colour."""
    found = page.locator(".r-classes li:not(:has(.r-hatched))").evaluate_all(
        "all => all.map(one => [one.innerText, getComputedStyle(one.querySelector('i'))"
        ".backgroundColor.match(/\\d+/g).map(Number)])"
    )
    ends = [(text.split(" – ")[0], text.split(" – ")[-1]) for text, _ in found]
    return [
        (int(low), int(high), tuple(colour))
        for (low, high), (_, colour) in zip(ends, found, strict=True)
    ]


def code(column: int, row: int) -> str:
    return f"CRS3035RES{SIDE}mN{SOUTH + row * SIDE}E{WEST + column * SIDE}"


def test_every_square_has_the_colour_of_its_number(
    grid: Place, map_page: Callable[..., Page]
) -> None:
    page = map_page("square")
    assert page.locator(".r-squares").get_attribute("data-drawn") == str(COLUMNS * ROWS)
    values = answer(grid, "square")["value"][: COLUMNS * ROWS]
    colours = page.evaluate(COLOURS, [COLUMNS, ROWS])
    legend = classes(page)
    assert len(legend) > 3
    for value, colour in zip(values, colours, strict=True):
        (expected,) = [tint for low, high, tint in legend if low <= value <= high]
        assert tuple(colour[:3]) == expected
        assert colour[3] == 255
    # No shapes are fetched: codes tell where squares lie.
    fetched = page.evaluate("performance.getEntriesByType('resource').map(one => one.name)")
    assert not [address for address in fetched if "/map" in address and "/api/" in address]
    # Other numbers, other colours: the classes follow what is published.
    page.locator("[data-focus='map-method']").select_option("equal")
    expect(page.locator(".r-squares[data-drawn]")).to_be_visible()
    assert classes(page) != legend


def test_a_square_is_read_by_pointer_and_by_arrow_keys(
    grid: Place, map_page: Callable[..., Page]
) -> None:
    page = map_page("square")
    values = answer(grid, "square")["value"]
    page.locator("[data-focus='map-squares']").focus()
    now = page.locator(".r-square-now")
    for key, column, row in [
        ("ArrowRight", 0, 0),
        ("ArrowRight", 1, 0),
        ("ArrowUp", 1, 1),
        ("ArrowLeft", 0, 1),
        ("ArrowLeft", 0, 1),
        ("ArrowDown", 0, 0),
        ("End", COLUMNS - 1, ROWS - 1),
        ("Home", 0, 0),
    ]:
        page.keyboard.press(key)
        expect(now).to_have_text(f"{code(column, row)} · {values[row * COLUMNS + column]}")
    expect(page.locator(".r-squares-mark")).to_be_visible()
    frame = page.locator(".r-squares canvas").bounding_box()
    assert frame is not None
    column, row = 7, 5
    page.mouse.move(
        frame["x"] + frame["width"] * (column + 0.5) / COLUMNS,
        frame["y"] + frame["height"] * (ROWS - row - 0.5) / ROWS,
    )
    tip = page.locator(".r-squares .r-tip")
    expect(tip).to_have_text(f"{code(column, row)} · {values[row * COLUMNS + column]}")
    # The list holds the highest, in their order.
    listed = page.locator(".r-areas li b").all_inner_texts()
    highest = sorted((value for value in values[: COLUMNS * ROWS]), reverse=True)[: len(listed)]
    assert [int(text) for text in listed] == highest


def test_withheld_squares_are_marked_and_have_no_class(
    grid: Place, map_page: Callable[..., Page]
) -> None:
    withheld = {(3, 4): ":", (10, 9): "k"}

    def without(route: Route) -> None:
        document = json.loads(route.fetch().text())
        status = document.setdefault("status", {})
        for (column, row), sign in withheld.items():
            document["value"][row * COLUMNS + column] = None
            status[str(row * COLUMNS + column)] = sign
        labels = document["extension"].setdefault("status", {}).setdefault("label", {})
        labels.update({":": "withheld", "k": "not broken down"})
        route.fulfill(json=document)

    page = map_page("square")
    page.route("**/api/v1/tables*", without)
    page.reload()
    expect(page.locator(".r-squares[data-drawn]")).to_be_visible()
    looked_at = [*map(list, withheld), [0, 0]]
    assert page.evaluate(IN_SQUARES, [COLUMNS, ROWS, looked_at]) == [2, 2, 1]
    expect(page.locator(".r-classes .r-hatched")).to_have_count(2)
    expect(page.locator(".r-message").first).to_contain_text("2 areas have no published figure.")
    page.locator("[data-focus='map-squares']").focus()
    page.keyboard.press("Home")
    for _ in range(4):
        page.keyboard.press("ArrowUp")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".r-square-now")).to_have_text(f"{code(3, 4)} · :")


def test_a_grid_can_be_downloaded_as_a_layer(grid: Place) -> None:
    question = {"of": "persons", "by": "square", "lang": "en"}
    for name, start in (("gpkg", b"SQLite format 3"), ("geoparquet", b"PAR1")):
        answer = grid.client.get(TABLES, params={**question, "format": name})
        assert answer.status_code == 200
        assert answer.content.startswith(start)
        assert (
            answer.content == grid.client.get(TABLES, params={**question, "format": name}).content
        )


def test_shares_and_those_in_no_square(grid: Place, map_page: Callable[..., Page]) -> None:
    page = map_page("square", "sex")
    assert "%" in page.locator(".r-classes").inner_text()
    expect(page.locator(".r-message").last).to_contain_text("Not allocated")
    page.locator("[data-focus='map-measure']").select_option("count")
    expect(page.locator(".r-squares[data-drawn]")).to_be_visible()
    assert "%" not in page.locator(".r-classes").inner_text()


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A loaded census whose grid has groups of squares."""
    points, sizes = village()
    land = gridland(tmp_path_factory.mktemp("land"), points, GRID, sizes=sizes)
    land.load()
    out = land.folder / "grouped.store"
    derive(
        land.store,
        out,
        "multilevel-grid",
        {"variable": "ed_grid", "at_least": 11},
        secret=land.secret,
    )
    census = open_store(out)
    policy = Policy(name="grid", schema=census.schema, limits=Limits(), online=OnlineRules())
    service = TableService(census, policy, {Entity.HOUSEHOLD: METHOD})
    with opened(tmp_path_factory.mktemp("grouped"), service) as place:
        yield place


def test_groups_of_squares_are_drawn_with_all_their_squares(
    grouped: Place, builder: Callable[..., Builder]
) -> None:
    asked = builder(None, url=grouped.server.url).ask("ed_grid@groups", of="households", tab="map")
    page = asked.page
    squares = page.locator(".r-squares[data-drawn='14']")
    expect(squares).to_be_visible()
    # The valley has 8 x 4 squares of 100 m. Two groups are of squares of 200 m: two in the west,
    # three in the east, so that all of their places have one colour.
    colours = page.evaluate(COLOURS, [8, 4])
    west = {tuple(colours[8 * row + column]) for row in range(4) for column in range(2)}
    assert len(west) == 1
    east = [(0, 4), (1, 5), (0, 6), (1, 7), (2, 4), (3, 5)]
    assert len({tuple(colours[8 * row + column]) for row, column in east}) == 1
    expect(page.locator(".r-message").last).to_contain_text("Not allocated")
    # Arrows go from group to group, whatever their squares are.
    now = page.locator(".r-square-now")
    squares.focus()
    page.keyboard.press("ArrowRight")
    expect(now).to_contain_text("CRS3035RES200mN0E0x2")
    expect(page.locator(".r-squares-mark")).to_have_count(2)
    page.keyboard.press("ArrowRight")
    expect(now).to_contain_text("CRS3035RES100mN0E200")
    page.keyboard.press("ArrowLeft")
    expect(now).to_contain_text("CRS3035RES200mN0E0x2")


def test_the_grid_of_a_loaded_census_has_a_map(
    grouped: Place, builder: Callable[..., Builder]
) -> None:
    asked = builder(None, url=grouped.server.url).ask("ed_grid@200m", of="households", tab="map")
    expect(asked.page.locator(".r-squares[data-drawn='8']")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "es", "fr", "nl", "pt"])
def test_in_every_language_without_a_fault_of_access(
    language: str, map_page: Callable[..., Page]
) -> None:
    page = map_page("square", lang=language)
    expect(page.locator(".r-square-now")).to_have_text(words(language, "result.map.keys"))
    assert words(language, "result.map.keys") in (
        page.locator(".r-squares").get_attribute("aria-label") or ""
    )
    if language == "en":
        check(page)


def test_it_prints_with_its_legend(map_page: Callable[..., Page]) -> None:
    page = map_page("square")
    page.emulate_media(media="print")
    expect(page.locator(".r-squares canvas")).to_be_visible()
    expect(page.locator(".r-classes")).to_be_visible()
    expect(page.locator(".r-controls")).to_be_hidden()
    page.emulate_media(media="screen")
