"""Pages of an assessment: figures are the measured ones, and anybody can read them."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.published.table import Table
from sdcensus.model.quantities import share_text
from sdcensus.report.assessment.files import AssessmentReport
from sdcensus.report.assessment.page import STAMP
from sdcensus.report.page import RUNNING_STAMP
from sdcensus.risk.composite import RiskBeforeAndAfter
from sdcensus.risk.detection.findings import FindingKind
from sdcensus.session.assess.assessment import assess
from sdcensus.session.assess.options import AssessOptions
from sdcensus.testing.island import island, island_cube
from tests.report.reading import read_page
from tests.session.assess.assessed_methods import METHODS, cell_key, method_of, protected_by

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
#: Words that a figure without meaning would leave behind.
MISSING = re.compile(r"\b(nan|inf|None|NaN|Infinity)\b")


@cache
def report(name: str) -> AssessmentReport:
    protected = protected_by(name)
    return assess(
        protected.audit.cube,
        protected,
        AssessOptions(compare=name in ("cell key", "light touch", "withheld")),
        method=method_of(name),
        schema=island().schema,
        date="15 November 2026",
    )


def text_of(html: str) -> str:
    return read_page(html).text


@pytest.mark.parametrize("name", METHODS)
def test_pages_of_every_method_can_be_read_by_everyone(name: str) -> None:
    made = report(name)
    for html in (made.html(), made.public_html()):
        assert not MISSING.search(text_of(html))
        assert "@media print" in html
        assert "size:A4" in html
        assert "prefers-color-scheme:dark" in html


def test_figures_on_the_page_are_the_measured_ones() -> None:
    made = report("cell key").of_counts
    text = text_of(report("cell key").html())
    assert made.main is not None
    for interval in made.intervals:
        for given in interval.parts.values():
            assert f"{given.disclosed} of {given.cells}" in text
        assert interval.knowledge.sentence().removeprefix("An intruder who knows ")[:-1] in text
    seen = made.counted[-1]
    right = share_text(seen.perceived.share_right, digits=0)
    tile = f"of all {seen.cells} cells are published as 1 or 2; of these, with that true count"
    assert f"{tile}: {right} {seen.visible}" in text
    for part in TablePart:
        lost = made.utility_in(part)
        assert lost is not None
        assert lost.mean_absolute_distance is not None
        assert lost.hellinger_normalised is not None
        assert f"{lost.cells} {lost.nonzero} {lost.mean_absolute_distance:.2f}" in text
        assert f"{lost.hellinger_normalised:.3f}" in text
    risk = made.result(RiskBeforeAndAfter)
    assert risk is not None
    assert f"{risk.before.value:.3f} → {risk.after.value:.3f}" in text
    assert made.compared is not None
    for result in made.compared.tables[0].results:
        assert f"{result.candidate.name} {share_text(result.share, digits=2)}" in text
    for findings in made.findings:
        assert findings.sentences(1)[0] in text
        assert f"{findings.count} " in text
    cells = f"{made.table.spec.cells} cells, 42 of them interior"
    assert f"{cells} · 260 persons · cell-key, CP3(EU) · 15 November 2026" in text


def test_the_row_of_the_table_itself_is_marked() -> None:
    html = report("cell key").html()
    [marked] = re.findall(r'<tr class="pick"><th scope="row" class="word">([^<]+)', html)
    assert marked == "CP3(EU)"
    [other] = re.findall(
        r'<tr class="pick"><th scope="row" class="word">([^<]+)', report("light touch").html()
    )
    assert other == "this table"


def test_shares_behind_a_published_value_are_those_of_the_table() -> None:
    protected = protected_by("cell key")
    cube, table = protected.audit.cube, protected.table
    assert isinstance(cube, Cube)
    assert isinstance(table, Table)
    inside = np.s_[:7, :2, :3]
    seen = table.published[inside] == 3
    chances = [(cube.count[inside][seen] == true).mean() for true in range(6)]
    rest = (cube.count[inside][seen] > 5).mean()
    cells = [share_text(float(one), digits=0).removesuffix(" %") for one in (*chances, rest)]
    html = report("cell key").html()
    start = html.index("True count behind a published value")
    row = re.search(r'class="word">3</th>(.*?)</tr>', html[start:], re.DOTALL)
    assert row is not None
    shown = re.findall(r"<td[^>]*>([^<]*)</td>", row.group(1))
    assert shown[0] == str(int(seen.sum()))
    assert shown[1:] == [cell.replace("<", "&lt;").replace(">", "&gt;") for cell in cells]


def test_only_the_confidential_page_is_stamped() -> None:
    made = report("cell key")
    confidential, public = made.html(), made.public_html()
    assert STAMP in text_of(confidential)
    assert RUNNING_STAMP in confidential
    assert "noindex" in confidential
    for words in ("onfidential", RUNNING_STAMP, "noindex", "office only"):
        assert words not in public
    assert "Nothing here was computed from true counts" in text_of(public)


def test_the_page_says_what_was_not_measured_and_why() -> None:
    cube = island_cube("age@class+half", "sex")
    made = assess(cube, cell_key().protect(cube), method=cell_key())
    text = text_of(made.html())
    assert "What could not be measured, and why" in text
    assert "Other methods: Axis 'age@class+half': the levels class, half do not nest" in text
    assert "Not measured: no plan, policy or registry was named." in text


def test_what_to_know_before_reading_a_risk_is_in_the_annex() -> None:
    cube = island_cube("area", "sex")
    report = assess(cube, cell_key().protect(cube), AssessOptions(compare=False), method=cell_key())
    risk = report.of_counts.result(RiskBeforeAndAfter)
    assert risk is not None
    assert risk.before.warnings
    text = text_of(report.html())
    assert all(text.count(warning) == 1 for warning in risk.before.warnings)


def empty_cube() -> Cube:
    cube = island_cube("area", "sex")
    return Cube(
        cube.spec, cube.origin, Accumulators(np.zeros(cube.shape, np.int64), cube.key.copy())
    )


@pytest.mark.parametrize(
    "cube",
    [
        pytest.param(empty_cube, id="empty"),
        pytest.param(lambda: island_cube(), id="one cell"),
        pytest.param(lambda: island_cube("area-total", "sex-total"), id="no margins"),
        pytest.param(lambda: island_cube("age@class+half"), id="no interior"),
        pytest.param(lambda: island_cube("age@class+half-total"), id="neither"),
        pytest.param(lambda: island_cube("area@parish+district"), id="one child"),
        pytest.param(lambda: island_cube("area", "sex", people=1), id="one person"),
        pytest.param(lambda: island_cube("sex", people=2000), id="large counts"),
    ],
)
def test_unusual_tables_have_pages_without_holes(cube: object) -> None:
    made = cube()  # type: ignore[operator]
    unchanged = Table(made.spec, made.count.copy())
    for table, compare in ((cell_key().protect(made).table, True), (unchanged, False)):
        report = assess(made, table, AssessOptions(compare=compare), method=cell_key())
        for html in (report.html(), report.public_html()):
            assert not MISSING.search(text_of(html))


def test_everything_withheld() -> None:
    cube = island_cube("area", "sex")
    flags = np.ones(cube.shape, dtype=np.uint8)
    table = Table(cube.spec, np.zeros(cube.shape, dtype=np.int64), flags)
    made = assess(cube, table)
    text = text_of(made.html())
    assert not MISSING.search(text)
    assert "every cell is withheld" in text
    assert "24 of all 24 cells of the table have no number" in text_of(made.public_html())


def test_labels_are_shown_and_never_run() -> None:
    """A title is text, whatever it holds."""
    cube = island_cube("area", "sex")
    made = assess(
        cube,
        cell_key().protect(cube),
        AssessOptions(title="<script>x</script> & 5 < 6"),
        method=cell_key(),
    )
    for html in (made.html(), made.public_html()):
        assert "<script" not in html
        assert "<script>x</script> & 5 < 6" in text_of(html)
        assert "Persons by area and sex" in text_of(html)


def test_findings_are_told_as_sentences() -> None:
    made = report("cell key").of_counts
    kinds = {finding.kind for finding in made.findings}
    assert FindingKind.IDENTIFICATION in kinds
    text = text_of(report("cell key").html())
    assert "What an intruder could learn without protection" in text
    assert "From the true counts of this table alone." in text


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser")
@pytest.mark.parametrize("which", ["html", "public_html"])
def test_a_browser_shows_the_pages_without_complaint(tmp_path: Path, which: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(getattr(report("cell key"), which)(), encoding="utf-8", newline="\n")
    arguments = [
        *("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
        *(f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1100,1400"),
        f"--screenshot={tmp_path / 'page.png'}",
        page.as_uri(),
    ]
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, *arguments], capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert "CONSOLE" not in done.stderr
    assert (tmp_path / "page.png").stat().st_size > 20_000
    pdf = tmp_path / "page.pdf"
    print_out = [*arguments[:4], f"--print-to-pdf={pdf}", page.as_uri()]
    subprocess.run([CHROMIUM, *print_out], capture_output=True, check=True)
    assert pdf.read_bytes().startswith(b"%PDF")
