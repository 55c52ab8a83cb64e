from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import sdcensus as sc
from sdcensus.errors import InputError, SpecError, StoreError

ROWS = [
    ("north", 30, "f", 5, 1.25),
    ("north", 4, "m", 250, 1.0),
    ("south", 30, None, 7, 2.0),
    ("north", 30, "f", 255, 1.0),
]


def frames() -> list[object]:
    columns = ["area", "age", "sex", "key", "weight"]
    table = pa.table(
        {name: list(values) for name, values in zip(columns, zip(*ROWS, strict=True), strict=True)}
    )
    return [table, table.to_pandas(), pandas.DataFrame(ROWS, columns=columns)]


@pytest.mark.parametrize("frame", frames(), ids=["arrow", "pandas from arrow", "pandas"])
def test_a_frame_is_counted_and_keyed(frame: object) -> None:
    census = sc.from_frame(
        frame, key="key", weight="weight", key_space=sc.census.KeySpace(modulus=256)
    )
    cube = census.tabulate("area-total", "age-total", "sex-total", weights=True)
    assert isinstance(cube, sc.confidential.Cube)
    found = {cell.codes: (cell.count, cell.key) for cell in cube.cells() if cell.count}
    assert found == {
        ("north", "30", "f"): (2, (5 + 255) % 256),
        ("north", "4", "m"): (1, 250),
        ("south", "30", "_U"): (1, 7),
    }
    assert cube.weight is not None
    assert int(cube.weight.sum()) == 5_250_000
    # Numbers are in the order of numbers, and an empty field is "not stated".
    assert [code.code for code in census.schema.variable("age").codes] == ["4", "30"]
    assert [code.code for code in census.schema.variable("sex").codes] == ["f", "m", "_U"]


def test_a_large_frame_equals_a_plain_count() -> None:
    draw = np.random.default_rng(1)
    size = 300_000
    frame = pandas.DataFrame(
        {
            "a": draw.integers(0, 40, size).astype(str),
            "b": draw.choice(["x", "y", "z"], size),
            "key": draw.integers(0, 2**32, size),
        }
    )
    cube = sc.from_frame(frame, key="key").tabulate("a-total", "b-total")
    assert isinstance(cube, sc.confidential.Cube)
    pairs = list(zip(frame["a"], frame["b"], strict=True))
    assert {cell.codes: cell.count for cell in cube.cells()} == Counter(pairs)
    keys: Counter[tuple[str, str]] = Counter()
    for pair, key in zip(pairs, frame["key"].tolist(), strict=True):
        keys[pair] += key
    assert {cell.codes: cell.key for cell in cube.cells()} == {
        pair: total % 2**32 for pair, total in keys.items()
    }


def test_wrong_frames_are_refused() -> None:
    table = frames()[0]
    with pytest.raises(InputError, match="Arrow interface"):
        sc.from_frame([1, 2, 3], key="key")
    with pytest.raises(SpecError, match="no column 'keyy'"):
        sc.from_frame(table, key="keyy")
    with pytest.raises(InputError, match="from 0 to 99"):
        sc.from_frame(table, key="key", key_space=sc.census.KeySpace(modulus=100))
    with pytest.raises(InputError, match="whole number in every row"):
        sc.from_frame(table, key="sex")
    with pytest.raises(StoreError, match="no store on disk"):
        _ = sc.from_frame(table, key="key").store


def keyed(**columns: list[object]) -> pandas.DataFrame:
    size = len(next(iter(columns.values())))
    return pandas.DataFrame({"sex": ["f"] * size, "key": [1] * size, **columns})


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (0.0, r"is 0, as kept with 6 decimals; leave out rows .* \(row 1\)"),
        (1e-9, r"is 0, as kept with 6 decimals"),
        (-2.5, r"is below 0; correct it.* \(row 1\)"),
        (float("nan"), r"is empty or NaN; fill it.* \(row 1\)"),
        (1e12, r"is above 9,007,199,254, .* divide all weights by a constant \(row 1\)"),
        (float("inf"), r"is not a number"),
    ],
)
def test_a_weight_that_is_none_says_why_and_where(weight: float, words: str) -> None:
    for frame in (keyed(w=[1.0, weight, 2.0]), pa.table(keyed(w=[1.0, weight, 2.0]))):
        with pytest.raises(InputError, match=words):
            sc.from_frame(frame, key="key", weight="w")


