"""Counting the tables of a schedule: few passes over the records, bounded memory.

Tables that are coarser than a cube at hand come from it, without a second look at the records.
Unlike ``Cube.rollup``, which knows the levels of one code list, this goes by leaves: the finer
cube and the table may group the leaves of a variable by hierarchies of their own, as long as each
group of the finer cube lies inside one base group of the table.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.engine.requests import Engine, Tabulate
from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.cells.tabulate import fold, fold_packed, identity, unpack
from sdcensus.model.cube.cube import COUNT, KEY, Accumulators, Cube, packs, sum_type
from sdcensus.model.cube.layout import Layout, mixed_radix, positions_on
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID, AnyCube, SparseCube, assemble
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census, EngineName
from sdcensus.session.publish.schedule import Scan, Schedule

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
    alike = (finest.of, finest.measure, finest.amount) == (spec.of, spec.measure, spec.amount)
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


#: What is done with each table: its position among those of the schedule, and its cube.
Work = Callable[[int, AnyCube], None]

#: What progress calls this stage.
STAGE = "tables"
#: How often whoever waits looks whether somebody wants everything to stop.
_PATIENCE = 0.2


def count_tables(
    census: Census,
    schedule: Schedule,
    work: Work,
    *,
    engine: str | EngineName | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
    only: Collection[int] | None = None,
    households: bool = False,
    replicates: Callable[[TableSpec], bool] = lambda _: False,
) -> None:
    """Count every table of a schedule and hand each to ``work``.

    ``work`` is called by several threads at the same time, for each table once, in no promised
    order. At most ``schedule.workers`` scans and as many tables are held. The first error, of
    counting or of ``work``, stops everything and is raised here once the others have ended what
    they were at.

    Args:
        census: The records.
        schedule: What is counted together.
        work: What is done with each table.
        engine: Who counts, as for ``Census.tabulate``.
        threads: How many processors to use; those of the schedule by default.
        progress: Told how much is done, by one thread at a time.
        only: Positions of the tables that are wanted; the others were done before.
        households: Also find which cells of persons are one household.
        replicates: Which tables need sampling errors; these are counted each for itself.
    """
    schedule.check_memory()
    wanted = set(range(len(schedule.specs))) if only is None else set(only)
    for at in sorted(wanted - set(range(len(schedule.specs)))):
        raise UnknownName(
            "table in the schedule", str(at), known=map(str, range(len(schedule.specs)))
        )
    if wanted:
        crew = _Crew(census, schedule, wanted, work, engine, threads, progress, households)
        crew.replicates = replicates
        crew.run()


class _Counted:
    """A scan that was counted, and its tables that are still to be made from it."""

    __slots__ = ("_cube", "left", "scan", "waiting")

    def __init__(self, scan: Scan, cube: AnyCube, waiting: list[int]) -> None:
        self.scan, self.waiting = scan, waiting
        self.left = len(waiting)
        self._cube: AnyCube | None = cube

    def table(self, spec: TableSpec) -> AnyCube:
        """The cube of one of its tables."""
        assert self._cube is not None
        return self._cube if self.scan.direct else derived(self._cube, spec)

    def forget(self) -> None:
        """Give the memory back: nothing more comes of it."""
        self._cube = None


class _Crew:
    """The workers. Each takes a table of a counted scan if one waits, else counts the next scan."""

    def __init__(
        self,
        census: Census,
        schedule: Schedule,
        wanted: set[int],
        work: Work,
        engine: str | EngineName | None,
        threads: int | None,
        progress: Progress,
        households: bool,
    ) -> None:
        self._households = households
        self.replicates: Callable[[TableSpec], bool] = lambda _: False
        scans = [scan for scan in schedule.scans if wanted.intersection(scan.tables)]
        most = schedule.threads if threads is None else max(1, threads)
        self._workers = max(1, min(schedule.workers, most, len(wanted)))
        at_once = max(1, min(self._workers, len(scans)))
        self._engine: Engine = census.engine(engine, threads=max(1, most // at_once))
        # Other engines spread one request over all processors themselves: one at a time.
        self._at_once = at_once if self._engine.name == EngineName.MEMORY else 1
        self._specs, self._wanted, self._work = schedule.specs, wanted, work
        self._scans = scans[::-1]  # taken from the end
        self._counted: list[_Counted] = []
        self._held = self._counting = 0
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self._progress, self._telling = progress, threading.Lock()
        self._cells = sum(self._specs[at].cells for at in wanted)
        self._done = 0

    def run(self) -> None:
        """Do all of it; raise what stopped it."""
        self._progress(STAGE, 0.0)
        threads = [
            threading.Thread(target=self._serve, name=f"tables-{at}", daemon=True)
            for at in range(self._workers)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():  # a wait without an end cannot be interrupted everywhere
                    thread.join(_PATIENCE)
        except BaseException as interruption:
            self._stop(interruption)
            for thread in threads:
                thread.join()
            raise
        if self._failure is not None:
            raise self._failure
        self._progress(STAGE, 1.0)

    def _stop(self, failure: BaseException) -> None:
        with self._changed:
            if self._failure is None:
                self._failure = failure
            self._changed.notify_all()

    def _serve(self) -> None:
        try:
            while (step := self._next()) is not None:
                step()
        except BaseException as failure:  # raised again by whoever waits
            self._stop(failure)

    def _next(self) -> Callable[[], None] | None:
        """What to do next; waits while something may still come, None if nothing will."""
        with self._changed:
            while self._failure is None:
                if self._counted:
                    counted = self._counted[0]
                    at = counted.waiting.pop(0)
                    if not counted.waiting:
                        self._counted.remove(counted)
                    return functools.partial(self._make, counted, at)
                free = self._counting < self._at_once and self._held < self._workers
                if self._scans and free:
                    self._held += 1
                    self._counting += 1
                    return functools.partial(self._count, self._scans.pop())
                if not self._scans and not self._counting:
                    return None
                self._changed.wait()
            return None

    def _count(self, scan: Scan) -> None:
        households = self._households and scan.spec.of is Entity.PERSON
        cube = self._engine.tabulate(Tabulate(spec=scan.spec, households=households))
        waiting = [at for at in scan.tables if at in self._wanted]
        with self._changed:
            self._counted.append(_Counted(scan, cube, waiting))
            self._counting -= 1
            self._changed.notify_all()

    def _cube(self, counted: _Counted, spec: TableSpec) -> AnyCube:
        if not self.replicates(spec):
            return counted.table(spec)
        # Sixty numbers for each cell: those of a scan for many tables could not be held.
        households = self._households and spec.of is Entity.PERSON
        return self._engine.tabulate(Tabulate(spec=spec, households=households, replicates=True))

    def _make(self, counted: _Counted, at: int) -> None:
        cube = self._cube(counted, self._specs[at])
        with self._changed:
            counted.left -= 1
            if not counted.left:
                counted.forget()
                self._held -= 1
                self._changed.notify_all()
        self._work(at, cube)
        with self._telling:
            self._done += self._specs[at].cells
            self._progress(STAGE, self._done / self._cells if self._cells else 1.0)
