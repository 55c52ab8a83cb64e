"""Combinations of keys of all records of a census, with one key, two keys, and so on."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.uniques.fitting import fitting_cells
from sdcensus.kernels.uniques.numbering import counted, refined
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.uniques import Fit, SampledCells, sampled_cells

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: A bit for each key of a pattern of missing values.
MOST_KEYS = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Combinations(Confidential):
    """The combinations of the first keys of a ladder.

    Attributes:
        numbers: The combination of each record of the census.
        counts: By combination how many there are in the census (row 0) and the file (row 1).
        words: By combination the codes of its keys, packed into words.
        masks: For each key the bits that hold it in the words.
        hidden: By combination a bit for each key that is missing.
        absent: By combination a bit for each key that is not applicable.
    """

    numbers: Int64
    counts: Int64
    words: UInt64
    masks: UInt64
    hidden: UInt64
    absent: UInt64

    def __repr__(self) -> str:
        return "<Combinations: confidential>"

    def places(self, rows: Int64) -> Int64:
        """Where records of the file stand among the combinations that the file holds."""
        place = np.cumsum(self.counts[1] > 0) - 1
        return place[self.numbers[rows]]

    def stated(self, patterns: UInt64) -> UInt64:
        """For each pattern of missing keys the bits of words that hold the others."""
        bits = np.zeros((patterns.size, self.words.shape[1]), dtype=np.uint64)
        for key, mask in enumerate(self.masks):
            bits[(patterns >> np.uint64(key)) & np.uint64(1) == 0] |= mask
        return bits

    def with_key(self, column: KeyColumn, sampled: Mask, missing: MissingValues) -> Combinations:
        """The combinations with one more key."""
        values, not_stated = _values(column, missing)
        step = refined(self.numbers, self.counts.shape[1], values, column.size)
        masks = _with_mask(self.masks, column.size)
        words = np.zeros((step.count, masks.shape[1]), dtype=np.uint64)
        words[:, : self.words.shape[1]] = self.words[step.parents]
        word, shift = _position(masks[-1])
        words[:, word] |= step.codes.astype(np.uint64) << np.uint64(shift)
        bit, nothing = np.uint64(1 << self.masks.shape[0]), np.uint64(0)
        not_applicable = column.is_kind(CodeKind.NOT_APPLICABLE)
        counts = [
            counted(step.numbers, step.count),
            counted(step.numbers, step.count, sampled),
        ]
        return Combinations(
            numbers=step.numbers,
            counts=np.stack(counts),
            words=words,
            masks=masks,
            hidden=self.hidden[step.parents] | np.where(not_stated[step.codes], bit, nothing),
            absent=self.absent[step.parents] | np.where(not_applicable[step.codes], bit, nothing),
        )

    def adjusted(self) -> SampledCells:
        """The combinations that the file holds, with missing values."""
        held = np.flatnonzero(self.counts[1] > 0)
        complete = self.hidden[held] == 0
        counts = self.counts[:, held]
        if complete.all():
            return sampled_cells(counts, complete)
        return sampled_cells(counts, complete, lambda: self._fits(held))

    def _fits(self, held: Int64) -> Iterator[Fit]:
        """By pattern of missing keys the complete combinations that fit."""
        candidates = np.flatnonzero(self.hidden == 0)
        place = np.cumsum(self.counts[1] > 0) - 1
        hidden = self.hidden[held]
        for pattern in np.unique(hidden[hidden > 0]).tolist():
            here = np.flatnonzero(hidden == np.uint64(pattern))
            lowest = pattern & -pattern
            # Before the first missing key nothing is missing: all bits from it on say so.
            both = np.array([pattern, (1 << MOST_KEYS) - lowest], dtype=np.uint64)
            stated, prefix = self.stated(both)
            amounts, pairs = fitting_cells(
                self.words,
                self.absent,
                candidates,
                held[here],
                stated,
                prefix,
                pattern,
                self.counts,
            )
            yield Fit(here, amounts, place[pairs[0]], here[pairs[1]])


def steps_of(
    columns: Sequence[KeyColumn], sampled: Mask, missing: MissingValues
) -> Iterator[Combinations]:
    """The combinations of the first key, the first two, and so on."""
    _check(columns, sampled)
    step = _nothing(sampled)
    for column in columns:
        step = step.with_key(column, sampled, missing)
        yield step


def combinations(
    columns: Sequence[KeyColumn], sampled: Mask, missing: MissingValues
) -> Combinations:
    """The combinations of all keys; without any, all records are alike."""
    *_, last = itertools.chain([_nothing(sampled)], steps_of(columns, sampled, missing))
    return last


def without_each(
    columns: Sequence[KeyColumn], sampled: Mask, missing: MissingValues
) -> Iterator[Combinations]:
    """The combinations of all keys but the first, all but the second, and so on.

    Halves of the keys are taken together: n keys are numbered n log n times, not n times n.
    """
    _check(columns, sampled)

    def left_out(step: Combinations, keys: Sequence[KeyColumn]) -> Iterator[Combinations]:
        if len(keys) == 1:
            yield step
            return
        halves = (keys[: len(keys) // 2], keys[len(keys) // 2 :])
        for half, others in (halves, halves[::-1]):
            finer = step
            for column in others:
                finer = finer.with_key(column, sampled, missing)
            yield from left_out(finer, half)

    if columns:
        yield from left_out(_nothing(sampled), columns)


def _nothing(sampled: Mask) -> Combinations:
    """No key is known: all records are alike."""
    size = min(sampled.size, 1)
    hidden, absent = np.zeros((2, size), dtype=np.uint64)
    return Combinations(
        numbers=np.zeros(sampled.size, dtype=np.int64),
        counts=np.array([[sampled.size], [np.count_nonzero(sampled)]])[:, :size],
        words=np.zeros((size, 1), dtype=np.uint64),
        masks=np.zeros((0, 1), dtype=np.uint64),
        hidden=hidden,
        absent=absent,
    )


def _values(column: KeyColumn, missing: MissingValues) -> tuple[Integers, Mask]:
    """The codes of a key, and which of them are missing: one code where they may be anything."""
    not_stated = column.is_kind(CodeKind.NOT_STATED)
    if missing is MissingValues.CATEGORY:
        return column.values, np.zeros_like(not_stated)
    codes = np.flatnonzero(not_stated)
    if codes.size < 2:
        return column.values, not_stated
    together = np.arange(column.size, dtype=column.values.dtype)
    together[codes] = codes[0]
    return together[column.values], not_stated


def _with_mask(masks: UInt64, size: int) -> UInt64:
    """The bits of keys in words, and of one key more: from the top, as combinations ascend."""
    width = max((size - 1).bit_length(), 1)
    free = 64
    if masks.size and masks[-1, -1]:
        free = _position(masks[-1])[1]
    more = int(free < width)
    if more:
        free = 64
    wider = np.zeros((masks.shape[0] + 1, masks.shape[1] + more), dtype=np.uint64)
    wider[:-1, : masks.shape[1]] = masks
    wider[-1, -1] = np.uint64(((1 << width) - 1) << (free - width))
    return wider


def _position(mask: UInt64) -> tuple[int, int]:
    """The word of a key, and where its bits begin there."""
    word = int(np.flatnonzero(mask)[0])
    bits = int(mask[word])
    return word, (bits & -bits).bit_length() - 1


def _check(columns: Sequence[KeyColumn], sampled: Mask) -> None:
    """Refuse what would make a kernel count outside its arrays."""
    if len(columns) > MOST_KEYS:
        raise SpecError(
            f"The ladder has {len(columns)} keys. It may have {MOST_KEYS}; nobody knows so much."
        )
    for column in columns:
        values = column.values
        if values.shape != sampled.shape:
            raise SpecError(f"Key {column.name!r} has not one code for each record of the census.")
        if values.size and not 0 <= int(values.min()) <= int(values.max()) < column.size:
            raise SpecError(f"Key {column.name!r} has codes that are not in its code list.")
