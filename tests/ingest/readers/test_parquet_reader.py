from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from sdcensus.ingest.readers import ColumnKind
from tests.ingest.readers.helpers import opened, refusal, whole


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "persons.parquet"


def _kinds(path: Path) -> dict[str, ColumnKind]:
    return {column.name: column.kind for column in opened(path).columns()}


@pytest.mark.parametrize(
    "stored",
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()],
)
def test_integers_of_every_width_become_int64(file: Path, stored: pa.DataType) -> None:
    parquet.write_table(pa.table({"n": pa.array([0, None, 127], stored)}), file)
    (batch,) = opened(file).batches(["n"])
    assert batch.column("n").type == pa.int64()
    assert batch.column("n").to_pylist() == [0, None, 127]


@pytest.mark.parametrize("stored", [pa.string(), pa.large_string(), pa.string_view(), pa.binary()])
def test_text_of_every_type_becomes_string_and_blank_is_null(
    file: Path, stored: pa.DataType
) -> None:
    values = ["0412", " ", "", None, "é "]
    array = pa.array(values).cast(stored) if stored != pa.binary() else pa.array(values, stored)
    parquet.write_table(pa.table({"t": array}), file)
    (batch,) = opened(file).batches(["t"])
    assert batch.column("t").type == pa.string()
    assert batch.column("t").to_pylist() == ["0412", None, None, None, "é "]


def test_dictionaries_are_unpacked(file: Path) -> None:
    table = pa.table(
        {
            "t": pa.array(["a", None, "a", " "]).dictionary_encode(),
            "n": pa.array([7, 7, None, 8], pa.int16()).dictionary_encode(),
        }
    )
    parquet.write_table(table, file)
    assert whole(opened(file)) == {"t": ["a", None, "a", None], "n": [7, 7, None, 8]}


def test_booleans_are_one_and_zero(file: Path) -> None:
    parquet.write_table(pa.table({"b": [True, None, False]}), file)
    assert whole(opened(file)) == {"b": [1, None, 0]}
    assert _kinds(file) == {"b": ColumnKind.INTEGER}


def test_dates_and_times_are_iso_text(file: Path) -> None:
    moment = datetime.datetime(2021, 4, 1, 13, 5, 9)
    table = pa.table(
        {
            "date": pa.array([moment.date(), None]),
            "day": pa.array([moment.date(), None], pa.date64()),
            "moment": pa.array([moment, None], pa.timestamp("ns")),
            "fraction": pa.array([moment.replace(microsecond=5), None], pa.timestamp("us")),
            "zone": pa.array([moment, None], pa.timestamp("s", "America/Lima")),
            "time": pa.array([moment.time(), None]),
        }
    )
    parquet.write_table(table, file)
    assert {name: values[0] for name, values in whole(opened(file)).items()} == {
        "date": "2021-04-01",
        "day": "2021-04-01",
        "moment": "2021-04-01T13:05:09",
        "fraction": "2021-04-01T13:05:09.000005",
        "zone": "2021-04-01T13:05:09Z",
        "time": "13:05:09",
    }
    assert all(values[1] is None for values in whole(opened(file)).values())
    assert set(_kinds(file).values()) == {ColumnKind.TEXT}


def test_floats_that_are_integers_throughout_become_integers(file: Path) -> None:
    table = pa.table(
        {
            "code": pa.array([1.0, float("nan"), None, 9.0]),
            "weight": pa.array([1.0, 1.5, None, float("nan")]),
            "small": pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()),
            "huge": pa.array([1.0, 2.0, 3.0, 2.0**60]),
        }
    )
    parquet.write_table(table, file, row_group_size=2)
    assert _kinds(file) == {
        "code": ColumnKind.INTEGER,
        "weight": ColumnKind.DECIMAL,
        "small": ColumnKind.INTEGER,
        "huge": ColumnKind.DECIMAL,
    }
    # Asking for the rows first must not give another answer than asking for the kinds first.
    assert whole(opened(file)) == {
        "code": [1, None, None, 9],
        "weight": [1.0, 1.5, None, None],
        "small": [1, 2, 3, 4],
        "huge": [1.0, 2.0, 3.0, 2.0**60],
    }


