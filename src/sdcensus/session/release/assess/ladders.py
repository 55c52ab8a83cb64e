"""The risk of a design along the ladder, and with single keys left out or told more coarsely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.release.records import NO_HOLDER, FileRecords
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import MissingValues, RiskRules
from sdcensus.model.release.recoding import coarser_of
from sdcensus.model.schema.number_codes import bounds_of
from sdcensus.model.schema.roles import IndicatorRole, recognised
from sdcensus.model.schema.variable import Entity, Level
from sdcensus.model.text import Text
from sdcensus.report.release.results import LadderRow
from sdcensus.risk.records.combinations import Combinations, combinations, without_each
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.ladder import StepMeasure, StepRisk, ladder_risk
from sdcensus.risk.records.modelled import modelled_risk
from sdcensus.session.release.assess.advice import (
    advice_coarser,
    advice_intervals,
    advice_left_out,
)
from sdcensus.session.release.assess.verdict import Alternative, Change
from sdcensus.session.release.columns import households_of, shown_columns

Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[Any]

#: From which age on people are adults, and elderly, in groups that are proposed.
_ADULT, _OLD = 15, 60


class Ladders:
    """The keys of a file for every person of the census, read once.

    Args:
        records: The file.
        rules: What is measured.
        share: The share of the population that the store holds, where it is a sample: then a model
            of the keys says what nobody can count.
    """

    def __init__(self, records: FileRecords, rules: RiskRules, share: float | None = None) -> None:
        store = records.store
        self._design = records.design
        self._variables = records.design.ladder
        self._rules = rules
        self._columns = shown_columns(records)
        self._households: Integers | None = households_of_persons(records)
        self._sampled: Mask = records.sample.taken(Entity.PERSON, store.rows(Entity.PERSON))
        self._measure = StepMeasure(self._sampled, self._households, rules.k)
        self._share = share
        schema = store.schema
        roles = (recognised(schema.variables, role) for role in IndicatorRole)
        self._indispensable = {each.name for each in roles if each is not None}
        self._indispensable |= {name for _, name in schema.roles}

    def __repr__(self) -> str:
        return "<Ladders: confidential>"

    @property
    def columns(self) -> tuple[KeyColumn, ...]:
        """The keys of every person, with what the file tells of its own."""
        return self._columns

    @property
    def sampled(self) -> Mask:
        """Which persons are in the file."""
        return self._sampled

    @property
    def fraction(self) -> float:
        """The share of the census that the file holds."""
        return float(self._design.design.fraction)

    def rows(
        self, missing: MissingValues, progress: Progress = no_progress
    ) -> tuple[LadderRow, ...]:
        """The risk at each step."""
        steps = self._steps(self._columns, missing, progress)
        names = [variable_text(variable) for variable in self._variables]
        return tuple(_row(step, name) for step, name in zip(steps, names, strict=True))

    def alternatives(
        self, keys: int, missing: MissingValues, progress: Progress = no_progress
    ) -> Iterator[Alternative]:
        """A step of so many keys with one of them changed, then with several, the best first.

        A key is told at a coarser declared level, or left out. Changes of several keys are those
        that help most alone, taken together one after the other.
        """
        columns = self._columns[:keys]
        single: list[tuple[float, int, Change, KeyColumn | None]] = []
        for place, change, column, row in self._single(columns, missing, progress):
            single.append((row.expected_matches, place, change, column))
            yield Alternative((change,), row)
        single.sort(key=lambda each: each[:2])
        coarser = [each for each in single if each[3] is not None]
        # Keys that are told coarsely are worth more to users than keys that are not told.
        for helpful in (coarser, single) if coarser else (single,):
            changed: dict[int, Change] = {}
            told: dict[int, KeyColumn | None] = dict(enumerate(columns))
            for _, place, change, column in helpful:
                left = sum(each is not None for each in told.values())
                if place in changed or (column is None and left == 1):
                    continue
                changed[place], told[place] = change, column
                if len(changed) > 1:
                    known = [each for each in told.values() if each is not None]
                    yield Alternative(tuple(changed.values()), self._last(known, missing))

    def _single(
        self, columns: Sequence[KeyColumn], missing: MissingValues, progress: Progress
    ) -> Iterator[tuple[int, Change, KeyColumn | None, LadderRow]]:
        """Each key left out, and at each coarser level; the others are numbered once."""
        steps: Iterator[Combinations | None] = iter([None] * len(columns))
        if self._share is None:
            steps = iter(without_each(columns, self._sampled, missing))
        for place, step in enumerate(steps):
            progress("looking for what would help", place / len(columns))
            others = [*columns[:place], *columns[place + 1 :]]
            for change, column in self._changes(place):
                if column is None and not others:
                    continue
                if step is None:
                    row = self._last([*others, *([] if column is None else [column])], missing)
                else:
                    finer = (
                        step if column is None else step.with_key(column, self._sampled, missing)
                    )
                    row = self._row(finer, len(columns) - (column is None))
                yield place, change, column, row

    def _changes(self, place: int) -> Iterator[tuple[Change, KeyColumn | None]]:
        variable = self._variables[place]
        yield from coarser_changes(self._design, variable, self._columns[place])
        # No user wants a file of persons without age or sex.
        if variable.source.name not in self._indispensable:
            name = variable_text(variable)
            yield Change(name, advice=advice_left_out(self._design, variable)), None

    def _row(self, keys: Combinations, number: int) -> LadderRow:
        return replace(_row(self._measure.step(keys, ()), Text()), step=number)

    def _last(self, columns: Sequence[KeyColumn], missing: MissingValues) -> LadderRow:
        if self._share is not None:
            return _row(self._modelled(columns, self._share), Text())
        return self._row(combinations(columns, self._sampled, missing), len(columns))

    def _modelled(self, columns: Sequence[KeyColumn], share: float) -> StepRisk:
        return modelled_risk(
            columns, self._sampled, share, k=self._rules.k, households=self._households
        )

    def _steps(
        self, columns: Sequence[KeyColumn], missing: MissingValues, progress: Progress
    ) -> tuple[StepRisk, ...]:
        if self._share is not None:
            steps = []
            for step in range(1, len(columns) + 1):
                steps.append(self._modelled(columns[:step], self._share))
                progress("modelling the population", step / len(columns))
            return tuple(steps)
        return ladder_risk(
            columns,
            self._sampled,
            k=self._rules.k,
            missing=missing,
            households=self._households,
            progress=progress,
        ).steps


def households_of_persons(records: FileRecords) -> Integers | None:
    """The household of each person; none where the file tells a person without the household."""
    households = households_of(records.store)
    if households is None or Entity.HOUSEHOLD not in records.sample.rows:
        return households
    inside = np.asarray(households).astype(np.int64)
    size = records.store.rows(Entity.HOUSEHOLD)
    told = np.append(records.sample.taken(Entity.HOUSEHOLD, size), False)
    apart = ~told[np.where((inside < 0) | (inside >= size), size, inside)]
    rows = records.sample.rows[Entity.PERSON]
    inside[rows[apart[rows]]] = NO_HOLDER
    return inside


def coarser_changes(
    design: FileDesign, variable: FileVariable, column: KeyColumn
) -> Iterator[tuple[Change, KeyColumn]]:
    """A key at each declared level that is coarser than what the file tells."""
    for level in _coarser(variable):
        label = variable.source.level_label(level.name) or Text.of(level.name)
        advice = advice_coarser(design, variable, level)
        if advice is not None:
            change = Change(variable_text(variable), label, advice)
            yield change, coarsen_key(column, variable, level)


def coarser_ages(
    design: FileDesign, variable: FileVariable, column: KeyColumn
) -> Iterator[tuple[Change, KeyColumn]]:
    """Ages as children, adults and elderly, and as children and adults.

    They begin where codes of the file begin, so that it tells less than before and nothing else.
    """
    adults, elderly = (_first_from(variable, number) for number in (_ADULT, _OLD))
    if adults is None:
        return
    for bounds in ([adults, elderly], [adults]):
        numbers = [number for number in bounds if number is not None]
        if len(numbers) < len(bounds) or len(set(numbers)) < len(numbers):
            continue
        intervals = ",".join(["0", *map(str, numbers)]) + "+"
        way = advice_intervals(design, variable, intervals)
        if way is not None:
            level, advice = way
            change = Change(variable_text(variable), Text.of(intervals), advice)
            yield change, coarsen_key(column, variable, level)


def _first_from(variable: FileVariable, number: int) -> int | None:
    """The first number from which on a code of the file begins."""
    return min((low for low in _begins(variable) if low >= number), default=None)


def _begins(variable: FileVariable) -> Iterator[int]:
    """The lowest number of each code of the file."""
    lowest: dict[int, int] = {}
    for leaf, group in zip(variable.source.codes, variable.level.group, strict=True):
        if leaf.is_missing:
            continue
        try:
            low, _ = bounds_of(leaf)
        except SpecError:
            return
        lowest[group] = min(low, lowest.get(group, low))
    yield from lowest.values()


def variable_text(variable: FileVariable) -> Text:
    """What a key is called: its label, or its name."""
    return variable.source.label or Text.of(variable.name)


def _row(step: StepRisk, name: Text) -> LadderRow:
    households = step.households
    return LadderRow(
        step=len(step.keys),
        key=name,
        records=step.records,
        sample_uniques=step.sample_uniques,
        sample_uniques_confounded=step.sample_uniques_confounded,
        expected_matches=step.expected_matches,
        population_uniques=step.population_uniques,
        population_uniques_confounded=step.population_uniques_confounded,
        not_anonymous=step.not_anonymous,
        global_risk=step.global_risk,
        prosecutor_risk=step.prosecutor_risk,
        journalist_risk=step.journalist_risk,
        households=None if households is None else households.households,
        households_at_risk=None if households is None else households.likely,
        household_risk=None if households is None else households.mean,
    )


def _coarser(variable: FileVariable) -> Iterator[Level]:
    """Declared levels that are coarser than what the file tells, and tell something."""
    told = variable.level
    for declared in variable.source.levels():
        if declared.universe:
            continue
        # A file that ends at 75 tells bands of five years that end there, too.
        level = replace(coarser_of(declared, told), name=declared.name)
        if 2 <= len(level.codes) < len(told.codes) and told.refines(level):
            yield level


def coarsen_key(column: KeyColumn, variable: FileVariable, level: Level) -> KeyColumn:
    """A column at a coarser level; codes that no leaf has stay what they are."""
    extra = column.size - len(variable.level.codes)
    codes = np.full(column.size, -1, dtype=np.int64)
    codes[variable.level.group_array] = level.group_array
    kinds = [code.kind for code in level.codes]
    for position in np.flatnonzero(codes < 0):
        codes[position] = len(kinds)
        kinds.append(column.kinds[position])
    assert extra >= 0
    return replace(column, values=codes[column.values], kinds=tuple(kinds))
