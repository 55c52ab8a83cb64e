"""On a phone: nothing is wider than it, and everything can be reached with a thumb."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.building import Builder, Watched

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

#: Controls that are too small for a finger; links inside of sentences may be.
SMALL = """() => [...document.querySelectorAll(
  "button, select, input, summary, textarea, a.button, [role=tab], nav a")]
  .filter(one => one.checkVisibility({ visibilityProperty: true }))
  .filter(one => !one.closest(".visually-hidden"))
  .map(one => {
    const target = one.type === "checkbox" ? one.closest("label") ?? one : one;
    const box = target.getBoundingClientRect();
    return [one.outerHTML.slice(0, 90), Math.round(box.width), Math.round(box.height)];
  })
  .filter(([, width, height]) => width > 0 && (width < 24 || height < 24))"""

#: What sticks out of the page, outside of boxes that scroll.
WIDE = """() => {
  const page = document.scrollingElement;
  if (page.scrollWidth <= innerWidth) return [];
  return [...document.querySelectorAll("body *")]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(".r-scroll"))
    .map(one => one.outerHTML.slice(0, 90)).slice(0, 5).concat([String(page.scrollWidth)]);
}"""


#: Too sparse everywhere, so that the page says why there is no table.
REFUSED = "/?of=households&by=ed&by=household_type&by=household_size"


def check(page: Page) -> None:
    assert page.evaluate(WIDE) == []
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/?of=persons&by=ed@parish&by=ethnicity&by=education@broad&layer=education&show=row",
        "/?of=persons&by=ed&by=ethnicity&by=age@five_year",
        "/?of=persons&by=ed@parish&by=age@five_year&tab=chart",
        "/?of=persons&by=ed&by=sex&tab=map",
        REFUSED,
        "/?of=persons&by=education@broad&by=activity&rows=education,activity&lang=nl",
    ],
)
def test_tables_fit(address: str, builder: Callable[..., Builder]) -> None:
    page = builder(None, **PHONE)
    page.window.expected.add(403)
    page.open(address)
    assert page.page.locator(".r-refusal").count() == (address == REFUSED)
    if "tab=" in address:
        expect(page.page.locator(".r-drawing svg path").first).to_be_attached()
    check(page.page)


@pytest.mark.parametrize("language", ["en", "fr"])
def test_a_table_is_built_with_a_thumb(language: str, builder: Callable[..., Builder]) -> None:
    page = builder(f"/?lang={language}", **PHONE)
    window = page.page
    expect(window.locator("#areas")).to_be_hidden()
    window.locator("#panel-toggle").tap()
    expect(window.locator("#areas")).to_be_visible()
    check(window)
    window.locator("[data-focus=areas]").tap()
    dialog = page.dialog
    expect(dialog.locator(".code-list label")).to_have_count(26)
    check(window)
    dialog.get_by_role("button", name=page.says("builder.areas.map"), exact=True).tap()
    check(window)
    dialog.get_by_label(page.says("builder.codes.level"), exact=True).select_option("parish")
    expect(dialog.locator(".code-list label")).to_have_count(5)
    dialog.get_by_role("button", name=page.says("builder.groups.own")).tap()
    check(window)
    page_button = dialog.get_by_role("button", name=page.says("builder.groups.choose"))
    page_button.tap()
    dialog.get_by_role("button", name=page.says("builder.apply")).tap()
    window.wait_for_function("() => location.search.includes('parish')")
    page.find_variable("travel")
    window.locator("[data-focus=add-travel]").tap()
    window.wait_for_function("() => location.search.includes('travel')")
    page.settled()
    window.locator("[data-focus=menu-travel]").tap()
    check(window)
    window.get_by_role("menuitem", name=page.says("builder.arrange.to_layer")).tap()
    assert page.zone("layer") == ["travel"]
    window.locator("#panel-toggle").tap()
    page.control("layer-travel-next").tap()
    page.control("download").tap()
    expect(window.locator("a[data-format=xlsx]")).to_be_visible()
    check(window)
    # All of the panel of files is within the window.
    box = window.locator("#result-download").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    # What is always visible is: the size of the table.
    expect(window.locator("#size")).to_be_in_viewport()


@pytest.mark.parametrize("path", ["/about", "/commands", "/api", "/login"])
def test_other_pages_fit(path: str, watched: Callable[..., Watched]) -> None:
    window = watched(**PHONE)
    window.page.goto(window.url + path)
    window.page.wait_for_load_state("networkidle")
    check(window.page)
