"""The result side of the table builder in a real browser, over answers made by hand."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import sdcensus.web
from sdcensus.model.published.figures import DEFAULT_LIMITS, Counted, quotient
from sdcensus.model.published.table import Mark
from sdcensus.model.text import LANGUAGES
from sdcensus.web.languages import texts
from tests.web.browser.building import PATIENCE_OF_BROWSER

WEB = Path(sdcensus.web.__file__).parent
SCRIPTS = sorted((WEB / "static" / "result").glob("*.js"))
CHROMIUM = Path("/usr/bin/chromium")
POLICY = "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_small_and_write_no_markup(path: Path) -> None:
    script = path.read_text("utf-8")
    assert len(script.splitlines()) <= 400
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script
    )
    assert not re.findall(r"https?://", script)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_every_word_stands_in_every_catalogue(path: Path) -> None:
    used = re.findall(r"\b(t|plural)\(\s*\"(result\.[\w.]+[a-z])\"", path.read_text("utf-8"))
    for language in LANGUAGES:
        known = texts(language)
        for kind, key in used:
            forms = [f"{key}_one", f"{key}_other"] if kind == "plural" else [key]
            assert not [form for form in forms if form not in known], f"{key} in {language}"


def test_words_that_scripts_put_together_stand_in_every_catalogue() -> None:
    together = {
        "result.tabs": ("table", "chart", "map"),
        "result.show": ("count", "row", "column"),
        "result.labels": ("label", "code", "both"),
        "result.layer": ("previous", "next"),
        "result.chart": ("kind_bar", "kind_stacked", "kind_line", "kind_pyramid"),
        "result.map": ("quantile", "equal"),
        "result.call": ("curl", "python", "r", "link"),
        "result.notes": ("example", "example_everywhere", "same", "same_everywhere"),
        "result.refusal": ("refused", "too_large", "bad_question", "quota", "busy", "network"),
    }
    for language in LANGUAGES:
        known = texts(language)
        assert all(f"{part}.{key}" in known for part, keys in together.items() for key in keys)


# ---------------------------------------------------------------------------------------------
# In the browser


def dimension(label: str, codes: dict[str, str], *, total: bool = True) -> dict[str, Any]:
    """A dimension of JSON-stat; the total comes last, as the API has it."""
    labels = codes | ({"_T": "Total"} if total else {})
    made: dict[str, Any] = {"label": label}
    made["category"] = {"index": list(labels), "label": labels}
    if total:
        made["category"]["child"] = {"_T": list(codes)}
        made["extension"] = {"total": "_T"}
    return made


def dataset(dimensions: dict[str, Any], values: list[int | None], **more: Any) -> dict[str, Any]:
    """A dataset as the API answers."""
    sizes = [len(dimension["category"]["index"]) for dimension in dimensions.values()]
    measure = {"label": "Measure", "category": {"index": ["V"], "label": {"V": "Persons"}}}
    question = {"of": "persons", "by": list(dimensions)}
    about = {"question": question, "cells": len(values), "limit": 100_000, "own_groups": {}}
    status = more.pop("status", {})
    counts = np.array([value or 0 for value in values])
    weak = np.flatnonzero(Counted(counts).low()).tolist()
    about |= {"none_below": DEFAULT_LIMITS.none_below, "weak": weak}
    return {
        "version": "2.0",
        "class": "dataset",
        "label": "Persons by what there is",
        "id": [*dimensions, "M"],
        "size": [*sizes, 1],
        "role": {"metric": ["M"], "geo": ["area"]},
        "dimension": {**dimensions, "M": measure},
        "value": values,
        "status": status,
        "extension": {"sdcensus": about | more, "status": {"label": {".": "not published"}}},
    }


SEX = dimension("Sex", {"1": "Male", "2": "Female"})


def withheld_area() -> dict[str, Any]:
    """Three areas at two levels, of which one is withheld."""
    area = dimension("Area", {"a": "Ash", "b": "Birch", "c": "Cedar", "N": "North", "S": "South"})
    area["category"]["child"] = {"_T": ["N", "S"], "N": ["a", "b"], "S": ["c"]}
    area["extension"]["level"] = {"a": "parish", "b": "parish", "c": "parish"}
    area["extension"]["level"] |= {"N": "region", "S": "region", "_T": "_T"}
    rows: list[tuple[int | None, ...]] = [
        (1200, 3, 1204), (None, None, None), (700, 601, 1300),
        (2300, 2211, 4512), (700, 601, 1300), (3001, 2810, 5812),
    ]  # fmt: skip
    status = {"1": "( )", "3": ".", "4": ".", "5": "."}
    return dataset(
        {"area": area, "sex": SEX},
        [one for row in rows for one in row],
        status=status,
        areas={"all": 5, "available": 4},
        withheld=[{"variable": "area", "level": "parish", "codes": ["b"]}],
        reasons=[{"code": "sparse-area", "text": "Too few people.", "variables": [], "values": {}}],
        remedies=[
            {
                "kinds": ["coarser-area"],
                "text": "Show regions",
                "question": {"of": "persons", "by": ["area@region", "sex"]},
                "available": 2,
                "areas": 2,
            }
        ],
        example={
            "place": [{"axis": "Area", "label": "Ash"}],
            "parts": [{"label": "Male", "value": 1200}, {"label": "Female", "value": 3}],
            "sum": 1203,
            "total": 1204,
        },
    )


def large() -> dict[str, Any]:
    """100,000 cells, each with its own number."""
    area = dimension("Area", {f"{at:04}": f"Area {at}" for at in range(1000)}, total=False)
    age = dimension("Age", {str(at): str(at) for at in range(100)}, total=False)
    return dataset({"area": area, "age": age}, list(range(100_000)))


def own_groups() -> dict[str, Any]:
    """One group of the user's own, whose name would be markup."""
    name = "<img src=x onerror=alert(1)>"
    area = dimension("Area", {"own_1": f"Own group: {name}"})
    groups = {"area": [{"label": name, "codes": ["a", "b"]}]}
    return dataset(
        {"area": area, "sex": SEX},
        [10, 20, 30, 15, 25, 40],
        own_groups=groups,
        parts=[4, 4, 4, 1, 1, 1],
    )


PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>Table</title>
<link rel="stylesheet" href="/static/site.css">
<link rel="stylesheet" href="/static/result/result.css"></head>
<body><main><h1>Table</h1><div id="result"></div></main>
<script type="application/json" id="texts">{texts}</script>
<script type="module" src="/page.js"></script></body></html>"""

SCRIPT = """
import { showResult } from "/static/result/result.js";
const asked = new URLSearchParams(location.search);
const root = document.getElementById("result");
const dataset = await (await fetch(`/${asked.get("of")}.json`)).json();
const ids = dataset.id.slice(0, -1);
let view = { rows: ids.slice(0, 1), columns: ids.slice(1), layer: [], at: {}, show: "count",
  label: "label", totals: true, tab: asked.get("tab") ?? "table" };
const show = () => showResult(root, { dataset, view, language: document.documentElement.lang,
  apiLink: "/api/v1/tables?of=persons", pageLink: "/?of=persons",
  onView: (part) => { view = { ...view, ...part }; show(); } });
root.addEventListener("sdcensus:question", (event) => {
  root.dataset.asked = JSON.stringify(event.detail);
});
show();
"""


class Handler(SimpleHTTPRequestHandler):
    """Files with the policy of the pages, which allows no code made from text."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    vl_convert = pytest.importorskip("vl_convert")
    folder = tmp_path_factory.mktemp("site")
    for path in itertools.chain((WEB / "static").glob("*.css"), (WEB / "static").glob("*/*.*")):
        target = folder / "static" / path.relative_to(WEB / "static")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    snippet = "window.vegaEmbed = vegaEmbed;"
    library = vl_convert.javascript_bundle(snippet)
    (folder / "static" / "vega.js").write_text(library, encoding="utf-8", newline="\n")
    for name, made in (("withheld", withheld_area()), ("large", large()), ("own", own_groups())):
        (folder / f"{name}.json").write_text(json.dumps(made), encoding="utf-8", newline="\n")
    for language in LANGUAGES:
        words = json.dumps(dict(texts(language))).replace("<", "\\u003c")
        page = PAGE.format(language=language, texts=words)
        (folder / f"{language}.html").write_text(page, encoding="utf-8", newline="\n")
    (folder / "page.js").write_text(SCRIPT, encoding="utf-8", newline="\n")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium")
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    made = context.new_page()
    made.set_default_timeout(PATIENCE_OF_BROWSER)
    problems: list[str] = []
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on("console", lambda said: problems.extend([said.text] * (said.type == "error")))
    yield made
    context.close()
    assert not [problem for problem in problems if "404" not in problem]


