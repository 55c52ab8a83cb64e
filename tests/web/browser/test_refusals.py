"""What is not to be had, and what would help: refusals, limits, a server in trouble, bad links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import expect

from sdcensus.session.answer import TableService, open_service
from tests.web.browser.building import Builder, Watched
from tests.web.servers import TABLES, PausingService, Place, opened, until

SPARSE = ("ed", "ethnicity", "age@five_year")
HOPELESS = ("ed", "household_type", "household_size")


@pytest.fixture(scope="module")
def narrow(country: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server of an office that allows little: 300 cells, 6 tables a day."""
    folder = tmp_path_factory.mktemp("narrow")
    text = (country / "policy.toml").read_text(encoding="utf-8")
    text = text.replace("cells = 100_000", "cells = 300")
    text = text.replace("tables_per_day = 1_000", "tables_per_day = 6")
    policy = folder / "policy.toml"
    policy.write_text(text, encoding="utf-8", newline="\n")
    service = open_service(
        country / "census.store",
        policy,
        plan=country / "plan.toml",
        secret=country / "demo.secret",
    )
    with opened(folder, service) as made:
        yield made


@pytest.mark.parametrize("language", ["en", "fr"])
def test_withheld_areas_are_counted_and_what_would_help_helps(
    language: str, place: Place, builder: Callable[..., Builder]
) -> None:
    page = builder(None).ask(*SPARSE, lang=language)
    areas = place.client.post(TABLES, json={"of": "persons", "by": list(SPARSE)}).json()[
        "extension"
    ]["sdcensus"]["areas"]
    gone = areas["all"] - areas["available"]
    assert 0 < gone < areas["all"]
    box = page.page.locator(".r-withheld")
    text = box.locator("p").first.inner_text()
    assert page.says("result.status.some", available=areas["available"], all=areas["all"]) in text
    assert page.says("result.status.withheld_other", n=gone) in text
    # The panel says so as well, and the table shows which.
    size = page.page.locator("#size")
    expect(size).to_contain_text(
        page.says("builder.size.areas", available=areas["available"], all=areas["all"])
    )
    rows = page.page.locator("#result tbody tr", has_text=page.says("result.cell.withheld"))
    assert rows.count() > 0
    box.locator("summary").click()
    help_of = box.locator(".r-remedies button")
    assert help_of.count() >= 3
    # Words for readers, not for programs.
    for one in [*box.locator(".r-reasons li").all_inner_texts(), *help_of.all_inner_texts()]:
        assert not re.search(r"@|_|\((ed|age|ethnicity)\)", one), one
    help_of.first.click()
    page.page.wait_for_function("() => location.search.includes('broad')")
    page.settled()
    expect(page.page.locator(".r-withheld")).to_have_count(0)
    expect(page.page.locator("#result .r-table")).to_be_visible()


def test_a_refusal_says_why_once_and_what_would_help_helps(builder: Callable[..., Builder]) -> None:
    page = builder(None)
    page.window.expected.add(403)
    page.ask(*HOPELESS, of="households")
    assert page.title == page.says("result.refusal.refused")
    box = page.page.locator(".r-refusal")
    lines = [one for one in box.inner_text().split("\n") if one.strip()]
    assert len(lines) == len(set(lines))
    assert box.locator(".r-reasons li").count() == 1
    assert page.grid() == []
    # The size is told all the same.
    expect(page.page.locator("#size")).to_contain_text("cells of at most")
    box.locator(".r-remedies button").first.click()
    page.page.wait_for_function("() => location.search.includes('parish')")
    page.settled()
    assert "Parish" in page.title
    assert page.numbers()


def test_too_many_cells_and_too_many_tables(narrow: Place, builder: Callable[..., Builder]) -> None:
    page = builder(None, url=narrow.server.url)
    page.window.expected |= {403, 413, 429}
    page.ask("ed", "age@five_year")
    assert page.title in (
        page.says("result.refusal.refused"),
        page.says("result.refusal.too_large"),
    )
    text = page.page.locator(".r-refusal").inner_text()
    assert "594" in text
    assert "300" in text
    over = page.page.locator("#size .over")
    expect(over.first).to_be_visible()
    page.page.locator(".r-remedies button").first.click()
    page.page.wait_for_function("() => !location.search.includes('five_year')")
    page.settled()
    shown = page.numbers()
    assert shown
    # More than a day has: the last table stays, and the page says when to come back.
    for name in (
        "sex",
        "travel",
        "language",
        "activity",
        "ethnicity",
        "marital_status",
        "employment_status",
    ):
        page.page.evaluate(
            "name => { history.pushState(null, '', `?of=persons&by=${name}`);"
            " dispatchEvent(new PopStateEvent('popstate')); }",
            name,
        )
        page.settled()
        if page.page.locator(".trouble").count():
            break
    trouble = page.page.locator(".trouble")
    expect(trouble).to_contain_text(page.says("builder.problem.quota"))
    expect(trouble).to_contain_text(page.says("builder.problem.stays"))
    # By the clock of the reader, not in thousands of seconds; what was asked for is asked again.
    assert re.search(r"Try again from .*\d\d:\d\d", trouble.inner_text())
    assert "second" not in trouble.inner_text()
    zones = [*page.zone("rows"), *page.zone("columns")]
    assert zones == [axis.partition("@")[0] for axis in page.question["by"]]
    said = narrow.client.post(TABLES, json={"of": "persons", "by": ["sex"]})
    assert int(said.headers["retry-after"]) > 0
    assert re.search(r"from \d{4}-\d\d-\d\d \d\d:\d\d UTC", said.json()["error"]["message"])
    assert page.numbers()
    expect(trouble.get_by_role("button")).to_have_text(page.says("builder.problem.retry"))


