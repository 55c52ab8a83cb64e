"""The search for donors: classes of records that match, coarsened step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.records.donors import nearest_donors
from sdcensus.microdata.imputation.rules import ForbiddenValues
from sdcensus.microdata.imputation.variables import LevelOfVariable, mixed_classes
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
UInt64 = npt.NDArray[np.uint64]

#: The word for the whole country among levels of areas.
WHOLE = "total"


class Failure(StrEnum):
    """Why a record has got no donor."""

    NONE = "none"
    USED = "used"
    RULES = "rules"


@dataclass(frozen=True, slots=True)
class SearchStep:
    """One step of the search: how many of the matching variables agree, and in which areas.

    Attributes:
        agreeing: How many variables agree, the first ones.
        area: The level of areas in which donor and record lie together; ``None`` for the country.
        order: The variable after these, by whose distance donors are put in order.
    """

    agreeing: int
    area: Level | None
    order: LevelOfVariable | None

    @property
    def place(self) -> str:
        """The level of areas as it was named."""
        return WHOLE if self.area is None else self.area.name


def search_steps(
    match: Sequence[LevelOfVariable], areas: Sequence[Level | None], least: int
) -> Iterator[SearchStep]:
    """The steps in their order: what is nearest first, and of that what lies nearest."""
    for agreeing in range(len(match), least - 1, -1):
        order = match[agreeing] if agreeing < len(match) else None
        for area in areas:
            yield SearchStep(agreeing, area, order)


def areas_of(schema: Schema, unit: Entity, names: Sequence[str]) -> tuple[Level | None, ...]:
    """The levels in which donors are looked for, one after the other.

    Without names: the levels of the first hierarchy of the geography from the finest on, and then
    the country.
    """
    geography = schema.geography
    known = geography is not None and schema.path(unit, geography.entity) is not None
    if geography is None or not known:
        wrong = [name for name in names if name != WHOLE]
        if wrong:
            raise SpecError(
                f"--donor-areas: {unit.plural} have no areas, so there is no level {wrong[0]!r}."
                f" Say --donor-areas {WHOLE}, or leave it out."
            )
        return (None,)
    if not names:
        finest = geography.level()
        above = geography.hierarchies[0].levels if geography.hierarchies else ()
        plain = [level for level in above if not level.universe and level is not finest]
        return (finest, *plain, None)
    return tuple(None if name == WHOLE else geography.level(name) for name in names)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Recipients(Confidential):
    """The blanked records, in the order in which they look for donors.

    Attributes:
        rows: Their rows.
        place: For each its row among the forbidden combinations.
        words: Their random words, ascending.
    """

    rows: Integers
    place: Integers
    words: UInt64

    def __repr__(self) -> str:
        return "<Recipients: confidential>"

    @classmethod
    def ordered(cls, rows: Integers, words: UInt64, digests: UInt64) -> Recipients:
        """The records in the order of their words."""
        order = np.lexsort((digests, words))
        return cls(rows[order], order.astype(np.int64), words[order])

    def without(self, done: Integers) -> Recipients:
        """Those that have no donor yet."""
        return Recipients(self.rows[~done], self.place[~done], self.words[~done])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Donations(Confidential):
    """Who gave to whom.

    Attributes:
        donors: For each blanked record, in the order of its row, the row of its donor; -1 for none.
        steps: For each the number of the step at which it was found; -1 for none.
        failures: For each without a donor why; empty for the others.
        taken: For each step how many donors it found.
    """

    donors: Integers
    steps: Integers
    failures: tuple[str, ...]
    taken: tuple[tuple[SearchStep, int], ...]

    def __repr__(self) -> str:
        return "<Donations: confidential>"


class DonorSearch(Confidential):
    """Looks for donors of blanked records in one store."""

    def __init__(
        self,
        records: CensusStore,
        unit: Entity,
        match: Sequence[LevelOfVariable],
        areas: Sequence[Level | None],
        least: int,
    ) -> None:
        self._records, self._unit = records, unit
        self._size = records.rows(unit)
        self.steps = tuple(search_steps(match, areas, least))
        self._match = [(each.codes(records, unit), len(each.level.codes)) for each in match]
        self._codes = {each.text: self._match[at][0] for at, each in enumerate(match)}

    def __repr__(self) -> str:
        return "<DonorSearch: confidential>"

    def classes(self, step: SearchStep) -> Integers:
        """For each record its class: the same for records that match at this step."""
        columns = list(self._match[: step.agreeing])
        if step.area is not None:
            geography = self._records.schema.geography
            assert geography is not None
            leaves = self._records.column(self._unit, geography)[slice(0, self._size)]
            columns.insert(0, (step.area.group_array[leaves], len(step.area.codes)))
        return mixed_classes(columns, self._size)

    def _ranks(self, step: SearchStep) -> Integers:
        ranks = None if step.order is None else step.order.ranks
        if step.order is None or ranks is None:
            return np.zeros(self._size, dtype=np.int64)
        return ranks[self._codes[step.order.text]]

    def available(self, rows: Integers, donors: Integers) -> list[tuple[SearchStep, int]]:
        """For each step how many records have any donor in their class, used or not."""
        numbers = []
        for step in self.steps:
            classes = self.classes(step)
            numbers.append((step, int(np.isin(classes[rows], classes[donors]).sum())))
        return numbers

    def run(
        self,
        recipients: Recipients,
        donors: Integers,
        words: UInt64,
        uses: int,
        forbidden: ForbiddenValues,
        combinations: Integers,
        progress: Progress,
    ) -> Donations:
        """Find a donor for each blanked record.

        Args:
            recipients: The records, in their order.
            donors: The rows of those that may give, ascending.
            words: Their random words.
            uses: How often each may give.
            forbidden: What the records must not become.
            combinations: For each donor its combinations of values, by rule.
            progress: Told how far it is.
        """
        size = recipients.rows.size
        left = np.full(donors.size, uses, dtype=np.int64)
        donor = np.full(size, -1, dtype=np.int64)
        steps = np.full(size, -1, dtype=np.int64)
        taken = []
        waiting = recipients
        for number, step in enumerate(self.steps):
            if not waiting.rows.size:
                break
            progress("looking for donors", number / len(self.steps))
            chosen = self._step(step, waiting, donors, words, left, forbidden, combinations)
            done = chosen >= 0
            donor[waiting.place[done]] = chosen[done]
            steps[waiting.place[done]] = number
            taken.append((step, int(done.sum())))
            waiting = waiting.without(done)
        failures = [""] * size
        if waiting.rows.size:
            self._explain(waiting, donors, left, failures)
        rows = np.where(donor >= 0, donors[donor], -1)
        return Donations(rows, steps, tuple(failures), tuple(taken))

    def _step(
        self,
        step: SearchStep,
        waiting: Recipients,
        donors: Integers,
        words: UInt64,
        left: Integers,
        forbidden: ForbiddenValues,
        combinations: Integers,
    ) -> Integers:
        classes, ranks = self.classes(step), self._ranks(step)
        wanted = np.unique(classes[waiting.rows])
        place = np.minimum(np.searchsorted(wanted, classes[donors]), wanted.size - 1)
        free = np.flatnonzero((wanted[place] == classes[donors]) & (left > 0))
        digests = self._records.digests(self._unit)[donors[free]]
        keys = (digests, words[free], ranks[donors[free]], place[free])
        free = free[np.lexsort(keys)]
        of_class = np.searchsorted(wanted, classes[waiting.rows])
        chosen = np.full(waiting.rows.size, -1, dtype=np.int64)
        nearest_donors(
            np.searchsorted(place[free], of_class, side="left"),
            np.searchsorted(place[free], of_class, side="right"),
            ranks[waiting.rows],
            waiting.words,
            ranks[donors[free]],
            words[free],
            free,
            left,
            waiting.place,
            forbidden.forbidden,
            combinations,
            chosen,
        )
        return chosen

    def _explain(
        self, waiting: Recipients, donors: Integers, left: Integers, failures: list[str]
    ) -> None:
        """Why records have no donor, by what the last and largest step has for them."""
        classes = self.classes(self.steps[-1])
        any_donor = np.isin(classes[waiting.rows], classes[donors])
        any_left = np.isin(classes[waiting.rows], classes[donors[left > 0]])
        for place, known, free in zip(waiting.place, any_donor, any_left, strict=True):
            reason = Failure.RULES if free else Failure.USED if known else Failure.NONE
            failures[int(place)] = reason.value
