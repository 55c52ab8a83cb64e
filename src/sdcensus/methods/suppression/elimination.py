"""Secondary suppression by elimination: no primary cell is a sum or difference of open ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.elimination.basis import Columns
from sdcensus.kernels.elimination.merging import same_columns
from sdcensus.kernels.elimination.spans import Span
from sdcensus.kernels.elimination.suppression import (
    Singles,
    Status,
    nobody_watches,
    suppressed,
)
from sdcensus.methods.suppression.interval_settings import DEFAULT_WORK
from sdcensus.methods.suppression.problem import Pattern, SuppressionProblem
from sdcensus.methods.suppression.reopening import opened_again
from sdcensus.methods.suppression.room import Insiders
from sdcensus.methods.suppression.widening import proven, widened
from sdcensus.model.linked.atoms import cells_of_atoms, joint_spec
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.limits import Limits

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Combinations of codes that are looked at where empty cells are closed.
MOST_COMBINATIONS = 2_000_000
#: How much is done, at most, to open again what hides nothing.
LAST_PASS = Limits(work=DEFAULT_WORK)
#: Cells and reasons that a message names.
_NAMED = 5


class Rows(NamedTuple):
    """What tells cells apart: columns of all cells over rows, and the units in each row."""

    columns: Columns
    weights: Int64


def rows_of(linked: LinkedCubes, unknown: Mask) -> Rows:
    """The rows of elimination.

    One for each set of records that the tables tell apart. Empty sets are rows only where nobody
    is told that they are empty: then nothing but their being closed hides it.

    Args:
        linked: The tables.
        unknown: Empty cells that are not told to be empty.
    """
    atoms, size = linked.atoms, linked.tables.size
    row = np.repeat(np.arange(len(atoms), dtype=np.int64), np.diff(atoms.starts))
    cell, weights = atoms.cells, atoms.counts
    if unknown.any():
        more_row, more_cell, count = _empty(linked, unknown)
        row = np.concatenate([row, len(atoms) + more_row])
        cell = np.concatenate([cell, more_cell])
        weights = np.concatenate([weights, np.zeros(count, dtype=np.int64)])
    order = np.lexsort((row, cell))
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(cell, minlength=size), out=starts[1:])
    return Rows(Columns(starts, row[order], np.ones(row.size, dtype=np.int64)), weights)


def _empty(linked: LinkedCubes, unknown: Mask) -> tuple[Int64, Int64, int]:
    """Empty combinations of codes of which no open cell tells it: rows and cells of each."""
    tables = linked.tables
    joint = joint_spec(tables.specs)
    if joint.cells > MOST_COMBINATIONS:
        raise SpecError(
            f"The tables tell {joint.cells:,} combinations of codes apart, and at most"
            f" {MOST_COMBINATIONS:,} can be looked at where empty cells are closed. Show empty"
            ' cells (zeros = "show"), or take fewer or coarser axes, or fewer tables at a time.'
        )
    numbers = np.arange(joint.cells, dtype=np.uint64)
    parts = [
        cells_of_atoms(joint, numbers, spec, cells)
        for spec, cells in zip(tables.specs, tables.cell_of, strict=True)
    ]
    row = np.concatenate([part[0] for part in parts])
    cell = np.concatenate([part[1] for part in parts])
    # A combination is known to be empty if a cell that holds it is open and 0; and it is not
    # empty if no cell that holds it can be told apart from the sets that are not.
    told = np.zeros(joint.cells, dtype=bool)
    told[row[(linked.counts[cell] == 0) & ~unknown[cell]]] = True
    hidden = np.zeros(joint.cells, dtype=bool)
    hidden[row[(linked.counts[cell] == 0) & unknown[cell]]] = True
    kept = np.flatnonzero(hidden & ~told)
    number = np.full(joint.cells, -1, dtype=np.int64)
    number[kept] = np.arange(kept.size)
    inside = number[row] >= 0
    place = np.unique(number[row[inside]] * tables.size + cell[inside])
    return place // tables.size, place % tables.size, kept.size


def eliminate(
    linked: LinkedCubes,
    problem: SuppressionProblem,
    *,
    singles: Singles = Singles.ALONE,
    zeros_open: bool = True,
    width: int = 1,
    begin: Mask | None = None,
    progress: Progress = no_progress,
) -> Pattern:
    """Close cells until no primary one can be computed.

    Candidates are gone through in the order of the problem. Afterwards the primary cells are
    audited: if the whole numbers that are possible for one lie too near together, further cells
    are closed, the last in the order first, until they do not. At last closed cells that hide
    nothing are opened again.

    Args:
        linked: The tables.
        problem: What is asked.
        singles: What is done for those who are alone in a primary cell.
        zeros_open: Whether empty cells that are not primary are told to be empty. Where not, they
            may be closed for others, as the reference program does; a line of which all cells but
            empty ones are open then gives them away.
        width: How far apart the smallest and the largest possible value of a primary cell have
            to be; 0 for no audit.
        begin: Cells that another engine closes: others are not closed without need, and those
            that hide nothing are opened.
        progress: Told how far it is.

    Raises:
        SpecError: Cells that must stay open tell a primary one.
    """
    empty = problem.counts == 0
    unknown = empty & problem.shown & (problem.primary | (not zeros_open))
    task = _Elimination.of(linked, problem, rows_of(linked, unknown), singles)
    order = problem.order if begin is None else problem.order[~begin[problem.order]]
    status = task.run(order, problem.forced, lambda done: progress("closing cells", done))
    exposed = np.flatnonzero((status == Status.EXPOSED) & problem.shown)
    if exposed.size:
        raise SpecError(_why(linked.tables, problem, task.rows, exposed))
    closed = problem.shown & (status != Status.OPEN)
    if task.hidden.any():
        opened = order[~closed[order]]
        closed[opened[~task.keeps_hidden(opened, problem.forced)]] = True
    engine = "elimination" if begin is None else "the modular engine"
    if not width or not problem.primary.any():
        return Pattern(closed, _counted(problem, closed, engine))
    insiders = None if singles is Singles.IGNORED else _insiders(linked, problem)
    if begin is not None and problem.reach is None and (closed == begin).all():
        wide = proven(linked, problem, closed, width=width, insiders=insiders)
    else:
        wide = widened(linked, problem, closed, width=width, insiders=insiders, progress=progress)
    fewer = wide.closed
    # What elimination has closed at once for primary cells it cannot open.
    if begin is not None or task.hidden.any() or (fewer != closed).any():
        fewer = opened_again(
            problem, wide, task.openable, insiders=insiders, limits=LAST_PASS, progress=progress
        )
    more, again = int((wide.closed & ~closed).sum()), int((wide.closed & ~fewer).sum())
    said = [_counted(problem, fewer, engine)]
    if more:
        said.append(f"Of these {int((fewer & ~closed).sum()):,} were closed after an audit.")
    if again:
        said.append(f"{again:,} more hid nothing and were opened again.")
    return Pattern(fewer, " ".join([*said, wide.statement]))


class _Elimination(NamedTuple):
    """What elimination is asked.

    Attributes:
        problem: The cells.
        rows: What tells them apart.
        singles: What is done for those who are alone in a primary cell.
        hidden: Cells that were closed before and that what was open before does not tell.
    """

    problem: SuppressionProblem
    rows: Rows
    singles: Singles
    hidden: Mask

    @classmethod
    def of(
        cls, linked: LinkedCubes, problem: SuppressionProblem, rows: Rows, singles: Singles
    ) -> _Elimination:
        """Find which of the cells that were closed before something hides."""
        frozen = problem.frozen & (problem.counts > 0)
        task = cls(problem, rows, singles, frozen)
        if frozen.any():
            opened = problem.order[problem.opened_before[problem.order]]
            status = task._run(frozen, opened, problem.opened_before, Singles.IGNORED)
            task = task._replace(hidden=frozen & (status != Status.EXPOSED))
        return task

    def run(
        self, order: Int64, forced: Mask, told: Callable[[float], None] = nobody_watches
    ) -> npt.NDArray[np.int8]:
        """What becomes of cells that may be opened in an order, some of which must be."""
        order = order[~self.problem.frozen[order]]
        return self._run(self.problem.primary, order, forced, self.singles, told)

    def _run(
        self,
        targets: Mask,
        order: Int64,
        forced: Mask,
        singles: Singles,
        told: Callable[[float], None] = nobody_watches,
    ) -> npt.NDArray[np.int8]:
        return suppressed(
            self.rows.columns,
            self.rows.weights.size,
            targets,
            order,
            forced=forced,
            known=self.problem.counts == 1,
            singles=singles,
            weights=self.rows.weights,
            progress=told,
        )

    def keeps_hidden(self, order: Int64, forced: Mask) -> Mask:
        """Which of some cells can be opened, one after the other, if what is hidden stays so."""
        status = self._run(self.hidden, order, forced, Singles.IGNORED)
        return np.asarray(status[order] == Status.OPEN)

    def openable(self, closed: Mask, candidates: Int64) -> Int64:
        """Which of some closed cells can be opened, all together, as far as elimination goes."""
        opened = self.problem.shown & ~closed
        order = np.concatenate([np.flatnonzero(opened), candidates])
        free = candidates[self.run(order, opened)[candidates] == Status.OPEN]
        if free.size and self.hidden.any():
            order = np.concatenate([np.flatnonzero(opened), free])
            free = free[self.keeps_hidden(order, opened)[-free.size :]]
        return np.asarray(free, dtype=np.int64)


def _counted(problem: SuppressionProblem, closed: Mask, engine: str) -> str:
    """How many cells are closed."""
    secondary = int((closed & ~problem.primary & ~problem.frozen).sum())
    return (
        f"{int(problem.primary.sum()):,} primary and {secondary:,} secondary cells are closed by"
        f" {engine}."
    )


def _insiders(linked: LinkedCubes, problem: SuppressionProblem) -> Insiders:
    """Those who are alone in a cell: in a primary one, or in any other that may be closed.

    Who agreed to be shown is alone in a cell that is not primary, and knows it all the same.
    """
    nothing = np.zeros(problem.size, dtype=bool)
    _, group = same_columns(rows_of(linked, nothing).columns)
    return Insiders(problem.shown & (problem.counts == 1), group)


def _why(tables: LinkedTables, problem: SuppressionProblem, rows: Rows, exposed: Int64) -> str:
    """Which primary cells must stay open cells tell, and which of these."""
    forced = np.flatnonzero(problem.forced)
    span = Span(rows.columns, rows.weights.size, forced)
    lines = []
    for cell in exposed[:_NAMED].tolist():
        certificate = span.certificate(cell)
        parts = () if certificate is None else certificate.columns
        named = "; ".join(tables.name(part) for part in parts[:_NAMED])
        more = f" and {len(parts) - _NAMED} more" if len(parts) > _NAMED else ""
        lines.append(f"{tables.name(cell)} (from {named}{more})" if parts else tables.name(cell))
    rest = f" And {exposed.size - _NAMED} more." if exposed.size > _NAMED else ""
    return (
        "Cells that must stay open, since they were published before, tell cells that may not be"
        f' shown: {" | ".join(lines)}.{rest} Let them be closed (contradictions = "close"), or'
        " leave the table out."
    )
