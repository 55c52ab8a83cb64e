"""Files of an assessment: for the owner only, all or none, and a row for each table."""

from __future__ import annotations

import os
import re
import stat
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.errors import OutputError, SpecError
from sdcensus.methods.method import Method
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.published.table import Table
from sdcensus.report.assessment.files import (
    PAGE,
    PUBLIC_PAGE,
    SHEET,
    AssessmentReport,
    write_evaluation,
    write_reports,
)
from sdcensus.report.assessment.sheet import evaluation_workbook
from sdcensus.session.assess.assessment import assess
from sdcensus.session.assess.options import AssessOptions
from sdcensus.store.registry import Registry
from sdcensus.testing.island import island, island_cube
from tests.session.assess.assessed_methods import cell_key, method_of


def report(*by: str, method: Method | None = None, number: int = 1) -> AssessmentReport:
    cube = island_cube(*by)
    used = method or cell_key()
    return assess(
        cube, used.protect(cube), AssessOptions(compare=False, number=number), method=used
    )


def rows_of(content: bytes, sheet: str) -> list[list[Any]]:
    book = CalamineWorkbook.from_filelike(BytesIO(content))
    return book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)


REPORTS = [
    report("area", "sex"),
    report("area@parish+district", "age", number=2),
    report("age@class+half", "sex", number=3),
    report("area", "age", method=method_of("withheld"), number=4),
    report(number=5),
]


@pytest.mark.parametrize("name", ["With margins", "Without margins"])
def test_the_evaluation_sheet_has_a_row_for_each_table(name: str) -> None:
    rows = rows_of(evaluation_workbook([one.of_counts for one in REPORTS]), name)
    head, body = rows[3], rows[4:]
    assert [row[0] for row in body] == [1, 2, 3, 4, 5]
    assert head[:4] == ["number", "table", "hierarchy levels", "note"]
    groups = [str(one) for one in rows[2] if one]
    assert groups == ["original", "published"]
    later = rows[2].index("published")
    for report, row in zip(REPORTS, body, strict=True):
        made = report.of_counts
        stages = {
            (stage.stage.value, stage.margins): stage.columns() for stage in made.evaluation.stages
        }
        for stage, start, end in (("original", 4, later), ("published", later, len(head))):
            figures = stages.get((stage, name == "With margins"))
            for title, value in zip(head[start:end], row[start:end], strict=True):
                expected = None if figures is None else figures[str(title)]
                assert value == ("–" if expected is None else pytest.approx(expected))
    without_interior = str(body[2][3])
    assert ("do not nest" in without_interior) is (name == "Without margins")


def test_distances_and_intervals_are_the_measured_ones() -> None:
    content = evaluation_workbook([one.of_counts for one in REPORTS])
    rows = rows_of(content, "Distances")
    head = [str(one) for one in rows[2]]
    expected = [one for report in REPORTS for one in report.of_counts.utility]
    assert len(rows) == 3 + len(expected)
    for row, (_, measured) in zip(rows[3:], expected, strict=True):
        for name, value in measured.figures().items():
            cell = row[head.index(name.replace("_", " "))]
            assert cell == ("–" if value is None else pytest.approx(value))
    given = rows_of(content, "Given away")
    titles = [str(one) for one in given[2]]
    found = [interval for report in REPORTS for interval in report.of_counts.intervals]
    parts = [given for interval in found for given in interval.parts.values()]
    for heading, figures in (
        ("given away", [part.disclosed for part in parts]),
        ("cells that are not empty, exempt ones left out", [part.cells for part in parts]),
        ("of them with a true count of 1 or 2", [part.small_cells for part in parts]),
    ):
        assert [row[titles.index(heading)] for row in given[3:]] == figures
    head, *said = rows_of(content, "Conclusions")[2:]
    assert said[0][3] == "\n".join([REPORTS[0].lead, *REPORTS[0].conclusions])
    for report, row in zip(REPORTS, said, strict=True):
        shown_rows = [each for found in report.of_counts.measured for each in found.rows]
        by_heading = dict(figure for each in shown_rows for figure in each.figures)
        for heading, shown in zip(head[4:], row[4:], strict=True):
            figure = by_heading.get(str(heading))
            assert shown == ("–" if figure is None else pytest.approx(figure))


