"""A measure of another package, installed as the documentation says it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.cli.shared.run import run
from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.measure import Measure, MeasureContext, Need, Row, Side
from sdcensus.model.published.table import Table
from sdcensus.report.assessment.sheet import evaluation_workbook
from sdcensus.session.assess import measures
from sdcensus.session.assess.assessment import assess, assess_counts
from sdcensus.session.assess.options import AssessOptions
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island_cube, island_store
from tests.report.reading import read_page

PAGE = Path(__file__).parents[3] / "docs" / "utility" / "measures.md"
LABEL, PUBLIC = "the most units that a cell gained", "is the largest published value"


def written(title: str) -> str:
    """A file that the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    shown = re.search(rf'```\w+ title="{re.escape(title)}"\n(.*?)```', text, re.DOTALL)
    assert shown is not None
    return shown[1]


def install(folder: Path, module: str, points: str) -> None:
    """A package as pip leaves it: its module, and what it says about itself."""
    about = folder / "largest_gain-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / "largest_gain.py").write_text(module, encoding="utf-8")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: largest-gain\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(points, encoding="utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The measures of the page, in a folder of their own."""
    folder = tmp_path / "packages"
    install(folder, written("largest_gain.py"), written("entry_points.txt"))
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("largest_gain", None)


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", " ".join(read_page(html).texts))


def gained(cube: Cube, by: int) -> Table:
    published = cube.count.copy()
    published.flat[0] += by
    return Table(cube.spec, published)


def test_its_row_is_on_the_page_and_the_sheet(installed: Path) -> None:
    cube = island_cube("area", "sex")
    report = assess(cube, gained(cube, 7), AssessOptions(compare=False))
    confidential, public = text_of(report.html()), text_of(report.public_html())
    assert f"{LABEL} 7" in confidential
    assert "A cell gained 7 units." in report.conclusions
    largest = int(gained(cube, 7).published.max())
    assert f"{PUBLIC} {largest}" in public
    assert LABEL not in public
    assert "gained" not in public
    book = CalamineWorkbook.from_filelike(BytesIO(evaluation_workbook([report.of_counts])))
    head, row = book.get_sheet_by_name("Conclusions").to_python(skip_empty_area=False)[2:4]
    assert row[head.index("largest gain")] == 7
    meanings = [line[:2] for line in book.get_sheet_by_name("Meaning").to_python()]
    assert ["largest gain", LABEL] in meanings


def test_its_row_is_on_the_console(
    installed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, secret = tmp_path / "island.store", tmp_path / "office.secret"
    island_store(store)
    write_secret(SECRET, secret)
    table = ("--by", "area,sex", "--scheme", "CP1", "--no-compare")
    assert run(["assess", str(store), "--secret", str(secret), *table]) == 0
    said = capsys.readouterr().out.partition("Loss in figures")[2]
    assert re.search(rf"{LABEL}\s+1\n", said)


def test_without_it_nothing_of_it_is_there() -> None:
    cube = island_cube("area", "sex")
    report = assess(cube, gained(cube, 7), AssessOptions(compare=False))
    assert LABEL not in report.html()
    assert PUBLIC not in report.public_html()
    assert report.of_counts.rows_of(Side.LOSS) == ()


class Needing(Measure[int]):
    name = "needing"
    title = "What needs a schema"
    side = Side.RISK
    needs = (Need.SCHEMA,)

    def measure(self, context: MeasureContext) -> int:
        raise SpecError("it never works.")

    def rows(self, result: int, context: MeasureContext) -> tuple[Row, ...]:
        return ()


def test_what_cannot_be_measured_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    own = f"{__name__}:Needing"
    monkeypatch.setattr(measures, "BUILT_IN", (own,))
    cube = island_cube("area", "sex")
    without = assess_counts(cube, gained(cube, 1), AssessOptions(compare=False))
    assert "What needs a schema: not known are schema." in without.left_out
    context = MeasureContext(cube=cube, table=gained(cube, 1))
    left_out: list[str] = []
    monkeypatch.setattr(Needing, "needs", ())
    assert measures.measured(context, left_out) == ()
    assert left_out == ["What needs a schema: it never works."]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("sdcensus.risk.exempt:ExemptCells", "ExemptCells. is no Measure"),
        ("sdcensus.risk.exempt:ExemptMeasure", "Two measures are called exempt-cells"),
        ("sdcensus.risk.exempt:units_words", "units_words. is no Measure"),
    ],
)
def test_what_is_no_measure_or_has_a_name_that_is_taken_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, reason: str
) -> None:
    install(tmp_path / "other", "", f"[sdcensus.measures]\nother = {value}\n")
    monkeypatch.syspath_prepend(tmp_path / "other")
    with pytest.raises(SpecError, match=reason):
        measures.registered()


def test_no_figure_is_in_what_python_shows() -> None:
    cube = island_cube("area", "sex")
    context = MeasureContext(cube=cube, table=gained(cube, 1))
    row = Row("cells", "1,234,567", "1,234,567 cells.", (("cells", 1_234_567),))
    assert "1" not in repr(row)
    assert "confidential" in repr(context)
    for each in measures.measured(context, []):
        assert repr(each) == f"<Measured {each.measure.name}: confidential>"
