"""The cells of a table as columns of Arrow, some at a time: one writer for csv, one for Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.errors import SpecError
from sdcensus.model.published.table import NOT_BROKEN_DOWN, AnyTable, Flag, SparseTable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec

Positions = npt.NDArray[np.int64]

#: Cells that are held as columns at the same time.
ROWS_AT_A_TIME = 100_000


def axis_columns(
    spec: TableSpec, positions: Positions, language: str | None
) -> Iterator[tuple[str, pa.Array]]:
    """Codes, levels where an axis has several, and labels of some cells.

    Args:
        spec: The table.
        positions: For each axis, the position of each cell.
        language: The language of the labels.
    """
    for kind in ("", "_level", "_label"):
        for axis, at in zip(spec.axes, positions, strict=True):
            if kind == "_level" and len(axis.levels) < 2:
                continue
            words = _words(axis, kind, language)
            every, number = word_numbers(words)
            column = pa.DictionaryArray.from_arrays(pa.array(number[at]), every)
            yield f"{axis.variable.name}{kind}", column


def word_numbers(words: Sequence[str]) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """Every word once, for a dictionary, and the number of each word in it.

    Where a dictionary repeats itself, Arrow 26 writes whatever its memory holds into the
    dictionary page of a Parquet file.
    """
    place = {word: number for number, word in enumerate(dict.fromkeys(words))}
    numbers = np.array([place[word] for word in words], dtype=np.int32)
    return pa.array(list(place), pa.string()), numbers


def _words(axis: Axis, kind: str, language: str | None) -> list[str]:
    if kind == "_level":
        return [one.level for one in axis.codes]
    if kind == "_label":
        return [one.label.show(language) or one.code for one in axis.codes]
    return [one.code for one in axis.codes]


def table_of(columns: Sequence[tuple[str, pa.Array]]) -> pa.Table:
    """Columns as a table; refuses a name that stands for two of them."""
    names = [name for name, _ in columns]
    for twice in sorted({name for name in names if names.count(name) > 1}):
        raise SpecError(
            f"The file would have two columns {twice!r}: a variable of the census is called like a"
            " column that is made. Give the variable another name in the schema."
        )
    return pa.table(dict(columns))


def slices(size: int) -> Iterator[slice]:
    """Parts of so many cells; one empty part where there are none, so that columns appear."""
    for start in range(0, max(size, 1), ROWS_AT_A_TIME):
        yield slice(start, min(start + ROWS_AT_A_TIME, size))


def grid_positions(shape: tuple[int, ...], cells: slice) -> Positions:
    """The positions of a run of cells of a grid on each axis, the last axis running fastest."""
    numbers = np.arange(cells.start, cells.stop)
    if not shape:
        return np.zeros((0, numbers.size), dtype=np.int64)
    return np.stack(np.unravel_index(numbers, shape))


def published_columns(table: AnyTable, language: str | None) -> Iterator[pa.Table]:
    """The cells of a published table, the last axis running fastest.

    A cell without a number has none, and a column says why; of a sparse table the cells that it
    holds are given, with a column that marks those that are not broken down where some are.
    """
    if isinstance(table, SparseTable):
        everywhere = table.positions()
        for cells in slices(table.published.size):
            columns = list(axis_columns(table.spec, everywhere[:, cells], language))
            columns.append(("published", pa.array(table.published[cells])))
            if table.not_broken_down is not None:
                small = table.not_broken_down[cells].astype(np.int8)
                columns.append((NOT_BROKEN_DOWN, pa.array(small)))
            yield table_of(columns)
        return
    values = table.published.reshape(-1)
    flags = None if table.flags is None else table.flags.reshape(-1)
    for cells in slices(values.size):
        columns = list(axis_columns(table.spec, grid_positions(table.shape, cells), language))
        columns += published_values(values[cells], None if flags is None else flags[cells])
        yield table_of(columns)


@cache
def _signs() -> pa.Array:
    # Not when this module is loaded: the first array that pyarrow makes loads pandas.
    return pa.array([flag.sign for flag in Flag], pa.string())


def published_values(
    values: npt.NDArray[np.int64], flags: npt.NDArray[Any] | None
) -> list[tuple[str, pa.Array]]:
    """Published values, and signs where some cells have none."""
    if flags is None:
        return [("published", pa.array(values))]
    withheld = flags != 0
    places = np.searchsorted([flag.value for flag in Flag], flags).astype(np.int32)
    signs = pa.DictionaryArray.from_arrays(pa.array(places), _signs())
    return [("published", pa.array(values, mask=withheld)), ("flag", signs)]
