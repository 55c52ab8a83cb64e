"""Exact feasibility intervals of withheld cells: the smallest and the largest value of each.

``audit_cells`` takes arrays, so that whoever chooses cells to withhold can ask what they leave
open. First single rows are used up, which settles most; what remains falls apart into cells that
hang together, and linear programs settle the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock, local
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.inference.row_bounds import Narrowed, narrow_rows
from sdcensus.model.cube.constraints import SparseMatrix
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.audit.intervals import CellIntervals, DoesNotAddUp
from sdcensus.solvers.audit.linear import least_failures
from sdcensus.solvers.audit.merge import merged
from sdcensus.solvers.audit.search import ComponentSearch, Contradiction
from sdcensus.solvers.audit.system import FREE, AuditSystem, Int64, Mask, Unknowns

#: How often a row is looked at, at most, while bounds follow from single rows.
_VISITS = 1000
#: Parts with as many cells are worked on by all threads, so many cells at a time.
_LARGE, _CHUNK = 500, 32


@dataclass(frozen=True, slots=True, eq=False)
class _Options:
    """How programs are solved."""

    solution: Int64 | None
    integer: bool
    programs: bool
    workers: int


def audit_cells(
    equations: SparseMatrix,
    values: npt.NDArray[Any],
    hidden: npt.NDArray[Any],
    *,
    lower: npt.NDArray[Any] | int | None = 0,
    upper: npt.NDArray[Any] | int | None = None,
    asked: npt.NDArray[Any] | None = None,
    tolerance: int = 0,
    integer: bool = False,
    solution: npt.NDArray[Any] | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> CellIntervals:
    """The narrowest intervals of withheld cells that equations and published cells allow.

    Args:
        equations: What adds up, one row for each equation over all cells.
        values: A whole number for each cell; those of withheld cells are not looked at.
        hidden: A mask of the withheld cells.
        lower, upper: What is known of withheld cells from the start: counts are at least 0.
        asked: A mask of the withheld cells that are asked for; all of them if ``None``.
        tolerance: By how much equations may fail, where published values are rounded.
        integer: Whether bounds are moved to where a table of whole numbers reaches them. A linear
            program lets cells be fractions; its bounds are rounded inwards, and in tables of three
            axes and more the whole numbers can leave less than that.
        solution: Values of all cells that are known to fit (the true ones): a place to begin. The
            intervals do not depend on it.
        workers: How many threads work; as many as processors if ``None``.
        progress: Told how far it is.

    Raises:
        DoesNotAddUp: Published cells contradict each other.
    """
    system = AuditSystem.of(
        equations, values, hidden, lower=lower, upper=upper, tolerance=tolerance
    )
    return audit_system(
        system,
        asked=asked,
        integer=integer,
        solution=solution,
        workers=workers,
        progress=progress,
    )


def audit_system(
    system: AuditSystem,
    *,
    asked: npt.NDArray[Any] | None = None,
    integer: bool = False,
    programs: bool = True,
    solution: npt.NDArray[Any] | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> CellIntervals:
    """The same as ``audit_cells`` for a system that was made already.

    Args:
        system: The cells.
        asked, integer, solution, workers, progress: As there.
        programs: Whether linear programs are solved; else intervals may be too wide.
    """
    if workers is not None and (type(workers) is not int or workers < 1):
        raise SpecError("Intervals are found by one worker or more.")
    chosen = _asked(system, asked)
    failed = system.failed()
    if failed:
        raise DoesNotAddUp(failed)
    known = None if solution is None else np.asarray(solution).astype(np.int64)
    options = _Options(known, integer, programs, workers or os.cpu_count() or 1)
    unknowns = system.unknowns()
    try:
        return _audited(system, unknowns, chosen, options, progress)
    except Contradiction:
        failures = least_failures(unknowns)
        equations = unknowns.equations
        raise DoesNotAddUp(
            [system.equation(int(equations[row]), gap) for row, gap in failures.items()]
        ) from None


def _audited(
    system: AuditSystem,
    unknowns: Unknowns,
    asked: Mask,
    options: _Options,
    progress: Progress,
) -> CellIntervals:
    """Single rows first, then what hangs together."""
    start = narrowed(unknowns)
    lower, upper = system.values.copy(), system.values.copy()
    lower[start.cells], upper[start.cells] = start.lower, start.upper
    intervals = CellIntervals.before_programs(asked, lower, upper)
    if options.programs:
        _search(list(_components(start, asked)), intervals, options, progress)
    return intervals.closed()


def narrowed(unknowns: Unknowns) -> Unknowns:
    """Bounds of unknown cells as far as single rows narrow them.

    Raises:
        Contradiction: No values fit.
    """
    if (unknowns.lower > unknowns.upper).any():
        raise SpecError("The bounds that are given for a withheld cell exclude each other.")
    lower, upper = unknowns.lower.copy(), unknowns.upper.copy()
    visits = _VISITS * max(unknowns.height, 1)
    ended = narrow_rows(unknowns.rows, lower, upper, FREE, visits) if unknowns.height else -2
    if ended >= Narrowed.CONTRADICTION:
        raise Contradiction
    return Unknowns(unknowns.cells, unknowns.equations, unknowns.rows, lower, upper)


def _asked(system: AuditSystem, asked: npt.NDArray[Any] | None) -> Mask:
    if asked is None:
        return system.hidden.copy()
    mask = np.asarray(asked)
    if mask.shape != system.hidden.shape or mask.dtype != np.bool_:
        raise SpecError("The cells that are asked for are given as a mask of all cells.")
    return np.asarray(mask & system.hidden)


def _components(start: Unknowns, asked: Mask) -> Iterator[tuple[Unknowns, Mask]]:
    """Cells that hang together by rows, without those of which one value is left."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    loose = start.lower < start.upper
    rows = start.rows
    row = np.repeat(np.arange(start.height, dtype=np.int64), np.diff(rows.starts))
    used = loose[rows.columns]
    # Rows and cells are the nodes; an entry of the matrix ties a row to a cell.
    nodes = start.height + start.size
    ties = (row[used], start.height + rows.columns[used])
    graph = coo_array((np.ones(ties[0].size, dtype=np.int8), ties), shape=(nodes, nodes))
    _, label = connected_components(graph, directed=False)
    of_row, of_cell = label[: start.height], label[start.height :]
    wanted = np.unique(of_cell[loose & asked[start.cells]])
    row_order, cell_order = np.argsort(of_row, kind="stable"), np.argsort(of_cell, kind="stable")
    for part in wanted.tolist():
        cells = _labelled(of_cell, cell_order, part)
        inside = start.part(cells[loose[cells]], _labelled(of_row, row_order, part))
        yield inside, asked[inside.cells]


