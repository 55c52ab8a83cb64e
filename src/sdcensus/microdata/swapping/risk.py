"""How much units are at risk of being found, level by level of the geography."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.swapping.likes import NONE_THERE, fewest_alike
from sdcensus.kernels.swapping.order import waiting_times
from sdcensus.kernels.uniques.numbering import combined
from sdcensus.microdata.swapping.levels import AreaLevels
from sdcensus.microdata.swapping.units import NO_UNIT, UnitTable, kinds_within
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.store.manifest import value_column

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: The level of units that are at risk nowhere.
NOT_AT_RISK = -1
_LATEST = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnitRisk(Confidential):
    """The risk of units at each level, as a divisor or a factor of whole numbers.

    Attributes:
        level: The coarsest level at which each unit is at risk; ``NOT_AT_RISK`` for none.
        rarity: By level and unit: how many are like its rarest member, so that the risk is one
            divided by it. ``None`` where risks are given.
        given: By level and unit the risk that the office gives, as a fixed-point number.
        largest_group: How many are alike at most, anywhere; 0 where risks are given.
    """

    level: Int64
    rarity: npt.NDArray[np.int32] | None
    given: Int64 | None
    largest_group: int = 0

    def order(self, level: int, waits: UInt64) -> Int64:
        """Units in an order in which those at risk tend to come first: by risk over waiting time.

        That is a sample without replacement with probabilities in proportion to risk, however long
        it is read. Compared are whole numbers; equal ones stand in the order of digests.

        Args:
            level: The level of the risk.
            waits: An exponential waiting time for each unit.
        """
        late = np.uint64(_LATEST)
        largest = _LATEST
        if self.rarity is not None:
            likes = self.rarity[level]
            keys = waits * likes.astype(np.uint64)
            nobody = likes == NONE_THERE
            if nobody.any():
                keys[nobody] = 0
                largest = int(keys.max(initial=0)) + 1
                keys[nobody] = largest
            else:
                largest = int(keys.max(initial=0))
        elif self.given is not None:
            risk = self.given[level].astype(np.uint64)
            keys = np.where(risk == 0, late, (waits << np.uint64(24)) // np.maximum(risk, 1))
        else:
            keys = waits
        _, order = sort_cells(keys, largest=largest)
        return order.astype(np.int64)


def draw_waits(words: UInt64) -> UInt64:
    """A waiting time for each unit, from a random word."""
    return waiting_times(words)


def without_risk(units: UnitTable) -> UnitRisk:
    """Everybody alike: what is drawn is drawn with equal probability."""
    return UnitRisk(np.full(len(units), NOT_AT_RISK), None, None)


def risk_by_rarity(units: UnitTable, levels: AreaLevels, names: Sequence[str], k: int) -> UnitRisk:
    """Units with a record of which fewer than ``k`` are in its area at some level.

    Counted are records of the innermost kind that the variables describe; a code that says that
    there is no value is a value like others.

    Raises:
        SpecError: A variable cannot be counted by, or everybody is at risk at every level.
    """
    variables = [_risk_variable(units, name) for name in names]
    kind = _counted_kind(units, [variable for variable, _ in variables])
    store = units.store
    rows = slice(0, store.rows(kind))
    leaf, settled = _leaf_of_records(units, kind)
    number = units.number_of(kind)
    everywhere = bool(settled.all())

    def of_settled(column: Integers) -> Integers:
        return column if everywhere else column[settled]

    columns = [
        _grouped(level, of_settled(store.column(kind, variable)[rows]))
        for variable, level in variables
    ]
    kinds, _ = combined(columns, int(settled.sum()))
    del columns
    places, areas = _nested_places(levels)
    fewest, most = fewest_alike(
        kinds, places[of_settled(leaf)], of_settled(number), areas, count=len(units)
    )
    largest = int(most.max(initial=0))
    if k > largest:
        raise SpecError(
            f"k = {k} is larger than any group: at most {largest:,} {kind.plural} are alike in"
            f" {', '.join(names)} anywhere, so everybody would be at risk. The largest useful k is"
            f" {largest}."
        )
    risky = (fewest < k) & (fewest != NONE_THERE)
    return UnitRisk(_coarsest(risky), fewest, None, largest)


def _grouped(level: Level, leaf: Integers) -> Integers:
    """The class of each leaf; leaves themselves need no second column."""
    group = level.group_array
    return leaf if np.array_equal(group, np.arange(group.size)) else group[leaf]


def given_risk(
    units: UnitTable, levels: AreaLevels, names: Sequence[str], threshold: float
) -> UnitRisk:
    """Units of which a risk that the office gives is above a threshold.

    Args:
        units: The units.
        levels: The levels of the geography.
        names: One variable for each level from coarse to fine; or a single one, which is then the
            risk of being found in the finest area.
        threshold: At risk is who has more.

    Raises:
        SpecError: A variable is no amount, is missing somewhere, or their number does not fit.
    """
    if len(names) not in (1, len(levels)):
        raise SpecError(
            f"{len(names)} variables of risk are named for {len(levels)} levels"
            f" ({', '.join(levels.names)}). Name one for each level, or one for the finest."
        )
    given = np.zeros((len(levels), len(units)), dtype=np.int64)
    risky = np.zeros((len(levels), len(units)), dtype=bool)
    for at, name in enumerate(names, start=len(levels) - len(names)):
        variable = units.store.schema.variable(name)
        given[at] = _largest_amount(units, variable)
        risky[at] = given[at] > Fraction(str(threshold)) * 10**variable.decimals
    if len(names) == 1:  # the risk of the finest area tells donors apart at every level
        given[:] = given[-1]
    return UnitRisk(_coarsest(risky), None, given)


def _coarsest(risky: npt.NDArray[np.bool_]) -> Int64:
    return np.where(risky.any(axis=0), risky.argmax(axis=0), NOT_AT_RISK).astype(np.int64)


def _risk_variable(units: UnitTable, name: str) -> tuple[Variable, Level]:
    schema = units.store.schema
    base, _, level = name.partition("@")
    variable = schema.variable(base.strip())
    if not variable.is_axis or (variable.continuous and not level):
        classes = [
            f"{variable.name}@{each.name}"
            for each in variable.plain_levels
            if each.name != variable.name and variable.is_axis
        ]
        remedy = f"Name one of its classes: {', '.join(classes)}." if classes else "Leave it out."
        raise SpecError(f"{name!r} is no variable with codes that records could share. {remedy}")
    if variable is schema.geography:
        raise SpecError(
            f"{name!r} is the geography: risk is counted by area anyway, at every level. Leave it"
            " out of the risk variables."
        )
    return variable, variable.level(level.strip() or None)


def _counted_kind(units: UnitTable, variables: Sequence[Variable]) -> Entity:
    """The innermost kind that the variables describe; one that has them all."""
    schema = units.store.schema
    kinds = [units.entity, *kinds_within(schema, units.entity)]
    kind = max(
        (variable.entity for variable in variables),
        key=lambda entity: kinds.index(entity) if entity in kinds else -1,
        default=units.entity,
    )
    if kind not in kinds:  # all of them describe what holds the units
        kind = units.entity
    for variable in variables:
        if variable.entity not in schema.lineage(kind):
            raise SpecError(
                f"{variable.name!r} describes {variable.entity.plural}, and other risk variables"
                f" {kind.plural}: no record has both. Name variables that go together."
            )
    return kind


def _leaf_of_records(units: UnitTable, kind: Entity) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The leaf of each record, and which records lie in an area."""
    store, geography = units.store, units.store.schema.geography
    if geography is None:  # attributes are exchanged in a census without areas
        return np.zeros(store.rows(kind), dtype=np.int64), np.ones(store.rows(kind), dtype=bool)
    if store.schema.path(kind, geography.entity) is None:  # households whose persons have areas
        number = units.number_of(kind)
        settled = (number != NO_UNIT) & units.placed[number]
        return np.where(settled, units.leaf[number], 0), settled
    leaf = store.column(kind, geography)[slice(0, store.rows(kind))]
    area = np.array([not code.is_missing for code in geography.codes], dtype=bool)
    return leaf, area[leaf]


