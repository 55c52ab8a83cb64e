from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SecretError
from sdcensus.kernels.keys.siphash import key_words, siphash24, siphash_words
from tests.kernels.keys.plain_siphash import siphash24_bytes

WORD = st.integers(0, 2**64 - 1)


def test_the_check_value_of_the_algorithm() -> None:
    assert siphash24_bytes(bytes(range(16)), bytes(range(15))) == 0xA129CA6149BE45E5


def test_look_ups_of_the_specification() -> None:
    key = bytes.fromhex("f36e418740ae2a6b26523bdc600882a0")
    words = np.array([[0], [1888058353], [4294967295]], dtype=np.uint64)
    top = siphash24(key, words) >> np.uint64(32)
    assert top.tolist() == [3771097146, 2909567951, 3572026319]


@settings(deadline=None)  # the first call compiles
@given(
    key=st.binary(min_size=16, max_size=16),
    rows=st.integers(0, 40).flatmap(
        lambda width: st.lists(st.lists(WORD, min_size=width, max_size=width), max_size=5).map(
            lambda rows: np.array(rows, dtype=np.uint64).reshape(len(rows), width)
        )
    ),
)
def test_compiled_and_plain_hashes_agree(key: bytes, rows: npt.NDArray[np.uint64]) -> None:
    expected = [siphash24_bytes(key, row.astype("<u8").tobytes()) for row in rows]
    assert siphash24(key, rows).tolist() == expected
    assert siphash24(key, np.asfortranarray(rows)).tolist() == expected
    first, second = key_words(key)
    assert [int(siphash_words(first, second, row)) for row in rows] == expected


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_messages_that_differ_hash_differently(one: bytes, other: bytes) -> None:
    key = bytes(range(16))
    assert (siphash24_bytes(key, one) == siphash24_bytes(key, other)) is (one == other)


@pytest.mark.parametrize("length", [0, 15, 17, 32])
def test_keys_of_another_length_are_refused(length: int) -> None:
    with pytest.raises(SecretError, match="16 bytes"):
        siphash24(bytes(length), np.zeros((1, 1), dtype=np.uint64))


@pytest.mark.parametrize("words", [np.zeros(3, dtype=np.uint64), np.zeros((3, 1), dtype=np.int64)])
def test_words_of_another_kind_are_refused(words: npt.NDArray[Any]) -> None:
    with pytest.raises(TypeError, match="two-dimensional array of uint64"):
        siphash24(bytes(16), words)
