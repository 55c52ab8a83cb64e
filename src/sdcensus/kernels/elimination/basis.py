"""A growing basis of what some columns span, and columns less what it makes up.

A column that is added is first reduced by those before it, and then has a row of its own, its
pivot. What a basis spans does not depend on the rows that are chosen, so they are chosen to keep
it short.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.elimination.residues import inverse, pop, push

Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]

#: A row that is no pivot. Pivots of columns that have one row only are numbered downwards from
#: ``ALONE``: they never lead to another row, so they can wait until a column is done.
FREE, ALONE = -1, -2

#: What ``reduce_column`` answers where a number is 0 modulo one prime only.
DISAGREE = -1


class Columns(NamedTuple):
    """Vectors of whole numbers, column after column.

    Attributes:
        starts: Where each column begins in ``rows`` and ``values``, and behind it where all end.
        rows: The rows of the numbers that are not 0, each at most once in a column.
        values: The numbers.
    """

    starts: Int64
    rows: Int64
    values: Int64


class Basis(NamedTuple):
    """Reduced columns with their pivots. The number at a pivot is 1.

    Attributes:
        starts: Where each begins, its pivot first.
        rows, first, second: Entries: rows and residues modulo both primes.
        column: From which column each was made.
        first_scale, second_scale: What that was multiplied by.
        pivot_of: For each row the number of the pivot in it, ``FREE``, or ``ALONE`` and below.
        size: How many there are, in one place.
    """

    starts: Int64
    rows: Int32
    first: UInt32
    second: UInt32
    column: Int64
    first_scale: Int64
    second_scale: Int64
    pivot_of: Int64
    size: Int64


class Scratch(NamedTuple):
    """A column while it is worked at, and which members of the basis were taken from it.

    Attributes:
        first, second: Residues by row; 0 everywhere between two columns.
        marked, touched: Rows that may not be 0, as a mask and listed.
        heap: Pivots that wait.
        taken, by_first, by_second: Members that were taken away, and how many times each.
        numbers: How many members were taken (0), and steps of work in all (1).
    """

    first: Int64
    second: Int64
    marked: Bool
    touched: Int64
    heap: Int64
    taken: Int64
    by_first: Int64
    by_second: Int64
    numbers: Int64


def new_basis(rows: int, most: int, room: int) -> Basis:
    """An empty basis for so many rows and members, with room for so many entries."""
    return Basis(
        starts=np.zeros(most + 1, dtype=np.int64),
        rows=np.zeros(room, dtype=np.int32),
        first=np.zeros(room, dtype=np.uint32),
        second=np.zeros(room, dtype=np.uint32),
        column=np.zeros(most, dtype=np.int64),
        first_scale=np.zeros(most, dtype=np.int64),
        second_scale=np.zeros(most, dtype=np.int64),
        pivot_of=np.full(rows, FREE, dtype=np.int64),
        size=np.zeros(1, dtype=np.int64),
    )


def with_more_room(basis: Basis) -> Basis:
    """The same basis with twice the room for entries."""
    double = [
        np.concatenate([array, np.zeros_like(array)])
        for array in (basis.rows, basis.first, basis.second)
    ]
    return basis._replace(rows=double[0], first=double[1], second=double[2])


def new_scratch(rows: int) -> Scratch:
    """Scratch for columns of so many rows."""
    return Scratch(
        first=np.zeros(rows, dtype=np.int64),
        second=np.zeros(rows, dtype=np.int64),
        marked=np.zeros(rows, dtype=np.bool_),
        touched=np.zeros(rows + 1, dtype=np.int64),
        heap=np.zeros(rows + 1, dtype=np.int64),
        taken=np.zeros(rows + 1, dtype=np.int64),
        by_first=np.zeros(rows + 1, dtype=np.int64),
        by_second=np.zeros(rows + 1, dtype=np.int64),
        numbers=np.zeros(2, dtype=np.int64),
    )


@compiled
def load(
    columns: Columns, column: int, scratch: Scratch, first_prime: int, second_prime: int
) -> int:
    """Write a column into the scratch; how many rows it has."""
    count = 0
    for at in range(columns.starts[column], columns.starts[column + 1]):
        row, value = columns.rows[at], columns.values[at]
        scratch.first[row] = value % first_prime
        scratch.second[row] = value % second_prime
        scratch.touched[count] = row
        count += 1
    return count


@compiled
def clear(scratch: Scratch, count: int) -> None:
    """Empty the scratch."""
    for at in range(count):
        row = scratch.touched[at]
        scratch.first[row] = 0
        scratch.second[row] = 0
        scratch.marked[row] = False


@compiled
def _note(scratch: Scratch, member: int, by_first: int, by_second: int) -> None:
    at = scratch.numbers[0]
    scratch.taken[at] = member
    scratch.by_first[at] = by_first
    scratch.by_second[at] = by_second
    scratch.numbers[0] = at + 1


@compiled
def _take(
    basis: Basis, member: int, scratch: Scratch, count: int, waiting: int, primes: tuple[int, int]
) -> tuple[int, int]:
    """Take a member from the column as often as its pivot tells; rows and pivots that wait."""
    begin, end = basis.starts[member], basis.starts[member + 1]
    pivot = basis.rows[begin]
    first_prime, second_prime = primes
    by_first = first_prime - scratch.first[pivot]
    by_second = second_prime - scratch.second[pivot]
    scratch.numbers[1] += end - begin
    for at in range(begin, end):
        row = basis.rows[at]
        if not scratch.marked[row]:
            scratch.marked[row] = True
            scratch.touched[count] = row
            count += 1
            if basis.pivot_of[row] >= 0:
                waiting = push(scratch.heap, waiting, basis.pivot_of[row])
        scratch.first[row] = (
            scratch.first[row] + by_first * np.int64(basis.first[at])
        ) % first_prime
        scratch.second[row] = (
            scratch.second[row] + by_second * np.int64(basis.second[at])
        ) % second_prime
    return count, waiting


@compiled
def reduce_column(basis: Basis, scratch: Scratch, count: int, primes: tuple[int, int]) -> int:
    """Take from the column in the scratch what a basis makes up.

    Returns:
        How many rows are left; they are listed in ``touched``. ``DISAGREE`` if a number is 0
        modulo one prime only: the scratch is empty then.
    """
    waiting = 0
    scratch.numbers[0] = 0
    scratch.numbers[1] += count
    for at in range(count):
        row = scratch.touched[at]
        scratch.marked[row] = True
        if basis.pivot_of[row] >= 0:
            waiting = push(scratch.heap, waiting, basis.pivot_of[row])
    while waiting > 0:
        member = pop(scratch.heap, waiting)
        waiting -= 1
        pivot = basis.rows[basis.starts[member]]
        by_first, by_second = scratch.first[pivot], scratch.second[pivot]
        if by_first == 0 and by_second == 0:
            continue
        if by_first == 0 or by_second == 0:
            clear(scratch, count)
            return DISAGREE
        _note(scratch, member, by_first, by_second)
        count, waiting = _take(basis, member, scratch, count, waiting, primes)
    return _left(basis, scratch, count)


@compiled
def _left(basis: Basis, scratch: Scratch, count: int) -> int:
    """List the rows that are not 0; what stands in rows of members alone is taken away."""
    left = 0
    agree = True
    for at in range(count):
        row = scratch.touched[at]
        scratch.marked[row] = False
        first, second = scratch.first[row], scratch.second[row]
        if first == 0 or second == 0:
            agree = agree and first == second
            scratch.first[row] = 0
            scratch.second[row] = 0
        elif basis.pivot_of[row] <= ALONE:
            _note(scratch, ALONE - basis.pivot_of[row], first, second)
            scratch.first[row] = 0
            scratch.second[row] = 0
        else:
            scratch.touched[left] = row
            left += 1
    if not agree:
        clear(scratch, left)
        return DISAGREE
    return left


@compiled
def has_room(basis: Basis, count: int) -> bool:
    """Whether a column of so many rows can be added."""
    return bool(basis.starts[basis.size[0]] + count <= basis.rows.size)


@compiled
def store(
    basis: Basis, scratch: Scratch, count: int, pivot: int, column: int, primes: tuple[int, int]
) -> None:
    """Add the column in the scratch, which is empty afterwards.

    Args:
        basis: The basis; it has room.
        scratch: A column that was reduced by it.
        count: Its rows.
        pivot: The one of them that becomes its pivot.
        column: Its number.
        primes: The two primes.
    """
    member = basis.size[0]
    by_first = inverse(scratch.first[pivot], primes[0])
    by_second = inverse(scratch.second[pivot], primes[1])
    basis.column[member] = column
    basis.first_scale[member] = by_first
    basis.second_scale[member] = by_second
    at = basis.starts[member]
    basis.rows[at] = pivot
    basis.first[at] = 1
    basis.second[at] = 1
    at += 1
    for place in range(count):
        row = scratch.touched[place]
        if row != pivot:
            basis.rows[at] = row
            basis.first[at] = scratch.first[row] * by_first % primes[0]
            basis.second[at] = scratch.second[row] * by_second % primes[1]
            at += 1
    basis.pivot_of[pivot] = member if count > 1 else ALONE - member
    basis.starts[member + 1] = at
    basis.size[0] = member + 1
    clear(scratch, count)
