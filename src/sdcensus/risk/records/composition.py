"""The nosy neighbour: who knows the size of a household and the ages and sexes of its members.

The key of a household is the multiset of what is known of its members. A household with members
that do not state everything may be any household of the same size whose members can be assigned to
its own so that all that is stated agrees; it is shared out among those as records are (methods
9.3). Tried are the households that have all of its members that state everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.uniques.compositions import common, fitting_households
from sdcensus.kernels.uniques.numbering import combined, compressed, counted, refined
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import MissingValues
from sdcensus.risk.records.combinations import Combinations, combinations
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.uniques import Fit, Uniques, sampled_cells, uniques_of

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: In larger households a missing value is a value of its own: nobody tries all assignments.
MOST_MEMBERS = 30
#: So many households are looked through between two words about it.
_PIECE = 1000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompositionRisk(Uniques):
    """Households that are alone with their composition; records and population are households.

    Attributes:
        members: What is known of each member, besides how many they are.
        places: What is known of the household itself.
        empty: Households of the file without persons: they are not counted.
        outside: Persons of the census without a household: they are not counted.
        as_category: Households of the file that are so large that their missing values were
            counted as values of their own.
    """

    members: tuple[str, ...]
    places: tuple[str, ...] = ()
    empty: int = 0
    outside: int = 0
    as_category: int = 0


def composition_risk(
    members: Sequence[KeyColumn],
    households: Integers,
    sampled: Mask,
    *,
    places: Sequence[KeyColumn] = (),
    k: int = 3,
    missing: MissingValues = MissingValues.ADJUST,
    progress: Progress = no_progress,
) -> CompositionRisk:
    """Uniques among households by size and what is known of their members.

    Args:
        members: What is known of every person of the census, as the file tells it: ages in the
            bands of the file, sexes.
        households: The row of each person's household; below 0 or ``NO_ROW`` for none.
        sampled: Which households of the census the file holds, with all of their members.
        places: What is known of every household of the census as the file tells it, such as an
            area that the file keeps.
        k: How many households should be alike.
        missing: Whether "not stated" may be any value, or is one of its own.
        progress: Told as households with missing values are looked through.

    Raises:
        SpecError: ``k`` is below 1, or a person is in a household that is not there.
    """
    if k < 1:
        raise SpecError(f"k is {k}. Say how many should share their keys, 1 or more, such as 3.")
    rows = np.asarray(households).astype(np.int64)
    inside = (rows >= 0) & (rows != int(NO_ROW))
    if rows[inside].max(initial=-1) >= sampled.size:
        raise SpecError("A person is in a household that the census does not have.")
    people = np.flatnonzero(inside)
    persons = combinations(
        [_of(column, people) for column in members], sampled[rows[people]], missing
    )
    sizes = np.bincount(rows[people], minlength=sampled.size)
    lived_in = np.flatnonzero(sizes)
    homes = combinations([_of(column, lived_in) for column in places], sampled[lived_in], missing)
    number = np.cumsum(sizes > 0) - 1
    classes = _classes(persons, number[rows[people]], sizes[lived_in], homes)
    counts = np.stack(
        [
            counted(classes.numbers, classes.count),
            counted(classes.numbers, classes.count, sampled[lived_in]),
        ]
    )
    held = np.flatnonzero(counts[1])
    adjusted = sampled_cells(
        counts[:, held], ~classes.open[held], lambda: classes.fits(counts, held, progress)
    )
    uniques = uniques_of(adjusted, population=int(lived_in.size), k=k)
    return CompositionRisk(
        **{each.name: getattr(uniques, each.name) for each in fields(uniques)},
        members=tuple(column.name for column in members),
        places=tuple(column.name for column in places),
        empty=int(np.count_nonzero(sampled & (sizes == 0))),
        outside=int(rows.size - people.size),
        as_category=int(counts[1, classes.too_large].sum()),
    )


def _of(column: KeyColumn, rows: Int64) -> KeyColumn:
    return KeyColumn(name=column.name, values=column.values[rows], kinds=column.kinds)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Classes(Confidential):
    """Households of equal composition.

    Attributes:
        numbers: The class of each household that has members.
        persons: Kinds of members.
        starts: Where each class begins in ``kinds``; one more at the end.
        kinds: The kinds of members of each class: those who state everything first, both sorted.
        gaps: How many members of each class do not state everything.
        places: By class its words, the bits that are stated, bits for missing keys, and for
            those that are not applicable.
        open: Whether something is missing, so that a class may be others.
        too_large: Classes whose missing values are values of their own.
    """

    numbers: Int64
    persons: Combinations
    starts: Int64
    kinds: Int64
    gaps: Int64
    places: UInt64
    open: Mask
    too_large: Mask

    def __repr__(self) -> str:
        return "<_Classes: confidential>"

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.gaps.size)

    def fits(self, counts: Int64, held: Int64, progress: Progress) -> Iterator[Fit]:
        """The complete classes that classes of the file with missing values may be."""
        place = np.cumsum(counts[1] > 0) - 1
        stated = self.persons.stated(self.persons.hidden)
        candidates_of = _Candidates(self, np.flatnonzero(~self.open & ~self.too_large))
        kinds = (self.persons.words, stated, self.persons.hidden, self.persons.absent)
        incomplete = np.flatnonzero(self.open[held])
        for turn, here in enumerate(incomplete.tolist()):
            if turn % _PIECE == 0:
                progress("composition", turn / incomplete.size)
            household = int(held[here])
            candidates = candidates_of.household(household)
            out = np.empty(candidates.size, dtype=np.int64)
            size = fitting_households(
                *kinds,
                self.kinds,
                self.starts,
                candidates,
                household,
                int(self.gaps[household]),
                self.places,
                out,
            )
            fitting = out[:size]
            cells = place[fitting[counts[1, fitting] > 0]]
            yield Fit(
                np.array([here]),
                counts[:, fitting].sum(axis=1).reshape(2, 1),
                cells,
                np.full(cells.size, here),
            )


class _Candidates:
    """Complete classes by size and by the kinds of their members."""

    __slots__ = ("_classes", "_members", "_sizes", "_width")

    def __init__(self, classes: _Classes, complete: Int64) -> None:
        self._classes = classes
        sizes = np.diff(classes.starts)
        self._width = classes.persons.hidden.size
        self._sizes = _Index(sizes[complete], complete)
        of_member = np.repeat(complete, sizes[complete])
        members = classes.kinds[_ranges(classes.starts[complete], sizes[complete])]
        self._members = _Index(sizes[of_member] * self._width + members, of_member)

    def household(self, number: int) -> Int64:
        """The complete classes that a class may be at most, each once."""
        classes = self._classes
        first, last = int(classes.starts[number]), int(classes.starts[number + 1])
        own = classes.kinds[first : last - int(classes.gaps[number])]
        size = last - first
        if not own.size:
            return self._sizes.of(size)
        lists = [self._members.of(size * self._width + kind) for kind in set(own.tolist())]
        candidates, *others = sorted(lists, key=lambda values: values.size)
        for values in others:
            candidates = common(candidates, values)
        return candidates


class _Index:
    """Values by key; those of one key ascending, each once."""

    __slots__ = ("_keys", "_values")

    def __init__(self, keys: Int64, values: Int64) -> None:
        order = np.lexsort((values, keys))
        keys, values = keys[order], values[order]
        fresh = np.ones(keys.size, dtype=bool)
        fresh[1:] = (keys[1:] != keys[:-1]) | (values[1:] != values[:-1])
        self._keys, self._values = keys[fresh], values[fresh]

    def of(self, key: int) -> Int64:
        first, last = np.searchsorted(self._keys, [key, key + 1])
        return self._values[first:last]


def _classes(persons: Combinations, numbers: Int64, sizes: Int64, homes: Combinations) -> _Classes:
    """Number households by composition.

    Args:
        persons: The kinds of members.
        numbers: The household of each person, among those with members.
        sizes: How many members each has.
        homes: What is known of the households themselves.
    """
    # Kinds in an order in which those that state everything come first.
    order = np.lexsort((np.arange(persons.hidden.size), persons.hidden > 0))
    width = max(order.size, 1)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    keys = (numbers * width + rank[persons.numbers]).astype(np.uint64)
    ordered, _ = sort_cells(keys, largest=int(keys.max(initial=0)))
    ranks = (ordered % np.uint64(width)).astype(np.int64)
    starts = np.zeros(sizes.size + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    number, count = _numbered(ranks, width, starts, combined([homes.numbers, sizes], sizes.size))
    example = np.zeros(count, dtype=np.int64)
    example[number[::-1]] = np.arange(sizes.size)[::-1]
    kinds = order[ranks[_ranges(starts[example], sizes[example])]]
    class_starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(sizes[example], out=class_starts[1:])
    missing = np.concatenate([[0], np.cumsum(persons.hidden[kinds] > 0)])
    gaps = missing[class_starts[1:]] - missing[class_starts[:-1]]
    home = homes.numbers[example]
    lacking = (gaps > 0) | (homes.hidden[home] > 0)
    large = lacking & (sizes[example] > MOST_MEMBERS)
    places = np.column_stack(
        [
            homes.words[home],
            homes.stated(homes.hidden)[home],
            homes.hidden[home],
            homes.absent[home],
        ]
    )
    return _Classes(number, persons, class_starts, kinds, gaps, places, lacking & ~large, large)


def _numbered(
    kinds: Int64, width: int, starts: Int64, known: tuple[Int64, int]
) -> tuple[Int64, int]:
    """A number for each composition, and how many there are.

    Households are told apart member by member. Who is alone already needs no further members: an
    institution costs no more than a family.

    Args:
        kinds: The kinds of members, household after household, sorted.
        width: How many kinds there are.
        starts: Where each household begins.
        known: A number for what is known of each household, its size included; and their count.
    """
    group, count = known
    sizes = np.diff(starts)
    final = np.empty(sizes.size, dtype=np.int64)
    active = np.arange(sizes.size)
    settled, place = 0, 0
    while active.size:
        done = (sizes[active] == place) | (counted(group, count) == 1)[group]
        dense, old = compressed(group[done], count)
        final[active[done]] = settled + dense
        settled += old.size
        active, (group, old) = active[~done], compressed(group[~done], count)
        step = refined(group, old.size, kinds[starts[active] + place], width)
        group, count = step.numbers, step.count
        place += 1
    return final, settled


def _ranges(starts: Int64, sizes: Int64) -> Int64:
    """All places of ranges, one range after the other."""
    ends = np.cumsum(sizes)
    shifts: Int64 = np.repeat(starts - (ends - sizes), sizes)
    return shifts + np.arange(shifts.size)
