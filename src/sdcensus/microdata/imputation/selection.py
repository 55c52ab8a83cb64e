"""Which records are blanked: at random, or those first that few others are like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.imputation.variables import levels_of_variables, mixed_classes
from sdcensus.microdata.method import Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.universe import universe_of
from sdcensus.store.census_store import CensusStore, all_rows_of

Integers = npt.NDArray[Any]

#: Numbers of the draws, which tell them apart for one record.
SELECTION, DONORS, PSEUDONYMS = 0, 1, 2
#: A combination is rare below so many records, where nothing is said.
USUAL_K = 3

SELECTION_PARAMETERS = (
    Parameter(
        "blank",
        ValueKind.VARIABLES,
        "The variables that are blanked and imputed anew, all of one kind of unit.",
        required=True,
    ),
    Parameter(
        "rate",
        ValueKind.SHARE,
        "Which share of the records is blanked. Confidential.",
        required=True,
    ),
    Parameter("where", ValueKind.CONDITION, "Only records for which this holds are blanked."),
    Parameter(
        "risk",
        ValueKind.VARIABLES,
        "Blank those first whose combination of these variables is rare, such as sex,age@ten_year.",
    ),
    Parameter(
        "k",
        ValueKind.WHOLE,
        "A combination that fewer records have than this is rare.",
        default=USUAL_K,
        least=1,
        needs=("risk",),
    ),
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Selection(Confidential):
    """The records that are blanked.

    Attributes:
        unit: Their kind.
        eligible: How many records could have been chosen.
        at_risk: How many of them have a rare combination; ``None`` where nobody asked.
        chosen_at_risk: How many of these are chosen.
        rows: The rows of those that are chosen, ascending.
    """

    unit: Entity
    eligible: int
    at_risk: int | None
    chosen_at_risk: int
    rows: Integers

    def __repr__(self) -> str:
        return "<Selection: confidential>"


def earlier_steps(records: CensusStore, names: Sequence[str]) -> int:
    """How many steps of its line are by these methods: the next draws anew."""
    return sum(step.method in names for step in records.manifest.lineage)


def selection_of(
    records: CensusStore,
    draws: Draws,
    blank: Sequence[Variable],
    *,
    rate: float,
    where: str,
    risk: Sequence[str],
    k: int,
    step: int,
) -> Selection:
    """Choose the records that are blanked.

    Rare ones go first, the rarest before the others; equally rare ones, and all the rest, in an
    order that the secret decides.

    Raises:
        SpecError: Nobody would be chosen.
    """
    unit = blank[0].entity
    eligible = _eligible(records, unit, where)
    number = int(Fraction(str(rate)) * eligible.size + Fraction(1, 2))
    if not number:
        raise SpecError(
            f"--rate {rate:g} blanks no record: {eligible.size:,} {unit.plural} could be chosen."
            + (" Say a larger share." if eligible.size else " Change the condition.")
        )
    digests = records.digests(unit)[eligible]
    words = draws.words(digests, SELECTION, step)
    rarity = np.zeros(eligible.size, dtype=np.int64)
    at_risk = None
    if risk:
        levels = levels_of_variables(records.schema, unit, risk, "--risk")
        columns = [(each.codes(records, unit), len(each.level.codes)) for each in levels]
        classes = mixed_classes(columns, records.rows(unit))
        _, group, counts = np.unique(classes, return_inverse=True, return_counts=True)
        alike = counts[group.reshape(-1)][eligible]
        rarity = np.minimum(alike, k)
        at_risk = int(np.count_nonzero(alike < k))
    order = np.lexsort((digests, words, rarity))
    chosen = order[:number]
    return Selection(
        unit=unit,
        eligible=int(eligible.size),
        at_risk=at_risk,
        chosen_at_risk=int(np.count_nonzero(rarity[chosen] < k)) if risk else 0,
        rows=np.sort(eligible[chosen]),
    )


def _eligible(records: CensusStore, unit: Entity, where: str) -> Integers:
    if not where:
        return np.arange(records.rows(unit), dtype=np.int64)
    universe = universe_of(where, records.schema)
    for variable in universe.variables:
        if variable.entity not in records.schema.lineage(unit):
            raise SpecError(
                f"--where: {variable.name!r} describes {variable.entity.plural}, of which one"
                f" {unit.value} may have several. Take variables of {unit.plural} or of what holds"
                " them."
            )
    return all_rows_of(universe, records, unit)
