"""Every third household with weight 3: plain sampling, the baseline of perturbation weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Changes, Draws, Fact, FactTable
from sdcensus.microdata.systematic import order_by_area, places_taken
from sdcensus.microdata.weights.perturbation_weights import (
    STRATUM_PARAMETERS,
    alone_notes,
    error_table,
    weighed_unit,
)
from sdcensus.microdata.weights.products import multiplied
from sdcensus.microdata.weights.strata import Strata, strata_of
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

#: Draws for the order of units, and for the place of the first that is taken.
_ORDER, _START = 0, 1
_SIZES = (10, 100, 1_000, 10_000, 100_000)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SystematicSample(Confidential):
    """Keeps one unit in so many, with that weight; the others go, with everything that they hold.

    Units are put in the order of their areas and, within an area, in an order that the secret
    decides; then every n-th is taken, from a start that the secret decides as well. So each unit is
    taken with the same probability, and the sample is spread over the areas as the units are.

    Attributes:
        every: One unit in so many stays, and weighs so much.
        of: The units that are sampled; households if not given.
        level: The level of areas that keep together; ``total`` for none, the finest if not given.
    """

    every: int = 3
    of: str = "households"
    level: str = ""

    name: ClassVar[str] = "systematic-sample"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Keep every third household with weight 3, or another number."
    purpose: ClassVar[Purpose | None] = Purpose.SAMPLE
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "every",
            ValueKind.WHOLE,
            "One household in so many stays, and weighs so much.",
            least=2,
            most=1000,
            default=3,
        ),
        *STRATUM_PARAMETERS,
    )

    def __repr__(self) -> str:
        return "<SystematicSample: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """Drop all but every n-th unit, and multiply the weights of those that stay."""
        assert draws is not None
        progress("putting units into order", 0.0)
        strata = self._strata(records)
        taken = self.taken(records, strata, draws)
        progress("multiplying weights", 0.6)
        factor = np.where(taken, np.uint32(self.every), np.uint32(1))
        products = multiplied(records, strata.unit, factor)
        rows = taken.size
        return Changes(
            dropped={strata.unit: np.flatnonzero(~taken)},
            amounts=products.amounts,
            added=products.added,
            weights_only=True,
            figures={f"{strata.unit.plural} kept": int(np.count_nonzero(taken))},
            facts=(self._facts(strata, rows, int(np.count_nonzero(taken))), self._errors(strata)),
            notes=alone_notes(strata.unit, products),
        )

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """How many units will stay, and the error that tables get."""
        progress("putting units into order", 0.0)
        strata = self._strata(records)
        return self._facts(strata, records.rows(strata.unit), None), self._errors(strata)

    def taken(
        self, records: CensusStore, strata: Strata, draws: Draws
    ) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which units stay."""
        digests = records.digests(strata.unit)
        earlier = sum(step.method == self.name for step in records.manifest.lineage)
        words = draws.words(digests, _ORDER, earlier)
        area = np.zeros(digests.size, np.uint32) if strata.area is None else strata.area
        order = order_by_area(area, words, digests)
        start = draws.words(np.zeros(1, dtype=np.uint64), _START, earlier)[0]
        first = int(start) % self.every
        taken = np.zeros(digests.size, dtype=bool)
        fraction = Fraction(1, self.every)
        taken[order[places_taken(digests.size, fraction, self.every - 1 - first)]] = True
        if not taken.any():
            raise SpecError(
                f"There are fewer {strata.unit.plural} than --every {self.every}, and none would"
                " stay. Say a smaller number."
            )
        return taken

    def _strata(self, records: CensusStore) -> Strata:
        if self.every < 2:
            raise SpecError("--every should be at least 2: with 1, every household stays.")
        unit = weighed_unit(records, self.of)
        return strata_of(records, unit, self.level, "")

    def _facts(self, strata: Strata, rows: int, kept: int | None) -> FactTable:
        heads = ["level", "units", "expected", *([] if kept is None else ["kept"])]
        line: list[Fact] = [strata.level, rows, round(rows / self.every, 1)]
        line += [] if kept is None else [kept]
        return FactTable(
            name="sample-size",
            title=sentence("weigh.sample.title", n=self.every),
            headings=tuple(sentence(f"weigh.sample.{head}") for head in heads),
            rows=(tuple(line),),
        )

    def _errors(self, strata: Strata) -> FactTable:
        """As for a sample without order, which is about the most that they can be."""
        errors = [(size, math.sqrt((self.every - 1) * size)) for size in _SIZES]
        return error_table(errors, strata.unit)
