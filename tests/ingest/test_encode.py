from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from sdcensus.ingest.encode import ColumnEncoder
from sdcensus.model.schema.encoding import NO_VALUE, CodeEncoder, Trouble, fixed_point
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    EmptyField,
    Entity,
    Variable,
    VariableSource,
)

INCOME = Variable(
    name="income",
    entity=Entity.PERSON,
    codes=(
        Code("0-9", lower=0, upper=9),
        Code("10", lower=10, upper=10),
        Code("11-99", lower=11, upper=99),
        Code("200+", lower=200, upper=None),
        Code("-8", kind=CodeKind.NOT_APPLICABLE),
        Code("999999", kind=CodeKind.NOT_STATED),
    ),
    continuous=True,
    decimals=2,
    source=VariableSource(file="f", column="income", empty=EmptyField.NOT_STATED),
)

numbers = st.one_of(
    st.sampled_from(
        ["0", "10", "10.00", "10.5", "9.999", "11", "99.99", "99.994", "99.995", "100", "200", "-8"]
    ),
    st.sampled_from(["-8.0", "999999", "", " ", "x", "1e2", "1e-3", "1_0", "NaN", "-0", "+5"]),
    st.decimals(-1000, 1_000_000, places=3).map(str),
    st.decimals(0, 300, places=2).map(str),
    st.integers(-(10**20), 10**20).map(str),
)


@pytest.mark.parametrize("decimals", [4, 9])
def test_bounds_of_classes_beyond_64_bits_refuse_no_amount(decimals: int) -> None:
    codes = (Code("-", lower=-(10**15), upper=9), Code("+", lower=10, upper=10**15 - 1))
    amount = replace(INCOME, codes=codes, decimals=decimals)
    encoded = ColumnEncoder(amount).positions(pa.array(["-3.5", "9.9", "10"]))
    assert encoded.values.tolist() == [0, 0, 1]


@given(st.lists(numbers, max_size=30))
def test_many_values_at_once_are_encoded_like_each_alone(values: list[str]) -> None:
    """The column encoder is fast; the encoder of single values says what is right."""
    single = CodeEncoder(INCOME)
    encoder = ColumnEncoder(INCOME)
    array = pa.array(values, pa.string())
    positions, fixed = encoder.positions(array), encoder.numbers(array)
    for at, value in enumerate(values):
        expected = single.position(value)
        if expected < 0:
            assert positions.trouble is not None
            assert positions.trouble[at] == expected
            assert positions.values[at] == encoder.fallback
        else:
            assert positions.values[at] == expected
        if expected >= 0 and INCOME.codes[expected].is_missing:
            assert fixed.values[at] == NO_VALUE
            continue
        number = fixed_point(value, 2)
        if isinstance(number, Trouble):
            assert fixed.trouble is not None
            assert fixed.trouble[at] == number
        else:
            assert fixed.values[at] == number


@given(st.lists(st.floats(-1000, 1000).map(lambda one: round(one, 4)), max_size=20))
def test_floats_are_rounded_as_they_are_written(values: list[float]) -> None:
    weight = Variable(name="w", entity=Entity.PERSON, decimals=3)
    encoded = ColumnEncoder(weight).numbers(pa.array(values, pa.float64()))
    expected = [
        int((Decimal(repr(value)) * 1000).to_integral_value(rounding="ROUND_HALF_EVEN"))
        for value in values
    ]
    assert encoded.values.tolist() == expected


def test_integers_and_floats_find_the_same_codes_as_text() -> None:
    sex = Variable(name="sex", entity=Entity.PERSON, codes=(Code("1"), Code("2")))
    encoder = ColumnEncoder(sex)
    for array in (
        pa.array(["1", " 2 ", "01"]),
        pa.array([1, 2, 1]),
        pa.array([1.0, 2.0, 1.0]),
    ):
        encoded = encoder.positions(array)
        assert encoded.values.tolist() == [0, 1, 0]
        assert encoded.trouble is None


def test_a_decimal_comma_is_read() -> None:
    encoder = ColumnEncoder(INCOME, decimal_mark=",")
    assert encoder.numbers(pa.array(["12,5", "0,005", "0,015"])).values.tolist() == [1250, 0, 2]
    assert encoder.positions(pa.array(["12,5", "9,5"])).values.tolist() == [2, 0]


@pytest.mark.parametrize("size", [0, 1, 5])
def test_empty_fields_mean_what_the_schema_says(size: int) -> None:
    encoder = ColumnEncoder(INCOME)
    nothing = pa.array([None] * size, pa.string())
    assert (encoder.positions(nothing).values == 5).all()
    assert (encoder.numbers(nothing).values == NO_VALUE).all()
    assert encoder.numbers(nothing).trouble is None
    assert encoder.positions(nothing).values.dtype == np.uint8