def test_the_workbook_has_no_holes_and_prints_on_a4() -> None:
    content = evaluation_workbook([one.of_counts for one in REPORTS])
    book = CalamineWorkbook.from_filelike(BytesIO(content))
    for name in book.sheet_names:
        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        assert "Confidential" in str(rows[0][0])
        for row in rows:
            for cell in row:
                assert not re.search(r"\b(nan|inf|None)\b", str(cell), re.IGNORECASE)
    with ZipFile(BytesIO(content)) as parts:
        sheets = [one for one in parts.namelist() if one.startswith("xl/worksheets/sheet")]
        for sheet in sheets:
            xml = parts.read(sheet).decode("utf-8")
            assert 'orientation="landscape"' in xml
            assert 'paperSize="9"' in xml
            assert "Confidential" in xml  # in the footer
            if "sheet7" not in sheet:  # which only explains words
                assert 'state="frozen"' in xml


def test_the_same_assessment_is_the_same_file() -> None:
    made = REPORTS[0]
    assert made.html() == made.html()
    assert evaluation_workbook([made.of_counts]) == evaluation_workbook([made.of_counts])


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    made = REPORTS[0]
    page = made.to_html(tmp_path / "page.html")
    sheet = made.to_xlsx(tmp_path / "sheet.xlsx")
    public = made.to_public_html(tmp_path / "public.html")
    assert public.read_text(encoding="utf-8") == made.public_html()
    assert page.read_text(encoding="utf-8") == made.html()
    if os.name == "posix":
        for path in (page, sheet):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for way in (made.to_html, made.to_public_html):
        with pytest.raises(OutputError, match="already exists"):
            way(page)
        with pytest.raises(OutputError, match=r"ends with \.html"):
            way(tmp_path / "page.txt")
    with pytest.raises(OutputError, match=r"ends with \.xlsx"):
        write_evaluation([made], tmp_path / "sheet.csv")


def test_a_folder_holds_all_files_and_nobody_else_can_open_it(tmp_path: Path) -> None:
    folder = tmp_path / "check"
    written = write_reports([("one", REPORTS[0])], folder)
    assert sorted(one.name for one in folder.iterdir()) == sorted([PAGE, PUBLIC_PAGE, SHEET])
    assert sorted(written) == sorted(folder.iterdir())
    if os.name == "posix":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert {stat.S_IMODE(one.stat().st_mode) for one in written} == {0o600}
    with pytest.raises(OutputError, match="already exists"):
        write_reports([("one", REPORTS[0])], folder)
    with pytest.raises(OutputError, match="does not exist"):
        write_reports([("one", REPORTS[0])], tmp_path / "no" / "where")
    with pytest.raises(SpecError, match="no table"):
        write_reports([], tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_tables_of_the_same_name_have_files_of_their_own(tmp_path: Path) -> None:
    write_reports([("a", REPORTS[0]), ("a", REPORTS[1]), ("b", REPORTS[4])], tmp_path / "x")
    assert sorted(one.name for one in (tmp_path / "x").iterdir()) == sorted(
        [SHEET, *(f"{name}.{end}" for name in ("a", "a-2", "b") for end in (PAGE, PUBLIC_PAGE))]
    )


def test_nothing_is_left_behind_when_a_file_cannot_be_written(tmp_path: Path) -> None:
    """The second table has a name that is no name of a file."""
    with pytest.raises(OutputError, match="cannot be written"):
        write_reports([("one", REPORTS[0]), ("no/where", REPORTS[4])], tmp_path / "check")
    assert list(tmp_path.iterdir()) == []


def test_assess_takes_a_registry_of_what_was_published(tmp_path: Path) -> None:
    census = island()
    registry = Registry.create(tmp_path / "registry")
    before = census.tabulate("area", "sex", universe="age != 9")
    published = cell_key().protect(before)
    registry.add(published.table, provenance=published.provenance)
    cube = census.tabulate("area", "sex")
    protected = cell_key().protect(cube)
    registry.add(protected.table, provenance=protected.provenance)  # is not "another" table
    for given in (registry, tmp_path / "registry", str(tmp_path / "registry")):
        made = assess(
            cube,
            protected,
            AssessOptions(tabulate=census.tabulate),
            method=cell_key(),
            registry=given,
        )
        assert made.of_counts.others == 1
        assert "This table and 1 other of persons" in made.lead
        assert made.of_counts.left_out == ()


def test_assess_takes_what_a_method_gives_back() -> None:
    cube = island_cube("area", "sex")
    protected = cell_key().protect(cube)
    made = assess(cube, protected, AssessOptions(compare=False), method=cell_key())
    assert made.of_counts.provenance == protected.provenance
    alone = assess(cube, protected.table, AssessOptions(compare=False), method=cell_key())
    assert alone.of_counts.provenance is None
    assert alone.of_counts.utility == made.of_counts.utility
    assert isinstance(cube, Cube)
    assert isinstance(protected.table, Table)
    assert made.of_counts.utility_in(TablePart.ALL) is not None
