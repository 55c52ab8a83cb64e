"""What a table tells apart of each variable, axes and conditions taken together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.grids import Square
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Level, Role, Variable
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe

#: For each leaf of a variable, the number of the part that it lies in.
Partition = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """How a table uses one variable.

    Attributes:
        variable: The variable.
        axis: The axis that shows it, if there is one.
        condition: The leaves that the condition of the table tells apart, if it names it.
        chosen: The leaves that can occur in the table.
    """

    variable: Variable
    axis: Axis | None
    condition: Partition | None
    chosen: npt.NDArray[np.bool_]

    @property
    def shown(self) -> tuple[Partition, ...]:
        """What the axis tells apart: each of its levels, cut by the condition."""
        levels = [] if self.axis is None else [level.group_array for level in self.axis.levels]
        if self.condition is None:
            return tuple(levels)
        return tuple(_cut(level, self.condition) for level in levels)

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """What the table tells apart: by its axis, and by its condition."""
        return self.shown if self.condition is None else (*self.shown, self.condition)

    @property
    def condition_level(self) -> Level | None:
        """The coarsest declared level whose codes can say the condition."""
        if self.condition is None:
            return None
        fits = [
            level
            for level in self.variable.levels()
            if coarser_or_equal(self.condition, level.group_array)
        ]
        return min(fits, key=lambda level: len(level.codes))


def uses_of(spec: TableSpec) -> tuple[Use, ...]:
    """Every variable of a table, once: axes in their order, then those of the condition alone."""
    universe = spec.universe
    named = dict(
        zip((variable.name for variable in universe.variables), universe.classes, strict=True)
    )
    uses = [_use(axis.variable, axis, universe, named) for axis in spec.axes]
    shown = {use.variable.name for use in uses}
    uses += [
        _use(variable, None, universe, named)
        for variable in universe.variables
        if variable.name not in shown
    ]
    return tuple(uses)


def _use(
    variable: Variable, axis: Axis | None, universe: Universe, named: dict[str, Partition]
) -> Use:
    return Use(variable, axis, named.get(variable.name), leaves_in(universe, variable))


def unfiltered(spec: TableSpec) -> TableSpec:
    """The table without its condition, whose variables are axes of it instead, with all totals.

    A variable that stood in the condition only is shown at the coarsest level that can say it.
    """
    axes = []
    for use in uses_of(spec):
        if use.axis is not None and use.axis.total and use.condition is None:
            axes.append(use.axis)
            continue
        levels = [] if use.axis is None else [*use.axis.levels]
        said = use.condition_level
        if said is not None and not any(
            coarser_or_equal(said.group_array, level.group_array) for level in levels
        ):
            levels.append(said)
        axes.append(make_axis(use.variable, levels, total=True))
    return TableSpec(
        of=spec.of,
        axes=tuple(axes),
        universe=EVERYTHING,
        measure=spec.measure,
        weight_decimals=spec.weight_decimals,
        amount=spec.amount,
    )


def area_variables(schema: Schema) -> tuple[Variable, ...]:
    """The variables whose codes are places on a map: geographies and grids, the main one first."""
    grids = {grid.variable for grid in schema.grids}
    places = [
        variable
        for variable in schema.variables
        if variable.is_axis and (variable.role is Role.GEOGRAPHY or variable.name in grids)
    ]
    return tuple(sorted(places, key=lambda variable: not variable.main))


def is_area(variable: Variable) -> bool:
    """Whether the codes of a variable are places: a geography, or the squares of a grid."""
    squares = (Square.read(code.code) for code in variable.codes[:3])
    return variable.role is Role.GEOGRAPHY or any(square is not None for square in squares)


def coarser_or_equal(partition: Partition, limit: Partition) -> bool:
    """Whether every part of ``limit`` lies inside one part of ``partition``."""
    size = int(partition.max(initial=0)) + 1
    pairs = limit.astype(np.int64) * size + partition
    return np.unique(pairs).size == np.unique(limit).size


def strictly_coarser(partition: Partition, limit: Partition) -> bool:
    """Whether a partition is coarser than another and not the same."""
    return coarser_or_equal(partition, limit) and not coarser_or_equal(limit, partition)


def coarser_levels(level: Level, among: Sequence[Level]) -> tuple[Level, ...]:
    """Of some levels those next above a level: coarser, with none of them in between."""
    above = [other for other in among if strictly_coarser(other.group_array, level.group_array)]
    return tuple(
        level
        for level in above
        if not any(strictly_coarser(level.group_array, other.group_array) for other in above)
    )


def _cut(partition: Partition, by: Partition) -> Partition:
    size = int(by.max(initial=0)) + 1
    _, cut = np.unique(partition * size + by, return_inverse=True)
    return np.asarray(cut.reshape(-1), dtype=np.int64)
