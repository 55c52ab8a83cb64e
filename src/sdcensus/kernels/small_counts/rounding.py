"""Small count rounding: inner cells are rounded until every published cell is 0 or large enough.

After Langsrud and Heldal (2018), "An algorithm for small count rounding of tabular data". Inner
cells that feed a small published cell become a multiple of the base, chosen so that the published
cells stay as near as they can; published cells are sums of inner cells throughout, so they add up.
Everything is whole numbers, and equal choices are decided by a word for each inner cell.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.small_counts.incidence import Incidence
from sdcensus.kernels.small_counts.selection import choose, column_sizes

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: Which inner cells published ones give away: the matrix, the published values and which inner
#: cells are asked for.
GivenAway = Callable[[Incidence, Int64, Mask], Mask]
#: An inner cell whose value is not fixed beforehand.
FREE = -1
#: Changes of gains that one choice may take; more inner cells are chosen in several parts.
MOST_CHANGES = 4_000_000_000
_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wishes:
    """What is asked of the rounding, besides the counts; arrays have a number for each cell.

    Attributes:
        base: Published cells become 0 or at least this; 1 or more.
        most: Published cells up to here are small: they become multiples of the base.
        weights: How much the distance of each published cell matters; all alike by default.
        forced: Inner cells that become multiples of the base whatever they feed.
        candidates: Inner cells that may go up from a multiple of the base, empty ones for example,
            if they feed a small published cell.
        fixed: The value of inner cells that is decided already, or ``FREE``.
        given_away: Which inner cells published ones give away; those that are small are forced,
            and rounding goes on.
        most_changes: The work of one choice; see ``MOST_CHANGES``.
    """

    base: int
    most: int
    weights: Int64 | None = None
    forced: Mask | None = None
    candidates: Mask | None = None
    fixed: Int64 | None = None
    given_away: GivenAway | None = None
    most_changes: int = MOST_CHANGES


@dataclass(frozen=True, slots=True, eq=False)
class RoundedCounts:
    """What became of the counts.

    Attributes:
        inner: The rounded inner cells.
        published: The published cells: their sums.
        passes: How often cells were chosen.
    """

    inner: Int64
    published: Int64
    passes: int


def round_small_counts(
    inner: Int64, incidence: Incidence, ties: UInt64, wishes: Wishes
) -> RoundedCounts:
    """Round inner cells so that no published cell is small.

    Args:
        inner: The counts of the inner cells, 0 or more.
        incidence: Which published cells count each of them.
        ties: A word for each inner cell, as good as random and independent of its place: it
            decides between choices that are equally good.
        wishes: The base, and what else is asked.

    Raises:
        SpecError: A count is below 0, the base below 1, the numbers are too large, or values that
            are fixed leave a published cell small.

    Examples:
        >>> whole = Incidence(np.array([0, 1, 2]), np.array([0, 0]), 1)
        >>> words = np.array([1, 2], dtype=np.uint64)
        >>> rounded = round_small_counts(np.array([1, 2]), whole, words, Wishes(base=5, most=4))
        >>> rounded.inner, rounded.published
        (array([0, 5]), array([5]))
    """
    _check(inner, incidence, ties, wishes)
    return _Run(inner, incidence, ties, wishes).rounded()


def _check(inner: Int64, incidence: Incidence, ties: UInt64, wishes: Wishes) -> None:
    if wishes.base < 1 or wishes.most < wishes.base - 1:
        raise SpecError(
            "The base is a whole number, 1 or more, and the largest count that is small is at"
            " least the base less 1."
        )
    given: list[tuple[str, npt.NDArray[Any] | None, int]] = [
        ("a word", ties, len(incidence)),
        ("a count", inner, len(incidence)),
        ("whether it is forced", wishes.forced, len(incidence)),
        ("whether it may go up", wishes.candidates, len(incidence)),
        ("a fixed value", wishes.fixed, len(incidence)),
        ("a weight", wishes.weights, incidence.size),
    ]
    for what, array, size in given:
        if array is not None and array.shape != (size,):
            raise SpecError(f"There are {size:,} cells, and {what} is needed for each.")
    if (inner < 0).any():
        raise SpecError("Counts are 0 or more: negative ones cannot be rounded by this method.")
    if wishes.fixed is not None and (wishes.fixed < FREE).any():
        raise SpecError("Values that are fixed beforehand are 0 or more.")
    if wishes.weights is not None and (wishes.weights < 0).any():
        raise SpecError("The weights of published cells are whole numbers, 0 or more.")


@dataclass(slots=True, eq=False)
class _Run:
    """Counts on their way; ``inner`` stays as it was counted, ``now`` is what became of it."""

    inner: Int64
    incidence: Incidence
    ties: UInt64
    wishes: Wishes
    now: Int64 = field(init=False)
    free: Mask = field(init=False)
    truth: Int64 = field(init=False)
    published: Int64 = field(init=False)
    weights: Int64 = field(init=False)

    def __post_init__(self) -> None:
        fixed, weights = self.wishes.fixed, self.wishes.weights
        self.now = self.inner.astype(np.int64)
        self.free = np.ones(self.inner.size, dtype=bool)
        if fixed is not None:
            self.free = fixed == FREE
            self.now = np.where(self.free, self.now, fixed)
        size = self.incidence.size
        self.weights = np.ones(size, dtype=np.int64) if weights is None else weights
        self._check_size()
        self.truth = self.incidence.sums(self.inner)
        self.published = self.incidence.sums(self.now)

    def _check_size(self) -> None:
        """Refuse numbers that would not fit into 64 bits: sums, and gains of what cells lack."""
        cells = int(np.diff(self.incidence.starts).max(initial=1))
        lacking = _total(np.abs(self.inner - self.now)) + self.wishes.base * self.inner.size
        gains = 4 * cells * int(self.weights.max(initial=1)) * lacking
        if max(gains, _total(self.inner), _total(self.now)) >= _LARGEST:
            raise SpecError("The counts and the weights of their cells are too large to be added.")

    def rounded(self) -> RoundedCounts:
        """Choose until no published cell is small that could be otherwise."""
        passes = 0
        rows = self._first()
        while rows.size:
            self._pass(rows)
            passes += 1
            rows = self._next()
        small = np.flatnonzero(self._small())
        if small.size:
            listed = ", ".join(map(str, small[:5].tolist()))
            raise SpecError(
                f"{small.size:,} published cells would be below {self.wishes.most + 1} (numbers"
                f" {listed}{', …' if small.size > 5 else ''}), because all inner cells that feed"
                " them are fixed beforehand. Fix them at values that make 0 or enough, or leave"
                " some of them free."
            )
        return RoundedCounts(self.now, self.published, passes)

    def _small(self) -> Mask:
        """Published cells that are small now and no multiple of the base."""
        base, most = self.wishes.base, self.wishes.most
        small: Mask = (self.published > 0) & (self.published <= most) & (self.published % base != 0)
        return small

    def _first(self) -> Int64:
        """Inner cells that feed a small count as it was counted, and those that are forced."""
        base, most = self.wishes.base, self.wishes.most
        if base == 1:
            return np.zeros(0, dtype=np.int64)  # every count is a multiple already
        movable = self.inner % base != 0
        if self.wishes.candidates is not None:
            movable |= self.wishes.candidates
        movable &= self.free
        rows = self.incidence.feeding(
            np.flatnonzero(movable & (self.inner <= most)), (self.truth > 0) & (self.truth <= most)
        )
        if self.wishes.forced is not None:
            rows = np.union1d(rows, np.flatnonzero(movable & self.wishes.forced))
        return rows if rows.size else self._next()

    def _next(self) -> Int64:
        """Inner cells that feed a count that is small now; else those that are given away."""
        movable = self.free & (self.now % self.wishes.base != 0) & (self.now <= self.wishes.most)
        rows = self.incidence.feeding(np.flatnonzero(movable), self._small())
        if not rows.size and movable.any() and self.wishes.given_away is not None:
            known = self.wishes.given_away(self.incidence, self.published, movable)
            rows = np.flatnonzero(movable & known)
        return rows

    def _pass(self, rows: Int64) -> None:
        """Round some inner cells, in as many parts as the work asks for."""
        base = self.wishes.base
        # By their words: the parts do not depend on the order of the cells.
        rows = rows[np.argsort(self.ties[rows], kind="stable")]
        rest = self.now[rows] % base
        total = int(rest.sum()) + int(self.inner.sum()) - int(self.now.sum())
        up = min(max(_nearest(total, base), 0), rows.size)
        shares = np.cumsum(rest) if rest.any() else np.arange(1, rows.size + 1)
        ends = np.linspace(0, rows.size, self._parts(rows, up) + 1).astype(np.int64)
        before = 0
        for start, end in itertools.pairwise(ends.tolist()):
            here = up * int(shares[end - 1]) // int(shares[-1]) - before
            here = min(max(here, 0), end - start)
            self._round(np.sort(rows[start:end]), here)
            before += here

    def _round(self, rows: Int64, up: int) -> None:
        """Round some inner cells, so many of them up."""
        incidence = self.incidence
        rest = self.now[rows] % self.wishes.base
        incidence.add(rows, -rest, self.published)
        lacking = self.truth - self.published
        taken = choose(
            incidence.starts,
            incidence.cells,
            rows,
            lacking,
            self.weights,
            self.ties,
            self.wishes.base,
            up,
        )
        raised = self.wishes.base * taken.astype(np.int64)
        incidence.add(rows, raised, self.published)
        self.now[rows] += raised - rest

    def _parts(self, rows: Int64, up: int) -> int:
        """In how many parts cells are chosen: the work grows with the square of their number."""
        sizes = np.zeros(self.incidence.size, dtype=np.int64)
        column_sizes(self.incidence.starts, self.incidence.cells, rows, sizes)
        sizes = sizes[sizes < rows.size]
        pairs = int(sizes.max(initial=0)) * int(sizes.sum())
        if pairs < _LARGEST:
            pairs = int((sizes * sizes).sum())
        changes = 3 * up * (rows.size + pairs // rows.size)
        return min(1 + changes // self.wishes.most_changes, rows.size)


def _nearest(total: int, base: int) -> int:
    """How many bases are nearest to a total; where two are, the even number."""
    down, rest = divmod(total, base)
    return down + (2 * rest > base or (2 * rest == base and down % 2 == 1))


def _total(values: Int64) -> int:
    """A sum that cannot overflow."""
    high, low = np.divmod(values, 1 << 32)
    return (int(high.sum()) << 32) + int(low.sum())
