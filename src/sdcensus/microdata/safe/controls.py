"""Control tables: where deviations are to be small, and how much they weigh."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.microdata.safe.variables import ListedVariables, spelled
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Level
from sdcensus.model.spec.axis import TOTAL, Axis
from sdcensus.model.spec.table_spec import TableSpec

LARGEST_WEIGHT = 100
#: Weights are made comparable by their least common multiple.
_LARGEST_MULTIPLE = 1_000_000

#: A control table at one level of each of its axes: names of variables and of levels, sorted.
LayerKey = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ControlTable:
    """A control table.

    Attributes:
        text: As it is written, without its weight.
        weight: By what its deviations are divided.
        layers: It at one level of each of its axes, for all levels and totals.
    """

    text: str
    weight: int
    layers: tuple[LayerKey, ...]


@dataclass(frozen=True, slots=True)
class Controls:
    """All control tables.

    Attributes:
        tables: The tables.
        weights: For each layer the smallest weight of a table that has it.
    """

    tables: tuple[ControlTable, ...]
    weights: dict[LayerKey, int]

    @property
    def multiple(self) -> int:
        """By what deviations are multiplied so that all weighted ones are whole numbers."""
        return math.lcm(*self.weights.values())


def control_tables(schema: Schema, listed: ListedVariables, texts: Sequence[str]) -> Controls:
    """Read the control tables, or take those that stand for all.

    Args:
        schema: Of the census.
        listed: The listed variables.
        texts: Tables as axes, ``ed@parish,sex``, with a weight where it is not 1:
            ``ed@parish,sex=3``.

    Raises:
        SpecError: A table shows what is not listed, or in more detail, or its weight is wrong.
    """
    tables = [_table(schema, listed, text) for text in texts or list(usual_controls(listed))]
    weights: dict[LayerKey, int] = {}
    for table in tables:
        for layer in table.layers:
            weights[layer] = min(weights.get(layer, LARGEST_WEIGHT), table.weight)
    controls = Controls(tuple(tables), weights)
    if controls.multiple > _LARGEST_MULTIPLE:
        raise SpecError(
            "The weights of the control tables have no common measure that could be counted with."
            " Take weights that are multiples of each other, such as 1, 2, 4 and 8."
        )
    return controls


def usual_controls(listed: ListedVariables) -> Iterator[str]:
    """All tables of one and two listed variables, and by larger areas where areas are listed."""
    axes = [spelled(each) for each in listed.all]
    if len(axes) == 1:
        yield axes[0]
    for first, second in itertools.combinations(axes, 2):
        yield f"{first},{second}"
    for area in listed.all:
        if not area.variable.called_by_level:
            continue
        for level in area.variable.plain_levels:
            if level is area.level or not area.level.refines(level) or len(level.codes) < 2:
                continue
            for other in listed.all:
                if other is not area:
                    yield f"{area.variable.name}@{level.name},{spelled(other)}"


def _table(schema: Schema, listed: ListedVariables, text: str) -> ControlTable:
    written, equals, number = text.rpartition("=")
    axes = written if equals else text
    weight = _weight(number, text) if equals else 1
    by = [axis.strip() for axis in axes.split(",") if axis.strip()]
    if not by:
        raise SpecError(
            f"--control-table {text} names no table. Name its axes, such as"
            " --control-table sex,age."
        )
    spec = TableSpec.build(schema, by, of=listed.unit)
    for axis in spec.axes:
        _check(listed, axis, text)
    layers = []
    for blocks in itertools.product(*(axis.blocks for axis in spec.axes)):
        shown = [
            (axis.variable.name, block.level)
            for axis, block in zip(spec.axes, blocks, strict=True)
            if block.level != TOTAL
        ]
        if shown:
            layers.append(tuple(sorted(shown)))
    return ControlTable(",".join(axis.name for axis in spec.axes), weight, tuple(layers))


def _check(listed: ListedVariables, axis: Axis, text: str) -> None:
    """Refuse axes that the listed combinations do not add up to."""
    own = listed.named(axis.variable.name)
    if own is None:
        known = ", ".join(spelled(each) for each in listed.all)
        raise SpecError(
            f"--control-table {text}: {axis.variable.name!r} is not listed, and tables that show it"
            f" are not controlled. List it in --variables, or control tables of: {known}."
        )
    for level in axis.levels:
        if not own.level.refines(level):
            raise SpecError(
                f"--control-table {text}: {axis.variable.name!r} is listed as {spelled(own)}, of"
                f" which {axis.variable.name}@{level.name} is no sum. List it at a finer level, or"
                f" control {spelled(own)} and larger groups of it."
            )


def _weight(number: str, text: str) -> int:
    try:
        weight = float(number)
    except ValueError:
        weight = 0.0
    if not 1 <= weight <= LARGEST_WEIGHT or not weight.is_integer():
        raise SpecError(
            f"--control-table {text}: the weight behind the sign '=' is a whole number from 1 to"
            f" {LARGEST_WEIGHT}. Deviations are divided by it: what has weight 3 may be three"
            " times as far off."
        )
    return int(weight)


def level_of(listed: ListedVariables, name: str, level: str) -> Level:
    """The level of a listed variable."""
    own = listed.named(name)
    assert own is not None
    return own.variable.level(level)
