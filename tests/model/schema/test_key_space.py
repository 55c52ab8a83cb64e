from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.schema.schema import Combine, KeySpace

PERSONS = np.array([4201352281, 1746783945, 234889423], dtype=np.uint64)
MODULI = st.one_of(st.sampled_from([2**32, 10**9, 10**8, 4096, 256, 2]), st.integers(2, 2**32))


def test_the_cell_of_the_specification() -> None:
    space = KeySpace()
    total = np.array([PERSONS.sum()], dtype=np.uint64)
    assert space.reduce(total).tolist() == [1888058353]
    assert round(space.to_float(1888058353), 10) == 0.4395978416
    either = KeySpace(combine=Combine.XOR)
    assert either.reduce(np.bitwise_xor.reduce(PERSONS, keepdims=True)).tolist() == [2625004127]


def test_the_cell_of_the_handbook() -> None:
    space = KeySpace.from_decimals(1)
    assert space.to_float(space.reduce(np.array([9 + 3 + 6]))).tolist() == [0.8]


@given(MODULI, st.lists(st.integers(0, 2**63 - 1), min_size=1))
def test_keys_are_remainders_in_either_integer_type(modulus: int, sums: list[int]) -> None:
    space = KeySpace(modulus)
    for keys in (
        space.reduce(np.array(sums, dtype=np.int64)),
        space.reduce(np.array(sums, dtype=np.uint64)),
    ):
        assert keys.dtype == np.uint32
        assert keys.tolist() == [one % modulus for one in sums]


@given(MODULI, st.data())
def test_the_key_of_a_union_is_the_sum_of_the_keys(modulus: int, data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.integers(0, modulus - 1), min_size=2, max_size=30))
    cut = data.draw(st.integers(0, len(keys)))
    space = KeySpace(modulus)
    parts = space.reduce(np.array([sum(keys[:cut]), sum(keys[cut:])], dtype=np.uint64))
    whole = space.reduce(np.array([sum(keys)], dtype=np.uint64))
    assert space.reduce(parts.sum(keepdims=True, dtype=np.uint64)).tolist() == whole.tolist()
    # The difference that one record makes is its own key.
    without = space.reduce(np.array([sum(keys[1:])], dtype=np.uint64))
    assert (int(whole[0]) - int(without[0])) % modulus == keys[0]


@given(MODULI, st.data())
def test_fractions_lie_between_0_and_below_1_in_the_order_of_the_keys(
    modulus: int, data: st.DataObject
) -> None:
    key = data.draw(st.integers(1, modulus - 1))
    space = KeySpace(modulus)
    assert 0 <= space.to_float(key - 1) < space.to_float(key) < 1
    assert space.to_float(np.array([key], dtype=np.uint32)).tolist() == [space.to_float(key)]


@pytest.mark.parametrize("sums", [np.zeros(2), np.zeros(2, dtype=np.uint32)])
def test_only_64_bit_integers_are_reduced(sums: npt.NDArray[Any]) -> None:
    with pytest.raises(TypeError, match="64-bit integers"):
        KeySpace().reduce(sums)


@pytest.mark.parametrize("modulus", [-5, 0, 1, 2**32 + 1, 10**10, 10**15])
def test_a_modulus_out_of_range_is_refused_with_the_remedy(modulus: int) -> None:
    with pytest.raises(SpecError, match=r"between 2 and 4294967296.*Shorten.*derive keys"):
        KeySpace(modulus)


@pytest.mark.parametrize("modulus", [10.0, True, "256", None])
def test_a_modulus_that_is_no_whole_number_is_refused(modulus: object) -> None:
    with pytest.raises(SpecError, match="whole number"):
        KeySpace(modulus)  # type: ignore[arg-type]


def test_xor_needs_a_power_of_two() -> None:
    assert KeySpace(4096, Combine.XOR).modulus == 4096
    with pytest.raises(SpecError, match="power of two"):
        KeySpace(10**8, Combine.XOR)


def test_ways_to_combine_are_no_strings() -> None:
    with pytest.raises(SpecError, match=r"Combine\.SUM or Combine\.XOR"):
        KeySpace(256, "xor")  # type: ignore[arg-type]


@pytest.mark.parametrize("digits", range(1, 10))
def test_decimals_with_so_many_digits_have_a_power_of_ten(digits: int) -> None:
    assert KeySpace.from_decimals(digits) == KeySpace(10**digits)


@pytest.mark.parametrize("digits", [-1, 0, 10, 15, True, 2.0])
def test_other_digits_are_refused_with_the_remedy(digits: int) -> None:
    with pytest.raises(SpecError, match=r"1 to 9 digits.*Shorten.*derive keys"):
        KeySpace.from_decimals(digits)


@pytest.mark.parametrize(("modulus", "coarse"), [(256, True), (65535, True), (65536, False)])
def test_few_keys_are_coarse(modulus: int, coarse: bool) -> None:
    assert KeySpace(modulus).coarse is coarse
    assert not KeySpace().coarse


@pytest.mark.parametrize("space", [KeySpace(), KeySpace(10**8), KeySpace(256, Combine.XOR)])
def test_what_is_written_can_be_read(space: KeySpace) -> None:
    assert KeySpace.from_json(json.loads(json.dumps(space.to_json()))) == space


@pytest.mark.parametrize(
    ("document", "error"),
    [
        ({}, SpecError),
        ({"modulus": 256}, SpecError),
        ({"modulus": 256, "combine": "sum", "bits": 8}, SpecError),
        ({"modulus": "256", "combine": "sum"}, SpecError),
        ({"modulus": 256.0, "combine": "sum"}, SpecError),
        ({"modulus": True, "combine": "sum"}, SpecError),
        ({"modulus": 1, "combine": "sum"}, SpecError),
        ({"modulus": 256, "combine": "xors"}, UnknownName),
        ({"modulus": 256, "combine": None}, UnknownName),
        ({"modulus": 256, "combine": ["sum"]}, UnknownName),
    ],
)
def test_damaged_documents_are_refused(document: dict[str, object], error: type[Exception]) -> None:
    with pytest.raises(error):
        KeySpace.from_json(document)


def test_a_key_space_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        KeySpace().modulus = 256  # type: ignore[misc]
