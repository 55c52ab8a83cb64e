"""The keys with which the noise of a sum is drawn: one for each of its largest contributions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.keys.siphash import key_words, siphash_words
from sdcensus.kernels.perturbation.lookup import frozen

UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]

#: How keys are made: by moving decimal digits, by a hash of the cell key, or of it and of what the
#: cell asks.
ROTATED, HASHED, DEFINED = 0, 1, 2

_10, _32 = np.uint64(10), np.uint64(32)


class SumKeys(NamedTuple):
    """How keys are made of the key and the definition of a cell.

    Attributes:
        rule: ``ROTATED``, ``HASHED`` or ``DEFINED``.
        same_key: Whether the first key is that with which the count of the cell is looked up.
        first, second: The key of the hash.
        amount: What the amount adds to the definition of a cell.
        modulus: How many keys there are.
    """

    rule: int
    same_key: bool
    first: np.uint64
    second: np.uint64
    amount: np.uint64
    modulus: np.uint64

    @classmethod
    def build(
        cls,
        rule: int,
        modulus: int,
        *,
        hash_key: bytes = bytes(16),
        same_key: bool = False,
        amount: int = 0,
    ) -> SumKeys:
        """Take a hash key of 16 bytes, for rules that hash."""
        words = key_words(hash_key)
        return cls(rule, same_key, *words, np.uint64(amount), np.uint64(modulus))


def sum_keys(
    key: UInt32, keys: SumKeys, *, place: int = 0, definition: UInt64 | None = None
) -> UInt32:
    """The keys that are looked up for one of the largest contributions, for the audit.

    Examples:
        >>> decimal = SumKeys.build(ROTATED, 10**3)
        >>> sum_keys(np.array([123], dtype=np.uint32), decimal)
        array([231], dtype=uint32)
        >>> sum_keys(np.array([123], dtype=np.uint32), decimal, place=1)
        array([312], dtype=uint32)
    """
    cell_keys = np.ascontiguousarray(key).reshape(-1)
    out = np.empty(cell_keys.size, dtype=np.uint32)
    meanings = flat(definition, cell_keys.size, np.uint64)
    _keys(frozen(cell_keys), frozen(meanings), place, keys, out)
    return out.reshape(key.shape)


def flat(array: npt.NDArray[Any] | None, cells: int, kind: type[Any]) -> npt.NDArray[Any]:
    """One value for each cell in a row; zeros where there are none."""
    if array is None:
        return np.zeros(cells, dtype=kind)
    return np.ascontiguousarray(array).reshape(-1)


@compiled
def drawn(key: np.uint64, definition: np.uint64, place: int, keys: SumKeys) -> np.uint64:
    """The draw for one of the largest contributions: its upper half is looked up."""
    if keys.rule == 0:
        part = keys.modulus // _10
        turns = place if keys.same_key else place + 1
        for _ in range(turns):
            key = (key % part) * _10 + key // part
        return key << _32
    if keys.same_key and place == 0:
        if keys.rule == 2:
            return siphash_words(keys.first, keys.second, (key, definition))  # type: ignore[arg-type]
        return siphash_words(keys.first, keys.second, (key,))  # type: ignore[arg-type]
    number = np.uint64(place + 1)
    if keys.rule == 2:
        own = definition + keys.amount
        return siphash_words(keys.first, keys.second, (key, own, number))  # type: ignore[arg-type]
    return siphash_words(keys.first, keys.second, (key, number))  # type: ignore[arg-type]


@compiled
def _keys(key: UInt32, definition: UInt64, place: int, keys: SumKeys, out: UInt32) -> None:
    for cell in range(key.size):
        out[cell] = drawn(np.uint64(key[cell]), definition[cell], place, keys) >> _32
