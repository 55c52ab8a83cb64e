"""Another population, also while the server goes away; times to wait are times of day."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.web.browser.building import Builder

BY = ("ed@parish", "age@five_year", "sex")
MARRIED = "marital_status in ('2')"


def population(page: Builder) -> str:
    """The population that the panel shows."""
    return page.page.locator("[data-focus=population]").input_value()


def agrees(page: Builder) -> bool:
    """Whether panel, address and table are about the same population and variables."""
    asked = page.question
    named = {axis.partition("@")[0] for axis in asked["by"]}
    shown = {*page.zone("rows"), *page.zone("columns"), *page.zone("layer")}
    unit = page.page.locator(".r-sub").inner_text().partition(" · ")[0].lower()
    return population(page) == asked["of"] == unit and shown == named


@pytest.mark.parametrize("known", [False, True], ids=["first time", "seen before"])
def test_the_server_goes_away_while_the_population_is_changed(
    known: bool, builder: Callable[..., Builder]
) -> None:
    page = builder(None).ask(*BY, lang="en")
    if known:  # what can be asked about households is known, their table is not
        page.page.evaluate("fetch('/api/v1/datasets/households/variables?lang=en')")
        page.change_population("households")
        page.change_population("persons")
        page = page.ask("sex")
        page.change_population("households")
        page.change_population("persons")
        page.page.locator("[data-focus='menu-sex']").wait_for()
    before, address = page.grid(), page.page.url
    page.window.offline = True
    page.page.context.set_offline(True)
    page.page.locator("[data-focus=population]").select_option("households")
    if known:  # that table is kept: another question about it has to be asked
        page.settled()
        before, address = page.grid(), page.page.url
        page.find_variable("tenure")
        page.page.locator("#variable-list [data-focus^='add-']").first.click()
    trouble = page.page.locator(".trouble")
    expect(trouble).to_contain_text(page.says("builder.problem.network"))
    expect(trouble).to_contain_text(page.says("builder.problem.stays"))
    assert page.grid() == before
    assert page.page.url == address
    assert agrees(page)
    page.page.context.set_offline(False)
    page.window.offline = False
    trouble.get_by_role("button").click()
    page.page.wait_for_function("() => location.search.includes('of=households')")
    page.settled()
    expect(page.page.locator(".trouble")).to_have_count(0)
    assert agrees(page)
    assert population(page) == "households"


@pytest.mark.parametrize("language", ["en", "es", "fr", "nl"])
def test_a_change_of_the_population_says_what_it_drops_and_brings_it_back(
    language: str, builder: Callable[..., Builder]
) -> None:
    page = builder(None).ask(
        "ed@parish", "sex", where=MARRIED, rows="sex", columns="ed", lang=language
    )
    question, view, before = page.question, page.parameters, page.grid()
    page.change_population("households")
    notice = page.page.locator("#notices [role=status]")
    text = notice.inner_text()
    label = page.page.locator("[data-focus=population] option:checked").inner_text()
    start = page.says("builder.population.dropped", population=label, names="|").partition("|")[0]
    assert text.startswith(start)
    assert {"en": "Sex", "es": "Sexo", "fr": "Sexe", "nl": "Geslacht"}[language] in text
    assert agrees(page) or language != "en"
    assert page.question["by"] == ["ed@parish"]
    assert "where" not in page.question
    page.change_population("persons")
    assert page.question == question
    assert page.parameters == view
    assert page.grid() == before
    expect(page.page.locator("#notices")).to_contain_text(
        page.says("builder.population.returned", names="|").partition("|")[0]
    )


def test_what_was_dropped_comes_back_beside_what_was_added(
    builder: Callable[..., Builder],
) -> None:
    page = builder(None).ask("sex", "age@broad", lang="en")
    page.change_population("households")
    # Households have neither: areas take their place, so that there is a table.
    assert page.question["by"] == ["ed"] or page.question["by"][0].startswith("ed")
    page.find_variable("size")
    page.page.locator("#variable-list [data-focus='add-household_size']").click()
    page.page.wait_for_function("() => location.search.includes('household_size')")
    page.settled()
    page.change_population("persons")
    names = {axis.partition("@")[0] for axis in page.question["by"]}
    assert "sex" in names
    # Three variables are the most: whatever has no room waits.
    assert len(names) <= 3
    assert agrees(page)
    # Changing to the population that is shown changes nothing.
    page.change_population("persons")
    assert {axis.partition("@")[0] for axis in page.question["by"]} == names


# ---- times to wait ---------------------------------------------------------------------------

WAIT = """async ([seconds, now]) => {
  const { waitText } = await import("/static/shared/times.js");
  return waitText(seconds, new Date(now));
}"""


def wait_text(page: Page, seconds: int, now: str) -> str:
    words: str = page.evaluate(WAIT, [seconds, now])
    return words


@pytest.mark.parametrize(
    ("locale", "zone", "later", "next_day"),
    [
        ("en-GB", "Europe/Amsterdam", r"from 23:35 on", r"from Wednesday.* 18 November.* 03:00 on"),
        ("es-CL", "America/Santiago", r"(19|07):35", r"(23|11):00"),
        ("fr-FR", "Europe/Paris", r"23:35", r"mercredi 18 novembre.* 03:00"),
        ("nl-NL", "Asia/Tokyo", r"woensdag 18 november.* 07:35", r"woensdag 18 november.* 11:00"),
    ],
)
def test_a_long_wait_is_told_as_a_time_of_day(
    locale: str, zone: str, later: str, next_day: str, builder: Callable[..., Builder]
) -> None:
    """In the reader's language and time zone, with the day where it is another one."""
    page = builder(f"/?lang={locale[:2]}", timezone_id=zone, locale=locale).page
    now = "2026-11-17T13:00:00Z"
    assert re.search(later, wait_text(page, 34_446, now))
    assert re.search(next_day, wait_text(page, 13 * 3_600, now))
    for words in (wait_text(page, 34_446, now), wait_text(page, 13 * 3_600, now)):
        assert "second" not in words
        assert "34" not in words.replace("03:00", "")
    assert "12" in wait_text(page, 12, now)
