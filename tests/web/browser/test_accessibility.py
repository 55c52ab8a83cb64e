"""axe-core finds nothing serious on any page, in any state, in light and dark, wide and narrow."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect

from tests.web.browser.building import Builder, Watched
from tests.web.servers import PASSWORD, PATIENCE, Place

AXE = Axe()
#: What is drawn in colours that follow those of the page.
DRAWING = ".r-drawing svg"


def check(page: Page, within: str | None = None) -> None:
    """Nothing that axe calls serious or critical, on all of a page or in a part of it."""
    assert serious(page, within, {}) == []
    # What differs in the dark is colours.
    page.evaluate(f"document.querySelectorAll('{DRAWING}').forEach(one => one.dataset.light = '')")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(f"{DRAWING}[data-light]")).to_have_count(0)  # drawings are made anew
    only = {"runOnly": ["color-contrast", "link-in-text-block"]}
    end = time.monotonic() + PATIENCE
    while True:
        # Ended, not waited for: a browser beside other work may draw no frame for many seconds.
        # Those that begin with the next frame are ended the next time.
        page.evaluate("document.getAnimations().forEach(animation => animation.finish())")
        found = serious(page, within, only)
        if not found or time.monotonic() > end:
            break
        page.wait_for_timeout(100)
    assert found == []
    page.emulate_media(color_scheme="light")


def serious(page: Page, within: str | None, options: dict[str, Any]) -> list[Any]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    asked = {"resultTypes": ["violations"], **options}
    found = page.evaluate(
        "([within, options]) => axe.run(within ?? document, options).then(one => one.violations)",
        [within, asked],
    )
    return [
        (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("width", [1440, 390])
def test_the_builder(width: int, builder: Callable[..., Builder]) -> None:
    page = builder(viewport={"width": width, "height": 900})
    page.window.expected |= {403, 404}
    window = page.page
    if width == 390:
        window.locator("#panel-toggle").click()
    window.locator("#variable-list summary").nth(1).click()
    window.locator("[data-focus=about-sex]").click()
    window.locator(".r-feedback summary").click()
    page.control("download").click()
    check(window)
    page.control("download").click()
    window.locator("[data-focus=menu-sex]").click()
    check(window, "#arrange [role=menu]")
    window.keyboard.press("Escape")
    # The dialog of areas: list, map, groups.
    window.locator("[data-focus=areas]").click()
    expect(page.dialog.locator(".code-list label")).to_have_count(26)
    check(window, "dialog")
    page.dialog.get_by_role("button", name="Map", exact=True).click()
    page.dialog.get_by_role("button", name=page.says("builder.groups.own")).click()
    check(window, "dialog")
    window.keyboard.press("Escape")
    for tab in ("chart", "map"):
        page.control(f"tab-{tab}").click()
        expect(window.locator(".r-drawing svg path").first).to_be_attached()
        check(window, "#result-panel")
        expect(window.locator(".r-drawing svg path").first).to_be_attached()
    page.ask("ed", "ethnicity", "age@five_year", layer="age,ed", rows="ethnicity", show="row")
    window.locator(".r-withheld summary").click()
    check(window, ".r-withheld")
    page.ask("ed", "industry@section", "age@five_year")
    check(window, "#result")


@pytest.mark.parametrize("width", [1440, 390])
def test_the_other_pages(width: int, place: Place, watched: Callable[..., Watched]) -> None:
    name = f"axe-{width}"
    place.account(name, "staff")
    window = watched(viewport={"width": width, "height": 900})
    window.expected.add(404)
    page = window.page
    for path in ("/about", "/api", "/nowhere", "/login"):
        page.goto(window.url + path)
        check(page)
    page.locator("#login-name").fill(name)
    page.locator("#login-password").fill(PASSWORD)
    page.locator("#login-password").press("Enter")
    page.wait_for_url(lambda url: "/login" not in url)
    page.goto(f"{window.url}/account")
    expect(page.locator("#saved")).not_to_have_attribute("aria-busy", "true")
    page.locator("#token-name").fill("axe")
    page.locator("#token-form button").click()
    expect(page.locator("#made code")).to_be_visible()
    check(page)
    page.goto(f"{window.url}/staff")
    expect(page.locator("#versions")).to_contain_text("cell-key")
    check(page)
    page.goto(f"{window.url}/commands")
    page.locator("#program").fill("TABLE t AS FREQUENCY OF person.nothing")
    page.locator("#run").click()
    expect(page.locator("#program-error .notice")).to_be_visible()
    check(page)
