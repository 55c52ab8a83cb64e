"""The canonical definition of a cell: what it asks, the same in every table and every spelling.

A cell is a set of leaves of each variable, from its axes and from the condition of its table.
Each such set has a digest, the set of all leaves has none, and the definition of a cell is the sum
of the digests of its sets. So "women" is the same definition as a code, as a filter and as a
subtotal, and all cells of a table are defined by adding arrays, one axis after the other. What
conditions say about several variables together ("women, or anyone of the north") is first taken
apart: variables that stand free of the others are sets like any other, and the rest has a digest
of its own. Sets that follow from other sets of the cell by declared rules are left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.layout import positions_on
from sdcensus.model.schema.implications import PairRule
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.record_sets import (
    LeafSets,
    axis_sets,
    digest,
    joined,
    leaves_in,
    mask_sets,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, restrict
from sdcensus.model.vocabulary import Measure

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
UInt64 = npt.NDArray[np.uint64]
#: Numbers of sets, of any shape.
Which = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """What one variable adds to the definitions of the cells of a table.

    Attributes:
        sets: The sets of leaves that cells have of it.
        axes: The axes of the table on whose codes it depends; none for a plain condition.
        which: For each combination of their codes the set, or -1 for none.
    """

    sets: LeafSets
    axes: tuple[int, ...]
    which: Which


@dataclass(frozen=True, slots=True, eq=False)
class _Joint:
    """What a condition says about several variables that cannot be told one by one.

    Attributes:
        axes: The axes on whose codes it depends.
        digests: For each combination of their codes one row of words.
        held: Whether the combination can hold a record.
    """

    axes: tuple[int, ...]
    digests: UInt64
    held: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Definitions:
    """The definitions of the cells of one table.

    Attributes:
        spec: The table.
        kind: What the kind of cell adds, one word after the other.
    """

    spec: TableSpec
    kind: UInt64
    _parts: tuple[_Part, ...]
    _joint: _Joint | None
    _implied: tuple[_Implied, ...]

    @classmethod
    def build(
        cls, spec: TableSpec, *, kind: object, words: int = 1, rules: Sequence[PairRule] = ()
    ) -> Definitions:
        """Resolve a table.

        Args:
            spec: The table.
            kind: What tells cells apart besides records, such as what is counted; plain values.
            words: How many 64-bit words a digest has.
            rules: What the schema declares impossible: implied sets are left out.
        """
        free, rest = _free_sets(spec.universe)
        names = {variable.name for variable in rest.variables}
        parts = []
        for at, axis in enumerate(spec.axes):
            if axis.variable.name not in names:
                sets = axis_sets(
                    axis, free.pop(axis.variable.name, (axis.variable, None))[1], words
                )
                parts.append(_Part(sets, (at,), np.arange(len(axis.codes))))
        for variable, mask in free.values():
            parts.append(_Part(mask_sets(variable, [mask], words), (), np.array(0)))
        joint = None
        if rest.variables or not rest.truth.any():
            more, joint = _together(spec, rest, words)
            parts += more
        parts.sort(key=lambda part: part.axes)
        return cls(
            spec,
            digest(kind, b"cell-kind", words),
            tuple(parts),
            joint,
            tuple(_implications(parts, rules)),
        )

    def whole(self, word: int = 0) -> UInt64:
        """One word of the definition of every cell, in the shape of the table."""

        def spread(axes: tuple[int, ...], array: Which) -> Which:
            shape = [1] * len(self.spec.axes)
            for at, size in zip(axes, array.shape, strict=True):
                shape[at] = size
            return array.reshape(shape)  # parts name their axes in the order of the table

        return np.broadcast_to(self._sum(spread, word), self.spec.shape)

    def listed(self, positions: Sequence[Which], word: int = 0) -> UInt64:
        """One word of the definition of some cells, by their positions on each axis."""

        def chosen(axes: tuple[int, ...], array: Which) -> Which:
            return array[tuple(positions[at] for at in axes)] if axes else array

        sizes = [np.shape(position) for position in positions]
        return np.broadcast_to(self._sum(chosen, word), np.broadcast_shapes(*sizes))

    def possible(self, positions: Sequence[Which]) -> Mask:
        """Whether some cells can hold a record at all, as far as codes and condition tell."""
        possible = np.ones(
            np.broadcast_shapes(*(np.shape(position) for position in positions)), dtype=bool
        )
        for part in self._parts:
            held = np.append(part.sets.sizes > 0, True)  # the last, for -1, for no set
            possible &= held[part.which[tuple(positions[at] for at in part.axes)]]
        if self._joint is not None:
            possible &= self._joint.held[tuple(positions[at] for at in self._joint.axes)]
        return possible

    def _sum(self, take: Callable[[tuple[int, ...], Which], Which], word: int) -> UInt64:
        """Add the digests of all parts, as ``take`` arranges them."""
        which = [take(part.axes, part.which) for part in self._parts]
        names = [part.sets.variable.name for part in self._parts]
        dropped = _dropped(self._implied, which, names)
        total = np.asarray(self.kind[word])
        with np.errstate(over="ignore"):
            for at, part in enumerate(self._parts):
                # The last one, for -1, stands for no set.
                added = np.append(part.sets.digests[:, word], np.uint64(0))[which[at]]
                if at in dropped:
                    added = np.where(dropped[at], np.uint64(0), added)
                total = np.asarray(total + added)
            if self._joint is not None:
                total = total + take(self._joint.axes, self._joint.digests[..., word])
        return np.asarray(total)


# ---------------------------------------------------------------- conditions


def _free_sets(universe: Universe) -> tuple[dict[str, tuple[Variable, Mask]], Universe]:
    """The variables that a condition restricts whatever the others are, and the rest of it."""
    free: dict[str, tuple[Variable, Mask]] = {}
    truth = universe.truth
    variables: list[Variable] = []
    classes: list[Int64] = []
    if not truth.any():
        return {}, Universe((), (), np.array(False))
    for variable, groups in zip(universe.variables, universe.classes, strict=True):
        at = len(variables)
        slices = np.moveaxis(truth, at, 0).reshape(truth.shape[at], -1)
        held = np.asarray(slices.any(axis=1))
        first = int(np.flatnonzero(held)[0])
        if (slices[held] == slices[first]).all():
            free[variable.name] = variable, held[groups]
            truth = np.take(truth, first, axis=at)
        else:
            variables.append(variable)
            classes.append(groups)
    return free, Universe(tuple(variables), tuple(classes), truth)


def _together(spec: TableSpec, rest: Universe, words: int) -> tuple[list[_Part], _Joint]:
    """Parts of a condition that combines variables, for all codes of the axes that it combines.

    A code that lies inside one class of the condition is a set of its own, and what is left of the
    condition depends on the class alone. So only classes, and codes across several of them, are
    gone through one by one.
    """
    names = [variable.name for variable in rest.variables]
    shown = {axis.variable.name: at for at, axis in enumerate(spec.axes)}
    axes = tuple(sorted(shown[name] for name in names if name in shown))
    ways = [_ways(spec.axes[at], rest, words) for at in axes]
    shape = tuple(len(way.masks) for way in ways)
    digests = np.zeros((math.prod(shape), words), dtype=np.uint64)
    held = np.zeros(math.prod(shape), dtype=bool)
    masks: dict[str, dict[bytes, tuple[int, Mask]]] = {name: {} for name in names}
    which = {name: np.full(math.prod(shape), -1, dtype=np.int64) for name in names}
    for number, chosen in enumerate(itertools.product(*(range(size) for size in shape))):
        universe = rest
        for at, way, place in zip(axes, ways, chosen, strict=True):
            universe = restrict(universe, spec.axes[at].variable, way.masks[place])
        held[number] = universe.truth.any()
        free, joint = _free_sets(universe)
        if joint.variables:
            digests[number] = digest(joint.canonical(), b"cell-condition", words)
        for name, (_, mask) in free.items():
            known = masks[name]
            which[name][number] = known.setdefault(mask.tobytes(), (len(known), mask))[0]
    index = np.ix_(*(way.of_code for way in ways))
    parts = []
    for variable in rest.variables:
        sets = mask_sets(variable, [mask for _, mask in masks[variable.name].values()], words)
        own = which[variable.name].reshape(shape)[index]
        if variable.name in shown:
            at = axes.index(shown[variable.name])
            way = ways[at]
            side = [1] * len(axes)
            side[at] = -1
            codes = np.arange(len(way.of_code)) + len(sets.sizes)
            own = np.where(way.alone.reshape(side), codes.reshape(side), own)
            sets = joined(sets, way.sets)
        parts.append(_Part(sets, axes, own))
    return parts, _Joint(axes, digests.reshape(*shape, words)[index], held.reshape(shape)[index])


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """How the codes of an axis meet a condition that combines it with other variables.

    Attributes:
        masks: The leaves of each class of the condition, then of each code across several.
        of_code: For each code, which of these it is.
        alone: Which codes lie inside one class.
        sets: The sets of leaves of all codes.
    """

    masks: tuple[Mask, ...]
    of_code: Int64
    alone: Mask
    sets: LeafSets


def _ways(axis: Axis, rest: Universe, words: int) -> _Ways:
    at = [variable.name for variable in rest.variables].index(axis.variable.name)
    classes = rest.classes[at]
    size = rest.truth.shape[at]
    sets = axis_sets(axis, None, words)
    met = sets.inside(classes, size) > 0
    alone = met.sum(axis=1) <= 1  # a code without leaves is no set across several classes
    masks = [classes == class_number for class_number in range(size)]
    of_code = met.argmax(axis=1).astype(np.int64)
    firsts = np.cumsum([0, *(count for _, count in sets.blocks)])
    for code in np.flatnonzero(~alone).tolist():
        block = int(np.searchsorted(firsts, code, side="right")) - 1
        of_code[code] = len(masks)
        masks.append(sets.blocks[block][0] == code - firsts[block])
    return _Ways(tuple(masks), of_code, alone, sets)


# ---------------------------------------------------------------- implications


@dataclass(frozen=True, slots=True, eq=False)
class _Implied:
    """Which sets of one part imply which sets of another.

    Attributes:
        source, target: The places of the two parts.
        profiles: For each set of either, how it meets the rule; the last for no set.
        implied: For each pair of profiles, whether the first implies the second.
    """

    source: int
    target: int
    profiles: tuple[Int64, Int64]
    implied: Mask

    def at(self, which: Sequence[Which]) -> Mask:
        """For cells with these sets, whether the one implies the other."""
        source, target = self.profiles
        held: Mask = self.implied[source[which[self.source]], target[which[self.target]]]
        return held


def _implications(parts: Sequence[_Part], rules: Sequence[PairRule]) -> list[_Implied]:
    places = {part.sets.variable.name: at for at, part in enumerate(parts)}
    implications = []
    for rule in rules:
        if all(variable.name in places for variable in rule.variables):
            for turned in (rule, rule.turned()):
                source, target = (places[variable.name] for variable in turned.variables)
                implied = _implied(turned, source, target, parts)
                if implied is not None:
                    implications.append(implied)
    return implications


def _implied(rule: PairRule, source: int, target: int, parts: Sequence[_Part]) -> _Implied | None:
    """Where every leaf outside a set of the target is impossible with all of the source's."""
    counts = []
    for part, variable, classes, size in zip(
        (parts[source], parts[target]),
        rule.variables,
        rule.classes,
        rule.impossible.shape,
        strict=True,
    ):
        if part.sets.variable is not variable and part.sets.variable.codes != variable.codes:
            return None  # another code list: the rule is not about it
        counts.append((part.sets.inside(classes, size), np.bincount(classes, minlength=size)))
    (inside, whole), (others, all_others) = counts
    leaves = int(whole.sum())
    met = inside > 0
    met[inside.sum(axis=1) % leaves == 0] = True  # everything, and nothing, implies nothing new
    outside = others < all_others
    mets, met_of = np.unique(_with_last(met), axis=0, return_inverse=True)
    outsides, outside_of = np.unique(_with_last(outside), axis=0, return_inverse=True)
    possible = (~rule.impossible).astype(np.int64)
    implied = (mets.astype(np.int64) @ possible @ outsides.astype(np.int64).T) == 0
    # What holds of everybody, with all leaves of the source, does not follow from it.
    implied &= (possible.sum(axis=0) @ outsides.astype(np.int64).T) > 0
    if not implied.any():
        return None
    return _Implied(source, target, (met_of.reshape(-1), outside_of.reshape(-1)), implied)


