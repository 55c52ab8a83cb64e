"""Delivered Parquet files as other programs read them."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sdcensus.formats.write import parquet, write_delivered
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark
from tests.formats.write.delivered_made import GEO, axis, counts, delivered, published, spec


def written(table: DeliveredTable, folder: Path, **options: object) -> Path:
    (path,) = write_delivered(table, folder, formats=["parquet"], **options)  # type: ignore[arg-type]
    return path


def test_columns_are_typed_and_words_stand_in_dictionaries(tmp_path: Path) -> None:
    one = delivered(
        GEO,
        axis("SEX", ("M", "F"), labels=("Same", "Same")),
        values=np.arange(8).reshape(4, 2) * (np.arange(8).reshape(4, 2) != 3),
        marks=np.array([[0, 0], [5, 1], [0, 0], [0, 0]], dtype=np.uint8),
    )
    found = pq.read_table(written(one, tmp_path))
    words = pa.dictionary(pa.int32(), pa.string())
    assert found.schema.types == [words, words, words, words, pa.int64(), words]
    assert found.column_names == ["GEO", "SEX", "GEO_label", "SEX_label", "published", "flag"]
    assert found["GEO"].to_pylist()[:3] == ["NL", "NL", "NL1"]
    assert set(found["SEX_label"].to_pylist()) == {"Same"}
    assert found["published"].to_pylist() == [0, 1, 2, None, 4, 5, 6, 7]
    assert found["flag"].to_pylist() == ["", "", "( )", "c", "", "", "", ""]


def test_figures_with_decimals_are_the_nearest_doubles(tmp_path: Path) -> None:
    values = np.array([1234, -7, 3, 0])
    one = delivered(
        axis("K", "abcd"), values=values, marks=np.array([0, 0, 5, 4], dtype=np.uint8), decimals=1
    )
    path = written(one, tmp_path, labels=False)
    with duckdb.connect() as database:
        shown = database.execute("select * from read_parquet(?)", [str(path)]).fetchall()
    assert shown == [("a", 123.4, ""), ("b", -0.7, ""), ("c", 0.3, "( )"), ("d", None, ":")]


@pytest.mark.parametrize("cells", [1, 7, 1000])
def test_a_table_in_row_groups_is_the_table_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells: int
) -> None:
    one = published(counts(spec("job+group", "area", "sex")), name="t")
    whole = pq.read_table(written(one, tmp_path))
    (tmp_path / "t.parquet").unlink()
    monkeypatch.setattr(parquet, "ROW_GROUP", cells)
    path = written(one, tmp_path)
    assert pq.read_table(path).equals(whole)
    assert pq.ParquetFile(path).num_row_groups == -(-one.cells // cells)
    assert whole["published"].to_numpy().tolist() == one.values.reshape(-1).tolist()


def test_what_is_known_about_the_table_stands_in_the_metadata(tmp_path: Path) -> None:
    one = published(counts(spec("area", "sex")), name="t", signs=((Mark.WITHHELD, "x"),))
    write_delivered(one, tmp_path, formats=["csv", "parquet"])
    said = pq.read_schema(tmp_path / "t.parquet").metadata[b"sdcensus"]
    beside = (tmp_path / "t.about.json").read_bytes()
    assert said == beside
    assert json.loads(said)["marks"] == {}


def test_tables_without_axes_or_cells(tmp_path: Path) -> None:
    assert pq.read_table(written(delivered(values=np.array(3)), tmp_path)).to_pydict() == {
        "published": [3]
    }
    (tmp_path / "t.parquet").unlink()
    empty = pq.read_table(written(delivered(axis("SEX", ()), GEO), tmp_path, labels=False))
    assert empty.column_names == ["SEX", "GEO", "published"]
    assert empty.num_rows == 0
