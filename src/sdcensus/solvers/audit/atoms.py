"""Linked tables by what they tell apart together, which bounds more than their sums do.

Tables of A by B, of A by C and of B by C share margins, and as sums of cells they say no more
about each other. But all three count the same records: every combination of A, B and C is a count
of its own, at least 0. With these atoms as further unknown cells the intervals are narrower.
"""

from __future__ import annotations

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import SparseMatrix, interior
from sdcensus.model.linked.atoms import cells_of_atoms, joint_spec
from sdcensus.model.linked.tables import LinkedTables

#: Combinations of codes beyond which atoms are not used.
MOST_ATOMS = 100_000


def atoms_of(linked: LinkedTables) -> int:
    """How many atoms some tables have."""
    return joint_spec(linked.specs).cells


def equations_with_atoms(linked: LinkedTables) -> SparseMatrix:
    """The equations of linked tables, with atoms as further cells behind those of the tables.

    Raises:
        SpecError: There are too many atoms.
    """
    joint = joint_spec(linked.specs)
    if joint.cells > MOST_ATOMS:
        raise SpecError(
            f"The tables tell {joint.cells:,} combinations of codes apart together, and audits use"
            f" at most {MOST_ATOMS:,}. Audit fewer tables at a time, or go by sums of cells alone."
        )
    numbers = np.arange(joint.cells, dtype=np.uint64)
    rows, columns, values = [linked.equations.rows], [linked.equations.columns], []
    values.append(linked.equations.values)
    height = linked.equations.shape[0]
    seen = np.zeros(linked.size, dtype=bool)
    for spec, cells in zip(linked.counted, linked.counted_cell_of, strict=True):
        # The base cells are enough: all others are sums of them already.
        base = np.full(spec.shape, -1, dtype=np.int64)
        corner = interior(spec)
        base[corner] = cells[corner]
        base[base >= 0] = np.where(seen[base[base >= 0]], -1, base[base >= 0])
        atom, cell = cells_of_atoms(joint, numbers, spec, base)
        held = np.unique(base[base >= 0])
        seen[held] = True
        row_of = np.full(linked.size, -1, dtype=np.int64)
        row_of[held] = height + np.arange(held.size)
        height += held.size
        rows += [row_of[cell], row_of[held]]
        columns += [linked.size + atom, held]
        values += [np.ones(atom.size, dtype=np.int8), np.full(held.size, -1, dtype=np.int8)]
    shape = (height, linked.size + joint.cells)
    return SparseMatrix.from_entries(
        shape, np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    )
