"""Delivered csv and Parquet files are read back as the tables that were published."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import InputError
from sdcensus.formats.read import raw
from sdcensus.formats.read.tables import read_published, scan_published
from sdcensus.formats.write import write_delivered
from sdcensus.formats.write.streamed import StreamedTable, write_streamed
from sdcensus.model.cube.streamed_cells import PublishedCells
from sdcensus.model.published.delivery import DeliveredTable, delivered_axis
from sdcensus.model.published.table import IN_PLACE, Mark, SparseTable, Table
from sdcensus.model.text import Text
from tests.formats.write.delivered_made import (
    FOR_ANY_TABLE,
    axis,
    counts,
    delivered,
    published,
    spec,
    tree_axis,
)

INSIDE = "job != 'x'"


def back(one: DeliveredTable, folder: Path, format: str = "csv", **options: Any) -> Table:
    path = write_delivered(one, folder, formats=[format], **options)[0]
    found = read_published(path)
    assert found.provenance == one.provenance
    assert isinstance(found.table, Table)
    return found.table


def tree_table(table: Table, **options: Any) -> DeliveredTable:
    """Jobs as a tree of other codes, areas under another name."""
    areas = delivered_axis(table.spec.axes[1], column="GEO")
    return published(table, name="t", axes=(tree_axis(table.spec, **options), areas))


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize(
    "by", [(), ("sex",), ("job+group", "sex"), ("area", "sex-total", "job@group-total")], ids=str
)
def test_tables_delivered_as_they_are(tmp_path: Path, by: tuple[str, ...], format: str) -> None:
    table = counts(spec(*by)).with_notes(Text.of({"en": "Read.", "es": "Lea."}))
    found = back(published(table, name="t"), tmp_path, format, languages=["en", "es"])
    assert found == table
    assert found.notes == table.notes


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_codes_that_are_shown_once_fill_every_level_where_they_stand(
    tmp_path: Path, format: str
) -> None:
    table = counts(spec("job+group", "area", universe=INSIDE))
    one = tree_table(table)
    assert one.axes[0].codes == ("J_T", "J_AB", "J_a", "J_b", "J_c")
    found = back(one, tmp_path, format, labels=False)
    # "c" stands at both levels, and nobody in the universe is at "x": all of it is known.
    assert found == table
    assert found.value(job="c") != 0


def test_what_a_file_does_not_show_is_withheld_unless_it_must_be_empty(tmp_path: Path) -> None:
    table = counts(spec("job+group", "area"))
    found = back(tree_table(table), tmp_path)
    shown = table.spec.axes[0]
    assert found.flags is not None
    for position, code in enumerate(shown.codes):
        outside = code.code in ("x", "outside")
        assert (found.flags[position] == (Mark.WITHHELD if outside else 0)).all()
        if not outside:
            assert (found.published[position] == table.published[position]).all()


def test_a_code_left_out_of_the_middle_is_withheld(tmp_path: Path) -> None:
    table = counts(spec("job+group", "area", universe=INSIDE))
    found = back(tree_table(table, without=["AB"]), tmp_path)
    at = table.spec.axes[0].position("AB")
    assert found.flags is not None
    assert (found.flags[at] == Mark.WITHHELD).all()
    assert np.delete(found.flags, at, axis=0).sum() == 0


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_marks_become_flags_and_numbers_beside_marks_stay(tmp_path: Path, format: str) -> None:
    table = counts(spec("sex", "area"))
    marks = np.zeros(table.shape, dtype=np.uint8)
    chosen = [one for one in Mark if one]
    for number, mark in enumerate(chosen):
        marks[np.unravel_index(number, table.shape)] = mark
    held = np.isin(marks, [0, Mark.LOW_RELIABILITY, Mark.POPULATED])
    one = replace(
        published(table, name="t"),
        marks=marks,
        values=np.where(held, table.published, 0),
        signs=((Mark.REFUSED, 'no, "not" here'), (Mark.NOT_AVAILABLE, "( )")),
    )
    found = back(one, tmp_path, format)
    assert found.flags is not None
    assert (found.flags == np.where(np.isin(marks, IN_PLACE), marks, Mark.NONE)).all()
    assert (found.published == one.values).all()


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_list_of_non_zero_cells_is_a_sparse_table(tmp_path: Path, format: str) -> None:
    table = counts(spec("job+group", "area", universe=INSIDE))
    path = listed(tree_table(table), tmp_path, format)
    found = read_published(path).table
    assert isinstance(found, SparseTable)
    assert found.whole() == table


def listed(one: DeliveredTable, folder: Path, format: str = "csv") -> Path:
    """A file of the cells that are not 0, as tables are written that are too large to be held."""
    assert one.spec is not None
    assert one.provenance is not None
    kept = np.flatnonzero(one.values)
    cells = PublishedCells(np.unravel_index(kept, one.shape), one.values.reshape(-1)[kept])
    head = StreamedTable(
        name=one.name,
        title=one.title,
        axes=one.axes,
        spec=one.spec,
        provenance=one.provenance,
    )
    return write_streamed(head, [cells], folder, formats=[format])[0]


def test_a_list_that_leaves_codes_out_says_nothing_about_them(tmp_path: Path) -> None:
    path = listed(tree_table(counts(spec("job+group", "area"))), tmp_path)
    with pytest.raises(InputError, match="leaves out codes of 'job'"):
        read_published(path)


# ---------------------------------------------------------------- folders


def test_a_published_folder_in_all_formats_is_read_once(tmp_path: Path) -> None:
    table = counts(spec("job+group", "area", universe=INSIDE))
    write_delivered(tree_table(table), tmp_path, formats=FOR_ANY_TABLE, languages=["en", "es"])
    (tmp_path / "t.gpkg").write_bytes(b"a layer")
    (tmp_path / "t.geo.parquet").write_bytes(b"a layer")
    (tmp_path / "manifest.json").write_text("{}", encoding="utf-8", newline="\n")
    (tmp_path / "notes.en.md").write_text("# Notes\n", encoding="utf-8", newline="\n")
    found = scan_published(tmp_path)
    assert [table.name for table in found.tables] == ["t.csv"]
    assert found.tables[0].table == table
    assert {one.name for one in found.skipped} == {
        *("t.en.xlsx", "t.es.xlsx", "t.gpkg", "t.geo.parquet")
    }


def test_figures_that_are_no_counts_are_left_out_with_the_reason(tmp_path: Path) -> None:
    write_delivered(published(counts(spec("sex")), name="t"), tmp_path, formats=["csv"])
    shares = delivered(axis("K", "ab"), name="shares", decimals=1)
    grid = delivered(axis("CELL", "ab"), axis("STAT", ("T", "M")), name="grid")
    for one in (shares, grid):
        write_delivered(one, tmp_path, formats=["csv", "parquet"])
    found = scan_published(tmp_path)
    assert [table.name for table in found.tables] == ["t.csv"]
    assert {one.name for one in found.skipped} == {
        f"{name}.{ending}" for name in ("shares", "grid") for ending in ("csv", "parquet")
    }
    assert all("not the counts of one table" in one.reason for one in found.skipped)
    with pytest.raises(InputError, match="not the counts of one table"):
        read_published(tmp_path / "grid.csv")


def test_sdmx_files_alone_are_named(tmp_path: Path) -> None:
    write_delivered(published(counts(spec("sex")), name="t"), tmp_path, formats=["sdmx-csv"])
    with pytest.raises(InputError, match="SDMX-CSV"):
        scan_published(tmp_path)


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_list_that_is_too_long_to_be_held_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    write_delivered(published(counts(spec("sex")), name="t"), tmp_path, formats=[format])
    write_delivered(published(counts(spec("sex", "job")), name="u"), tmp_path, formats=[format])
    monkeypatch.setattr(raw, "MOST_ROWS", 5)
    found = scan_published(tmp_path)
    assert [table.name for table in found.tables] == [f"t.{format}"]
    assert "more than can be read back" in found.skipped[0].reason


# ---------------------------------------------------------------- damage


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    table = counts(spec("job+group", "area", universe=INSIDE))
    path, beside = write_delivered(tree_table(table), folder, formats=["csv"])
    about = json.loads(beside.read_text(encoding="utf-8"))
    change(about)
    beside.write_text(json.dumps(about), encoding="utf-8", newline="\n")
    return path


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda about: about.update(delivered=99), "newer version"),
        (lambda about: about.update(axes=[]), "damaged"),
        (lambda about: about["axes"].__setitem__(0, 3), "damaged"),
        (lambda about: about["axes"][0].pop("codes"), "damaged"),
        (lambda about: about["axes"][0]["codes"][0].pop("at"), "damaged"),
        (lambda about: about["axes"][0]["codes"][0].update(at=99), "damaged"),
        (lambda about: about["axes"][0]["codes"][0].update(at=-1), "damaged"),
        (lambda about: about["axes"][0]["codes"][0].update(code="J_a", level="job"), "damaged"),
        (lambda about: about["axes"][0]["codes"][0].update(code="other"), "no code of 'JOB'"),
        (lambda about: about["axes"][0].update(column="WORK"), "no column 'WORK'"),
        (lambda about: about.update(values="count"), "no column 'count'"),
        (lambda about: about.update(marks={"odd": "?"}), "damaged"),
        (lambda about: about.update(marks={"withheld": "?"}), "no column 'flag'"),
        (lambda about: about["provenance"].update(spec_hash="x"), "not those of the table"),
        (lambda about: about.update(specification={"version": 1}), "damaged"),
    ],
)
def test_damaged_descriptions_are_named(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_published(changed(tmp_path, change))


def test_lines_that_are_missing_doubled_or_no_counts_are_named(tmp_path: Path) -> None:
    path = changed(tmp_path, lambda _: None)
    lines = path.read_text(encoding="utf-8").splitlines()

    def told(kept: list[str]) -> str:
        path.write_text("\n".join(kept) + "\n", encoding="utf-8", newline="\n")
        with pytest.raises(InputError) as caught:
            read_published(path)
        return str(caught.value)

    assert "has 14 of the 15 cells" in told(lines[:-1])
    assert "line 16: this cell stands in the file twice" in told([*lines[:-1], lines[1]])
    first = lines[1].rpartition(",")[0]
    assert "line 2: '-3' is negative" in told([lines[0], f"{first},-3", *lines[2:]])
    assert "line 2: 'c' is no published count" in told([lines[0], f"{first},c", *lines[2:]])


def test_a_table_whose_name_ends_like_an_sdmx_file_is_read(tmp_path: Path) -> None:
    for name in ("jobs", "jobs.sdmx"):
        write_delivered(published(counts(spec("sex")), name=name), tmp_path, formats=["csv"])
    found = scan_published(tmp_path)
    assert [table.name for table in found.tables] == ["jobs.csv", "jobs.sdmx.csv"]
    assert not found.skipped
