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
from sdcensus.model.schema.variable import CodeKind, Level
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.ladder import record_risk

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


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
        keys: The variables that an intruder knows of the persons.
        amounts: Numbers that it tells, such as an income: they link records as well as codes do.
    """

    name: str
    accepted: float
    rows: Int64
    levels: Mapping[str, Level]
    values: Mapping[str, Integers]
    keys: tuple[str, ...]
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
    *,
    size: int,
    missing: MissingValues = MissingValues.ADJUST,
) -> UnionRisk:
    """What files give away together, and what the last one adds.

    Args:
        leaves: The leaf of every person of the census, by variable that is a key of some file.
        files: The files, the new one last; at least one.
        size: How many persons the census has.
        missing: How keys that are not stated are counted.
    """
    alone = [_alone(leaves, file, size, missing) for file in files]
    links = dict(_links(files))
    expected = _together(leaves, files, alone, links, size, missing)
    earlier = {pair: linked for pair, linked in links.items() if len(files) - 1 not in pair}
    before = _together(leaves, files[:-1], alone[:-1], earlier, size, missing)
    taken = np.zeros(size, dtype=bool)
    for file in files:
        taken[file.rows] = True
    return UnionRisk(
        files=tuple(
            FileInUnion(
                name=file.name,
                records=file.rows.size,
                expected_alone=float(own.sum()),
                accepted=file.accepted,
            )
            for file, own in zip(files, alone, strict=True)
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
        expected=expected,
        expected_before=before,
        accepted=min(file.accepted for file in files) * size,
    )


def _columns(leaves: Mapping[str, Integers], file: ShownFile) -> list[KeyColumn]:
    """The keys of every person as a file tells them, with what it tells of its own."""
    columns = []
    for name in file.keys:
        level = file.levels[name]
        values = level.group_array[leaves[name]]
        values[file.rows] = file.values[name]
        columns.append(KeyColumn.of(name, values, level.codes))
    return columns


def _alone(
    leaves: Mapping[str, Integers], file: ShownFile, size: int, missing: MissingValues
) -> Floats:
    """For every person of the census the chance of a correct match on this file's uniques."""
    sampled = np.zeros(size, dtype=bool)
    sampled[file.rows] = True
    risk = record_risk(_columns(leaves, file), sampled, missing=missing)
    chances = np.zeros(size)
    chances[risk.rows] = np.where(risk.sample_unique, risk.risk, 0.0)
    return chances


def _together(
    leaves: Mapping[str, Integers],
    files: Sequence[ShownFile],
    alone: Sequence[Floats],
    links: Mapping[tuple[int, int], Int64],
    size: int,
    missing: MissingValues,
) -> float:
    """Expected correct matches: for every person the best that any record or union gives."""
    if not files:
        return 0.0
    chances = np.maximum.reduce(list(alone))
    columns = {place: _columns(leaves, file) for place, file in enumerate(files)}
    for members, persons in _groups(links, size):
        sampled = np.zeros(size, dtype=bool)
        sampled[persons] = True
        # Each file's own version of a key: what one of them hides, the other may tell.
        shown = [column for place in members for column in columns[place]]
        risk = record_risk(shown, sampled, missing=missing)
        chances[risk.rows] = np.maximum(chances[risk.rows], risk.risk)
    return float(chances.sum())


def _groups(
    links: Mapping[tuple[int, int], Int64], size: int
) -> Iterator[tuple[tuple[int, ...], Int64]]:
    """Persons by the files whose records of them can be put together."""
    masks = np.zeros((1 + max((max(pair) for pair in links), default=0), size), dtype=np.int64)
    for (first, second), persons in links.items():
        for place in (first, second):
            masks[place, persons] |= (1 << first) | (1 << second)
    # What is linked to something linked is linked: a few rounds, as there are few files.
    for _ in range(masks.shape[0]):
        before = masks.copy()
        for place, other in itertools.product(range(masks.shape[0]), repeat=2):
            held = (masks[place] >> other) & 1 == 1
            masks[place, held] |= masks[other, held]
        if np.array_equal(before, masks):
            break
    for mask in np.unique(masks[masks > 0]).tolist():
        members = tuple(place for place in range(masks.shape[0]) if mask >> place & 1)
        persons = np.flatnonzero((masks == mask).any(axis=0))
        yield members, persons


def _links(files: Sequence[ShownFile]) -> Iterator[tuple[tuple[int, int], Int64]]:
    """For each two files the persons whose two records can be put together."""
    for first, second in itertools.combinations(range(len(files)), 2):
        yield (first, second), _linked(files[first], files[second])


def _linked(file: ShownFile, other: ShownFile) -> Int64:
    """Persons of both who are alone in each with what both tell, as coarsely as they share it."""
    both = np.intersect1d(file.rows, other.rows)
    common = [name for name in file.levels if name in other.levels]
    numbers = [name for name in file.amounts if name in other.amounts]
    if not both.size or not (common or numbers):
        return np.zeros(0, dtype=np.int64)
    combined, count = np.zeros(file.rows.size + other.rows.size, dtype=np.int64), 1
    stated = np.ones(combined.size, dtype=bool)
    for name in common:
        parts, *codes = coarsest_common(file.levels[name], other.levels[name])
        told = [each.values[name] for each in (file, other)]
        values = np.concatenate([own[shown] for own, shown in zip(codes, told, strict=True)])
        blank = [_not_stated(each.levels[name])[each.values[name]] for each in (file, other)]
        stated &= ~np.concatenate(blank)
        step = refined(combined, count, values, parts)
        combined, count = step.numbers, step.count
    for name in numbers:
        amounts = np.concatenate([file.amounts[name], other.amounts[name]])
        different, values = np.unique(amounts, return_inverse=True)
        step = refined(combined, count, values.reshape(-1), different.size)
        combined, count = step.numbers, step.count
    mine, theirs = combined[: file.rows.size], combined[file.rows.size :]
    alone = (counted(mine, count) == 1) & (counted(theirs, count) == 1)
    at_mine, at_theirs = (np.searchsorted(each.rows, both) for each in (file, other))
    same = mine[at_mine] == theirs[at_theirs]
    told_both = stated[at_mine] & stated[file.rows.size + at_theirs]
    linked: Int64 = both[same & told_both & alone[mine[at_mine]]]
    return linked


def _not_stated(level: Level) -> Mask:
    return np.array([code.kind is CodeKind.NOT_STATED for code in level.codes], dtype=bool)


def coarsest_common(level: Level, other: Level) -> tuple[int, Int64, Int64]:
    """The finest partition that both levels know: how many parts, and the part of each code.

    Single years and bands of five have the bands in common; where bands overlap, they join.
    """
    parent = list(range(len(level.codes) + len(other.codes)))

    def root(code: int) -> int:
        while parent[code] != code:
            parent[code] = parent[parent[code]]
            code = parent[code]
        return code

    for mine, theirs in set(zip(level.group, other.group, strict=True)):
        parent[root(mine)] = root(len(level.codes) + theirs)
    roots = [root(code) for code in range(len(parent))]
    number = {each: place for place, each in enumerate(dict.fromkeys(roots))}
    parts = np.array([number[each] for each in roots], dtype=np.int64)
    return len(number), parts[: len(level.codes)], parts[len(level.codes) :]