def test_a_busy_server_says_so_and_answers_later(
    service: TableService, tmp_path: Path, watched: Callable[..., Watched]
) -> None:
    paused = PausingService(service)
    with (
        opened(tmp_path, paused, workers=1, queue=1) as made,
        ThreadPoolExecutor() as others,
    ):
        try:
            waiting = [
                others.submit(made.client.post, TABLES, json={"of": "persons", "by": [one]})
                for one in ("sex", "travel")
            ]
            until(lambda: len(made.site.flights) >= 2)
            page = Builder(watched(made.server.url))
            page.window.expected.add(503)
            page.open("/")
            trouble = page.page.locator(".trouble")
            expect(trouble).to_contain_text(page.says("builder.problem.busy"))
        finally:
            paused.gate.set()
        assert all(one.result(30).status_code == 200 for one in waiting)
        trouble.get_by_role("button").click()
        page.settled()
        expect(page.page.locator(".trouble")).to_have_count(0)
        assert page.numbers()


def test_without_a_network_the_last_table_stays(builder: Callable[..., Builder]) -> None:
    page = builder()
    before = page.grid()
    page.window.offline = True
    page.page.context.set_offline(True)
    page.find_variable("travel")
    page.page.locator("[data-focus=add-travel]").click()
    trouble = page.page.locator(".trouble")
    expect(trouble).to_contain_text(page.says("builder.problem.network"))
    expect(trouble).to_contain_text(page.says("builder.problem.stays"))
    assert page.grid() == before
    page.page.context.set_offline(False)
    page.window.offline = False
    trouble.get_by_role("button").click()
    page.settled()
    expect(page.page.locator(".trouble")).to_have_count(0)
    assert "Travel to work" in page.title


BROKEN = [
    ("by=ages", "unknown_name", ["ages", "age"]),
    ("of=people&by=sex", "bad_question", ["persons"]),
    ("by=sex@", "bad_question", ["sex@"]),
    ("by=sex&where=age+%3E%3E+3", "bad_question", [">>"]),
    ("by=sex&codes=%7Bnonsense", "bad_question", ["codes", "link"]),
    ("by=sex&groups=%5B1%5D", "bad_question", ["groups", "link"]),
    ("by=sex&codes=%7B%22sex%22%3A%5B%229%22%5D%7D", "unknown_name", ["9", "1, 2"]),
]


def test_broken_links_say_what_is_wrong(builder: Callable[..., Builder]) -> None:
    page = builder(None)
    page.window.expected |= {400, 404}
    for address, heading, hints in BROKEN:
        page.open(f"/?{address}")
        text = page.page.locator(".r-refusal").inner_text()
        assert page.title == page.says(f"result.refusal.{heading}"), text
        assert all(hint in text for hint in hints), text
        assert page.grid() == []
    # One can go on from there.
    page.press("builder.panel.reset", "#actions")
    page.page.wait_for_function("() => location.search.includes('by=ed')")
    page.settled()
    assert page.numbers()


def test_back_forward_and_reload(builder: Callable[..., Builder]) -> None:
    page = builder()
    first = (page.title, page.grid())
    page.find_variable("marital")
    page.add("marital_status")
    second = (page.title, page.grid())
    page.control("show").select_option("column")
    third = page.grid()
    assert third != second[1]
    page.page.go_back()
    page.settled()
    assert (page.title, page.grid()) == second
    page.page.go_back()
    page.page.wait_for_function("() => !location.search.includes('marital')")
    page.settled()
    assert (page.title, page.grid()) == first
    assert page.zone("columns") == ["sex"]
    page.page.go_forward()
    page.page.go_forward()
    page.page.wait_for_function("() => location.search.includes('show=column')")
    page.settled()
    assert page.grid() == third
    page.page.reload()
    page.settled()
    assert page.grid() == third
    page.press("builder.panel.reset", "#actions")
    page.settled()
    assert (page.title, page.grid()) == first
