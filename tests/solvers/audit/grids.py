"""Plain tables for audits: axes without levels, with totals, and matrices written as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sdcensus.model.cube.constraints import SparseMatrix
from sdcensus.model.spec.table_spec import TableSpec
from tests.methods.nearly_additive import spec_of, variable


def grid(*sizes: int) -> TableSpec:
    """A table with so many codes on each axis, and totals."""
    names = "abcdefg"[: len(sizes)]
    variables = [variable(name, size) for name, size in zip(names, sizes, strict=True)]
    return spec_of(variables, list(names))


def matrix_of(cells: int, rows: Sequence[Mapping[int, int]]) -> SparseMatrix:
    """A matrix from what stands in each row, by column."""
    entries = [(at, column, value) for at, row in enumerate(rows) for column, value in row.items()]
    row, column, value = (np.array(part, dtype=np.int64) for part in zip(*entries, strict=True))
    return SparseMatrix.from_entries((len(rows), cells), row, column, value.astype(np.int8))
