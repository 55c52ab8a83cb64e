"""Figures that programs compute, on the page of commands; mistakes in the reader's language."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.web.browser.building import Watched, words
from tests.web.servers import Place

PROGRAM = """TABLE men AS SEX-RATIO BY person.age@broad PER 1000
TABLE rows AS CROSSTABS OF person.age@broad BY person.sex PERCENT ROW
TABLE plain AS FREQUENCY OF person.sex
"""


def figure(text: str, language: str) -> float:
    """A number as the page writes it."""
    plain = text.strip("()").replace("\N{NO-BREAK SPACE}", "")
    if language == "es":
        plain = plain.replace(".", "").replace(",", ".")
    return float(plain.replace(",", ""))


@pytest.mark.parametrize("language", ["en", "es"])
def test_figures_are_fetched_from_their_result_and_shown_as_computed(
    language: str, place: Place, watched: Callable[..., Watched]
) -> None:
    window = watched(locale=language)
    page = window.page
    page.goto(f"{window.url}/commands")
    page.locator("#program").fill(PROGRAM)
    page.locator("#run").click()
    cards = page.locator(".made-table")
    expect(cards).to_have_count(3)
    told = place.client.post("/api/v1/commands", json={"program": PROGRAM}).json()["tables"]
    assert [one["computed"] for one in told] == [True, True, False]
    for at, (one, opened) in enumerate(zip(told, ("open_counts", "open", "open"), strict=True)):
        card = cards.nth(at)
        expect(card.locator(".computed")).to_have_count(int(one["computed"]))
        links = card.locator("a.button")
        expect(links.first).to_have_text(words(language, f"commands.{opened}"))
        expected = one["result"] if one["computed"] else one["link"]
        assert links.nth(1).get_attribute("href") == expected
        with page.expect_response(lambda answer: "/commands/table" in answer.url) as asked:
            card.locator("[aria-expanded]").click()
        assert asked.value.request.method == "GET"
        values = place.client.get(one["result"]).json()["value"]
        expect(card.locator("table")).to_be_visible()
        texts = card.locator("table td").all_inner_texts()
        shown = [figure(text, language) for text in texts if any(map(str.isdigit, text))]
        assert sorted(shown) == sorted(value for value in values if value is not None)


def test_a_mistake_is_told_in_the_language_of_the_page_with_its_details(
    watched: Callable[..., Watched],
) -> None:
    window = watched(locale="es")
    window.expected |= {400, 404}
    page = window.page
    page.goto(f"{window.url}/commands")
    page.locator("#program").fill("TABLE b AS FREQUENCY OFF person.sex")
    page.locator("#run").click()
    wrong = page.locator("#program-error")
    expect(wrong).to_contain_text("Se encontró la palabra 'OFF'; se esperaba OF.")
    page.goto(f"{window.url}/?of=persons&by=nothing&lang=es")
    refusal = page.locator(".r-refusal")
    expect(refusal).to_contain_text("No hay ninguna variable 'nothing'.")
