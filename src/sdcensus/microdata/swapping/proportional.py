"""Swapping with probability in proportion to the risk of a household."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.swapping.selection import select_in_proportion, shared_risk
from sdcensus.microdata.method import Changes, Draws, FactTable
from sdcensus.microdata.swapping.criteria.matching import BETWEEN, MEMBERS, member_design
from sdcensus.microdata.swapping.criteria.members import combination_counts
from sdcensus.microdata.swapping.earlier import SwapPairs, joined
from sdcensus.microdata.swapping.facts import foreseen_facts, outcome_facts
from sdcensus.microdata.swapping.pairing import find_pairs
from sdcensus.microdata.swapping.place_swap import (
    CARRY,
    EARLIER,
    FARTHER,
    LEAVE_OUT_IMPUTED,
    OF,
    WITHOUT_MINIMUM,
    check_outcome,
    kept_pairs,
    limit,
    outcome_notes,
    own_words,
    place_changes,
    places_exchanged,
    reworded,
    reworded_facts,
)
from sdcensus.microdata.swapping.risk import NOT_AT_RISK, UnitRisk
from sdcensus.microdata.swapping.rule_keeping import lawful_outcome
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome
from sdcensus.microdata.swapping.second_geographies import REDERIVE, check_second_geographies
from sdcensus.microdata.swapping.units import NO_UNIT, UnitTable, unit_table
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Counters of the draws that put units in order, and of the start of the selection.
_ORDERING, _STARTING = 24, 25
_WORDS = own_words("proportional", "selected") | {"swap.sizes.wanted": "swap.proportional.wanted"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProportionalSwap(Confidential):
    """Units are selected in proportion to their risk, and exchange places with similar ones.

    Attributes:
        risk_variables: By what the rarity of persons is counted.
        rate: The share of units that are selected.
        members: By what members are counted, of whom partners have equally many.
        within: The level inside whose areas partners lie; anywhere if nothing is said.
        between: The level in whose areas they differ; the finest if nothing is said.
        farther: Whether the next larger region is tried where there is no partner.
        carry, rederive: What goes with a place, and second geographies that follow it.
        earlier: Pairs of an earlier derivation.
        leave_out_imputed: Whether units with imputed values stay as they are.
    """

    risk_variables: tuple[str, ...]
    rate: float = 0.05
    members: tuple[str, ...] = ("sex", "age:15:65")
    within: str = ""
    between: str = ""
    farther: bool = False
    carry: tuple[str, ...] = ()
    rederive: tuple[str, ...] = ()
    earlier: str | Path = ""
    of: str = ""
    leave_out_imputed: bool = False

    name: ClassVar[str] = "proportional-swap"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = (
        "Households selected in proportion to their risk exchange their places."
    )
    purpose: ClassVar[Purpose | None] = Purpose.SWAP
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "risk_variables",
            ValueKind.VARIABLES,
            "The variables of persons by whose combinations somebody is rare; an area among them"
            " to count within areas, such as sex,age,area@district. Confidential.",
            required=True,
        ),
        Parameter(
            "rate",
            ValueKind.SHARE,
            "The share of households that are selected; partners come on top. Confidential.",
            default=0.05,
        ),
        MEMBERS,
        Parameter(
            "within",
            ValueKind.TEXT,
            "The level inside whose areas partners lie; anywhere if nothing is said.",
        ),
        BETWEEN,
        FARTHER,
        CARRY,
        REDERIVE,
        EARLIER,
        OF,
        LEAVE_OUT_IMPUTED,
    )

    def __repr__(self) -> str:
        return "<ProportionalSwap: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """The places that pairs exchange."""
        design, selected = self._design(records, draws, progress)
        earlier, before = kept_pairs(design, self.earlier)
        progress("looking for partners", 0.5)
        most = most_pairs(design, selected) if len(earlier) else None
        outcome, undone = lawful_outcome(
            design,
            earlier,
            lambda design, kept: proportional_pairs(design, selected, kept, most),
            lambda pairs: places_exchanged(design.units, pairs, self.carry),
        )
        check_outcome(design, outcome, self.rate, lambda _: outcome)
        notes = outcome_notes(
            design, outcome, self.rate, earlier=before, within=limit(design), undone=undone
        )
        # Who is selected may be the partner of another one: fewer are exchanged than asked for.
        asked = replace(outcome, wanted=int(selected.size))
        return place_changes(
            design,
            outcome,
            carry=self.carry,
            rederive=self.rederive,
            figures={f"{design.units.entity.plural} selected": int(selected.size)},
            facts=reworded_facts(outcome_facts(design, asked), _WORDS, WITHOUT_MINIMUM),
            notes=[reworded(note, _WORDS) for note in notes],
        )

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """Households that are selected, and partners who are there."""
        design, selected = self._design(records, draws, progress)
        return reworded_facts(foreseen_facts(design, int(selected.size)), _WORDS, WITHOUT_MINIMUM)

    def _design(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[SwapDesign, Int64]:
        """Who may exchange places with whom, and who is selected, in order."""
        assert draws is not None
        check_second_geographies(records.schema, carry=self.carry, rederive=self.rederive)
        progress("looking at households", 0.0)
        units = unit_table(records, of=self.of, leave_out_imputed=self.leave_out_imputed)
        design = member_design(
            units,
            draws,
            members=self.members,
            within=self.within,
            between=self.between,
            farther=self.farther,
        )
        selected = select_units(units, unit_risks(units, self.risk_variables), self.rate, draws)
        level = np.full(len(units), NOT_AT_RISK, dtype=np.int64)
        level[selected] = 0
        return replace(design, risk=UnitRisk(level, None, None)), selected


def unit_risks(units: UnitTable, risk: Sequence[str]) -> Int64:
    """The risk of each unit from how rare its persons are, in parts of ``PARTS``."""
    counts = combination_counts(units.store, Entity.PERSON, risk)
    number = units.number_of(Entity.PERSON)
    held = number != NO_UNIT
    return shared_risk(number[held], counts[held], len(units))


def select_units(units: UnitTable, risks: Int64, rate: float, draws: Draws) -> Int64:
    """The units that are selected, in the order that was drawn for them.

    As many as the rate says of all units in an area, to the nearest whole number; all that may move
    and have a risk, if there are not so many.
    """
    number = round(Fraction(str(rate)) * units.settled)
    order = np.argsort(draws.words(units.digests, _ORDERING), kind="stable")
    order = order[units.movable[order]]
    start = int(draws.words(np.zeros(1, dtype=np.uint64), _STARTING)[0])
    return order[select_in_proportion(risks[order], number, start)]


def proportional_pairs(
    design: SwapDesign, selected: Int64, earlier: SwapPairs, most: int | None = None
) -> SwapOutcome:
    """A partner for each selected unit that nobody has found before.

    Args:
        design: Who may exchange places with whom.
        selected: The units that look for a partner, in order.
        earlier: Pairs that are kept.
        most: After how many pairs, kept ones among them, nobody looks any more.
    """
    used = np.zeros(len(design.units), dtype=bool)
    used[earlier.touched] = True
    donors = design.order(0)
    parts, left = [earlier], selected
    for region in design.reach.regions[0]:
        more = left.size if most is None else max(most - sum(map(len, parts)), 0)
        pairs = find_pairs(
            design.rules(0, region), left, donors, used, turn_starts=[0], quotas=[more]
        )
        parts.append(design.found(pairs, 0, region))
        left = pairs.failed
    lasting = left[~used[left]]
    every = joined(parts)
    return SwapOutcome(every, len(earlier), (lasting,), 0, len(every))


def most_pairs(design: SwapDesign, selected: Int64) -> int:
    """How many pairs there would be if none was kept.

    One corrected record shifts the marks of the selection, and others are selected. If all of them
    looked for partners beside the pairs that are kept, every correction would exchange more.
    """
    return len(proportional_pairs(design, selected, joined([])).pairs)
