"""Codes put together step by step until a table passes, and parted again as long as it does.

A step is worth what is right after it for each cell that it costs. How many small counts there
would be is reckoned for all pairs of codes of an axis at once; other rules are asked where there
are no small counts any more, one pair after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sdcensus.methods.coarsening.axis_versions import AxisVersion, AxisVersions
from sdcensus.methods.coarsening.rules import FewSmall

Int64 = npt.NDArray[np.int64]
Version = tuple[AxisVersion, ...]
#: What a step is worth, and between equals: the units that lose their own code, negative; the name
#: of the variable; the later codes.
Worth = tuple[float, int, str, tuple[int, int]]


class Measured(Protocol):
    """Says of versions of a table what is wrong with them, and how fine they are."""

    def counts(self, version: Version) -> Int64:
        """The interior counts of a version."""

    def wrong_in(self, version: Version, counts: Int64) -> int:
        """How much of a version does not pass."""

    def fineness(self, version: Version) -> tuple[float, float, tuple[object, ...]]:
        """What versions are compared by: the larger the finer."""


@dataclass(slots=True)
class Work:
    """How many cells may still be looked at: a limit that is the same on every machine."""

    left: int

    def done(self, cells: int) -> None:
        """So many cells were looked at."""
        self.left -= cells

    @property
    def is_done(self) -> bool:
        """Whether there is no more time."""
        return self.left <= 0


class Steps:
    """The steps between versions of one table."""

    def __init__(
        self, measured: Measured, axes: Sequence[AxisVersions], small: FewSmall, work: Work
    ) -> None:
        """Take what versions are measured by, the axes, the rule on small counts and the limit."""
        self._measured, self._axes, self._small, self._work = measured, tuple(axes), small, work

    def finest_from(self, version: Version) -> Version | None:
        """The version at which steps from another one end; ``None`` where none passes."""
        coarse = self._coarser(version)
        return None if coarse is None else self._finer(coarse)

    def _coarser(self, version: Version) -> Version | None:
        counts = self._measured.counts(version)
        while not self._work.is_done:
            self._work.done(counts.size)
            small = self._small(counts, None)
            wrong = small or self._measured.wrong_in(version, counts)
            if not wrong:
                return version
            steps = (
                self._fewer_small(version, counts, small)
                if small
                else self._less_wrong(version, counts, wrong)
            )
            best = max(steps, key=lambda step: step[0], default=None)
            if best is None:
                return None
            _, at, (one, other) = best
            counts = _put_together(counts, at, one, other)
            version = _changed(version, at, self._axes[at].merged(version[at], one, other))
        return None

    def _fewer_small(
        self, version: Version, counts: Int64, wrong: int
    ) -> Iterator[tuple[Worth, int, tuple[int, int]]]:
        """The best step of each axis, by the small counts that it leaves."""
        is_small, is_filled = self._small.small(counts), counts > 0
        for at, (axis, shown) in enumerate(zip(self._axes, version, strict=True)):
            pairs = axis.pairs(shown)
            if not pairs:
                continue
            ones, others = np.array(pairs).T
            merged = counts.take(ones, axis=at) + counts.take(others, axis=at)
            self._work.done(merged.size + counts.size)
            rest = tuple(place for place in range(counts.ndim) if place != at)

            def after(
                cells: npt.NDArray[np.bool_],
                joined: npt.NDArray[np.bool_],
                rest: tuple[int, ...] = rest,
                ones: Int64 = ones,
                others: Int64 = others,
            ) -> Int64:
                each = cells.sum(axis=rest)
                left: Int64 = each.sum() - each[ones] - each[others] + joined.sum(axis=rest)
                return left

            left = self._small.wrong(
                after(is_small, self._small.small(merged)), after(is_filled, merged > 0)
            )
            lost = counts.size // counts.shape[at]
            units = merged.sum(axis=rest)
            name = axis.axis.variable.name
            yield max(
                (((wrong - int(left[place])) / lost, -int(units[place]), name, pair), at, pair)
                for place, pair in enumerate(pairs)
            )

    def _less_wrong(
        self, version: Version, counts: Int64, wrong: int
    ) -> Iterator[tuple[Worth, int, tuple[int, int]]]:
        """Every step, by what all rules say of it."""
        for at, (axis, shown) in enumerate(zip(self._axes, version, strict=True)):
            for one, other in axis.pairs(shown):
                coarse = _put_together(counts, at, one, other)
                self._work.done(2 * counts.size)
                left = self._measured.wrong_in(
                    _changed(version, at, axis.merged(shown, one, other)), coarse
                )
                lost = counts.size - coarse.size
                units = int(coarse.take(one, axis=at).sum())
                name = axis.axis.variable.name
                yield ((wrong - left) / lost, -units, name, (one, other)), at, (one, other)

    def _finer(self, version: Version) -> Version:
        while not self._work.is_done:
            finer = [step for step in self.parted(version) if not self._wrong(step)]
            if not finer:
                break
            version = max(finer, key=self._measured.fineness)
        return version

    def _wrong(self, version: Version) -> int:
        counts = self._measured.counts(version)
        self._work.done(counts.size)
        return self._measured.wrong_in(version, counts)

    def parted(self, version: Version) -> Iterator[Version]:
        """Versions one step finer, without those that have too many small counts."""
        counts = self._measured.counts(version)
        small, filled = int(self._small.small(counts).sum()), int((counts > 0).sum())
        for at, (axis, shown) in enumerate(zip(self._axes, version, strict=True)):
            if not shown.levels or shown.size == len(shown.groups):
                continue  # it is left out, or nothing is put together
            apart = AxisVersion(shown.levels, tuple(range(len(shown.groups))))
            codes = np.moveaxis(self._measured.counts(_changed(version, at, apart)), at, 0)
            self._work.done(codes.size)
            for number in range(shown.size):
                whole: Int64 = np.asarray(np.moveaxis(counts, at, 0)[number])
                for part in axis.parts(shown, number):
                    first = codes[list(part)].sum(axis=0)
                    self._work.done(first.size)
                    both = np.stack([first, whole - first])
                    left = small + int(
                        self._small.small(both).sum() - self._small.small(whole).sum()
                    )
                    held = filled + int((both > 0).sum() - (whole > 0).sum())
                    if not self._small.wrong(left, held):
                        yield _changed(version, at, axis.parted(shown, part))


def _changed(version: Version, at: int, shown: AxisVersion) -> Version:
    return (*version[:at], shown, *version[at + 1 :])


def _put_together(counts: Int64, at: int, one: int, other: int) -> Int64:
    """Counts with the second of two places of an axis added to the first."""
    sums = np.delete(counts, other, axis=at)
    place = (slice(None),) * at + (one,)
    sums[place] += counts.take(other, axis=at)
    return sums
