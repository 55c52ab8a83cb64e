"""Weights of a file: the interval of the sample times the census' own weight for non-response.

Weights differ by area, and then name it. So they are tested at every level of areas that the file
does not tell and joined into classes, as ``weight_classes`` says. Each class gets the mean of its
weights, so that totals stay as they are.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.records.weights import held_counts
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.release.areas import hidden_levels, leaves_of
from sdcensus.microdata.release.records import WEIGHT_DECIMALS
from sdcensus.microdata.release.weight_classes import AreaTest, coarsened, first_classes
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import Making
from sdcensus.model.schema.encoding import LARGEST_FIXED_POINT
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: What ``[make] nonresponse_weight`` says where the census' own weight is not multiplied in.
NO_WEIGHT = "none"
_BEFORE = ("different", "unique", "pointed", "dependence")
_AFTER = ("classes", "unique-now", "pointed-now", "dependence-now")
HEADINGS = ("unit", "level", *_BEFORE, *_AFTER)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileWeights(Confidential):
    """The weights of the sampled units.

    Attributes:
        values: By kind of unit, in whole numbers of ``10**-WEIGHT_DECIMALS``, in the order of the
            sampled rows.
        facts: What weights say of areas before and after, where they differ.
    """

    values: Mapping[Entity, Int64]
    facts: tuple[FactTable, ...] = ()

    def __repr__(self) -> str:
        return "<FileWeights: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Weights(Confidential):
    """One weight of the census, for all kinds of units that have it.

    Attributes:
        variable: The weight.
        different: Its different values, ascending.
        place: For each unit of each kind the place of its value among them.
        tests: What they say of areas.
        classes: For each different value its class.
    """

    variable: Variable
    different: Int64
    place: Mapping[Entity, Int64]
    tests: Mapping[Entity, tuple[AreaTest, ...]]
    classes: Int64

    def __repr__(self) -> str:
        return f"<_Weights {self.variable.name!r}: confidential>"

    @property
    def number(self) -> int:
        """How many classes there are."""
        return int(self.classes.max(initial=0)) + 1


def weight_table(lines: Sequence[tuple[Fact, ...]]) -> FactTable:
    """What weights reveal, for the office."""
    return FactTable(
        name="weights-and-areas",
        title=sentence("release_sample.weights.title"),
        headings=tuple(sentence(f"release_sample.weights.{heading}") for heading in HEADINGS),
        rows=tuple(lines),
        note=sentence("release_sample.weights.note"),
    )


def file_weights(
    store: CensusStore, design: FileDesign, making: Making, rows: Mapping[Entity, Int64]
) -> FileWeights:
    """The weights of sampled units, coarsened until they say nothing of areas.

    Args:
        store: The census.
        design: What the file tells of areas, and its fraction.
        making: Which weight is multiplied in, and how many classes there are at most.
        rows: The sampled units, by kind.

    Raises:
        SpecError: The census' weight is missing, 0 or below 0 for some units, or too large.
    """
    interval = 1 / design.design.fraction
    applied = {entity: census_weight(store.schema, making, entity) for entity in rows}
    plain = told_weight(1, 0, interval)
    values = {entity: np.full(own.size, plain, dtype=np.int64) for entity, own in rows.items()}
    lines: list[tuple[Fact, ...]] = []
    for weights in _classed(store, design, making, applied):
        decimals = weights.variable.decimals
        exact = np.array(
            [told_weight(value, decimals, interval) for value in weights.different.tolist()],
            dtype=np.int64,
        )
        for entity, place in weights.place.items():
            own = place[rows[entity]]
            values[entity] = exact[own]
            if weights.number < weights.different.size:
                values[entity] = class_means(exact[own], weights.classes[own])
            lines += _lines(weights, entity)
    return FileWeights(values, (weight_table(lines),) if lines else ())


def _classed(
    store: CensusStore,
    design: FileDesign,
    making: Making,
    applied: Mapping[Entity, Variable | None],
) -> list[_Weights]:
    """The weights that are used, each with its classes; none where units have no weight."""
    variables = {variable.name: variable for variable in applied.values() if variable is not None}
    every = []
    for variable in variables.values():
        kinds = [entity for entity, used in applied.items() if used is variable]
        own = {entity: _checked(store, variable, entity) for entity in kinds}
        different = np.unique(np.concatenate([*own.values()]))
        place = {entity: np.searchsorted(different, values) for entity, values in own.items()}
        tests = {entity: _tests(store, design, entity, at) for entity, at in place.items()}
        counts = np.bincount(np.concatenate([*place.values()]), minlength=different.size)
        classes = coarsened(
            first_classes(counts, making.weight_classes),
            [test for own_tests in tests.values() for test in own_tests],
        )
        every.append(_Weights(variable, different, place, tests, classes))
    if len(every) > 1 and _say_more_together(store, design, every):
        return [replace(each, classes=np.zeros_like(each.classes)) for each in every]
    return every


def _say_more_together(store: CensusStore, design: FileDesign, every: Sequence[_Weights]) -> bool:
    """Whether the weight of a person and that of the household say something of areas together."""
    persons = next(each for each in every if Entity.PERSON in each.place)
    households = next(each for each in every if each is not persons)
    (unit,) = households.place
    holder = holder_rows(store, Entity.PERSON, unit)
    above = np.append(households.classes[households.place[unit]] + 1, 0)
    joint = above[np.where(holder == NO_ROW, above.size - 1, holder)] * persons.number
    joint += persons.classes[persons.place[Entity.PERSON]]
    different, place = np.unique(joint, return_inverse=True)
    tests = _tests(store, design, Entity.PERSON, place)
    return bool((coarsened(np.arange(different.size), tests) != np.arange(different.size)).any())


def _lines(weights: _Weights, entity: Entity) -> list[tuple[Fact, ...]]:
    before = np.arange(weights.different.size)
    if before.size < 2:
        return []
    name = sentence(f"release_sample.lists.{entity.plural}")
    return [
        (
            name,
            test.name,
            int(before.size),
            *test.measures(before),
            weights.number,
            *test.measures(weights.classes),
        )
        for test in weights.tests[entity]
    ]


def census_weight(schema: Schema, making: Making, entity: Entity) -> Variable | None:
    """The weight for non-response that units of a kind have; ``None`` for none."""
    name = making.nonresponse_weight
    if name == NO_WEIGHT:
        return None
    if not name:
        return schema.weight(entity)
    variable = schema.variable(name)
    if variable.role is not Role.WEIGHT:
        known = [each.name for each in schema.variables if each.role is Role.WEIGHT]
        listed = f" Weights are: {', '.join(known)}." if known else " The census has no weight."
        raise SpecError(
            f"[make] nonresponse_weight names {name!r}, which is no weight in the schema.{listed}"
            f' Name a weight, or say "{NO_WEIGHT}".'
        )
    return None if schema.path(entity, variable.entity) is None else variable


def told_weight(value: int, decimals: int, interval: Fraction) -> int:
    """The interval times a fixed-point weight, rounded half to even.

    Examples:
        >>> told_weight(1, 0, Fraction(3)), told_weight(105, 2, Fraction(100, 7))
        (3000000, 15000000)
    """
    scale = interval.denominator * 10**decimals
    weight, rest = divmod(interval.numerator * value * 10**WEIGHT_DECIMALS, scale)
    if 2 * rest > scale or (2 * rest == scale and weight % 2):
        weight += 1
    if not 0 < weight <= LARGEST_FIXED_POINT:
        raise SpecError(
            "Weights of the file would be too large or too small to be told with"
            f" {WEIGHT_DECIMALS} decimals. Correct the weights of the census, or say [make]"
            f' nonresponse_weight = "{NO_WEIGHT}".'
        )
    return int(weight)


def _checked(store: CensusStore, variable: Variable, entity: Entity) -> Int64:
    values = np.asarray(store.values(entity, variable)[slice(0, store.rows(entity))])
    wrong = int(np.count_nonzero(values <= 0))
    if wrong:
        raise SpecError(
            f"{wrong:,} {entity.plural} have no weight above 0 in {variable.name!r}: it is missing,"
            " 0 or negative. Correct the weights and load the census again, name another weight"
            f' ([make] nonresponse_weight = "..."), or say "{NO_WEIGHT}" there.'
        )
    return values


def class_means(weights: Int64, classes: Int64) -> Int64:
    """For each unit the mean weight of its class, rounded half to even.

    Examples:
        >>> class_means(np.array([1, 2, 9, 4]), np.array([0, 0, 1, 0]))
        array([2, 2, 9, 2])
    """
    means = []
    for number in range(int(classes.max(initial=-1)) + 1):
        members, counts = np.unique(weights[classes == number], return_counts=True)
        # Sums of Python's own numbers: those of large weights do not fit 64 bits.
        total = sum(map(operator.mul, members.tolist(), counts.tolist()))
        means.append(round(Fraction(total, int(counts.sum()))) if members.size else 0)
    return np.array(means, dtype=np.int64)[classes]


def _tests(
    store: CensusStore, design: FileDesign, entity: Entity, place: Int64
) -> tuple[AreaTest, ...]:
    leaves = leaves_of(store, entity)
    if leaves is None:
        return ()
    alike = Fraction(1)
    if entity is Entity.PERSON and design.unit is not Entity.PERSON:
        holder = holder_rows(store, entity, design.unit)
        sizes = held_counts(holder, store.rows(design.unit)).astype(np.int64)
        alone = int(np.count_nonzero(holder == NO_ROW))
        alike = Fraction(int((sizes * sizes).sum()) + alone, max(holder.size, 1)) or Fraction(1)
    hidden_areas = hidden_levels(store, design)
    return tuple(AreaTest.of(hidden, leaves, place, alike) for hidden in hidden_areas)
