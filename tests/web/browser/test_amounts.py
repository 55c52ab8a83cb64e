"""Sums, means and medians in the page: chosen by keyboard, shown with their unit, drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from sdcensus.session.answer import open_service
from tests.web.browser.building import Builder
from tests.web.browser.test_accessibility import check, serious
from tests.web.servers import Place, opened

AMOUNTS = """
[amount.rent]
measures = ["sum", "mean"]
by = ["ed@parish", "household_type"]
dimensions = 2
"""


@pytest.fixture(scope="module")
def amounts(country: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server of an office that offers sums and means of rents."""
    folder = tmp_path_factory.mktemp("amounts")
    policy = folder / "policy.toml"
    text = (country / "policy.toml").read_text(encoding="utf-8")
    # A mean is divided by the count of those who pay a rent, so these counts are offered.
    offered = text.replace(
        "[variable.rent]\noffered = false", '[variable.rent]\nunits = ["households"]'
    )
    assert offered != text
    policy.write_text(offered + AMOUNTS, encoding="utf-8", newline="\n")
    service = open_service(
        country / "census.store",
        policy,
        plan=country / "plan.toml",
        secret=country / "demo.secret",
        source="Statistics Office",
    )
    with opened(folder, service, office="Statistics Office") as made:
        yield made


def test_a_mean_is_chosen_by_keyboard_and_shown_with_its_unit(
    builder: Callable[..., Builder], amounts: Place
) -> None:
    url = amounts.server.url
    page = builder("/?of=households&by=ed@parish", url=url)
    window = page.settled().page
    choice = window.get_by_label(page.says("builder.measure.title"))
    expect(choice).to_have_value("")
    choice.focus()
    window.keyboard.press("ArrowDown")
    window.keyboard.press("ArrowDown")
    expect(choice).to_have_value("mean(rent)")
    expect(choice).to_be_focused()
    page.settled()
    assert page.parameters["measure"] == ["mean(rent)"]
    assert "Mean" in page.title
    result = window.locator("#result")
    expect(result).to_contain_text("dollars per month")
    # Percentages of means say nothing.
    expect(result.get_by_label(page.says("result.show.title"))).to_have_count(0)
    check(window)
    result.get_by_label("Language").select_option("python")
    expect(result.locator(".r-code")).to_contain_text('measure="mean(rent)"')
    window.reload()
    page.settled()
    expect(window.get_by_label(page.says("builder.measure.title"))).to_have_value("mean(rent)")


def test_maps_and_charts_of_means(builder: Callable[..., Builder], amounts: Place) -> None:
    url = amounts.server.url
    page = builder("/?of=households&measure=mean(rent)&by=ed@parish&tab=map", url=url)
    window = page.settled().page
    result = window.locator("#result")
    expect(result.get_by_role("tabpanel").locator("svg path").first).to_be_visible()
    expect(result).not_to_contain_text(page.says("result.map.counts_mislead"))
    page.open("/?of=households&measure=mean(rent)&by=ed@parish&by=household_type&tab=chart")
    page.settled()
    marks = window.locator(".r-drawing svg .role-mark path")
    expect(marks.first).to_be_attached(timeout=30_000)
    assert serious(window, None, {}) == []


def test_there_is_no_choice_where_only_counts_are_offered(
    builder: Callable[..., Builder], amounts: Place
) -> None:
    page = builder("/?of=persons&by=sex", url=amounts.server.url)
    window = page.settled().page
    expect(window.get_by_label(page.says("builder.measure.title"))).to_have_count(0)


def test_another_population_has_counts_again(
    builder: Callable[..., Builder], amounts: Place
) -> None:
    page = builder("/?of=households&measure=sum(rent)&by=ed@parish", url=amounts.server.url)
    window = page.settled().page
    window.locator("#population select").select_option("persons")
    page.settled()
    assert "measure" not in page.parameters


@pytest.mark.parametrize("language", ["en", "es", "fr", "nl", "pt"])
def test_the_choice_speaks_the_language_of_the_page(
    language: str, builder: Callable[..., Builder], amounts: Place
) -> None:
    address = f"/?of=households&measure=sum(rent)&by=ed@parish&lang={language}"
    page = builder(address, url=amounts.server.url)
    window = page.settled().page
    options = window.locator("#measure-choice option").all_inner_texts()
    assert len(options) == 3
    assert len(set(options)) == 3


def test_what_is_refused_says_why(builder: Callable[..., Builder], amounts: Place) -> None:
    page = builder(None, url=amounts.server.url)
    page.window.expected |= {403}
    page.open("/?of=households&measure=mean(rent)&by=tenure")
    window = page.settled().page
    expect(window.locator("#result")).to_contain_text("is not offered together with mean of rent")
