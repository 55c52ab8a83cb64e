"""Cells of keys: numbers for combinations of codes, and which of them may be the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.uniques.numbering import combined, counted
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.key_column import Integers, KeyColumn

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KeyCells:
    """The combinations of keys that occur.

    Attributes:
        of_records: For each record its cell.
        examples: For each cell a record that is in it.
        sizes: How many records each has.
    """

    of_records: Int64
    examples: Int64
    sizes: Int64

    @property
    def number(self) -> int:
        """How many there are."""
        return int(self.sizes.size)


def key_cells(columns: Sequence[Integers], size: int) -> KeyCells:
    """Number the combinations of columns, from 0 in the order of their codes."""
    numbers, count = combined(columns, size)
    examples = np.empty(count if size else 0, dtype=np.int64)
    examples[numbers] = np.arange(size)
    return KeyCells(numbers, examples, counted(numbers, examples.size))


def lookalikes(
    columns: Sequence[KeyColumn], cells: KeyCells, missing: MissingValues
) -> tuple[Int64, Int64]:
    """Pairs of cells that may be the same: one that states all keys, one that does not.

    A key that is not stated may be any valid value, but not "not applicable". Cells that both
    leave something open are not paired.
    """
    if missing is MissingValues.CATEGORY or not cells.number:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    codes = [column.values[cells.examples] for column in columns]
    is_open = [column.is_kind(CodeKind.NOT_STATED)[code] for column, code in zip(
        columns, codes, strict=True)]  # fmt: skip
    is_valid = [column.is_kind(CodeKind.VALID)[code] for column, code in zip(
        columns, codes, strict=True)]  # fmt: skip
    patterns, _ = combined([flag.astype(np.uint8) for flag in is_open], cells.number)
    complete = np.flatnonzero(~np.any(is_open, axis=0))
    pairs = list(_pairs(codes, is_open, is_valid, patterns, complete))
    if not pairs:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    firsts, seconds = zip(*pairs, strict=True)
    return np.concatenate(firsts), np.concatenate(seconds)


def _pairs(
    codes: Sequence[Integers],
    is_open: Sequence[npt.NDArray[np.bool_]],
    is_valid: Sequence[npt.NDArray[np.bool_]],
    patterns: Int64,
    complete: Int64,
) -> Iterator[tuple[Int64, Int64]]:
    """For each pattern of keys that are not stated: complete cells with the cell they may be."""
    for pattern in np.unique(patterns):
        partly = np.flatnonzero(patterns == pattern)
        left_open = [bool(flag[partly[0]]) for flag in is_open]
        if not any(left_open):
            continue
        fitting = complete
        for valid, unstated in zip(is_valid, left_open, strict=True):
            if unstated:
                fitting = fitting[valid[fitting]]
        both = np.concatenate([partly, fitting])
        stated = [
            code[both] for code, unstated in zip(codes, left_open, strict=True) if not unstated
        ]
        numbers, _ = combined(stated, both.size)
        # Cells of one pattern differ in what they state: each number stands for one of them.
        own, rest = numbers[: partly.size], numbers[partly.size :]
        order = np.argsort(own)
        places = np.minimum(np.searchsorted(own, rest, sorter=order), partly.size - 1)
        partners = order[places]
        agree = own[partners] == rest
        yield fitting[agree], partly[partners[agree]]
