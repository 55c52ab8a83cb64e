"""Which unit holds a record, however many kinds of units lie between them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW, inherit
from sdcensus.model.schema.variable import Entity
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import link_column

Integers = npt.NDArray[Any]


def holder_rows(records: CensusStore, kind: Entity, unit: Entity) -> Integers:
    """For each record of a kind the row of the unit that holds it; ``NO_ROW`` without one."""
    path = records.schema.path(kind, unit)
    if path is None:
        raise SpecError(f"{kind.plural.capitalize()} do not lie in {unit.plural}.")
    if not path:
        return np.arange(records.rows(kind), dtype=np.uint32)
    rows = records.raw(kind, link_column(path[0]))
    for child, parent in itertools.pairwise(path):
        above = np.empty(rows.size, dtype=np.uint32)
        inherit(rows, records.raw(child, link_column(parent)), int(NO_ROW), above)
        rows = above
    return rows