def _labelled(labels: Int64, order: Int64, label: int) -> Int64:
    """Where a label stands, ascending."""
    ends = np.searchsorted(labels, [label, label + 1], sorter=order)
    return np.asarray(order[ends[0] : ends[1]], dtype=np.int64)


def _search(
    parts: Sequence[tuple[Unknowns, Mask]],
    intervals: CellIntervals,
    options: _Options,
    progress: Progress,
) -> None:
    """Settle every part, the largest ones first; all threads work on one that is large."""
    ordered = sorted(parts, key=lambda part: -part[0].size)
    total = sum(int(asked.sum()) for _, asked in ordered)
    counted = _Counted(progress, total)
    large = [part for part in ordered if part[0].size >= _LARGE]
    small = ordered[len(large) :]
    with ThreadPoolExecutor(max_workers=options.workers) as threads:
        for part in large:
            _settle(part, intervals, options, counted, threads)
        for _ in threads.map(lambda part: _settle(part, intervals, options, counted, None), small):
            pass


def _settle(
    part: tuple[Unknowns, Mask],
    intervals: CellIntervals,
    options: _Options,
    counted: _Counted,
    threads: Executor | None,
) -> None:
    """One part: by this thread, or by all of them."""
    unknowns, asked = part
    fewer = merged(unknowns)
    left = fewer.unknowns
    wanted = np.zeros(left.size, dtype=bool)
    wanted[fewer.place[asked]] = True
    known = None if options.solution is None else options.solution[left.cells]
    search = ComponentSearch(left, wanted, known)
    share = int(asked.sum()) / max(search.cells.size, 1)
    for done in _settle_cells(search, threads):
        counted.add(done * share)
    if options.integer:
        for done_share in search.settle_whole():
            counted.tell("tables of whole numbers", done_share)
    intervals.take(unknowns.cells, asked, search, fewer)


def _settle_cells(search: ComponentSearch, threads: Executor | None) -> Iterator[int]:
    """All linear programs of a part; tells how many cells are done each time."""
    solver = search.solver()
    search.sweep(solver)
    chunks = [search.cells[at : at + _CHUNK] for at in range(0, search.cells.size, _CHUNK)]
    if threads is None:
        for chunk in chunks:
            search.settle(solver, chunk)
            yield chunk.size
        return
    own = local()

    def settle(chunk: Int64) -> int:
        if not hasattr(own, "solver"):
            own.solver = search.solver()
        search.settle(own.solver, chunk)
        return chunk.size

    yield from threads.map(settle, chunks)


class _Counted:
    """How many cells are done, told by several threads."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total, self._done, self._lock = progress, total, 0.0, Lock()

    def add(self, cells: float) -> None:
        """So many more."""
        with self._lock:
            self._done += cells
            self._progress("intervals of withheld cells", min(1.0, self._done / self._total))

    def tell(self, stage: str, done: float) -> None:
        """How far something else is."""
        with self._lock:
            self._progress(stage, done)
