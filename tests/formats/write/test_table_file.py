"""One table to a file that somebody names: any format, by its ending or by its name."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdcensus.errors import MissingExtra, OutputError, SpecError, UnknownName
from sdcensus.formats import write
from sdcensus.formats.read.tables import read_published
from sdcensus.formats.write import table_target, write_delivered, write_table
from sdcensus.model.cube.cube import Origin, finish
from sdcensus.model.published.delivery import deliver, delivered_axis, heading_of
from sdcensus.model.published.small_groups import SmallGroups
from sdcensus.model.published.table import AnyTable, SparseTable, Table
from sdcensus.model.published.table_format import table_format
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from tests.formats.made import PROVENANCE, SEX, sparse, spec, table
from tests.formats.write.delivered_made import FOR_ANY_TABLE

NOTE = Text.of({"en": "Read this.", "es": "Lea esto."})
AXES = ("area+parish", "sex")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def written(folder: Path, published: AnyTable, ending: str = ".csv", **options: Any) -> Path:
    return write_table(published, folder / f"table{ending}", provenance=PROVENANCE, **options)


@pytest.fixture
def too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sparse table is one that cannot be held."""
    monkeypatch.setattr(write, "LARGEST_DENSE_GRID", 0)


# ---------------------------------------------------------------- the files of a delivery


@pytest.mark.parametrize("name", FOR_ANY_TABLE)
def test_the_files_are_those_of_the_delivery(tmp_path: Path, name: str) -> None:
    published = table(*AXES, withheld=[3, 4], below=7).with_notes(NOTE)
    (tmp_path / "delivered").mkdir()
    named = replace(published, spec=replace(published.spec, name="table"))
    title = heading_of(published.spec, [delivered_axis(axis) for axis in published.spec.axes])
    expected = write_delivered(
        deliver(named, name="table", title=title, provenance=PROVENANCE),
        tmp_path / "delivered",
        formats=[name],
        languages=["es"],
    )
    path = written(tmp_path, published, table_format(name).endings[0], language="es")
    assert path == tmp_path / expected[0].name
    for file in expected:
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


def test_notes_are_added_once(tmp_path: Path) -> None:
    more = Text.of({"en": "And this."})
    written(tmp_path, table("sex").with_notes(NOTE), notes=[more, NOTE])
    about = json.loads((tmp_path / "table.about.json").read_text(encoding="utf-8"))
    assert about["notes"] == [{"en": "Read this.", "es": "Lea esto."}, {"en": "And this."}]


# ---------------------------------------------------------------- sparse tables


def test_a_sparse_table_that_can_be_held_is_written_whole(tmp_path: Path) -> None:
    whole = table(*AXES, values=[0, 0, 5] * 7)
    (tmp_path / "whole").mkdir()
    expected = written(tmp_path / "whole", whole)
    assert written(tmp_path, sparse(whole)).read_bytes() == expected.read_bytes()


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_large_table_says_what_absent_cells_are(tmp_path: Path, ending: str) -> None:
    listed = sparse(table(*AXES, values=[0, 0, 5] * 7))
    provenance = replace(PROVENANCE, spec_hash=listed.spec.hash())
    path = write_table(listed, tmp_path / f"table{ending}", provenance=provenance)
    if ending == ".csv":
        assert [row["published"] for row in rows(path)] == ["5"] * 7
        about = json.loads((tmp_path / "table.about.json").read_text(encoding="utf-8"))
    else:
        about = json.loads(pq.read_table(path).schema.metadata[b"sdcensus"])
    assert about["cells_not_listed"] == "published as 0"
    assert about["notes"][0]["en"] == "Cells that are not listed are published as 0."
    again = read_published(path)
    assert isinstance(again.table, SparseTable)
    assert (again.table.numbers == listed.numbers).all()
    assert (again.table.published == listed.published).all()
    assert again.provenance == provenance


@pytest.mark.usefixtures("too_large")
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_large_table_says_which_groups_are_not_broken_down(tmp_path: Path, ending: str) -> None:
    listed = sparse(table("area", "sex", values=[0, 2, 7] * 5))
    groups = (((0, 1), (4,)), ((0, 1, 2),))
    small = SmallGroups(5, groups, np.array([[0, 0]]))
    under_rule = replace(listed, small=small)
    provenance = replace(PROVENANCE, smallest_group=5, spec_hash=listed.spec.hash())
    path = write_table(under_rule, tmp_path / f"table{ending}", provenance=provenance)
    again = read_published(path).table
    assert isinstance(again, SparseTable)
    assert again.small == small
    if ending == ".csv":
        marks = {row["published"]: row["not_broken_down"] for row in rows(path)}
        assert marks == {"2": "1", "7": "0"}


