"""Tables of multiples that add up, from what several tables tell apart together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.model.linked.cubes import LinkedCubes

Int64 = npt.NDArray[np.int64]


def rounded_atoms(linked: LinkedCubes, base: int) -> Int64:
    """Multiples of all cells, by the base, that add up over all tables and lie near the truth.

    Sets of records that tables tell apart are rounded one after the other, each so that what was
    rounded before comes out right; cells are sums of them.
    """
    atoms = linked.every_atom
    order = np.argsort(atoms.definitions, kind="stable")
    passed = np.cumsum(atoms.counts[order])
    # From the middle: the first multiple comes when half of it has passed.
    reached = (passed + base // 2) // base
    rounded = np.empty_like(passed)
    rounded[order] = np.diff(reached, prepend=0)
    values = np.zeros(linked.tables.size, dtype=np.int64)
    np.add.at(values, atoms.cells, np.repeat(rounded, np.diff(atoms.starts)))
    return values
