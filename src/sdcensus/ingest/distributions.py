"""How the values of a column are distributed, for the eyes of the office.

Confidential: these are true counts of records, and nothing of them may be written to a file or be
told to anybody who may not see the census itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.ingest.draft_columns import Profile
from sdcensus.ingest.draft_guesses import may_be_shown
from sdcensus.ingest.readers import Reader

#: How many bars a histogram has.
BARS = 40


@dataclass(frozen=True, slots=True)
class Bar:
    """Records with a number from ``lower`` to below ``upper``; the last bar has its end too."""

    lower: float
    upper: float
    count: int

    def __repr__(self) -> str:
        return "<Bar: confidential>"


@dataclass(frozen=True, slots=True)
class Distribution:
    """The values of a column with the numbers of their records.

    Attributes:
        rows: Records of the file.
        empty: Records without a value.
        distinct: How many values there are; ``None`` for very many.
        values: Values that may be shown, with the number of their records.
        hidden: How many other values there are, which are rare or long and may be about one person.
        hidden_rows: Their records.
        bars: A histogram, where all values are numbers and too many to be listed.
    """

    rows: int
    empty: int
    distinct: int | None
    values: Mapping[str, int] = field(default_factory=dict)
    hidden: int = 0
    hidden_rows: int = 0
    bars: tuple[Bar, ...] = ()

    def __repr__(self) -> str:
        return "<Distribution: confidential>"


def sizes(profile: Profile) -> Distribution:
    """What may be told of a column whose values are nobody's business: how many there are."""
    distinct = None if profile.counts is None else len(profile.counts)
    return Distribution(profile.rows, profile.empty, distinct)


def distribution(profile: Profile, *, listed: Collection[str] = ()) -> Distribution:
    """The values of a column.

    Args:
        profile: What was found in it.
        listed: Codes of its code list, which are shown in any case.
    """
    counts = profile.counts
    if counts is None:
        return sizes(profile)
    shown = {
        value: count
        for value, count in counts.items()
        if value in listed or profile.number or may_be_shown(value, count)
    }
    hidden = {value: count for value, count in counts.items() if value not in shown}
    return Distribution(
        profile.rows, profile.empty, len(counts), shown, len(hidden), sum(hidden.values())
    )


def histogram(
    reader: Reader, profile: Profile, *, decimal: str = ".", without: Collection[str] = ()
) -> tuple[Bar, ...]:
    """Bars of a column of numbers; it is read again where it has too many values to be kept.

    Args:
        reader: Its file.
        profile: What was found in it.
        decimal: The decimal mark of the file.
        without: Missing codes, which are no numbers.
    """
    if profile.counts is not None:
        kept = {value: count for value, count in profile.counts.items() if value not in without}
        numbers = _numbers(pa.array(list(kept), pa.string()), decimal)
        weights = np.array(list(kept.values()), dtype=np.int64)
    else:
        texts = [
            _texts(batch.column(profile.name), without) for batch in reader.batches([profile.name])
        ]
        numbers = np.concatenate([_numbers(text, decimal) for text in texts])
        weights = np.ones(numbers.size, dtype=np.int64)
    known = np.isfinite(numbers)
    numbers, weights = numbers[known], weights[known]
    if not numbers.size:
        return ()
    edges = _edges(float(numbers.min()), float(numbers.max()), whole=profile.whole)
    place = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, edges.size - 2)
    counts = np.zeros(edges.size - 1, dtype=np.int64)
    np.add.at(counts, place, weights)
    return tuple(
        Bar(float(edges[at]), float(edges[at + 1]), int(count)) for at, count in enumerate(counts)
    )


def _texts(column: pa.Array, without: Collection[str]) -> pa.Array:
    text = column if pa.types.is_string(column.type) else column.cast(pa.string())
    text = pc.utf8_trim_whitespace(text.drop_null())
    return text.filter(pc.invert(pc.is_in(text, pa.array(list(without), pa.string()))))


def _numbers(text: pa.Array, decimal: str) -> npt.NDArray[np.float64]:
    """Texts as numbers for a drawing; what is none becomes NaN."""
    if decimal != ".":
        text = pc.replace_substring(text, decimal, ".")
    plain = pc.match_substring_regex(text, r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$")
    numbers: npt.NDArray[np.float64] = (
        pc.if_else(plain, text, None).cast(pa.float64()).to_numpy(zero_copy_only=False)
    )
    return numbers


def _edges(low: float, high: float, *, whole: bool) -> npt.NDArray[np.float64]:
    """Round numbers between which bars stand, from the lowest to beyond the highest."""
    span = max(high - low, 1.0 if whole else 1e-9)
    step = 10.0 ** np.floor(np.log10(span / BARS)) if span / BARS > 0 else 1.0
    step = next(step * factor for factor in (1, 2, 5, 10) if span / (step * factor) <= BARS)
    if whole:
        step = max(step, 1.0)
    first = np.floor(low / step)
    last = np.floor(high / step) + 1
    edges: npt.NDArray[np.float64] = np.arange(first, last + 1) * step
    return edges
