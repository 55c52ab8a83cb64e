"""Sums, means and medians of rents in the page: chosen by keyboard, shown with unit, drawn."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.web.browser.building import Builder
from tests.web.browser.test_accessibility import check, serious


def test_a_mean_is_chosen_by_keyboard_and_shown_with_its_unit(
    builder: Callable[..., Builder],
) -> None:
    page = builder("/?of=households&by=ed@parish")
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
    # Neither percentages nor totals of means say anything.
    expect(result).to_contain_text(page.says("result.notes.computed_do_not_add"))
    expect(result).not_to_contain_text(page.says("result.table.foot"))
    expect(result.get_by_label(page.says("result.show.title"))).to_have_count(0)
    check(window)
    result.get_by_label("Language").select_option("python")
    expect(result.locator(".r-code")).to_contain_text('measure="mean(rent)"')
    window.reload()
    page.settled()
    expect(window.get_by_label(page.says("builder.measure.title"))).to_have_value("mean(rent)")


def test_maps_and_charts_of_means(builder: Callable[..., Builder]) -> None:
    page = builder("/?of=households&measure=mean(rent)&by=ed@parish&tab=map")
    window = page.settled().page
    result = window.locator("#result")
    expect(result.get_by_role("tabpanel").locator("svg path").first).to_be_visible()
    expect(result).not_to_contain_text(page.says("result.map.counts_mislead"))
    page.open("/?of=households&measure=mean(rent)&by=ed@parish&by=household_type&tab=chart")
    page.settled()
    marks = window.locator(".r-drawing svg .role-mark path")
    expect(marks.first).to_be_attached()
    assert serious(window, None, {}) == []


def test_there_is_no_choice_where_only_counts_are_offered(builder: Callable[..., Builder]) -> None:
    page = builder("/?of=persons&by=sex")
    window = page.settled().page
    expect(window.get_by_label(page.says("builder.measure.title"))).to_have_count(0)


def test_another_population_has_counts_again(builder: Callable[..., Builder]) -> None:
    page = builder("/?of=households&measure=sum(rent)&by=ed@parish")
    assert page.settled().parameters["measure"] == ["sum(rent)"]
    page.change_population("persons")
    assert "measure" not in page.parameters


@pytest.mark.parametrize("language", ["en", "es", "fr", "nl", "pt"])
def test_the_choice_speaks_the_language_of_the_page(
    language: str, builder: Callable[..., Builder]
) -> None:
    address = f"/?of=households&measure=sum(rent)&by=ed@parish&lang={language}"
    page = builder(address)
    window = page.settled().page
    options = window.locator("#measure-choice option").all_inner_texts()
    assert len(options) == 4
    assert len(set(options)) == 4


def test_what_is_refused_says_why(builder: Callable[..., Builder]) -> None:
    page = builder(None)
    page.window.expected |= {403}
    page.open("/?of=households&measure=mean(rent)&by=tenure")
    window = page.settled().page
    expect(window.locator("#result")).to_contain_text("is not offered together with mean of rent")


def test_sums_are_whole_where_they_are_published_so(builder: Callable[..., Builder]) -> None:
    """Rents are rounded to 100 in the plan: two digits behind the point would say nothing."""
    page = builder("/?of=households&measure=sum(rent)&by=ed@parish")
    shown = [each for row in page.numbers() for each in row if each is not None]
    assert shown
    assert all(each % 100 == 0 for each in shown)
    page.open("/?of=households&measure=sum(rent)&by=ed@parish&tab=map")
    result = page.settled().page.locator("#result")
    expect(result).to_contain_text(page.says("result.map.sums_mislead"))
