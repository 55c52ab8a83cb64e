"""Looking cells up in a perturbation table: a count and a key in, what is published out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels._compile import compiled
from sdcensus.kernels.keys.siphash import key_words, siphash_words

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]

#: How the key that is looked up is made from the cell key, and from the definition of the cell.
PLAIN, FOLDED, HASHED, DEFINED = 0, 1, 2, 3

#: Each row remembers for so many equal parts of the keys where to start looking.
_BUCKETS = 1 << 8
#: Cells per piece of work of a thread.
PIECE = 1 << 17
_TOP = np.uint64(32)
_NO_KEY = (np.uint64(0), np.uint64(0))
_NO_DEFINITION = np.zeros(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LookupRows:
    """The rows of a perturbation table as flat arrays for the kernel.

    Attributes:
        uppers: For each interval the first key behind it; row by row.
        values: What each interval adds.
        guide: For each row and bucket of keys, the first interval that may hold them.
        shift: How many low bits of a key its bucket forgets.
        modulus: How many keys there are.
        start, period, anchor: Which row serves which count.
        zeros_stay: Whether row 0 adds nothing.
    """

    uppers: npt.NDArray[np.uint64]
    values: Int64
    guide: npt.NDArray[np.int32]
    shift: int
    modulus: int
    start: int
    period: int
    anchor: int
    zeros_stay: bool

    @classmethod
    def build(
        cls,
        rows: Sequence[tuple[Sequence[int], Sequence[int]]],
        modulus: int,
        *,
        start: int,
        period: int = 1,
        anchor: int | None = None,
    ) -> LookupRows:
        """Take for each row the deviations and widths of its intervals."""
        bits = (modulus - 1).bit_length()
        shift = max(0, bits - (_BUCKETS.bit_length() - 1))
        buckets = ((modulus - 1) >> shift) + 1
        lows = np.arange(buckets, dtype=np.uint64) << np.uint64(shift)
        uppers: list[int] = []
        values: list[int] = []
        guide = np.empty((len(rows), buckets), dtype=np.int32)
        for at, (deviations, widths) in enumerate(rows):
            own = np.array(list(accumulate(widths)), dtype=np.uint64)
            guide[at] = len(uppers) + np.searchsorted(own, lows, side="right")
            uppers += own.tolist()
            values += deviations
        arrays = np.array(uppers, dtype=np.uint64), np.array(values, dtype=np.int64), guide
        for array in arrays:
            array.flags.writeable = False
        zeros_stay = not any(rows[0][0])
        first = start if anchor is None else anchor
        return cls(*arrays, shift, modulus, start, period, first, zeros_stay)


def publish(
    count: Int64,
    key: UInt32,
    rows: LookupRows,
    *,
    rule: int = PLAIN,
    hash_key: bytes | None = None,
    definition: UInt64 | None = None,
    threads: int | None = None,
) -> Int64:
    """The published value of each cell: its count and what its row adds for its key.

    Args:
        count: True counts, of any shape.
        key: Cell keys, of the same shape.
        rows: The perturbation table.
        rule: ``PLAIN``, ``FOLDED`` (exclusive or of the four bytes), ``HASHED``: the upper half of
            SipHash-2-4 of the cell key, or ``DEFINED``: of the cell key and the definition.
        hash_key: 16 bytes, for ``HASHED`` and ``DEFINED``.
        definition: The definition of each cell, of the same shape, for ``DEFINED``.
        threads: How many threads share the work; as many as there are processors by default.
    """
    out = np.empty(count.shape, dtype=np.int64)
    counts, keys = np.ascontiguousarray(count).reshape(-1), np.ascontiguousarray(key).reshape(-1)
    flat = out.reshape(-1)
    first, second = _NO_KEY if hash_key is None else key_words(hash_key)
    meanings = flat_definition(rule, count.shape, definition)

    def work(begin: int) -> None:
        piece = slice(begin, begin + PIECE)
        sound = _publish(
            frozen(counts[piece]),
            frozen(keys[piece]),
            frozen(meanings[piece]),
            rows.uppers,
            rows.values,
            rows.guide,
            np.uint64(rows.shift),
            np.uint64(rows.modulus),
            rows.start,
            rows.period,
            rows.anchor,
            rows.zeros_stay,
            rule,
            first,
            second,
            flat[piece],
        )
        if not sound:
            raise SpecError(
                f"A cell has a key that is not below {rows.modulus}, or a count below 0. Keys and"
                " perturbation table do not fit each other, or the table is damaged."
            )

    in_pieces(work, flat.size, threads)
    return out


def effective_keys(
    key: UInt32,
    *,
    rule: int = PLAIN,
    hash_key: bytes | None = None,
    definition: UInt64 | None = None,
) -> UInt32:
    """The keys that ``publish`` really looks up."""
    if rule == PLAIN:
        return key
    first, second = _NO_KEY if hash_key is None else key_words(hash_key)
    out = np.empty(key.shape, dtype=np.uint32)
    keys = frozen(np.ascontiguousarray(key).reshape(-1))
    meanings = frozen(flat_definition(rule, key.shape, definition))
    _effective(keys, meanings, rule, first, second, out.reshape(-1))
    return out


def flat_definition(rule: int, shape: tuple[int, ...], definition: UInt64 | None) -> UInt64:
    """The definitions of cells in one row; none where the rule does not look at them."""
    if rule != DEFINED:
        return _NO_DEFINITION
    if definition is None or definition.shape != shape:
        raise TypeError("The look-up by definition needs the definition of every cell.")
    return np.ascontiguousarray(definition).reshape(-1)


def in_pieces(work: Any, size: int, threads: int | None = None) -> None:
    """Call ``work`` with the start of every piece of ``size`` cells, by several threads."""
    begins = range(0, size, PIECE)
    workers = min(len(begins), threads or os.cpu_count() or 1)
    if workers <= 1:
        for begin in begins:
            work(begin)
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, begins))


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A read-only view: one compiled version serves read-only and other arrays."""
    view = array.view()
    view.flags.writeable = False
    return view


