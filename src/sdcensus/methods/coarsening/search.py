"""The finest version of a table that passes: all of them looked at where they are few.

Where there are too many, codes are put together step by step until the table passes, and parted
again as long as it still does; and the finest that levels alone give is kept if it is finer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import Combine, regroup
from sdcensus.methods.coarsening.axis_versions import AxisVersion, AxisVersions
from sdcensus.methods.coarsening.rules import Rule
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress

Int64 = npt.NDArray[np.int64]
Version = tuple[AxisVersion, ...]

#: So many versions are all looked at, and so many cells altogether.
MOST_VERSIONS, MOST_WORK = 5_000, 50_000_000


class Finest(StrEnum):
    """What makes one version finer than another: more cells, or less information lost."""

    CELLS = "cells"
    INFORMATION = "information"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FinestVersion(Confidential):
    """What was found.

    Attributes:
        version: How every axis is shown.
        proven: Whether every version was looked at.
    """

    version: Version
    proven: bool

    def __repr__(self) -> str:
        return "<FinestVersion: confidential>"


class VersionSearch:
    """The versions of one table with its true counts."""

    def __init__(
        self,
        counts: Int64,
        axes: Sequence[AxisVersions],
        rules: Sequence[Rule],
        *,
        area: int | None,
        finest: Finest,
    ) -> None:
        """Take the interior counts of a table, its axes, and what it has to pass.

        Args:
            counts: On the base groups of the axes.
            axes: The versions of each axis.
            rules: All of them have to be passed.
            area: Which axis has areas, if one has.
            finest: What makes a version finer.
        """
        self._counts, self._axes, self._rules = counts, tuple(axes), tuple(rules)
        self._area, self._finest = area, finest

    def wrong(self, version: Version) -> int:
        """How much of a version does not pass; 0 where it does."""
        counts, area = self.counts(version), self._area
        left_out = [not each.levels for each in version]
        if area is not None:
            area = None if left_out[area] else area - sum(left_out[:area])
        shown = counts.reshape(
            [size for size, out in zip(counts.shape, left_out, strict=True) if not out]
        )
        return sum(rule(shown, area) for rule in self._rules)

    def counts(self, version: Version) -> Int64:
        """The interior counts of a version; an axis that is left out has one place."""
        counts = self._counts
        for at, (axis, each) in enumerate(zip(self._axes, version, strict=True)):
            if each.levels and each.size == counts.shape[at]:
                continue
            group = axis.position(each)
            counts = regroup(counts, at, group, each.size, Combine.SUM, 0)
        return counts

    def fineness(self, version: Version) -> tuple[float, float, tuple[object, ...]]:
        """What versions are compared by: the larger the finer."""
        cells = float(math.prod(each.size for each in version))
        counts = self.counts(version)
        filled = counts[counts > 0].astype(np.float64)
        total = filled.sum()
        entropy = 0.0 if not total else float(-(filled / total * np.log2(filled / total)).sum())
        entropy = round(entropy, 9)  # no order of adding decides
        pair = (cells, entropy) if self._finest is Finest.CELLS else (entropy, cells)
        # Of equals the one that puts later codes together: the same on every machine.
        return *pair, tuple(
            (tuple(level.name for level in each.levels), each.groups)
            for _, each in sorted(
                zip((axis.axis.variable.name for axis in self._axes), version, strict=True),
                key=lambda pair: pair[0],
            )
        )

    def find(self, progress: Progress = no_progress) -> FinestVersion | None:
        """The finest version that passes; ``None`` where none does."""
        progress("looking at versions", 0.0)
        choices = [axis.all(MOST_VERSIONS) for axis in self._axes]
        number = math.prod(MOST_VERSIONS + 1 if ways is None else len(ways) for ways in choices)
        work = number * max(self._counts.size, 1)
        if number <= MOST_VERSIONS and work <= MOST_WORK:
            best = self._best(itertools.product(*(ways for ways in choices if ways is not None)))
            return None if best is None else FinestVersion(best, proven=True)
        levels = self._best(itertools.product(*(axis.options for axis in self._axes)))
        stepwise = self._stepwise(progress)
        passing = [version for version in (levels, stepwise) if version is not None]
        if not passing:
            return None
        return FinestVersion(max(passing, key=self.fineness), proven=False)

    def _best(self, versions: Iterable[Version]) -> Version | None:
        best: Version | None = None
        reached: tuple[float, float, tuple[object, ...]] | None = None
        for version in versions:
            fineness = self.fineness(version)
            if (reached is None or fineness > reached) and not self.wrong(version):
                best, reached = version, fineness
        return best

    def _stepwise(self, progress: Progress) -> Version | None:
        version = tuple(axis.options[0] for axis in self._axes)
        wrong = begun = self.wrong(version)
        while wrong:
            steps = list(self._steps(version, finer=False))
            if not steps:
                return None
            # What is gained for each cell that is lost.
            cells = math.prod(each.size for each in version)

            def worth(
                step: tuple[int, Version], now: int = wrong, had: int = cells
            ) -> tuple[object, ...]:
                left, other = step
                lost = had - math.prod(each.size for each in other)
                return (now - left) / max(lost, 1), self.fineness(other)

            wrong, version = max(((self.wrong(step), step) for step in steps), key=worth)
            progress("putting codes together", 1 - min(wrong / begun, 1.0))
        while True:
            finer = [step for step in self._steps(version, finer=True) if not self.wrong(step)]
            if not finer:
                return version
            version = max(finer, key=self.fineness)

    def _steps(self, version: Version, *, finer: bool) -> Iterable[Version]:
        for at, axis in enumerate(self._axes):
            for step in axis.finer(version[at]) if finer else axis.coarser(version[at]):
                yield (*version[:at], step, *version[at + 1 :])
