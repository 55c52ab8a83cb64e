from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels.keys.record_keys import (
    ENTITY_TAGS,
    record_digests,
    record_keys,
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
