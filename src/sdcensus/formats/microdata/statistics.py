"""What papers tell about each variable of a file: frequencies and summaries, exact.

Everything is counted from the records that readers get, in whole numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.formats.microdata.layout import weight_of
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.release_file import (
    ColumnKind,
    ReleaseColumn,
    ReleaseFile,
    ReleaseTable,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A figure about a variable, by the name that DDI gives it.

    Attributes:
        kind: ``vald``, ``invd``, ``min``, ``max``, ``mean`` or ``stdev``.
        value: The figure as a text.
        weighted: Whether records count by their weight.
    """

    kind: str
    value: str
    weighted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """What is told about one variable.

    Attributes:
        frequencies: Of each code, how many records have it.
        weighted: The same with weights, as texts; empty where records have none.
        summaries: Figures about the whole variable.
    """

    frequencies: tuple[int, ...] = ()
    weighted: tuple[str, ...] = ()
    summaries: tuple[Summary, ...] = ()


def may_tell_frequencies(file: ReleaseFile) -> bool:
    """Whether catalogues may show how many records have a code.

    A catalogue is open to everybody, so it shows frequencies of files that are open to everybody.
    Those of a file under licence are seen by those who hold it. Of a file of all units they would
    be the true counts of the census, which are published as protected tables only.
    """
    return file.licence is LicenceClass.PUBLIC_USE and not file.whole


def may_tell_records(file: ReleaseFile) -> bool:
    """Whether catalogues may show how many records a file has.

    The size of a sample is that of a sample; that of a file of all units is a true count.
    """
    return file.licence is not LicenceClass.FULL_COUNT and not file.whole


def column_statistics(
    file: ReleaseFile, table: ReleaseTable, column: ReleaseColumn
) -> ColumnStatistics:
    """The frequencies and summaries of a column; nothing that catalogues must not show."""
    if not may_tell_frequencies(file) or column.kind is ColumnKind.NUMBER_OF_UNIT:
        return ColumnStatistics()
    weight = weight_of(table)
    weights = None
    if weight is not None and weight is not column:
        weights = weight.values.astype(np.int64)
    there = np.ones(table.rows, dtype=bool) if column.absent is None else ~column.absent
    if column.codes:
        return _of_codes(column, there, weights, 0 if weight is None else weight.decimals)
    summaries = [
        Summary(kind="vald", value=str(int(there.sum()))),
        Summary(kind="invd", value=str(int((~there).sum()))),
    ]
    values = column.values[there].astype(np.int64)
    if values.size:
        for kind, number in (("min", values.min()), ("max", values.max())):
            summaries.append(Summary(kind=kind, value=_decimal(int(number), column.decimals)))
        summaries += _moments(values, None, column.decimals)
        if weights is not None:
            summaries += _moments(values, weights[there], column.decimals)
    return ColumnStatistics(summaries=tuple(summaries))


def _of_codes(
    column: ReleaseColumn,
    there: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.int64] | None,
    decimals: int,
) -> ColumnStatistics:
    values = column.values[there]
    counts = np.bincount(values, minlength=len(column.codes))
    none = np.array([code.is_missing for code in column.codes])
    invalid = int(counts[none].sum()) + int((~there).sum())
    summaries = [
        Summary(kind="vald", value=str(int(counts[~none].sum()))),
        Summary(kind="invd", value=str(invalid)),
    ]
    weighted: tuple[str, ...] = ()
    if weights is not None:
        sums = [0] * len(column.codes)
        # Sums of whole numbers by code: sorted, so that each code is one run.
        order = np.argsort(values, kind="stable")
        ends = np.cumsum(counts)
        running = np.append(0, np.cumsum(weights[there][order]))
        for place, (end, count) in enumerate(zip(ends, counts, strict=True)):
            sums[place] = int(running[end] - running[end - count])
        weighted = tuple(_decimal(total, decimals) for total in sums)
        valid = sum(total for total, gone in zip(sums, none, strict=True) if not gone)
        summaries.append(Summary(kind="vald", value=_decimal(valid, decimals), weighted=True))
    return ColumnStatistics(
        frequencies=tuple(int(count) for count in counts),
        weighted=weighted,
        summaries=tuple(summaries),
    )


def _moments(
    values: npt.NDArray[np.int64], weights: npt.NDArray[np.int64] | None, decimals: int
) -> list[Summary]:
    """Mean and standard deviation, of exact sums."""
    numbers = values.astype(object)
    each = np.ones(values.size, dtype=object) if weights is None else weights.astype(object)
    total = int(each.sum())
    if total <= 0:
        return []
    first, second = int((numbers * each).sum()), int((numbers * numbers * each).sum())
    mean = Fraction(first, total)
    spread = Fraction(second, total) - mean * mean
    shown, weighted = decimals + 2, weights is not None
    scaled = 10 ** (shown - decimals)
    deviation = math.isqrt(max(0, math.floor(spread * scaled * scaled)))
    return [
        Summary(kind="mean", value=_decimal(round(mean * scaled), shown), weighted=weighted),
        Summary(kind="stdev", value=_decimal(deviation, shown), weighted=weighted),
    ]


def _decimal(number: int, decimals: int) -> str:
    """A whole number of ``10**-decimals`` as a text, without zeros behind the point.

    Examples:
        >>> _decimal(1250, 2), _decimal(-5, 2), _decimal(1200, 2), _decimal(7, 0)
        ('12.5', '-0.05', '12', '7')
    """
    if not decimals:
        return str(number)
    digits = str(abs(number)).rjust(decimals + 1, "0")
    whole, part = digits[:-decimals], digits[-decimals:].rstrip("0")
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"
