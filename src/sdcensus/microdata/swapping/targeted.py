"""Targeted record swapping: units at risk in their area exchange places with others like them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Changes, Draws, FactTable
from sdcensus.microdata.swapping.coordinates import needed_places
from sdcensus.microdata.swapping.exchange import moving_variables
from sdcensus.microdata.swapping.facts import (
    foreseen_facts,
)
from sdcensus.microdata.swapping.levels import AreaLevels, area_levels, several_areas
from sdcensus.microdata.swapping.place_swap import (
    CARRY,
    EARLIER,
    FARTHER,
    LEAVE_OUT_IMPUTED,
    LEVELS,
    MISSING_MATCH,
    OF,
    REACH,
    WITHIN,
    check_outcome,
    kept_pairs,
    outcome_notes,
    place_changes,
    places_exchanged,
)
from sdcensus.microdata.swapping.profiles import PERSONS, similarity_profiles
from sdcensus.microdata.swapping.rate import pairs_for
from sdcensus.microdata.swapping.reach import levels_inside, reach_by_level
from sdcensus.microdata.swapping.risk import (
    UnitRisk,
    draw_waits,
    given_risk,
    risk_by_rarity,
    without_risk,
)
from sdcensus.microdata.swapping.rule_keeping import lawful_outcome
from sdcensus.microdata.swapping.search import (
    SwapDesign,
    SwapOutcome,
    at_risk_by_level,
    search_pairs,
)
from sdcensus.microdata.swapping.second_geographies import (
    REDERIVE,
    check_second_geographies,
)
from sdcensus.microdata.swapping.units import UnitTable, unit_table
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore

#: The counter of the draws that order units.
_ORDER = 1

_TAKES = (
    Parameter(
        "risk_variables",
        ValueKind.VARIABLES,
        "Variables, at a level if named (age@broad), whose combinations make a record rare in its"
        " area. Confidential.",
    ),
    Parameter(
        "k",
        ValueKind.WHOLE,
        "At risk is who shares its combination with fewer than so many, itself among them; 1 or 0"
        " for nobody.",
        default=3,
        least=0,
        excludes=("risks",),
    ),
    Parameter(
        "risks",
        ValueKind.VARIABLES,
        "Amounts of the store that are the risk, one for each level from coarse to fine, or one for"
        " the finest; instead of risk variables.",
        needs=("risk_above",),
        excludes=("risk_variables",),
    ),
    Parameter(
        "risk_above",
        ValueKind.NUMBER,
        "At risk is who has a larger given risk.",
        needs=("risks",),
    ),
    LEVELS,
    Parameter(
        "profiles",
        ValueKind.LISTS,
        "In what partners are alike, tried in this order: size,tenure or size~1 (differs by at most"
        " one).",
        default=(PERSONS,),
    ),
    Parameter(
        "rate",
        ValueKind.SHARE,
        "The share of the units that exchange their place. Those at risk do so even beyond it.",
        default=0.05,
    ),
    REACH,
    WITHIN,
    FARTHER,
    Parameter(
        "max_distance",
        ValueKind.WHOLE,
        "The largest distance between partners, in metres; needs a grid or a map.",
        least=1,
    ),
    CARRY,
    REDERIVE,
    MISSING_MATCH,
    OF,
    LEAVE_OUT_IMPUTED,
    EARLIER,
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TargetedSwap(Confidential):
    """Households that are rare in their area exchange their place with others like them.

    Attributes: As ``takes`` says.
    """

    risk_variables: tuple[str, ...] = ()
    k: int = 3
    risks: tuple[str, ...] = ()
    risk_above: float = 0.0
    levels: tuple[str, ...] = ()
    profiles: tuple[str, ...] = (PERSONS,)
    rate: float = 0.05
    reach: tuple[str, ...] = ()
    within: str = ""
    farther: bool = False
    max_distance: int = 0
    carry: tuple[str, ...] = ()
    rederive: tuple[str, ...] = ()
    missing_match: bool = False
    of: str = ""
    leave_out_imputed: bool = False
    earlier: str | Path = ""

    name: ClassVar[str] = "targeted-swap"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = (
        "Households that are rare in their area exchange places with households like them."
    )
    purpose: ClassVar[Purpose | None] = Purpose.SWAP
    takes: ClassVar[tuple[Parameter, ...]] = _TAKES

    def __repr__(self) -> str:
        return "<TargetedSwap: confidential>"

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """Units at risk by level, the smallest rate, partners available, who has none."""
        assert draws is not None
        design = self._design(records, draws, progress)
        progress("counting partners", 0.0)
        return foreseen_facts(design, pairs_for(self.rate, design.units.settled, draws))

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """New areas of the units that exchange places."""
        assert draws is not None
        design = self._design(records, draws, progress)
        units = design.units
        kept, before = kept_pairs(design, self.earlier)

        undone = 0

        def search(wanted: int) -> SwapOutcome:
            nonlocal undone
            outcome, undone = lawful_outcome(
                design,
                kept,
                lambda design, kept: search_pairs(design, wanted, kept, progress),
                lambda pairs: places_exchanged(units, pairs, self.carry),
            )
            return outcome

        outcome = search(pairs_for(self.rate, units.settled, draws))
        check_outcome(design, outcome, self.rate, search)
        progress("exchanging places", 0.9)
        kind = units.entity.plural
        return place_changes(
            design,
            outcome,
            carry=self.carry,
            rederive=self.rederive,
            figures={
                f"{kind} at risk": sum(at.size for at in at_risk_by_level(design)),
                f"{kind} at risk without a partner": sum(failed.size for failed in outcome.failed),
            },
            notes=outcome_notes(
                design, outcome, self.rate, earlier=before, within=self.within, undone=undone
            ),
        )

    def _design(self, records: CensusStore, draws: Draws, progress: Progress) -> SwapDesign:
        """Everything that decides who exchanges places with whom; refused before any work."""
        self._check_settings()
        named = area_levels(records.schema, self.levels)
        check_second_geographies(records.schema, carry=self.carry, rederive=self.rederive)
        progress("reading units", 0.0)
        units = unit_table(records, of=self.of, leave_out_imputed=self.leave_out_imputed)
        leaf = units.leaf[units.movable]
        levels = several_areas(named, leaf, named=bool(self.levels))
        if self.within:
            levels = levels_inside(levels, self.within)
        reach = reach_by_level(levels, self.reach, within=self.within, farther=self.farther)
        moving_variables(units, self.carry)
        profiles = similarity_profiles(units, self.profiles, missing_match=self.missing_match)
        places = needed_places(units) if self.max_distance else None
        progress("counting risk", 0.3)
        return SwapDesign(
            units=units,
            levels=levels,
            profiles=profiles,
            risk=self._risk(units, levels),
            waits=draw_waits(draws.words(units.digests, _ORDER)),
            reach=reach,
            draws=draws,
            places=places,
            farthest=self.max_distance or None,
        )

    def _check_settings(self) -> None:
        if self.risks:
            return
        if self.rate == 0 and self.k <= 1:
            raise SpecError(
                "With a rate of 0 and nobody at risk (k of 0 or 1) there is nothing to do. Name a"
                " rate, or a k of 2 or more with risk variables."
            )
        if self.k > 1 and not self.risk_variables:
            raise SpecError(
                "Nothing says who is at risk. Name the variables that make records rare"
                " (--risk-variables sex,age) or given risks (--risks VARIABLE), or say --k 1 to"
                " exchange households whoever they are."
            )

    def _risk(self, units: UnitTable, levels: AreaLevels) -> UnitRisk:
        if self.risks:
            return given_risk(units, levels, self.risks, self.risk_above)
        if self.risk_variables:
            return risk_by_rarity(units, levels, self.risk_variables, self.k)
        return without_risk(units)
