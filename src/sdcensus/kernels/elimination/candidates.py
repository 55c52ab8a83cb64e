"""Which columns are closed so that no target is a combination of those that stay open.

Candidates are gone through in their order. One is closed if, together with what is open before it,
it would make up a target: what is left of it is then a multiple of what is left of the target. The
outcome depends on the order of candidates and on nothing else: not on pivots, nor on how a basis of
what is open is built up. That freedom is used twice. Rows outside of every target come first, and
the basis over them is built anew from time to time with the shortest columns first, which keeps
totals from filling it up; a column that has a row there changes no target. Only what lies within
the rows of targets is compared with them.
"""

from __future__ import annotations

from typing import NamedTuple

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.elimination.basis import (
    DISAGREE,
    FREE,
    Basis,
    Columns,
    Int64,
    Scratch,
    clear,
    has_room,
    load,
    reduce_column,
    store,
)
from sdcensus.kernels.elimination.residues import pop, push
from sdcensus.kernels.elimination.targets import (
    NOTHING,
    Targets,
    affected,
    bucket_of,
    changed,
    compress,
    file_target,
    fingerprint,
    is_multiple,
    put,
)


class Task(NamedTuple):
    """What is asked.

    Attributes:
        columns: All columns.
        order: Those that may be opened, in their order; those that must be come first.
        forced: How many must be.
        by_size: All columns, short ones first.
        kinds: For each row ``OUTSIDE`` of all targets, ``INSIDE`` of one, or ``KNOWN`` to a single.
        weights: Rows with large weights become pivots first, outside of targets.
        singles: How singles are treated.
        primes: The two primes.
    """

    columns: Columns
    order: Int64
    forced: int
    by_size: Int64
    kinds: Int64
    weights: Int64
    singles: int
    primes: tuple[int, int]


#: Places in the array of a run: the next candidate; the work at which the basis was last built,
#: and what that took; the room that targets need.
NEXT, _BUILT, _TOOK, NEEDED = 0, 1, 2, 3

#: How a part of a run ends. ``APART``: the primes disagree.
DONE, PAUSED, APART, WIDE_FULL, NARROW_FULL, TARGETS_FULL = 0, 1, 2, 3, 4, 5

#: How singles are treated; see ``suppression.Singles``.
IGNORED, ALONE, ANY_SUM = 0, 1, 2

#: Where a row lies: outside of all targets, in one, or in one that a single knows.
OUTSIDE, INSIDE, KNOWN = 0, 1, 2

#: What becomes of a column; see ``suppression.Status``.
OPEN, CLOSED = 1, 2

#: Steps before the basis is built anew for the first time.
_PATIENCE = 2_000_000


class Run(NamedTuple):
    """What a run has come to: a basis outside of targets, one within their rows, and targets."""

    wide: Basis
    narrow: Basis
    targets: Targets
    scratch: Scratch
    status: Int64
    listed: Int64
    prints: Int64
    heap: Int64
    places: Int64


@compiled
def _outside(task: Task, scratch: Scratch, count: int) -> int:
    """The row outside of all targets that becomes a pivot; -1 where there is none."""
    best = -1
    for at in range(count):
        row = scratch.touched[at]
        if task.kinds[row] == OUTSIDE and (best < 0 or task.weights[row] > task.weights[best]):
            best = row
    return best


@compiled
def _inside(task: Task, targets: Targets, scratch: Scratch, count: int) -> int:
    """The row within targets that becomes a pivot: few targets in it, none of a single first."""
    best = -1
    for at in range(count):
        row = scratch.touched[at]
        if best < 0:
            best = row
            continue
        kind, least = task.kinds[row], task.kinds[best]
        if kind < least or (kind == least and targets.in_row[row] < targets.in_row[best]):
            best = row
    return best


@compiled
def _build_anew(task: Task, run: Run) -> int:
    """Build the basis outside of targets from all that is open, short columns first."""
    wide, scratch, primes = run.wide, run.scratch, task.primes
    before = scratch.numbers[1]
    needed = wide.size[0]
    wide.size[0] = 0
    wide.pivot_of[:] = FREE
    for at in range(task.by_size.size):
        if wide.size[0] == needed:
            break
        column = task.by_size[at]
        if run.status[column] != OPEN:
            continue
        count = load(task.columns, column, scratch, primes[0], primes[1])
        count = reduce_column(wide, scratch, count, primes)
        if count == DISAGREE:
            return APART
        pivot = _outside(task, scratch, count)
        if pivot < 0:
            clear(scratch, count)
            continue
        if not has_room(wide, count):
            clear(scratch, count)
            wide.size[0] = needed
            return WIDE_FULL
        store(wide, scratch, count, pivot, column, primes)
    run.places[_TOOK] = scratch.numbers[1] - before
    run.places[_BUILT] = scratch.numbers[1]
    return DONE


@compiled
def _have_room(run: Run, number: int, length: int) -> bool:
    """Whether so many listed targets can grow by a column of that length."""
    most = number * length
    for at in range(number):
        most += run.targets.lengths[run.listed[at]]
    run.places[NEEDED] = most
    used = run.targets.used
    return bool(
        used[0] + most <= run.targets.rows.size and used[1] + most <= run.targets.owners.size
    )


