"""How many different persons claims about single persons are about, as far as they tell it.

A claim says that one person is in a cell, and some further codes of that person. Whatever else is
claimed inside that cell is then about the same person: of a man who is the only one of his age and
country of birth in a district, every finer table of the district tells the same man again. So
persons are counted by what lies in what, not by how many sets of codes were read.

Some claims are wrong, and an intruder does not know which. Counted twice, the answer has bounds:
claims that lie in one another are one person, whatever they contradict each other in; or they are
only where they contradict each other in nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdcensus.attack.claims import GroupClaims, Int64, Mask
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec

#: A variable of which nothing is known.
_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class DifferentPersons:
    """How many different persons claims are about.

    Attributes:
        least: So many, if a claim that lies in the cell of another is always about its person.
        most: So many, if claims that contradict each other are about different persons.
        attributes: How many variables are known of each of the latter, on average.
    """

    least: int
    most: int
    attributes: float

    @property
    def text(self) -> str:
        """How many, for a sentence."""
        if self.least == self.most:
            return f"{self.most:,} different person{'s' if self.most != 1 else ''}"
        return f"{self.least:,} to {self.most:,} different persons"

    @property
    def why(self) -> str:
        """Why that is not one number, as the end of a sentence; empty where it is."""
        if self.least == self.most:
            return ""
        return (
            ": the fewer, if whatever fits a claim is about its person; the more, if claims that"
            " contradict each other are not"
        )


@dataclass(slots=True, eq=False)
class _LeafSets:
    """The sets of leaves of one variable that claims name, by number, and how levels cut it."""

    sets: list[Mask] = field(default_factory=list)
    numbers: dict[bytes, int] = field(default_factory=dict)
    cuts: dict[bytes, tuple[int, Int64]] = field(default_factory=dict)
    _places: dict[int, Int64] = field(default_factory=dict)

    def number(self, leaves: Mask) -> int:
        """The number of a set."""
        number = self.numbers.setdefault(leaves.tobytes(), len(self.sets))
        if number == len(self.sets):
            self.sets.append(leaves)
        return number

    def cut(self, group: Int64) -> int:
        """The number of a cut into disjoint sets."""
        return self.cuts.setdefault(group.tobytes(), (len(self.cuts), group))[0]

    def met(self, first: Int64, second: Int64) -> Int64:
        """What two sets have in common, for many pairs; the first where that is nothing."""
        pairs, which = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
        met = []
        for one, other in pairs.T.tolist():
            if _UNKNOWN in (one, other):
                met.append(max(one, other))
                continue
            both = self.sets[one] & self.sets[other]
            met.append(self.number(both) if both.any() else one)
        return np.array(met, dtype=np.int64)[which.reshape(-1)]

    def places(self, cut: int) -> Int64:
        """For each set the part of a cut that it lies in; -1 for none, and for the unknown."""
        if cut not in self._places:
            group = next(group for number, group in self.cuts.values() if number == cut)
            sets = np.array(self.sets)
            lowest = np.where(sets, group, np.iinfo(np.int64).max).min(axis=1)
            highest = np.where(sets, group, -1).max(axis=1)
            places = np.where(lowest == highest, lowest, -1)
            self._places[cut] = np.append(places, -1).astype(np.int64)
        return self._places[cut]


class _Claims:
    """Claims about single persons of one kind of unit, by what is known of each."""

    def __init__(self, claims: Sequence[GroupClaims]) -> None:
        self._variables: dict[str, int] = {}
        self._sets: dict[tuple[Axis, bytes], tuple[Int64, Int64]] = {}
        self.leaves: list[_LeafSets] = []
        for claim in claims:
            specs = (claim.spec, *(traits.spec for traits in claim.traits))
            for name in itertools.chain.from_iterable(map(_names, specs)):
                if name not in self._variables:
                    self._variables[name] = len(self.leaves)
                    self.leaves.append(_LeafSets())
        rows = [self._rows(claim) for claim in claims]
        known = np.concatenate([known for known, _ in rows])
        cuts = np.concatenate([cuts for _, cuts in rows])
        both = np.unique(np.concatenate([known, cuts], axis=1), axis=0)
        #: For each claim the number of the set of leaves of each variable, and the cuts of its key.
        self.known, self.cuts = both[:, : len(self.leaves)], both[:, len(self.leaves) :]

    def _rows(self, claim: GroupClaims) -> tuple[Int64, Int64]:
        """What is known of the claims of one table: codes and, of the cells, levels."""
        shape = (claim.count, len(self.leaves))
        known = np.full(shape, _UNKNOWN, dtype=np.int64)
        cuts = np.full(shape, _UNKNOWN, dtype=np.int64)
        for name, sets, cut in self._codes(claim.spec, claim.cells):
            known[:, self._variables[name]] = sets
            cuts[:, self._variables[name]] = cut
        for traits in claim.traits:
            name = traits.variable
            at = self._variables[name]
            codes = self._codes(traits.spec, traits.cells)
            sets = next(sets for shown, sets, _ in codes if shown == name)
            # Of a group there may be several codes; of one person there is one.
            owner, first = np.unique(traits.owner, return_index=True)
            known[owner, at] = self.leaves[at].met(known[owner, at], sets[first])
        single = claim.sizes == 1
        return known[single], cuts[single]

    def _codes(self, spec: TableSpec, cells: Int64) -> Iterator[tuple[str, Int64, Int64]]:
        """For each variable of a table the sets of leaves of some cells, and the levels."""
        inside = _filters(spec)
        places = np.unravel_index(cells, spec.shape) if spec.axes else ()
        for axis, at in zip(spec.axes, places, strict=True):
            held = inside.pop(axis.variable.name, None)
            seen = (axis, b"" if held is None else held.tobytes())
            if seen not in self._sets:
                leaves = self.leaves[self._variables[axis.variable.name]]
                self._sets[seen] = _axis_sets(axis, held, leaves)
            sets, cuts = self._sets[seen]
            yield axis.variable.name, sets[at], cuts[at]
        for name, kept in inside.items():
            leaves = self.leaves[self._variables[name]]
            number, cut = leaves.number(kept), leaves.cut(np.where(kept, 0, -1).astype(np.int64))
            yield name, np.full(cells.size, number), np.full(cells.size, cut)

    def inside(self) -> Iterator[Int64]:
        """For each cell of a claim the claims that lie in it, that one first."""
        cuts, which = np.unique(self.cuts, axis=0, return_inverse=True)
        by_cut = np.argsort(which.reshape(-1), kind="stable")
        ends = np.cumsum(np.bincount(which.reshape(-1), minlength=len(cuts)))[:-1]
        for cut, keys in zip(cuts, np.split(by_cut, ends), strict=True):
            cells = self._cells(cut)
            wanted, first = np.unique(cells[keys], return_index=True)
            at = np.minimum(np.searchsorted(wanted, cells), wanted.size - 1)
            lying = np.flatnonzero(wanted[at] == cells)
            order = np.argsort(at[lying], kind="stable")
            starts = np.searchsorted(at[lying][order], np.arange(1, wanted.size))
            for key, others in zip(keys[first], np.split(lying[order], starts), strict=True):
                yield np.concatenate([key[None], others[others != key]])

    def _cells(self, cut: Int64) -> Int64:
        """In which cell of some levels each claim lies; -1 for none."""
        cells = np.zeros(len(self.known), dtype=np.int64)
        outside = np.zeros(len(self.known), dtype=bool)
        for at in np.flatnonzero(cut >= 0).tolist():
            places = self.leaves[at].places(int(cut[at]))
            part = places[self.known[:, at]]
            outside |= part < 0
            cells = cells * (int(places.max()) + 1) + part
        return np.where(outside, -1, cells)

    def bits(self) -> list[dict[int, int]]:
        """What is known of each claim: by variable its leaves, as bits."""
        bits = [
            [int.from_bytes(np.packbits(held).tobytes(), "big") for held in leaves.sets]
            for leaves in self.leaves
        ]
        return [
            {at: bits[at][number] for at, number in enumerate(row) if number != _UNKNOWN}
            for row in self.known.tolist()
        ]


class _Persons:
    """Claims that are put together to persons."""

    def __init__(self, claims: int) -> None:
        self._parent = list(range(claims))
        self.count = claims

    def of(self, claim: int) -> int:
        """The claim that stands for the person."""
        while self._parent[claim] != claim:
            self._parent[claim] = self._parent[self._parent[claim]]
            claim = self._parent[claim]
        return claim

    def join(self, person: int, other: int) -> None:
        """Two persons are one."""
        self._parent[other] = person
        self.count -= 1


def different_persons(claims: Sequence[GroupClaims]) -> DifferentPersons:
    """How many different persons the claims about single ones are about.

    Claims about what two cells differ by are left out: they name no cell that holds the person.
    """
    least = most = known = 0
    usable = [claim for claim in claims if claim.other_cells is None and (claim.sizes == 1).any()]
    for of in dict.fromkeys(claim.spec.of for claim in usable):
        own = _Claims([claim for claim in usable if claim.spec.of is of])
        cells = sorted(own.inside(), key=len)
        least += _joined_all(cells, len(own.known))
        persons = _joined_where_alike(cells, own.bits())
        most += len(persons)
        known += sum(map(len, persons))
    return DifferentPersons(least, most, known / most if most else 0.0)


def _joined_all(cells: Sequence[Int64], claims: int) -> int:
    """How many persons, if everything in the cell of a claim is about its person."""
    persons = _Persons(claims)
    for inside in cells:
        first, *others = inside.tolist()
        for other in others:
            person, also = persons.of(first), persons.of(other)
            if person != also:
                persons.join(person, also)
    return persons.count


def _joined_where_alike(
    cells: Sequence[Int64], known: list[dict[int, int]]
) -> list[dict[int, int]]:
    """What is known of each person, if claims that contradict each other are about two."""
    persons = _Persons(len(known))
    for inside in cells:
        first, *others = inside.tolist()
        for other in others:
            person, also = persons.of(first), persons.of(other)
            if person == also:
                continue
            if len(known[person]) < len(known[also]):
                person, also = also, person
            mine, theirs = known[person], known[also]
            if all(mine.get(at, leaves) & leaves for at, leaves in theirs.items()):
                mine |= {at: mine.get(at, leaves) & leaves for at, leaves in theirs.items()}
                persons.join(person, also)
    return [known[claim] for claim in range(len(known)) if persons.of(claim) == claim]


def _names(spec: TableSpec) -> Iterator[str]:
    yield from (axis.variable.name for axis in spec.axes)
    yield from _filters(spec)


def _filters(spec: TableSpec) -> dict[str, Mask]:
    """The leaves that a table's condition leaves of each variable.

    One that is no product of codes is a variable of its own: it holds for whom it is claimed of.
    """
    universe = spec.universe
    if is_product(universe):
        return {variable.name: leaves_in(universe, variable) for variable in universe.variables}
    return {str(universe.canonical()): np.ones(1, dtype=bool)}


def _axis_sets(axis: Axis, inside: Mask | None, leaves: _LeafSets) -> tuple[Int64, Int64]:
    """For each code of an axis the number of its set of leaves, and of the level's cut."""
    sets = np.full(len(axis.codes), _UNKNOWN, dtype=np.int64)
    cuts = np.full(len(axis.codes), _UNKNOWN, dtype=np.int64)
    for at, block in enumerate(axis.blocks):
        if at < len(axis.levels):
            group = axis.levels[at].group_array.astype(np.int64)
        elif inside is None:  # everybody
            continue
        else:
            group = np.zeros(inside.size, dtype=np.int64)
        if inside is not None:
            group = np.where(inside, group, -1)
        cut = leaves.cut(group)
        for part in range(block.size):
            held: npt.NDArray[np.bool_] = group == part
            if held.any():
                sets[block.start + part], cuts[block.start + part] = leaves.number(held), cut
    return sets, cuts
