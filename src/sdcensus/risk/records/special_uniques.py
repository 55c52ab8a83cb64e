"""Special uniques (SUDA): records that few keys already single out.

A minimal sample unique of a record is a set of keys on which it is alone, while it is alone on no
smaller set within. The fewer keys such a set has, and the more such sets, the easier the record is
found. All sets are searched, exactly; Elliot, Manning and Ford (2002) have named the scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.records.special_uniques import (
    OPEN,
    minimal_ones,
    split_groups,
    split_sizes,
)
from sdcensus.kernels.uniques.numbering import combined
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.key_column import Integers, KeyColumn

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: Of records that share all keys in pairs this share is thought to be known to an intruder.
DISCLOSURE_FRACTION = 0.1
#: More keys have more sets than a computer goes through, and scores that no number holds.
MOST_KEYS = 20
#: Records in groups, lookalikes included: more do not fit into memory.
MOST_PLACES = 200_000_000


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class SpecialUniques(Confidential):
    """What SUDA says about records.

    Attributes:
        keys: The names of the keys.
        most: The largest set that was searched.
        missing: How keys that are not stated were counted.
        by_size: How many minimal sets there are of one key, of two, and so on.
        scores: For each record the sum of (m - k)! over its minimal sets, of k of the m keys.
        normalised: The sum of (2^(m-k) - 1) k! (m-k)! / m! over the same.
        disclosure: For each record the estimated chance that a match with it is right (DIS).
        contributions: For each key the share of all scores from sets that contain it.
        pairs: For each two keys the share from sets that contain both.
        needed: For each key the share of uniques that are alone only with it: all their minimal
            sets contain it.
        needed_pairs: For each two keys the share of uniques all of whose sets contain both.
        uniques: How many records have a minimal set.
        in_pairs: How many records share all their keys with exactly one other.
    """

    keys: tuple[str, ...]
    most: int
    missing: MissingValues
    by_size: tuple[int, ...]
    scores: Int64
    normalised: Floats
    disclosure: Floats
    contributions: Floats
    pairs: Floats
    needed: Floats
    needed_pairs: Floats
    uniques: int
    in_pairs: int

    def __repr__(self) -> str:
        return f"<SpecialUniques of {', '.join(self.keys)}: confidential>"

    def above(self, disclosure: float) -> int:
        """How many records have a larger chance than this that a match is right."""
        return int(np.count_nonzero(self.disclosure > disclosure))


def special_uniques(
    columns: Sequence[KeyColumn],
    *,
    most: int | None = None,
    disclosure_fraction: float = DISCLOSURE_FRACTION,
    missing: MissingValues = MissingValues.ADJUST,
    progress: Progress = no_progress,
) -> SpecialUniques:
    """Find every minimal sample unique of every record, and score records by them.

    With ``MissingValues.ADJUST`` a key that is not stated may be any valid value: such a record
    keeps others from being alone, and is itself singled out only by keys that it states. With
    ``CATEGORY`` "not stated" is a value like others.

    Args:
        columns: The keys of the records of a file.
        most: The largest number of keys in a set; all of them by default.
        disclosure_fraction: The share of records in pairs that an intruder is thought to know.
        missing: How keys that are not stated are counted.
        progress: Told how far it is.

    Raises:
        SpecError: There are no keys or too many, or a number that makes no sense.
    """
    largest = _checked(columns, most, disclosure_fraction)
    # Keys of few codes are split last: few lookalikes differ in what is then left.
    order = sorted(range(len(columns)), key=lambda key: columns[key].size)
    search = _Search.of([columns[key] for key in order], missing, largest)
    search.run(progress)
    return _scored(search, columns, order, disclosure_fraction, missing)


def _checked(columns: Sequence[KeyColumn], most: int | None, disclosure_fraction: float) -> int:
    if not columns:
        raise SpecError("Special uniques need at least one key. Name keys in the ladder.")
    if len(columns) > MOST_KEYS:
        raise SpecError(
            f"Special uniques are searched for at most {MOST_KEYS} keys, and {len(columns)} are"
            " named. Name fewer."
        )
    if most is not None and most < 1:
        raise SpecError(f"Sets of at most {most} keys hold nothing. Say 1 or more.")
    if not 0 < disclosure_fraction <= 1:
        raise SpecError(
            f"The disclosure fraction is {disclosure_fraction}. Say a share above 0 and at most 1,"
            " such as 0.1."
        )
    return len(columns) if most is None else min(most, len(columns))


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """Records that agree on some keys, group by group."""

    records: Integers
    starts: Int64
    members: Int64


@dataclass(slots=True, eq=False)
class _Search:
    """A walk over all sets of keys in the order of their bits: every set after its subsets.

    A set is reached from the one without its lowest bit, whose groups are split once more.
    """

    values: list[Integers]
    valid: list[npt.NDArray[np.bool_]]
    likenesses: list[Integers]
    largest: int
    heads: Int64
    masks: Int64 = field(default_factory=lambda: np.empty(1024, dtype=np.int64))
    nexts: Int64 = field(default_factory=lambda: np.empty(1024, dtype=np.int64))
    owners: Int64 = field(default_factory=lambda: np.empty(1024, dtype=np.int64))
    filled: int = 0

    @classmethod
    def of(cls, columns: Sequence[KeyColumn], missing: MissingValues, largest: int) -> _Search:
        values, valid = [], []
        for column in columns:
            codes: Integers = column.values.astype(np.int32)
            if missing is MissingValues.ADJUST:
                codes = np.where(column.is_kind(CodeKind.NOT_STATED)[codes], OPEN, codes)
            values.append(np.ascontiguousarray(codes, dtype=np.int32))
            valid.append(column.is_kind(CodeKind.VALID))
        size = columns[0].values.size
        likenesses = [
            combined([own + 1 for own in values[: key + 1]], size)[0] for key in range(len(values))
        ]
        return cls(values, valid, likenesses, largest, np.full(size, OPEN, dtype=np.int64))

    def run(self, progress: Progress) -> None:
        """Find all minimal sets of at most the largest size."""
        everybody = self.everybody()
        if not everybody.records.size:
            return
        keys = len(self.values)
        for key in range(keys):
            progress("looking for special uniques", key / keys)
            self._visit(everybody, 0, key, 1)

    def everybody(self) -> _Groups:
        """All records in one group."""
        size = self.heads.size
        records = np.arange(size, dtype=np.int32)
        ends = np.array([0, size], dtype=np.int64)
        return _Groups(records, ends, np.array([size], dtype=np.int64))

    def _visit(self, groups: _Groups, above: int, key: int, depth: int) -> None:
        mask = above | 1 << key
        finer, alone = self.split(groups, key, self._ends(key), 1)
        self._note(alone, mask)
        if depth < self.largest and finer.members.size:
            for lower in range(key):
                self._visit(finer, mask, lower, depth + 1)

    def split(
        self, groups: _Groups, key: int, ends: npt.NDArray[np.bool_], limit: int
    ) -> tuple[_Groups, Integers]:
        """The groups split by a key, and the records that are alone now."""
        valid = self.valid[key]
        counts, alikes, closed = np.zeros((3, valid.size), dtype=np.int64)
        values = self.values[key]
        places, number, singles = split_sizes(
            groups.records, groups.starts, groups.members, values, valid, ends,
            self.likenesses[key], counts, alikes, closed, limit,
        )  # fmt: skip
        if places > MOST_PLACES:
            raise SpecError(
                "Too many keys are not stated to count them as any value. Count them as a category"
                ' ([risk] missing = "category"), or leave out the keys that are stated least.'
            )
        records = np.empty(places, dtype=np.int32)
        starts = np.zeros(number + 1, dtype=np.int64)
        members = np.empty(number, dtype=np.int64)
        alone = np.empty(singles, dtype=np.int32)
        split_groups(
            groups.records, groups.starts, groups.members, values, valid, ends,
            self.likenesses[key], counts, alikes, closed, limit, records, starts, members, alone,
        )  # fmt: skip
        return _Groups(records, starts, members), alone

    def _ends(self, key: int) -> npt.NDArray[np.bool_]:
        """Which records leave all keys open by which groups are split after this one.

        A record that does not say may not be one to whom the key does not apply.
        """
        ends = np.ones(self.heads.size, dtype=bool)
        for lower in range(key):
            ends &= (self.values[lower] == OPEN) & bool(self.valid[lower].all())
        return ends

    def _note(self, alone: Integers, mask: int) -> None:
        """Keep the set for records that have no minimal set within it."""
        if not alone.size:
            return
        chosen = alone[minimal_ones(alone, mask, self.heads, self.nexts, self.masks)]
        end = self.filled + chosen.size
        if end > self.masks.size:
            size = max(end, 2 * self.masks.size)
            self.masks, self.nexts, self.owners = (
                np.resize(array, size) for array in (self.masks, self.nexts, self.owners)
            )
        self.masks[self.filled : end] = mask
        self.owners[self.filled : end] = chosen
        self.nexts[self.filled : end] = self.heads[chosen]
        self.heads[chosen] = np.arange(self.filled, end)
        self.filled = end

    def in_pairs(self) -> int:
        """How many records that state all keys share them with exactly one other."""
        groups = self.everybody()
        for key in reversed(range(len(self.values))):
            if not groups.members.size:
                return 0
            groups, _ = self.split(groups, key, self._ends(key) if key else self._nobody(), 2)
        sizes = np.diff(groups.starts)
        return int(groups.members[sizes == 2].sum())

    def _nobody(self) -> npt.NDArray[np.bool_]:
        return np.zeros(self.heads.size, dtype=bool)


def _scored(
    search: _Search,
    columns: Sequence[KeyColumn],
    order: Sequence[int],
    disclosure_fraction: float,
    missing: MissingValues,
) -> SpecialUniques:
    keys, size = len(columns), columns[0].values.size
    masks, owners = search.masks[: search.filled], search.owners[: search.filled]
    sizes = np.bitwise_count(masks.astype(np.uint64)).astype(np.int64)
    weights = np.array([0, *_set_scores(keys)], dtype=np.int64)[sizes]
    shares = np.array([0.0, *_normalised_scores(keys)])[sizes]
    scores = np.zeros(size, dtype=np.int64)
    np.add.at(scores, owners, weights)
    normalised = np.bincount(owners, weights=shares, minlength=size).astype(np.float64)
    # Whole numbers add up exactly, in any order.
    total = sum(weights.tolist())
    together = np.zeros((keys, keys))
    for first in range(keys):
        for second in range(first, keys):
            both = (masks >> first) & (masks >> second) & 1
            part = sum(weights[both == 1].tolist())
            together[first, second] = together[second, first] = part / total if total else 0.0
    common = np.full(size, -1, dtype=np.int64)
    np.bitwise_and.at(common, owners, masks)
    common = common[scores > 0]
    needed = np.array(
        [
            [np.mean((common >> first) & (common >> second) & 1) for second in range(keys)]
            if common.size
            else [0.0] * keys
            for first in range(keys)
        ]
    )
    # Back to the order in which keys were named.
    places = np.argsort(order)
    together, needed = together[np.ix_(places, places)], needed[np.ix_(places, places)]
    in_pairs = search.in_pairs() if size else 0
    by_size = np.bincount(sizes, minlength=keys + 1)[1 : search.largest + 1]
    return SpecialUniques(
        keys=tuple(column.name for column in columns),
        most=search.largest,
        missing=missing,
        by_size=tuple(int(count) for count in by_size),
        scores=scores,
        normalised=normalised,
        disclosure=_disclosure(scores, in_pairs, keys, disclosure_fraction),
        contributions=together.diagonal().copy(),
        pairs=together,
        needed=needed.diagonal().copy(),
        needed_pairs=needed,
        uniques=int(np.count_nonzero(scores)),
        in_pairs=in_pairs,
    )


def _set_scores(keys: int) -> Iterator[int]:
    """What a set of one key counts, of two, and so on."""
    for size in range(1, keys + 1):
        yield math.factorial(keys - size)


def _normalised_scores(keys: int) -> Iterator[float]:
    for size in range(1, keys + 1):
        yield (2 ** (keys - size) - 1) / math.comb(keys, size)


def _disclosure(scores: Int64, in_pairs: int, keys: int, disclosure_fraction: float) -> Floats:
    """The chance of a right match with each record, from all pairs and uniques of the file."""
    chances = np.zeros(scores.size)
    special = scores > 0
    uniques = int(np.count_nonzero(special))
    if not uniques:
        return chances
    known = uniques * disclosure_fraction
    overall = known / (known + in_pairs * (1 - disclosure_fraction))
    powers = scores[special].astype(np.float64) ** (1 + (8 - keys) / 20)
    odds = (uniques / overall - uniques) / (powers * np.sum(1 / powers))
    chances[special] = 1 / (1 + odds)
    return chances
