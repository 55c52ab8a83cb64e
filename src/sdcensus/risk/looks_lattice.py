"""A menu as options with weights, over which looks are summed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.looks import sum_of_choices
from sdcensus.model.menu import Menu, MenuVariable
from sdcensus.model.variable import Level
from sdcensus.risk.looks_partitions import Division, division, refining

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
#: Which code of a variable a cell has; where none is said, the one with the most looks.
Codes = Mapping[str, str]


#: Cells with more choices than this are summed without limits of size and combination.
MOST_CHOICES = 20_000_000
#: With more choices than this, most of them beyond the limits, it is not even tried.
HOPELESS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Summed:
    """The looks at a cell.

    Attributes:
        looks: How many.
        choices: Over how many choices of variables and levels was summed; ``None`` where the sum
            is known without going through them.
        exact: Whether that is the number; else there are at most so many.
    """

    looks: float
    choices: int | None
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Options:
    """The levels at which a variable may stand in a table that adds up to a cell.

    Attributes:
        weight: One over the number of parts into which each level divides the cell.
        size: How many times larger the table becomes: the codes and a total.
        member: For each forbidden combination and level, the members (as bits) that it brings.
    """

    weight: Float64
    size: Int64
    member: Int64


class Lattice:
    """All tables of a menu, prepared for sums over them."""

    def __init__(self, menu: Menu) -> None:
        self.menu = menu
        self._combinations = [*_never_together(menu), *_areas_too_fine(menu)]
        self._others = [self._other(one) for one in menu.variables]
        self._place = {one.variable.name: at for at, one in enumerate(menu.variables)}
        self._chosen: dict[tuple[str, str, str | None], tuple[Options, ...]] = {}
        self._rest: dict[frozenset[str], float] = {}

    @cached_property
    def limited(self) -> bool:
        """Whether anything but the number of variables limits the tables."""
        if self._combinations:
            return True
        largest = sorted(
            (max(len(level.codes) + 1 for level in one.levels) for one in self.menu.variables),
            reverse=True,
        )
        limit = self.menu.cells
        return limit is not None and math.prod(largest[: self.menu.dimensions]) > limit

    def at_most(self, chosen: Mapping[str, Level], codes: Codes | None = None) -> float:
        """The looks that a cell would have without limits on combinations and on cells."""
        own = [self._required(name, level, codes)[0] for name, level in chosen.items()]
        return _gain(own) * self._beside(frozenset(chosen))

    def levels_of(self, one: MenuVariable) -> tuple[Level, ...]:
        """The levels at which the worst cell may have a variable."""
        if self.limited:
            return one.levels
        # Without limits its looks are a product, and each variable has its own best level.
        name = one.variable.name
        gains = [_gain(self._required(name, level, None)[:1]) for level in one.levels]
        return (one.levels[gains.index(max(gains))],)

    def _beside(self, names: frozenset[str]) -> float:
        """What all other variables together make of one look, without limits."""
        if names not in self._rest:
            room = self.menu.dimensions - len(names)
            sums = self._sums[: room + 1].tolist()
            for name in names:
                gain = float(self._others[self._place[name]].weight.sum())
                for degree in range(1, room + 1):  # take the factor 1 + gain x out of the product
                    sums[degree] -= gain * sums[degree - 1]
            self._rest[names] = math.fsum(sums)
        return self._rest[names]

    def looks(self, chosen: Mapping[str, Level], codes: Codes | None = None) -> Summed:
        """The looks at a cell."""
        if not self.limited:
            return Summed(self.at_most(chosen, codes), None)
        ways = [self._required(name, level, codes) for name, level in chosen.items()]
        others = [one for at, one in enumerate(self._others) if at not in self._places(chosen)]
        beside = self._beside(frozenset(chosen))
        best = Summed(0.0, 0)
        # Limits may bind one code more than another: the worst is among the first of each.
        for parts in sorted(itertools.product(*ways), key=_gain, reverse=True):
            if best.looks and _gain(parts) * beside <= best.looks:
                break
            total, choices = self._sum([*parts, *others], len(chosen))
            if choices < 0:
                return Summed(self.at_most(chosen, codes), None, exact=False)
            if total > best.looks:
                best = Summed(total, choices)
        return best

    def lines(self, name: str, level: Level) -> float:
        """How many sums over the codes of a level all tables show together, each once."""
        own = self._options(self.menu.variable(name), [level], [1.0])
        others = [one for at, one in enumerate(self._others) if at != self._place[name]]
        # One line for each cell of the other variables, in every table that also has this one.
        cells = [replace(one, weight=1 / one.weight) for one in others]
        total, choices = self._sum([own, *cells], 1)
        if choices >= 0:
            return total
        sums = np.zeros(self.menu.dimensions)
        sums[0] = 1
        for one in cells:
            sums[1:] += float(one.weight.sum()) * sums[:-1]
        return float(sums.sum())

    def _sum(self, parts: Sequence[Options], required: int) -> tuple[float, int]:
        parts = [one for at, one in enumerate(parts) if one.weight.size or at < required]
        if self._unlimited(parts, required) > HOPELESS:
            return 0.0, -1
        widths = [one.weight.size for one in parts]
        start = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        combinations = len(self._combinations)
        complete = np.array([(1 << len(one)) - 1 for one in self._combinations], dtype=np.int64)
        member = np.concatenate(
            [np.zeros((combinations, 0), np.int64), *(one.member for one in parts)], axis=1
        )
        cells = math.inf if self.menu.cells is None else float(self.menu.cells)
        return sum_of_choices(
            start,
            np.repeat(np.arange(len(parts)), widths).astype(np.int64),
            np.concatenate([np.zeros(0), *(one.weight for one in parts)]),
            np.concatenate([np.zeros(0, np.int64), *(one.size for one in parts)]),
            member,
            complete,
            required,
            min(self.menu.dimensions, len(parts)),
            cells,
            MOST_CHOICES,
        )

    def _unlimited(self, parts: Sequence[Options], required: int) -> float:
        """How many choices there would be without limits of size and combination."""
        room = max(min(self.menu.dimensions, len(parts)) - required, 0)
        sums = np.zeros(room + 1)
        sums[0] = math.prod(one.weight.size for one in parts[:required])
        for one in parts[required:]:
            sums[1:] += one.weight.size * sums[:-1]
        return float(sums.sum())

    def _places(self, chosen: Mapping[str, Level]) -> set[int]:
        return {self._place[name] for name in chosen}

    @cached_property
    def _sums(self) -> Float64:
        """Elementary symmetric sums of what each variable adds, by degree."""
        sums = np.zeros(self.menu.dimensions + 1)
        sums[0] = 1
        for one in self._others:
            gain = float(one.weight.sum())
            sums[1:] += gain * sums[:-1]
        return sums

    def _other(self, one: MenuVariable) -> Options:
        """A variable that the cell is not about: any level divides the cell."""
        coarse_first = one.levels[::-1]
        divided = division(coarse_first, None)
        kept = [at for at in range(len(coarse_first)) if divided.same_as[at, 0] == at]
        levels = [coarse_first[at] for at in kept]
        return self._options(one, levels, [1 / int(divided.parts[at, 0]) for at in kept])

    def _required(self, name: str, level: Level, codes: Codes | None) -> tuple[Options, ...]:
        """A variable that the cell is about: its level, or a finer one that divides its code.

        One for each way in which codes are divided, those with the most looks first; codes of
        which another one has every look and more are left out.
        """
        wanted = None if codes is None else codes.get(name)
        key = (name, level.name, wanted)
        if key not in self._chosen:
            one = self.menu.variable(name)
            # Of levels that divide alike, the coarsest is kept: limits bind it last.
            finer = refining(one.levels[::-1], level)
            divided = division(finer, level)
            known = [code.code for code in level.codes]
            if wanted is not None and wanted not in known:
                raise UnknownName("code", wanted, known=known, where=f"{name}: ")
            chosen = [known.index(wanted)] if wanted is not None else divided.most_divided()
            self._chosen[key] = tuple(
                self._divided(one, level, finer, divided, at) for at in chosen
            )
        return self._chosen[key]

    def _divided(
        self,
        one: MenuVariable,
        level: Level,
        finer: Sequence[Level],
        divided: Division,
        code: int,
    ) -> Options:
        kept = [at for at in range(len(finer)) if divided.same_as[at, code] == at]
        levels = [level, *(finer[at] for at in kept)]
        return self._options(one, levels, [1.0, *(1 / int(divided.parts[at, code]) for at in kept)])

    def _options(
        self, one: MenuVariable, levels: Sequence[Level], weights: Sequence[float]
    ) -> Options:
        member = np.zeros((len(self._combinations), len(levels)), dtype=np.int64)
        for row, combination in enumerate(self._combinations):
            for bit, brought in enumerate(combination):
                for at, level in enumerate(levels):
                    if level.name in brought.get(one.variable.name, ()):
                        member[row, at] |= 1 << bit
        return Options(
            np.array(weights, dtype=np.float64),
            np.array([len(level.codes) + 1 for level in levels], dtype=np.int64),
            member,
        )


def _gain(parts: Sequence[Options]) -> float:
    """The looks at a cell through finer levels of its own variables, without limits."""
    return math.prod(float(one.weight.sum()) for one in parts)


#: A combination that no table may have: for each member, the levels of a variable that bring it.
Combination = list[dict[str, frozenset[str]]]


def _never_together(menu: Menu) -> list[Combination]:
    found = []
    offered = {one.variable.name for one in menu.variables}
    for combination in menu.never_together:
        if not offered.issuperset(name for name, _ in combination):
            continue  # no table has them all
        members: Combination = []
        for name, level in combination:
            one = menu.variable(name)
            levels = list(one.levels)
            if level:  # as the menu has it: that level, and every one that is not coarser
                limit = one.variable.level(level)
                levels = [each for each in levels if each.refines(limit) or not limit.refines(each)]
            members.append({name: frozenset(each.name for each in levels)})
        if len(members) > 62:
            raise SpecError("A combination that is never allowed has at most 62 members.")
        found.append(members)
    return found


def _areas_too_fine(menu: Menu) -> list[Combination]:
    found = []
    offered = {one.variable.name: one for one in menu.variables}
    for one in menu.variables:
        for area, allowed in one.finest_areas:
            if area not in offered:
                continue
            fine = {level.name for level in offered[area].levels} - set(allowed)
            own = frozenset(level.name for level in one.levels)
            if fine:
                found.append([{one.variable.name: own}, {area: frozenset(fine)}])
    return found
