"""Uniques along a ladder of keys: what an intruder finds who knows one variable more at each step.

Missing values are taken as in the annex of the study: a record that does not state a key may be any
record that agrees with it on the others, and confounds those. Combinations of keys are numbered
from step to step. For missing values, the complete combinations are looked through once for each
pattern of missing keys that the file holds: time grows with patterns times combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import MissingValues
from sdcensus.risk.records.combinations import Combinations, combinations, steps_of
from sdcensus.risk.records.household import HouseholdRisk, Members
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.uniques import Uniques, uniques_of

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


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
    measured = StepMeasure(sampled, households, k)
    steps = []
    for place, step in enumerate(steps_of(columns, sampled, missing)):
        names = tuple(column.name for column in columns[: place + 1])
        steps.append(measured.step(step, names))
        progress("uniques", (place + 1) / len(columns))
    return LadderRisk(steps=tuple(steps), missing=missing)


def whole_risk(
    columns: Sequence[KeyColumn],
    sampled: Mask,
    *,
    k: int = 3,
    missing: MissingValues = MissingValues.ADJUST,
    households: Integers | None = None,
) -> StepRisk:
    """The last step of a ladder alone, without those before it; arguments as there."""
    measured = StepMeasure(sampled, households, k)
    names = tuple(column.name for column in columns)
    return measured.step(combinations(columns, sampled, missing), names)


class StepMeasure:
    """What is counted of the combinations of keys in a file.

    Args:
        sampled: Which records of the census the file holds.
        households: The row of each record's household, as for ``ladder_risk``.
        k: How many should share their keys.
    """

    def __init__(self, sampled: Mask, households: Integers | None, k: int) -> None:
        if k < 1:
            raise SpecError(
                f"k is {k}. Say how many should share their keys, 1 or more, such as 3."
            )
        self._k, self._population = k, sampled.size
        self._rows = np.flatnonzero(sampled)
        self._members = None
        if households is not None:
            self._members = Members.of(np.asarray(households)[self._rows])

    def __repr__(self) -> str:
        return "<StepMeasure: confidential>"

    def step(self, keys: Combinations, names: tuple[str, ...]) -> StepRisk:
        """The risk from an intruder who knows these keys."""
        cells = keys.adjusted()
        uniques = uniques_of(cells, population=self._population, k=self._k)
        risk = None
        if self._members is not None:
            risk = self._members.measured(cells.population_matches[keys.places(self._rows)])
        counts = {each.name: getattr(uniques, each.name) for each in fields(uniques)}
        return StepRisk(**counts, keys=names, households=risk)


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
    whole = combinations(columns, sampled, missing)
    cells, places = whole.adjusted(), whole.places(rows)
    return RecordRisk(
        rows=rows,
        population_matches=cells.population_matches[places],
        sample_matches=cells.sample_matches[places],
        sample_unique=cells.alone[places],
    )
