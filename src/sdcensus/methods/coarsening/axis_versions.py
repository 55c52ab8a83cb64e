"""The ways in which an axis can be shown with fewer codes: coarser levels, codes put together.

Codes of an ordered variable are put together with their neighbours, others with the smallest of
their siblings. Neither goes across the codes of the next coarser level, so that whatever is shown
above stays a sum, and a code that says that there is no value stays by itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.methods.coarsening.labels import put_together
from sdcensus.model.schema.variable import Level
from sdcensus.model.spec.axis import Axis, make_axis

Int64 = npt.NDArray[np.int64]
#: For each code of a level the number of its group; groups are numbered by their first code.
Groups = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AxisVersion:
    """One way to show an axis.

    Attributes:
        levels: The levels that are shown, finest first; none where the axis is left out.
        groups: Which codes of the finest of them are put together.
    """

    levels: tuple[Level, ...]
    groups: Groups = ()

    @property
    def size(self) -> int:
        """How many codes its finest level has; 1 where the axis is left out."""
        return max(self.groups, default=0) + 1


class AxisVersions:
    """The versions of one axis of a table.

    Attributes:
        axis: The axis as it is asked for.
        ordered: Whether the order of its codes means something.
        options: Its levels without codes put together, finest first; the last leaves it out.
    """

    def __init__(
        self, axis: Axis, totals: Int64, *, ordered: bool, codes: bool, stays: bool = False
    ) -> None:
        """Take an axis with the total of each of its base groups.

        Args:
            axis: The axis.
            totals: How many units each code of its finest level has.
            ordered: Whether the order of its codes means something.
            codes: Whether codes are put together, besides taking coarser levels.
            stays: Whether it is shown as it is.
        """
        self.axis, self.ordered = axis, ordered
        self._totals, self._codes = totals, codes and not stays
        self._known_families: dict[tuple[str, ...], list[list[int]]] = {}
        self.options = tuple(
            AxisVersion(levels, tuple(range(len(levels[0].codes))) if levels else ())
            for levels in itertools.islice(_level_options(axis), 1 if stays else None)
        )

    def position(self, version: AxisVersion) -> Int64:
        """For each base group of the axis the group of a version in which it is."""
        if not version.levels:
            return np.zeros(self.axis.base_size, dtype=np.int64)
        at_level = self._at_level(version.levels[0])
        return np.asarray(version.groups, dtype=np.int64)[at_level]

    def all(self, most: int) -> list[AxisVersion] | None:
        """Every version; ``None`` where there are more than that."""
        if sum(self._ways(option) for option in self.options) > most:
            return None
        return [
            replace(option, groups=groups)
            for option in self.options
            for groups in (
                self._partitions(option) if option.levels and self._codes else [option.groups]
            )
        ]

    def _ways(self, option: AxisVersion) -> int:
        """In how many ways codes of an option can be put together; too many are never listed."""
        if not (option.levels and self._codes):
            return 1
        sizes = map(len, self._families(option.levels))
        return math.prod(2 ** (size - 1) if self.ordered else size for size in sizes)

    def pairs(self, version: AxisVersion) -> list[tuple[int, int]]:
        """Groups of codes that can be put together in one step, the smaller number first."""
        if not self._codes or version.size <= 2:  # one group is the same as leaving the axis out
            return []
        pairs: list[tuple[int, int]] = []
        sizes = self._sizes(version)
        for members in self._families(version.levels):
            numbers = sorted({version.groups[at] for at in members})
            if self.ordered:
                pairs += itertools.pairwise(numbers)
            elif len(numbers) > 1:
                # One group of the smallest grows in each family.
                one, other = sorted(numbers, key=lambda number: (sizes[number], number))[:2]
                pairs.append((min(one, other), max(one, other)))
        return pairs

    def merged(self, version: AxisVersion, one: int, other: int) -> AxisVersion:
        """A version with two groups put together; the first keeps its number."""
        return replace(
            version,
            groups=_numbered([one if group == other else group for group in version.groups]),
        )

    def parts(self, version: AxisVersion, number: int) -> list[tuple[int, ...]]:
        """How a group can be parted in one step: the codes of the first part of each way."""
        members = [at for at, group in enumerate(version.groups) if group == number]
        if not version.levels or len(members) < 2:
            return []
        if self.ordered:
            return [tuple(members[:cut]) for cut in range(1, len(members))]
        return [(member,) for member in members]

    def parted(self, version: AxisVersion, part: Sequence[int]) -> AxisVersion:
        """A version with some codes of a group parted from the others."""
        groups = [-1 if at in part else group for at, group in enumerate(version.groups)]
        return replace(version, groups=_numbered(groups))

    def shown(self, version: AxisVersion) -> Axis | None:
        """A version as an axis; ``None`` where it is left out."""
        if not version.levels:
            return None
        finest, *above = version.levels
        if version.size == len(finest.codes):
            return make_axis(self.axis.variable, version.levels, total=self.axis.total)
        family = self._family(version.levels)
        taken = {code.code for level in version.levels for code in level.codes}
        codes = []
        for number in range(version.size):
            members = [at for at, group in enumerate(version.groups) if group == number]
            whole = False
            parent = None
            if family is not None:
                parents = self._parent(finest, family)
                parent = family.codes[parents[members[0]]]
                whole = len(members) == np.count_nonzero(parents == parents[members[0]])
            code = put_together(
                [finest.codes[at] for at in members],
                ordered=self.ordered,
                parent=parent,
                whole=whole,
                taken=taken,
            )
            taken.add(code.code)
            codes.append(code)
        group = tuple(int(version.groups[at]) for at in finest.group)
        coarse = Level(f"{finest.name}_coarser", tuple(codes), group)
        # A level above that tells the same apart is shown once.
        kept = [level for level in above if len(level.codes) < len(codes)]
        return make_axis(self.axis.variable, [coarse, *kept], total=self.axis.total)

    def _at_level(self, level: Level) -> Int64:
        """For each base group its code at a level."""
        first = np.zeros(self.axis.base_size, dtype=np.int64)
        groups, leaves = np.unique(self.axis.base, return_index=True)
        first[groups] = leaves
        return level.group_array[first]

    def _sizes(self, version: AxisVersion) -> Int64:
        return np.bincount(
            self.position(version), weights=self._totals, minlength=version.size
        ).astype(np.int64)

    def _family(self, levels: Sequence[Level]) -> Level | None:
        """The level across whose codes nothing is put together, if there is one."""
        if len(levels) > 1:
            return levels[1]
        coarser = [
            level
            for level in self.axis.variable.plain_levels
            if 1 < len(level.codes) < len(levels[0].codes) and levels[0].refines(level)
        ]
        return max(coarser, key=lambda level: (len(level.codes), level.name), default=None)

    @staticmethod
    def _parent(level: Level, family: Level) -> Int64:
        parent = np.zeros(len(level.codes), dtype=np.int64)
        parent[level.group_array] = family.group_array
        return parent

    def _families(self, levels: Sequence[Level]) -> list[list[int]]:
        """The codes of the finest level that may be put together, family by family."""
        names = tuple(level.name for level in levels)
        if names not in self._known_families:
            self._known_families[names] = self._find_families(levels)
        return self._known_families[names]

    def _find_families(self, levels: Sequence[Level]) -> list[list[int]]:
        level, family = levels[0], self._family(levels)
        parent = np.zeros(len(level.codes)) if family is None else self._parent(level, family)
        families: dict[tuple[int, str], list[int]] = {}
        for at, code in enumerate(level.codes):
            key = (int(parent[at]), f"{code.kind}{at}" if code.is_missing else "")
            families.setdefault(key, []).append(at)
        return list(families.values())

    def _partitions(self, option: AxisVersion) -> Iterator[Groups]:
        """Every way to put codes of an option together."""
        sizes = self._sizes(option)
        choices = []
        for members in self._families(option.levels):
            if self.ordered:
                choices.append(list(_runs(members)))
            else:
                order = sorted(members, key=lambda at: (int(sizes[at]), at))
                ways = [[[at] for at in members]]
                for count in range(2, len(members) + 1):
                    ways.append([order[:count], *([at] for at in order[count:])])
                choices.append(ways)
        for combination in itertools.product(*choices):
            groups = [0] * len(option.groups)
            for number, members in enumerate(itertools.chain.from_iterable(combination)):
                for at in members:
                    groups[at] = number
            if max(groups) or len(groups) == 1:  # else it is the same as leaving the axis out
                yield _numbered(groups)


def _runs(members: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to cut a sequence into runs."""
    for cuts in itertools.product((False, True), repeat=max(len(members) - 1, 0)):
        runs: list[list[int]] = [[members[0]]]
        for member, cut in zip(members[1:], cuts, strict=True):
            if cut:
                runs.append([])
            runs[-1].append(member)
        yield runs


def _numbered(groups: Sequence[int]) -> Groups:
    """Groups with numbers by their first code."""
    numbers: dict[int, int] = {}
    return tuple(numbers.setdefault(group, len(numbers)) for group in groups)


def _level_options(axis: Axis) -> Iterator[tuple[Level, ...]]:
    """The levels at which an axis can be shown, finest first; none last."""
    for start in range(len(axis.levels)):
        yield axis.levels[start:]
    last = axis.levels[-1]
    coarser = [
        level
        for level in axis.variable.plain_levels
        if 1 < len(level.codes) < len(last.codes) and last.refines(level)
    ]
    for level in sorted(coarser, key=lambda level: (-len(level.codes), level.name)):
        yield (level,)
    yield ()
