from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.client import NotUnderstood, PublishedAnswer
from sdcensus.client.answers import answer_of
from sdcensus.errors import SpecError, UnknownName
from tests.client.recorded import dataset

BASE = "https://census.example"


def read(**changes: Any) -> PublishedAnswer:
    return answer_of(dataset(**changes), base=BASE)


def test_cells_axes_and_notes_are_those_of_the_dataset() -> None:
    answer = read()
    assert answer.shape == (3, 3)
    assert answer.values.dtype == np.int64
    assert answer.masked.sum() == 30 + 14 + 17 + 20 + 9 + 11
    assert answer.mask.sum() == 3
    assert answer.axis("ed").labels == ("Total", "North", "South")
    assert answer.axis("ed").geography
    assert not answer.axis("sex").geography
    assert answer.notes == ("Totals are published on their own.",)
    assert answer.link == f"{BASE}/api/v1/tables?of=persons&by=ed%40parish&by=sex"
    assert str(answer.areas) == "1 of 2 areas"
    assert answer.meanings == {".": "not published"}
    assert answer.unit == "persons"
    assert repr(answer) == "<PublishedAnswer persons by ed@parish, sex: 3×3, 1 of 2 areas>"


def test_single_values() -> None:
    answer = read()
    assert answer.value() == 30
    assert answer.value(sex="1") == 14
    assert answer.value(sex=1, ed="01") == 9
    assert answer.value(ed="02") is None
    assert answer.marks[1, 1] == "( )"
    with pytest.raises(UnknownName, match="There is no axis 'age'"):
        answer.value(age="1")
    with pytest.raises(UnknownName, match="On the axis 'sex': There is no code '7'"):
        answer.value(sex="7")


def test_an_axis_without_a_total_needs_a_code() -> None:
    made = dataset()
    del made["dimension"]["sex"]["extension"]
    answer = answer_of(made, base=BASE)
    with pytest.raises(SpecError, match="has no total"):
        answer.value(ed="01")
    assert answer.value(ed="01", sex="2") == 11


def test_data_frames_have_a_row_for_each_cell() -> None:
    frame = read().to_pandas()
    assert list(frame.columns) == ["ed", "sex", "ed_label", "sex_label", "published", "flag"]
    assert len(frame) == 9
    assert frame.published.isna().sum() == 3
    table = read().to_arrow()
    assert table["published"].null_count == 3
    assert table["published"].to_pylist()[:6] == [30, 14, 17, 20, 9, 11]


def test_a_table_without_axes_is_one_number() -> None:
    made = dataset(id=["MEASURE"], size=[1], value=[46_398])
    del made["status"]
    answer = answer_of(made, base=BASE)
    assert (answer.shape, answer.value()) == ((), 46_398)
    assert len(answer.to_pandas()) == 1


@given(st.lists(st.none() | st.integers(0, 2**53), min_size=9, max_size=9), st.booleans())
def test_numbers_are_read_from_lists_and_from_sparse_objects(
    numbers: list[int | None], sparse: bool
) -> None:
    told: Any = numbers
    if sparse:
        told = {str(at): number for at, number in enumerate(numbers) if number is not None}
    answer = read(value=told)
    flat = zip(answer.values.reshape(-1).tolist(), answer.mask.reshape(-1).tolist(), strict=True)
    assert [None if gap else one for one, gap in flat] == numbers


@pytest.mark.parametrize(
    "changes",
    [
        {"value": [1, 2, 3]},
        {"value": [1.5] * 9},
        {"value": ["1"] * 9},
        {"value": {"9": 1}},
        {"value": {"-1": 1}},
        {"value": {"x": 1}},
        {"value": [2**70] * 9},
        {"size": [3, 4, 1]},
        {"size": [3, 3, 2]},
        {"size": [3, 3]},
        {"id": ["ed", "age", "MEASURE"]},
        {"status": {"12": "c"}},
        {"extension": {}},
        {"dimension": {}},
    ],
)
def test_what_is_no_table_is_one_error(changes: dict[str, Any]) -> None:
    with pytest.raises(NotUnderstood):
        read(**changes)


def test_arrays_cannot_be_changed_by_mistake() -> None:
    answer = read()
    for array in (answer.values, answer.mask, answer.marks):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