def rows_of(page: Any) -> list[list[str]]:
    """What stands in the table for eyes."""
    found: list[list[str]] = page.evaluate(
        """() => [...document.querySelectorAll("tbody tr")].map((row) =>
        [...row.cells].map((cell) => [...cell.childNodes]
        .filter((one) => !one.classList?.contains("visually-hidden"))
        .map((one) => one.textContent).join("")))"""
    )
    return found


@pytest.mark.slow
def test_totals_come_first_and_parts_follow_what_holds_them(page: Any, address: str) -> None:
    page.goto(f"{address}/en.html?of=withheld")
    page.wait_for_selector("tbody tr")
    assert rows_of(page) == [
        ["Total", "5,812", "3,001", "2,810"],
        ["North", "4,512", "2,300", "2,211"],
        ["Ash", "1,204", "1,200", "(3)"],
        ["Birch", "withheld", ".", "."],
        ["South", "1,300", "700", "601"],
        ["Cedar", "1,300", "700", "601"],
    ]
    assert "r-depth-1" in page.locator("tbody th", has_text="Ash").get_attribute("class")
    assert page.locator(".r-withheld").inner_text().startswith("4 of 5 areas available.")
    notes = page.locator(".r-notes").inner_text()
    assert "(Ash), published are Male (1,200) and Female (3), together 1,203" in notes
    page.get_by_text("What would help?").click()
    page.get_by_role("button", name="Show regions").click()
    asked = json.loads(page.locator("#result").get_attribute("data-asked"))
    assert asked == {"of": "persons", "by": ["area@region", "sex"]}


@pytest.mark.slow
def test_shares_are_of_published_totals(page: Any, address: str) -> None:
    page.goto(f"{address}/nl.html?of=withheld")
    page.wait_for_selector("tbody tr")
    page.select_option("[data-focus=show]", "row")
    assert rows_of(page)[2] == ["Ash", "100,0", "99,7", "(0,2)"]
    page.select_option("[data-focus=show]", "column")
    assert rows_of(page)[1] == ["North", "77,6", "76,6", "78,7"]
    page.uncheck("[data-focus=totals]")
    assert [row[0] for row in rows_of(page)] == ["North", "Ash", "Birch", "South", "Cedar"]
    assert page.evaluate("document.activeElement.dataset.focus") == "totals"


@pytest.mark.slow
def test_shares_on_the_page_are_those_of_plans_and_programs(page: Any, address: str) -> None:
    """The same tenths, ties to the even one, and the same brackets."""
    above, below = (array.ravel() for array in np.meshgrid(np.arange(0, 90, 3), np.arange(90)))
    figures = quotient(Counted(above), Counted(below), share=True)
    page.goto(f"{address}/en.html?of=withheld")
    shown = page.evaluate(
        """async (pairs) => {
        const { shared } = await import("/static/result/layout.js");
        const cell = ([value, weak, few]) => ({ value, sign: "", parts: 1, weak, few });
        return pairs.map(([part, whole]) => {
          const share = shared(cell(part), cell(whole));
          if (share.undefined) return [0, false];
          return [Math.round(share.value * 1000), share.low];
        });
        }""",
        [*zip(told_cells(above), told_cells(below), strict=True)],
    )
    low = (figures.marks == Mark.LOW_RELIABILITY).tolist()
    assert [tuple(each) for each in shown] == list(zip(figures.values.tolist(), low, strict=True))