def _nested_places(levels: AreaLevels) -> tuple[Int64, Int64]:
    """The finest areas in the order of all levels: the number of each leaf, and areas by level."""
    groups = [level.group_array for level in levels.levels]
    finest = groups[-1]
    order = np.lexsort(groups[::-1])
    number = np.full(int(finest.max()) + 1, -1, dtype=np.int64)
    present, first = np.unique(finest[order], return_index=True)
    number[present[np.argsort(first)]] = np.arange(present.size)
    places = number[finest]
    areas = np.zeros((len(groups), present.size), dtype=np.int64)
    for at, group in enumerate(groups):
        areas[at, places] = group
    return places, areas


def _largest_amount(units: UnitTable, variable: Variable) -> Int64:
    """The largest value among the records of each unit."""
    name, kind = variable.name, variable.entity
    schema, store = units.store.schema, units.store
    if kind not in (units.entity, *kinds_within(schema, units.entity)):
        raise SpecError(
            f"{name!r} describes {kind.plural}. A risk is an amount of {units.entity.plural}, or of"
            " what they hold."
        )
    if not store.has(kind, value_column(name)):
        raise SpecError(
            f"{name!r} is no amount. A given risk is a variable with continuous = true and enough"
            " decimals."
        )
    values = np.asarray(store.raw(kind, value_column(name)))
    wrong = (values == NO_VALUE) | (values < 0)
    if wrong.any():
        raise SpecError(
            f"{name!r} is missing or below 0 for {int(wrong.sum()):,} {kind.plural}. Give every"
            " record a risk; 0 for none."
        )
    number = units.number_of(kind)
    largest = np.zeros(len(units), dtype=np.int64)
    held = number != NO_UNIT
    np.maximum.at(largest, number[held], values[held])
    return largest
