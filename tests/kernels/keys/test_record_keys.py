from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdcensus.errors import InputError, SecretError, SpecError
from sdcensus.kernels.keys.record_keys import (
    ENTITY_TAGS,
    hmac_record_key,
    keys_from_decimals,
    parse_decimal_keys,
    record_digests,
    record_keys,
    siphash_record_key,
)

SECRET = bytes(range(32))
PERSONS = [b"TT|2011|0412|0007|01", b"TT|2011|0412|0007|02", b"TT|2011|0412|0007|03"]
HOUSEHOLD = b"TT|2011|0412|0007"


def as_column(
    ids: list[bytes], kind: type[np.int32] | type[np.int64] = np.int32
) -> tuple[npt.NDArray[Any], npt.NDArray[np.uint8]]:
    offsets = np.zeros(len(ids) + 1, dtype=kind)
    offsets[1:] = np.cumsum([len(one) for one in ids])
    return offsets, np.frombuffer(b"".join(ids), dtype=np.uint8)


def digests_of(ids: list[bytes], secret: bytes = SECRET, tag: str = "P") -> list[int]:
    offsets, data = as_column(ids)
    return record_digests(offsets, data, secret=secret, entity_tag=tag).tolist()  # type: ignore[no-any-return]


def defined_digest(one: bytes, secret: bytes, tag: str) -> int:
    person = b"rkey1" + tag.encode()
    return int.from_bytes(
        hashlib.blake2b(one, key=secret, person=person, digest_size=8).digest(), "big"
    )


# Digests -------------------------------------------------------------------------------------


def test_record_keys_of_the_specification() -> None:
    persons = record_keys(np.array(digests_of(PERSONS), dtype=np.uint64))
    assert persons.tolist() == [4201352281, 1746783945, 234889423]
    household = record_keys(np.array(digests_of([HOUSEHOLD], tag="H"), dtype=np.uint64))
    assert household.tolist() == [378859623]
    assert int(persons.sum(dtype=np.uint64)) == 6183025649
    assert int(np.bitwise_xor.reduce(persons)) == 2625004127


@settings(deadline=None)  # the first call compiles
@given(
    ids=st.lists(st.binary(max_size=400), max_size=12),
    secret=st.binary(min_size=16, max_size=64),
    tag=st.sampled_from(ENTITY_TAGS),
    kind=st.sampled_from([np.int32, np.int64]),
)
def test_digests_are_keyed_blake2b(
    ids: list[bytes], secret: bytes, tag: str, kind: type[np.int32] | type[np.int64]
) -> None:
    offsets, data = as_column(ids, kind)
    digests = record_digests(offsets, data, secret=secret, entity_tag=tag)
    assert digests.dtype == np.uint64
    assert digests.tolist() == [defined_digest(one, secret, tag) for one in ids]


@pytest.mark.parametrize("secret_length", [16, 31, 32, 63, 64])
def test_every_length_of_id_is_digested_rightly(secret_length: int) -> None:
    random = np.random.default_rng(20260401)
    secret = random.bytes(secret_length)
    ids = [random.bytes(length) for length in range(401)]
    assert digests_of(ids, secret, "D") == [defined_digest(one, secret, "D") for one in ids]


def test_slices_and_threads_give_the_digests_of_the_whole() -> None:
    ids = [f"ID2021|{number:06d}".encode() for number in range(5000)]
    offsets, data = as_column(ids)
    whole = record_digests(offsets, data, secret=SECRET, entity_tag="P")
    slices = [offsets[at : at + 1001] for at in range(0, 5000, 1000)]
    with ThreadPoolExecutor(2) as threads:
        parts = list(
            threads.map(
                lambda one: record_digests(one, data, secret=SECRET, entity_tag="P"), slices
            )
        )
    assert np.array_equal(np.concatenate(parts), whole)
    assert whole[4321] == defined_digest(ids[4321], SECRET, "P")


def test_writable_read_only_and_strided_arrays_give_the_same_digests() -> None:
    offsets, data = as_column(PERSONS)
    spread = np.zeros(2 * len(data), dtype=np.uint8)
    spread[::2] = data
    for same in (data, data.copy(), spread[::2]):
        digests = record_digests(offsets, same, secret=SECRET, entity_tag="P")
        assert digests.tolist() == digests_of(PERSONS)


