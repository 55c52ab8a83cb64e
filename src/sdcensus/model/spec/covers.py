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
from sdcensus.model.schema.variable import Code, Level, Variable
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis, spellings
from sdcensus.model.spec.fewest_parts import fewest_parts
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


class Covering:
    """Declared codes made ready for many questions about which of them make up a set of leaves.

    Args:
        levels: The levels whose codes may be used, in any order.
    """

    __slots__ = ("_crossing", "_groups", "_names", "_parts", "_ranks", "_sizes")

    def __init__(self, levels: Iterable[Level]) -> None:
        # What has a name of its own is called by that, and not "all others".
        ordered = sorted(levels, key=lambda level: (level.universe, len(level.codes), level.name))
        self._names = {level.name: at for at, level in enumerate(ordered)}
        self._groups = [level.group_array for level in ordered]
        self._sizes = [
            np.bincount(level.group_array, minlength=len(level.codes)) for level in ordered
        ]
        self._ranks, self._parts = self._ranked()
        self._crossing = self._crossings()

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
        ranks = [np.array([rank.get(key, len(rank)) for key in level]) for level in keys]
        return ranks, [parts[key] for key in rank]

    def _crossings(self) -> Int64:
        """Pairs of codes, by their ranks, that share leaves although neither holds the other."""
        crossings = [np.zeros((2, 0), dtype=np.int64)]
        for first, second in itertools.combinations(range(len(self._groups)), 2):
            width = self._sizes[second].size
            pairs, shared = np.unique(
                self._groups[first] * width + self._groups[second], return_counts=True
            )
            mine, other = pairs // width, pairs % width
            cross = (shared < self._sizes[first][mine]) & (shared < self._sizes[second][other])
            ranks = self._ranks[first][mine[cross]], self._ranks[second][other[cross]]
            crossings.append(np.stack(ranks))
        return np.concatenate(crossings, axis=1)

    def cover(self, mask: Mask) -> tuple[Part, ...] | None:
        """The fewest declared codes that make up a set of leaves; ``None`` if none do.

        Args:
            mask: Which leaves are wanted.

        Raises:
            SpecError: Three and more hierarchies cross too often to be sure of the fewest.
        """
        if mask.all():
            return (WHOLE,)
        ranks, none = self._inside(np.flatnonzero(mask)), len(self._parts)
        usable, crossed = np.zeros((2, none + 1), dtype=bool)
        usable[ranks] = True
        crossed[self._crossing[:, usable[self._crossing].all(axis=0)]] = True
        # A code that nothing crosses is better than all codes inside it.
        largest = np.where(crossed[ranks], none, ranks).min(axis=0, initial=none)
        ranks = np.where(ranks > largest, none, ranks)
        tied = (ranks < largest).any(axis=0)
        if (largest[~tied] == none).any():
            return None
        chosen = np.unique(largest[~tied]).tolist()
        if tied.any():
            fewest = _fewest(ranks[:, tied], none)
            if fewest is None:
                return None
            chosen += fewest
        parts = [self._parts[rank] for rank in chosen]
        return tuple(sorted(parts, key=lambda part: (self._names[part.level], part.at)))

    def _inside(self, leaves: Int64) -> Int64:
        """For each level and leaf the rank of its code, if the code has no other leaves."""
        ranks = np.full((len(self._groups), leaves.size), len(self._parts), dtype=np.int64)
        for at, (group, sizes) in enumerate(zip(self._groups, self._sizes, strict=True)):
            codes = group[leaves]
            whole = np.bincount(codes, minlength=sizes.size) == sizes
            ranks[at, whole[codes]] = self._ranks[at][codes[whole[codes]]]
        return ranks


def _fewest(ranks: Int64, none: int) -> list[int] | None:
    """The fewest codes for leaves whose codes cross, by their ranks; ``None`` if none do."""
    pieces = np.unique(ranks, axis=1)
    usable = np.unique(pieces[pieces != none]).tolist()
    place = {rank: at for at, rank in enumerate(usable)}
    sets = [0] * len(usable)
    for number, piece in enumerate(pieces.T.tolist()):
        for rank in set(piece) - {none}:
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


def leaves_of_part(variable: Variable, part: Part) -> Mask:
    """Which leaves of its variable a declared code holds."""
    if part.total:
        return np.ones(len(variable.codes), dtype=bool)
    return np.asarray(variable.level(part.level).group_array == part.at)


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


def shown_position(axis: Axis, leaves: Mask) -> int | None:
    """Where an axis shows a code or total of exactly these leaves; ``None`` where it does not."""
    first = int(np.argmax(leaves))
    for block in axis.blocks:
        codes = block.group[axis.base]
        if np.array_equal(codes == codes[first], leaves):
            return block.start + int(codes[first])
    return None


@dataclass(frozen=True, slots=True)
class CodeNames:
    """The codes of a variable by what users write: bare, or with their level.

    Attributes:
        codes: For each text the level and the place of the code.
        unclear: Codes that stand at several levels for different records, with these levels.
    """

    codes: Mapping[str, tuple[Level, int]]
    unclear: Mapping[str, tuple[str, ...]]


def codes_by_name(axis: Axis) -> CodeNames:
    """Codes by what users write: those of the axis first, then those of other levels.

    A bare code of several levels is one of the axis, if it stands at one level of it only.
    """
    shown = [level.name for level in axis.levels]
    places: dict[str, list[tuple[Level, int]]] = {}
    for level in sorted(axis.variable.levels(), key=lambda level: level.name not in shown):
        for at, code in enumerate(level.codes):
            places.setdefault(code.code, []).append((level, at))
    codes = {code: where[0] for code, where in places.items()}
    members: dict[str, list[bytes]] = {}

    def records(level: Level, at: int) -> bytes:
        if level.name not in members:
            order = np.argsort(level.group_array, kind="stable")
            ends = np.cumsum(np.bincount(level.group_array, minlength=len(level.codes)))
            members[level.name] = [part.tobytes() for part in np.split(order, ends[:-1])]
        return members[level.name][at]

    unclear: dict[str, tuple[str, ...]] = {}
    for text, where in places.items():
        own = [place for place in where if place[0].name in shown] or where
        if len(own) > 1 and len({records(level, at) for level, at in own}) > 1:
            unclear[text] = tuple(level.name for level, _ in own)
            del codes[text]
        for level, at in where:
            for written in spellings(text, level.name):
                codes.setdefault(written, (level, at))
    return CodeNames(codes, unclear)


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


#: The code for everything of a level that nobody asked for. It is counted and never shown.
REST = "\N{HORIZONTAL ELLIPSIS}"


def narrowed(level: Level, wanted: Sequence[int], *, name: str = "") -> tuple[Level, Int64]:
    """A level with these of its codes and one code for all others, and where each code is in it.

    The others stand where the first of them stood: levels that tell the same apart have the same
    order, so that what was counted for one question is right for another.

    Args:
        level: The level.
        wanted: The positions of the codes that are needed, ascending.
        name: What the cut level is called, if not as the whole one.
    """
    size = len(level.codes)
    called = name or level.name
    if len(wanted) == size:
        whole = level if called == level.name else Level(called, level.codes, level.group)
        return whole, np.arange(size)
    other = np.ones(size, dtype=bool)
    other[list(wanted)] = False
    first = int(np.flatnonzero(other)[0])
    shown = sorted([*wanted, first])
    place = np.full(size, shown.index(first), dtype=np.int64)
    place[shown] = np.arange(len(shown))
    codes = [Code(REST) if at == first else level.codes[at] for at in shown]
    return Level(called, tuple(codes), tuple(place[level.group_array].tolist())), place
