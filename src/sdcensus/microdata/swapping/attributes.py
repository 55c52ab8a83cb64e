"""Attribute swapping: persons keep their place and exchange named attributes, as in Austria."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.method import Changes, Draws, FactTable
from sdcensus.microdata.swapping.criteria.attribute_values import (
    attribute_values,
    attribute_variables,
    check_classes,
    rule_classes,
)
from sdcensus.microdata.swapping.earlier import SwapPairs, pairs_file
from sdcensus.microdata.swapping.exchange import exchanged
from sdcensus.microdata.swapping.facts import foreseen_facts, outcome_facts
from sdcensus.microdata.swapping.levels import (
    AreaLevels,
    area_levels,
    several_areas,
    single_area,
)
from sdcensus.microdata.swapping.pairing import Rules
from sdcensus.microdata.swapping.place_swap import (
    EARLIER,
    FARTHER,
    LEAVE_OUT_IMPUTED,
    LEVELS,
    MISSING_MATCH,
    REACH,
    WITHIN,
    check_outcome,
    kept_pairs,
    outcome_notes,
    reworded_facts,
)
from sdcensus.microdata.swapping.profiles import similarity_profiles
from sdcensus.microdata.swapping.rate import pairs_for
from sdcensus.microdata.swapping.reach import levels_inside, reach_by_level
from sdcensus.microdata.swapping.risk import draw_waits, risk_by_rarity, without_risk
from sdcensus.microdata.swapping.rule_keeping import lawful_outcome
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome, search_pairs
from sdcensus.microdata.swapping.units import Exclusion, UnitTable, unit_rows, unit_table
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Code, Entity, Level, Variable
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Counter of the draws by which persons stand in order.
_OFFERING = 26
#: What classes call that edit rules see no difference.
_RULES = "edit_rules"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class _HouseholdDesign(SwapDesign):
    """Exchanges in a census that has no areas, or one: partners live in another household.

    Attributes:
        households: The household of each person; a number of its own for whoever lives in none.
    """

    households: Int64

    def rules(self, level: int, region: Level | None) -> Rules:
        """Who may be whose partner."""
        return replace(SwapDesign.rules(self, level, region), area=self.households)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AttributeSwap(Confidential):
    """Persons keep their place and exchange attributes with others of their class elsewhere.

    Attributes:
        attributes: What they exchange, all together.
        classes: In what partners are equal: lists of variables, tried in order.
        risk_variables: By what somebody is rare in an area.
        k: At risk is of whom there are fewer.
        rate: The share of persons that are touched; those at risk are exchanged beyond it.
        levels: The levels at which somebody may be at risk, from coarse to fine; all by default.
        reach: Where partners lie, by level at risk.
        within: The level inside whose areas all partners lie.
        farther: Whether the next larger region is tried where there is no partner.
        earlier: Pairs of an earlier derivation.
        missing_match: Whether persons without a value of a class match each other.
        leave_out_imputed: Whether persons with imputed values stay as they are.
    """

    attributes: tuple[str, ...]
    classes: tuple[str, ...]
    risk_variables: tuple[str, ...] = ()
    k: int = 3
    rate: float = 0.05
    levels: tuple[str, ...] = ()
    reach: tuple[str, ...] = ()
    within: str = ""
    farther: bool = False
    earlier: str | Path = ""
    missing_match: bool = False
    leave_out_imputed: bool = False

    name: ClassVar[str] = "attribute-swap"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = (
        "Persons keep their place and exchange attributes with others of their class elsewhere."
    )
    purpose: ClassVar[Purpose | None] = Purpose.SWAP
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "attributes",
            ValueKind.VARIABLES,
            "The variables of persons that are exchanged, all together.",
            required=True,
        ),
        Parameter(
            "classes",
            ValueKind.LISTS,
            "In what partners are equal, such as age@five_year,sex,activity; several lists are"
            " tried in order.",
            required=True,
        ),
        Parameter(
            "risk_variables",
            ValueKind.VARIABLES,
            "The variables by whose combinations somebody is rare in an area. Confidential.",
        ),
        Parameter(
            "k",
            ValueKind.WHOLE,
            "Who has a combination of which an area has fewer is at risk, and is exchanged."
            " Confidential.",
            default=3,
            least=0,
            needs=("risk_variables",),
        ),
        Parameter(
            "rate",
            ValueKind.SHARE,
            "The share of persons that are touched; those at risk are exchanged beyond it."
            " Confidential.",
            default=0.05,
        ),
        LEVELS,
        REACH,
        WITHIN,
        FARTHER,
        EARLIER,
        MISSING_MATCH,
        LEAVE_OUT_IMPUTED,
    )

    def __repr__(self) -> str:
        return "<AttributeSwap: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """The attributes that pairs exchange."""
        design = self._design(records, draws, progress)
        units = design.units
        earlier, before = kept_pairs(design, self.earlier)

        variables = attribute_variables(records.schema, self.attributes)
        undone = 0

        def exchange(pairs: SwapPairs) -> Changes:
            codes, amounts = exchanged(units, variables, pairs.initiators, pairs.partners)
            return Changes(codes=codes, amounts=amounts)

        def search(wanted: int) -> SwapOutcome:
            nonlocal undone
            outcome, undone = lawful_outcome(
                design,
                earlier,
                lambda design, kept: search_pairs(design, wanted, kept, progress),
                exchange,
            )
            return outcome

        outcome = search(pairs_for(self.rate, units.settled, design.draws))
        check_outcome(design, outcome, self.rate, search)
        changes = exchange(outcome.pairs)
        notes = outcome_notes(design, outcome, self.rate, earlier=before, within="", undone=undone)
        if records.schema.weight(Entity.PERSON) is not None:
            notes.append(sentence("swap.attribute.weights"))
        return replace(
            changes,
            figures={"persons exchanged": 2 * len(outcome.pairs)},
            facts=_about_attributes(outcome_facts(design, outcome, moved=False)),
            files=(pairs_file(units, outcome.pairs),),
            notes=tuple(notes),
        )

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """Persons at risk by level, and partners who are there."""
        design = self._design(records, draws, progress)
        wanted = pairs_for(self.rate, design.units.settled, design.draws)
        return _about_attributes(foreseen_facts(design, wanted))

    def _design(self, records: CensusStore, draws: Draws | None, progress: Progress) -> SwapDesign:
        assert draws is not None
        progress("looking at persons", 0.0)
        variables = attribute_variables(records.schema, self.attributes)
        check_classes(variables, self.classes)
        units = unit_table(records, Entity.PERSON, leave_out_imputed=self.leave_out_imputed)
        rules, breaking = rule_classes(units, variables)
        units = _without(units, breaking)
        levels, together = self._levels(units)
        name = units.unused_name(_RULES)
        texts = [f"{text},{name}" for text in self.classes]
        design = SwapDesign(
            units=units,
            levels=levels,
            profiles=similarity_profiles(
                units, texts, missing_match=self.missing_match, ready={name: rules}
            ),
            risk=risk_by_rarity(units, levels, self.risk_variables, self.k)
            if self.risk_variables
            else without_risk(units),
            waits=draw_waits(draws.words(units.digests, _OFFERING)),
            reach=reach_by_level(levels, self.reach, within=self.within, farther=self.farther),
            draws=draws,
            values=attribute_values(units, variables),
        )
        if not together:
            return design
        parts = {each.name: getattr(design, each.name) for each in fields(SwapDesign)}
        return _HouseholdDesign(**parts, households=_households(units))

    def _levels(self, units: UnitTable) -> tuple[AreaLevels, bool]:
        """The levels of areas that partners differ in, and whether all persons live in one area."""
        schema = units.store.schema
        leaf = units.leaf[units.movable]
        if schema.geography is None:
            return _whole_country(), True
        levels = area_levels(schema, self.levels)
        if all(single_area(level, leaf) for level in levels.levels):
            return levels, True
        levels = several_areas(levels, leaf, named=bool(self.levels))
        return (levels_inside(levels, self.within) if self.within else levels), False


def _without(units: UnitTable, breaking: Mask) -> UnitTable:
    """The same persons, of whom those who break an edit rule take no part."""
    left_out = int((units.movable & breaking).sum())
    excluded = {**units.excluded, Exclusion.BREAKS_RULE: left_out}
    return replace(
        units,
        movable=units.movable & ~breaking,
        excluded={reason: count for reason, count in excluded.items() if count},
    )


def _whole_country() -> AreaLevels:
    """One area for everybody, in a census without areas."""
    everywhere = Variable(name="country", entity=Entity.PERSON, codes=(Code("country"),))
    return AreaLevels(everywhere, (everywhere.level(),))


def _households(units: UnitTable) -> Int64:
    """The household of each person, or a number of its own."""
    schema, store = units.store.schema, units.store
    alone = np.arange(len(units))
    if schema.path(Entity.PERSON, Entity.HOUSEHOLD) is None:
        return alone
    rows = unit_rows(store, Entity.PERSON, Entity.HOUSEHOLD)[units.rows].astype(np.int64)
    return np.where(rows == NO_ROW, store.rows(Entity.HOUSEHOLD) + alone, rows)


def _about_attributes(tables: Iterable[FactTable]) -> tuple[FactTable, ...]:
    """The facts of a swap in which nobody moves."""
    return reworded_facts(tuple(tables), {"swap.titles.units": "swap.attribute.units"})
