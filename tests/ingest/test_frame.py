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