@compiled
def _new_multiples(run: Run, number: int, print_: int) -> bool:
    """Whether listed targets with one print now had several before, and a single knows one."""
    targets = run.targets
    known = apart = False
    first = -1
    for at in range(number):
        if run.prints[at] != print_:
            continue
        target = run.listed[at]
        first = target if first < 0 else first
        known = known or targets.singles[target]
        apart = apart or targets.prints[target] != targets.prints[first]
    return known and apart


@compiled
def _gives_away(task: Task, run: Run, number: int) -> int:
    """Whether listed targets would become multiples of others, one of which a single knows.

    Returns:
        1 or 0, -1 if the primes disagree. Those that were multiples before do not count.
    """
    targets, scratch = run.targets, run.scratch
    change = targets.used[2] + 1
    for at in range(number):
        target = run.listed[at]
        count = changed(targets, target, run.narrow, scratch, task.primes)
        count = compress(scratch, count)
        if count < 0:
            return -1
        run.prints[at] = fingerprint(scratch, count, targets.words, task.primes)
        clear(scratch, count)
        if run.prints[at] == NOTHING:
            continue
        other = targets.buckets[bucket_of(targets, run.prints[at])]
        while other >= 0:
            same = targets.prints[other] == run.prints[at] and targets.seen[other] != change
            if same and (targets.singles[target] or targets.singles[other]):
                return 1
            other = targets.after[other]
    size = 0
    for at in range(number):
        if run.prints[at] != NOTHING:
            size = push(run.heap, size, run.prints[at])
    before = NOTHING
    while size > 0:
        print_ = pop(run.heap, size)
        size -= 1
        if print_ == before and _new_multiples(run, number, print_):
            return 1
        before = print_
    return 0


@compiled
def _open_within(task: Task, run: Run, column: int, count: int, must: bool) -> int:
    """Open the column in the scratch, which lies within rows of targets, if it gives nothing away.

    Returns:
        How the part ends if it cannot be decided now; else ``DONE``, with the status written.
    """
    targets, narrow, scratch, primes = run.targets, run.narrow, run.scratch, task.primes
    count = reduce_column(narrow, scratch, count, primes)
    if count == DISAGREE:
        return APART
    if count == 0:
        run.status[column] = OPEN
        return DONE
    pivot = _inside(task, targets, scratch, count)
    only_singles = task.singles == ANY_SUM and task.kinds[pivot] == KNOWN
    print_ = fingerprint(scratch, count, targets.words, primes)
    if not must and (only_singles or is_multiple(targets, print_)):
        run.status[column] = CLOSED
        clear(scratch, count)
        return DONE
    if not has_room(narrow, count):
        clear(scratch, count)
        return NARROW_FULL
    store(narrow, scratch, count, pivot, column, primes)
    number = affected(targets, pivot, run.listed)
    answer = DONE
    if not _have_room(run, number, count):
        answer = TARGETS_FULL
    elif task.singles == ALONE and not must:
        given_away = _gives_away(task, run, number)
        if given_away < 0:
            return APART
        if given_away > 0:
            run.status[column] = CLOSED
            narrow.size[0] -= 1
            narrow.pivot_of[pivot] = FREE
            return DONE
    if answer != DONE:
        narrow.size[0] -= 1
        narrow.pivot_of[pivot] = FREE
        return answer
    for at in range(number):
        left = changed(targets, run.listed[at], narrow, scratch, primes)
        left = compress(scratch, left)
        if left < 0:
            return APART
        print_ = fingerprint(scratch, left, targets.words, primes)
        put(targets, run.listed[at], scratch, left, print_)
    run.status[column] = OPEN
    return DONE


@compiled
def file_all(task: Task, run: Run) -> None:
    """Put every target where its multiples are looked for."""
    targets, scratch = run.targets, run.scratch
    for target in range(targets.starts.size):
        start = targets.starts[target]
        for at in range(targets.lengths[target]):
            row = targets.rows[start + at]
            scratch.touched[at] = row
            scratch.first[row] = targets.first[start + at]
            scratch.second[row] = targets.second[start + at]
        count = targets.lengths[target]
        file_target(targets, target, fingerprint(scratch, count, targets.words, task.primes))
        clear(scratch, count)


@compiled
def go_on(task: Task, run: Run, pause: int) -> int:
    """Decide about candidates until all are done, room runs out, or it is time to pause."""
    scratch, primes, places = run.scratch, task.primes, run.places
    began = scratch.numbers[1]
    while places[NEXT] < task.order.size:
        if scratch.numbers[1] - began > pause:
            return PAUSED
        if scratch.numbers[1] - places[_BUILT] > 2 * places[_TOOK] + _PATIENCE:
            answer = _build_anew(task, run)
            if answer != DONE:
                return answer
        column = task.order[places[NEXT]]
        count = load(task.columns, column, scratch, primes[0], primes[1])
        count = reduce_column(run.wide, scratch, count, primes)
        if count == DISAGREE:
            return APART
        pivot = _outside(task, scratch, count)
        if pivot >= 0:
            if not has_room(run.wide, count):
                clear(scratch, count)
                return WIDE_FULL
            store(run.wide, scratch, count, pivot, column, primes)
            run.status[column] = OPEN
        elif count == 0:
            run.status[column] = OPEN
        else:
            must = places[NEXT] < task.forced
            answer = _open_within(task, run, column, count, must)
            if answer != DONE:
                return answer
        places[NEXT] += 1
    return DONE
