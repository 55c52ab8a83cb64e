from __future__ import annotations

from collections import Counter

import numpy as np
import pandas
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
