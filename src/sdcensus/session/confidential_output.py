"""Writing true counts, for those who may see them: on explicit demand, for the owner only."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.errors import OutputError, Refused
from sdcensus.model.accumulators import Accumulators
from sdcensus.model.axis import Axis
from sdcensus.model.cube import Cube
from sdcensus.model.sparse_cube import SparseCube
from sdcensus.store.owner_only import open_owner_only

Positions = npt.NDArray[np.int64]

_ROWS_AT_A_TIME = 100_000


def write_confidential(
    cube: Cube | SparseCube,
    path: str | Path,
    *,
    confidential: bool = False,
    language: str | None = None,
    weight_decimals: int = 0,
) -> Path:
    """Write a cube with its true counts and cell keys to a file that only its owner can read.

    Each axis has a column with codes and one with labels; an axis that shows several levels also
    has one with the level, since a code may stand at more than one. Sums of continuous variables
    are written as the cube holds them, in fixed point.

    Args:
        cube: The cube; of a sparse one the non-empty cells are written.
        path: A ``.csv`` or ``.parquet`` file; must not exist.
        confidential: Must be true: the caller knows that the file is as secret as the census.
        language: The language of the labels.
        weight_decimals: How many digits of the weights stand behind the decimal point; 0 writes
            them in fixed point.
    """
    target = check_target(path, confidential=confidential)
    tables = _tables(cube, language, weight_decimals)
    if target.suffix == ".csv":
        _write_csv(tables, target)
    else:
        _write_parquet(tables, target)
    return target


def check_target(path: str | Path, *, confidential: bool) -> Path:
    """Refuse early what could not be written in the end."""
    if not confidential:
        raise Refused(
            "A cube holds true counts. To write one for the office's own use, say so:"
            " --confidential (in Python: confidential=True)."
        )
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise OutputError(f"{target}: write a cube as .csv or .parquet.")
    if target.exists():
        raise OutputError(f"{target} already exists. Choose another name or remove it first.")
    if not target.parent.is_dir():
        raise OutputError(f"The folder {target.parent} does not exist.")
    return target


def _pieces(cube: Cube | SparseCube) -> Iterator[tuple[Positions, Accumulators]]:
    """Positions on each axis and values of some cells at a time, the last axis running fastest."""
    if isinstance(cube, SparseCube):
        for block in cube.blocks():
            for rows in _slices(len(block.positions)):
                yield block.positions[rows], block.values.map(itemgetter(rows))
        return
    flat = cube.values.map(lambda one: one.reshape(-1))
    for rows in _slices(cube.spec.cells):
        cells = np.arange(rows.start, rows.stop)
        positions = np.zeros((cells.size, len(cube.shape)), dtype=np.int64)
        if cube.shape:
            positions[:] = np.stack(np.unravel_index(cells, cube.shape), axis=1)
        yield positions, flat.map(itemgetter(rows))


def _slices(size: int) -> Iterator[slice]:
    for start in range(0, size, _ROWS_AT_A_TIME):
        yield slice(start, min(start + _ROWS_AT_A_TIME, size))


def _tables(
    cube: Cube | SparseCube, language: str | None, weight_decimals: int
) -> Iterator[pa.Table]:
    """The cells as tables; at least one, so that an empty cube still has its columns."""
    axes = cube.spec.axes
    texts = [_texts(axis, language) for axis in axes]
    empty = np.zeros((0, len(axes)), dtype=np.int64)
    nothing = cube.values.map(lambda one: one.reshape(-1)[:0])
    for positions, values in [(empty, nothing)] if not cube.values.count.size else _pieces(cube):
        columns: dict[str, Any] = {}
        for kind in ("", "_level", "_label"):
            for at, axis in enumerate(axes):
                words = texts[at].get(kind)
                if words is not None:
                    columns[f"{axis.variable.name}{kind}"] = words.take(pa.array(positions[:, at]))
        columns["count"] = pa.array(values.count)
        columns["cell_key"] = pa.array(values.key.astype(np.int64))
        if values.weight is not None:
            columns["weight"] = _decimals(values.weight, weight_decimals)
        for name, sums in values.sums:
            columns[f"sum_{name}"] = pa.array(sums)
        yield pa.table(columns)


def _texts(axis: Axis, language: str | None) -> dict[str, pa.Array]:
    """Codes, labels and, where there are several, levels of the positions of an axis."""
    codes = axis.codes
    texts = {
        "": pa.array([one.code for one in codes], pa.string()),
        "_label": pa.array([one.label.show(language) or one.code for one in codes], pa.string()),
    }
    if len(axis.levels) > 1:
        texts["_level"] = pa.array([one.level for one in codes], pa.string())
    return texts


def _decimals(values: npt.NDArray[np.int64], decimals: int) -> pa.Array:
    """Whole numbers of the last digit as exact decimal numbers."""
    if not decimals:
        return pa.array(values)
    wide = np.stack([values, values >> 63], axis=1)  # 128 bits, the low half first
    buffer = pa.py_buffer(np.ascontiguousarray(wide, dtype="<i8"))
    return pa.Array.from_buffers(pa.decimal128(38, decimals), len(values), [None, buffer])


def _write_csv(tables: Iterator[pa.Table], path: Path) -> None:
    with open_owner_only(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.writer(text, lineterminator="\n")
        for at, table in enumerate(tables):
            if at == 0:
                writer.writerow(table.column_names)
            columns = [column.to_pylist() for column in table.columns]
            writer.writerows(zip(*columns, strict=True))
        text.flush()
        text.detach()


def _write_parquet(tables: Iterator[pa.Table], path: Path) -> None:
    first = next(tables)
    with open_owner_only(path) as file, pq.ParquetWriter(file, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