@pytest.mark.usefixtures("too_large")
def test_a_large_table_is_refused_by_formats_that_need_it_whole(tmp_path: Path) -> None:
    for ending in (".xlsx", ".px", ".json", ".sdmx.csv"):
        with pytest.raises(SpecError, match=r"too large to be held whole.*csv or parquet"):
            written(tmp_path, sparse(table("sex")), ending)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("too_large")
def test_an_empty_large_table_still_has_its_columns(tmp_path: Path) -> None:
    nothing = sparse(table(*AXES, values=[0] * 21))
    assert pq.read_table(written(tmp_path, nothing, ".parquet")).num_rows == 0
    header = written(tmp_path, nothing).read_text(encoding="utf-8")
    assert header == "area,sex,area_label,sex_label,published\n"


# ---------------------------------------------------------------- names and endings


def test_the_longest_ending_tells_the_format(tmp_path: Path) -> None:
    formats = {"t.csv": "csv", "t.sdmx.csv": "sdmx-csv", "T.XLSX": "xlsx", "a.b.px": "px"}
    for name, expected in formats.items():
        target = table_target(tmp_path / name)
        assert target.format.name == expected
        assert f"{target.name}{target.format.endings[0]}".lower() == name.lower()


def test_a_format_that_is_named_gets_its_ending(tmp_path: Path) -> None:
    published = table("sex")
    path = write_table(published, tmp_path / "ages", provenance=PROVENANCE, format="px")
    assert path == tmp_path / "ages.px"
    path = write_table(published, tmp_path / "b.json", provenance=PROVENANCE, format="json-stat")
    assert path == tmp_path / "b.json"
    with pytest.raises(OutputError, match=r"ends like the format 'csv'.*ages\.px"):
        table_target(tmp_path / "ages.csv", "px")
    with pytest.raises(UnknownName, match="no format 'pxx'"):
        table_target(tmp_path / "ages", "pxx")


def test_what_cannot_be_a_table_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.xlsx, \.csv, \.json, \.sdmx\.csv, \.px, \.parquet"):
        written(tmp_path, table("sex"), ".doc")
    with pytest.raises(OutputError, match="does not exist"):
        written(tmp_path / "no", table("sex"))
    with pytest.raises(OutputError, match="No file can be called"):
        write_table(table("sex"), tmp_path / ".csv", provenance=PROVENANCE)


# ---------------------------------------------------------------- for the public only


def test_a_cube_cannot_be_written(tmp_path: Path) -> None:
    sums = {"count": np.array([1, 2]), "key": np.array([3, 4], dtype=np.uint64)}
    cube: Any = finish(spec("sex"), Origin(KeySpace()), sums)
    for name in FOR_ANY_TABLE:
        with pytest.raises(SpecError, match="A Cube is no published table"):
            written(tmp_path, cube, table_format(name).endings[0])
    assert list(tmp_path.iterdir()) == []
    # and a type checker says so before it is tried
    assert get_type_hints(write_table)["table"] == AnyTable


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
def test_nothing_is_overwritten_and_nothing_is_left_when_writing_fails(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"table{ending}"
    path.write_text("precious", encoding="utf-8", newline="\n")
    with pytest.raises(OutputError, match="already exists"):
        written(tmp_path, table("sex"), ending)
    assert path.read_text(encoding="utf-8") == "precious"
    path.unlink()

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match="No space left on device"):
        written(tmp_path, table("sex"), ending)
    assert list(tmp_path.iterdir()) == []


def test_what_stands_beside_a_table_is_not_overwritten_either(tmp_path: Path) -> None:
    (tmp_path / "table.about.json").write_text("{}", encoding="utf-8", newline="\n")
    with pytest.raises(OutputError, match=r"table\.about\.json already exists"):
        written(tmp_path, table("sex"))
    assert not (tmp_path / "table.csv").exists()


def test_a_workbook_needs_an_optional_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(MissingExtra, match=r"sdcensus\[formats\]"):
        written(tmp_path, table("sex"), ".xlsx")
    assert list(tmp_path.iterdir()) == []


def test_a_variable_that_is_called_like_a_made_column_is_refused(tmp_path: Path) -> None:
    odd = replace(SEX, name="published", leaf_level="")
    axis = make_axis(odd, [odd.level()], total=True)
    published = Table(TableSpec(of=odd.entity, axes=(axis,)), np.zeros(3, dtype=np.int64))
    with pytest.raises(SpecError, match="two columns 'published'"):
        written(tmp_path, published)
    assert list(tmp_path.iterdir()) == []
