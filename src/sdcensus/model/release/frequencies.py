"""How often codes and numbers stand in a file: counted from the file and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.release.release_file import ColumnKind, ReleaseColumn, ReleaseTable
from sdcensus.model.schema.variable import Code


@dataclass(frozen=True, slots=True)
class CodeFrequency:
    """How often a code stands in a file. Public.

    Attributes:
        code: The code.
        records: How many records have it.
        weighted: The sum of their weights; ``None`` for a table without weights.
    """

    code: Code
    records: int
    weighted: Fraction | None = None


@dataclass(frozen=True, slots=True)
class NumberSummary:
    """The numbers of a column. Public.

    Attributes:
        records: How many records have a number.
        absent: How many have none.
        smallest, largest, mean, weighted_mean: Of those that have one; ``None`` without any.
    """

    records: int
    absent: int
    smallest: Fraction | None = None
    largest: Fraction | None = None
    mean: Fraction | None = None
    weighted_mean: Fraction | None = None


def weight_of(table: ReleaseTable) -> ReleaseColumn | None:
    """The weight of a table's records; the first one where there are several."""
    return next((each for each in table.columns if each.kind is ColumnKind.WEIGHT), None)


def code_frequencies(table: ReleaseTable, column: ReleaseColumn) -> tuple[CodeFrequency, ...]:
    """For each code of a column how many records have it, and how much these weigh."""
    there = _there(column)
    values = column.values[there]
    size = len(column.codes)
    records = np.bincount(values, minlength=size)
    weight = weight_of(table)
    if weight is None:
        return tuple(map(CodeFrequency, column.codes, map(int, records)))
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, values, weight.values[there].astype(np.int64))
    unit = 10**weight.decimals
    return tuple(
        CodeFrequency(code, int(number), Fraction(int(total), unit))
        for code, number, total in zip(column.codes, records, sums, strict=True)
    )


def number_summary(table: ReleaseTable, column: ReleaseColumn) -> NumberSummary:
    """What the numbers of a column are like."""
    there = _there(column)
    values = column.values[there].astype(np.int64)
    absent = int(there.size - values.size)
    if not values.size:
        return NumberSummary(0, absent)
    unit = 10**column.decimals
    weight = None if column.kind is ColumnKind.WEIGHT else weight_of(table)
    weighted = None
    if weight is not None:
        # Products of amounts and weights may be larger than 64 bits: Python's integers are not.
        weights = [int(each) for each in weight.values[there]]
        whole = sum(weights)
        if whole:
            products = map(int.__mul__, weights, map(int, values))
            weighted = Fraction(sum(products), whole * unit)
    return NumberSummary(
        int(values.size),
        absent,
        Fraction(int(values.min()), unit),
        Fraction(int(values.max()), unit),
        Fraction(sum(map(int, values)), int(values.size) * unit),
        weighted,
    )


def _there(column: ReleaseColumn) -> npt.NDArray[Any]:
    """Which records have a value."""
    if column.absent is None:
        return np.ones(column.values.size, dtype=bool)
    return ~column.absent
