"""Hashes of the cells of tables, by their canonical definitions: for registries and for draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.layout import positions_on
from sdcensus.model.schema.implications import PairRule
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.cell_definitions import Definitions
from sdcensus.model.spec.leaf_sets import axis_sets, mask_sets
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec

UInt64 = npt.NDArray[np.uint64]

#: Hashes that tell cells apart over all publications of an office have so many words.
_WORDS = 2


def cell_hashes(spec: TableSpec, *, cells: npt.NDArray[Any] | None = None) -> UInt64:
    """For each cell of a table the hash of its records, as two 64-bit numbers.

    Args:
        spec: The table.
        cells: The numbers of the cells that are wanted, the last axis running fastest; all of
            them without.

    Returns:
        An array of one row for each cell. Cells that cannot hold a record have the hash 0.
    """
    wanted = np.arange(spec.cells, dtype=np.uint64) if cells is None else cells.astype(np.uint64)
    kind = [spec.of.value, spec.measure.value]
    definitions = Definitions.build(spec, kind=kind, words=_WORDS)
    positions = [positions_on(spec.shape, at, wanted) for at in range(len(spec.axes))]
    made = np.empty((wanted.size, _WORDS), dtype=np.uint64)
    for word in range(_WORDS):
        made[:, word] = definitions.listed(positions, word)
    made[~np.broadcast_to(definitions.possible(positions), wanted.shape)] = 0
    return made


def code_digests(spec: TableSpec, variable: Variable) -> tuple[UInt64, npt.NDArray[np.bool_]]:
    """For each code of a variable in a table the digest of its leaves, and if it has any.

    A variable that is no axis has one code: what the condition of the table leaves of it.
    Conditions on several variables together are taken for the leaves that occur in them at all.
    """
    inside = leaves_in(spec.universe, variable)
    shown = [axis for axis in spec.axes if axis.variable.name == variable.name]
    sets = (
        axis_sets(shown[0], None if inside.all() else inside, _WORDS)
        if shown
        else mask_sets(variable, [inside], _WORDS)
    )
    return sets.digests, sets.sizes > 0


def cell_definitions(spec: TableSpec, rules: tuple[PairRule, ...] = ()) -> Definitions:
    """What the cells of a table ask, as one 64-bit number for each: the second word of draws.

    The unit is part of it, the measure is not: a weighted count and a plain one of the same
    records share their noise, so that the two together are no second look.
    """
    return spec.kept(
        ("definitions", rules),
        lambda: Definitions.build(spec, kind=[spec.of.value], rules=rules),
    )
