"""What charts and maps draw is what the table shows, for every kind of chart and of question."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.web.browser.building import Builder, number, values_in
from tests.web.servers import TABLES, Place

#: What is drawn: the data behind every mark, with where it begins and ends along the figures.
DRAWN = """() => {
  const marks = new Set();
  for (const node of document.querySelectorAll(".r-drawing svg .role-mark path")) {
    if (node.__data__?.mark) marks.add(node.__data__.mark);
  }
  return [...marks].flatMap((mark) => mark.items.filter((one) => one.datum).map((one) => ({
    category: one.datum.category, series: one.datum.series, value: one.datum.value,
    low: one.datum.low, text: one.datum.text, begin: one.x, length: one.width ?? null,
    whole: mark.group.width, type: mark.marktype, place: one.datum.place, fill: one.fill,
  })));
}"""

DISTRICT, PARISH = {"ed": ["D01"]}, {"ed": ["P002"]}
OWN = {"ed": [{"label": "Mine", "codes": ["P001", "P003"]}]}
#: Questions of every kind: axes, and what is chosen of them.
QUESTIONS: dict[str, dict[str, Any]] = {
    "plain": {"by": ["age@five_year", "sex"]},
    "one axis": {"by": ["marital_status"]},
    "condition": {"by": ["age@five_year", "sex"], "where": "ed@district == 'D02'"},
    "one category": {"by": ["ed@parish", "age@five_year", "sex"], "codes": PARISH},
    "one district": {"by": ["ed@district", "age@five_year", "sex"], "codes": DISTRICT},
    "no total": {"by": ["ed@parish-total", "age@five_year", "sex"], "codes": PARISH},
    "one own group": {"by": ["ed@parish", "age@five_year", "sex"], "groups": OWN},
    "chosen areas": {"by": ["ed@parish", "age@broad", "sex"], "codes": {"ed": ["P002", "P004"]}},
    "several levels": {"by": ["ed@parish+district", "sex"]},
}


def drawn(page: Builder) -> list[dict[str, Any]]:
    """What stands in the drawing, once it is there."""
    expect(page.page.locator(".r-drawing svg .role-mark path").first).to_be_attached()
    marks: list[dict[str, Any]] = page.page.evaluate(DRAWN)
    return marks


def asked(page: Builder, question: dict[str, Any], **more: str) -> Builder:
    """Open the table of a question."""
    chosen = ("codes", "groups")
    parts: dict[str, str] = {one: json.dumps(question[one]) for one in chosen if one in question}
    if "where" in question:
        parts["where"] = question["where"]
    return page.ask(*question["by"], **parts, **more)


class Published:
    """The numbers of an answer by the labels of their cells."""

    def __init__(self, document: dict[str, Any]) -> None:
        about = document["extension"]["sdcensus"]
        self.ids = document["id"][:-1]
        self.labels, self.totals = [], []
        for name in self.ids:
            dimension = document["dimension"][name]
            category = dimension["category"]
            labels = [category["label"][code] for code in category["index"]]
            for at, group in enumerate(about["own_groups"].get(name, [])):
                labels[category["index"].index(f"own_{at + 1}")] = group["label"]
            self.labels.append(labels)
            total = dimension.get("extension", {}).get("total")
            self.totals.append(None if total is None else category["index"].index(total))
        self.shape = document["size"][:-1]
        self.values = values_in(document)
        self.document = document

    def at(self, places: dict[str, int]) -> int | None:
        """The number of a cell."""
        cell = 0
        for name, size in zip(self.ids, self.shape, strict=True):
            cell = cell * size + places[name]
        return self.values[cell]

    def place(self, name: str, label: str) -> int:
        """Where a label stands."""
        return int(self.labels[self.ids.index(name)].index(label))


def choices(page: Builder, key: str) -> list[str]:
    """What can be chosen in a control; nothing where there is none."""
    control = page.control(key)
    if control.count() == 0:
        return []
    options: list[str] = control.evaluate("node => [...node.options].map(one => one.value)")
    return options


def value_of(page: Builder, key: str) -> str:
    return page.control(key).input_value() if page.control(key).count() else ""


def fixed_places(page: Builder, published: Published, axes: tuple[str, str]) -> dict[str, int]:
    """Where the dimensions stand that are not drawn, as the page says."""
    places = {}
    for name in published.ids:
        if name in axes:
            continue
        said = value_of(page, f"chart-fixed-{name}")
        places[name] = int(said) if said else 0
    return places


def check_chart(page: Builder, published: Published, question: dict[str, Any]) -> None:
    """Every mark has the number of the table for exactly what the page says that it is."""
    marks = drawn(page)
    single = [name for name, size in zip(published.ids, published.shape, strict=True) if size > 1]
    category = value_of(page, "chart-category") or single[0]
    series = value_of(page, "chart-series")
    places = fixed_places(page, published, (category, series))
    for name, place in places.items():
        if name in {**question.get("codes", {}), **question.get("groups", {})}:
            assert place != published.totals[published.ids.index(name)], "the total of all"
    measure = value_of(page, "chart-measure") or "count"
    shown = 0
    for mark in marks:
        here = {**places, category: published.place(category, mark["category"])}
        if series:
            here[series] = published.place(series, mark["series"])
        count = published.at(here)
        if count is None or mark["value"] is None:
            assert count is None
            continue
        shown += 1
        if measure == "count":
            assert mark["value"] == count
            assert number(mark["text"].split(" · ")[-1]) == count
        else:
            over = series if measure == "category" else category
            whole = published.at({**here, over: published.totals[published.ids.index(over)]})
            assert whole
            assert abs(mark["value"] - min(count / whole, 1)) <= 0.0005 + 1e-9
    assert shown > 0
    check_lengths([mark for mark in marks if mark["type"] == "rect" and mark["value"]])


def check_lengths(bars: list[dict[str, Any]]) -> None:
    """One scale: the same number is as long wherever it stands."""
    scales = [bar["length"] / bar["value"] for bar in bars if bar["length"] > 20]
    assert all(abs(one / scales[0] - 1) < 0.02 for one in scales)


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_chart_draws_what_the_table_shows(
    name: str, place: Place, builder: Callable[..., Builder]
) -> None:
    question = QUESTIONS[name]
    published = Published(place.client.post(TABLES, json={"of": "persons", **question}).json())
    page = asked(builder(None), question, tab="chart")
    drawn(page)
    for series in choices(page, "chart-series") or [""]:
        if page.control("chart-series").count():
            page.control("chart-series").select_option(series)
        for kind in choices(page, "chart-kind") or ["bar"]:
            if page.control("chart-kind").count():
                page.control("chart-kind").select_option(kind)
            for measure in choices(page, "chart-measure") or ["count"]:
                if page.control("chart-measure").count():
                    page.control("chart-measure").select_option(measure)
                check_chart(page, published, question)


@pytest.mark.parametrize("name", ["one district", "one own group"])
def test_a_pyramid_is_of_what_was_chosen_and_both_sides_have_one_scale(
    name: str, builder: Callable[..., Builder]
) -> None:
    page = asked(builder(None), QUESTIONS[name], tab="chart", rows="age", columns="sex", layer="ed")
    assert value_of(page, "chart-kind") == "pyramid"
    bars = drawn(page)
    zero = {round(bar["begin"], 3) for bar in bars if bar["series"] != "Male"}
    assert len(zero) == 1
    assert abs(zero.pop() - bars[0]["whole"] / 2) < 1
    label = "Mine" if name == "one own group" else "Abbott District"
    chosen = page.control("chart-fixed-ed").evaluate("one => one.selectedOptions[0].textContent")
    assert chosen.strip() == label
    drawing = page.page.locator(".r-drawing")
    assert label in (drawing.get_attribute("aria-label") or "")


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("kind", ["pyramid", "bar", "stacked", "line"])
def test_the_whole_axis_is_drawn_and_what_is_withheld_is_hatched(
    kind: str, width: int, place: Place, builder: Callable[..., Builder]
) -> None:
    """A parish of which few ages are published shows all of them, each in its place."""
    question = QUESTIONS["one category"]
    published = Published(place.client.post(TABLES, json={"of": "persons", **question}).json())
    window = builder(None, viewport={"width": width, "height": 900})
    page = asked(window, question, tab="chart", rows="age", columns="sex", layer="ed")
    drawn(page)
    page.control("chart-kind").select_option(kind)
    expect(page.page.locator("#result-hatch")).to_be_attached()
    marks = drawn(page)
    parish = published.place("ed", "Saint Andrew")
    expected = {
        (age, sex): published.at({"ed": parish, "age": at, "sex": published.place("sex", sex)})
        for at, age in enumerate(published.labels[published.ids.index("age")])
        for sex in ("Male", "Female")
        if age[0].isdigit()
    }
    gone = {pair for pair, value in expected.items() if value is None}
    assert 0 < len(gone) < len(expected)
    hatched = [mark for mark in marks if mark["fill"] == "url(#result-hatch)"]
    assert {(mark["category"], mark["series"]) for mark in hatched} == gone
    assert {(mark["category"], mark["series"]) for mark in marks} == expected.keys()
    # From end to end: no length that could be read as a number.
    share = 0.5 if kind == "pyramid" else 1
    if kind != "line":
        assert {round(mark["length"] / mark["whole"], 2) for mark in hatched} == {share}
    # Every mark says why, as the legend does; so do words for those who do not see it.
    told = page.says("result.chart.withheld_other", n=len(gone))
    assert told in str(page.page.locator(".r-drawing").get_attribute("aria-label"))
    meaning = hatched[0]["text"].split(" · ")[-1]
    legend = page.page.locator("#result-panel .r-classes")
    expect(legend).to_have_text(
        page.says("result.chart.hatched_other", n=len(gone), meaning=meaning)
    )
    expect(legend.locator(".r-hatched")).to_have_count(1)


def test_a_total_beside_chosen_codes_is_called_what_it_is(
    place: Place, builder: Callable[..., Builder]
) -> None:
    """On the page and in files, in every language; the total of all codes is a total."""
    question: dict[str, Any] = {"by": ["ed@parish", "sex"], "codes": {**PARISH, "sex": ["2"]}}
    names = {
        "en": ("Whole country", "Total of all categories"),
        "es": ("Todo el país", "Total de todas las categorías"),
        "fr": ("Ensemble du pays", "Total de toutes les catégories"),
        "nl": ("Hele land", "Totaal van alle categorieën"),
    }
    for language, (country, categories) in names.items():
        page = asked(builder(None), question, lang=language)
        assert page.row_headings()[0] == country
        assert page.column_headings()[0] == categories
        file = place.client.get(
            TABLES,
            params=[
                ("of", "persons"),
                *(("by", axis) for axis in question["by"]),
                ("codes", json.dumps(question["codes"])),
                ("format", "csv"),
                ("lang", language),
            ],
        )
        assert country in file.text
        assert categories in file.text
    # Groups of areas beside it change nothing; a condition on areas does.
    page = asked(builder(None), QUESTIONS["one own group"], lang="en")
    assert page.row_headings()[0] == "Whole country"
    page = asked(builder(None), {**question, "where": "ed@district == 'D01'"})
    assert "Whole country" not in page.row_headings()
    page = asked(builder(None), {"by": ["ed@parish", "sex"]})
    assert page.row_headings()[0] == page.column_headings()[0] == "Total"


# ---- maps ------------------------------------------------------------------------------------


def legend(page: Builder) -> list[tuple[float, float]]:
    """The classes of a map as its legend has them."""
    lines = page.page.locator(".r-classes li:not(:has(.r-hatched))").all_inner_texts()
    ranges = []
    for line in lines:
        ends = [float(end) for end in line.split("(")[0].strip(" %").replace(",", "").split(" – ")]
        ranges.append((ends[0], ends[-1]))
    return ranges


@pytest.mark.parametrize("by", [("ed", "sex"), ("ed", "marital_status")])
def test_every_area_of_a_map_lies_in_one_class_of_its_legend(
    by: tuple[str, ...], builder: Callable[..., Builder]
) -> None:
    page = builder(None).ask(*by, tab="map")
    for measure in choices(page, "map-measure"):
        page.control("map-measure").select_option(measure)
        step = 0.1 if measure == "share" else 1
        for method in choices(page, "map-method"):
            page.control("map-method").select_option(method)
            for classes in choices(page, "map-classes"):
                page.control("map-classes").select_option(classes)
                check_map(page, step)


def check_map(page: Builder, step: float) -> None:
    marks = [mark for mark in drawn(page) if mark["text"]]
    ranges = legend(page)
    assert all(low <= high for low, high in ranges)
    # Each class begins one step above the end of the one before: none overlap, none is missing.
    assert all(abs(after[0] - before[1] - step) < 1e-9 for before, after in pairwise(ranges))
    colours = page.page.locator(".r-classes li:not(:has(.r-hatched)) i").evaluate_all(
        "all => all.map(one => getComputedStyle(one).backgroundColor)"
    )
    assert len(set(colours)) == len(colours) == len(ranges)
    listed = dict(
        zip(
            page.page.locator(".r-areas li span").all_inner_texts(),
            page.page.locator(".r-areas li b").all_inner_texts(),
            strict=True,
        )
    )
    shown = 0
    for mark in marks:
        name, _, figure = mark["text"].rpartition(" · ")
        plain = figure.strip("()% ").replace(",", "").rstrip(") ")
        assert listed[name] == figure or not plain[:1].isdigit()
        if not plain[:1].isdigit():
            continue
        inside = [low <= float(plain) <= high for low, high in ranges]
        assert inside.count(True) == 1
        assert rgb(mark["fill"]) == colours[inside.index(True)]
        shown += 1
    assert shown > 0


def rgb(colour: str) -> str:
    """A colour as browsers tell it."""
    parts = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return f"rgb({', '.join(map(str, parts))})"


CLASSES = """async ([numbers, method, count, step]) => {
  const { classesOf } = await import("/static/result/map-data.js");
  return classesOf(numbers, method, count, step).map((one) => [one.from, one.to, one.count]);
}"""
SPREAD: list[tuple[list[float], float]] = [
    ([0, 0, 0, 0, 9], 1),
    ([5, 5, 5], 1),
    ([7], 1),
    ([0, 1], 1),
    ([0, 10, 20, 30, 40, 50], 1),
    ([0.1, 0.2, 0.3, 0.7, 0.3, 0.301], 0.001),
    ([0.029, 0.03, 0.057, 0.058, 1], 0.001),
    ([1.15, 1.25, 2.5, 9.95], 0.01),
    ([*range(100), 1_000_000], 1),
]


def test_classes_have_no_number_twice(builder: Callable[..., Builder]) -> None:
    """Ties, few numbers, decimals, numbers on limits: each lies in one class, none below 0."""
    page = builder().page
    for numbers, step in SPREAD:
        for method in ("equal", "quantile"):
            for count in (3, 4, 5, 6):
                classes = page.evaluate(CLASSES, [numbers, method, count, step])
                steps = [(round(low / step), round(high / step)) for low, high, _ in classes]
                assert 1 <= len(steps) <= min(count, len(set(numbers)))
                assert steps[0][0] == round(min(numbers) / step) >= 0
                assert steps[-1][1] == round(max(numbers) / step)
                assert all(after[0] == before[1] + 1 for before, after in pairwise(steps))
                for (low, high), (_, _, inside) in zip(steps, classes, strict=True):
                    assert inside == sum(low <= round(one / step) <= high for one in numbers)
                assert sum(inside for _, _, inside in classes) == len(numbers)


def test_an_area_in_two_own_groups_is_drawn_as_one_of_them_only_where_it_lies_in_one(
    builder: Callable[..., Builder],
) -> None:
    groups = {
        "ed": [
            {"label": "West", "codes": ["P001", "P002"]},
            {"label": "East", "codes": ["P002", "P003"]},
        ]
    }
    page = asked(builder(None), {"by": ["ed@parish", "sex"], "groups": groups}, tab="map")
    marks = drawn(page)
    names = [mark["text"].partition(" · ")[0] for mark in marks if mark["text"]]
    assert sorted(names) == ["East", "West"]
    message = page.page.locator(".r-message")
    expect(message).to_contain_text(page.says("result.map.in_two_one", n=1))
