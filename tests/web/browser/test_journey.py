"""From the first page to a table that somebody else opens: in every language."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

import sdcensus as sc
from sdcensus.model.text import LANGUAGES
from tests.web.browser.building import Builder, flat, number, ordered, values_in
from tests.web.servers import TABLES, Place

#: What the reader of each language types to find where people were born, by name or topic.
BIRTHPLACE = {"es": "MIGRACION"}
#: And Saint Agnes, without accents. The demo country has labels in two languages.
AGNES = {"es": "SANTA INES"}


def asked(place: Place, question: dict[str, Any]) -> dict[str, Any]:
    answer = place.client.post(TABLES, json=question)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def question_of(page: Builder) -> dict[str, Any]:
    """The question of the address, as the API takes it."""
    found = page.question
    for name in ("codes", "groups"):
        if name in found:
            found[name] = json.loads(found[name])
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_whole_journey(language: str, place: Place, builder: Callable[..., Builder]) -> None:
    page = builder(locale=language)
    assert page.language == language
    window = page.page
    assert window.get_by_role("heading", level=1).inner_text()
    assert page.question == {"of": "persons", "by": ["ed", "sex"]}

    # Another population, and back.
    window.locator("#population select").select_option("households")
    window.wait_for_function("() => location.search.includes('households')")
    page.settled()
    assert page.numbers()[0] == flat([row_of_totals(place, page)])
    window.locator("#population select").select_option("persons")
    window.wait_for_function("() => location.search.includes('of=persons')")
    page.settled()
    # What households have not is there again.
    assert page.question == {"of": "persons", "by": ["ed", "sex"]}
    page.actions("sex", "builder.arrange.remove")
    window.wait_for_function("() => !location.search.includes('by=sex')")
    page.settled()

    choose_areas(page)
    assert page.question["by"][0] == "ed@parish"
    find_variables(page)
    group_categories(page)
    condition(page)
    document = asked(place, question_of(page))
    assert page.title == document_in(place, page)["label"]
    check_arranging(page, document)
    check_views(page, document)
    check_notes(page)
    give_feedback(page, place)
    check_link(page, builder)


def row_of_totals(place: Place, page: Builder) -> list[int | None]:
    """The first row of a table of one or two variables: totals first."""
    document = asked(place, question_of(page))
    across = document["size"][1]
    row = values_in(document)[-across:]
    return [row[-1], *row[:-1]]


def document_in(place: Place, page: Builder) -> dict[str, Any]:
    answer = place.client.post(f"{TABLES}?lang={page.language}", json=question_of(page))
    found: dict[str, Any] = answer.json()
    return found


def choose_areas(page: Builder) -> None:
    window = page.page
    window.locator("[data-focus=areas]").click()
    dialog = page.dialog
    expect(dialog.locator(".code-list label")).to_have_count(26)
    search = dialog.get_by_label(page.says("builder.codes.search"))
    search.fill("0010003")  # by code
    expect(dialog.locator(".code-list label")).to_have_count(1)
    search.fill("")
    # By the area around them.
    within = dialog.get_by_label(page.says("builder.areas.parent"), exact=True)
    within.select_option("parish:P001")
    expect(dialog.locator(".code-list label")).to_have_count(7)
    within.select_option("")
    expect(dialog.locator(".code-list label")).to_have_count(26)
    # Another level, found by name, on the map, in a group of one's own.
    dialog.get_by_label(page.says("builder.codes.level"), exact=True).select_option("parish")
    expect(dialog.locator(".code-list label")).to_have_count(5)
    search.fill(AGNES.get(page.language, "agnes"))
    expect(dialog.locator(".code-list label")).to_have_count(1)
    search.fill("")
    dialog.get_by_role("button", name=page.says("builder.groups.own")).click()
    dialog.get_by_role("button", name=page.says("builder.areas.map"), exact=True).click()
    for code in ("P001", "P003"):
        dialog.locator(f"path[data-code={code}]").dispatch_event("click")
        expect(dialog.locator(f"path[data-code={code}]")).to_have_attribute("aria-checked", "true")
    dialog.get_by_label(page.says("builder.groups.name")).fill("=North & <i>")
    dialog.get_by_role("button", name=page.says("builder.groups.make")).click()
    dialog.get_by_label(page.says("builder.groups.others")).check()
    page.press("builder.apply", "dialog")
    expect(page.dialog).to_have_count(0)
    window.wait_for_function("() => location.search.includes('groups=')")
    page.settled()
    groups = json.loads(page.question["groups"])["ed"]
    assert [group["codes"] for group in groups] == [["P001", "P003"], ["P002"], ["P004"], ["P005"]]
    assert page.row_headings()[1].startswith("=North & <i>\n")


def find_variables(page: Builder) -> None:
    window = page.page
    # Read what a variable means, found by topic.
    topics = window.locator("#variable-list details.topic")
    assert topics.count() > 5
    topics.nth(1).locator("summary").click()
    about = topics.nth(1).locator("[data-focus=about-sex]")
    about.click()
    expect(window.locator("#definition-sex")).to_contain_text(";")
    about.click()
    page.add("sex")
    # Find another by words, without accents.
    found = page.find_variable(BIRTHPLACE.get(page.language, "birth"))
    assert found.count() >= 1
    page.add("birthplace")
    assert page.zone("columns") == ["sex", "birthplace"]


def group_categories(page: Builder) -> None:
    """A level, and groups of categories."""
    page.actions("birthplace", "builder.arrange.edit")
    dialog = page.dialog
    level = dialog.get_by_label(page.says("builder.codes.level"), exact=True)
    level.select_option("study")
    expect(dialog.locator(".code-list label")).to_have_count(5)
    dialog.get_by_role("button", name=page.says("builder.groups.own")).click()
    for at in (1, 2):
        dialog.locator(".code-list input").nth(at).check()
    dialog.get_by_label(page.says("builder.groups.name")).fill("A + B")
    dialog.get_by_label(page.says("builder.groups.name")).press("Enter")
    dialog.get_by_label(page.says("builder.groups.others")).check()
    page.press("builder.apply", "dialog")
    page.page.wait_for_function("() => location.search.includes('birthplace')")
    page.page.wait_for_function("() => location.search.includes('A+%2B+B')")
    page.settled()
    assert "birthplace@study" in page.question["by"]


def condition(page: Builder) -> None:
    """Only some of the people: a variable of the table, so that there is room for it."""
    page.page.locator("[data-focus=add-condition]").click()
    dialog = page.dialog
    names = dialog.get_by_label(page.says("builder.codes.variable"), exact=True)
    options = names.locator("option").all_inner_texts()
    assert len(options) == 3  # the table is full
    names.select_option(index=1)
    expect(dialog.locator(".code-list label")).to_have_count(2)
    dialog.locator(".code-list input").nth(1).check()
    page.press("builder.apply", "dialog")
    page.page.wait_for_function("() => location.search.includes('where=')")
    page.settled()
    assert "sex" in page.question["where"]
    # And without it again.
    page.page.locator("#conditions .icon-button").click()
    page.page.wait_for_function("() => !location.search.includes('where=')")
    page.settled()


def check_arranging(page: Builder, document: dict[str, Any]) -> None:
    window = page.page
    before = ordered(flat(page.numbers()))
    assert before == ordered(values_in(document))
    # With the keyboard: sex from the columns into the rows, and back.
    grip = window.locator("[data-focus=grip-sex]")
    grip.focus()
    grip.press("ArrowUp")
    assert page.zone("rows") == ["ed", "sex"]
    expect(window.locator("[data-focus=grip-sex]")).to_be_focused()
    assert ordered(flat(page.numbers())) == before
    # With the mouse: into the layer.
    start = window.locator("[data-focus=grip-sex]").bounding_box()
    end = window.locator("[data-zone=layer] ol").bounding_box()
    assert start is not None
    assert end is not None
    window.mouse.move(start["x"] + 5, start["y"] + 5)
    window.mouse.down()
    window.mouse.move(start["x"] + 5, end["y"] + 4, steps=4)
    window.mouse.move(end["x"] + 5, end["y"] + end["height"] - 2, steps=4)
    window.mouse.up()
    assert page.zone("layer") == ["sex"]
    # Through the layer, page by page: together they are the whole table.
    seen = [*flat(page.numbers())]
    following = page.control("layer-sex-next")
    for _ in range(2):
        following.click()
        seen += flat(page.numbers())
    expect(page.control("layer-sex-next")).to_have_attribute("aria-disabled", "true")
    assert ordered(seen) == before
    assert page.parameters["at"][0].startswith("sex:")
    page.actions("sex", "builder.arrange.to_columns")
    assert page.zone("layer") == []


def check_views(page: Builder, document: dict[str, Any]) -> None:
    """Totals, percentages, codes: all from the numbers that are published."""
    counts = page.numbers()
    whole = len(counts[0])
    page.control("totals").uncheck()
    fewer = page.numbers()
    assert (len(fewer), len(fewer[0])) == (len(counts) - 1, whole // 3 * 2 // 5 * 4)
    page.control("totals").check()
    for kind in ("row", "column"):
        page.control("show").select_option(kind)
        for at, row in enumerate(page.grid()):
            for across, text in enumerate(row):
                total = counts[at][0] if kind == "row" else counts[0][across]
                value = counts[at][across]
                if value is None or total is None:
                    assert text == "k"  # no share is made up of what is not shown
                elif total:
                    assert abs(decimal(text) - 100 * value / total) <= 0.0501
                else:
                    assert text == "–"
    page.control("show").select_option("count")
    labels = page.column_headings()
    page.control("label").select_option("code")
    assert page.column_headings() != labels
    page.control("label").select_option("both")
    assert any(
        heading.endswith(labels[-1]) and heading != labels[-1] for heading in page.column_headings()
    )
    page.control("label").select_option("label")
    # A chart and a map of the same numbers.
    window = page.page
    page.control("tab-chart").click()
    expect(window.locator(".r-drawing svg path").first).to_be_attached()
    window.locator(".r-figures summary").click()
    drawn = window.locator(".r-figures td").all_inner_texts()
    published = set(values_in(document))
    assert drawn
    assert {number(one.split("\n")[0]) for one in drawn} <= published
    page.control("tab-map").click()
    expect(window.locator(".r-drawing svg path").nth(4)).to_be_attached()
    assert window.locator(".r-areas [role=option]").count() == 4
    page.control("tab-table").click()


def decimal(text: str) -> float:
    """A percentage, in whatever language it is written."""
    return float(text.strip("()").replace(",", "."))


def check_notes(page: Builder) -> None:
    """The worked example: its parts stand in the table and add up to what it says."""
    example = page.page.locator(".r-example").inner_text()
    figures = [number(one) for one in re.findall(r"\d[\d.,\s\u00a0\u202f]*", example)]
    found = [figure for figure in figures if figure is not None]
    *parts, together, total = found
    # Labels can have numbers in them too: those of the parts stand last.
    assert together in [sum(parts[at:]) for at in range(len(parts))]
    assert abs(together - total) < 60
    shown = flat(page.numbers())
    assert total in shown
    assert page.page.locator("#result-notes").inner_text().count(".") > 5


def give_feedback(page: Builder, place: Place) -> None:
    form = page.page.locator(".r-feedback")
    form.locator("summary").click()
    words = f"Where are the cats? <b>{page.language}</b>"
    form.locator("textarea").fill(words)
    form.get_by_role("button").click()
    expect(form.locator(".r-feedback-state")).to_have_text(page.says("result.feedback.done"))
    assert words in [one.text for one in place.database.feedback.all()]


def check_link(page: Builder, builder: Callable[..., Builder]) -> None:
    """The link shows the same table in the same view to somebody else."""
    window = page.page
    page.control("show").select_option("row")
    page.control("label").select_option("both")
    page.actions("sex", "builder.arrange.to_layer")
    page.control("layer-sex-next").click()
    window.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.control("copy-link").click()
    expect(page.control("copy-link")).to_have_text(page.says("result.copy.done"))
    link = str(window.evaluate("navigator.clipboard.readText()"))
    assert link.startswith(page.window.url)
    parts = urlsplit(link)
    other = builder(f"{parts.path}?{parts.query}", locale="en-GB")
    assert other.language == page.language
    assert other.grid() == page.grid()
    assert other.title == page.title
    assert other.row_headings() == page.row_headings()
    assert other.column_headings() == page.column_headings()
    for zone in ("rows", "columns", "layer"):
        assert other.zone(zone) == page.zone(zone)


def test_calls_to_copy_give_the_table_of_the_page(
    place: Place, builder: Callable[..., Builder]
) -> None:
    groups = {"ed": [{"label": 'it\'s "mine"', "codes": ["P001", "P002"]}]}
    page = builder(None).ask("ed@parish", "sex", where="age >= 15", groups=json.dumps(groups))
    shown = sorted(one for one in flat(page.numbers()) if one is not None)
    calls = {}
    for name in ("curl", "python", "r", "link"):
        page.control("call").select_option(name)
        calls[name] = page.page.locator(".r-code").inner_text()
    done = subprocess.run(
        ["bash", "-c", f"{calls['curl']} --silent"], capture_output=True, check=True, timeout=30
    )
    assert sorted(json.loads(done.stdout)["value"]) == shown
    scope: dict[str, Any] = {}
    exec(compile(calls["python"], "copied", "exec"), scope)
    table = scope["table"]
    assert scope["sc"] is sc
    assert sorted(table.values.reshape(-1).tolist()) == shown
    assert sorted(place.client.get(calls["link"]).json()["value"]) == shown
    assert calls["link"] in calls["r"]


def test_several_levels_of_a_link_are_shown_and_can_be_taken_away(
    builder: Callable[..., Builder],
) -> None:
    groups = {"ed": [{"label": "Mix", "codes": ["parish:P001", "district:D02"]}]}
    groups["ed"].append({"label": "Both", "codes": ["parish:P003", "parish:P004"]})
    page = builder(None).ask("ed@parish+district", "sex", groups=json.dumps(groups))
    headings = [heading.split("\n")[0] for heading in page.row_headings()]
    assert headings == ["Whole country", "Mix", "Both"]
    page.actions("ed", "builder.arrange.edit")
    listed = page.dialog.locator(".group-list li")
    expect(listed).to_have_count(2)
    assert "parish:" not in listed.first.inner_text()
    listed.first.get_by_role("button").click()
    page.press("builder.apply", "dialog")
    page.until_asked(lambda by: by == ["ed@parish+district", "sex"])
    assert [one["label"] for one in json.loads(page.question["groups"])["ed"]] == ["Both"]
    page.actions("ed", "builder.arrange.edit")
    page.dialog.get_by_label(page.says("builder.codes.level"), exact=True).select_option("district")
    expect(page.dialog.locator(".code-list label").first).to_be_visible()
    page.press("builder.apply", "dialog")
    page.until_asked(lambda by: by == ["ed@district", "sex"])
    assert "groups" not in page.question
