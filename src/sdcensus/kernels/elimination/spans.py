"""Which columns can be computed from columns that are known, and how: checked in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

import numpy as np

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.elimination.basis import (
    DISAGREE,
    Basis,
    Bool,
    Columns,
    Int64,
    Scratch,
    clear,
    has_room,
    load,
    new_basis,
    new_scratch,
    reduce_column,
    store,
    with_more_room,
)
from sdcensus.kernels.elimination.merging import chosen_columns, same_columns
from sdcensus.kernels.elimination.residues import PAIRS, combined, rational

_DONE, _APART, _BASIS_FULL, _LOG_FULL = 0, 1, 2, 3

#: What a column is called that is looked for, among those that make it up.
_ITSELF = -1


class _Log(NamedTuple):
    """For each member of a basis what was taken from its column: members, and how many times."""

    starts: Int64
    members: Int64
    first: Int64
    second: Int64


class _Known(NamedTuple):
    """What is known, as a basis, in columns of its own."""

    columns: Columns
    order: Int64
    in_row: Int64
    basis: Basis
    log: _Log
    scratch: Scratch
    next: Int64


@compiled
def _rarest(known: _Known, count: int) -> int:
    """The row of the column in the scratch that the fewest columns have."""
    best = known.scratch.touched[0]
    for at in range(1, count):
        row = known.scratch.touched[at]
        fewer = known.in_row[row] < known.in_row[best]
        if fewer or (known.in_row[row] == known.in_row[best] and row < best):
            best = row
    return int(best)


@compiled
def _build(known: _Known, primes: tuple[int, int]) -> int:
    """Add what is known to the basis, column by column, until all is done or room runs out."""
    basis, log, scratch = known.basis, known.log, known.scratch
    while known.next[0] < known.order.size:
        column = known.order[known.next[0]]
        count = load(known.columns, column, scratch, primes[0], primes[1])
        count = reduce_column(basis, scratch, count, primes)
        if count == DISAGREE:
            return _APART
        if count > 0:
            member = basis.size[0]
            begin, taken = log.starts[member], scratch.numbers[0]
            if not has_room(basis, count) or begin + taken > log.members.size:
                clear(scratch, count)
                return _LOG_FULL if has_room(basis, count) else _BASIS_FULL
            for at in range(taken):
                log.members[begin + at] = scratch.taken[at]
                log.first[begin + at] = scratch.by_first[at]
                log.second[begin + at] = scratch.by_second[at]
            log.starts[member + 1] = begin + taken
            store(basis, scratch, count, _rarest(known, count), column, primes)
        known.next[0] += 1
    return _DONE


@compiled
def _in_span(known: _Known, asked: Columns, answers: Int64, primes: tuple[int, int]) -> int:
    """Write for each column that is asked for how many rows are left of it."""
    for column in range(answers.size):
        count = load(asked, column, known.scratch, primes[0], primes[1])
        answers[column] = reduce_column(known.basis, known.scratch, count, primes)
        if answers[column] == DISAGREE:
            return _APART
        clear(known.scratch, answers[column])
    return _DONE


@compiled
def _unfold(known: _Known, times: Int64, primes: tuple[int, int]) -> None:
    """Turn a combination of members of the basis into one of columns, in place.

    Args:
        known: What is known, with the combination in its scratch.
        times: Two zeros for each member; afterwards how many times its column is taken.
        primes: The two primes.
    """
    basis, log, scratch = known.basis, known.log, known.scratch
    for at in range(scratch.numbers[0]):
        times[0, scratch.taken[at]] = scratch.by_first[at]
        times[1, scratch.taken[at]] = scratch.by_second[at]
    for member in range(basis.size[0] - 1, -1, -1):
        if times[0, member] == 0 and times[1, member] == 0:
            continue
        times[0, member] = times[0, member] * basis.first_scale[member] % primes[0]
        times[1, member] = times[1, member] * basis.second_scale[member] % primes[1]
        less_first = primes[0] - times[0, member]
        less_second = primes[1] - times[1, member]
        for at in range(log.starts[member], log.starts[member + 1]):
            other = log.members[at]
            times[0, other] = (times[0, other] + less_first * log.first[at]) % primes[0]
            times[1, other] = (times[1, other] + less_second * log.second[at]) % primes[1]


@dataclass(frozen=True, slots=True)
class Certificate:
    """How a column follows from others: ``divisor`` times it is the sum of ``times`` the others.

    Attributes:
        columns: The numbers of the others.
        times: How many times each is added, below 0 if it is taken away; never 0.
        divisor: Above 0; 1 almost always.
    """

    columns: tuple[int, ...]
    times: tuple[int, ...]
    divisor: int = 1


class Span:
    """Everything that can be computed from known columns by adding and subtracting."""

    __slots__ = ("_columns", "_known", "_numbers", "_primes")

    def __init__(self, columns: Columns, height: int, known: Int64) -> None:
        """Take in what is known.

        Args:
            columns: Columns.
            height: How many rows they have.
            known: The numbers of those that are known. Where several are the same, certificates
                name the first.
        """
        own = chosen_columns(columns, np.asarray(known, dtype=np.int64))
        first, _ = same_columns(own)
        self._columns = columns
        self._numbers = np.asarray(known, dtype=np.int64)[first]
        own = chosen_columns(columns, self._numbers)
        for primes in PAIRS:
            built = _built(own, height, primes)
            if built is not None:
                self._known, self._primes = built, primes
                return
        raise ArithmeticError("No two primes agree on what is 0.")

    @property
    def rank(self) -> int:
        """How many of the known columns do not follow from the others."""
        return int(self._known.basis.size[0])

    def holds(self, asked: Int64) -> Bool:
        """Which of some columns can be computed."""
        answers = np.zeros(len(asked), dtype=np.int64)
        wanted = chosen_columns(self._columns, np.asarray(asked, dtype=np.int64))
        if _in_span(self._known, wanted, answers, self._primes) == _APART:
            raise ArithmeticError("Two primes disagree on what is 0.")
        return np.asarray(answers == 0)

    def certificate(self, column: int) -> Certificate | None:
        """How a column follows from what is known, in whole numbers; ``None`` if it does not.

        The certificate is checked: its sum is the column exactly.
        """
        known, primes = self._known, self._primes
        count = load(self._columns, column, known.scratch, primes[0], primes[1])
        count = reduce_column(known.basis, known.scratch, count, primes)
        if count != 0:
            clear(known.scratch, max(count, 0))
            return None
        times = np.zeros((2, max(self.rank, 1)), dtype=np.int64)
        _unfold(known, times, primes)
        members = np.flatnonzero(times.any(axis=0))
        used = self._numbers[known.basis.column[members]]
        numbers = combined(times[0, members], times[1, members], primes)
        certificate = _certificate(used, [rational(number, primes) for number in numbers])
        if certificate is None or not self._proves(certificate, column):
            certificate = _in_fractions(self._columns, used, column)
        return certificate

    def _proves(self, certificate: Certificate, column: int) -> bool:
        """Whether a certificate is true, in whole numbers."""
        sums: dict[int, int] = {}
        listed = (*zip(certificate.columns, certificate.times, strict=True),)
        for number, times in (*listed, (column, -certificate.divisor)):
            for row, value in _entries(self._columns, number).items():
                sums[row] = sums.get(row, 0) + times * value
        return not any(sums.values())


def _built(columns: Columns, height: int, primes: tuple[int, int]) -> _Known | None:
    size = columns.starts.size - 1
    most = min(size, height)
    room = columns.rows.size + 16
    known = _Known(
        columns=columns,
        order=np.argsort(np.diff(columns.starts), kind="stable"),
        in_row=np.bincount(columns.rows, minlength=height).astype(np.int64),
        basis=new_basis(height, most, room),
        log=_Log(np.zeros(most + 1, dtype=np.int64), *(np.zeros(room, np.int64) for _ in range(3))),
        scratch=new_scratch(height),
        next=np.zeros(1, dtype=np.int64),
    )
    while True:
        answer = _build(known, primes)
        if answer == _DONE:
            return known
        if answer == _APART:
            return None
        if answer == _BASIS_FULL:
            known = known._replace(basis=with_more_room(known.basis))
        else:
            log = known.log
            wider = [np.concatenate([part, np.zeros_like(part)]) for part in log[1:]]
            known = known._replace(log=_Log(log.starts, *wider))


def _certificate(columns: Int64, parts: list[tuple[int, int] | None]) -> Certificate | None:
    """A certificate from fractions; ``None`` where some are not known."""
    fractions = [part for part in parts if part is not None]
    if len(fractions) < len(parts):
        return None
    return _whole(columns.tolist(), [Fraction(*part) for part in fractions])


def _whole(columns: list[int], fractions: list[Fraction]) -> Certificate:
    divisor = lcm(*(fraction.denominator for fraction in fractions))
    times = [int(fraction * divisor) for fraction in fractions]
    common = gcd(divisor, *times)
    order = sorted(range(len(columns)), key=columns.__getitem__)
    return Certificate(
        tuple(columns[at] for at in order),
        tuple(times[at] // common for at in order),
        divisor // common,
    )


def _entries(columns: Columns, number: int) -> dict[int, int]:
    part = slice(columns.starts[number], columns.starts[number + 1])
    return dict(zip(columns.rows[part].tolist(), columns.values[part].tolist(), strict=True))


def _in_fractions(columns: Columns, used: Int64, column: int) -> Certificate | None:
    """The same combination in fractions of any size, from the columns that it needs."""
    members: list[tuple[int, dict[int, Fraction], dict[int, Fraction]]] = []

    def left(number: int, name: int) -> tuple[dict[int, Fraction], dict[int, Fraction]]:
        rest = {row: Fraction(value) for row, value in _entries(columns, number).items()}
        made = {name: Fraction(1)}
        for pivot, vector, combination in members:
            factor = rest.get(pivot, Fraction(0))
            if factor:
                _less(rest, vector, factor)
                _less(made, combination, factor)
        return rest, made

    for number in used.tolist():
        rest, made = left(number, number)
        if rest:
            pivot = min(rest)
            scale = 1 / rest[pivot]
            vector = {row: value * scale for row, value in rest.items()}
            members.append((pivot, vector, {key: value * scale for key, value in made.items()}))
    # It may be one of them itself.
    rest, made = left(column, _ITSELF)
    if rest:
        return None
    others = [number for number in made if number != _ITSELF]
    return _whole(others, [-made[number] for number in others])


def _less(numbers: dict[int, Fraction], taken: dict[int, Fraction], factor: Fraction) -> None:
    for key, value in taken.items():
        difference = numbers.get(key, Fraction(0)) - factor * value
        if difference:
            numbers[key] = difference
        else:
            numbers.pop(key, None)
