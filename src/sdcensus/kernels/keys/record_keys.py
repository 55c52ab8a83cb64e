"""Record keys: digests of identities, and keys from digests.

The digest of a record is the keyed BLAKE2b of its canonical identity; its record key is the top
of the digest. BLAKE2b is written out here, because one call of a library for each of millions of
short identities costs several times the hashing itself, and holds the lock of the interpreter.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SecretError, SpecError
from sdcensus.kernels._compile import compiled

UInt8 = npt.NDArray[np.uint8]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
_Word = np.uint64
_Words: TypeAlias = tuple[
    _Word, _Word, _Word, _Word, _Word, _Word, _Word, _Word,
    _Word, _Word, _Word, _Word, _Word, _Word, _Word, _Word,
]  # fmt: skip

#: Version of the derivation; another one gives every record another key.
DERIVATION = "rkey1"
#: Person, family, household, dwelling, building.
ENTITY_TAGS = ("P", "F", "H", "D", "B")
SHORTEST_SECRET, LONGEST_SECRET = 16, 64

_BLOCK = 128
_INITIAL = np.array(
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    dtype=np.uint64,
)
# The order in which each round takes the words of a block (RFC 7693, section 2.7).
_ORDER = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    dtype=np.uint8,
)
# Compiled code that mixes a uint64 with a plain integer would go on in floats.
_0, _1, _3, _8, _16, _24 = (np.uint64(number) for number in (0, 1, 3, 8, 16, 24))
_32, _40, _48, _63, _128 = (np.uint64(number) for number in (32, 40, 48, 63, 128))
_BYTE, _ALL = np.uint64(0xFF), np.uint64(0xFFFFFFFFFFFFFFFF)


def record_digests(
    offsets: npt.NDArray[np.int32] | npt.NDArray[np.int64],
    data: UInt8,
    *,
    secret: bytes,
    entity_tag: str,
) -> UInt64:
    """Digest each canonical record id with the office secret.

    An id of up to 128 bytes costs one compression: the block that holds the secret is worked in
    once for all of them. The lock of the interpreter is released, so several threads may each
    take a slice of ``offsets``.

    Args:
        offsets: Where each id starts in ``data``, and at last where the last one ends (as in a
            text column of Arrow, which may be a slice).
        data: The UTF-8 bytes of the ids, one behind the other.
        secret: 16 to 64 bytes.
        entity_tag: ``P``, ``F``, ``H``, ``D`` or ``B``: ids of different entities are unrelated.

    Examples:
        >>> import hashlib
        >>> text = np.frombuffer(b"0412|010412|02", dtype=np.uint8)
        >>> places = np.array([0, 7, 14], dtype=np.int32)
        >>> digests = record_digests(places, text, secret=bytes(range(32)), entity_tag="P")
        >>> [int.from_bytes(hashlib.blake2b(
        ...     one, key=bytes(range(32)), person=b"rkey1P", digest_size=8).digest(), "big")
        ...     for one in (b"0412|01", b"0412|02")] == digests.tolist()
        True
    """
    if offsets.ndim != 1 or not len(offsets) or offsets.dtype not in (np.int32, np.int64):
        raise TypeError("Offsets are a non-empty one-dimensional array of int32 or int64.")
    if data.ndim != 1 or data.dtype != np.uint8:
        raise TypeError("Ids are a one-dimensional array of bytes (uint8).")
    result = np.empty(len(offsets) - 1, dtype=np.uint64)
    start, key_block = _parameters(secret, entity_tag)
    wrong = _digest_all(read_only(offsets), read_only(data), start, key_block, result)
    if wrong >= 0:
        raise ValueError(f"The offsets of id {wrong} do not lie inside the data.")
    return result


def record_keys(digests: UInt64, *, modulus: int = 1 << 32) -> UInt32:
    """Record keys below ``modulus``: the top 32 bits of the digests, scaled down.

    For a modulus of ``2**k`` these are the top k bits. For another modulus the keys cannot be
    perfectly uniform; the probability of any interval of keys is exact to ``2**-32``.

    Examples:
        >>> digest = np.array([0xFA6B5F1900000000], dtype=np.uint64)
        >>> [int(record_keys(digest, modulus=m)[0]) for m in (2**32, 256, 10**8)]
        [4201340697, 250, 97820085]
    """
    if not 2 <= modulus <= 1 << 32:
        raise SpecError("The modulus of record keys must lie between 2 and 2**32.")
    return (((digests >> _32) * np.uint64(modulus)) >> _32).astype(np.uint32)


def _parameters(secret: bytes, entity_tag: str) -> tuple[UInt64, UInt64]:
    """The state of BLAKE2b before the first block, and the block that holds the secret."""
    if not SHORTEST_SECRET <= len(secret) <= LONGEST_SECRET:
        raise SecretError(f"A secret has {SHORTEST_SECRET} to {LONGEST_SECRET} bytes.")
    parameters = bytes([8, len(secret), 1, 1]).ljust(48, b"\0") + _person(entity_tag)
    start = _INITIAL ^ np.frombuffer(parameters, dtype="<u8").astype(np.uint64)
    block = np.frombuffer(secret.ljust(_BLOCK, b"\0"), dtype="<u8").astype(np.uint64)
    return start, block


def _person(entity_tag: str) -> bytes:
    return (DERIVATION + _checked_tag(entity_tag)).encode("ascii").ljust(16, b"\0")


def _checked_tag(entity_tag: str) -> str:
    if entity_tag not in ENTITY_TAGS:
        raise ValueError(f"An entity tag is one of {', '.join(ENTITY_TAGS)}.")
    return entity_tag


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same memory; one compiled version then serves read-only and other arrays."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


@compiled
def _digest_all(
    offsets: npt.NDArray[Any], data: UInt8, start: UInt64, key_block: UInt64, result: UInt64
) -> int:
    """Digest every id; the first id that does not lie inside the data, or -1."""
    keyed, state = start.copy(), np.empty_like(start)
    block = np.empty_like(key_block)
    _compress(keyed, key_block, _128, _0)
    alone = start.copy()
    _compress(alone, key_block, _128, _ALL)
    for row in range(len(result)):
        if not 0 <= offsets[row] <= offsets[row + 1] <= len(data):
            return row
        # Unsigned places spare the compiled loops the check for negative ones.
        begin, end = np.uint64(offsets[row]), np.uint64(offsets[row + 1])
        if begin == end:
            result[row] = _big_endian(alone[0])
            continue
        # Loops, because assigning to slices takes seconds to compile.
        for word in range(8):
            state[word] = keyed[word]
        done = begin
        while end - done > _128:
            _fill(block, data, done, done + _128)
            done += _128
            _compress(state, block, _128 + (done - begin), _0)
        _fill(block, data, done, end)
        _compress(state, block, _128 + (end - begin), _ALL)
        result[row] = _big_endian(state[0])
    return -1


@compiled
def _fill(block: UInt64, data: UInt8, begin: np.uint64, end: np.uint64) -> None:
    """Words of a block from at most 128 bytes, the rest zero."""
    for word in range(16):
        block[word] = _0
    whole = (end - begin) >> _3
    place = begin
    for word in range(whole):
        value = _0
        for byte in range(_8):
            value |= np.uint64(data[place + np.uint64(byte)]) << (np.uint64(byte) << _3)
        block[word] = value
        place += _8
    shift, value = _0, _0
    while place < end:
        value |= np.uint64(data[place]) << shift
        shift += _8
        place += _1
    if shift:
        block[whole] = value


@compiled
def _compress(state: UInt64, block: UInt64, counter: np.uint64, last: np.uint64) -> None:
    """Work one block into the state (RFC 7693, section 3.2); all bits of ``last`` end it."""
    v: _Words = (
        state[0], state[1], state[2], state[3], state[4], state[5], state[6], state[7],
        _INITIAL[0], _INITIAL[1], _INITIAL[2], _INITIAL[3],
        _INITIAL[4] ^ counter, _INITIAL[5], _INITIAL[6] ^ last, _INITIAL[7],
    )  # fmt: skip
    for number in range(12):
        v = _round(v, _taken(block, _ORDER[number]))
    # A loop over the words of a tuple would move it from registers to memory.
    state[0] ^= v[0] ^ v[8]
    state[1] ^= v[1] ^ v[9]
    state[2] ^= v[2] ^ v[10]
    state[3] ^= v[3] ^ v[11]
    state[4] ^= v[4] ^ v[12]
    state[5] ^= v[5] ^ v[13]
    state[6] ^= v[6] ^ v[14]
    state[7] ^= v[7] ^ v[15]


@compiled
def _taken(block: UInt64, order: UInt8) -> _Words:
    return (
        block[order[0]], block[order[1]], block[order[2]], block[order[3]],
        block[order[4]], block[order[5]], block[order[6]], block[order[7]],
        block[order[8]], block[order[9]], block[order[10]], block[order[11]],
        block[order[12]], block[order[13]], block[order[14]], block[order[15]],
    )  # fmt: skip


@compiled
def _round(v: _Words, m: _Words) -> _Words:
    a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3 = v
    a0, b0, c0, d0 = _mix(a0, b0, c0, d0, m[0], m[1])
    a1, b1, c1, d1 = _mix(a1, b1, c1, d1, m[2], m[3])
    a2, b2, c2, d2 = _mix(a2, b2, c2, d2, m[4], m[5])
    a3, b3, c3, d3 = _mix(a3, b3, c3, d3, m[6], m[7])
    a0, b1, c2, d3 = _mix(a0, b1, c2, d3, m[8], m[9])
    a1, b2, c3, d0 = _mix(a1, b2, c3, d0, m[10], m[11])
    a2, b3, c0, d1 = _mix(a2, b3, c0, d1, m[12], m[13])
    a3, b0, c1, d2 = _mix(a3, b0, c1, d2, m[14], m[15])
    return a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3


@compiled
def _mix(
    a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64, x: np.uint64, y: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    a = a + b + x
    d = d ^ a
    d = (d >> _32) | (d << _32)
    c = c + d
    b = b ^ c
    b = (b >> _24) | (b << _40)
    a = a + b + y
    d = d ^ a
    d = (d >> _16) | (d << _48)
    c = c + d
    b = b ^ c
    b = (b >> _63) | (b << _1)
    return a, b, c, d


@compiled
def _big_endian(word: np.uint64) -> np.uint64:
    result = _0
    for _ in range(8):
        result = (result << _8) | (word & _BYTE)
        word >>= _8
    return result
