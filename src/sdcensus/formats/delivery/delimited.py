"""Delivered tables as csv, with what is known about them in a document beside the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from sdcensus.formats.delivery.about import about_document, delivered_about
from sdcensus.formats.delivery.columns import SIGNS, WordColumn, values_name, word_columns
from sdcensus.formats.tables.files import new_file
from sdcensus.kernels.lines import LONGEST_NUMBER, put_grid_lines
from sdcensus.model.delivery import DeliveredTable
from sdcensus.model.marks import Mark

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

#: Bytes of lines that are held before they are written.
BUFFER = 8 << 20

_NEEDS_QUOTES = frozenset('",\r\n')


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write ``NAME.csv`` and ``NAME.about.json``.

    UTF-8, commas, lines that end in a line feed, quotes only where they are needed. The last axis
    runs fastest.
    """
    columns = word_columns(table.axes, languages=languages, labels=labels)
    target, beside = folder / f"{table.name}.csv", folder / f"{table.name}.about.json"
    with new_file(beside) as file:
        file.write(about_document(delivered_about(table)).encode())
    with new_file(target) as file:
        file.write(head(columns, table.decimals, signs=table.marks is not None))
        write_lines(
            file,
            [(one.axis, [f"{quoted(word)}," for word in one.words]) for one in columns],
            table.values,
            table.marks,
            [f",{quoted(table.sign(mark))}" for mark in Mark],
            table.decimals,
        )
    return target, beside


def quoted(word: str) -> str:
    """A word as it stands in a csv file.

    Examples:
        >>> quoted('the "old" town'), quoted("town")
        ('"the ""old"" town"', 'town')
    """
    if _NEEDS_QUOTES.isdisjoint(word):
        return word
    return '"' + word.replace('"', '""') + '"'


def head(columns: Sequence[WordColumn], decimals: int, *, signs: bool) -> bytes:
    """The first line."""
    names = [*(one.name for one in columns), values_name(decimals), *([SIGNS] if signs else [])]
    return f"{','.join(map(quoted, names))}\n".encode()


def packed(words: Sequence[str]) -> tuple[Bytes, Int64]:
    """Words one behind the other as bytes, and where each begins and the last one ends."""
    made = [word.encode() for word in words]
    starts = np.zeros(len(made) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in made], out=starts[1:])
    return np.frombuffer(b"".join(made), dtype=np.uint8), starts


def write_lines(
    file: BinaryIO,
    columns: Sequence[tuple[int, Sequence[str]]],
    values: Int64,
    marks: Bytes | None,
    endings: Sequence[str],
    decimals: int,
) -> None:
    """Write one line for each cell of a grid, the last axis running fastest.

    Args:
        file: Where to.
        columns: The number of an axis, and what stands for each of its codes, separators included.
        values: The cells, one dimension for each axis.
        marks: Their marks; ``None`` for none, and then nothing stands behind a number.
        endings: What stands behind the number for each mark, separators included.
        decimals: How many of the digits of a value stand behind the point.
    """
    if not values.size:
        return
    words, starts = packed([word for _, one in columns for word in one])
    sizes = [len(one) for _, one in columns]
    ends, end_starts = packed(endings)
    longest = LONGEST_NUMBER + decimals + 1
    longest += 0 if marks is None else int(np.diff(end_starts).max())
    longest += sum(max(len(word.encode()) for word in one) for _, one in columns)
    buffer = np.empty(max(BUFFER, longest), dtype=np.uint8)
    at_a_time = buffer.size // longest
    for first in range(0, values.size, at_a_time):
        used = put_grid_lines(
            buffer,
            first,
            min(first + at_a_time, values.size),
            np.array(values.shape, dtype=np.int64),
            words,
            starts,
            np.cumsum([0, *sizes], dtype=np.int64)[:-1],
            np.array([axis for axis, _ in columns], dtype=np.int64),
            np.ascontiguousarray(values).reshape(-1),
            np.zeros(0, dtype=np.uint8) if marks is None else np.ravel(marks),
            ends,
            end_starts,
            np.array([mark.has_number for mark in Mark]),
            decimals,
        )
        file.write(buffer[:used].data)
