"""What all tables of a menu together say about a cell: the best linear estimate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.inference.looks import sum_of_choices
from sdcensus.model.policy.menu import Menu, MenuVariable
from sdcensus.model.schema.variable import Level
from sdcensus.risk.looks.axis import AxisForms, axis_forms
from sdcensus.risk.looks.tables import division

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
#: Which code of a variable a cell has; where none is said, the one with the most looks.
Codes = Mapping[str, str]

#: A combination that no table may have: for each member, the levels of a variable that bring it.
Combination = list[dict[str, frozenset[str]]]

#: More tables than this are not gone through one by one.
MOST_CHOICES = 20_000_000
#: With more tables than this, most of them beyond the limits, it is not even tried.
HOPELESS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Summed:
    """The looks at a cell.

    Attributes:
        looks: One over the variance of its best linear estimate, where a published value has 1.
        exact: Whether that is the number; else there are at most so many.
    """

    looks: float
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Options:
    """The levels at which a variable may stand in a table.

    Attributes:
        weight: The factor that each level brings.
        member: For each forbidden combination and level, the members (as bits) that it brings.
    """

    weight: Float64
    member: Int64


class Lattice:
    """All tables of a menu, and what they say together about a cell.

    A table is a choice of variables at levels; every cell of every table is seen once, with noise
    of its own. The information of all of them is a sum of products over variables, and it falls
    apart: for every set of variables there is what varies with exactly these, and nothing in one
    such part helps with another one. So the best estimate of a cell is a sum of best estimates, and
    its variance a sum of variances (``docs/risk/look-budget.md`` has the formula).

    That is exact as long as a variable which may stand in a table may stand there at each of its
    levels. Limits on levels are left out, and the looks are then at most so many. The largest
    number of cells is left out as well: a larger table can be asked for area by area.

    Args:
        menu: The tables.
        forms: What variables say, where it is not what their levels on the menu say.
    """

    def __init__(
        self,
        menu: Menu,
        forms: Mapping[str, AxisForms] | None = None,
    ) -> None:
        self.menu = replace(menu, cells=None)
        combinations = [*_never_together(menu), *_areas_too_fine(menu)]
        self._combinations = combinations
        self._whole = [combination for combination in combinations if self._is_whole(combination)]
        self._forms = {
            variable.variable.name: axis_forms(variable.levels) for variable in menu.variables
        }
        self._forms |= {name: form for name, form in (forms or {}).items() if name in self._forms}
        self._place = {variable.variable.name: at for at, variable in enumerate(menu.variables)}
        self._beside: dict[tuple[str, ...], float] = {}
        self._candidates: dict[tuple[str, str], Int64] = {}
        self._complete = True
        self._allowed: dict[tuple[tuple[str, str], ...], float] = {}

    @property
    def exact(self) -> bool:
        """Whether nothing was left out."""
        return (
            self._complete
            and len(self._whole) == len(self._combinations)
            and all(form.exact for form in self._forms.values())
        )

    def looks(self, chosen: Mapping[str, Level], codes: Codes | None = None) -> Summed:
        """The looks at a cell; where no codes are given, at the one with the most."""
        looks = self.at_most(chosen, codes)
        if self.exact:
            return Summed(looks)
        within = 1.0
        for name, level in chosen.items():
            forms = self._forms[name].codes.get(level.name)
            if forms is not None:
                at = self._codes(name, level, codes, every=True)
                within *= float(forms.within[at].max())
        if math.isfinite(within):
            looks = min(looks, within * self._where_allowed(chosen))
        # A published value is one look, whatever a bound says.
        return Summed(max(1.0, looks), exact=False)

    def at_most(self, chosen: Mapping[str, Level], codes: Codes | None = None) -> float:
        """The looks that a cell would have if no level of a variable were forbidden anywhere."""
        names, rests, shares = [], [], []
        for name, level in chosen.items():
            at = self._codes(name, level, codes)
            forms = self._forms[name].codes.get(level.name)
            if forms is not None:  # else a single code: the cell is that without the variable
                names.append(name)
                rests.append(forms.rest[at])
                shares.append(forms.share[at] ** 2)
        return 1 / float(self._variances(names, rests, shares).min())

    def _codes(self, name: str, level: Level, codes: Codes | None, *, every: bool = False) -> Int64:
        """The places of the codes that may be meant."""
        wanted = None if codes is None else codes.get(name)
        key = (name, level.name)
        forms = self._forms[name].codes.get(level.name)
        if wanted is None:
            if forms is None:
                return np.zeros(1, dtype=np.int64)
            if every:
                return np.flatnonzero(forms.filled)
            if key not in self._candidates:
                self._candidates[key] = forms.candidates()
            return self._candidates[key]
        known = [code.code for code in level.codes]
        if wanted not in known:
            raise UnknownName("code", wanted, known=known, where=f"{name}: ")
        at = known.index(wanted)
        if at not in level.group:
            raise SpecError(f"{name}: the code {wanted!r} stands for nothing that is counted.")
        return np.array([at], dtype=np.int64)

    def _variances(
        self, names: Sequence[str], rests: Sequence[Float64], shares: Sequence[Float64]
    ) -> Float64:
        """The variance of the best estimate of every cell with these codes."""
        total: Float64 = np.zeros([rest.size for rest in rests])
        for inside in itertools.product((False, True), repeat=len(names)):
            part: Float64 = np.ones(())
            for varies, rest, share in zip(inside, rests, shares, strict=True):
                part = np.multiply.outer(part, rest if varies else share)
            varying = tuple(name for name, one in zip(names, inside, strict=True) if one)
            total = total + part / self._information(varying)
        return total

    def _information(self, varying: tuple[str, ...]) -> float:
        """What all tables with these variables say about what varies with exactly these."""
        key = tuple(sorted(varying))
        if key not in self._beside:
            others = [form for form in self._forms if form not in varying]
            self._beside[key] = self.over_tables(key, others)
        return self._beside[key]

    def over_tables(self, required: Sequence[str], others: Sequence[str]) -> float:
        """The sum over tables with some variables of the gains of those that they have besides."""
        room = self.menu.dimensions - len(required)
        if room < 0:
            return 0.0
        gains = {name: self._forms[name].gain for name in others}
        if self._whole:
            order = [*required, *(name for name in others if gains[name])]
            options = [
                Options(np.array([gains.get(name, 1.0)]), _members(self._whole, name, None))
                for name in order
            ]
            total, choices = self._sum(options, len(required), self._whole)
            if choices >= 0:
                return total
            self._complete = False
        sums = np.zeros(room + 1)
        sums[0] = 1
        for gain in gains.values():
            sums[1:] += gain * sums[:-1]
        return math.fsum(sums.tolist())

    def _where_allowed(self, chosen: Mapping[str, Level]) -> float:
        """The same sum over variables that may stand beside a cell, at its levels or finer ones."""
        key = tuple((name, level.name) for name, level in chosen.items())
        if key not in self._allowed:
            finer = [
                [one for one in self.menu.variable(name).levels if one.refines(level)]
                for name, level in chosen.items()
            ]
            others = [
                variable.variable.name
                for variable in self.menu.variables
                if variable.variable.name not in chosen
                and any(
                    self.menu.allows(
                        dict(zip(chosen, levels, strict=True)) | {variable.variable.name: own}
                    )
                    for levels in itertools.product(*finer)
                    for own in variable.levels
                )
            ]
            self._allowed[key] = self.over_tables(tuple(chosen), others)
        return self._allowed[key]

    def _is_whole(self, combination: Combination) -> bool:
        """Whether variables are forbidden together at whatever level."""
        return all(
            len(levels) == len(self.menu.variable(name).levels)
            for member in combination
            for name, levels in member.items()
        )

    def lines(self, name: str, level: Level) -> float:
        """How many sums over the codes of a level all tables show together, each once."""
        own = Options(np.ones(1), _members(self._combinations, name, [level]))
        others = [
            self._cells(variable)
            for variable in self.menu.variables
            if variable.variable.name != name
        ]
        # One line for each cell of the other variables, in every table that also has this one.
        total, choices = self._sum([own, *others], 1, self._combinations)
        if choices >= 0:
            return total
        sums = np.zeros(self.menu.dimensions)
        sums[0] = 1
        for other in others:
            sums[1:] += float(other.weight.sum()) * sums[:-1]
        return float(sums.sum())

    def _cells(self, one: MenuVariable) -> Options:
        """The levels of a variable with their numbers of codes; those that divide alike once."""
        coarse_first = one.levels[::-1]
        divided = division(coarse_first, None)
        kept = [at for at in range(len(coarse_first)) if divided.same_as[at, 0] == at]
        weights = np.array([divided.parts[at, 0] for at in kept], dtype=np.float64)
        levels = [coarse_first[at] for at in kept]
        return Options(weights, _members(self._combinations, one.variable.name, levels))

    def _sum(
        self, parts: Sequence[Options], required: int, combinations: Sequence[Combination]
    ) -> tuple[float, int]:
        """The sum of products of weights over all tables, and how many; -1 for too many."""
        parts = [part for at, part in enumerate(parts) if part.weight.size or at < required]
        if self._unlimited(parts, required) > HOPELESS:
            return 0.0, -1
        widths = [part.weight.size for part in parts]
        return sum_of_choices(
            np.concatenate([[0], np.cumsum(widths)]).astype(np.int64),
            np.repeat(np.arange(len(parts)), widths).astype(np.int64),
            np.concatenate([np.zeros(0), *(part.weight for part in parts)]),
            np.concatenate(
                [np.zeros((len(combinations), 0), np.int64), *(part.member for part in parts)],
                axis=1,
            ),
            np.array([(1 << len(combination)) - 1 for combination in combinations], dtype=np.int64),
            required,
            min(self.menu.dimensions, len(parts)),
            MOST_CHOICES,
        )

    def _unlimited(self, parts: Sequence[Options], required: int) -> float:
        """How many choices there would be without forbidden combinations."""
        room = max(min(self.menu.dimensions, len(parts)) - required, 0)
        sums = np.zeros(room + 1)
        sums[0] = math.prod(part.weight.size for part in parts[:required])
        for part in parts[required:]:
            sums[1:] += part.weight.size * sums[:-1]
        return float(sums.sum())


def _members(
    combinations: Sequence[Combination], name: str, levels: Sequence[Level] | None
) -> Int64:
    """The members of each combination that each level brings; ``None``: any level brings them."""
    names = [None] if levels is None else [level.name for level in levels]
    member = np.zeros((len(combinations), len(names)), dtype=np.int64)
    for row, combination in enumerate(combinations):
        for bit, brought in enumerate(combination):
            for at, level in enumerate(names):
                if name in brought and (level is None or level in brought[name]):
                    member[row, at] |= 1 << bit
    return member


def _never_together(menu: Menu) -> list[Combination]:
    found = []
    offered = {variable.variable.name for variable in menu.variables}
    for combination in menu.never_together:
        if not offered.issuperset(name for name, _ in combination):
            continue  # no table has them all
        members: Combination = []
        for name, level in combination:
            menu_variable = menu.variable(name)
            levels = list(menu_variable.levels)
            if level:  # as the menu has it: that level, and every one that is not coarser
                limit = menu_variable.variable.level(level)
                levels = [each for each in levels if each.refines(limit) or not limit.refines(each)]
            members.append({name: frozenset(each.name for each in levels)})
        if len(members) > 62:
            raise SpecError("A combination that is never allowed has at most 62 members.")
        found.append(members)
    return found


def _areas_too_fine(menu: Menu) -> list[Combination]:
    found = []
    offered = {variable.variable.name: variable for variable in menu.variables}
    for variable in menu.variables:
        for area, allowed in variable.finest_areas:
            if area not in offered:
                continue
            fine = {level.name for level in offered[area].levels} - set(allowed)
            own = frozenset(level.name for level in variable.levels)
            if fine:
                found.append([{variable.variable.name: own}, {area: frozenset(fine)}])
    return found