def test_all_kinds_of_wrong_weights_are_told_together() -> None:
    frame = keyed(w=[0.0, -1.0, None, 1e12, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    with pytest.raises(InputError) as refusal:
        sc.from_frame(frame, key="key", weight="w")
    assert str(refusal.value).count("the weight ") == 4
    assert "rows 0, 5, 6, 7, 8 and 1 more" in str(refusal.value)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("_T", "holds '_T', which is kept for totals (row 2, counted from 0). Leave totals out"),
        ("_U", "holds '_U', which is kept for 'not stated' (row 2, counted from 0). Empty the"),
        ("_Z", "holds '_Z', which is kept for 'not applicable' (row 2, counted from 0). Give it"),
    ],
)
@pytest.mark.parametrize("empty", [None, "north"])
def test_codes_that_tables_use_themselves_are_refused(
    code: str, words: str, empty: str | None
) -> None:
    with pytest.raises(InputError) as refusal:
        sc.from_frame(keyed(area=["north", empty, code]), key="key")
    assert words in str(refusal.value)


def test_two_columns_of_one_name_are_named() -> None:
    frame = keyed(a=["x", "y"])
    twice = pandas.concat([frame, frame[["a"]]], axis=1)
    message = r"2 columns that are called 'a' \(columns 3 and 4\)"
    with pytest.raises(InputError, match=message):
        sc.from_frame(twice, key="key")
    arrow = pa.Table.from_arrays(
        [pa.array([1]), pa.array(["x"]), pa.array(["y"])], ["key", "a", "a"]
    )
    with pytest.raises(InputError, match="2 columns that are called 'a'"):
        sc.from_frame(arrow, key="key")
    with pytest.raises(InputError, match="'a' is named twice, in 'variables'"):
        sc.from_frame(frame, key="key", variables=["a", "a"])
    with pytest.raises(InputError, match="'a' is named twice, in 'variables' and in 'weight'"):
        sc.from_frame(frame, key="key", variables=["a"], weight="a")


def test_what_arrow_cannot_hold_is_an_error_of_ours() -> None:
    with pytest.raises(InputError, match="cannot be handed over"):
        sc.from_frame(keyed(a=["x", 1]), key="key")


def test_nan_is_no_value() -> None:
    census = sc.from_frame(pa.table({"key": [1, 2], "a": [1.5, float("nan")]}), key="key")
    assert [code.code for code in census.schema.variable("a").codes] == ["1.5", "_U"]


# ---------------------------------------------------------------- what frames hold

TEXTS = ["b", "a", None, "a", "b", "c"]
DICTIONARY = pa.DictionaryArray.from_arrays(
    pa.array([0, 1, 2, 1, 0, 3], pa.int8()), pa.array(["b", "a", None, "c", "_T"])
)
DAY = datetime.date(2021, 3, 21)
#: Columns of text as the libraries hold them.
TEXT_COLUMNS: dict[str, Any] = {
    **{
        f"polars {kind}": polars.Series("v", TEXTS, dtype=kind)
        for kind in (polars.String, polars.Categorical, polars.Enum(["z", "c", "b", "a"]))
    },
    "polars binary": polars.Series("v", [text and text.encode() for text in TEXTS]),
    **{
        f"pandas {kind}": pandas.Series(TEXTS, dtype=kind)
        for kind in (
            *("object", "string", "string[python]", "string[pyarrow]", "category"),
            *(pandas.ArrowDtype(pa.string_view()), pandas.ArrowDtype(pa.large_string())),
        )
    },
    **{
        f"arrow {kind}": pa.array(TEXTS, pa.string()).cast(kind)
        for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.large_binary())
    },
    "arrow dictionary": DICTIONARY,
    "arrow dictionary of views": pa.DictionaryArray.from_arrays(
        DICTIONARY.indices, DICTIONARY.dictionary.cast(pa.string_view())
    ),
    "arrow in pieces": pa.chunked_array([DICTIONARY[:2], DICTIONARY[2:].dictionary_encode()]),
    "arrow runs": pa.RunEndEncodedArray.from_arrays([1, 2, 3, 4, 5, 6], TEXTS),
}


def with_column(values: Any) -> Any:
    keys = list(range(1, len(values) + 1))
    if isinstance(values, polars.Series):
        return polars.DataFrame({"key": keys, "v": values})
    if isinstance(values, pandas.Series):
        return pandas.DataFrame({"key": keys, "v": values})
    return pa.table({"key": keys, "v": values})


def codes(frame: Any) -> list[str]:
    census = sc.from_frame(frame, key="key")
    return [code.code for code in census.schema.variable("v").codes]


