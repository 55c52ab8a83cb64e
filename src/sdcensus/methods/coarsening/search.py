"""The finest version of a table that passes: all of them looked at where they are few.

Where there are too many, steps begin at every combination of levels that could become finer than
the best so far, and the finest that levels alone give is kept if it is finer.
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
from sdcensus.methods.coarsening.rules import FewSmall, Rule
from sdcensus.methods.coarsening.stepwise import Steps, Work
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress

Int64 = npt.NDArray[np.int64]
Version = tuple[AxisVersion, ...]

#: So many versions are all looked at, and so many cells altogether.
MOST_VERSIONS, MOST_WORK = 5_000, 50_000_000
#: So many cells are looked at, step by step, where there are more: some ten seconds.
MOST_STEPS = 2_000_000_000


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
        ended: Whether the search ended early, since there was too much to look at.
    """

    version: Version
    proven: bool
    ended: bool = False

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
        return self.wrong_in(version, self.counts(version))

    def wrong_in(self, version: Version, counts: Int64) -> int:
        """The same, where its counts are known."""
        area, left_out = self._area, [not each.levels for each in version]
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
        starts = list(itertools.product(*(axis.options for axis in self._axes)))
        best = self._best(starts)
        limit = Work(MOST_STEPS)
        finest = None if best is None else self.fineness(best)
        ranked = sorted(
            ((self.fineness(start), start) for start in starts), key=lambda pair: pair[0]
        )
        for at, (bound, start) in enumerate(reversed(ranked)):
            progress("putting codes together", at / len(ranked))
            # Putting codes together makes nothing finer.
            if finest is not None and bound <= finest:
                break
            version = self.stepwise(start, limit)
            if version is not None and (finest is None or self.fineness(version) > finest):
                best, finest = version, self.fineness(version)
        return None if best is None else FinestVersion(best, proven=False, ended=limit.is_done)

    def stepwise(self, start: Version, work: Work) -> Version | None:
        """Put codes together from a start on until the version passes; ``None`` if none does."""
        small = next((rule for rule in self._rules if isinstance(rule, FewSmall)), FewSmall(1))
        return Steps(self, self._axes, small, work).finest_from(start)

    def _best(self, versions: Iterable[Version]) -> Version | None:
        best: Version | None = None
        reached: tuple[float, float, tuple[object, ...]] | None = None
        for version in versions:
            fineness = self.fineness(version)
            if (reached is None or fineness > reached) and not self.wrong(version):
                best, reached = version, fineness
        return best
