"""Coarser versions of a table: coarser levels, fewer variables, fewer conditions.

The versions of a table form a lattice. It is walked from the finest down, the version that keeps
most first; below a version that passes nothing is looked at, so what is found is the finest.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.schema.variable import Level
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.levels_told_apart import coarser_levels, coarser_or_equal
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe, restrict

#: Versions that are looked at before the search gives up.
MOST_VERSIONS = 2_000
#: A variable that is left out counts as much as halving its categories so many times.
_WHOLE_VARIABLE = 1.0
_CONDITION = 1.5


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a table: the levels of each axis, none where it is left out.

    Attributes:
        levels: For each axis of the table the names of its levels, finest first.
        conditions: The variables whose conditions are kept.
    """

    levels: tuple[tuple[str, ...], ...]
    conditions: frozenset[str]


class CoarserVersions:
    """All versions of one table that a policy could allow."""

    def __init__(
        self, policy: Policy, spec: TableSpec, role: str | UserRole = UserRole.PUBLIC
    ) -> None:
        self.policy = policy
        self.spec = spec
        limits = policy.role(role)
        self._dimensions = math.inf if limits.dimensions is None else limits.dimensions
        self._cells = math.inf if limits.cells is None else math.log2(limits.cells)
        self._steps: dict[tuple[int, tuple[str, ...]], tuple[tuple[str, ...], ...]] = {}
        self._axes: dict[tuple[int, tuple[str, ...]], Axis] = {}
        self._universes: dict[frozenset[str], Universe] = {}
        # Conditions that hang together are kept or left out together.
        self._apart = is_product(spec.universe)
        whole = tuple(tuple(level.name for level in axis.levels) for axis in spec.axes)
        self.whole = Version(
            whole, frozenset(variable.name for variable in spec.universe.variables)
        )

    def spec_of(self, version: Version) -> TableSpec:
        """The table of a version."""
        axes = [self._axis(at, names) for at, names in enumerate(version.levels) if names]
        kept = replace(self.spec, axes=tuple(axes), universe=self._universe(version.conditions))
        return self.spec if version == self.whole else replace(kept, name="")

    def finest(
        self, passes: Callable[[TableSpec], bool], *, most: int, looked_at: int = MOST_VERSIONS
    ) -> Iterator[TableSpec]:
        """The finest versions that pass, those that keep most first; not the table itself.

        Where they lie too deep to be found in order, versions are found by going down fast and
        made finer again, step by step, as long as they pass.
        """
        versions: list[Version] = []
        for haste, share in ((1, 2), (4, 4), (20, 4)):
            for version in self._walk(passes, versions, haste, looked_at // share):
                best = version if haste == 1 else self._finer(version, passes)
                if best != self.whole and not any(self._covers(known, best) for known in versions):
                    versions.append(best)
                    yield self.spec_of(best)
                if len(versions) >= most:
                    return

    def _walk(
        self,
        passes: Callable[[TableSpec], bool],
        found: list[Version],
        haste: int,
        looked_at: int,
    ) -> Iterator[Version]:
        """Versions that pass; with more haste, sooner those that keep the limits of the role."""
        waiting: list[tuple[float, int, bool, Version]] = []
        seen = {self.whole}

        def push(versions: Iterator[Version]) -> None:
            for version in versions:
                if version not in seen:
                    seen.add(version)
                    missing = self._missing(version)
                    cost = self._loss(version) + haste * missing
                    heapq.heappush(waiting, (cost, len(seen), missing > 0, version))

        push(self._below(self.whole))
        for _ in range(looked_at):
            if not waiting:
                return
            _, _, too_large, version = heapq.heappop(waiting)
            if not any(version.levels) or any(self._covers(known, version) for known in found):
                continue
            if not too_large and passes(self.spec_of(version)):
                yield version
            else:
                push(self._below(version))

    def _finer(self, version: Version, passes: Callable[[TableSpec], bool]) -> Version:
        """A version made finer until nothing finer passes."""
        while True:
            for finer in self._above(version):
                if not self._missing(finer) and passes(self.spec_of(finer)):
                    version = finer
                    break
            else:
                return version

    def _above(self, version: Version) -> Iterator[Version]:
        """The next finer versions: one step in one place, the smallest step first."""
        finer = [
            replace(version, levels=(*version.levels[:at], wider, *version.levels[at + 1 :]))
            for at, names in enumerate(version.levels)
            for wider in self._reachable(at)
            if names in self._coarser(at, wider)
        ]
        left_out = self.whole.conditions - version.conditions
        if self._apart:
            finer += [
                replace(version, conditions=version.conditions | {condition})
                for condition in sorted(left_out)
            ]
        elif left_out:
            finer.append(replace(version, conditions=self.whole.conditions))
        yield from sorted(finer, key=self._loss)

    def _reachable(self, at: int) -> tuple[tuple[str, ...], ...]:
        """All levels at which versions show an axis."""
        seen = {self.whole.levels[at]: None}
        waiting = [*seen]
        for names in waiting:
            for coarser in self._coarser(at, names):
                if coarser not in seen:
                    seen[coarser] = None
                    waiting.append(coarser)
        return tuple(seen)

    def _axis(self, at: int, names: tuple[str, ...]) -> Axis:
        if (at, names) not in self._axes:
            axis = self.spec.axes[at]
            levels = [axis.variable.level(name) for name in names]
            self._axes[at, names] = make_axis(axis.variable, levels, total=axis.total)
        return self._axes[at, names]

    def _universe(self, kept: frozenset[str]) -> Universe:
        if kept == self.whole.conditions:
            return self.spec.universe
        if kept not in self._universes:
            universe = EVERYTHING
            for variable in self.spec.universe.variables:
                if variable.name in kept:
                    mask = leaves_in(self.spec.universe, variable)
                    universe = restrict(universe, variable, mask)
            self._universes[kept] = universe
        return self._universes[kept]

    def _below(self, version: Version) -> Iterator[Version]:
        """The next coarser versions: one step in one place."""
        for at, names in enumerate(version.levels):
            for coarser in self._coarser(at, names):
                levels = (*version.levels[:at], coarser, *version.levels[at + 1 :])
                yield replace(version, levels=levels)
        if self._apart:
            for name in sorted(version.conditions):
                yield replace(version, conditions=version.conditions - {name})
        elif version.conditions:
            yield replace(version, conditions=frozenset())

    def _coarser(self, at: int, names: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
        """The next coarser levels of an axis; without any, it is left out."""
        if (at, names) not in self._steps:
            self._steps[at, names] = tuple(dict.fromkeys(self._next(at, names)))
        return self._steps[at, names]

    def _next(self, at: int, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if not names:
            return
        variable = self.spec.axes[at].variable
        if self.policy.rule_of(variable.name).offered_for(self.spec.of):
            if len(names) > 1:
                yield names[1:]
            else:
                above = coarser_levels(variable.level(names[0]), self._allowed(at))
                yield from ((level.name,) for level in above)
        yield ()

    def _allowed(self, at: int) -> tuple[Level, ...]:
        return self.policy.allowed_levels(self.spec.axes[at].variable)

    def _loss(self, version: Version) -> float:
        """How much less a version tells than the table itself."""
        loss = _CONDITION * len(self.whole.conditions - version.conditions)
        for at, (names, whole) in enumerate(zip(version.levels, self.whole.levels, strict=True)):
            before = math.log2(self._axis(at, whole).base_size)
            if names:
                loss += before - math.log2(self._axis(at, names).base_size)
            else:
                loss += before + _WHOLE_VARIABLE
        return loss

    def _missing(self, version: Version) -> float:
        """How much more has to go at least until a version keeps the limits of the role."""
        shown = {
            axis.variable.name: math.log2(self._axis(at, names).base_size) + _WHOLE_VARIABLE
            for at, (axis, names) in enumerate(zip(self.spec.axes, version.levels, strict=True))
            if names
        }
        costs = [
            *shown.values(),
            *(_CONDITION for condition in version.conditions if condition not in shown),
        ]
        over = len(costs) - self._dimensions
        variables = sum(sorted(costs)[: int(over)]) if over > 0 else 0.0
        sizes = (
            len(self._axis(at, names).codes) for at, names in enumerate(version.levels) if names
        )
        cells = sum(map(math.log2, sizes)) - self._cells
        return max(variables, cells if cells > 1e-9 else 0.0)

    def _covers(self, fine: Version, coarse: Version) -> bool:
        """Whether a version tells everything that another one tells."""
        if not fine.conditions >= coarse.conditions:
            return False
        for at, (mine, theirs) in enumerate(zip(fine.levels, coarse.levels, strict=True)):
            if theirs and (not mine or not self._refines(at, mine, theirs)):
                return False
        return True

    def _refines(self, at: int, fine: tuple[str, ...], coarse: tuple[str, ...]) -> bool:
        variable = self.spec.axes[at].variable
        levels = [variable.level(name).group_array for name in fine]
        return all(
            any(coarser_or_equal(variable.level(name).group_array, level) for level in levels)
            for name in coarse
        )


def changes(spec: TableSpec, version: TableSpec) -> tuple[list[str], list[str], list[str]]:
    """The variables that a version shows coarser, leaves out, and no longer has conditions on."""
    kept = {axis.variable.name: axis for axis in version.axes}
    coarser, dropped = [], []
    for axis in spec.axes:
        other = kept.get(axis.variable.name)
        if other is None:
            dropped.append(axis.variable.name)
        elif [level.name for level in other.levels] != [level.name for level in axis.levels]:
            coarser.append(axis.variable.name)
    conditions = {variable.name for variable in version.universe.variables}
    free = [
        variable.name for variable in spec.universe.variables if variable.name not in conditions
    ]
    return coarser, dropped, free