def test_digests_depend_on_identity_entity_and_secret_only() -> None:
    assert digests_of(PERSONS[::-1]) == digests_of(PERSONS)[::-1]
    unrelated = {
        digests_of([HOUSEHOLD], secret=secret, tag=tag)[0]
        for tag in ENTITY_TAGS
        for secret in (SECRET, SECRET[::-1])
    }
    assert len(unrelated) == 10


@pytest.mark.parametrize("offsets", [[0, 4], [-1, 2], [2, 1], [0, 1, 4], [0, 3, 1]])
def test_offsets_outside_the_data_are_refused(offsets: list[int]) -> None:
    with pytest.raises(ValueError, match="do not lie inside the data"):
        record_digests(
            np.array(offsets, dtype=np.int64),
            np.zeros(3, dtype=np.uint8),
            secret=SECRET,
            entity_tag="P",
        )


@pytest.mark.parametrize("offsets", [np.zeros(0, dtype=np.int32), np.zeros(2, dtype=np.float64)])
def test_offsets_of_another_kind_are_refused(offsets: npt.NDArray[Any]) -> None:
    with pytest.raises(TypeError, match="int32 or int64"):
        record_digests(offsets, np.zeros(3, dtype=np.uint8), secret=SECRET, entity_tag="P")


@pytest.mark.parametrize("length", [0, 15, 65])
def test_secrets_of_another_length_are_refused(length: int) -> None:
    with pytest.raises(SecretError, match="16 to 64 bytes"):
        digests_of(PERSONS, secret=b"\x5a" * length)


@pytest.mark.parametrize("tag", ["", "X", "PP", "p"])
def test_entities_that_do_not_exist_are_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="P, F, H, D, B"):
        digests_of(PERSONS, tag=tag)


# Keys ----------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.integers(1, 32))
def test_powers_of_two_take_the_top_bits(digests: list[int], bits: int) -> None:
    keys = record_keys(np.array(digests, dtype=np.uint64), modulus=2**bits)
    assert keys.dtype == np.uint32
    assert keys.tolist() == [digest >> (64 - bits) for digest in digests]


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1), st.integers(2, 2**32))
def test_any_modulus_scales_the_key(digests: list[int], modulus: int) -> None:
    keys = record_keys(np.array(digests, dtype=np.uint64), modulus=modulus)
    assert keys.tolist() == [(digest >> 32) * modulus >> 32 for digest in digests]
    assert int(keys.max()) < modulus


@pytest.mark.parametrize("modulus", [-1, 0, 1, 2**32 + 1, 10**15])
def test_a_modulus_out_of_range_is_refused(modulus: int) -> None:
    with pytest.raises(SpecError, match=r"between 2 and 2\*\*32"):
        record_keys(np.zeros(1, dtype=np.uint64), modulus=modulus)


@pytest.mark.parametrize("modulus", [2**32, 10**8, 4096])
def test_keys_are_uniform_and_a_skewed_draw_is_not(modulus: int) -> None:
    count, classes = 200_000, 100
    ids = [b"ID2021|%06d" % number for number in range(count)]
    keys = record_keys(np.array(digests_of(ids), dtype=np.uint64), modulus=modulus)

    def distance(shares: npt.NDArray[np.float64]) -> float:
        observed = np.bincount((shares * classes).astype(np.int64), minlength=classes)
        return float(((observed - count / classes) ** 2).sum() / (count / classes))

    # 99 degrees of freedom; 4096 keys do not fill 100 classes evenly, which adds a little.
    shares = (keys.astype(np.float64) + 0.5) / modulus
    assert distance(shares) < 200
    assert distance(shares**1.03) > 200


def test_hmac_keys_of_the_specification() -> None:
    keys = [hmac_record_key(one, secret=SECRET, entity_tag="P") for one in PERSONS]
    assert keys == [917695416, 1021243348, 831684774]
    assert hmac_record_key(HOUSEHOLD, secret=SECRET, entity_tag="H") == 1154516089


def test_siphash_keys_keep_entities_apart() -> None:
    secret = SECRET[:16]
    keys = {siphash_record_key(HOUSEHOLD, secret=secret, entity_tag=tag) for tag in ENTITY_TAGS}
    assert len(keys) == 5
    assert all(0 <= key < 2**32 for key in keys)
    wide = siphash_record_key(HOUSEHOLD, secret=secret, entity_tag="H", bits=64)
    assert wide >> 56 == siphash_record_key(HOUSEHOLD, secret=secret, entity_tag="H", bits=8)


# Decimal keys --------------------------------------------------------------------------------


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
