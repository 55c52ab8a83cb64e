"""Targeted record swapping: units at risk in their area exchange places with others like them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sdcensus.errors import Sentence, SpecError
from sdcensus.microdata.method import Changes, Draws, FactTable
from sdcensus.microdata.swapping.coordinates import needed_places
from sdcensus.microdata.swapping.earlier import SwapPairs, joined, pairs_file, read_pairs
from sdcensus.microdata.swapping.exchange import exchanged, moving_variables, staying_grids
from sdcensus.microdata.swapping.facts import (
    failure_counts,
    foreseen_facts,
    outcome_facts,
)
from sdcensus.microdata.swapping.levels import AreaLevels, area_levels, several_areas
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
from sdcensus.microdata.swapping.search import (
    SwapDesign,
    SwapOutcome,
    at_risk_by_level,
    qualifying,
    search_pairs,
)
from sdcensus.microdata.swapping.second_geographies import (
    REDERIVE,
    check_second_geographies,
    follow_places,
)
from sdcensus.microdata.swapping.units import UnitTable, unit_table
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.headings import entity_words
from sdcensus.store.census_store import CensusStore

#: Above this rate handbooks warn.
_MUCH = 0.10
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
        needs=("threshold",),
        excludes=("risk_variables",),
    ),
    Parameter(
        "threshold",
        ValueKind.NUMBER,
        "At risk is who has a larger given risk.",
        needs=("risks",),
    ),
    Parameter(
        "levels",
        ValueKind.VARIABLES,
        "The levels of the geography at which units may be at risk, from coarse to fine; else all.",
    ),
    Parameter(
        "profiles",
        ValueKind.LISTS,
        "In what partners are alike, tried in this order: size,tenure or size~1 (differs by at most"
        " one); else the number of persons.",
    ),
    Parameter(
        "rate",
        ValueKind.SHARE,
        "The share of the units that exchange their place. Those at risk do so even beyond it.",
        default=0.05,
    ),
    Parameter(
        "reach",
        ValueKind.LISTS,
        "Where partners lie, by the level at risk: district:parish or parish:anywhere. Else within"
        " the next larger area; of the coarsest level, anywhere.",
        excludes=("within",),
    ),
    Parameter("within", ValueKind.TEXT, "The level inside whose areas all partners lie."),
    Parameter(
        "farther",
        ValueKind.YES,
        "Who finds no partner in its region looks in the next larger one.",
    ),
    Parameter(
        "max_distance",
        ValueKind.WHOLE,
        "The largest distance between partners, in metres; needs a grid or a map.",
        least=1,
    ),
    Parameter(
        "carry",
        ValueKind.VARIABLES,
        "Variables that go with the place, and are exchanged as well.",
    ),
    REDERIVE,
    Parameter(
        "missing_match",
        ValueKind.YES,
        "Units without a value in a profile match others without one.",
    ),
    Parameter(
        "leave_out_imputed", ValueKind.YES, "Units with an imputed value stay where they are."
    ),
    Parameter(
        "earlier",
        ValueKind.FILE,
        "The pairs.csv of an earlier derivation: its pairs are kept where both still qualify.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TargetedSwap:
    """Households that are rare in their area exchange their place with others like them.

    Attributes: As ``takes`` says.
    """

    risk_variables: tuple[str, ...] = ()
    k: int = 3
    risks: tuple[str, ...] = ()
    threshold: float = 0.0
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
        moving = moving_variables(units, self.carry)
        wanted = pairs_for(self.rate, units.settled, draws)
        kept, before = self._earlier(design)
        outcome = search_pairs(design, wanted, kept, progress)
        self._check(design, outcome, kept, progress)
        pairs = outcome.pairs
        progress("exchanging places", 0.9)
        codes, amounts = exchanged(units, moving, pairs.initiators, pairs.partners)
        geography = records.schema.geography
        assert geography is not None
        followed = follow_places(
            records, codes[geography.name], carry=self.carry, rederive=self.rederive
        )
        facts = outcome_facts(design, outcome)
        figures = {
            f"{units.entity.plural} exchanged": 2 * len(pairs),
            f"{units.entity.plural} at risk": sum(at.size for at in at_risk_by_level(design)),
            f"{units.entity.plural} at risk without a partner": sum(
                failed.size for failed in outcome.failed
            ),
        }
        return Changes(
            codes={**codes, **followed.codes},
            amounts=amounts,
            figures={**figures, **followed.figures},
            facts=(*facts, *followed.facts),
            files=(pairs_file(units, pairs),),
            notes=(*self._notes(design, outcome, before), *followed.notes),
        )

    def _design(self, records: CensusStore, draws: Draws, progress: Progress) -> SwapDesign:
        """Everything that decides who exchanges places with whom; refused before any work."""
        self._check_settings()
        named = area_levels(records.schema, self.levels)
        check_second_geographies(records.schema, carry=self.carry, rederive=self.rederive)
        progress("reading units", 0.0)
        units = unit_table(records, leave_out_imputed=self.leave_out_imputed)
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
            return given_risk(units, levels, self.risks, self.threshold)
        if self.risk_variables:
            return risk_by_rarity(units, levels, self.risk_variables, self.k)
        return without_risk(units)

    def _earlier(self, design: SwapDesign) -> tuple[SwapPairs, int]:
        """Earlier pairs that are kept, and how many there were."""
        if not self.earlier:
            return joined([]), 0
        pairs, before = read_pairs(Path(self.earlier), design.units)
        return qualifying(design, pairs), before

    def _check(
        self, design: SwapDesign, outcome: SwapOutcome, kept: SwapPairs, progress: Progress
    ) -> None:
        """Refuse a rate that cannot be reached, with the largest that can, and an empty result."""
        kind = design.units.entity.plural
        if not len(outcome.pairs):
            reasons = failure_counts(design, outcome)
            why = "; ".join(
                f"{sentence(f'swap.reasons.{reason}')}: {count:,}"
                for reason, count in reasons.most_common()
            )
            raise SpecError(
                f"No {kind} would exchange their place{f' ({why})' if why else ''}. Name coarser"
                " profiles, larger regions (--farther), or a higher rate."
            )
        if not outcome.short:
            return
        reached = outcome
        for _ in range(20):  # fewer pairs are spread otherwise: what is promised has been tried
            wanted = len(reached.pairs)
            reached = search_pairs(design, wanted, kept, progress)
            if not reached.short:
                break
        largest = 2 * reached.wanted / design.units.settled
        shown = int(largest * 10**6) / 10**6
        raise SpecError(
            f"A rate of {self.rate:g} cannot be reached: too few {kind} have a partner by these"
            f" profiles and regions. The largest possible rate is {shown:g}. Name that or less,"
            " coarser profiles, or larger regions (--farther)."
        )

    def _notes(self, design: SwapDesign, outcome: SwapOutcome, before: int) -> list[Sentence]:
        """What else the office should know."""
        units = design.units
        words = entity_words(units.entity)
        notes = []
        beyond = 2 * max(len(outcome.pairs) - 1, 0) > _MUCH * units.settled
        if self.rate > _MUCH or beyond:
            notes.append(sentence("swap.notes.high"))
        failed = sum(each.size for each in outcome.failed)
        if failed:
            notes.append(sentence("swap.notes.failed", n=failed, units=words))
        if _changes_persons(units, outcome.pairs):
            notes.append(sentence("swap.notes.size"))
        if self.within:
            notes.append(sentence("swap.notes.within", level=self.within))
        if before > outcome.kept:
            notes.append(sentence("swap.notes.dropped", n=before - outcome.kept, all=before))
        notes += [
            sentence("swap.notes.grid", variable=variable.name, units=words)
            for variable in staying_grids(units)
        ]
        return notes


def _changes_persons(units: UnitTable, pairs: SwapPairs) -> bool:
    """Whether partners hold different numbers of persons."""
    if Entity.PERSON not in units.store.manifest.rows or units.entity is Entity.PERSON:
        return False
    if units.store.schema.path(Entity.PERSON, units.entity) is None:
        return False
    sizes = units.sizes(Entity.PERSON)
    return bool((sizes[pairs.initiators] != sizes[pairs.partners]).any())
