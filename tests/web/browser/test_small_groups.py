"""Cells of groups that are not broken down: a calm sign that says what it means, never a zero."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("language", ["en", "es", "fr", "nl", "pt"])
def test_the_page_says_how_much_is_withheld(
    language: str, place: Place, builder: Callable[..., Builder]
) -> None:
    """Beside the areas, all of which may be available; in wide windows and on phones."""
    document = place.client.post(TABLES, json={"of": "persons", "by": list(BY)}).json()
    values = values_in(document)
    areas = document["extension"]["sdcensus"]["areas"]
    gone, size = values.count(None), len(values)
    assert areas["all"] == areas["available"]
    assert 0 < gone < size
    for viewport in ({"width": 1440, "height": 900}, {"width": 390, "height": 800}):
        page = builder(None, viewport=viewport).ask(*BY, lang=language)
        status = page.page.locator("#result .r-status")
        expect(status).to_contain_text(page.says("result.status.all_other", n=areas["all"]))
        plain = re.sub(r"[.,\s]", "", status.inner_text())
        assert re.search(rf"\D{gone}\D+{size}\D", plain)
        assert re.search(rf"\D{round(100 * gone / size)}%", plain)
        box = status.bounding_box()
        assert box is not None
        assert box["height"] > 10
    page = builder(None).ask("sex", lang=language)
    assert "%" not in page.page.locator("#result .r-status, #result .r-withheld").inner_text()


def test_charts_and_maps_hatch_their_places(place: Place, builder: Callable[..., Builder]) -> None:
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
    number = "one" if gone == 1 else "other"
    told = page.says(f"result.chart.hatched_{number}", n=gone, meaning=MEANING["en"])
    expect(panel.locator(".r-classes")).to_contain_text(told)
    drawing = panel.locator(".r-drawing")
    hatched = drawing.locator("svg .mark-rect path[fill='url(#result-hatch)']")
    expect(hatched).to_have_count(gone)
    expect(drawing.locator("svg .mark-rect path")).to_have_count(parishes - 1)
    assert page.says(f"result.chart.withheld_{number}", n=gone) in str(
        drawing.get_attribute("aria-label")
    )
    page.control("tab-map").click()
    page.control("map-fixed-ethnicity").select_option(str(group))
    expect(panel.locator(".r-classes li .r-hatched")).to_have_count(1)
    expect(panel.locator(".r-classes")).to_contain_text(f"k = {MEANING['en']}")
    areas = panel.locator(".r-areas [role=option]", has=page.page.locator(".r-hatched"))
    expect(areas).to_have_count(gone)
    assert all(text.endswith("k") for text in areas.all_inner_texts())
