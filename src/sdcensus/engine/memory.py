"""The fast default: counts over the memory-mapped columns of a store.

Rows go through in blocks that stay in the cache. A store is sorted by area, so two threads can
work on two halves of a table without ever touching the same cell; where the table has no area,
or areas interleave, each thread fills a grid of its own and the grids are added.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.engine.memory_amounts import PACKED_CONTRIBUTORS, Amounts, Extent
from sdcensus.engine.memory_replicates import FurtherSums
from sdcensus.engine.owned import refuse_sparse_margins, with_contributions
from sdcensus.engine.requests import SUM_TOO_LARGE, Can, Needs, Tabulate, check_ability, needs_of
from sdcensus.errors import EngineError
from sdcensus.kernels.cells.ranked import merge_lists
from sdcensus.kernels.cells.sparse import Runs
from sdcensus.kernels.cells.tabulate import (
    BLOCK_ROWS,
    SCATTER,
    Combine,
    add_axis,
    count,
    count_and_key,
    drop_outside,
    identity,
    start_cells,
    unpack,
)
from sdcensus.model.cube.contributions import CONTRIBUTOR_KEY, CONTRIBUTORS
from sdcensus.model.cube.cube import (
    COUNT,
    FIRST_HOUSEHOLD,
    KEY,
    LAST_HOUSEHOLD,
    SUM_OF,
    WEIGHT,
    Accumulators,
    Cube,
    Origin,
    fields_of,
    packs,
    sum_type,
)
from sdcensus.model.cube.layout import Layout, mixed_radix
from sdcensus.model.cube.sparse_cube import (
    LARGEST_DENSE_GRID,
    AnyCube,
    SparseCube,
    assemble,
    check_size,
)
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import Column, RecordSource, check_codes

Integers = npt.NDArray[Any]
Cells = npt.NDArray[Any]

#: Count and key share one 64-bit integer in this accumulator, while it is being filled.
PACKED = "count and key"
#: What is packed, and the two accumulators that it becomes.
_PACKED_PARTS = {PACKED: (COUNT, KEY), PACKED_CONTRIBUTORS: (CONTRIBUTORS, CONTRIBUTOR_KEY)}
#: Rows whose cells are sorted at once when the grid is too large to hold.
_SPARSE_ROWS = 1 << 22


@dataclass(frozen=True, slots=True)
class _Axis:
    column: Column
    offsets: Integers


class MemoryEngine:
    """Tabulates a census store.

    Args:
        store: The store.
        threads: How many threads to use.
        largest_dense: Grids with more cells are kept as their non-empty cells.
    """

    name: ClassVar[str] = "memory"
    can: ClassVar[frozenset[Can]] = frozenset(Can) - {Can.LARGER_THAN_MEMORY}

    def __init__(
        self, store: RecordSource, *, threads: int = 2, largest_dense: int = LARGEST_DENSE_GRID
    ) -> None:
        self._store = store
        self._threads = max(1, threads)
        self._largest_dense = largest_dense
        self._summable: set[tuple[Entity, str]] = set()
        self._extents: dict[tuple[Entity, str, bool], Extent] = {}

    @property
    def origin(self) -> Origin:
        """Where its numbers come from."""
        return self._store.origin

    def tabulate(self, request: Tabulate) -> AnyCube:
        """The cube of a table."""
        check_ability(self, request)
        spec = request.spec
        check_size(spec)
        needs = needs_of(request, self._store.schema)
        sources = self._sources(request, needs)
        sparse = max(spec.cells, Layout(spec).size) > self._largest_dense
        packed = not sparse and packs(self.origin.key_space, self._store.rows(spec.of))
        amounts = Amounts.build(self._store, request, needs, packed=packed)
        if amounts is not None:
            extent = self._extent(spec.of, amounts)
            if not sparse and amounts.owner is None:
                amounts = amounts.within(extent, self.origin.key_space.modulus)
        if amounts is None or amounts.owner is None or amounts.needs is None:
            sums = FurtherSums.build(self._store, request, needs, amounts)
            return self._counted(spec, sources, sums, sparse=sparse)
        if sparse:
            refuse_sparse_margins(spec)
        # What belongs together is known only when all records were seen.
        without = FurtherSums.build(self._store, request, needs, replace(amounts, needs=None))
        cube = self._counted(spec, sources, without, sparse=sparse)
        work, outside = self._numbered(spec), spec.base_cells
        blocks = work.blocks((0, self._store.rows(spec.of)), np.uint64, outside)
        return with_contributions(cube, amounts.owned(blocks, outside), amounts.needs)

    def _counted(
        self,
        spec: TableSpec,
        sources: Mapping[str, Column | None],
        sums: FurtherSums,
        *,
        sparse: bool,
    ) -> AnyCube:
        if sparse:
            return self._sparse(spec, sources, sums)
        with ThreadPoolExecutor(self._threads) as threads:
            return self._dense(spec, sources, sums, threads)

    def _numbered(self, spec: TableSpec) -> _Work:
        """Cells by their numbers over the base groups of the axes."""
        offsets = [
            axis.base.astype(np.uint64) * np.uint64(weight)
            for axis, weight in zip(spec.axes, mixed_radix(spec.base_shape), strict=True)
        ]
        return _Work(self._store, spec, offsets)

    def _sources(self, request: Tabulate, needs: Needs) -> dict[str, Column | None]:
        """The column behind each accumulator; the count needs none."""
        store, of = self._store, request.spec.of
        sources: dict[str, Column | None] = {
            COUNT: None,
            KEY: Column(store.record_keys(of), (), 0),
        }
        if needs.weight is not None:
            sources[WEIGHT] = store.values(of, needs.weight)
        if request.households:
            households = store.household_rows(of)
            sources[FIRST_HOUSEHOLD] = sources[LAST_HOUSEHOLD] = households
        for variable in needs.sums:
            values = store.values(of, variable)
            sources[f"{SUM_OF}{variable.name}"] = values.without_blanks(NO_VALUE)
        for name, column in sources.items():
            if column is not None and (name == WEIGHT or name.startswith(SUM_OF)):
                self._check_sum(of, name, column.__getitem__)
        return sources

    def _extent(self, of: Entity, amounts: Amounts) -> Extent:
        """What is contributed at most; refused if a sum might leave 64 bits. Looked at once."""
        column = of, amounts.total, amounts.weight is not None
        if column not in self._extents:
            extent = amounts.extent(self._store.rows(of))
            if extent.total >= 2.0**62:
                raise EngineError(SUM_TOO_LARGE)
            self._extents[column] = extent
        return self._extents[column]

    def _check_sum(self, of: Entity, name: str, amounts: Callable[[slice], Integers]) -> None:
        """Refuse amounts whose sum might leave 64 bits; each column is looked at once."""
        if (of, name) in self._summable:
            return
        rows, step = self._store.rows(of), 16 * BLOCK_ROWS
        pieces = (slice(start, min(start + step, rows)) for start in range(0, rows, step))
        if sum(float(np.abs(amounts(piece)).sum(dtype=np.float64)) for piece in pieces) >= 2.0**62:
            raise EngineError(SUM_TOO_LARGE)
        self._summable.add((of, name))

    def _dense(
        self,
        spec: TableSpec,
        sources: Mapping[str, Column | None],
        sums: FurtherSums,
        threads: Executor,
    ) -> Cube:
        space = self._store.origin.key_space
        geography = self._store.sorted_geography(spec.of)
        layout = Layout(spec, outermost=geography)
        if packs(space, self._store.rows(spec.of)):
            sources = {PACKED: sources[KEY], **_without(sources, COUNT, KEY)}
        work = _Work(
            self._store, spec, [layout.offsets(at, np.uint32) for at in range(len(spec.axes))]
        )
        pieces, shared = self._pieces(spec, geography)
        grids = [_empty_grid(sources, sums, layout.size, space)]
        if not shared:
            grids += [_empty_grid(sources, sums, layout.size, space) for _ in pieces[1:]]
        else:
            grids *= len(pieces)

        def fill(piece: tuple[int, int], grid: dict[str, Integers]) -> None:
            work.scatter(piece, grid, sources, sums, space, outside=layout.size)

        list(threads.map(fill, pieces, grids))
        first = grids[0]
        for name, array in first.items():
            combine = _combine(name, space)
            fields = 0 if sums.packs(name) else fields_of(name)
            if not shared:
                for other in grids[1:]:
                    _merge(array, other[name], combine, fields)
            layout.add_margins(array[:-1], combine, fields=fields, threads=threads)
        held = {name: array[:-1] for name, array in first.items()}
        arrays = dict(sums.finished(held, threads))
        for packed, parts in _PACKED_PARTS.items():
            if packed in arrays:
                arrays |= _unpacked(arrays.pop(packed), parts, space, threads)
        shown = {name: layout.shown(array) for name, array in arrays.items()}
        ordered = {name: shown[name] for name in (COUNT, KEY, *_without(shown, COUNT, KEY))}
        return Cube(spec, self._store.origin, Accumulators.from_sums(ordered, space))

    def _pieces(self, spec: TableSpec, geography: str | None) -> tuple[list[tuple[int, int]], bool]:
        """Row ranges for the threads, and whether they meet no common cell."""
        rows = self._store.rows(spec.of)
        if self._threads == 1 or rows < 4 * BLOCK_ROWS:
            return [(0, rows)], True
        names = [axis.variable.name for axis in spec.axes]
        if geography in names:
            cuts = self._area_cuts(spec, names.index(geography), rows)
            if cuts is not None:
                return cuts, True
        cut = [rows * at // self._threads for at in range(self._threads + 1)]
        return list(itertools.pairwise(cut)), False

    def _area_cuts(self, spec: TableSpec, at: int, rows: int) -> list[tuple[int, int]] | None:
        """Cut the rows between areas so that no group of areas lies on both sides of a cut."""
        axis = spec.axes[at]
        area = self._store.column(spec.of, axis.variable).whole
        if area is None:
            return None
        last_leaf: dict[int, int] = {}
        for leaf, group in enumerate(axis.base.tolist()):
            last_leaf[group] = leaf
        closed = np.maximum.accumulate([last_leaf[group] for group in axis.base.tolist()])
        cuts = [0]
        for thread in range(1, self._threads):
            leaf = int(area[rows * thread // self._threads])
            while leaf < closed.size - 1 and closed[leaf] > leaf:
                leaf = int(closed[leaf])
            cuts.append(
                max(cuts[-1], int(np.searchsorted(area, area.dtype.type(leaf), side="right")))
            )
        cuts.append(rows)
        largest = max(stop - start for start, stop in itertools.pairwise(cuts))
        if largest > 0.8 * rows:  # one side would do all the work
            return None
        return list(itertools.pairwise(cuts))

    def _sparse(
        self, spec: TableSpec, sources: Mapping[str, Column | None], sums: FurtherSums
    ) -> SparseCube:
        """Sort the cells of a few million rows at a time, then combine what they have in common."""
        space = self._store.origin.key_space
        work = self._numbered(spec)
        outside = spec.base_cells
        parts: list[tuple[npt.NDArray[np.uint64], dict[str, Integers]]] = []
        rows = self._store.rows(spec.of)
        for start in range(0, rows, _SPARSE_ROWS):
            stop = min(start + _SPARSE_ROWS, rows)
            cells = np.empty(stop - start, dtype=np.uint64)
            for block, part in work.blocks((start, stop), np.uint64, outside):
                cells[block.start - start : block.stop - start] = part
            rows_of_part = slice(start, stop)
            parts.append(_sorted_part(cells, rows_of_part, sources, sums, space, outside))
        if not parts:
            nothing = np.zeros(0, dtype=np.uint64)
            parts.append(_sorted_part(nothing, slice(0, 0), sources, sums, space, outside))
        numbers = np.concatenate([part for part, _ in parts])
        held = {name: np.concatenate([values[name] for _, values in parts]) for name in parts[0][1]}
        result = assemble(
            spec, self._store.origin, numbers, held, largest_dense=self._largest_dense
        )
        assert isinstance(result, SparseCube)
        return result


class _Work:
    """Cell numbers of the rows of a table, block by block."""

    def __init__(self, store: RecordSource, spec: TableSpec, offsets: list[Integers]) -> None:
        self._axes = [
            _Axis(store.column(spec.of, axis.variable), offset)
            for axis, offset in zip(spec.axes, offsets, strict=True)
        ]
        self._universe = spec.universe
        shape = spec.universe.truth.shape
        self._classes = [
            _Axis(store.column(spec.of, variable), (kinds * weight).astype(np.uint32))
            for variable, kinds, weight in zip(
                spec.universe.variables, spec.universe.classes, mixed_radix(shape), strict=True
            )
        ]

    def blocks(
        self, piece: tuple[int, int], dtype: npt.DTypeLike, outside: int
    ) -> Iterator[tuple[slice, Cells]]:
        """Each block of rows with the cell of each row; ``outside`` for rows not counted."""
        buffer = np.empty(BLOCK_ROWS, dtype=dtype)
        combination = np.empty(BLOCK_ROWS, dtype=np.uint32)
        truth = np.ascontiguousarray(self._universe.truth).reshape(-1)
        for start in range(*piece, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, piece[1]))
            cells = buffer[: rows.stop - start]
            _number(cells, self._axes, rows)
            if not self._universe.everything:
                classes = combination[: cells.size]
                _number(classes, self._classes, rows)
                drop_outside(cells, classes, truth, outside)
            yield rows, cells

    def scatter(
        self,
        piece: tuple[int, int],
        grid: Mapping[str, Integers],
        sources: Mapping[str, Column | None],
        sums: FurtherSums,
        space: KeySpace,
        *,
        outside: int,
    ) -> None:
        """Add a range of rows to every accumulator of a grid."""
        for rows, cells in self.blocks(piece, np.uint32, outside):
            sums.scatter(rows, cells, grid, space)
            for name, source in sources.items():
                if source is None:
                    count(cells, grid[name])
                elif name == PACKED:
                    count_and_key(cells, source[rows], grid[name])
                else:
                    SCATTER[_combine(name, space)](cells, source[rows], grid[name])


def _number(cells: Cells, axes: list[_Axis], rows: slice) -> None:
    if not axes:
        cells[:] = 0
    for at, axis in enumerate(axes):
        codes = axis.column[rows]
        check_codes(codes, axis.offsets.size)
        (add_axis if at else start_cells)(cells, codes, axis.offsets)


def _without(items: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in items.items() if name not in names}


def _combine(name: str, space: KeySpace) -> Combine:
    return Combine.SUM if name in _PACKED_PARTS else Accumulators.combine_of(name, space)


def _empty_grid(
    sources: Mapping[str, Column | None], sums: FurtherSums, size: int, space: KeySpace
) -> dict[str, Integers]:
    """Accumulators of every cell, with one more for the rows outside the universe."""
    grid: dict[str, Integers] = {}
    for name in (*sources, *sums.names()):
        dtype = np.uint64 if name in _PACKED_PARTS else sum_type(name)
        empty = identity(_combine(name, space), dtype)
        shape = (size + 1, *sums.width(name))
        grid[name] = np.full(shape, empty, dtype=dtype) if empty else np.zeros(shape, dtype)
    return grid


def _merge(into: Integers, other: Integers, combine: Combine, fields: int) -> None:
    if combine is Combine.LARGEST:
        merge_lists(np.arange(into.shape[0]), other, into, max(fields, 1))
    elif combine is Combine.SUM:
        np.add(into, other, out=into)
    elif combine is Combine.XOR:
        np.bitwise_xor(into, other, out=into)
    else:
        (np.minimum if combine is Combine.LOW else np.maximum)(into, other, out=into)


def _unpacked(
    packed: Integers, parts: tuple[str, str], space: KeySpace, threads: Executor
) -> dict[str, Integers]:
    counts = np.empty(packed.size, dtype=np.int64)
    keys = np.empty(packed.size, dtype=np.uint32)
    half = packed.size // 2

    def split(rows: slice) -> None:
        unpack(packed[rows], counts[rows], keys[rows], space.modulus - 1)

    list(threads.map(split, [slice(0, half), slice(half, None)]))
    return dict(zip(parts, (counts, keys), strict=True))


def _sorted_part(
    cells: npt.NDArray[np.uint64],
    rows: slice,
    sources: Mapping[str, Column | None],
    sums: FurtherSums,
    space: KeySpace,
    outside: int,
) -> tuple[npt.NDArray[np.uint64], dict[str, Integers]]:
    """The cells of some rows, each once, with their accumulators."""
    runs = Runs(cells, largest=outside)
    inside = slice(0, int(np.searchsorted(runs.cells, np.uint64(outside))))
    values: dict[str, Integers] = {}
    for name, source in sources.items():
        if source is None:
            values[name] = runs.sizes[inside]
            continue
        combine = _combine(name, space)
        wide = source[rows].astype(sum_type(name), copy=False)
        values[name] = runs.combine(wide, combine, empty=identity(combine, wide.dtype))[inside]
    for name, column in sums.columns(rows).items():
        combine = _combine(name, space)
        (width,) = sums.width(name) or (None,)
        values[name] = runs.combine(
            column,
            combine,
            empty=identity(combine, column.dtype),
            fields=fields_of(name),
            width=width,
        )[inside]
    return runs.cells[inside], values
