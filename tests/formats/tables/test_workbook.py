"""Workbooks as another program reads them."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.errors import OutputError
from sdcensus.formats.shared import sheets as shared
from sdcensus.formats.tables import workbook, write_table
from sdcensus.model.published.table import AnyTable
from sdcensus.model.text import Text
from tests.formats.tables.made import PROVENANCE, sparse, table

NOTE = Text.of({"en": "Read this.", "es": "Lea esto."})


def sheets(folder: Path, one: AnyTable, **options: Any) -> dict[str, list[list[Any]]]:
    path = write_table(one, folder / "table.xlsx", provenance=PROVENANCE, **options)
    book = CalamineWorkbook.from_path(path)
    return {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}


def test_the_table_stands_in_rows_and_columns(tmp_path: Path) -> None:
    one = table("area@parish", "sex", withheld=[1], below=5)
    found = sheets(tmp_path, one)["Table"]
    assert found == [
        ["Persons by Area (parish) and Sex", "", "", "", ""],
        ["Persons. Values are protected. Please read the sheet Notes.", "", "", "", ""],
        ["", "", "", "", ""],
        ["", "", "1", "2", "_T"],
        ["Code", "Area (parish)", "Male", "Female", "Total"],
        ["P1", "North", 0.0, "c", 2.0],
        ["P2", "South", 3.0, 4.0, ".."],
        ["_T", "Total", 6.0, 7.0, 8.0],
    ]


def test_several_axes_stand_beside_the_rows(tmp_path: Path) -> None:
    found = sheets(tmp_path, table("sex", "area+parish", "age"))["Table"]
    # Age has too many codes to stand side by side, so areas do.
    assert found[4][:4] == ["Code", "Sex", "Code", "Age"]
    assert found[3][4:] == ["E1", "E2", "E3", "E4", "P1", "P2", "_T"]
    assert found[5][:5] == ["1", "Male", "0", "0", 0.0]
    assert found[6][:5] == ["1", "Male", "1", "1", 1.0]
    assert found[5][5] == 102.0


def test_levels_stand_beside_the_rows_of_an_axis_with_several(tmp_path: Path) -> None:
    found = sheets(tmp_path, table("area+parish", "sex"), language="es")["Tabla"]
    assert found[4] == ["Código", "Nivel", "Zona (area, parish)", "Hombre", "Mujer", "Total"]
    assert found[9][:3] == ["P1", "parish", "Norte"]


@pytest.mark.parametrize("by", [(), ("sex",), ("age",)])
def test_a_table_of_one_axis_or_none(tmp_path: Path, by: tuple[str, ...]) -> None:
    one = table(*by)
    found = sheets(tmp_path, one)["Table"]
    assert found[3][-1] == "Persons"
    assert [row[-1] for row in found[4:]] == [float(cell) for cell in range(one.spec.cells)]


def test_a_sparse_table_is_listed(tmp_path: Path) -> None:
    one = sparse(table("area@parish", "sex"))
    found = sheets(tmp_path, one)
    assert found["Table"][3] == ["area", "sex", "area_label", "sex_label", "published"]
    assert found["Table"][4] == ["P1", "2", "North", "Female", 1.0]
    assert len(found["Table"]) == 4 + 8
    assert any("published as 0" in str(cell) for row in found["Notes"] for cell in row)


def test_labels_that_look_like_formulas_cannot_become_any(tmp_path: Path) -> None:
    found = sheets(tmp_path, table("area", "sex"))["Table"]
    assert [row[1] for row in found[5:9]] == ["Hill", "Shore, “west”", '\'=HYPERLINK("x")', "-1"]
    with zipfile.ZipFile(tmp_path / "table.xlsx") as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_the_sheet_of_notes(tmp_path: Path) -> None:
    one = table("area@parish", "sex", withheld=[1]).with_notes(NOTE)
    found = sheets(tmp_path, one, language="es")
    assert list(found) == ["Tabla", "Notas"]
    lines = ["|".join(map(str, row)).strip("|") for row in found["Notas"]]
    assert lines[0] == "Personas por zona (parish) y sexo"
    assert "Lea esto." in lines
    assert "c|confidencial: no se publica" in lines
    assert "Método|cell-key" in lines
    assert f"Huella de los parámetros|{PROVENANCE.fingerprint}" in lines


def test_a_large_table_is_the_same_written_through_to_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = table("area", "age", "sex", withheld=[7]).with_notes(NOTE)
    held = sheets(tmp_path, one)
    (tmp_path / "table.xlsx").unlink()
    monkeypatch.setattr(shared, "_HELD", 10)
    assert sheets(tmp_path, one) == held
    assert len(held["Table"]) == 5 + 5 * 102


def test_a_table_too_long_for_a_sheet_is_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbook, "MOST_ROWS", 100)
    with pytest.raises(OutputError, match=r"Write it as \.csv or \.parquet"):
        sheets(tmp_path, table("age", "sex"))
    assert list(tmp_path.iterdir()) == []


def test_no_clock_is_in_the_file(tmp_path: Path) -> None:
    sheets(tmp_path, table("sex"))
    with zipfile.ZipFile(tmp_path / "table.xlsx") as archive:
        assert {one.date_time[0] for one in archive.infolist()} == {1980}
        assert b"2000-01-01T00:00:00Z" in archive.read("docProps/core.xml")
