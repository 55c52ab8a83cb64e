"""Secondary suppression: closing columns until no target is a combination of open ones."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.elimination import candidates
from sdcensus.kernels.elimination.basis import (
    Bool,
    Columns,
    Int64,
    new_basis,
    new_scratch,
    with_more_room,
)
from sdcensus.kernels.elimination.candidates import (
    APART,
    DONE,
    INSIDE,
    KNOWN,
    NARROW_FULL,
    NEEDED,
    NEXT,
    OUTSIDE,
    TARGETS_FULL,
    WIDE_FULL,
    Run,
    Task,
    file_all,
    go_on,
)
from sdcensus.kernels.elimination.merging import (
    chosen_columns,
    same_columns,
    same_rows,
    with_rows,
)
from sdcensus.kernels.elimination.residues import PAIRS
from sdcensus.kernels.elimination.targets import new_targets, packed

#: Steps of work after which a run pauses, for progress and for whoever wants to stop it.
_PAUSE = 20_000_000


class Singles(IntEnum):
    """What is done for those who are alone in a target and so know its number.

    ``IGNORED``: nothing. ``ALONE``: who knows one of these targets can compute no other target.
    ``ANY_SUM``: no combination of the rows of these targets can be computed.
    """

    IGNORED = candidates.IGNORED
    ALONE = candidates.ALONE
    ANY_SUM = candidates.ANY_SUM


class Status(IntEnum):
    """What becomes of a column.

    A target is ``EXPOSED`` where what must be open makes it up, or where it is 0. ``LEFT_OUT`` is
    neither a target nor named in the order: nobody asks what becomes of it.
    """

    LEFT_OUT = 0
    OPEN = candidates.OPEN
    CLOSED = candidates.CLOSED
    TARGET = 3
    EXPOSED = 4


def nobody_watches(done: float) -> None:
    """Progress that nobody wants to know."""


def suppressed(
    columns: Columns,
    height: int,
    targets: Bool,
    order: Int64,
    *,
    forced: Bool | None = None,
    known: Bool | None = None,
    singles: Singles = Singles.IGNORED,
    weights: Int64 | None = None,
    progress: Callable[[float], None] = nobody_watches,
) -> npt.NDArray[np.int8]:
    """Close columns until no target is a linear combination of open columns.

    Candidates are gone through in their order; one is closed if it would, with those that are open
    before it, make up a target that they do not make up without it, or if it is the same as a
    target. So the set of open columns cannot be made larger, and the outcome depends on nothing
    but the order.

    Everything is computed modulo two primes of 31 bits that have to agree on what is 0; where they
    do not, the next two are taken. A target that is no combination of open columns modulo a prime
    could be one in fractions only if that prime divided their denominators: they are determinants
    of zeros and ones, small in tables.

    Args:
        columns: The columns, targets among them.
        height: How many rows there are.
        targets: The columns that must not be computed.
        order: The columns that may be opened, those first that are wanted most. Targets in it are
            passed over.
        forced: Those among them that must be opened, whatever they make up.
        known: Targets that somebody is alone in, and so knows.
        singles: What is done for them.
        weights: For each row how large it is; decides how fast it goes, and not the outcome.
        progress: Told which share of the candidates is done.

    Returns:
        The ``Status`` of each column.
    """
    nothing = np.zeros(targets.size, dtype=bool)
    forced = nothing if forced is None else forced
    known = nothing if known is None else known & targets
    asked = nothing.copy()
    asked[order] = True
    asked &= ~targets
    first, group = same_columns(columns)
    merged = _Merged(first, group)
    held, must = merged.any_of(targets), merged.any_of(forced & asked)
    groups = merged.order(order[asked[order]], held, must)
    task, numbers, known = _task(
        columns, height, merged, groups, (targets, known), singles, weights
    )
    opened, exposed = _outcome(task, numbers, known, progress)
    status = np.where(asked, Status.CLOSED, Status.LEFT_OUT)
    shown = opened[group] & (forced | ~held[group])
    # What is 0 everywhere is known anyway.
    shown |= np.diff(columns.starts) == 0
    status[asked & shown] = Status.OPEN
    status[targets] = np.where(exposed[group[targets]], Status.EXPOSED, Status.TARGET)
    return status.astype(np.int8)


class _Merged(NamedTuple):
    """Columns by groups of the same ones: the first of each group, and the group of each."""

    first: Int64
    group: Int64

    def any_of(self, mask: Bool) -> Bool:
        """Groups with a column of which something holds."""
        held = np.zeros(self.first.size, dtype=bool)
        held[self.group[mask]] = True
        return held

    def order(self, order: Int64, targets: Bool, forced: Bool) -> tuple[Int64, int]:
        """Groups in the order of their first candidates, those that must be opened before."""
        groups = self.group[order]
        _, place = np.unique(groups, return_index=True)
        groups = groups[np.sort(place)]
        must = groups[forced[groups]]
        may = groups[~forced[groups] & ~targets[groups]]
        return np.concatenate([must, may]), must.size


def _task(
    columns: Columns,
    height: int,
    merged: _Merged,
    order: tuple[Int64, int],
    masks: tuple[Bool, Bool],
    singles: Singles,
    weights: Int64 | None,
) -> tuple[Task, Int64, Bool]:
    """What is asked of the kernel, with each column and row once; targets, and which are known."""
    groups, forced = order
    targets, known = (merged.any_of(mask) for mask in masks)
    used = targets.copy()
    used[groups] = True
    # Columns that nobody asks for become empty: rows are told apart by the others only.
    distinct = chosen_columns(columns, merged.first)
    lengths = np.where(used, np.diff(distinct.starts), 0)
    kept = np.repeat(used, np.diff(distinct.starts))
    starts = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    distinct = Columns(starts, distinct.rows[kept], distinct.values[kept])
    first_rows, row_group = same_rows(distinct, height)
    weight = np.zeros(first_rows.size, dtype=np.int64)
    np.add.at(weight, row_group, 1 if weights is None else weights)
    distinct = with_rows(distinct, first_rows, height)
    sizes = np.diff(distinct.starts)
    # A short column first is a short basis; forced ones have no order of their own.
    groups[:forced] = groups[:forced][np.argsort(sizes[groups[:forced]], kind="stable")]
    numbers = np.flatnonzero(targets)
    kinds = np.full(first_rows.size, OUTSIDE, dtype=np.int64)
    kinds[chosen_columns(distinct, numbers).rows] = INSIDE
    if singles is Singles.ANY_SUM:
        kinds[chosen_columns(distinct, np.flatnonzero(known & (sizes == 1))).rows] = KNOWN
    by_size = np.argsort(sizes, kind="stable")
    task = Task(distinct, groups, forced, by_size, kinds, weight, int(singles), PAIRS[0])
    return task, numbers, known[numbers]


def _outcome(
    task: Task, numbers: Int64, known: Bool, progress: Callable[[float], None]
) -> tuple[Bool, Bool]:
    """Which columns are open, and which targets are exposed; with primes that agree."""
    for primes in PAIRS:
        run = _run(task._replace(primes=primes), numbers, known, progress)
        if run is not None:
            exposed = np.zeros(run.status.size, dtype=bool)
            exposed[numbers[run.targets.lengths == 0]] = True
            return run.status == Status.OPEN, exposed
    raise ArithmeticError("No two primes agree on what is 0.")


def _new_run(task: Task, numbers: Int64, known: Bool) -> Run:
    rows = task.kinds.size
    return Run(
        wide=new_basis(rows, rows, 4 * task.columns.rows.size + 1024),
        narrow=new_basis(rows, rows, 1024),
        targets=new_targets(task.columns, numbers, known, rows, task.primes),
        scratch=new_scratch(rows),
        status=np.zeros(task.columns.starts.size - 1, dtype=np.int64),
        listed=np.zeros(numbers.size, dtype=np.int64),
        prints=np.zeros(numbers.size, dtype=np.int64),
        heap=np.zeros(numbers.size, dtype=np.int64),
        places=np.zeros(4, dtype=np.int64),
    )


def _run(task: Task, numbers: Int64, known: Bool, progress: Callable[[float], None]) -> Run | None:
    """Go through all candidates; nothing where the primes disagree."""
    run = _new_run(task, numbers, known)
    file_all(task, run)
    while True:
        answer = go_on(task, run, _PAUSE)
        progress(run.places[NEXT] / max(task.order.size, 1))
        if answer == DONE:
            return run
        if answer == APART:
            return None
        if answer == WIDE_FULL:
            run = run._replace(wide=with_more_room(run.wide))
        elif answer == NARROW_FULL:
            run = run._replace(narrow=with_more_room(run.narrow))
        elif answer == TARGETS_FULL:
            run = run._replace(targets=packed(run.targets, int(run.places[NEEDED])))
