"""The files of a study say what was measured, for the office only."""

from __future__ import annotations

import csv
import io
import re
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.demo import make_country, write_country
from sdcensus.errors import MissingExtra, OutputError
from sdcensus.methods.perturbation.schemes import SCHEMES
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.charts import as_svg
from sdcensus.report.page import RUNNING_STAMP
from sdcensus.report.study.files import as_csv, check_study_target, write_study
from sdcensus.report.study.maps import disclosure_map, risk_map
from sdcensus.report.study.page import page
from sdcensus.report.study.plots import changes
from sdcensus.report.study.published import published, published_for
from sdcensus.report.study.results import Study
from sdcensus.report.study.rows import sheets
from sdcensus.report.study.words import lead, say
from sdcensus.session.census.census import load, open_store
from sdcensus.session.study.candidates import scheme_candidates
from sdcensus.session.study.study import compare
from sdcensus.session.study.tables import prefixes
from sdcensus.store.owner_only import is_owner_only
from sdcensus.testing.island import SECRET, island
from tests.report.reading import read_page

CSV = {
    "tables.csv",
    "methods.csv",
    "totals.csv",
    "all_results.csv",
    "further_measures.csv",
    "deviations.csv",
    "worst_cells.csv",
    "given_away.csv",
}


@pytest.fixture(scope="module")
def study() -> Study:
    census = island(900)
    return compare(
        census,
        prefixes(census, ["area", "sex", "age"]),
        scheme_candidates(SCHEMES, list(NoiseDraw), secret=SECRET),
    )


