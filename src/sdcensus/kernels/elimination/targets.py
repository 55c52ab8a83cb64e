"""Columns that must not be computed, each less what the open columns make up.

They change whenever a column is opened that has a pivot in common with them, so they are found by
row; and columns that are multiples of each other are found by what they have in common, a number
that does not depend on the multiple.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.elimination.basis import (
    Basis,
    Bool,
    Columns,
    Int32,
    Int64,
    Scratch,
    UInt32,
    clear,
)
from sdcensus.kernels.elimination.residues import inverse

Word = TypeVar("Word", np.int32, np.uint32)

#: What ``fingerprint`` answers for a column that is 0.
NOTHING = -1


class Targets(NamedTuple):
    """The targets as they are now.

    Attributes:
        starts, lengths, rooms: Where the entries of each begin, how many there are, and how many
            fit in its place.
        rows, first, second: The entries: rows and residues modulo both primes.
        prints: What each has in common with its multiples.
        buckets, after: Targets by their prints: the first of each bucket, and the one after each.
        heads, owners, others: Targets by row: the last entry of each row, for each entry its
            target, and the entry before it. A target may have left a row of which it is an entry.
        in_row: How many targets are in each row.
        seen: The last change that looked at each target.
        singles: Which targets are known to somebody who is alone in them.
        words: For each row two words for the prints.
        used: Entries of ``rows`` in use (0), of ``owners`` (1), and changes so far (2).
    """

    starts: Int64
    lengths: Int64
    rooms: Int64
    rows: Int32
    first: UInt32
    second: UInt32
    prints: Int64
    buckets: Int64
    after: Int64
    heads: Int64
    owners: Int64
    others: Int64
    in_row: Int64
    seen: Int64
    singles: Bool
    words: Int64
    used: Int64


@compiled
def fingerprint(scratch: Scratch, count: int, words: Int64, primes: tuple[int, int]) -> int:
    """What the column in the scratch has in common with its multiples, in 62 bits.

    Multiples always have the same. Others have another, but for one chance in 2**62; a cell would
    be closed without need then.
    """
    if count == 0:
        return NOTHING
    lowest = scratch.touched[0]
    for at in range(count):
        lowest = min(lowest, scratch.touched[at])
    by_first = inverse(scratch.first[lowest], primes[0])
    by_second = inverse(scratch.second[lowest], primes[1])
    first = second = np.int64(0)
    for at in range(count):
        row = scratch.touched[at]
        first = (first + words[0, row] * (scratch.first[row] * by_first % primes[0])) % primes[0]
        second = (second + words[1, row] * (scratch.second[row] * by_second % primes[1])) % primes[
            1
        ]
    return int((first << 31) | second)


@compiled
def bucket_of(targets: Targets, print_: int) -> int:
    """Where targets with a print are listed."""
    return int((print_ ^ (print_ >> 31)) & (targets.buckets.size - 1))


@compiled
def file_target(targets: Targets, target: int, print_: int) -> None:
    """Put a target where its multiples are looked for; one that is 0 nowhere."""
    targets.prints[target] = print_
    if print_ != NOTHING:
        bucket = bucket_of(targets, print_)
        targets.after[target] = targets.buckets[bucket]
        targets.buckets[bucket] = target


@compiled
def _unfile(targets: Targets, target: int) -> None:
    if targets.prints[target] == NOTHING:
        return
    bucket = bucket_of(targets, targets.prints[target])
    if targets.buckets[bucket] == target:
        targets.buckets[bucket] = targets.after[target]
        return
    before = targets.buckets[bucket]
    while targets.after[before] != target:
        before = targets.after[before]
    targets.after[before] = targets.after[target]


@compiled
def is_multiple(targets: Targets, print_: int) -> bool:
    """Whether some target is a multiple of the column with this print."""
    target = targets.buckets[bucket_of(targets, print_)]
    while target >= 0:
        if targets.prints[target] == print_:
            return True
        target = targets.after[target]
    return False


@compiled
def affected(targets: Targets, pivot: int, listed: Int64) -> int:
    """List the targets that have a number in a row; how many there are.

    They are ``seen`` with an odd number, those that have left the row with an even one.
    """
    targets.used[2] += 2
    change = targets.used[2]
    number = 0
    entry = targets.heads[pivot]
    while entry >= 0:
        target = targets.owners[entry]
        entry = targets.others[entry]
        if targets.seen[target] >= change:
            continue
        targets.seen[target] = change
        start = targets.starts[target]
        for at in range(start, start + targets.lengths[target]):
            if targets.rows[at] == pivot:
                targets.seen[target] = change + 1
                listed[number] = target
                number += 1
                break
    return number


@compiled
def changed(
    targets: Targets, target: int, basis: Basis, scratch: Scratch, primes: tuple[int, int]
) -> int:
    """A target less the last member of a basis, in the scratch; how many rows were touched.

    The rows that it had come first in ``touched``. Some may be 0 now.
    """
    member = basis.size[0] - 1
    begin, end = basis.starts[member], basis.starts[member + 1]
    pivot = basis.rows[begin]
    count = 0
    start = targets.starts[target]
    for at in range(start, start + targets.lengths[target]):
        row = targets.rows[at]
        scratch.first[row] = targets.first[at]
        scratch.second[row] = targets.second[at]
        scratch.marked[row] = True
        scratch.touched[count] = row
        count += 1
    by_first = primes[0] - scratch.first[pivot]
    by_second = primes[1] - scratch.second[pivot]
    scratch.numbers[1] += end - begin + count
    for at in range(begin, end):
        row = basis.rows[at]
        if not scratch.marked[row]:
            scratch.marked[row] = True
            scratch.touched[count] = row
            count += 1
        scratch.first[row] = (scratch.first[row] + by_first * np.int64(basis.first[at])) % primes[0]
        scratch.second[row] = (
            scratch.second[row] + by_second * np.int64(basis.second[at])
        ) % primes[1]
    return count


@compiled
def compress(scratch: Scratch, count: int) -> int:
    """List only the rows that are not 0; how many there are, -1 if the primes disagree."""
    left = 0
    agree = True
    for at in range(count):
        row = scratch.touched[at]
        scratch.marked[row] = False
        if scratch.first[row] != 0 and scratch.second[row] != 0:
            scratch.touched[left] = row
            left += 1
        else:
            agree = agree and scratch.first[row] == scratch.second[row]
            scratch.first[row] = 0
            scratch.second[row] = 0
    if not agree:
        clear(scratch, left)
        return -1
    return left


@compiled
def put(targets: Targets, target: int, scratch: Scratch, count: int, print_: int) -> None:
    """Write the column in the scratch over a target; the scratch is empty afterwards."""
    start, length = targets.starts[target], targets.lengths[target]
    for at in range(start, start + length):
        row = targets.rows[at]
        targets.in_row[row] -= 1
        scratch.marked[row] = True
    _unfile(targets, target)
    file_target(targets, target, print_)
    new = start
    if count > targets.rooms[target]:
        new = targets.used[0]
        targets.used[0] += count
        targets.rooms[target] = count
    # What it had is marked: a row without a mark is new.
    for at in range(count):
        row = scratch.touched[at]
        targets.in_row[row] += 1
        if not scratch.marked[row]:
            entry = targets.used[1]
            targets.owners[entry] = target
            targets.others[entry] = targets.heads[row]
            targets.heads[row] = entry
            targets.used[1] += 1
    for at in range(start, start + length):
        scratch.marked[targets.rows[at]] = False
    for at in range(count):
        row = scratch.touched[at]
        targets.rows[new + at] = row
        targets.first[new + at] = scratch.first[row]
        targets.second[new + at] = scratch.second[row]
    targets.starts[target] = new
    targets.lengths[target] = count
    clear(scratch, count)


def new_targets(
    columns: Columns, numbers: Int64, singles: Bool, rows: int, primes: tuple[int, int]
) -> Targets:
    """The targets before anything is open.

    Args:
        columns: All columns.
        numbers: Which of them are the targets.
        singles: Which of the targets are known to somebody who is alone in them.
        rows: How many rows there are.
        primes: The two primes.
    """
    lengths = np.diff(columns.starts)[numbers]
    listed = np.repeat(columns.starts[numbers] - _offsets(lengths)[:-1], lengths)
    listed += np.arange(listed.size)
    values = columns.values[listed]
    size = 1
    while size < 2 * numbers.size + 2:
        size *= 2
    count = numbers.size
    targets = Targets(
        starts=np.zeros(count, dtype=np.int64),
        lengths=lengths.copy(),
        rooms=lengths.copy(),
        rows=columns.rows[listed].astype(np.int32),
        first=(values % primes[0]).astype(np.uint32),
        second=(values % primes[1]).astype(np.uint32),
        prints=np.full(count, NOTHING, dtype=np.int64),
        buckets=np.full(size, -1, dtype=np.int64),
        after=np.full(count, -1, dtype=np.int64),
        heads=np.full(rows, -1, dtype=np.int64),
        owners=np.zeros(0, dtype=np.int64),
        others=np.zeros(0, dtype=np.int64),
        in_row=np.zeros(rows, dtype=np.int64),
        seen=np.full(count, -1, dtype=np.int64),
        singles=singles,
        words=_words(rows, primes),
        used=np.zeros(3, dtype=np.int64),
    )
    starts = _offsets(lengths)[:-1]
    return packed(targets._replace(starts=starts))


def packed(targets: Targets, needed: int = 0) -> Targets:
    """The same targets without gaps between them, and with room for so many entries more."""
    lengths = targets.lengths
    starts = _offsets(lengths)
    listed = np.repeat(targets.starts - starts[:-1], lengths) + np.arange(starts[-1])
    used = int(starts[-1])
    room = 4 * used + needed + 1024
    rows = targets.rows[listed]

    def held(array: npt.NDArray[Word]) -> npt.NDArray[Word]:
        wide = np.zeros(room, dtype=array.dtype)
        wide[:used] = array[listed]
        return wide

    order = np.argsort(rows, kind="stable")
    owners, others = np.zeros(room, dtype=np.int64), np.full(room, -1, dtype=np.int64)
    owners[:used] = np.repeat(np.arange(lengths.size), lengths)[order]
    in_order = rows[order]
    same = np.flatnonzero(in_order[1:] == in_order[:-1])
    others[same] = same + 1
    first = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1])) if used else same
    heads = np.full(targets.heads.size, -1, dtype=np.int64)
    heads[in_order[first]] = first
    return targets._replace(
        starts=starts[:-1],
        lengths=lengths,
        rooms=lengths.copy(),
        rows=held(targets.rows),
        first=held(targets.first),
        second=held(targets.second),
        heads=heads,
        owners=owners,
        others=others,
        in_row=np.bincount(rows, minlength=heads.size).astype(np.int64),
        used=np.array([used, used, targets.used[2]], dtype=np.int64),
    )


def _offsets(lengths: Int64) -> Int64:
    starts = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _words(rows: int, primes: tuple[int, int]) -> Int64:
    """Two words for each row that look drawn: the same on every machine (splitmix64)."""
    with np.errstate(over="ignore"):
        state = np.arange(1, 2 * rows + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    words = (state >> np.uint64(33)).astype(np.int64).reshape(2, rows)
    return np.stack([words[0] % primes[0], words[1] % primes[1]])
