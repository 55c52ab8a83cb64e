"""Delivered tables as csv, with what is known about them in a document beside the file.

Lines are put together without a look at single cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from sdcensus.formats.write import new_file
from sdcensus.formats.write.about import (
    SIGNS,
    WordColumn,
    about_document,
    delivered_about,
    values_name,
    word_columns,
)
from sdcensus.kernels.text.cell_lines import put_cell_lines
from sdcensus.kernels.text.lines import LONGEST_NUMBER, put_grid_lines
from sdcensus.model.cube.streamed_cells import PublishedCells
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.text import Text, plain_cell

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
            [(column.axis, [f"{quoted(word)}," for word in column.words]) for column in columns],
            table.values,
            table.marks,
            [f",{quoted(table.sign(mark))}" for mark in Mark],
            table.decimals,
        )
    return target, beside


def quoted(word: str) -> str:
    """A word as it stands in a csv file; behind an apostrophe if it could be a formula.

    Examples:
        >>> quoted('the "old" town'), quoted("town"), quoted("=1+1")
        ('"the ""old"" town"', 'town', "'=1+1")
    """
    word = plain_cell(word)
    if _NEEDS_QUOTES.isdisjoint(word):
        return word
    return '"' + word.replace('"', '""') + '"'


def head(columns: Sequence[WordColumn], decimals: int, *, signs: bool) -> bytes:
    """The first line."""
    names = [
        *(column.name for column in columns),
        values_name(decimals),
        *([SIGNS] if signs else []),
    ]
    return f"{','.join(map(quoted, names))}\n".encode()


class _Lines:
    """Lines of a csv file, of cells that come part by part."""

    __slots__ = ("_axes", "_begins", "_buffer", "_file", "_longest", "_starts", "_words")

    def __init__(self, table: object, columns: Sequence[WordColumn], file: BinaryIO) -> None:
        self._file = file
        self._axes = np.array([column.axis for column in columns], dtype=np.int64)
        written = [[f"{quoted(word)}," for word in column.words] for column in columns]
        self._words, self._starts = packed([word for texts in written for word in texts])
        sizes = [len(texts) for texts in written]
        self._begins = np.append(0, np.cumsum(sizes, dtype=np.int64))[:-1].astype(np.int64)
        longest = sum(max(len(word.encode()) for word in texts) for texts in written)
        self._longest = longest + LONGEST_NUMBER + 1
        self._buffer = np.empty(max(BUFFER, self._longest), dtype=np.uint8)
        file.write(head(columns, 0, signs=False))

    def __enter__(self) -> Callable[[PublishedCells], None]:
        return self.put

    def __exit__(self, *_: object) -> None:
        pass

    def put(self, cells: PublishedCells) -> None:
        """Write some cells."""
        step = self._buffer.size // self._longest
        for start in range(0, len(cells), step):
            here = slice(start, start + step)
            values = np.ascontiguousarray(cells.published[here])
            places = np.zeros((max(len(cells.places), 1), values.size), dtype=np.int64)
            for axis, place in enumerate(cells.places):
                places[axis] = place[here]
            used = put_cell_lines(
                self._buffer,
                places,
                self._words,
                self._starts,
                self._begins,
                self._axes,
                values,
            )
            self._file.write(self._buffer[:used].data)


CSV = TableFormat(
    name="csv",
    label="CSV",
    about=Text.named("files.about.csv"),
    endings=(".csv", ".about.json"),
    media_type="text/csv; charset=utf-8",
    aliases=("text",),
    label_columns=True,
    stream=_Lines,
    write=write,
)


Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

#: Bytes of lines that are held before they are written.
BUFFER = 8 << 20


def packed(words: Sequence[str]) -> tuple[Bytes, Int64]:
    """Words one behind the other as bytes, and where each begins and the last one ends."""
    encoded = [word.encode() for word in words]
    starts = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(word) for word in encoded], out=starts[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), starts


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
    words, starts = packed([word for _, texts in columns for word in texts])
    sizes = [len(texts) for _, texts in columns]
    ends, end_starts = packed(endings)
    longest = LONGEST_NUMBER + decimals + 1
    longest += 0 if marks is None else int(np.diff(end_starts).max())
    longest += sum(max(len(word.encode()) for word in texts) for _, texts in columns)
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
