"""Which tables are counted together: few passes over the records, the rest added up from them.

A pass (a *scan*) counts cells on the common refinement of what its tables need, and each of its
tables is added up from those. Two tables share a scan where the cells that both need are fewer to
go through than the records. A table that is coarser than another comes for nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.layout import Layout
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID
from sdcensus.model.quantities import bytes_text
from sdcensus.model.schema.variable import Code, Entity, Level, Role, Variable, smallest_width
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]

#: What a process holds before it counts anything: the interpreter, libraries, compiled kernels.
PROCESS_BYTES = 350_000_000
#: Bytes for each cell of a grid while it is filled, and for each finer cell that is sorted.
FILLING_BYTES, SORTING_BYTES = 20, 80
#: Bytes for each cell of a table from its cube to the file: true, published, delivered, evaluated.
TABLE_BYTES = 72
#: What a cell of a sum takes besides: its largest contributions with their keys, and the rest.
CONTRIBUTIONS_BYTES = 160

#: Records that are supposed where nobody has counted them.
UNKNOWN_ROWS = 10_000_000

# Seconds of one core, measured; only their proportions decide what is counted together.
_ROW, _ROW_AXIS, _ROW_FAR = 1.2e-9, 0.45e-9, 3.0e-9
_GRID_CELL, _FOLD_CELL, _SORT_ROW = 1.2e-9, 0.8e-9, 60e-9
_SCAN = 2e-3
_TABLE_CELL = 250e-9
#: Cells of one area that stay in a cache while its records are counted.
_NEAR_CELLS = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """One pass over the records, and the tables that come of it.

    Attributes:
        spec: What is counted: finest cells without totals, or the only table itself.
        tables: Which tables come of it, as positions in the schedule.
        direct: Whether the scan counts its only table itself, with its margins.
        bytes: About how much memory it takes at most, its tables not counted.
        seconds: About how long one processor works on it and on adding up its tables.
    """

    spec: TableSpec
    tables: tuple[int, ...]
    direct: bool
    bytes: int
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """Scans of the records that give all tables, and what they take.

    Attributes:
        specs: The tables.
        scans: The scans, those with most work first; each table comes of exactly one.
        workers: How many scans and tables may be in work at the same time.
        memory: How much memory may be taken, in bytes.
        threads: How many processors there are for it.
        columns_bytes: The columns of the records that are read. They lie in memory while there is
            room, and need not.
        peak_bytes: About how much memory is taken at most, the columns included.
        seconds: About how long everything takes, protecting and writing csv included.
    """

    specs: tuple[TableSpec, ...]
    scans: tuple[Scan, ...]
    workers: int
    memory: int
    threads: int
    columns_bytes: int
    peak_bytes: int
    seconds: float

    @property
    def cells(self) -> int:
        """How many cells the tables have together."""
        return sum(spec.cells for spec in self.specs)

    @property
    def needed_bytes(self) -> int:
        """About how much memory is needed: without the columns, which can be read again."""
        return self.peak_bytes - self.columns_bytes

    def check_memory(self) -> None:
        """Refuse a schedule for which the memory is too small, even with one worker."""
        if self.needed_bytes > self.memory:
            largest = max(self.specs, key=lambda spec: spec.cells)
            raise SpecError(
                f"The memory that may be taken ({bytes_text(self.memory)}) is too small: the tables"
                f" need about {bytes_text(self.needed_bytes)} at a time. The largest is"
                f" {largest.title!r} with {largest.cells:,} cells. Allow more memory, or split the"
                " table."
            )


def schedule(
    specs: Sequence[TableSpec],
    *,
    rows: Callable[[Entity], int | None],
    memory: int,
    threads: int,
    slower: float = 1.0,
) -> Schedule:
    """Group tables under few scans.

    Args:
        specs: The tables. Only those of the same units, universe and measure can share a scan.
        rows: How many records of a kind there are; ``None`` where nobody has counted them.
        memory: How many bytes may be taken.
        threads: How many processors to use.
        slower: How many times slower a pass over the records is than that of the fastest engine;
            the slower, the more tables share one.
    """
    if memory < 1 or threads < 1:
        raise SpecError("Tables need some memory and at least one processor.")
    columns = _columns_bytes(specs, lambda of: rows(of) or 0)

    def supposed(of: Entity) -> int:
        known = rows(of)
        return UNKNOWN_ROWS if known is None else known

    room = max(memory - PROCESS_BYTES - columns, memory // 4)
    largest = min(LARGEST_DENSE_GRID, room // (2 * threads * FILLING_BYTES))
    planner = _Planner(specs, supposed, largest, slower)
    scans = sorted(planner.scans(), key=lambda scan: (-_work(scan, specs), scan.tables))
    table_bytes = [_table_bytes(spec, supposed(spec.of)) for spec in specs]
    workers = max(1, min(threads, max(len(specs), 1)))
    while workers > 1 and columns + _held(scans, table_bytes, workers) > memory:
        workers -= 1
    work = sum(_work(scan, specs) for scan in scans)
    return Schedule(
        specs=tuple(specs),
        scans=tuple(scans),
        workers=workers,
        memory=memory,
        threads=threads,
        columns_bytes=columns,
        peak_bytes=columns + _held(scans, table_bytes, workers),
        seconds=work / workers,
    )


def _work(scan: Scan, specs: Sequence[TableSpec]) -> float:
    return scan.seconds + _TABLE_CELL * sum(specs[at].cells for at in scan.tables)


def _held(scans: Sequence[Scan], table_bytes: Sequence[int], workers: int) -> int:
    """What is held at most while so many work: a scan and a table for each."""
    largest_scans = sorted((scan.bytes for scan in scans), reverse=True)[:workers]
    largest_tables = sorted(table_bytes, reverse=True)[:workers]
    return PROCESS_BYTES + sum(largest_scans) + sum(largest_tables)


def _table_bytes(spec: TableSpec, rows: int) -> int:
    size = max(spec.cells, Layout(spec).size)
    if size > LARGEST_DENSE_GRID:
        return min(rows, spec.base_cells) * SORTING_BYTES
    return size * TABLE_BYTES


def _columns_bytes(specs: Sequence[TableSpec], rows: Callable[[Entity], int]) -> int:
    """The columns that the tables read, each once; inherited ones take a link for each record."""
    columns: dict[tuple[Entity, str], int] = {}
    for spec in specs:
        columns[spec.of, ""] = 4 * rows(spec.of)  # record keys
        if spec.amount is not None:
            columns[spec.amount.entity, spec.amount.name] = 8 * rows(spec.of)
        if spec.measure.is_weighted:
            columns[spec.of, "weight"] = 8 * rows(spec.of)
        for variable in (*(axis.variable for axis in spec.axes), *spec.universe.variables):
            width = np.dtype(smallest_width(len(variable.codes))).itemsize
            columns[variable.entity, variable.name] = width * rows(variable.entity)
            if variable.entity is not spec.of:
                columns[spec.of, variable.entity.value] = 4 * rows(spec.of)
    return sum(columns.values())


#: For each variable, the number of the partition of its leaves that is needed.
_Grid = Mapping[str, int]


@dataclass(slots=True)
class _Draft:
    """A scan while it is being put together."""

    kind: str
    tables: list[int]
    grid: _Grid
    cost: float


class _Planner:
    """Puts tables together, cheapest first."""

    def __init__(
        self,
        specs: Sequence[TableSpec],
        rows: Callable[[Entity], int],
        largest: int,
        slower: float,
    ) -> None:
        self._specs, self._rows = specs, rows
        self._largest, self._slower = largest, slower
        self._partitions = _Partitions()

    def scans(self) -> list[Scan]:
        """The scans that give all tables."""
        alone = [self._alone(at) for at in range(len(self._specs))]
        by_kind: dict[str, list[_Draft]] = {}
        # The finest first: what is coarser than one of them then finds its place at once.
        for draft in sorted(alone, key=lambda draft: (-self._cells(draft.grid), draft.tables)):
            drafts = by_kind.setdefault(draft.kind, [])
            best = self._best(draft, drafts)
            if best is None:
                drafts.append(draft)
            else:
                drafts[drafts.index(best[0])] = best[1]
        return [self._scan(draft) for drafts in by_kind.values() for draft in self._paired(drafts)]

    def _best(self, draft: _Draft, others: Sequence[_Draft]) -> tuple[_Draft, _Draft] | None:
        """The scan that gains most by taking another in, and what it is then."""
        best: tuple[_Draft, _Draft] | None = None
        gain = 0.0
        for other in others:
            both = self._union(other, draft)
            if both is not None and other.cost + draft.cost - both.cost > gain:
                gain = other.cost + draft.cost - both.cost
                best = other, both
        return best

    def _paired(self, drafts: list[_Draft]) -> list[_Draft]:
        """Put whole scans together while that gains anything."""
        at = 0
        while at < len(drafts):
            best = self._best(drafts[at], drafts[at + 1 :])
            if best is None:
                at += 1
            else:
                drafts.remove(best[0])
                drafts[at] = best[1]
        return drafts

    def _alone(self, at: int) -> _Draft:
        spec = self._specs[at]
        grid = {axis.variable.name: self._partitions.add(axis) for axis in spec.axes}
        kind = [spec.of.value, spec.universe.canonical(), spec.measure.value, spec.weight_decimals]
        if spec.amount is not None:
            kind.append(at)  # lists of contributions are counted for each table by itself
        return _Draft(json.dumps(kind), [at], grid, self._cost([at], grid))

    def _union(self, one: _Draft, other: _Draft) -> _Draft | None:
        grid = dict(one.grid)
        for name, partition in other.grid.items():
            grid[name] = (
                self._partitions.both(name, grid[name], partition) if name in grid else (partition)
            )
        if self._cells(grid) > self._largest:
            return None
        tables = sorted([*one.tables, *other.tables])
        return _Draft(one.kind, tables, grid, self._cost(tables, grid))

    def _cells(self, grid: _Grid) -> int:
        return math.prod(self._partitions.size(name, partition) for name, partition in grid.items())

    def _cost(self, tables: Sequence[int], grid: _Grid) -> float:
        """Seconds of one core for a scan and for adding its tables up, margins not counted."""
        spec = self._specs[tables[0]]
        rows, cells = self._rows(spec.of), self._cells(grid)
        areas = [self._partitions.size(name, grid[name]) for name in self._partitions.areas(grid)]
        near = cells // max(max(areas, default=1), 1)
        row = _ROW + _ROW_AXIS * (len(grid) + 2 * len(spec.universe.variables))
        if near > _NEAR_CELLS:
            row += _ROW_FAR
        if cells > LARGEST_DENSE_GRID:
            return self._slower * (_SCAN + rows * (row + _SORT_ROW)) + (
                min(rows, cells) * _SORT_ROW * len(tables)
            )
        cost = self._slower * (_SCAN + rows * row) + cells * _GRID_CELL
        return cost if len(tables) == 1 else cost + cells * _FOLD_CELL * len(tables)

    def _scan(self, draft: _Draft) -> Scan:
        first = self._specs[draft.tables[0]]
        direct = len(draft.tables) == 1
        spec = first
        if not direct:
            axes = (
                self._partitions.axis(name, partition) for name, partition in draft.grid.items()
            )
            spec = TableSpec(
                of=first.of,
                axes=tuple(sorted(axes, key=_place_of_axis)),
                universe=first.universe,
                measure=first.measure,
                name=first.title,
                weight_decimals=first.weight_decimals,
            )
        size = Layout(spec).size
        rows = self._rows(first.of)
        sparse = max(size, spec.cells) > LARGEST_DENSE_GRID
        weights = 8 if first.measure.is_weighted else 0
        if first.amount is not None:
            weights += CONTRIBUTIONS_BYTES
        held = min(rows, spec.base_cells) * SORTING_BYTES if sparse else size * FILLING_BYTES
        return Scan(
            spec, tuple(draft.tables), direct, held + size * weights * (not sparse), draft.cost
        )


def _place_of_axis(axis: Axis) -> tuple[bool, bool, int]:
    """Areas first, as records are sorted by them: their cells then lie one behind the other."""
    return not axis.variable.main, axis.variable.role is not Role.GEOGRAPHY, -axis.base_size


class _Partitions:
    """Partitions of the leaves of variables, each under a number."""

    def __init__(self) -> None:
        self._variables: dict[str, Variable] = {}
        self._known: dict[tuple[str, bytes], int] = {}
        self._groups: dict[str, list[Int64]] = {}
        self._sizes: dict[str, list[int]] = {}
        self._both: dict[tuple[str, int, int], int] = {}
        self._axes: dict[tuple[str, int], Axis] = {}

    def add(self, axis: Axis) -> int:
        """The number of the partition into the base groups of an axis."""
        variable = axis.variable
        known = self._variables.setdefault(variable.name, variable)
        if known is not variable and [code.code for code in known.codes] != [
            code.code for code in variable.codes
        ]:
            raise SpecError(
                f"Two tables have different code lists for {variable.name!r}. Make both for the"
                " schema of the same records."
            )
        return self._number(variable.name, axis.base)

    def both(self, name: str, one: int, other: int) -> int:
        """The number of the coarsest partition that is at least as fine as both."""
        if one == other:
            return one
        pair = (name, min(one, other), max(one, other))
        if pair not in self._both:
            mine, theirs = self._groups[name][one], self._groups[name][other]
            self._both[pair] = self._number(name, mine * (int(theirs.max(initial=0)) + 1) + theirs)
        return self._both[pair]

    def size(self, name: str, number: int) -> int:
        """How many groups a partition has."""
        return self._sizes[name][number]

    def areas(self, names: Iterable[str]) -> list[str]:
        """Those of some variables that are geographies: records are sorted by one of them."""
        return [name for name in names if self._variables[name].role is Role.GEOGRAPHY]

    def axis(self, name: str, number: int) -> Axis:
        """An axis whose positions are the groups of a partition, without a total."""
        if (name, number) not in self._axes:
            codes = tuple(Code(str(at)) for at in range(self._sizes[name][number]))
            group = tuple(self._groups[name][number].tolist())
            level = Level(f"{name} together", codes, group)
            self._axes[name, number] = make_axis(self._variables[name], [level], total=False)
        return self._axes[name, number]

    def _number(self, name: str, group: Int64) -> int:
        # Groups are numbered by their first leaf: equal partitions are equal arrays then.
        _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
        canonical = rank[inverse.reshape(-1)].astype(np.int64)
        key = (name, canonical.tobytes())
        if key not in self._known:
            groups = self._groups.setdefault(name, [])
            self._known[key] = len(groups)
            groups.append(canonical)
            self._sizes.setdefault(name, []).append(int(first.size))
        return self._known[key]
