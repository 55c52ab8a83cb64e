"""What tables of several kinds of units say together about a cell of one of them.

Identities tie counts of one kind of unit to those of another: persons in households of three are
three times these households. Tables of both are then equations about the same numbers, and whoever
solves them solves them together.

Variables that no identity names are a regular lattice for all units (``looks_lattice``): what
varies with exactly some of them falls apart from everything else. For each such part there is a
small system in the codes of the variables that identities do name, with one block for each kind of
unit and the identities as equations that hold exactly. A look through k units in each then has the
weight k² by itself, and a class that mixes sizes tells what least squares find in it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.model.policy.menu import Menu
from sdcensus.model.schema.identities import Tie, ties_of
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.sentences import in_every_language, sentence, speak
from sdcensus.model.spec.headings import entity_text, joined
from sdcensus.risk.looks.axis import axis_forms
from sdcensus.risk.looks.lattice import Codes, Lattice, Summed

Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Identities whose variables have more combinations of codes than this are not taken together.
MOST_UNKNOWNS = 120
#: Directions that no table sees are kept apart by this much.
_RIDGE = 1e-10


def tied_lattice(
    schema: Schema,
    menus: Mapping[Entity, Menu],
    of: Entity,
    variances: Mapping[Entity, float],
    declared: Sequence[Tie] | None = None,
) -> Lattice:
    """Everything that menus say about some units; their own menu alone where nothing is tied.

    Args:
        schema: What declares identities.
        menus: What may be asked for, by kind of unit.
        of: The units that are meant.
        variances: Of the noise of large counts; the same for all where none is given.
        declared: What the schema declares, where it was asked before.
    """
    ties, left = _reaching(schema, menus, of, declared)
    if not ties:
        return Lattice(menus[of])
    return TiedLattice(schema, menus, of, ties, variances, left)


def _reaching(
    schema: Schema, menus: Mapping[Entity, Menu], of: Entity, declared: Sequence[Tie] | None
) -> tuple[list[Tie], list[Tie]]:
    """The same, and those that would make the system too large."""
    if declared is None:
        declared = ties_of(schema)
    groups = _alike([tie for tie in declared if {tie.each, tie.holds} <= {*menus}])
    told = [group for group in groups if _seen(group, menus[group[0].holds])]
    visible = []
    for group in told:
        each = group[0].each
        others = [
            ties for ties in told if ties is not group and each in (ties[0].each, ties[0].holds)
        ]
        # What tables of the larger units do not tell apart, other units may tell of them.
        if others or _seen(group, menus[each], schema.lineage(each)):
            visible.append(group)
    # The weightiest first: they tell the most.
    visible.sort(key=lambda group: -max(tie.times for tie in group))
    reached, chosen, left = {of}, list[Tie](), list[Tie]()
    for _ in visible:
        for group in visible:
            units = {group[0].each, group[0].holds}
            if units & reached and group[0] not in [*chosen, *left]:
                if _unknowns(schema, [*chosen, *group], menus) > MOST_UNKNOWNS:
                    left += group
                else:
                    reached |= units
                    chosen += group
    return chosen, left


def across_sentence(ties: Sequence[Tie], left: Sequence[Tie] = ()) -> Sentence:
    """Which looks across units are counted, and which are not, for the office."""
    counted = sentence("cautions.across.counted", ways=in_every_language(partial(_ways, ties)))
    if not left:
        return counted
    ways = in_every_language(partial(_ways, left))
    return sentence("cautions.across.left", counted=counted, ways=ways)


def _ways(ties: Sequence[Tie], language: str) -> str:
    times: dict[tuple[Entity, Entity, tuple[str, ...]], list[int]] = {}
    for tie in ties:
        names = tuple(variable.name for variable, _ in tie.leaves)
        times.setdefault((tie.holds, tie.each, names), []).append(tie.times)
    ways = []
    for (holds, each, names), numbers in times.items():
        named = {
            "holds": entity_text(holds, language),
            "each": entity_text(each, language),
            "names": joined(names, language),
        }
        heaviest = max(numbers)
        ways.append(
            speak("cautions.across.way", language, **named)
            if heaviest == 1
            else speak("cautions.across.weighted", language, **named, weight=heaviest**2)
        )
    return "; ".join(ways)


def _alike(ties: Sequence[Tie]) -> list[list[Tie]]:
    """Ties of the same units through the same variables: classes of a size mix several of them."""
    groups: dict[tuple[Entity, Entity, tuple[str, ...]], list[Tie]] = {}
    for tie in ties:
        names = tuple(variable.name for variable, _ in tie.leaves)
        groups.setdefault((tie.each, tie.holds, names), []).append(tie)
    return list(groups.values())


def _seen(group: Sequence[Tie], menu: Menu, having: Sequence[Entity] = ()) -> bool:
    """Whether tables tell what is tied from what is not.

    Some sum and difference of classes lies within the tied codes of a variable exactly if the
    classes, cut to the other codes, depend on each other more than the classes themselves.

    Args:
        group: Ties through the same variables.
        menu: The tables.
        having: The units whose variables count; none stands for all.
    """
    for at, (variable, _) in enumerate(group[0].leaves):
        if having and variable.entity not in having:
            continue
        tied = np.logical_or.reduce([tie.leaves[at][1] for tie in group])
        shown = np.array([np.ones(tied.size, dtype=bool), *_classes(menu, variable)]).astype(float)
        if np.linalg.matrix_rank(shown[:, ~tied]) == np.linalg.matrix_rank(shown):
            return False
    return True


def _classes(menu: Menu, variable: Variable) -> list[Mask]:
    """The sets of leaves that a menu shows of a variable, each once and without everybody."""
    found: dict[bytes, Mask] = {}
    for menu_variable in menu.variables:
        if menu_variable.variable.name == variable.name:
            for level in menu_variable.levels:
                for code in np.unique(level.group_array).tolist():
                    leaves = level.group_array == code
                    if not leaves.all():
                        found[leaves.tobytes()] = leaves
    return list(found.values())


@dataclass(frozen=True, slots=True, eq=False)
class _TieAxis:
    """A variable that identities name, by the parts that levels and identities tell apart."""

    variable: Variable
    part: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]

    @property
    def parts(self) -> int:
        return len(self.first)

    def of(self, leaves: Mask) -> Float64:
        """Leaves as parts; they never cut one."""
        return leaves[self.first].astype(np.float64)


def _axes(ties: Sequence[Tie], menus: Mapping[Entity, Menu]) -> dict[str, _TieAxis]:
    named = {variable.name: variable for tie in ties for variable, _ in tie.leaves}
    found = {}
    for name, variable in named.items():
        masks = [own for tie in ties for other, own in tie.leaves if other.name == name]
        masks += [own for menu in menus.values() for own in _classes(menu, variable)]
        _, first, part = np.unique(np.stack(masks), axis=1, return_index=True, return_inverse=True)
        found[name] = _TieAxis(variable, part.reshape(-1), first)
    return found


def _unknowns(schema: Schema, ties: Sequence[Tie], menus: Mapping[Entity, Menu]) -> int:
    axes = _axes(ties, menus)
    return sum(
        math.prod(
            axis.parts for axis in axes.values() if axis.variable.entity in schema.lineage(unit)
        )
        for unit in {unit for tie in ties for unit in (tie.each, tie.holds)}
    )


class _Unit:
    """One kind of unit: its menu, and where its counts stand in the system."""

    def __init__(
        self, schema: Schema, unit: Entity, lattice: Lattice, axes: Mapping[str, _TieAxis]
    ) -> None:
        self.lattice = lattice
        self.usable = {variable.name for variable in schema.usable(unit)}
        self.axes = {name: axis for name, axis in axes.items() if name in self.usable}
        offered = {variable.variable.name for variable in lattice.menu.variables}
        self.free = [name for name in offered if name not in axes]
        self.shown: dict[str, Float64] = {}
        for name in sorted(offered & {*self.axes}):
            classes = [
                axes[name].of(class_) for class_ in _classes(lattice.menu, axes[name].variable)
            ]
            if classes:
                self.shown[name] = np.stack(classes).T @ np.stack(classes)

    @property
    def size(self) -> int:
        return math.prod(axis.parts for axis in self.axes.values())

    def information(self, varying: Sequence[str]) -> Float64:
        """What all tables say about the tied codes, of what varies with exactly these."""
        total = np.zeros((self.size, self.size))
        if not self.usable.issuperset(varying) or not {*self.free}.issuperset(varying):
            return total
        others = [name for name in self.free if name not in varying]
        for number in range(len(self.shown) + 1):
            for beside in itertools.combinations(self.shown, number):
                often = self.lattice.over_tables([*varying, *beside], others)
                if often:
                    total += often * _product(
                        self.shown[name] if name in beside else np.ones((axis.parts, axis.parts))
                        for name, axis in self.axes.items()
                    )
        return total


def _product(matrices: Iterable[Float64]) -> Float64:
    found: Float64 = np.ones((1, 1))
    for matrix in matrices:
        found = np.asarray(np.kron(found, matrix), dtype=np.float64)
    return found


class TiedLattice(Lattice):
    """All tables of several menus, and what they say together about cells of one kind of unit.

    Levels of a variable that one menu offers are taken to be offered by all of them, and limits on
    levels are left out: the looks are at most so many.
    """

    def __init__(
        self,
        schema: Schema,
        menus: Mapping[Entity, Menu],
        of: Entity,
        ties: Sequence[Tie],
        variances: Mapping[Entity, float],
        left: Sequence[Tie] = (),
    ) -> None:
        units = [
            entity
            for entity in menus
            if entity is of or any(entity in (tie.each, tie.holds) for tie in ties)
        ]
        levels: dict[str, dict[str, Level]] = {}
        for unit in units:
            for variable in menus[unit].variables:
                levels.setdefault(variable.variable.name, {}).update(
                    {level.name: level for level in variable.levels}
                )
        forms = {name: axis_forms(tuple(own.values())) for name, own in levels.items()}
        super().__init__(menus[of], forms=forms)
        self.ties = tuple(ties)
        self.left = tuple(left)
        self._of = of
        self._axes = _axes(ties, {unit: menus[unit] for unit in units})
        self._units = {
            unit: _Unit(schema, unit, Lattice(menus[unit], forms=forms), self._axes)
            for unit in units
        }
        own = variances.get(of, 1.0)
        self._worth = {unit: own / variances.get(unit, own) for unit in units}
        ends = np.cumsum([unit.size for unit in self._units.values()]).tolist()
        self._span = {
            unit: slice(end - self._units[unit].size, end)
            for unit, end in zip(units, ends, strict=True)
        }
        self._free: dict[tuple[int, ...], Float64] = {}
        self._variance: dict[tuple[str, ...], Float64] = {}

    @property
    def exact(self) -> bool:
        """Never: see above."""
        return False

    def looks(self, chosen: Mapping[str, Level], codes: Codes | None = None) -> Summed:
        """The looks at a cell; where no codes are given, at the one with the most."""
        return Summed(max(1.0, self.at_most(chosen, codes)), exact=False)

    def at_most(self, chosen: Mapping[str, Level], codes: Codes | None = None) -> float:
        """The same, as a number."""
        names, rests, shares = [], [], []
        tied: dict[str, list[Float64]] = {}
        for name, level in chosen.items():
            at = self._codes(name, level, codes, every=name in self._axes)
            if name in self._axes:
                axis = self._axes[name]
                tied[name] = [axis.of(level.group_array == one) for one in at.tolist()]
                continue
            forms = self._forms[name].codes.get(level.name)
            if forms is not None:
                names.append(name)
                rests.append(forms.rest[at])
                shares.append(forms.share[at] ** 2)
        own = self._units[self._of]
        choices = [tied.get(name, [np.ones(axis.parts)]) for name, axis in own.axes.items()]
        wanted = np.stack(
            [_product(one[:, None] for one in each)[:, 0] for each in itertools.product(*choices)]
        )
        total: Float64 = np.zeros([*(rest.size for rest in rests), len(wanted)])
        for inside in itertools.product((False, True), repeat=len(names)):
            part: Float64 = np.ones(())
            for varies, rest, share in zip(inside, rests, shares, strict=True):
                part = np.multiply.outer(part, rest if varies else share)
            varying = tuple(name for name, one in zip(names, inside, strict=True) if one)
            known = self._known(varying)
            total = total + np.multiply.outer(part, ((wanted @ known) * wanted).sum(axis=1))
        return 1 / float(total.min())

    def _known(self, varying: Sequence[str]) -> Float64:
        """The variances and covariances of tied codes, of what varies with exactly these."""
        key = tuple(sorted(varying))
        if key not in self._variance:
            free = self._directions(key)
            seen = np.zeros((free.shape[1], free.shape[1]))
            for unit, one in self._units.items():
                own = free[self._span[unit]]
                seen += self._worth[unit] * (own.T @ one.information(key) @ own)
            seen += _RIDGE * max(float(np.diag(seen).max()), 1.0) * np.eye(len(seen))
            own = free[self._span[self._of]]
            self._variance[key] = own @ np.linalg.solve(seen, own.T)
        return self._variance[key]

    def _directions(self, varying: Sequence[str]) -> Float64:
        """All changes of counts that keep the identities between units with these variables."""
        active = tuple(
            at
            for at, tie in enumerate(self.ties)
            if self._units[tie.each].usable.issuperset(varying)
            and self._units[tie.holds].usable.issuperset(varying)
        )
        if active not in self._free:
            rows = [row for at in active for row in self._equations(self.ties[at])]
            size = sum(unit.size for unit in self._units.values())
            equations = np.array(rows).reshape(len(rows), size)
            _, values, directions = np.linalg.svd(equations)
            rank = int((values > 1e-9 * max(values.max(initial=0.0), 1.0)).sum())
            self._free[active] = directions[rank:].T
        return self._free[active]

    def _equations(self, tie: Tie) -> list[Float64]:
        """For each tied combination of codes of the larger units: so many smaller ones each."""
        each, holds = self._units[tie.each], self._units[tie.holds]
        masks = {variable.name: self._axes[variable.name].of(own) for variable, own in tie.leaves}
        size = sum(unit.size for unit in self._units.values())
        rows = []
        kept = [
            np.flatnonzero(masks[name]) if name in masks else np.arange(axis.parts)
            for name, axis in each.axes.items()
        ]
        for place in itertools.product(*kept):
            at = dict(zip(each.axes, place, strict=True))
            row = np.zeros(size)
            for unit, one, weight in ((tie.holds, holds, 1.0), (tie.each, each, -tie.times)):
                inside = []
                for name, axis in one.axes.items():
                    vector = masks.get(name, np.ones(axis.parts))
                    if name in at:
                        vector = np.zeros(axis.parts)
                        vector[at[name]] = 1
                    inside.append(vector[:, None])
                row[self._span[unit]] += weight * _product(inside)[:, 0]
            rows.append(row)
        return rows
