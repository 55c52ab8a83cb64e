"""Pictures and pages of perturbation tables say what the tables say."""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from sdcensus.errors import MissingExtra, OutputError, UnknownName
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.vocabulary import PerturbationChart
from sdcensus.report.charts import as_png, as_svg
from sdcensus.report.perturbation.page import page, write_pictures
from sdcensus.report.perturbation.plots import CONFIDENTIAL, pictures, sheet
from sdcensus.session import perturbation
from sdcensus.store.owner_only import is_owner_only

DESIGNS = {
    **{name: perturbation.scheme(name) for name in perturbation.SCHEMES},
    "normal": perturbation.truncated_normal(2.0),
    "geometric": perturbation.two_sided_geometric(1.0, 7),
    "per unit": perturbation.per_unit_deviations(2),
    "zeros": perturbation.scheme("CP3").with_perturbed_zeros({1: 0.02}),
}
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(params=DESIGNS)
def design(request: pytest.FixtureRequest) -> PerturbationDesign:
    return DESIGNS[request.param]


def data_of(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """Every record that a chart draws, once."""
    found: list[dict[str, Any]] = [
        record for records in chart.get("datasets", {}).values() for record in records
    ]
    pending: list[Any] = [chart]
    while pending:
        one = pending.pop()
        if isinstance(one, dict):
            values = one.get("values") if "url" not in one else None
            if isinstance(values, list) and values and isinstance(values[0], dict):
                found += [record for record in values if record not in found]
            pending += [inner for key, inner in one.items() if key != "datasets"]
        elif isinstance(one, list):
            pending += one
    return found


def of(design: PerturbationDesign, name: PerturbationChart) -> list[dict[str, Any]]:
    [picture] = pictures(design, [name])
    return [one for one in data_of(picture.chart.to_dict()) if "share" in one]


def number(text: str) -> int:
    return int(text.replace("−", "-").rstrip(" *"))


def test_the_matrix_shows_the_probability_of_every_published_count(
    design: PerturbationDesign,
) -> None:
    shown: dict[int, dict[int, float]] = defaultdict(dict)
    for one in of(design, PerturbationChart.TRANSITIONS):
        shown[number(one["true"])][one["published"]] = one["share"]
    assert list(shown) == list(range(len(shown)))
    assert len(shown) > 3
    for count, chances in shown.items():
        expected = dict(zip(design.targets(count), design.probabilities(count), strict=True))
        assert chances == {k: share for k, share in expected.items() if share >= 5e-5}


def test_the_distribution_of_each_group_sums_to_one(design: PerturbationDesign) -> None:
    groups: dict[str, dict[int, float]] = defaultdict(dict)
    for one in of(design, PerturbationChart.DISTRIBUTION):
        groups[one["of"]][number(one["change"])] = one["share"]
    for chances in groups.values():
        assert math.fsum(chances.values()) == pytest.approx(1, abs=1e-3)
    large = [chances for name, chances in groups.items() if "more" in name or "large" in name]
    assert len(large) == 1
    if design.tail.period == 1:
        count = design.tail.start
        expected = dict(zip(design.deviations(count), design.probabilities(count), strict=True))
        assert {k: v for k, v in large[0].items() if v} == {
            k: v for k, v in expected.items() if k in large[0]
        }


def test_the_panel_has_every_row_or_says_that_it_has_not(design: PerturbationDesign) -> None:
    [picture] = pictures(design, [PerturbationChart.ROWS])
    panels = picture.chart.to_dict()["concat"]
    titles = [panel["title"]["text"] for panel in panels]
    rows = perturbation.summarise(design, lookups=False).rows
    expected = [row.counts for row in rows]
    # A row of empty cells that stay empty says nothing.
    if expected[0] == "0" and rows[0].stay == 1:
        expected = expected[1:]
    if len(expected) <= 12:
        assert titles == expected
    else:
        assert titles == [*expected[:11], expected[-1]]
        assert f"The first 11 of {len(expected)} rows, and the last one." in picture.caption


def test_counts_that_are_never_published_are_grey() -> None:
    def grey(name: str) -> set[int]:
        [picture] = pictures(DESIGNS[name], [PerturbationChart.TRANSITIONS])
        records = data_of(picture.chart.to_dict())
        return {record["published"] for record in records if "share" not in record}

    assert grey("CP3") == set()
    assert grey("CP3(1,2)") == {1, 2}
    assert grey("RR3") == {1, 2, 4, 5}


def test_charts_are_chosen_by_name() -> None:
    drawn = pictures(DESIGNS["CP1"], ["rows", PerturbationChart.DISTRIBUTION, "rows"])
    assert [one.name for one in drawn] == [PerturbationChart.ROWS, PerturbationChart.DISTRIBUTION]
    with pytest.raises(UnknownName, match="Did you mean 'transitions'"):
        pictures(DESIGNS["CP1"], ["transition"])


def test_pictures_show_nothing_when_they_are_printed() -> None:
    for picture in pictures(DESIGNS["CP3"]):
        assert repr(picture) == f"<Picture {picture.name}: confidential>"


def test_a_picture_is_told_to_those_who_cannot_see_it() -> None:
    for picture in pictures(DESIGNS["CP3"]):
        assert "38.0 %" in picture.alternative
        assert picture.title
        assert picture.caption
    drawn = pictures(DESIGNS["CP3"])
    image = ElementTree.fromstring(as_svg(sheet("a & b", drawn), 'say "38 %" <b>'))
    assert image.get("role") == "img"
    assert image.get("aria-label") == 'say "38 %" <b>'


@pytest.mark.parametrize("name", ["CP1", "CP3(1,2)", "RR3"])
def test_every_picture_is_marked_as_confidential(name: str) -> None:
    drawn = pictures(DESIGNS[name])
    image = ElementTree.fromstring(as_svg(sheet("A <title> & more", drawn), ""))
    texts = [one.text for one in image.iter() if one.text]
    assert CONFIDENTIAL in texts
    assert "A <title> & more" in texts
    assert {one.title for one in drawn} <= set(texts)


def test_a_png_is_one() -> None:
    assert as_png(sheet("CP1", pictures(DESIGNS["CP1"], ["rows"]))).startswith(PNG)


# ---------------------------------------------------------------- the page


class Reader(HTMLParser):
    """Tags, attributes and texts of a page; complains about tags that are not closed."""

    EMPTY = frozenset({"meta", "br", "link", "img", "path", "line", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


def page_of(design: PerturbationDesign, title: str = "A table") -> str:
    return page(title, perturbation.summarise(design), pictures(design))


@pytest.mark.parametrize("name", ["CP1", "CP3(1,2)", "RR3", "geometric"])
def test_a_page_needs_nothing_but_itself(name: str) -> None:
    text = page_of(DESIGNS[name])
    reader = read(text)
    assert not [tag for tag, _ in reader.tags if tag in ("script", "link", "img", "iframe")]
    links = set(re.findall(r"https?://[^\"'\s)]+", text))
    assert links <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert "@import" not in text


def test_a_page_is_for_the_office_only_and_has_every_number() -> None:
    design = DESIGNS["CP3"]
    reader = read(page_of(design, "Table <one>"))
    whole = " ".join(reader.texts)
    assert CONFIDENTIAL in whole
    assert "Table <one>" in whole
    for count in range(4):
        for share in design.probabilities(count):
            assert "1" in whole if share == 1 else f"{share:.4f}"[1:] in whole
    assert "row 1: variance 1.10728 instead of 1.5" in whole
    assert "hashed (default)" in whole
    assert [attributes.get("role") for tag, attributes in reader.tags if tag == "svg"] == [
        "img"
    ] * 3
    assert all(attributes.get("aria-label") for tag, attributes in reader.tags if tag == "svg")
    assert [tag for tag, _ in reader.tags].count("table") == 3
    assert ("html", {"lang": "en"}) in reader.tags


def test_a_page_of_many_rows_says_what_it_leaves_out() -> None:
    text = page_of(DESIGNS["per unit"])
    assert "177 rows between the first and the last are not shown." in text
    assert "200 and more" in text


# ---------------------------------------------------------------- files


def test_pictures_are_written_for_their_owner(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a.png", "a.svg", "a.HTML")]
    design = DESIGNS["CP2"]
    summary = perturbation.summarise(design)
    assert write_pictures(design, summary, paths, title="CP2") == paths
    assert all(is_owner_only(path) for path in paths)
    assert paths[0].read_bytes().startswith(PNG)
    assert paths[1].read_text(encoding="utf-8").startswith("<svg")
    assert paths[2].read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["a.png", "a.pdf"], "ends with .png or .svg"),
        (["a.png", "there.svg"], "already exists"),
        (["a.png", "none/a.svg"], "does not exist"),
        (["a.png", "a.png"], "named twice"),
    ],
)
def test_all_pictures_are_written_or_none(tmp_path: Path, names: list[str], problem: str) -> None:
    (tmp_path / "there.svg").touch()
    design = DESIGNS["CP1"]
    summary = perturbation.summarise(design)
    with pytest.raises(OutputError, match=problem):
        write_pictures(design, summary, [tmp_path / name for name in names], title="CP1")
    assert [path.name for path in tmp_path.iterdir()] == ["there.svg"]


@pytest.mark.parametrize("library", ["altair", "vl_convert"])
def test_a_missing_library_is_named_with_its_remedy(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = DESIGNS["CP1"]
    summary = perturbation.summarise(design)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=r"pip install 'sdcensus\[reports\]'"):
        write_pictures(design, summary, [tmp_path / "a.png"], title="CP1")
    assert list(tmp_path.iterdir()) == []
