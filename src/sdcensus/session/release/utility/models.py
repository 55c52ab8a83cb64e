"""The models that an office names, fitted to the census and to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.release.records import NO_HOLDER, FileRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import ModelQuestion, ReleasePlan
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.universe import Universe, universe_of
from sdcensus.session.release.utility.stations import CensusStation, RecordsStation, Station
from sdcensus.store.census_store import CensusStore
from sdcensus.utility.records.formula import ModelError, ModelFormula, parse_formula
from sdcensus.utility.records.regression import (
    Coefficient,
    ModelRecords,
    Regressor,
    fitted_model,
    interval_overlap,
)

Integers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, repr=False)
class ModelComparison(Confidential):
    """A model before and after.

    Attributes:
        question: What the office asks.
        census, file: The coefficients, in the order of the formula.
        problem: Why the model cannot be compared; empty if it can.
    """

    question: ModelQuestion
    census: tuple[Coefficient, ...] = ()
    file: tuple[Coefficient, ...] = ()
    problem: str = ""

    def __repr__(self) -> str:
        return f"<ModelComparison {self.question.name!r}: confidential>"

    def side_by_side(self) -> tuple[tuple[Coefficient, Coefficient | None, float | None], ...]:
        """Each coefficient of the census, that of the file, and by how much intervals overlap.

        A code that no record of the file has is in the census only.
        """
        files = {coefficient.name: coefficient for coefficient in self.file}
        lines = []
        for coefficient in self.census:
            other = files.get(coefficient.name)
            overlap = None if other is None else interval_overlap(coefficient, other)
            lines.append((coefficient, other, overlap))
        return tuple(lines)


def compared_models(
    store: CensusStore, records: FileRecords, plan: ReleasePlan
) -> tuple[ModelComparison, ...]:
    """Every model of a plan, fitted to the census and to the records of a file.

    Both sides have the codes of the file. A model that this file cannot answer says why.

    Raises:
        SpecError: A formula or condition has a mistake, or names what the census does not have.
        MissingExtra: The optional part that fits models is not installed.
    """
    comparisons = []
    for question in plan.models:
        formula = parse_formula(question.formula, question.name)
        try:
            model = _Model(question, formula, store.schema, records.design)
            whole = model.records(CensusStation(store, plan))
            census = model.fit(whole, "census")
            # Both sides compare with the same codes.
            drawn = model.records(RecordsStation(records))
            file = model.fit(drawn, "file", whole.references)
        except ModelError as error:
            comparisons.append(ModelComparison(question, problem=str(error)))
            continue
        comparisons.append(ModelComparison(question, census, file))
    return tuple(comparisons)


@dataclass(frozen=True, slots=True)
class _FileCondition:
    """A condition in the codes of a file.

    Attributes:
        universe: The condition.
        variables: The variables of the file that tell it.
        classes: For each of them, for each code, its class of the condition; -1 for a code that
            stands for no leaf.
        missing: For each of them, for each code, whether it is no value.
    """

    universe: Universe
    variables: tuple[FileVariable, ...]
    classes: tuple[Integers, ...]
    missing: tuple[Mask, ...]

    def holds(self, station: Station, entity: Entity, size: int) -> tuple[Mask, Mask]:
        """Which records fulfil it, and which have a value of all its variables."""
        stated = np.ones(size, dtype=bool)
        answered = np.ones(size, dtype=bool)
        places = []
        for variable, classes, missing in zip(
            self.variables, self.classes, self.missing, strict=True
        ):
            codes = station.codes(variable, entity)
            stated &= (codes != NO_HOLDER) & ~missing[codes]
            answered &= (codes != NO_HOLDER) & (classes[codes] >= 0)
            places.append(np.maximum(classes[codes], 0))
        truth = self.universe.truth
        holds = truth[tuple(places)] if places else np.full(size, bool(truth))
        return np.asarray(holds & answered, dtype=bool), stated


class _Model:
    """A model question, resolved against the variables of a file."""

    def __init__(
        self, question: ModelQuestion, formula: ModelFormula, schema: Schema, design: FileDesign
    ) -> None:
        self.question, self.formula = question, formula
        self.schema, self.design = schema, design
        self.terms = tuple(self._term(name) for name in formula.terms)
        self.where = self._condition(question.where)
        self.amount = self._amount() if formula.amount else None
        self.outcome = None if formula.amount else self._condition(formula.outcome)
        variables = [*self.terms, *self.where.variables]
        variables += [self.amount] if self.amount is not None else []
        variables += self.outcome.variables if self.outcome is not None else ()
        kinds = {variable.entity for variable in variables}
        self.entity = Entity.PERSON if Entity.PERSON in kinds else Entity.HOUSEHOLD

    def fit(
        self, records: ModelRecords, where: str, references: Sequence[int] | None = None
    ) -> tuple[Coefficient, ...]:
        """The coefficients for the records of one side."""
        return fitted_model(
            records,
            logistic=self.outcome is not None,
            model=self.question.name,
            where=where,
            references=references,
        )

    def records(self, station: Station) -> ModelRecords:
        """The records of one side."""
        weights = station.weights(self.entity)
        kept, _ = self.where.holds(station, self.entity, weights.size)
        if self.amount is not None:
            numbers = station.amounts(self.amount, self.entity)
            stated = numbers != NO_VALUE
            outcome = np.where(stated, numbers, 0) / 10.0**self.amount.source.decimals
        else:
            assert self.outcome is not None  # one of the two
            holds, stated = self.outcome.holds(station, self.entity, weights.size)
            outcome = holds.astype(np.float64)
        kept = kept & stated
        regressors = []
        for variable in self.terms:
            codes = station.codes(variable, self.entity)
            kept &= codes != NO_HOLDER
            positions = np.maximum(codes, 0)
            regressors.append(Regressor(variable.name, positions, variable.level.codes))
        return ModelRecords(
            outcome=outcome,
            regressors=tuple(regressors),
            kept=kept,
            weights=weights,
            groups=station.groups(self.entity),
        )

    # ------------------------------------------------------------------------------ names

    def _known(self, name: str) -> Variable:
        """A variable of the census by its name, or by the name that the file gives it."""
        for variable in self.design.variables:
            if name == variable.name:
                return variable.source
        return self.schema.variable(name.partition("@")[0])

    def _named(self, name: str) -> tuple[FileVariable, ...]:
        """The variables of the file that a name stands for."""
        source, _, level = name.partition("@")
        own = [variable for variable in self.design.variables if variable.name == name]
        return tuple(own) or tuple(
            variable
            for variable in self.design.variables
            if variable.source.name == source and level in ("", variable.level.name)
        )

    def _not_in_file(self, name: str) -> ModelError:
        return ModelError(
            f"Model {self.question.name!r}: {name!r} is not in the file of design"
            f" {self.design.design.name!r}, so that nobody could fit it there. Take it out of the"
            " model, or keep the variable in the design."
        )

    def _term(self, name: str) -> FileVariable:
        variable = self._known(name)
        if not variable.codes:
            raise SpecError(
                f"Model {self.question.name!r}: {name!r} has no codes, so it cannot explain."
                " Amounts stand before the ~; declare levels in the schema to use their classes."
            )
        named = self._named(name)
        if not named:
            raise self._not_in_file(name)
        return named[0]

    def _amount(self) -> FileVariable:
        name = self.formula.outcome
        variable = self._known(name)
        if not variable.continuous:
            raise SpecError(
                f"Model {self.question.name!r}: {name!r} is no amount. Say which of its codes is"
                f" explained, such as {name} == {_first_code(variable)}."
            )
        for file_variable in self._named(name):
            if file_variable.amounts:
                return file_variable
        raise self._not_in_file(name)

    # ------------------------------------------------------------------------------ conditions

    def _condition(self, text: str) -> _FileCondition:
        try:
            universe = universe_of(text, self.schema)
        except SpecError as error:
            raise SpecError(f"Model {self.question.name!r}: {error}") from None
        variables, classes, missing = [], [], []
        for variable, groups in zip(universe.variables, universe.classes, strict=True):
            named = self._named(variable.name)
            if not named:
                raise self._not_in_file(variable.name)
            file_variable, file_classes = self._classes(named, groups, text)
            variables.append(file_variable)
            classes.append(file_classes)
            codes = file_variable.level.codes
            missing.append(np.array([code.is_missing for code in codes], dtype=bool))
        return _FileCondition(universe, tuple(variables), tuple(classes), tuple(missing))

    def _classes(
        self, named: Sequence[FileVariable], groups: Integers, text: str
    ) -> tuple[FileVariable, Integers]:
        """The first variable of the file that tells the condition, with the class of each code."""
        mixed = ""
        for variable in named:
            level = variable.level
            lowest = np.full(len(level.codes), np.iinfo(np.int64).max)
            highest = np.full(len(level.codes), -1)
            np.minimum.at(lowest, level.group_array, groups)
            np.maximum.at(highest, level.group_array, groups)
            both = np.flatnonzero((highest >= 0) & (lowest != highest))
            if not both.size:
                return variable, highest
            mixed = mixed or f"{level.codes[int(both[0])].code!r} of {variable.name!r}"
        raise ModelError(
            f"Model {self.question.name!r}: the file of design {self.design.design.name!r} cannot"
            f" tell {text!r}: its code {mixed} holds both who fulfils it and who does not. Put the"
            " limit where a code of the file ends."
        )


def _first_code(variable: Variable) -> str:
    return next((code.code for code in variable.codes), "1")
