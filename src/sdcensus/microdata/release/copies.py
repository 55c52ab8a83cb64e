"""Whose copy a file is: each holder's copy has an order of records of its own.

Who finds a file on the street compares its order with that of every copy that was handed out. A
copy that was sorted by something else and lost its numbers has no order left that tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile, ReleaseTable
from sdcensus.model.schema.variable import Entity

Integers = npt.NDArray[Any]
UInt64 = npt.NDArray[np.uint64]

#: So many pairs of records have to be compared before anybody is named.
_FEWEST_PAIRS = 64
#: And so many of them have to stand in the order of the copy.
_SHARE = 0.9
_PUBLIC_KEY = bytes(16)


def copy_marks(file: ReleaseFile) -> list[int]:
    """A number for what each household of a file says, with its members, in the file's order.

    The same household has the same number in every copy. Persons where there are no households.
    """
    tables = {table.entity: table for table in file.tables}
    if len(tables) == 1:
        return [int(mark) for mark in row_marks(file.tables[0])]
    marks = row_marks(tables[Entity.HOUSEHOLD])
    persons = tables[Entity.PERSON]
    household = persons.columns[1].values
    held = household > 0
    np.add.at(marks, household[held] - 1, row_marks(persons)[held])
    return [int(mark) for mark in marks]


def row_marks(table: ReleaseTable) -> UInt64:
    """A number for what each record says, its numbers apart."""
    told = [column for column in table.columns if column.kind is not ColumnKind.NUMBER_OF_UNIT]
    columns = [column.values.astype(np.int64).view(np.uint64) for column in told]
    columns += [column.absent.astype(np.uint64) for column in told if column.absent is not None]
    return siphash24(_PUBLIC_KEY, np.stack(columns, axis=1))


def holder_of(rows: Sequence[Hashable], candidates: Mapping[str, Sequence[Hashable]]) -> str | None:
    """The holder whose copy has this order; ``None`` if none has, as after sorting.

    Rows may be missing, and a few may stand elsewhere. Rows that say the same as another one in
    the file tell nothing and are left out; with fewer than some 130 others nobody is named.

    Args:
        rows: What each row of the file says, in its order and without numbers of units: marks of
            ``copy_marks``, or the fields of a line.
        candidates: The same of each copy that was handed out, by holder.

    Examples:
        >>> copies = {"Ann": range(400), "Bob": range(400, 0, -1)}
        >>> holder_of(list(range(10, 390, 2)), copies), holder_of([3, 1, 2], copies)
        ('Ann', None)
    """
    alone = [row for row, number in Counter(rows).items() if number == 1]
    shares = {name: _agreement(alone, order) for name, order in candidates.items()}
    best = sorted(shares, key=lambda name: -shares[name])[:2]
    if not best or shares[best[0]] < _SHARE:
        return None
    if len(best) == 2 and shares[best[1]] >= _SHARE:
        return None  # two copies of one order: neither can be named
    return best[0]


def _agreement(rows: Sequence[Hashable], order: Sequence[Hashable]) -> float:
    """The share of distant pairs of rows that stand as in a copy; 0 where they are too few.

    Pairs are half the file apart: members of one household stand together in every copy.
    """
    numbers = Counter(order)
    place = {row: at for at, row in enumerate(order) if numbers[row] == 1}
    places = np.array([place[row] for row in rows if row in place], dtype=np.int64)
    lag = places.size // 2
    pairs = places.size - lag
    if pairs < _FEWEST_PAIRS:
        return 0.0
    return float(np.count_nonzero(places[lag:] > places[:pairs]) / pairs)
