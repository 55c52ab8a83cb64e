"""Several files of one census: what they show of a record together.

An intruder has all files that are out. A person who is in two of them is shown twice; where both
records are alone in their file with what the files have in common, they can be put together, and
the person is found by everything that either of them tells.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.uniques.numbering import counted, refined
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.release.recoding import coarser_of
from sdcensus.model.schema.variable import CodeKind, Level
from sdcensus.risk.records.combinations import MOST_KEYS
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.ladder import record_risk

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
#: How a file tells a key: the variable, the groups of leaves, the kinds of the codes.
_Version = tuple[str, tuple[int, ...], tuple[CodeKind, ...]]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class ShownFile(Confidential):
    """What a file that is out, or will be, shows of whom.

    Attributes:
        name: What the file is called.
        accepted: The share of the population that its class of users accepts as correct matches.
        rows: The rows of its persons in the census, ascending.
        levels: The codes in which it tells each variable, over the leaves of the census; records
            of two files are put together by all that they have in common.
        values: What it tells of each of its persons, by variable: positions in the codes of the
            level, after everything that was done to the records.
        amounts: Numbers that it tells, such as an income: they link records as well as codes do.
    """

    name: str
    accepted: float
    rows: Int64
    levels: Mapping[str, Level]
    values: Mapping[str, Integers]
    amounts: Mapping[str, Integers] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<ShownFile {self.name!r}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FileInUnion(Confidential):
    """A file of a union: its size, and what it gives away alone."""

    name: str
    records: int
    expected_alone: float
    accepted: float

    def __repr__(self) -> str:
        return f"<FileInUnion {self.name!r}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PairInUnion(Confidential):
    """Two files: the persons of both, and those whose two records can be put together."""

    names: tuple[str, str]
    both: int
    linked: int

    def __repr__(self) -> str:
        return f"<PairInUnion {self.names}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UnionRisk(Confidential):
    """What several files give away together.

    Attributes:
        files: Each file, the new one last.
        pairs: Each two of them.
        persons: How many persons are in at least one of them.
        expected: Expected correct matches when everything is used that is shown.
        expected_before: The same without the last file.
        accepted: What the strictest of them accepts, in matches.
    """

    files: tuple[FileInUnion, ...]
    pairs: tuple[PairInUnion, ...]
    persons: int
    expected: float
    expected_before: float
    accepted: float

    def __repr__(self) -> str:
        return f"<UnionRisk of {len(self.files)} files: confidential>"

    @property
    def adds(self) -> float:
        """What the last file adds."""
        return self.expected - self.expected_before

    @property
    def exceeded(self) -> bool:
        """Whether the last file makes it more than the strictest class accepts."""
        # Sums of fractions in another order differ in their last digits.
        more = self.adds > 1e-9 * max(self.expected, 1.0)
        return len(self.files) > 1 and more and self.expected > self.accepted


def union_risk(
    leaves: Mapping[str, Integers],
    files: Sequence[ShownFile],
    known: Mapping[str, Level],
    *,
    size: int,
    missing: MissingValues = MissingValues.ADJUST,
) -> UnionRisk:
    """What files give away together, and what the last one adds.

    Args:
        leaves: The leaf of every person of the census, by variable that is known.
        files: The files, the new one last; at least one.
        known: The variables that an intruder knows of people, and in which codes; from a file that
            tells more coarsely, no more can be learned.
        size: How many persons the census has.
        missing: How keys that are not stated are counted.
    """
    chances = _Chances(leaves, files, known, size, missing)
    links = dict(_links(files))
    taken = np.zeros(size, dtype=bool)
    for file in files:
        taken[file.rows] = True
    last = len(files) - 1
    return UnionRisk(
        files=tuple(
            FileInUnion(
                name=file.name,
                records=file.rows.size,
                expected_alone=float(chances.of((place,)).sum()),
                accepted=file.accepted,
            )
            for place, file in enumerate(files)
        ),
        pairs=tuple(
            PairInUnion(
                names=(files[first].name, files[second].name),
                both=int(np.isin(files[first].rows, files[second].rows).sum()),
                linked=int(linked.size),
            )
            for (first, second), linked in links.items()
        ),
        persons=int(taken.sum()),
        expected=chances.together(len(files), links),
        expected_before=chances.together(
            last, {pair: linked for pair, linked in links.items() if last not in pair}
        ),
        accepted=min(file.accepted for file in files) * size,
    )


class _Chances:
    """For every person of a census the chance of a correct match, by what is put together."""

    def __init__(
        self,
        leaves: Mapping[str, Integers],
        files: Sequence[ShownFile],
        known: Mapping[str, Level],
        size: int,
        missing: MissingValues,
    ) -> None:
        self._files, self._size, self._missing = files, size, missing
        self._columns = [_columns(leaves, file, known) for file in files]
        self._known: dict[tuple[int, ...], Floats] = {}

    def of(self, members: tuple[int, ...]) -> Floats:
        """The chances from records that are alone with what some files together tell of them.

        Alone among everybody who is in one of these files: of those who are not in all of them,
        what the other files would tell is taken to be known, so that they hide nobody.
        """
        if members not in self._known:
            sampled = np.zeros(self._size, dtype=bool)
            for place in members:
                sampled[self._files[place].rows] = True
            columns = _joined([self._columns[place] for place in members])
            risk = record_risk(columns, sampled, missing=self._missing)
            chances = np.zeros(self._size)
            chances[risk.rows] = np.where(risk.sample_unique, risk.risk, 0.0)
            self._known[members] = chances
        return self._known[members]

    def together(self, count: int, links: Mapping[tuple[int, int], Int64]) -> float:
        """Expected correct matches: for everybody the best that a record or a union gives."""
        if not count:
            return 0.0
        best = np.maximum.reduce([self.of((place,)) for place in range(count)])
        for members, persons in _groups(links, count):
            best[persons] = np.maximum(best[persons], self.of(members)[persons])
        return float(best.sum())


def _columns(
    leaves: Mapping[str, Integers], file: ShownFile, known: Mapping[str, Level]
) -> dict[_Version, KeyColumn]:
    """What is known of every person as a file tells it, with what it really tells of its own."""
    columns = {}
    for name, level in known.items():
        if name not in file.levels:
            continue
        key = coarser_of(level, file.levels[name])
        kinds = [code.kind for code in key.codes]
        # A code of the file that no leaf has was made by blanking.
        values = key.group_array[leaves[name]]
        values[file.rows] = _parts(file.levels[name], key)[file.values[name]]
        column = KeyColumn(name=name, values=values, kinds=(*kinds, CodeKind.NOT_STATED))
        columns[name, key.group, tuple(kinds)] = column
    return columns


def _joined(columns: Sequence[Mapping[_Version, KeyColumn]]) -> list[KeyColumn]:
    """What several files tell: what one of them blanks, another one may tell."""
    joined: dict[_Version, KeyColumn] = {}
    for own in columns:
        for version, column in own.items():
            before = joined.get(version)
            if before is not None:
                blank = before.is_kind(CodeKind.NOT_STATED)[before.values]
                values = np.where(blank, column.values, before.values)
                column = KeyColumn(name=column.name, values=values, kinds=column.kinds)
            joined[version] = column
    if len(joined) > MOST_KEYS:
        # More versions than can be looked at together: of each key the one with most codes.
        finest: dict[str, KeyColumn] = {}
        for column in sorted(joined.values(), key=lambda column: column.size):
            finest[column.name] = column
        return list(finest.values())
    return list(joined.values())


def _groups(
    links: Mapping[tuple[int, int], Int64], count: int
) -> Iterator[tuple[tuple[int, ...], Int64]]:
    """Persons by the files whose records of them can be put together, at least two."""
    linked = [persons for persons in links.values() if persons.size]
    if not linked:
        return
    everybody = np.unique(np.concatenate(linked))
    # What is linked to something linked is linked: all get the number of the first.
    first_of = np.tile(np.arange(count, dtype=np.int16)[:, None], (1, everybody.size))
    moved = True
    while moved:
        moved = False
        for (one, other), persons in links.items():
            at = np.searchsorted(everybody, persons)
            lowest = np.minimum(first_of[one, at], first_of[other, at])
            for place in (one, other):
                moved = moved or bool((first_of[place, at] != lowest).any())
                first_of[place, at] = lowest
    patterns, which = np.unique(first_of, axis=1, return_inverse=True)
    gathered: dict[tuple[int, ...], list[Int64]] = {}
    for number, pattern in enumerate(patterns.T.tolist()):
        for first in set(pattern):
            members = tuple(place for place, each in enumerate(pattern) if each == first)
            if len(members) > 1:
                persons = everybody[which.reshape(-1) == number]
                gathered.setdefault(members, []).append(persons)
    for members, parts in sorted(gathered.items()):
        yield members, np.concatenate(parts)


def _links(files: Sequence[ShownFile]) -> Iterator[tuple[tuple[int, int], Int64]]:
    """For each two files the persons whose two records can be put together."""
    for first, second in itertools.combinations(range(len(files)), 2):
        yield (first, second), linked_persons(files[first], files[second])


def linked_persons(file: ShownFile, other: ShownFile) -> Int64:
    """Persons of both who are alone in each with what both tell, as coarsely as they share it.

    "Not stated" is a value here: a gap of the census is in both files. What one of the files has
    blanked or changed would hide a record for ever, so it is tried without such variables too.
    """
    both = np.intersect1d(file.rows, other.rows)
    common = list(_in_common(file, other))
    linked = np.zeros(0, dtype=np.int64)
    if not both.size or not common:
        return linked
    at_mine, at_theirs = (np.searchsorted(each.rows, both) for each in (file, other))
    alike = [
        (mine, theirs, size)
        for mine, theirs, size in common
        if np.array_equal(mine[at_mine], theirs[at_theirs])
    ]
    for columns in (common, alike) if len(alike) < len(common) else (common,):
        numbers, count = np.zeros(file.rows.size + other.rows.size, dtype=np.int64), 1
        for mine, theirs, size in columns:
            step = refined(numbers, count, np.concatenate([mine, theirs]), size)
            numbers, count = step.numbers, step.count
        own, their = numbers[: file.rows.size], numbers[file.rows.size :]
        alone = (counted(own, count) == 1) & (counted(their, count) == 1)
        same = own[at_mine] == their[at_theirs]
        linked = np.union1d(linked, both[same & alone[own[at_mine]]])
    return linked


def _in_common(file: ShownFile, other: ShownFile) -> Iterator[tuple[Integers, Integers, int]]:
    """What both files tell, in the codes that they share: of one, of the other, how many codes."""
    for name in (name for name in file.levels if name in other.levels):
        parts, mine, theirs = coarsest_common(file.levels[name], other.levels[name])
        yield mine[file.values[name]], theirs[other.values[name]], parts
    for name in (name for name in file.amounts if name in other.amounts):
        amounts = np.concatenate([file.amounts[name], other.amounts[name]])
        different, places = np.unique(amounts, return_inverse=True)
        places = places.reshape(-1)
        yield places[: file.rows.size], places[file.rows.size :], different.size


def coarsest_common(level: Level, other: Level) -> tuple[int, Int64, Int64]:
    """The finest partition that both levels know: how many parts, and the part of each code.

    Single years and bands of five have the bands in common; where bands overlap, they join. Codes
    that no leaf has, which stand for what was blanked, are the last part.
    """
    common = coarser_of(level, other)
    return len(common.codes) + 1, _parts(level, common), _parts(other, common)


def _parts(level: Level, coarser: Level) -> Int64:
    """The code of a coarser level for each code; the one behind the last for codes of no leaf."""
    parts = np.full(len(level.codes), len(coarser.codes), dtype=np.int64)
    parts[level.group_array] = coarser.group_array
    return parts
