"""Whose copy a file is: each holder's copy has an order of records of its own.

Who finds a file on the street compares its order with that of every copy that was handed out. A
copy that was sorted by something else and lost its numbers has no order left that tells.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile, ReleaseTable
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import Text

Integers = npt.NDArray[Any]
UInt64 = npt.NDArray[np.uint64]
#: What rows say: anything that can be compared, or numbers that stand for it.
Rows = Sequence[Hashable] | npt.NDArray[Any]

#: So many pairs of records have to be compared before anybody is named.
_FEWEST_PAIRS = 64
#: And so many of them have to stand in the order of the copy.
_SHARE = 0.9
#: How many rows that follow each other are looked at together.
_WIDTHS = (1, 2, 4, 8, 16)
#: Groups of fewer rows tell little of an order.
_FEWEST_ALIKE = 8
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
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


def content_digest(file: ReleaseFile) -> str:
    """A digest of what a file says, whatever the order of its records and their numbers.

    Every copy of a file has the same one. Words of ours that stand in papers do not count: another
    version of this program may write them otherwise.
    """
    said: list[object] = [file.name, file.licence.value, file.data_version, *file.languages]
    said += [_words(text) for text in (file.title, file.abstract, file.producer)]
    said.append(file.contact)
    for table in file.tables:
        for column in table.columns:
            codes = [[code.code, code.kind.value, _words(code.label)] for code in column.codes]
            said.append([column.name, column.kind.value, column.decimals, codes])
        said.append(sorted(int(mark) for mark in row_marks(table)))
    said.append(sorted(copy_marks(file)))
    return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()


def _words(text: Text) -> list[list[str]]:
    return sorted(list(pair) for pair in dict(text.by_language).items())


def holder_of(
    rows: Rows,
    candidates: Mapping[str, Rows],
    groups: Sequence[Integers] = (),
) -> str | None:
    """The holder whose copy has this order; ``None`` if none has, as after sorting.

    Rows may be missing, and a few may stand elsewhere. Rows that say the same as another one in
    the file tell nothing; where few others are left, as when columns are missing, several rows that
    follow each other are looked at together. A file that was sorted by one column keeps the order
    of the copy among those who are alike in it. With fewer than some 130 rows nobody is named.

    Args:
        rows: What each row of the file says, in its order and without numbers of units: marks of
            ``copy_marks``, or the fields of a line.
        candidates: The same of each copy that was handed out, by holder.
        groups: Columns by which somebody may have sorted the file: a number for each row.

    Examples:
        >>> copies = {"Ann": range(400), "Bob": range(400, 0, -1)}
        >>> holder_of(list(range(10, 390, 2)), copies), holder_of([3, 1, 2], copies)
        ('Ann', None)
    """
    numbers: dict[Hashable, int] = {}
    places = _numbered(rows, numbers)
    orders = {name: _numbered(order, numbers) for name, order in candidates.items()}
    for width in _WIDTHS:
        looked_at = _windows(places, width)
        shares = {
            name: _agreement(looked_at, _windows(order, width)) for name, order in orders.items()
        }
        named = _standing_out(shares)
        if named is not None:
            return named
    for group in groups:
        shares = {name: _agreement(places, order, group) for name, order in orders.items()}
        named = _standing_out(shares)
        if named is not None:
            return named
    return None


def _standing_out(shares: Mapping[str, float]) -> str | None:
    """Who alone has the order; two copies of one order leave nobody to be named."""
    agreeing = [name for name, share in shares.items() if share >= _SHARE]
    return agreeing[0] if len(agreeing) == 1 else None


def _numbered(rows: Rows, numbers: dict[Hashable, int]) -> Integers:
    """A small number for what each row says."""
    if isinstance(rows, np.ndarray):
        return rows
    return np.array([numbers.setdefault(row, len(numbers)) for row in rows], dtype=np.int64)


def _windows(rows: Integers, width: int) -> UInt64:
    """A number for every so many rows that follow each other."""
    size = max(rows.size - width + 1, 0)
    windows = np.zeros(size, dtype=np.uint64)
    for start in range(width):
        windows = windows * _FACTOR + rows[start : start + size].astype(np.uint64)
    return windows


def _agreement(rows: Integers, order: Integers, group: Integers | None = None) -> float:
    """The share of distant pairs of rows that stand as in a copy; 0 where they are too few.

    Pairs are half the file apart, or half their group: members of one household stand together in
    every copy.
    """
    (mine, at), (theirs, place) = _alone(rows), _alone(order)
    _, first, second = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
    at, place = at[first], place[second]
    if group is None:
        parts = [place[np.argsort(at)]]
    else:
        alike = group[at]
        by_group = np.lexsort((at, alike))
        cuts = np.flatnonzero(np.diff(alike[by_group])) + 1
        parts = [part for part in np.split(place[by_group], cuts) if part.size >= _FEWEST_ALIKE]
    pairs, standing = 0, 0
    for part in parts:
        lag = part.size // 2
        pairs += part.size - lag
        standing += int(np.count_nonzero(part[lag:] > part[: part.size - lag]))
    return standing / pairs if pairs >= _FEWEST_PAIRS else 0.0


def _alone(values: Integers) -> tuple[Integers, Integers]:
    """What stands in a file once, and where."""
    different, first, counts = np.unique(values, return_index=True, return_counts=True)
    return different[counts == 1], first[counts == 1]
