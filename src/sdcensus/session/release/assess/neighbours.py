"""What a neighbour finds in a file who knows the members of a household, and what would help."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.release.sample import household_sizes
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import LargeHouseholds, ReleasePlan, RiskRules
from sdcensus.model.schema.roles import IndicatorRole, recognised
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.model.sentences import sentence
from sdcensus.report.release.results import CompositionRisk
from sdcensus.risk.records.composition import composition_risk
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.sample_only import individual_risks
from sdcensus.session.release.assess.advice import Advice, advice_left_out
from sdcensus.session.release.assess.ladders import (
    coarser_ages,
    coarser_changes,
    variable_text,
)
from sdcensus.session.release.assess.verdict import Alternative, Change
from sdcensus.session.release.columns import households_of, shown_column

Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[Any]

#: From how many persons on households are told person by person, where coarser keys do not help.
_LARGE = (10, 8, 7, 6, 5, 4)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Known(Confidential):
    """What is known, and at which kind of unit it stands."""

    variable: FileVariable
    entity: Entity
    column: KeyColumn

    def __repr__(self) -> str:
        return "<_Known: confidential>"


class Neighbours(Confidential):
    """Who knows how many live in a household and what they are, and looks for it in the file.

    Args:
        records: The file.
        plan: What is known and counted, and what becomes of large households.
        share: The share of the population that the store holds, where it is a sample: households
            that are alone in the file are alone in the population with the chance of Benedetti and
            Franconi.
    """

    def __init__(self, records: FileRecords, plan: ReleasePlan, share: float | None = None) -> None:
        design, store, rules = records.design, records.store, plan.risk
        self._records, self._plan, self._share = records, plan, share
        households = households_of(store)
        known = known_of_members(design, rules, store.schema)
        if households is None or Entity.HOUSEHOLD not in records.sample.rows:
            known = ()
        # The finest one first: coarser groups of it would help most.
        self._members = tuple(sorted(known, key=lambda each: -len(each.level.codes)))
        self._known: tuple[_Known, ...] = ()
        if households is None or not known:
            return
        self._households: Integers = households
        self._sampled = records.sample.taken(Entity.HOUSEHOLD, store.rows(Entity.HOUSEHOLD))
        areas = [each for each in design.geographies if each not in known]
        # Areas that persons have themselves are known of each member, as ages and sexes are.
        of_persons = [each for each in areas if each.entity is Entity.PERSON]
        of_homes = [each for each in areas if each.entity is not Entity.PERSON]
        self._known = (
            *(self._shown(each, Entity.PERSON) for each in (*self._members, *of_persons)),
            *(self._shown(each, Entity.HOUSEHOLD) for each in of_homes),
        )

    def __repr__(self) -> str:
        return "<Neighbours: confidential>"

    def _shown(self, variable: FileVariable, entity: Entity) -> _Known:
        return _Known(variable, entity, shown_column(self._records, variable, entity))

    @cached_property
    def risk(self) -> CompositionRisk | None:
        """How many households are found; ``None`` where there are none, or nothing is known."""
        return self._risk(self._known, self._sampled) if self._known else None

    def notes(self) -> Iterator[Sentence]:
        """That nobody measured what a neighbour finds, where the file tells households."""
        if not self._known and Entity.HOUSEHOLD in self._records.sample.rows:
            yield sentence("release.aside.neighbour")

    def _risk(self, known: Sequence[_Known], sampled: Mask) -> CompositionRisk:
        rules = self._plan.risk
        risk = composition_risk(
            [each.column for each in known if each.entity is Entity.PERSON],
            self._households,
            sampled,
            places=[each.column for each in known if each.entity is not Entity.PERSON],
            k=rules.k,
            missing=rules.missing,
        )
        result = CompositionRisk(
            known=tuple(map(variable_text, self._members)),
            households=risk.records,
            sample_uniques=risk.sample_uniques,
            population_uniques=risk.population_uniques,
            not_anonymous=risk.not_anonymous,
            expected_matches=risk.expected_matches,
            global_risk=risk.global_risk,
            prosecutor_risk=risk.prosecutor_risk,
            journalist_risk=risk.journalist_risk,
        )
        return result if self._share is None else self._modelled(result, sampled, self._share)

    def _modelled(self, risk: CompositionRisk, sampled: Mask, share: float) -> CompositionRisk:
        fraction = share * sampled.mean() if sampled.any() else share
        chances = individual_risks(np.ones(1), np.array([fraction]))
        alone = risk.sample_uniques
        return replace(
            risk,
            population_uniques=round(alone * fraction),
            not_anonymous=None,
            expected_matches=float(alone * chances[0]),
            global_risk=None,
            journalist_risk=float(chances[0]) if alone else None,
        )

    # ---------------------------------------------------------------- what would help

    def alternatives(self, progress: Progress = no_progress) -> Iterator[Alternative]:
        """Coarser keys, one or several; where they may not do, large households told apart."""
        single: list[tuple[Change, int, _Known | None]] = []
        for place in range(len(self._known)):
            progress("looking for what would help", place / len(self._known))
            single += [(change, place, known) for change, known in self._changes(place)]
        measured: list[tuple[int, int]] = []
        for at, (change, place, known) in enumerate(single):
            risk = self._risk(self._with({place: known}), self._sampled)
            measured.append((risk.population_uniques, at))
            yield Alternative((change,), risk)
        changed: dict[int, Change] = {}
        told: dict[int, _Known | None] = {}
        for _, at in sorted(measured):
            change, place, known = single[at]
            if place in told:
                continue
            changed[place], told[place] = change, known
            if len(changed) > 1:
                risk = self._risk(self._with(told), self._sampled)
                yield Alternative(tuple(changed.values()), risk)
        if self._share is None:
            yield from self._apart([(change, place, known) for change, place, known in single])

    def _with(self, changed: dict[int, _Known | None]) -> list[_Known]:
        every = [changed.get(at, known) for at, known in enumerate(self._known)]
        return [each for each in every if each is not None]

    def _changes(self, place: int) -> Iterator[tuple[Change, _Known | None]]:
        known, design = self._known[place], self._records.design
        variable = known.variable
        age = indicator_name(self._records.store.schema, IndicatorRole.AGE)
        ways = [*coarser_changes(design, variable, known.column)]
        if variable.source.name == age:
            ways += coarser_ages(design, variable, known.column)
        for change, column in ways:
            yield change, replace(known, column=column)
        if Role.GEOGRAPHY in (variable.source.role, variable.role):
            left_out = advice_left_out(design, variable)
            yield Change(variable_text(variable), advice=left_out), None

    def _apart(self, single: Sequence[tuple[Change, int, _Known | None]]) -> Iterator[Alternative]:
        """Large households told person by person, alone and with each coarser key.

        Another sample would be drawn: what is expected of it is counted in the whole census.
        """
        sizes = household_sizes(self._records.store)
        plan, fraction = self._plan, float(self._records.design.design.fraction)
        apart = plan.large is LargeHouseholds.APART
        least = plan.large_above if apart and plan.large_above is not None else math.inf
        for above in (number for number in _LARGE if number < least):
            text = f'[large_households] above = {above}, treatment = "{LargeHouseholds.APART}"'
            large = Change(advice=Advice(text), above=above)
            small = (sizes > 0) & (sizes <= above)
            ways: list[tuple[tuple[Change, ...], dict[int, _Known | None]]] = [((), {})]
            ways += [((change,), {place: known}) for change, place, known in single]
            for changes, told in ways:
                risk = self._risk(self._with(told), small)
                expected = replace(
                    risk,
                    households=math.floor(fraction * risk.households),
                    population_uniques=math.ceil(fraction * risk.population_uniques),
                )
                yield Alternative((*changes, large), expected, margin=True)


def indicator_name(schema: Schema, role: IndicatorRole) -> str:
    """The name of the variable that has a role, as the schema says or as it is called."""
    variable = recognised(schema.variables, role)
    return dict(schema.roles).get(role) or (variable.name if variable is not None else "")


def known_of_members(
    design: FileDesign, rules: RiskRules, schema: Schema
) -> tuple[FileVariable, ...]:
    """What a neighbour knows of each member: what the plan names, else age and sex."""
    names = [name.partition("@")[0] for name in rules.composition]
    names = names or [indicator_name(schema, role) for role in IndicatorRole]
    return tuple(each for each in design.of(Entity.PERSON) if each.source.name in names)