def told_cells(counts: np.ndarray[Any, np.dtype[Any]]) -> list[tuple[int, bool, bool]]:
    """Counts with what the server says about each."""
    low, few = Counted(counts).low(), counts < DEFAULT_LIMITS.none_below
    return list(zip(counts.tolist(), low.tolist(), few.tolist(), strict=True))


@pytest.mark.slow
def test_large_tables_hold_the_part_in_sight_and_the_right_numbers(page: Any, address: str) -> None:
    page.goto(f"{address}/en.html?of=large")
    page.wait_for_selector("tbody td[aria-colindex]")
    assert page.locator("table").get_attribute("aria-rowcount") == "1001"
    for move in ("page.keyboard", "scroll"):
        before = page.locator("tbody").inner_text()
        if move == "scroll":
            page.evaluate("document.querySelector('.r-scroll').scrollTo(3000, 9000)")
        else:
            page.locator(".r-scroll").focus()
            page.keyboard.press("End")
        page.wait_for_function(
            "before => document.querySelector('tbody').innerText !== before", arg=before
        )
        cells = page.evaluate(
            """() => [...document.querySelectorAll("td[aria-colindex]")].map((cell) => [
            Number(cell.parentElement.getAttribute("aria-rowindex")) - 2,
            Number(cell.getAttribute("aria-colindex")) - 2,
            Number(cell.textContent.replaceAll(",", ""))])"""
        )
        assert 100 < len(cells) < 3000
        assert all(value == row * 100 + column for row, column, value in cells)
    page.select_option("#result-jump", "500")
    expect(page.locator(".r-where")).to_have_text(re.compile("^Rows 501–"))


@pytest.mark.slow
def test_paper_holds_the_whole_table_up_to_a_bound_and_says_so_beyond_it(
    page: Any, address: str
) -> None:
    printing = "() => window.dispatchEvent(new Event('beforeprint'))"
    page.goto(f"{address}/en.html?of=large")
    page.wait_for_selector("tbody td[aria-colindex]")
    page.evaluate(printing)
    values = page.evaluate(
        """() => [...document.querySelectorAll(".r-print tbody td")]
        .map((cell) => Number(cell.textContent.replaceAll(",", "")))"""
    )
    assert sorted(values) == list(range(20_000))
    said = page.locator(".r-print > p").inner_text()
    assert "first 200 of 1,000 rows" in said
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert page.locator(".r-print").count() == 0
    page.goto(f"{address}/en.html?of=withheld")
    page.wait_for_selector("tbody tr")
    shown = rows_of(page)
    page.evaluate(printing)
    page.evaluate("() => document.querySelector('.r-scroll').remove()")
    assert rows_of(page) == shown
    assert page.locator(".r-print > p").count() == 0


@pytest.mark.slow
def test_names_of_users_are_text_and_marked_as_theirs(page: Any, address: str) -> None:
    page.goto(f"{address}/en.html?of=own")
    page.wait_for_selector("tbody tr")
    heading = page.locator("tbody th.r-own")
    assert "<img src=x onerror=alert(1)>" in heading.inner_text()
    assert "your group · sum of 4" in heading.inner_text()
    assert page.locator("#result img").count() == 0
    assert "sum of 4 published figures" in page.locator("td.r-sum").first.text_content()


@pytest.mark.slow
@pytest.mark.parametrize("tab", ["table", "chart", "map"])
def test_nothing_serious_for_readers_with_other_tools(page: Any, address: str, tab: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page.goto(f"{address}/es.html?of=withheld&tab={tab}")
    page.wait_for_selector({"table": "tbody tr", "chart": "svg .mark-rect", "map": ".r-areas"}[tab])
    found = axe.Axe().run(page).response["violations"]
    assert not [one["id"] for one in found if one["impact"] in ("serious", "critical")]
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
