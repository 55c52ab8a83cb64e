"""The other pages as people use them: commands, login, tokens, saved tables, staff."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
import pytest
from playwright.sync_api import Page, expect

from sdcensus.model.text import LANGUAGES
from tests.web.browser.building import Batch, Builder, Watched, number, words
from tests.web.servers import PASSWORD, TABLES, Place

PROGRAM = """TABLE people AS CROSSTABS OF person.age@broad BY person.sex
TABLE women AS FREQUENCY OF person.marital_status FOR person.sex = 2
"""


def log_in(window: Watched, name: str) -> Page:
    page = window.page
    page.goto(f"{window.url}/login")
    page.locator("#login-name").fill(name)
    page.locator("#login-password").fill(PASSWORD)
    page.locator("#login-password").press("Enter")
    page.wait_for_url(lambda url: "/login" not in url)
    return page


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_program_runs_and_a_mistake_is_shown_at_its_character(
    language: str, batch: Batch, watched: Callable[..., Watched]
) -> None:
    window = watched(locale=language)
    page = window.page
    page.goto(f"{window.url}/commands")
    field = page.locator("#program")
    expect(field).not_to_have_value("")  # an example to begin with
    field.fill(PROGRAM)
    field.press("Control+Enter")
    cards = page.locator(".made-table")
    expect(cards).to_have_count(2)
    cards.first.locator("[aria-expanded]").click()
    expect(cards.first.locator("table")).to_be_visible()
    figures = [number(text) for text in cards.first.locator("table td").all_inner_texts()]
    values = batch("age@broad", "sex").published
    assert sorted(figure for figure in figures if figure is not None) == sorted(
        values.reshape(-1).tolist()
    )
    with page.expect_download() as waited:
        cards.first.locator(".files a").first.click()
    assert waited.value.suggested_filename.endswith(".xlsx")
    # In the builder it is the same table.
    cards.first.locator("a.button").first.click()
    builder = Builder(window).settled()
    assert sorted(one for row in builder.numbers() for one in row if one is not None) == sorted(
        values.reshape(-1).tolist()
    )
    page.go_back()
    window.expected |= {400, 404}
    field.fill("TABLE a AS FREQUENCY OF person.sex\nTABLE b AS FREQUENCY OFF person.sex")
    page.locator("#run").click()
    wrong = page.locator("#program-error")
    expect(wrong).to_contain_text(words(language, "commands.error_at", line=2, column=22))
    lines = wrong.locator("pre").inner_text().split("\n")
    assert lines[0].startswith("TABLE b AS FREQUENCY OFF")
    assert lines[1].index("^") == 21
    at = field.evaluate("one => one.selectionStart")
    assert at == len("TABLE a AS FREQUENCY OF person.sex\n") + 21


def test_an_account_has_tokens_and_saved_tables(
    place: Place, watched: Callable[..., Watched]
) -> None:
    place.account("berta")
    window = watched()
    page = log_in(window, "berta")
    builder = Builder(window).ask(
        "ed@parish", "age@broad", "sex", layer="sex", at="sex:0", show="column", label="both"
    )
    before = builder.grid()
    builder.press("builder.save.save_table", "#actions")
    builder.dialog.locator("input").fill("My <b>table</b>")
    builder.dialog.locator("input").press("Enter")
    expect(builder.dialog).to_have_count(0)
    page.goto(f"{window.url}/account")
    expect(page.locator("#quota dd").first).to_be_visible()
    page.locator("#saved a", has_text="My <b>table</b>").click()
    builder.settled()
    assert builder.grid() == before
    assert builder.zone("layer") == ["sex"]
    assert builder.parameters["show"] == ["column"]
    # A token is shown once and works.
    page.goto(f"{window.url}/account")
    page.locator("#token-name").fill("laptop")
    page.locator("#token-form button").click()
    text = page.locator("#made code").inner_text()
    assert text.startswith("sdc_")
    headers = {"authorization": f"Bearer {text}"}
    told = httpx.get(f"{window.url}/api/v1/account", headers=headers).json()
    assert told["account"]["name"] == "berta"
    page.reload()
    expect(page.locator("#tokens th[scope=row]", has_text="laptop")).to_be_visible()
    assert text not in page.content()
    page.once("dialog", lambda asked: asked.accept())
    page.locator("#tokens button").click()
    expect(page.locator("#tokens")).not_to_contain_text("laptop")
    assert httpx.get(f"{window.url}/api/v1/account", headers=headers).status_code == 401
    # Saved tables can be forgotten.
    page.locator("#saved button").click()
    expect(page.locator("#saved")).not_to_contain_text("My <b>table</b>")
    page.locator("form[action='/logout'] button").click()
    page.goto(f"{window.url}/account")
    expect(page.locator("#login-name")).to_be_visible()


def test_wrong_passwords_are_told_and_staff_pages_are_for_staff(
    place: Place, watched: Callable[..., Watched]
) -> None:
    place.account("carla")
    place.account("dora", "staff")
    window = watched()
    window.expected |= {401, 403, 404}
    page = window.page
    page.goto(f"{window.url}/login")
    page.locator("#login-name").fill("carla")
    page.locator("#login-password").fill("wrong")
    page.locator("#login-password").press("Enter")
    expect(page.locator("#problem")).to_be_visible()
    assert page.locator("#login-name").input_value() == "carla"
    expect(page.locator("#login-password")).to_be_focused()
    log_in(window, "carla")
    page.goto(f"{window.url}/staff")
    expect(page.locator("#versions")).to_have_count(0)
    staff = watched(locale="en-US")  # another profile
    shown = log_in(staff, "dora")
    place.client.post(
        TABLES, json={"of": "persons", "by": ["ed", "industry@section", "age@five_year"]}
    )
    shown.goto(f"{staff.url}/staff")
    expect(shown.locator("#versions")).to_contain_text("cell-key")
    expect(shown.locator("#refusals")).not_to_be_empty()
    expect(shown.locator("#slowest")).to_contain_text("persons")
    # A reason in words and as the audit calls it; a question leads to its table.
    why = shown.locator("#refusals code").first.inner_text()
    key = f"staff.reason_{why.replace('-', '_')}"
    expect(shown.locator("#refusals")).to_contain_text(words("en", key))
    assert "of=" in (shown.locator("#slowest a").first.get_attribute("href") or "")
    expect(shown.locator("#accounts")).to_contain_text(words("en", "staff.alarm_everybody"))
    expect(shown.locator("#load dd").first).to_be_visible()
    place.database.feedback.add("Where are the dogs?")
    shown.locator("#refresh").click()
    expect(shown.locator("#feedback")).to_contain_text("Where are the dogs?")


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_are_in_the_language_and_the_choice_is_kept(
    language: str, watched: Callable[..., Watched]
) -> None:
    window = watched(locale="en-GB")
    page = window.page
    page.goto(f"{window.url}/about")
    page.locator("nav.wide details.languages summary").click()
    page.locator(f"nav.wide a[data-language={language}]").click()
    page.wait_for_load_state()
    assert page.evaluate("document.documentElement.lang") == language
    for path in ("/about", "/commands", "/login"):
        page.goto(window.url + path)
        assert page.evaluate("document.documentElement.lang") == language
        title = page.locator("h1").first.inner_text()
        assert title
        if language != "en":
            english = words("en", "pages.about.title") if path == "/about" else ""
            assert title != english
        # A key without a text would show itself.
        body = page.locator("body").inner_text()
        assert not re.search(r"\b(builder|result|pages|commands|staff|errors)\.\w+\.\w+", body)