@pytest.fixture(scope="module")
def written(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("office") / "study"
    write_study(study, folder)
    return folder


@pytest.fixture(scope="module")
def empty() -> Study:
    census = island(50)
    spec = census.spec("area", "sex", universe="age < 3 and married == 1")
    return compare(census, [spec], scheme_candidates())


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


# ---------------------------------------------------------------- the folder


def test_the_folder_is_for_its_owner(written: Path) -> None:
    names = {one.name for one in written.iterdir()}
    assert names == {"study.html", "study.xlsx", *CSV}
    assert is_owner_only(written)
    assert all(is_owner_only(one) for one in written.iterdir())
    assert [one.name for one in written.parent.iterdir()] == ["study"]


def test_the_same_study_gives_the_same_bytes(study: Study, written: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    write_study(study, again)
    for one in written.iterdir():
        assert one.read_bytes() == (again / one.name).read_bytes()


@pytest.mark.parametrize("name", ["there", "file.txt", "none/study"])
def test_a_folder_that_cannot_be_made_is_refused(study: Study, tmp_path: Path, name: str) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "file.txt").touch()
    with pytest.raises(OutputError, match=r"already exists|does not exist"):
        write_study(study, tmp_path / name)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file.txt", "there"]
    assert list((tmp_path / "there").iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_counted(
    tmp_path: Path,
) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        check_study_target(tmp_path / ("x" * 300))
    assert check_study_target(tmp_path / "study") == tmp_path / "study"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", ["drawing", "writing"])
def test_an_interrupted_study_leaves_nothing(study: Study, tmp_path: Path, stage: str) -> None:
    def interrupt(name: str, done: float) -> None:
        if name == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_study(study, tmp_path / "study", progress=interrupt)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("library", "extra"),
    [("altair", "reports"), ("vl_convert", "reports"), ("xlsxwriter", "formats")],
)
def test_a_missing_library_is_named_at_once(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, library: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"sdcensus\[{extra}\]"):
        write_study(study, tmp_path / "study")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- csv and workbook


def test_csv_files_hold_every_result(study: Study, written: Path) -> None:
    found = rows_of(written / "all_results.csv")
    assert len(found) == len(study.tables) * len(SCHEMES) * len(NoiseDraw)
    pairs = [(table, result) for table in study.tables for result in table.results]
    for row, (table, one) in zip(found, pairs, strict=True):
        assert (row["table"], row["scheme"]) == (table.name, one.candidate.name)
        assert row["draw"] == one.candidate.draw
        assert int(row["disclosed"]) == one.disclosed
        assert float(row["disclosed_cells_pct"]) == pytest.approx(100 * (one.share or 0), rel=1e-6)
        assert float(row["R"]) == pytest.approx(one.risk, rel=1e-6)
        assert float(row["hellinger"]) == pytest.approx(one.utility.hellinger_normalised, rel=1e-6)


def test_tables_have_the_layout_of_the_founding_study(study: Study, written: Path) -> None:
    nine = rows_of(written / "tables.csv")
    assert [row["table"] for row in nine] == ["two-way", "three-way"]
    assert {"interior_cells", "mean_cell_size", "pct_cells_1_2", "pct_cells_0_1_2", "R"} <= set(
        nine[0]
    )
    ten = rows_of(written / "methods.csv")
    assert [row["scheme"] for row in ten] == [*SCHEMES, *SCHEMES]
    twelve = rows_of(written / "totals.csv")
    assert [name for name in twelve[0] if name.startswith("disclosed_pct_")] == [
        f"disclosed_pct_{draw}" for draw in NoiseDraw
    ]
    for row, other in zip(ten, twelve, strict=True):
        assert row["disclosed_cells_pct"] == other["disclosed_pct_ascending"]
        assert row["small_cells_disclosed_pct"] == other["small_disclosed_pct_ascending"]


def test_deviations_add_up_to_the_cells_that_changed_them(study: Study, written: Path) -> None:
    found = rows_of(written / "deviations.csv")
    for table in study.tables:
        for result in table.results:
            mine = [
                row
                for row in found
                if (row["table"], row["scheme"], row["draw"])
                == (table.name, result.candidate.name, result.candidate.draw)
            ]
            assert result.profile is not None
            cells = result.profile.observed.sum()
            assert sum(int(row["observed"]) for row in mine) == cells
            assert sum(float(row["expected"]) for row in mine) == pytest.approx(cells)


def test_the_workbook_has_the_same_figures(study: Study, written: Path) -> None:
    book = CalamineWorkbook.from_path(written / "study.xlsx")
    shown = sheets(study)
    assert book.sheet_names == ["Summary", *(one.name for one in shown)]
    for one in shown:
        cells = book.get_sheet_by_name(one.name).to_python()
        assert cells[0][0] == one.title
        assert cells[1][0] == RUNNING_STAMP
        assert cells[3] == [column.heading for column in one.columns]
        assert len(cells) == 4 + max(len(one.rows), 1)
        for row, values in zip(cells[4:], one.rows, strict=True):
            for cell, value in zip(row, values, strict=True):
                assert cell == ("–" if value is None else pytest.approx(value))
    summary = book.get_sheet_by_name("Summary").to_python()
    assert any("Each table is taken alone" in str(row[1]) for row in summary)


def test_sheets_are_laid_out_for_people(written: Path) -> None:
    """Frozen heads, widths, a filter, number formats and the stamp in the printed footer."""
    with ZipFile(written / "study.xlsx") as archive:
        styles = archive.read("xl/styles.xml").decode()
        names = [one for one in archive.namelist() if one.startswith("xl/worksheets/sheet")]
        texts = [archive.read(name).decode() for name in sorted(names)]
    assert len(texts) == 1 + len(CSV)
    for text in texts:
        ElementTree.fromstring(text)
        assert f"&amp;L{RUNNING_STAMP}" in text
        assert "<f>" not in text
    for text in texts[1:]:
        assert 'state="frozen"' in text
        assert "<autoFilter" in text
        widths = [float(one) for one in re.findall(r'<col [^>]*width="([\d.]+)"', text)]
        assert widths
        assert all(9 <= width <= 62 for width in widths)
    for form in ("#,##0", "0.000"):
        assert form in styles


def test_figures_without_meaning_are_empty(empty: Study) -> None:
    for sheet in sheets(empty):
        text = as_csv(sheet).decode()
        assert "nan" not in text
        assert "None" not in text
        assert "inf" not in text.replace("information", "")


# ---------------------------------------------------------------- the page


def test_the_page_says_what_was_found(study: Study, written: Path) -> None:
    text = (written / "study.html").read_text(encoding="utf-8")
    found = read_page(text)
    assert say(study, "stamp") in found.text
    assert lead(study) in found.text
    for words in ("Each table is taken alone", "Two-way table", "Three-way table", "hashed"):
        assert words in found.text
    for name in SCHEMES:
        assert name in found.text
    for table in study.tables:
        for main in study.mains(table):
            assert f"{main.utility.mean_absolute_distance:.2f}" in found.text
    # Two maps for each table, and one chart of changes.
    maps = [disclosure_map(study, table) for table in study.tables]
    drawn = len(study.tables) + sum(one is not None for one in maps) + 1
    assert len(found.of("svg")) == drawn


def test_the_page_of_an_empty_table_explains_itself(empty: Study) -> None:
    found = read_page(page(empty, None))
    assert "no cell is non-empty" in found.text
    assert "nothing to draw" in found.text
    assert "methods hold:" not in found.text
    for word in ("nan", "None"):
        assert word not in found.text


def test_a_page_without_draws_or_designs_is_drawn(study: Study) -> None:
    plain = [replace(candidate, draw=None, perturbation=None) for candidate in study.candidates[:1]]
    census = island(200)
    made = compare(census, prefixes(census, ["area", "sex"]), plain)
    found = read_page(page(made, None))
    assert "How totals are drawn" not in found.text
    assert "No method with a known design" in found.text


def labels(drawn: str) -> list[tuple[str, float, float]]:
    """Texts of a chart that begin where they stand, with where that is."""
    found = re.findall(
        r'<text text-anchor="start" transform="translate\(([-\d.]+),([-\d.]+)\)"[^>]*>([^<]+)<',
        drawn,
    )
    return [(name, float(x), float(y)) for x, y, name in found]


def test_maps_name_every_method_once_and_apart(study: Study) -> None:
    for table in study.tables:
        plot = risk_map(study, table)
        assert plot is not None
        shown = labels(as_svg(plot.chart, plot.alternative))
        assert sorted(name for name, _, _ in shown) == sorted(SCHEMES)
        places = {(round(x), round(y)) for _, x, y in shown}
        assert len(places) == len(SCHEMES)
        for main in study.mains(table):
            assert f"{main.candidate.name}: " in plot.alternative


def test_changes_are_drawn_beside_their_design(study: Study) -> None:
    plot = changes(study)
    assert plot is not None
    panels = plot.chart.to_dict()["concat"]
    assert [panel["title"]["text"] for panel in panels] == list(SCHEMES)


def test_pictures_show_nothing_when_they_are_printed(study: Study) -> None:
    assert repr(risk_map(study, study.tables[0])) == "<Plot Two-way: confidential>"
    assert all("confidential" in repr(sheet) for sheet in sheets(study))


# ---------------------------------------------------------------- printed figures


@pytest.mark.slow
def test_printed_figures_stand_beside_those_of_the_demo_country(tmp_path: Path) -> None:
    made = write_country(tmp_path / "country", country=make_country("small-island"), seed=3)
    load(made.schema, tmp_path / "census.store", secret=SECRET)
    census = open_store(tmp_path / "census.store")
    study = compare(census, prefixes(census, made.study_axes, [2, 3]), scheme_candidates())
    beside = published_for(study)
    assert beside == published("Saint Kitts and Nevis 2011")
    write_study(study, tmp_path / "study")
    rows = rows_of(tmp_path / "study" / "printed_figures.csv")
    printed = {(row["table"], row["scheme"], row["measure"]): row for row in rows}
    assert float(printed["three-way", "CP1", "disclosed cells pct"]["printed"]) == 4.4
    assert float(printed["three-way", "CP1", "disclosed pct independent"]["printed"]) == 7.16
    assert float(printed["two-way", "original", "interior cells"]["ours"]) == 194
    text = read_page((tmp_path / "study" / "study.html").read_text(encoding="utf-8")).text
    assert "Saint Kitts and Nevis 2011, as printed in ECLAC (2020)" in text