@compiled
def _looked_up(
    cell: int, key: UInt32, definition: UInt64, rule: int, first: np.uint64, second: np.uint64
) -> np.uint64:
    wide = np.uint64(key[cell])
    if rule == 3:
        return siphash_words(first, second, (wide, definition[cell])) >> _TOP  # type: ignore[arg-type]
    if rule == 2:
        return siphash_words(first, second, (wide,)) >> _TOP  # type: ignore[arg-type]
    if rule == 1:
        half = wide ^ (wide >> np.uint64(16))
        return (half ^ (half >> np.uint64(8))) & np.uint64(0xFF)
    return wide


@compiled
def _publish(
    count: Int64,
    key: UInt32,
    definition: UInt64,
    uppers: npt.NDArray[np.uint64],
    values: Int64,
    guide: npt.NDArray[np.int32],
    shift: np.uint64,
    modulus: np.uint64,
    start: int,
    period: int,
    anchor: int,
    zeros_stay: bool,
    rule: int,
    first: np.uint64,
    second: np.uint64,
    out: Int64,
) -> bool:
    for cell in range(count.size):
        here = count[cell]
        if here == 0 and zeros_stay:
            out[cell] = 0
            continue
        row = here
        if row >= start:
            row = start if period == 1 else start + (here - anchor) % period
        wide = _looked_up(cell, key, definition, rule, first, second)
        # Either would read memory that is not the table's.
        if here < 0 or wide >= modulus:
            return False
        at = guide[row, wide >> shift]
        while wide >= uppers[at]:
            at += 1
        out[cell] = here + values[at]
    return True


@compiled
def _effective(
    key: UInt32,
    definition: UInt64,
    rule: int,
    first: np.uint64,
    second: np.uint64,
    out: UInt32,
) -> None:
    for cell in range(key.size):
        out[cell] = _looked_up(cell, key, definition, rule, first, second)
