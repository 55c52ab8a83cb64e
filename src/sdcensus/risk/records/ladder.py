"""Uniques along a ladder of keys: what an intruder finds who knows one variable more at each step.

Missing values are taken as in the annex of the study: a record that does not state a key may be any
record that agrees with it on the others, and confounds those. Combinations of keys are numbered
from step to step. For missing values, the complete combinations are looked through once for each
pattern of missing keys that the file holds: time grows with patterns times combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.uniques.fitting import fitting_cells
from sdcensus.kernels.uniques.numbering import counted, refined
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.household import HouseholdRisk, Members
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.uniques import Fit, SampledCells, Uniques, sampled_cells, uniques_of

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: A bit for each key of a pattern of missing values.
_MOST_KEYS = 64


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StepRisk(Uniques):
    """What is at risk from an intruder who knows the first keys of a ladder.

    Attributes:
        keys: The keys that are known.
        households: The risk of households; ``None`` where persons have none.
    """

    keys: tuple[str, ...]
    households: HouseholdRisk | None = None

    def __repr__(self) -> str:
        return f"<StepRisk {'-'.join(self.keys)}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LadderRisk(Confidential):
    """The risk of a file at each step of a ladder.

    Attributes:
        steps: For one key, two keys, and so on; reports begin with two.
        missing: How keys that are not stated were counted.
    """

    steps: tuple[StepRisk, ...]
    missing: MissingValues = MissingValues.ADJUST

    def __repr__(self) -> str:
        return f"<LadderRisk of {len(self.steps)} steps: confidential>"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class RecordRisk(Confidential):
    """The risk of each record of a file when all keys are known.

    Attributes:
        rows: The rows of the records in the census, ascending.
        population_matches: How many of the census each may be (F*).
        sample_matches: How many of the file each may be (f*).
        sample_unique: Which of them are sample uniques.
    """

    rows: Int64
    population_matches: Floats
    sample_matches: Floats
    sample_unique: Mask

    def __repr__(self) -> str:
        return "<RecordRisk: confidential>"

    @property
    def risk(self) -> Floats:
        """The chance that a match with the record is right."""
        return 1.0 / self.population_matches


def ladder_risk(
    columns: Sequence[KeyColumn],
    sampled: Mask,
    *,
    k: int = 3,
    missing: MissingValues = MissingValues.ADJUST,
    households: Integers | None = None,
    progress: Progress = no_progress,
) -> LadderRisk:
    """The risk of a file at each step of a ladder of keys.

    Args:
        columns: The keys of every record of the census as the file tells them, in the order of the
            ladder.
        sampled: Which records the file holds.
        k: How many should share their keys in the census.
        missing: Whether "not stated" may be any value (methods 9.3), or is one of its own. "Not
            applicable" is always one of its own.
        households: The row of each record's household, for the risk of households; below 0 or
            ``NO_ROW`` for none.
        progress: Told after each step.

    Raises:
        SpecError: ``k`` is below 1, or there are more keys than a ladder may have.
    """
    if k < 1:
        raise SpecError(f"k is {k}. Say how many should share their keys, 1 or more, such as 3.")
    rows = np.flatnonzero(sampled)
    members = None if households is None else Members.of(np.asarray(households)[rows])
    steps = []
    for place, step in enumerate(_walk(columns, sampled, missing)):
        cells = step.adjusted()
        uniques = uniques_of(cells, population=sampled.size, k=k)
        risk = None
        if members is not None:
            risk = members.measured(cells.population_matches[step.places(rows)])
        counts = {each.name: getattr(uniques, each.name) for each in fields(uniques)}
        names = tuple(column.name for column in columns[: place + 1])
        steps.append(StepRisk(**counts, keys=names, households=risk))
        progress("uniques", (place + 1) / len(columns))
    return LadderRisk(steps=tuple(steps), missing=missing)


def record_risk(
    columns: Sequence[KeyColumn],
    sampled: Mask,
    *,
    missing: MissingValues = MissingValues.ADJUST,
) -> RecordRisk:
    """The risk of each record of a file when all keys are known.

    Args:
        columns: The keys of every record of the census as the file tells them.
        sampled: Which records the file holds.
        missing: As for ``ladder_risk``.
    """
    rows = np.flatnonzero(sampled)
    last = None
    for step in _walk(columns, sampled, missing):
        last = step
    if last is None:  # nobody knows anything: everybody may be anybody
        everybody, file = np.full(rows.size, float(sampled.size)), np.full(rows.size, rows.size)
        return RecordRisk(
            rows=rows,
            population_matches=everybody,
            sample_matches=file.astype(np.float64),
            sample_unique=np.full(rows.size, rows.size == 1),
        )
    cells, places = last.adjusted(), last.places(rows)
    return RecordRisk(
        rows=rows,
        population_matches=cells.population_matches[places],
        sample_matches=cells.sample_matches[places],
        sample_unique=cells.alone[places],
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Step(Confidential):
    """The combinations of the first keys.

    Attributes:
        numbers: The combination of each record of the census.
        counts: By combination how many there are in the census (row 0) and the file (row 1).
        words: By combination the codes of its keys, packed into words.
        masks: For each key the bits that hold it in the words.
        hidden: By combination a bit for each key that is missing.
        absent: By combination a bit for each key that is not applicable.
    """

    numbers: Int64
    counts: Int64
    words: UInt64
    masks: UInt64
    hidden: UInt64
    absent: UInt64

    def __repr__(self) -> str:
        return "<_Step: confidential>"

    def places(self, rows: Int64) -> Int64:
        """Where records of the file stand among the combinations that the file holds."""
        place = np.cumsum(self.counts[1] > 0) - 1
        return place[self.numbers[rows]]

    def adjusted(self) -> SampledCells:
        """The combinations that the file holds, with missing values."""
        held = np.flatnonzero(self.counts[1] > 0)
        complete = self.hidden[held] == 0
        counts = self.counts[:, held]
        if complete.all():
            return sampled_cells(counts, complete)
        return sampled_cells(counts, complete, lambda: self._fits(held))

    def _fits(self, held: Int64) -> Iterator[Fit]:
        """By pattern of missing keys the complete combinations that fit."""
        candidates = np.flatnonzero(self.hidden == 0)
        place = np.cumsum(self.counts[1] > 0) - 1
        hidden = self.hidden[held]
        for pattern in np.unique(hidden[hidden > 0]).tolist():
            here = np.flatnonzero(hidden == np.uint64(pattern))
            stated = np.zeros(self.words.shape[1], dtype=np.uint64)
            for key, mask in enumerate(self.masks):
                if not pattern >> key & 1:
                    stated |= mask
            amounts, pairs = fitting_cells(
                self.words, self.absent, candidates, held[here], stated, pattern, self.counts
            )
            yield Fit(here, amounts, place[pairs[0]], here[pairs[1]])


def _walk(columns: Sequence[KeyColumn], sampled: Mask, missing: MissingValues) -> Iterator[_Step]:
    """The combinations of the first key, the first two, and so on."""
    _check(columns, sampled)
    numbers, size = np.zeros(sampled.size, dtype=np.int64), 1
    masks = _masks([column.size for column in columns])
    words = np.zeros((1, masks.shape[1]), dtype=np.uint64)
    hidden, absent = np.zeros((2, 1), dtype=np.uint64)
    for key, column in enumerate(columns):
        values, not_stated = _values(column, missing)
        step = refined(numbers, size, values, column.size)
        numbers, size = step.numbers, step.count
        words = words[step.parents]
        word, shift = _position(masks[key])
        words[:, word] |= step.codes.astype(np.uint64) << np.uint64(shift)
        bit = np.uint64(1 << key)
        hidden = hidden[step.parents] | np.where(not_stated[step.codes], bit, np.uint64(0))
        not_applicable = column.is_kind(CodeKind.NOT_APPLICABLE)
        absent = absent[step.parents] | np.where(not_applicable[step.codes], bit, np.uint64(0))
        counts = np.stack([counted(numbers, size), counted(numbers, size, sampled)])
        yield _Step(numbers, counts, words, masks[: key + 1], hidden, absent)


def _values(column: KeyColumn, missing: MissingValues) -> tuple[Integers, Mask]:
    """The codes of a key, and which of them are missing: one code where they may be anything."""
    not_stated = column.is_kind(CodeKind.NOT_STATED)
    if missing is MissingValues.CATEGORY:
        return column.values, np.zeros_like(not_stated)
    codes = np.flatnonzero(not_stated)
    if codes.size < 2:
        return column.values, not_stated
    together = np.arange(column.size, dtype=column.values.dtype)
    together[codes] = codes[0]
    return together[column.values], not_stated


def _masks(sizes: Sequence[int]) -> UInt64:
    """For each key its bits in the words of a combination."""
    places = []
    word, shift = 0, 0
    for size in sizes:
        width = max((size - 1).bit_length(), 1)
        if shift + width > 64:
            word, shift = word + 1, 0
        places.append((word, shift, width))
        shift += width
    masks = np.zeros((len(sizes), word + 1), dtype=np.uint64)
    for key, (word, shift, width) in enumerate(places):
        masks[key, word] = np.uint64(((1 << width) - 1) << shift)
    return masks


def _position(mask: UInt64) -> tuple[int, int]:
    """The word of a key, and where its bits begin there."""
    word = int(np.flatnonzero(mask)[0])
    bits = int(mask[word])
    return word, (bits & -bits).bit_length() - 1


def _check(columns: Sequence[KeyColumn], sampled: Mask) -> None:
    """Refuse what would make a kernel count outside its arrays."""
    if len(columns) > _MOST_KEYS:
        raise SpecError(
            f"The ladder has {len(columns)} keys. It may have {_MOST_KEYS}; nobody knows so much."
        )
    for column in columns:
        values = column.values
        if values.shape != sampled.shape:
            raise SpecError(f"Key {column.name!r} has not one code for each record of the census.")
        if values.size and not 0 <= int(values.min()) <= int(values.max()) < column.size:
            raise SpecError(f"Key {column.name!r} has codes that are not in its code list.")
