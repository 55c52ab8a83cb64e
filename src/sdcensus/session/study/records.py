"""The records behind the cells of a table: who is still where he was, and who was imputed."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.cube.constraints import interior
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.combined.moves import NOWHERE, record_cells
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import imputed_column, link_column

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def interior_shape(spec: TableSpec) -> tuple[int, ...]:
    """How many interior codes each axis of a table has."""
    return tuple(part.stop - (part.start or 0) for part in interior(spec))


def imputed_records(store: CensusStore, spec: TableSpec) -> Mask:
    """Records of which a value by which the table counts them was imputed."""
    imputed = np.zeros(store.rows(spec.of), dtype=bool)
    variables = [*(axis.variable for axis in spec.axes), *spec.universe.variables]
    for variable in dict.fromkeys(variables):
        imputed |= _flags(store, spec.of, variable)
    return imputed


def _flags(store: CensusStore, of: Entity, variable: Variable) -> Mask:
    """Where a variable was imputed, for the records or for what holds them."""
    name = imputed_column(variable.name)
    if store.has(of, name):
        return np.asarray(store.raw(of, name) > 0)
    none = np.zeros(store.rows(of), dtype=bool)
    if not store.has(variable.entity, name):
        return none
    rows = np.arange(store.rows(of), dtype=np.int64)
    held = np.ones(rows.size, dtype=bool)
    child = of
    for parent in store.schema.path(of, variable.entity) or ():
        link = store.raw(child, link_column(parent)).astype(np.int64)
        above = link[rows]
        held &= above != NO_ROW
        rows = np.where(held, above, 0)
        child = parent
    flags = store.raw(variable.entity, name) > 0
    return np.asarray(held & flags[rows]) if flags.size else none


def untouched_by_cell(
    store: CensusStore, spec: TableSpec, derived: CensusStore | None = None
) -> Int64:
    """Of each interior cell how many of its records are neither perturbed nor imputed.

    A record is perturbed if it is gone, stands in another cell, or has another weight. Changes that
    the table does not show, such as a move inside the areas of its level, are none.

    Args:
        store: The original records.
        spec: The table.
        derived: The records that a pre-tabular method made of them.
    """
    cells, _ = record_cells(store, spec)
    counted = (cells != NOWHERE) & ~imputed_records(store, spec)
    if derived is not None:
        place = matched(store, derived, spec.of)
        here = place >= 0
        counted &= here
        moved = record_cells(derived, spec)[0][place[here]] != cells[here]
        counted[here] &= ~moved
        counted &= ~weight_changed(store, derived, spec.of)
    shape = interior_shape(spec)
    return np.bincount(cells[counted], minlength=math.prod(shape)).reshape(shape)


def matched(store: CensusStore, derived: CensusStore, of: Entity) -> Int64:
    """For each original record its row among the derived ones, by its digest; -1 if it is gone."""
    known, wanted = derived.digests(of), store.digests(of)
    if not known.size:
        return np.full(wanted.size, -1, dtype=np.int64)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known, wanted, sorter=order), known.size - 1)
    rows = order[place].astype(np.int64)
    return np.where(known[rows] == wanted, rows, -1)


def weight_changed(store: CensusStore, derived: CensusStore, of: Entity) -> Mask:
    """Original records that stand for another number of units among the derived ones."""
    changed = np.zeros(store.rows(of), dtype=bool)
    after = derived.schema.weight(of)
    if after is None:
        return changed
    place = matched(store, derived, of)
    here = place >= 0
    values = derived.values(of, after)[0 : derived.rows(of)][place[here]]
    before = store.schema.weight(of)
    if before is None:
        changed[here] = values != 10**after.decimals
        return changed
    own = store.values(of, before)[0 : store.rows(of)][here]
    changed[here] = values * 10**before.decimals != own * 10**after.decimals
    return changed
