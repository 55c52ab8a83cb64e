"""What a question asks for as parts: declared codes, whose published values are looked up.

Only declared codes have noise of their own. Everything else that somebody asks for, a range, a
group, "this or that", is covered by declared codes and is the sum of their published values.
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
from sdcensus.model.spec.levels_told_apart import coarser_or_equal
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.universe import Universe

Mask = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]

#: A condition that falls into more products of sets of codes than this is refused.
MOST_TERMS = 200


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
        return ({one.name: leaves_in(universe, one) for one in universe.variables},)
    # The variable with the most classes is put together, the others are gone through.
    order = np.argsort(universe.truth.shape, kind="stable")
    *others, last = order.tolist()
    terms = []
    shape = universe.truth.shape
    for classes in itertools.product(*(range(shape[at]) for at in others)):
        index: list[int | slice] = [slice(None)] * len(shape)
        for at, one in zip(others, classes, strict=True):
            index[at] = one
        holds = universe.truth[tuple(index)]
        if not holds.any():
            continue
        masks = {
            universe.variables[at].name: universe.classes[at] == one
            for at, one in zip(others, classes, strict=True)
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


class Covering:
    """Levels made ready for many questions about which of their codes make up a set of leaves.

    Args:
        levels: The levels whose codes may be used.
    """

    __slots__ = ("_chains", "_groups", "_levels", "_sizes")

    def __init__(self, levels: Sequence[Level]) -> None:
        self._levels = sorted(levels, key=lambda one: (len(one.codes), one.name))
        self._groups = [one.group_array for one in self._levels]
        self._sizes = [
            np.bincount(group, minlength=len(level.codes))
            for group, level in zip(self._groups, self._levels, strict=True)
        ]
        everything = range(len(self._levels))
        self._chains = [tuple(everything)]
        for finest in self._groups[1:] if len(self._levels) > 2 else ():
            nested = tuple(at for at in everything if coarser_or_equal(self._groups[at], finest))
            if nested not in self._chains:
                self._chains.append(nested)

    def cover(self, mask: Mask) -> tuple[Part, ...] | None:
        """Declared codes that make up a set of leaves; ``None`` if none do.

        Where levels nest these are the fewest. Where they cross, each level with those that it
        nests in is tried as well, and the shortest way is taken.
        """
        if mask.all():
            return (WHOLE,)
        best = self._greedy(self._chains[0], mask)
        if best is None or len(best) == 1:
            return best
        for chain in self._chains[1:]:
            found = self._greedy(chain, mask)
            if found is not None and len(found) < len(best):
                best = found
        return best

    def _greedy(self, chain: Sequence[int], mask: Mask) -> tuple[Part, ...] | None:
        """Whole codes of the coarsest level, then of the next on what is left."""
        left = mask.copy()
        found: list[Part] = []
        for at in chain:
            if not left.any():
                break
            level, group, size = self._levels[at], self._groups[at], self._sizes[at]
            inside = np.bincount(group[left], minlength=size.size)
            whole = (inside == size) & (inside > 0)
            found += [Part(level.name, place) for place in np.flatnonzero(whole).tolist()]
            left &= ~whole[group]
        return None if left.any() else tuple(found)


def cover(levels: Sequence[Level], mask: Mask) -> tuple[Part, ...] | None:
    """Declared codes of some levels that make up a set of leaves; ``None`` if none do."""
    return Covering(levels).cover(mask)


def needed_levels(variable: Variable, parts: Iterable[Part]) -> tuple[Level, ...]:
    """The declared levels of some parts."""
    names = {one.level for one in parts} - {TOTAL}
    return tuple(one for one in variable.levels() if one.name in names)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """An axis that is counted for the parts that are needed, and where each part stands on it.

    Attributes:
        axis: The axis. Codes that nobody needs are one code together.
        places: The position of each part.
    """

    axis: Axis
    places: Mapping[Part, int]

    def positions(self, parts: Sequence[Part]) -> Int64:
        """Where some parts stand."""
        return np.array([self.places[one] for one in parts], dtype=np.int64)


def counted(variable: Variable, parts: Iterable[Part]) -> Counted:
    """The smallest axis that shows all these parts.

    Its cells are the same sets of records as those of the axis with all codes, so they have the
    same keys and the same published values.
    """
    wanted = set(parts)
    by_level: dict[str, list[int]] = {}
    for one in sorted(wanted - {WHOLE}):
        by_level.setdefault(one.level, []).append(one.at)
    found = {name: narrowed(variable.level(name), at) for name, at in by_level.items()}
    levels = [level for level, _ in found.values()]
    if not levels:
        # Nothing but the total: the coarsest level carries it.
        coarsest = min(variable.levels(), key=lambda one: (len(one.codes), one.name))
        levels = [narrowed(coarsest, [])[0]]
    axis = make_axis(variable, levels, total=WHOLE in wanted)
    places = {WHOLE: len(axis.codes) - 1} if WHOLE in wanted else {}
    for block in axis.blocks:
        if block.level in found:
            place = found[block.level][1]
            for at in by_level[block.level]:
                places[Part(block.level, at)] = block.start + int(place[at])
    return Counted(axis, places)