def _with_last(met: Mask) -> Mask:
    """One more row, for no set: it implies nothing and is implied by nothing."""
    return np.append(met, np.ones((1, met.shape[1]), dtype=bool), axis=0)


def _dropped(
    implied: Sequence[_Implied], which: Sequence[Which], names: Sequence[str]
) -> Mapping[int, Mask]:
    """For each part that is implied anywhere, the cells in which it is left out.

    A set is left out if another set of the cell implies it, through others or not. Of sets that
    imply each other the one of the first variable by name stays.
    """
    reach = {(rule.source, rule.target): rule.at(which) for rule in implied}
    parts = sorted({at for pair in reach for at in pair})
    for middle, source, target in itertools.permutations(parts, 3):
        if (source, middle) in reach and (middle, target) in reach:
            through = reach[source, middle] & reach[middle, target]
            known = reach.get((source, target))
            reach[source, target] = through if known is None else known | through
    dropped: dict[int, Mask] = {}
    for (source, target), implies in reach.items():
        back = reach.get((target, source))
        if back is not None and names[target] < names[source]:
            implies = implies & ~back
        dropped[target] = dropped[target] | implies if target in dropped else implies
    return dropped


#: Hashes that tell cells apart over all publications of an office have so many words.
_WORDS = 2


def cell_hashes(spec: TableSpec, *, cells: npt.NDArray[Any] | None = None) -> UInt64:
    """For each cell of a table the hash of its records, as two 64-bit numbers.

    Args:
        spec: The table.
        cells: The numbers of the cells that are wanted, the last axis running fastest; all of
            them without.

    Returns:
        An array of one row for each cell. Cells that cannot hold a record have the hash 0.
    """
    wanted = np.arange(spec.cells, dtype=np.uint64) if cells is None else cells.astype(np.uint64)
    kind = [spec.of.value, spec.measure.value]
    if spec.amount is not None:
        kind = [spec.of.value, Measure.SUM.value, spec.amount.name]
    definitions = Definitions.build(spec, kind=kind, words=_WORDS)
    positions = [positions_on(spec.shape, at, wanted) for at in range(len(spec.axes))]
    hashes = np.empty((wanted.size, _WORDS), dtype=np.uint64)
    for word in range(_WORDS):
        hashes[:, word] = definitions.listed(positions, word)
    hashes[~np.broadcast_to(definitions.possible(positions), wanted.shape)] = 0
    return hashes


def code_digests(spec: TableSpec, variable: Variable) -> tuple[UInt64, npt.NDArray[np.bool_]]:
    """For each code of a variable in a table the digest of its leaves, and if it has any.

    A variable that is no axis has one code: what the condition of the table leaves of it.
    Conditions on several variables together are taken for the leaves that occur in them at all.
    """
    inside = leaves_in(spec.universe, variable)
    shown = [axis for axis in spec.axes if axis.variable.name == variable.name]
    sets = (
        axis_sets(shown[0], None if inside.all() else inside, _WORDS)
        if shown
        else mask_sets(variable, [inside], _WORDS)
    )
    return sets.digests, sets.sizes > 0


def cell_definitions(spec: TableSpec, rules: tuple[PairRule, ...] = ()) -> Definitions:
    """What the cells of a table ask, as one 64-bit number for each: the second word of draws.

    The unit is part of it, the measure is not: a weighted count and a plain one of the same
    records share their noise, so that the two together are no second look.
    """
    return spec.kept(
        ("definitions", rules),
        lambda: Definitions.build(spec, kind=[spec.of.value], rules=rules),
    )
