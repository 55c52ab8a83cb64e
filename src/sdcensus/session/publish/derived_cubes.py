"""Tables from a cube of finer cells, without a second look at the records.

Unlike ``Cube.rollup``, which knows the levels of one code list, this goes by leaves: the finer
cube and the table may group the leaves of a variable by hierarchies of their own, as long as each
group of the finer cube lies inside one base group of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import fold, fold_packed, identity, unpack
from sdcensus.model.cube.cube import COUNT, KEY, Accumulators, Cube, packs, sum_type
from sdcensus.model.cube.layout import Layout, mixed_radix, positions_on
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID, AnyCube, SparseCube, assemble
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]

#: Cells that the inner loop over a dense cube goes through at once, if its axes allow.
_INNER_CELLS = 4096


def derived(
    finest: AnyCube, spec: TableSpec, *, largest_dense: int = LARGEST_DENSE_GRID
) -> AnyCube:
    """A table from finer cells of the same records: exactly what counting the records gives.

    Args:
        finest: Cells of the same units, universe and measure on the table's axes, and perhaps
            others; each of its base groups lies inside one of the table's.
        spec: The table.
        largest_dense: Grids with more cells are kept as their non-empty cells.
    """
    groups = _groups(finest.spec, spec)
    dense = finest.dense
    if dense is None or max(spec.cells, Layout(spec).size) > largest_dense:
        return _from_cells(finest, spec, groups, largest_dense)
    return _from_grid(dense, spec, groups)


def groups_within(fine: Axis, coarse: Axis) -> Int64 | None:
    """For each base group of one axis the base group of another that holds it, if all do."""
    group = np.zeros(fine.base_size, dtype=np.int64)
    if fine.base.size != coarse.base.size:
        return None
    group[fine.base] = coarse.base
    return group if np.array_equal(group[fine.base], coarse.base) else None


def _groups(finest: TableSpec, spec: TableSpec) -> list[Int64 | None]:
    """For each axis of the finer cells, where its groups lie on the table's, if it has it."""
    alike = (finest.of, finest.measure) == (spec.of, spec.measure)
    if not alike or finest.universe.canonical() != spec.universe.canonical():
        raise SpecError(f"{spec.title} counts other records than the cells it should come from.")
    wanted = {axis.variable.name: axis for axis in spec.axes}
    groups: list[Int64 | None] = []
    for axis in finest.axes:
        coarse = wanted.pop(axis.variable.name, None)
        group = None if coarse is None else groups_within(axis, coarse)
        if coarse is not None and group is None:
            raise SpecError(
                f"{spec.title}: the axis {coarse.name!r} does not add up from {axis.name!r}."
                " Count the records instead."
            )
        groups.append(group)
    for name in wanted:
        raise SpecError(f"{spec.title}: the cells that it should come from have no {name!r}.")
    return groups


def _offsets(
    finest: TableSpec, spec: TableSpec, groups: Sequence[Int64 | None], strides: Sequence[int]
) -> list[Int64]:
    """For each axis of the finer cells, what each of its groups adds to the number of a cell."""
    leaf_groups: list[Int64] = []
    for axis, group in zip(finest.axes, groups, strict=True):
        if group is None:
            leaf_groups.append(np.zeros(axis.base_size, dtype=np.int64))
        else:
            leaf_groups.append(group * strides[spec.position(axis.variable.name)])
    return leaf_groups


def _from_grid(finest: Cube, spec: TableSpec, groups: Sequence[Int64 | None]) -> Cube:
    space = finest.origin.key_space
    layout = Layout(spec)
    offsets = _offsets(finest.spec, spec, groups, layout.strides)
    values = _base_values(finest)
    split = _split(values.count.shape)
    outer, inner = _sums(offsets[:split]), _sums(offsets[split:])
    whole = (outer.size, inner.size)
    count = values.count.reshape(whole)
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    rest = dict(values.items())
    if packs(space, int(count.sum())):
        packed = np.zeros(layout.size, dtype=np.uint64)
        fold_packed(count, values.key.reshape(whole), outer, inner, packed)
        combine = Accumulators.combine_of(COUNT, space)
        layout.add_margins(packed, combine)
        arrays[COUNT] = np.empty(layout.size, dtype=np.int64)
        arrays[KEY] = np.empty(layout.size, dtype=np.uint32)
        unpack(packed, arrays[COUNT], arrays[KEY], space.modulus - 1)
        del packed, rest[COUNT], rest[KEY]
    for name, wide, combine in values.parts(space):
        if name not in rest:
            continue
        target = np.full(layout.size, identity(combine, wide.dtype), dtype=wide.dtype)
        fold(count, wide.reshape(whole), outer, inner, target, int(combine))
        layout.add_margins(target, combine)
        arrays[name] = target
    shown = {name: layout.shown(array) for name, array in arrays.items()}
    return Cube(spec, finest.origin, Accumulators.from_sums(shown, space))


def _from_cells(
    finest: AnyCube, spec: TableSpec, groups: Sequence[Int64 | None], largest_dense: int
) -> AnyCube:
    values, shape = finest.values, finest.spec.base_shape
    if isinstance(finest, SparseCube):
        held, chosen = finest.numbers, dict(values.items())
    else:
        values = _base_values(finest)
        full = np.flatnonzero(values.count)
        held = full.astype(np.uint64)
        chosen = {name: array.reshape(-1)[full] for name, array in values.items()}
    numbers = np.zeros(held.size, dtype=np.uint64)
    offsets = _offsets(finest.spec, spec, groups, mixed_radix(spec.base_shape))
    for at, (group, offset) in enumerate(zip(groups, offsets, strict=True)):
        if group is not None:
            numbers += offset[positions_on(shape, at, held)].astype(np.uint64)
    wide = {name: array.astype(sum_type(name), copy=False) for name, array in chosen.items()}
    return assemble(spec, finest.origin, numbers, wide, largest_dense=largest_dense)


def _base_values(finest: Cube) -> Accumulators:
    """The finest cells of a cube that shows them, without its margins."""
    if not all(axis.base_is_shown for axis in finest.spec.axes):
        raise SpecError("Tables are derived from cubes that show their finest cells.")
    # The ellipsis keeps the array of a table without axes an array.
    base: Any = (*(slice(0, axis.base_size) for axis in finest.spec.axes), ...)
    return finest.values.map(lambda array: np.ascontiguousarray(array[base]))


def _split(shape: Sequence[int]) -> int:
    """Before which axis the inner loop begins."""
    at, cells = len(shape), 1
    while at > 0 and cells * shape[at - 1] <= _INNER_CELLS:
        at -= 1
        cells *= shape[at]
    return at if at < len(shape) else max(0, len(shape) - 1)


def _sums(offsets: Sequence[Int64]) -> Int64:
    """For each combination of groups of some axes, what they add; the last runs fastest."""
    total = np.zeros(1, dtype=np.int64)
    for offset in offsets:
        total = np.add.outer(total, offset).reshape(-1)
    return total
