"""Writing the audit of a protected table: what another program needs to replay every number."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.formats.shared.arrow_columns import published_values
from sdcensus.model.cube.cube import Accumulators
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.published.protected import Audit, Protected
from sdcensus.model.published.table import AnyTable, SparseTable
from sdcensus.session.office.confidential_output import (
    Columns,
    Positions,
    cell_tables,
    check_target,
    true_columns,
    write_owner_only_table,
)

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
    such; ``weight`` of weighted tables; ``after_NAME`` for each step before the last;
    ``published``; and ``flag`` where cells have no number.

    Args:
        protected: What a method has made.
        path: A ``.csv`` or ``.parquet`` file; must not exist.
        confidential: Must be true: the caller knows that the file is as secret as the census.
        language: The language of the labels.
    """
    target = check_target(path, confidential=confidential, what="An audit")
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
            *_keys(audit, values, numbers),
            *kept,
            *stages,
            *published_values(table.at(numbers), _flags(table, numbers)),
        ]

    write_owner_only_table(cell_tables(audit.cube, language, told), target)
    return target


def _keys(audit: Audit, values: Accumulators, numbers: Numbers) -> Columns:
    """The keys that were looked up, of cells with and without records."""
    columns = []
    if audit.effective_keys is not None:
        keys = audit.effective_keys(np.ascontiguousarray(values.key), numbers)
        columns.append(("effective_key", pa.array(keys.astype(np.int64))))
    if audit.empty_keys is not None:
        keys = audit.empty_keys.reshape(-1)[numbers.astype(np.int64)]
        columns.append(("empty_key", pa.array(keys.astype(np.int64), mask=values.count != 0)))
    return columns


def _members(numbers: Numbers, unchanged: Numbers) -> pa.Array:
    return pa.array(np.isin(numbers, unchanged).astype(np.int8))


def _flags(table: AnyTable, numbers: Numbers) -> npt.NDArray[np.uint8] | None:
    if isinstance(table, SparseTable):
        return None if table.small is None else table.flags_at(numbers)
    if table.flags is None:
        return None
    return table.flags.reshape(-1)[numbers.astype(np.int64)]
