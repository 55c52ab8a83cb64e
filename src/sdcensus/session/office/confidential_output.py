"""Writing true counts, for those who may see them: on explicit demand, for the owner only."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.errors import OutputError, Refused
from sdcensus.formats.shared.arrow_columns import (
    grid_positions,
    published_values,
    slices,
    word_arrays,
    word_numbers,
    write_csv,
)
from sdcensus.formats.write import check_new
from sdcensus.formats.write.about import check_names, word_columns
from sdcensus.kernels.cells.replicates import relative_errors
from sdcensus.model.cube.cube import Accumulators
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.published.delivery import delivered_axis
from sdcensus.model.published.protected import Audit, Protected
from sdcensus.model.published.table import AnyTable, SparseTable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.owner_only import open_owner_only, write_owner_only

Positions = npt.NDArray[np.int64]
Columns = Sequence[tuple[str, pa.Array]]
#: What is told about some cells: their positions on each axis, and their values.
Teller = Callable[[Positions, Accumulators], Columns]


def write_confidential(
    cube: AnyCube,
    path: str | Path,
    *,
    confidential: bool = False,
    language: str | None = None,
    weight_decimals: int = 0,
) -> Path:
    """Write a cube with its true counts and cell keys to a file that only its owner can read.

    The columns of codes, levels and labels are those of published files. Sums of continuous
    variables are written as the cube holds them, in fixed point.

    Args:
        cube: The cube; of a sparse one the non-empty cells are written.
        path: A ``.csv`` or ``.parquet`` file; must not exist.
        confidential: Must be true: the caller knows that the file is as secret as the census.
        language: The language of the labels.
        weight_decimals: How many digits of the weights stand behind the decimal point; 0 writes
            them in fixed point.
    """
    target = check_target(path, confidential=confidential)

    def told(positions: Positions, values: Accumulators) -> Columns:
        return true_columns(values, weight_decimals)

    write_owner_only_table(cell_tables(cube, language, told), target)
    return target


def check_target(path: str | Path, *, confidential: bool, what: str = "A cube") -> Path:
    """Refuse early what could not be written in the end."""
    if not confidential:
        raise Refused(
            f"{what} holds true counts. To write one for the office's own use, say so:"
            " --confidential (in Python: confidential=True)."
        )
    target = Path(path)
    if target.suffix not in (".csv", ".parquet"):
        raise OutputError(f"{target}: write {what[:1].lower()}{what[1:]} as .csv or .parquet.")
    check_new(target)
    return target


def cell_tables(cube: AnyCube, language: str | None, told: Teller) -> Iterator[pa.Table]:
    """Codes and labels of the cells of a cube, and what is told about them, some at a time.

    There is at least one piece, so that an empty cube still has its columns.
    """
    axes = [delivered_axis(axis) for axis in cube.spec.axes]
    columns = word_columns(axes, languages=[language] if language else [], beside=())
    words = [word_numbers(column.words) for column in columns]
    for positions, values in _pieces(cube):
        numbers = dict(told(positions, values))
        check_names((column.name for column in columns), beside=numbers)
        arrays = word_arrays(columns, words, positions)
        yield pa.table(
            [*arrays, *numbers.values()], [*(column.name for column in columns), *numbers]
        )


def true_columns(values: Accumulators, weight_decimals: int) -> Columns:
    """True counts, cell keys, and whatever else was added up."""
    columns = [
        ("count", pa.array(values.count)),
        ("cell_key", pa.array(values.key.astype(np.int64))),
    ]
    if values.weight is not None:
        columns.append(("weight", _decimals(values.weight, weight_decimals)))
    columns += [(f"sum_{name}", pa.array(sums)) for name, sums in values.sums]
    contributions = values.contributions
    if contributions is not None:
        columns.append(("contributors", pa.array(contributions.contributors)))
        columns += [
            (f"largest_{rank + 1}", pa.array(np.ascontiguousarray(contributions.amount[:, rank])))
            for rank in range(contributions.largest)
        ]
    return columns


def write_owner_only_table(tables: Iterator[pa.Table], path: Path) -> None:
    """Write tables one below the other to a csv or Parquet file that only its owner can read."""
    if path.suffix == ".csv":
        with open_owner_only(path) as file:
            write_csv(tables, file)
        return
    first = next(tables)
    with open_owner_only(path) as file, pq.ParquetWriter(file, first.schema) as writer:
        for table in itertools.chain([first], tables):
            writer.write_table(table)


def _pieces(cube: AnyCube) -> Iterator[tuple[Positions, Accumulators]]:
    """Positions on each axis and values of some cells at a time, the last axis running fastest."""
    if isinstance(cube, SparseCube):
        for block in cube.blocks():
            for rows in slices(len(block.positions)):
                yield block.positions[rows].T, block.values.map(itemgetter(rows))
        return
    flat = cube.values.flat(cube.spec.cells)
    for rows in slices(cube.spec.cells):
        yield grid_positions(cube.shape, rows), flat.map(itemgetter(rows))


def _decimals(values: npt.NDArray[np.int64], decimals: int) -> pa.Array:
    """Whole numbers of the last digit as exact decimal numbers."""
    if not decimals:
        return pa.array(values)
    wide = np.stack([values, values >> 63], axis=1)  # 128 bits, the low half first
    buffer = pa.py_buffer(np.ascontiguousarray(wide, dtype="<i8"))
    return pa.Array.from_buffers(pa.decimal128(38, decimals), len(values), [None, buffer])


Numbers = npt.NDArray[np.uint64]


def write_audit(
    protected: Protected,
    path: str | Path,
    *,
    confidential: bool = False,
    language: str | None = None,
) -> Path:
    """Write true counts beside published ones to a file that only its owner can read.

    Besides codes and labels the columns are ``count`` and ``cell_key``; ``effective_key``, the key
    that was looked up; ``empty_key`` where empty cells are perturbed (32 bits, of which a row takes
    the share); ``unchanged``, 1 for exempt cells and for cells that must be empty, where there are
    such; ``weight`` of weighted tables, and ``relative_error`` where sampling errors were counted;
    ``after_NAME`` for each step before the last; ``published``; ``flag`` where cells have no number
    or a sign beside it; and ``closed``, why they have none, where
    the method tells it: ``primary`` with its rules, ``secondary``, ``earlier``. What the method has
    to say of how the numbers were found stands in a text file beside it.

    Args:
        protected: What a method has made.
        path: A ``.csv`` or ``.parquet`` file; must not exist.
        confidential: Must be true: the caller knows that the file is as secret as the census.
        language: The language of the labels.
    """
    target = check_target(path, confidential=confidential, what="An audit")
    check_new(remarks_file(target))
    audit, table = protected.audit, protected.table
    weights = np.array(mixed_radix(table.shape), dtype=np.uint64)
    unchanged = None if audit.unchanged is None else audit.unchanged()

    def told(positions: Positions, values: Accumulators) -> Columns:
        numbers = weights @ positions.astype(np.uint64)
        kept = [] if unchanged is None else [("unchanged", _members(numbers, unchanged))]
        stages = [
            (f"after_{name.replace('-', '_')}", pa.array(stage.at(numbers)))
            for name, stage in audit.stages
        ]
        return [
            *true_columns(values, table.spec.weight_decimals),
            *_errors(values, table.spec),
            *_keys(audit, values, numbers),
            *kept,
            *stages,
            *published_values(table.at(numbers), _flags(table, numbers)),
            *_reasons(audit, numbers),
        ]

    write_owner_only_table(cell_tables(audit.cube, language, told), target)
    if audit.remarks:
        text = "\n".join(audit.remarks)
        write_owner_only(remarks_file(target), f"{text}\n".encode())
    return target


def remarks_file(audit: Path) -> Path:
    """Where what a method says of how the numbers were found stands, beside an audit.

    Examples:
        >>> remarks_file(Path("audit.csv")).name
        'audit.remarks.txt'
    """
    return audit.with_suffix(".remarks.txt")


def _keys(audit: Audit, values: Accumulators, numbers: Numbers) -> Columns:
    """The keys that were looked up, of cells with and without records."""
    columns = []
    if audit.effective_keys is not None:
        own = values.key
        if audit.keys_of_contributors and values.contributions is not None:
            own = values.contributions.contributor_key
        keys = audit.effective_keys(np.ascontiguousarray(own), numbers)
        columns.append(("effective_key", pa.array(keys.astype(np.int64))))
    if audit.empty_keys is not None:
        keys = audit.empty_keys.reshape(-1)[numbers.astype(np.int64)]
        columns.append(("empty_key", pa.array(keys.astype(np.int64), mask=values.count != 0)))
    return columns


def _errors(values: Accumulators, spec: TableSpec) -> Columns:
    """The relative standard errors of estimates, where groups of households were counted."""
    if not values.replicates or values.weight is None:
        return []
    total = values.weight if spec.amount is None else values.sum_of(spec.amount.name)
    unit = 10**spec.weight_decimals
    errors = relative_errors(total, values.replicates, values.count, values.weight, unit)
    return [("relative_error", pa.array(errors, mask=np.isnan(errors)))]


def _reasons(audit: Audit, numbers: Numbers) -> Columns:
    """Why cells have no number, where a method tells it; several reasons with semicolons."""
    if not audit.reasons:
        return []
    at = numbers.astype(np.int64)
    texts = np.full(len(at), "", dtype=object)
    for word, mask in audit.reasons:
        texts[mask.reshape(-1)[at]] += f"; {word}"
    return [("closed", pa.array([text.removeprefix("; ") for text in texts], pa.string()))]


def _members(numbers: Numbers, unchanged: Numbers) -> pa.Array:
    return pa.array(np.isin(numbers, unchanged).astype(np.int8))


def _flags(table: AnyTable, numbers: Numbers) -> npt.NDArray[np.uint8] | None:
    if isinstance(table, SparseTable):
        return None if table.small is None else table.flags_at(numbers)
    if table.marks is None:
        return None
    return table.marks.reshape(-1)[numbers.astype(np.int64)]
