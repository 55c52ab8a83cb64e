from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import InputError, SpecError
from sdcensus.kernels.keys.decimal_keys import keys_from_decimals, parse_decimal_keys


def defined_key(value: float, digits: int) -> int | None:
    """The definition, word for word; None for a refusal."""
    if not 0 <= value <= 1:
        return None
    scaled = Decimal(str(value)) * 10**digits
    nearest = scaled.to_integral_value(rounding=ROUND_HALF_EVEN)
    return None if abs(scaled - nearest) > Decimal("1e-6") else int(nearest) % 10**digits


def key_or_none(values: npt.NDArray[Any], digits: int) -> int | None:
    try:
        return int(keys_from_decimals(values, digits)[0])
    except InputError:
        return None


DIGITS = st.integers(1, 9)
NEAR_A_KEY = st.builds(
    lambda digits, unit, distance: (
        min(max((unit % 10**digits + distance) / 10**digits, 0.0), 1.0),
        digits,
    ),
    DIGITS,
    st.integers(0, 10**9),
    st.sampled_from([0.0, 1e-7, 9.9e-7, 1e-6, 1.01e-6, 1.3e-6, -1e-6, -9e-7, 1e-5, 0.5]),
)


@settings(deadline=None)
@given(st.one_of(NEAR_A_KEY, st.tuples(st.floats(0, 1), DIGITS), st.tuples(st.floats(), DIGITS)))
def test_numbers_and_their_text_become_the_defined_keys(case: tuple[float, int]) -> None:
    value, digits = case
    expected = defined_key(value, digits)
    assert key_or_none(np.array([value]), digits) == expected
    assert key_or_none(np.array([repr(value)]), digits) == expected
    assert key_or_none(np.array([repr(value).encode()]), digits) == expected


@pytest.mark.parametrize("digits", range(1, 10))
def test_every_key_survives_being_written_as_a_decimal(digits: int) -> None:
    random = np.random.default_rng(digits)
    keys = random.integers(0, 10**digits, 20_000).astype(np.uint32)
    assert np.array_equal(keys_from_decimals(keys / 10**digits, digits), keys)
    texts = np.array([f"{int(key) / 10**digits:.{digits}f}" for key in keys])
    for same in (texts, texts.astype("S"), texts.astype(object), np.char.replace(texts, ".", ",")):
        assert np.array_equal(keys_from_decimals(same, digits), keys)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0", 0),
        ("1", 0),
        ("1.0", 0),
        ("1.00000000000000", 0),
        ("0.12345678", 12345678),
        (".5", 50000000),
        ("0,5", 50000000),
        ("000.5", 50000000),
        ("+0.5", 50000000),
        (" 0.5 ", 50000000),
        ("0.5000000000000000000000000000000000", 50000000),
        ("1e-05", 1000),
        ("1E-5", 1000),
        ("2.5e-1", 25000000),
        ("0.30000000000000004", 30000000),
        ("-0.0", 0),
    ],
)
def test_ways_to_write_a_key(text: str, key: int) -> None:
    assert keys_from_decimals(np.array([text]), 8).tolist() == [key]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        ".",
        ",",
        "-0.1",
        "1.1",
        "2",
        "12345678",
        "0.123456785",
        "0.1.2",
        "0. 5",
        "0.5x",
        "0_0.5",
        "nan",
        "inf",
        "1e999999999999",
        "1e400000",
        "\u0660.\u0665",
        "0.5\0" + "5",
        "None",
    ],
)
def test_text_that_is_no_key_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(InputError, match="1 row has no key between 0 and 1") as caught:
        keys_from_decimals(np.array(["0.5", text, "0.25"]), 8)
    assert "in row 2." in str(caught.value)
    if len(text.strip()) > 2:
        assert text not in str(caught.value)


def test_the_message_names_place_row_and_remedy() -> None:
    values = np.array([0.5, 0.123456789, 0.25, np.nan, 1.5])
    with pytest.raises(InputError) as caught:
        keys_from_decimals(values, 8, first_row=1001, where="persons.csv, column rkey")
    message = str(caught.value)
    assert message.startswith("persons.csv, column rkey: 3 rows have no key")
    assert "in row 1002." in message
    assert "derive keys" in message


@pytest.mark.parametrize("digits", [-1, 0, 10, 15, 20])
def test_more_digits_than_fit_are_refused_with_the_remedy(digits: int) -> None:
    with pytest.raises(SpecError, match=r"1 to 9 digits.*Shorten.*derive keys"):
        keys_from_decimals(np.array([0.5]), digits)


def test_rows_without_a_key_are_marked_for_those_who_report_them() -> None:
    for values in (np.array([0.5, 0.125, 1.0, np.nan]), np.array(["0.5", "0.125", "1", ""])):
        keys, is_key = parse_decimal_keys(values, 2)
        assert keys.tolist() == [50, 0, 0, 0]
        assert is_key.tolist() == [True, False, True, False]


def test_single_precision_is_refused() -> None:
    with pytest.raises(InputError, match="float32 cannot be read exactly"):
        keys_from_decimals(np.array([0.5], dtype=np.float32), 8)


def test_whole_numbers_zero_and_one_are_the_key_zero() -> None:
    assert keys_from_decimals(np.array([0, 1, 1]), 3).tolist() == [0, 0, 0]


def test_no_keys_are_no_keys() -> None:
    assert keys_from_decimals(np.array([], dtype=np.float64), 8).tolist() == []
    assert keys_from_decimals(np.array([], dtype=np.str_), 8).tolist() == []


def test_integer_keys_do_not_depend_on_the_order_as_float_keys_do() -> None:
    values = np.array([0.1, 0.2, 0.7])
    forward = ((values[0] + values[1]) + values[2]) % 1
    backward = ((values[2] + values[1]) + values[0]) % 1
    assert {forward, backward} == {0.0, 0.9999999999999999}
    keys = keys_from_decimals(values, 1)
    assert int(keys.sum()) % 10 == int(keys[::-1].sum()) % 10 == 0