def test_exact_decimals_stay_exact(file: Path) -> None:
    table = pa.table(
        {
            "income": pa.array([Decimal("1234.10"), None], pa.decimal128(10, 2)),
            "number": pa.array([Decimal(7), None], pa.decimal128(9, 0)),
            "wide": pa.array([Decimal("0.1"), None], pa.decimal256(40, 1)),
        }
    )
    parquet.write_table(table, file)
    (batch,) = opened(file).batches(["income", "number", "wide"])
    assert batch.schema.types == [pa.decimal128(10, 2), pa.int64(), pa.decimal128(38, 1)]
    assert batch.column("income").to_pylist() == [Decimal("1234.10"), None]
    assert _kinds(file)["income"] is ColumnKind.DECIMAL
    assert _kinds(file)["number"] is ColumnKind.INTEGER


def test_batches_follow_the_file_and_hold_at_most_the_rows_asked_for(file: Path) -> None:
    numbers = list(range(1000))
    parquet.write_table(pa.table({"n": numbers, "x": numbers}), file, row_group_size=170)
    reader = opened(file)
    assert reader.rows() == 1000
    assert max(batch.num_rows for batch in reader.batches(["n"], rows=64)) <= 64
    assert whole(reader, ["x", "n"], rows=64) == {"x": numbers, "n": numbers}


def test_columns_whose_names_have_points(file: Path) -> None:
    parquet.write_table(pa.table({"PERSONA.P05": [1], "PERSONA": [2]}), file)
    assert whole(opened(file), ["PERSONA", "PERSONA.P05"]) == {"PERSONA": [2], "PERSONA.P05": [1]}


def test_a_file_without_rows_gives_no_batches(file: Path) -> None:
    parquet.write_table(pa.table({"n": pa.array([], pa.int8())}), file)
    assert whole(opened(file)) == {"n": []}
    assert opened(file).rows() == 0


def test_several_files_are_read_as_one(tmp_path: Path) -> None:
    paths = [tmp_path / f"part-{number}.parquet" for number in range(3)]
    parquet.write_table(pa.table({"a": pa.array([1], pa.int8()), "b": [1.0]}), paths[0])
    parquet.write_table(pa.table({"b": [2.5], "a": pa.array([2], pa.int64())}), paths[1])
    parquet.write_table(pa.table({"a": pa.nulls(1), "b": pa.array([3], pa.int32())}), paths[2])
    reader = opened(*paths)
    assert reader.rows() == 3
    assert whole(reader) == {"a": [1, 2, None], "b": [1.0, 2.5, 3.0]}


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "one.parquet", tmp_path / "two.parquet"
    parquet.write_table(pa.table({"a": [1]}), first)
    parquet.write_table(pa.table({"b": [1]}), second)
    assert "lacks 'a'" in refusal(first, second)
    parquet.write_table(pa.table({"a": ["x"]}), second)
    assert "text in some and a number in others" in refusal(first, second)


def test_lists_are_not_offered_and_refused_when_asked_for(file: Path) -> None:
    parquet.write_table(pa.table({"n": [1], "many": [[1, 2]]}), file)
    assert opened(file).names() == ("n",)
    assert "holds lists" in refusal(file, columns=["many"])


def test_values_that_fit_no_type_are_refused(file: Path) -> None:
    parquet.write_table(pa.table({"n": pa.array([2**64 - 1], pa.uint64())}), file)
    assert "column 'n'" in refusal(file)
    parquet.write_table(pa.table({"n": pa.array([b"\xff"])}), file)
    message = refusal(file)
    assert "column 'n'" in message
    assert "UTF-8" in message


def test_an_unknown_column_is_refused_with_the_nearest_names(file: Path) -> None:
    parquet.write_table(pa.table({"marital_status": [1]}), file)
    assert "'marital_status'" in refusal(file, columns=["marital_statsu"])


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_off_is_refused(file: Path, kept: float) -> None:
    parquet.write_table(pa.table({"n": list(range(5000))}), file)
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * kept)])
    assert "damaged" in refusal(file)


def test_a_file_with_damaged_pages_is_refused(file: Path) -> None:
    parquet.write_table(pa.table({"n": [str(n) for n in range(5000)]}), file, compression="zstd")
    content = bytearray(file.read_bytes())
    content[200:400] = b"\xff" * 200
    file.write_bytes(bytes(content))
    assert "damaged" in refusal(file)
