"""Cells of groups that are not broken down: a calm sign that says what it means, never a zero."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.web.browser.building import Builder, flat, values_in
from tests.web.servers import TABLES, Place

BY = ("ed@parish", "ethnicity", "sex")
MEANING = {
    "en": "part of a group that is too small to be broken down",
    "nl": "deel van een groep die te klein is om uit te splitsen",
}


@pytest.mark.parametrize("language", MEANING)
def test_the_table_says_what_the_sign_means(
    language: str, place: Place, builder: Callable[..., Builder]
) -> None:
    page = builder(None).ask(*BY, lang=language)
    document = place.client.post(TABLES, json={"of": "persons", "by": list(BY)}).json()
    hidden = values_in(document).count(None)
    assert hidden > 0
    signs = page.page.locator("#result td.r-sign")
    assert signs.count() == hidden == flat(page.grid()).count("k")
    assert {one.get_attribute("title") for one in signs.all()} == {MEANING[language]}
    # Below the table, in the legend, and not a third time among the notes.
    expect(page.page.locator(".r-foot")).to_contain_text(f"k = {MEANING[language]}.")
    expect(page.page.locator(".r-legend")).to_contain_text(MEANING[language])
    assert MEANING[language] not in page.page.locator(".r-all-notes").inner_text()


def test_charts_and_maps_draw_nothing_for_them(
    place: Place, builder: Callable[..., Builder]
) -> None:
    document = place.client.post(TABLES, json={"of": "persons", "by": list(BY)}).json()
    parishes, groups, sexes, *others = document["size"]
    assert {*others} <= {1}
    values = values_in(document)
    # Both sexes of the ethnic group that is hidden in some parishes, not in all.
    shown = [
        [values[(parish * groups + group) * sexes + sexes - 1] for parish in range(parishes - 1)]
        for group in range(groups - 1)
    ]
    group = next(at for at, row in enumerate(shown) if 0 < row.count(None) < len(row))
    gone = shown[group].count(None)
    page = builder(None).ask(*BY)
    panel = page.page.locator("#result-panel")
    page.control("tab-chart").click()
    expect(panel.locator(".r-drawing svg path").first).to_be_attached()
    page.control("chart-category").select_option(label="Parish")
    page.control("chart-series").select_option("")
    page.control("chart-fixed-ethnicity").select_option(str(group))
    expect(panel.locator(".r-message")).to_contain_text(
        page.says(
            "result.chart.withheld_one" if gone == 1 else "result.chart.withheld_other", n=gone
        )
    )
    drawn = panel.locator(".r-drawing svg .mark-rect path")
    expect(drawn).to_have_count(parishes - 1 - gone)
    page.control("tab-map").click()
    page.control("map-fixed-ethnicity").select_option(str(group))
    expect(panel.locator(".r-classes li .r-hatched")).to_have_count(1)
    expect(panel.locator(".r-classes")).to_contain_text(f"k = {MEANING['en']}")
    areas = panel.locator(".r-areas [role=option]", has=page.page.locator(".r-hatched"))
    expect(areas).to_have_count(gone)
    assert all(text.endswith("k") for text in areas.all_inner_texts())
