"""Brackets follow one rule: in tables, charts, maps, files, and figures of programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from sdcensus.session.answer import open_service
from tests.web.browser.building import SEEN, Builder, flat, number
from tests.web.servers import TABLES, Place, opened

BY = ("ed@parish", "ethnicity")
# No code of the office stands for these together.
OWN = {"ed": [{"label": "Mine", "codes": ["P001", "P002", "P004"]}]}
PROGRAM = "TABLE shares AS CROSSTABS OF person.ed@parish BY person.ethnicity PERCENT ROW\n"


@pytest.fixture(scope="module", params=[None, 5, 115], ids=["unsaid", "few", "many"])
def bracketed(
    request: pytest.FixtureRequest, country: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Place, int | None]]:
    """A server of an office that puts counts below a number of its own into brackets."""
    folder = tmp_path_factory.mktemp("brackets")
    text = (country / "policy.toml").read_text(encoding="utf-8")
    if request.param:
        text = text.replace(
            "smallest_group = 24", f"smallest_group = 24\nbrackets = {request.param}"
        )
    policy = folder / "policy.toml"
    policy.write_text(text, encoding="utf-8", newline="\n")
    service = open_service(
        country / "census.store",
        policy,
        plan=country / "plan.toml",
        secret=country / "demo.secret",
    )
    with opened(folder, service) as made:
        yield made, request.param


_PERCENT = str.maketrans("", "", "% \N{NO-BREAK SPACE}")


def is_bracketed(text: str) -> bool:
    return text.startswith("(") and any(map(str.isdigit, text))


def shown_rows(page: Builder, selector: str) -> dict[str, list[str]]:
    """The rows of a table by their heading."""
    rows = page.page.locator(selector)
    headings = rows.locator("th:last-of-type").all_inner_texts()
    return dict(zip(headings, rows.evaluate_all(SEEN), strict=True))


@pytest.mark.parametrize("groups", [None, OWN], ids=["codes", "own groups"])
def test_counts_have_the_same_brackets_everywhere(
    groups: dict[str, Any] | None,
    bracketed: tuple[Place, int | None],
    builder: Callable[..., Builder],
) -> None:
    place, below = bracketed
    question: dict[str, Any] = {"of": "persons", "by": list(BY)}
    more = {} if groups is None else {"groups": json.dumps(groups)}
    if groups is not None:
        question["groups"] = groups
    told = place.client.post(TABLES, json=question).json()
    low = list(told.get("status", {}).values()).count("( )")
    assert bool(low) == bool(below) or (below == 5 and low == 0)
    page = builder(None, url=place.server.url).ask(*BY, **more)
    table = shown_rows(page, "#result .r-table tbody tr")
    assert sum(map(is_bracketed, flat(list(table.values())))) == low
    if below and groups is None:
        shown = [text for text in flat(list(table.values())) if number(text)]
        assert all(is_bracketed(text) == (0 < (number(text) or 0) < below) for text in shown)
    if below and groups is not None:
        (sums,) = (row for heading, row in table.items() if heading.startswith("Mine"))
        check_sums(place, sums, below)
    # Files have the sign where the page has brackets.
    link = {"of": "persons", "by": list(BY), "format": "csv", **more}
    lines = list(csv.DictReader(io.StringIO(place.client.get(TABLES, params=link).text)))
    assert sum(line.get("flag") == "( )" for line in lines) == low
    # The chart's figures and the list of the map are those of the table.
    page.control("tab-chart").click()
    expect(page.page.locator(".r-drawing svg .role-mark path").first).to_be_attached()
    page.control("chart-category").select_option("ethnicity")
    if page.control("chart-measure").count():
        page.control("chart-measure").select_option("count")
    page.page.locator(".r-figures summary").click()
    inside = set(flat(list(table.values())))
    figures = shown_rows(page, ".r-figures tbody tr")
    assert {text for text in flat(list(figures.values())) if is_bracketed(text)} <= inside


def check_sums(place: Place, sums: list[str], below: int) -> None:
    """A sum stands in brackets of which half or more comes from counts in brackets."""
    told = place.client.post(TABLES, json={"of": "persons", "by": list(BY)}).json()
    values, columns = told["value"], told["size"][1]
    assert isinstance(values, list)
    for column in range(columns):
        parts = [values[row * columns + column] for row in (0, 1, 3)]
        # The page has the total first.
        text = sums[(column + 1) % columns]
        if None in parts or number(text) in (None, 0):
            continue
        small = sum(part for part in parts if part < below)
        expected = 2 * small >= sum(parts) or sum(parts) ** 2 < below**2 * 3
        assert is_bracketed(text) == expected


def test_shares_have_the_brackets_and_numbers_of_programs(
    bracketed: tuple[Place, int | None], builder: Callable[..., Builder]
) -> None:
    place, below = bracketed
    page = builder(None, url=place.server.url).ask(*BY, rows="ed", columns="ethnicity", show="row")
    table = shown_rows(page, "#result .r-table tbody tr")
    columns = page.column_headings()
    (told,) = place.client.post("/api/v1/commands", json={"program": PROGRAM}).json()["tables"]
    figures = place.client.get(told["result"]).json()
    names, sizes = figures["id"][:-1], figures["size"][:-1]
    labels = [list(figures["dimension"][name]["category"]["label"].values()) for name in names]
    assert names == ["ed", "ethnicity"]
    values = figures["value"]
    status = figures.get("status", {})
    compared = low = 0
    for row, area in enumerate(labels[0]):
        for column, group in enumerate(labels[1]):
            cell = row * sizes[1] + column
            text = table[area][columns.index(group)]
            value = values[cell] if isinstance(values, list) else values.get(str(cell))
            if value is None:
                assert not any(map(str.isdigit, text))
                continue
            compared += 1
            low += is_bracketed(text)
            assert float(text.strip("()")) == value
            assert is_bracketed(text) == (status.get(str(cell)) == "( )")
    assert compared > 10
    assert low > 0 or below == 5
    # The map of a share has the brackets of the table.
    page.control("tab-map").click()
    page.control("map-measure").select_option("share")
    for place_of_group in page.control("map-fixed-ethnicity").locator("option").all()[1:3]:
        value_of_group = place_of_group.get_attribute("value")
        group = place_of_group.inner_text().strip()
        page.control("map-fixed-ethnicity").select_option(value_of_group)
        areas = page.page.locator(".r-areas li")
        for area, figure in zip(
            areas.locator("span").all_inner_texts(),
            areas.locator("b").all_inner_texts(),
            strict=True,
        ):
            text = table[area][columns.index(group)]
            if any(map(str.isdigit, text)):
                assert (
                    figure.replace("%", "").replace(" ", "").replace("\N{NO-BREAK SPACE}", "")
                    == text
                )
