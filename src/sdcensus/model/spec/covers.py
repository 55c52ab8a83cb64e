"""The one choice of the published values that are added up for a set of leaves.

Only declared codes have noise of their own. Everything else that somebody asks for, a range, a
group, "this or that", is the sum of the published values of declared codes. Plans, the builder,
commands and own groups all choose these codes here, so that one question has one answer:

1. the fewest codes of all levels that together hold the wanted leaves, each leaf once;
2. of several ways with equally few codes, the one with the largest code that not both have: the
   one with more leaves, or else the one whose leaves stand first in the code list;
3. codes of several levels that hold the same leaves are one code: that of the level with the fewest
   codes, or else of the level whose name comes first; universes come after all other levels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import QuestionError, told
from sdcensus.model.schema.narrowing import narrowed
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis
from sdcensus.model.spec.fewest_parts import fewest_parts
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.universe import Universe

Mask = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]

#: A condition that falls into more products of sets of codes than this is refused.
MOST_TERMS = 200
#: The rank of no code at all: after all others.
_NONE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """A declared code: its level, ``_T`` for the total, and its place there."""

    level: str
    at: int

    @property
    def total(self) -> bool:
        """Whether it is the total."""
        return self.level == TOTAL


WHOLE = Part(TOTAL, 0)


class Covering:
    """Declared codes made ready for many questions about which of them make up a set of leaves.

    Args:
        levels: The levels whose codes may be used, in any order.
    """

    __slots__ = ("_groups", "_names", "_parts", "_ranks", "_sizes")

    def __init__(self, levels: Iterable[Level]) -> None:
        # What has a name of its own is called by that, and not "all others".
        ordered = sorted(levels, key=lambda level: (level.universe, len(level.codes), level.name))
        self._names = {level.name: at for at, level in enumerate(ordered)}
        self._groups = [level.group_array for level in ordered]
        self._sizes = [
            np.bincount(level.group_array, minlength=len(level.codes)) for level in ordered
        ]
        self._ranks, self._parts = self._ranked()

    def _ranked(self) -> tuple[list[Int64], list[Part]]:
        """For each code its place in the order of preference, and for each place the code."""
        keys: list[list[tuple[int, bytes]]] = []
        parts: dict[tuple[int, bytes], Part] = {}
        for name, group, sizes in zip(self._names, self._groups, self._sizes, strict=True):
            # Big-endian, so that bytes have the order of the leaves.
            leaves = np.argsort(group, kind="stable").astype(">i8")
            members = np.split(leaves, np.cumsum(sizes))
            keys.append([(-each.size, each.tobytes()) for each in members[: sizes.size]])
            for at in np.flatnonzero(sizes).tolist():
                parts.setdefault(keys[-1][at], Part(name, at))
        rank = {key: place for place, key in enumerate(sorted(parts))}
        ranks = [np.array([rank.get(key, _NONE) for key in level], np.int64) for level in keys]
        return ranks, [parts[key] for key in rank]

    def cover(self, mask: Mask) -> tuple[Part, ...] | None:
        """The fewest declared codes that make up a set of leaves; ``None`` if none do.

        Args:
            mask: Which leaves are wanted.

        Raises:
            SpecError: Three and more hierarchies cross too often to be sure of the fewest.
        """
        if mask.all():
            return (WHOLE,)
        ranks = self._inside(np.flatnonzero(mask))
        largest = ranks.min(axis=0, initial=_NONE)
        if (largest == _NONE).any():
            return None
        chosen = []
        component = self._components(ranks, largest)
        for number in np.unique(component).tolist():
            together = component == number
            if (largest[together] == number).all():
                chosen.append(number)
                continue
            found = _fewest(ranks[:, together])
            if found is None:
                return None
            chosen += found
        parts = [self._parts[rank] for rank in chosen]
        return tuple(sorted(parts, key=lambda part: (self._names[part.level], part.at)))

    def _inside(self, leaves: Int64) -> Int64:
        """For each level and leaf the rank of its code, if the code has no other leaves."""
        ranks = np.full((len(self._groups), leaves.size), _NONE, dtype=np.int64)
        for at, (group, sizes) in enumerate(zip(self._groups, self._sizes, strict=True)):
            codes = group[leaves]
            whole = np.bincount(codes, minlength=sizes.size) == sizes
            ranks[at] = np.where(whole[codes], self._ranks[at][codes], _NONE)
        return ranks

    def _components(self, ranks: Int64, largest: Int64) -> Int64:
        """For each leaf a number of those that are tied to it by codes: where codes only nest, the
        rank of the largest code around it."""
        joined = np.arange(len(self._parts))
        for row in ranks:
            usable = row != _NONE
            least = np.full(len(self._parts), _NONE, dtype=np.int64)
            np.minimum.at(least, row[usable], largest[usable])
            # A code that lies across several larger ones ties them together.
            pairs = np.stack([least[row[usable]], largest[usable]])
            for first, second in np.unique(pairs[:, pairs[0] != pairs[1]], axis=1).T:
                low, high = sorted((joined[first], joined[second]))
                joined[joined == high] = low
        return np.asarray(joined[largest])


def _fewest(ranks: Int64) -> list[int] | None:
    """The fewest codes for leaves whose codes cross, by their ranks; ``None`` if none do."""
    pieces = np.unique(ranks, axis=1)
    usable = np.unique(pieces[pieces != _NONE]).tolist()
    place = {rank: at for at, rank in enumerate(usable)}
    sets = [0] * len(usable)
    for number, piece in enumerate(pieces.T.tolist()):
        for rank in set(piece) - {_NONE}:
            sets[place[rank]] |= 1 << number
    chosen = fewest_parts(sets, (1 << pieces.shape[1]) - 1)
    return None if chosen is None else [usable[at] for at in chosen]


def covering(variable: Variable, levels: Iterable[Level] | None = None) -> Covering:
    """The codes of a variable made ready, once for all questions about the same levels.

    Args:
        variable: The variable.
        levels: Those of its levels whose codes may be used; all of them by default.
    """
    usable = tuple(variable.levels() if levels is None else levels)
    key = ("covering", *sorted(level.name for level in usable))
    return variable.kept(key, lambda: Covering(usable))


def needed_levels(variable: Variable, parts: Iterable[Part]) -> tuple[Level, ...]:
    """The declared levels of some parts."""
    names = {part.level for part in parts} - {TOTAL}
    return tuple(level for level in variable.levels() if level.name in names)


@dataclass(frozen=True, slots=True, eq=False)
class CountedAxis:
    """An axis that is counted for the parts that are needed, and where each part stands on it.

    Attributes:
        axis: The axis. Codes that nobody needs are one code together.
        places: The position of each part.
    """

    axis: Axis
    places: Mapping[Part, int]

    @classmethod
    def of(cls, axis: Axis) -> CountedAxis:
        """An axis as it is, with all of its codes."""
        places = {
            Part(block.level, at): block.start + at
            for block in axis.blocks
            for at in range(block.size)
        }
        return cls(axis, places)

    def positions(self, parts: Sequence[Part]) -> Int64:
        """Where some parts stand."""
        return np.array([self.places[part] for part in parts], dtype=np.int64)


def counted_axis(variable: Variable, parts: Iterable[Part]) -> CountedAxis:
    """The smallest axis that shows all these parts.

    Its cells are the same sets of records as those of the axis with all codes, so they have the
    same keys and the same published values.
    """
    wanted = set(parts)
    by_level: dict[str, list[int]] = {}
    for part in sorted(wanted - {WHOLE}):
        by_level.setdefault(part.level, []).append(part.at)
    narrow = {name: narrowed(variable.level(name), at) for name, at in by_level.items()}
    levels = [level for level, _ in narrow.values()]
    if not levels:
        # Nothing but the total: the coarsest level carries it.
        coarsest = min(variable.levels(), key=lambda level: (len(level.codes), level.name))
        levels = [narrowed(coarsest, [])[0]]
    axis = make_axis(variable, levels, total=WHOLE in wanted)
    places = {WHOLE: len(axis.codes) - 1} if WHOLE in wanted else {}
    for block in axis.blocks:
        if block.level in narrow:
            place = narrow[block.level][1]
            for at in by_level[block.level]:
                places[Part(block.level, at)] = block.start + int(place[at])
    return CountedAxis(axis, places)


#: One product of sets of leaves, by variable; variables that are not in it are free.
Term = Mapping[str, Mask]


def terms_of(universe: Universe) -> tuple[Term, ...]:
    """A condition as products of sets of leaves that do not overlap.

    Raises:
        QuestionError: The condition holds for nobody, or falls into too many products.
    """
    if universe.everything:
        return ({},)
    if not universe.truth.any():
        raise QuestionError(
            told("condition.nobody", "No record can fulfil the condition."), place="where"
        )
    if is_product(universe):
        return ({each.name: leaves_in(universe, each) for each in universe.variables},)
    # The variable with the most classes is put together, the others are gone through.
    order = np.argsort(universe.truth.shape, kind="stable")
    *others, last = order.tolist()
    terms = []
    shape = universe.truth.shape
    for classes in itertools.product(*(range(shape[at]) for at in others)):
        index: list[int | slice] = [slice(None)] * len(shape)
        for at, number in zip(others, classes, strict=True):
            index[at] = number
        holds = universe.truth[tuple(index)]
        if not holds.any():
            continue
        masks = {
            universe.variables[at].name: universe.classes[at] == number
            for at, number in zip(others, classes, strict=True)
        }
        masks[universe.variables[last].name] = holds[universe.classes[last]]
        terms.append({name: mask for name, mask in masks.items() if not mask.all()})
        if len(terms) > MOST_TERMS:
            raise QuestionError(
                told(
                    "condition.too-many-codes",
                    "The condition combines too many codes of several variables. Ask for them one"
                    " by one, or as axes of the table.",
                ),
                place="where",
            )
    return tuple(terms)
