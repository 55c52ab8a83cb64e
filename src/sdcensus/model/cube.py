"""True counts and cell keys of a table. Confidential."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.rollup import regroup
from sdcensus.kernels.tabulate import Combine, identity
from sdcensus.model.accumulators import Accumulators
from sdcensus.model.axis import TOTAL, Axis, Block, parse_axis
from sdcensus.model.confidential import Confidential
from sdcensus.model.key_space import KeySpace
from sdcensus.model.layout import Layout
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.universe import restrict
from sdcensus.model.variable import Level, Variable, common_refinement

Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the numbers of a cube come from: which secret made its keys, which data it counts."""

    key_space: KeySpace
    secret_id: str = ""
    data_version: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Cell(Confidential):
    """One cell with its codes and labels, in the order of the axes."""

    codes: tuple[str, ...]
    labels: tuple[str, ...]
    count: int
    key: int

    def __repr__(self) -> str:
        return f"<Cell {'×'.join(self.codes)}: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cube(Confidential):
    """True counts with their cell keys on every code of a table, totals and empty cells included.

    Counts and keys both add up, so margins and coarser tables need no second look at the records.
    """

    spec: TableSpec
    origin: Origin
    values: Accumulators

    def __post_init__(self) -> None:
        for name, array in self.values.items():
            if array.shape != self.spec.shape:
                raise SpecError(f"{self.spec.title}: {name} needs the shape {self.spec.shape}.")

    def __repr__(self) -> str:
        return f"<Cube {'×'.join(map(str, self.spec.shape)) or 'one cell'}: confidential>"

    @property
    def shape(self) -> tuple[int, ...]:
        """How many positions each axis has."""
        return self.spec.shape

    @property
    def count(self) -> npt.NDArray[np.int64]:
        """True counts."""
        return self.values.count

    @property
    def key(self) -> npt.NDArray[np.uint32]:
        """Cell keys, below the modulus of the key space."""
        return self.values.key

    @property
    def weight(self) -> npt.NDArray[np.int64] | None:
        """Sums of weights in fixed point, if they were asked for."""
        return self.values.weight

    def rollup(self, *by: str) -> Cube:
        """The table on fewer or coarser axes, from these cells alone.

        Axes are written as in plans; each level must be one that this table shows or a coarser
        one. Axes that are not named are summed over.
        """
        axes = tuple(parse_axis(text, variable_lookup(self.spec.axes)) for text in by)
        names = [axis.variable.name for axis in axes]
        if len(set(names)) != len(names):
            raise SpecError("A variable can be only one axis of a table.")
        kept = [axis for axis in self.spec.axes if axis.variable.name in names]
        spec = self.spec.with_axes(axes)
        base = {
            name: self._base(array, combine, axes, kept)
            for name, array, combine in self.values.parts(self.origin.key_space)
        }
        return finish(spec, self.origin, base)

    def _base(
        self, array: Integers, combine: Combine, axes: Sequence[Axis], kept: Sequence[Axis]
    ) -> Integers:
        """One accumulator on the base groups of ``axes``, in the order of ``axes``."""
        empty = identity(combine, array.dtype)
        wanted = {axis.variable.name: axis for axis in axes}
        for at in reversed(range(len(self.spec.axes))):
            mine = self.spec.axes[at]
            target = wanted.get(mine.variable.name)
            if target is None:
                block = mine.blocks[-1]
                group, size = np.zeros(block.size, dtype=np.int64), 1
            else:
                block, group = block_behind(mine, target)
                size = target.base_size
            part = np.take(array, range(block.start, block.start + block.size), axis=at)
            array = regroup(part, at, group, size, combine, empty)
            if target is None:
                array = np.take(array, 0, axis=at)
        order = [kept.index(self.spec.axis(axis.variable.name)) for axis in axes]
        return array.transpose(order)

    def select(self, **codes: str) -> Cube:
        """The part of the table with these codes: ``cube.select(sex="1", ed="P01")``."""
        index: list[slice | int] = [slice(None)] * len(self.spec.axes)
        universe = self.spec.universe
        for variable, code in codes.items():
            at = self.spec.position(variable)
            axis = self.spec.axes[at]
            index[at] = position = axis.position(str(code))
            chosen = axis.codes[position]
            if not chosen.is_total:
                level = axis.variable.level(chosen.level)
                leaves = level.group_array == _code_position(level, chosen.code)
                universe = restrict(universe, axis.variable, leaves)
        rest = tuple(axis for axis, one in zip(self.spec.axes, index, strict=True) if one == slice(None))
        spec = TableSpec(
            of=self.spec.of, axes=rest, universe=universe, measure=self.spec.measure
        )
        return Cube(spec, self.origin, self.values.map(lambda array: np.asarray(array[tuple(index)])))

    def cells(self, *, language: str | None = None) -> Iterator[Cell]:
        """Every cell with its codes and labels, the last axis running fastest."""
        axes = self.spec.axes
        labels = [[code.label.show(language) or code.code for code in axis.codes] for axis in axes]
        for at in itertools.product(*(range(size) for size in self.shape)):
            yield Cell(
                tuple(axis.codes[one].code for axis, one in zip(axes, at, strict=True)),
                tuple(names[one] for names, one in zip(labels, at, strict=True)),
                int(self.count[at]),
                int(self.key[at]),
            )


def variable_lookup(axes: Sequence[Axis]) -> Callable[[str], Variable]:
    """Find variables among those of ``axes`` only."""
    variables = {axis.variable.name: axis.variable for axis in axes}

    def named(name: str) -> Variable:
        if name not in variables:
            raise UnknownName("axis", name, known=variables, where="The table to roll up: ")
        return variables[name]

    return named


def _code_position(level: Level, code: str) -> int:
    return next(at for at, one in enumerate(level.codes) if one.code == code)


def block_behind(mine: Axis, target: Axis) -> tuple[Block, npt.NDArray[np.int64]]:
    """The block of ``mine`` from which ``target`` adds up, and its groups: the coarsest one."""
    target_group, _ = common_refinement(target.levels)
    for block in reversed(mine.blocks):
        if block.level == TOTAL:
            continue
        level = mine.variable.level(block.level)
        group = np.zeros(block.size, dtype=np.int64)
        group[level.group_array] = target_group
        if (group[level.group_array] == target_group).all():
            if block.size == target.base_size and level.name == target.levels[0].name:
                group = np.arange(block.size)  # codes without leaves stay in their places
            return block, group
    shown = ", ".join(block.level for block in mine.blocks if block.level != TOTAL)
    raise SpecError(
        f"{target.name!r} is finer than what the table shows of {mine.variable.name!r} ({shown})."
        " Tabulate it instead of rolling up."
    )


def finish(spec: TableSpec, origin: Origin, base: Mapping[str, Integers]) -> Cube:
    """Make a cube from accumulators on the base groups of its axes, adding every margin."""
    layout = Layout(spec)
    full: dict[str, Integers] = {}
    for name, array in base.items():
        combine = Accumulators.combine_of(name, origin.key_space)
        cells = np.full(layout.size, identity(combine, array.dtype), dtype=array.dtype)
        corner = tuple(slice(0, size) for size in spec.base_shape)
        cells.reshape(layout.shape)[corner] = array
        layout.add_margins(cells, combine)
        full[name] = layout.shown(cells)
    return Cube(spec, origin, Accumulators.from_sums(full, origin.key_space))