@pytest.mark.parametrize("column", TEXT_COLUMNS.values(), ids=TEXT_COLUMNS)
def test_text_is_taken_in_every_form(column: Any) -> None:
    cube = sc.from_frame(with_column(column), key="key").tabulate("v-total")
    assert isinstance(cube, sc.confidential.Cube)
    assert {cell.codes[0]: (cell.count, cell.key) for cell in cube.cells()} == {
        "a": (2, 2 + 4),
        "b": (2, 1 + 5),
        "c": (1, 6),
        "_U": (1, 3),
    }


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (polars.Series([Decimal("1.50"), None, Decimal("-2.25")]), ["-2.25", "1.50", "_U"]),
        (polars.Series([True, None, False]), ["False", "True", "_U"]),
        (polars.Series([DAY, None]), ["2021-03-21", "_U"]),
        (polars.Series([None, None]), ["_U"]),
        (polars.Series([1.5, None, float("nan")], dtype=polars.Float32), ["1.5", "_U"]),
        (pandas.Series([3, None, 20], dtype="Int64"), ["3", "20", "_U"]),
        (pandas.Series([None, None]), ["_U"]),
        (pandas.Series([20, 3, None], dtype="category"), ["3", "20", "_U"]),
        (pa.array([1.5, None], pa.float16()), ["1.5", "_U"]),
        (pa.array([Decimal("1.5"), None], pa.decimal32(5, 1)), ["1.5", "_U"]),
        (pa.DictionaryArray.from_arrays([0, 1], [1.0, float("nan")]), ["1.0", "_U"]),
    ],
)
def test_values_of_every_plain_type_are_codes(values: Any, expected: list[str]) -> None:
    assert codes(with_column(values)) == expected


def test_queries_readers_and_batches_are_frames() -> None:
    table = pa.table({"key": [1, 2], "v": ["x", "y"]})
    connection = duckdb.connect()
    try:
        query = "select key::hugeint as key, v::enum('z', 'y', 'x') as v from table_"
        relation = connection.register("table_", table).sql(query)
        for frame in (relation, table.to_reader(), table.to_batches()[0]):
            assert codes(frame) == ["x", "y"]
    finally:
        connection.close()


def test_an_empty_frame_has_no_codes() -> None:
    assert codes(with_column(polars.Series(TEXTS)).head(0)) == []
    assert codes(pa.table({"key": pa.chunked_array([], pa.int64()), "v": pa.array([])})) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (polars.Series([[1], [2]]), "'v' holds large_list"),
        (polars.Series([{"a": 1}]), "'v' holds struct"),
        (polars.Series([object()], dtype=polars.Object), "'v' holds fixed_size_binary"),
        (polars.Series([1], dtype=polars.Int128), "'v' of the frame cannot be handed over"),
        (polars.Series([b"\xff"]), "'v' holds bytes that are no text"),
        (pandas.Series(pandas.period_range("2021", periods=2)), "'v' holds extension"),
        (pandas.Series([1j]), "'v' of the frame cannot be handed over"),
        (pa.array([b"0" * 16], pa.uuid()), "'v' holds extension"),
        (pa.DictionaryArray.from_arrays([0], pa.array([[1]])), "'v' holds list"),
    ],
)
def test_what_is_no_code_is_refused_with_its_column(values: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as refusal:
        codes(with_column(values))
    assert "text" in str(refusal.value)
    # a column that is not used is in nobody's way, where the frame can be handed over at all
    if "handed over" not in words:
        other = with_column(values)
        census = sc.from_frame(other, key="key", variables=[])
        assert [variable.name for variable in census.schema.variables] == []


@pytest.mark.parametrize("kind", [polars.String, polars.Decimal(10, 2), polars.Categorical])
def test_weights_and_keys_come_in_every_form(kind: Any) -> None:
    weights = polars.Series("w", ["1.50", "2.25"]).cast(kind)
    frame = polars.DataFrame({"key": [1, 2], "v": ["x", "x"], "w": weights})
    cube = sc.from_frame(frame, key="key", weight="w").tabulate("v", weights=True)
    assert isinstance(cube, sc.confidential.Cube)
    assert cube.weight is not None
    assert int(cube.weight.max()) == 3_750_000
    with pytest.raises(InputError, match="key column 'v' must hold a whole number"):
        sc.from_frame(frame, key="v")


def test_a_lazy_frame_is_to_be_collected() -> None:
    with pytest.raises(InputError, match="Collect a lazy frame first"):
        codes(with_column(polars.Series(TEXTS)).lazy())
