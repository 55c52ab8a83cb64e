"""True counts, cell keys and whatever else is added up in the cells of a table. Confidential."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, SpecError, UnknownName
from sdcensus.kernels.cells.tabulate import Combine, identity, regroup
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import (
    CONTRIBUTION_TYPES,
    CONTRIBUTOR_KEY,
    CONTRIBUTORS,
    HIGHEST,
    LOWEST,
    Contributions,
    contributions_of,
    entry_fields,
    is_list,
)
from sdcensus.model.cube.layout import Layout
from sdcensus.model.cube.replicates import REPLICATE, replicate_names
from sdcensus.model.schema.implications import PairRule
from sdcensus.model.schema.schema import Combine as KeyCombine, KeySpace
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.axis import TOTAL, Axis, Block, parse_axis
from sdcensus.model.spec.listed_tables import ListedTables
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import restrict
from sdcensus.model.vocabulary import Measure

#: Names of accumulators. A sum of a continuous variable is called ``sum:`` and its name.
COUNT, KEY, WEIGHT = "count", "key", "weight"
FIRST_HOUSEHOLD, LAST_HOUSEHOLD = "first_household", "last_household"
SUM_OF = "sum:"

#: The type in which each accumulator is combined, before keys are reduced.
SUM_TYPE: Mapping[str, npt.DTypeLike] = {
    COUNT: np.int64,
    KEY: np.uint64,
    WEIGHT: np.int64,
    FIRST_HOUSEHOLD: np.uint32,
    LAST_HOUSEHOLD: np.uint32,
}


def sum_type(name: str) -> npt.DTypeLike:
    """The integer type in which an accumulator is combined."""
    return SUM_TYPE.get(name, CONTRIBUTION_TYPES.get(name, np.int64))


def fields_of(name: str) -> int:
    """How many numbers an entry of a list of largest contributions has; 0 for what is no list."""
    return len(entry_fields(name)) if is_list(name) else 0


def packs(space: KeySpace, rows: int) -> bool:
    """Whether count and key sum of so many records fit one 64-bit integer without a loss."""
    power_of_two = space.modulus & (space.modulus - 1) == 0
    return space.combine is KeyCombine.SUM and power_of_two and rows < 1 << 32


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Accumulators(Confidential):
    """Arrays of one shape, one value for each cell.

    Attributes:
        count: Records.
        key: Record keys, combined in the key space.
        weight: Weights in fixed point.
        first_household, last_household: Smallest and largest row of the households behind the
            cell; equal where one household is all there is.
        sums: Sums of continuous variables in fixed point, by name.
        contributions: Who contributes to the sum that the table shows.
        replicates: What random groups of households add to the estimate, group by group.
    """

    count: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint32]
    weight: npt.NDArray[np.int64] | None = None
    first_household: npt.NDArray[np.uint32] | None = None
    last_household: npt.NDArray[np.uint32] | None = None
    sums: tuple[tuple[str, npt.NDArray[np.int64]], ...] = ()
    contributions: Contributions | None = None
    replicates: tuple[npt.NDArray[np.int64], ...] = ()

    def __post_init__(self) -> None:
        for name in SUM_TYPE:
            if getattr(self, name) is not None:
                getattr(self, name).flags.writeable = False
        for array in (*(array for _, array in self.sums), *self.replicates):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<Accumulators {', '.join(name for name, _ in self.shapes())}: confidential>"

    def items(self) -> Iterator[tuple[str, Integers]]:
        """Name and array of each accumulator that there is."""
        for name in SUM_TYPE:
            array = getattr(self, name)
            if array is not None:
                yield name, array
        for variable, array in self.sums:
            yield f"{SUM_OF}{variable}", array
        if self.contributions is not None:
            yield from self.contributions.items()
        yield from zip(replicate_names(), self.replicates, strict=False)

    def shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Name of each accumulator that there is, and the shape of the cells in it."""
        for name in SUM_TYPE:
            array = getattr(self, name)
            if array is not None:
                yield name, array.shape
        yield from ((f"{SUM_OF}{variable}", array.shape) for variable, array in self.sums)
        if self.contributions is not None:
            yield from self.contributions.shapes()
        yield from ((REPLICATE, array.shape) for array in self.replicates)

    def sum_of(self, variable: str) -> npt.NDArray[np.int64]:
        """The sums of a continuous variable.

        Raises:
            SpecError: It was not summed.
        """
        for name, array in self.sums:
            if name == variable:
                return array
        raise SpecError(f"The table holds no sums of {variable!r}.")

    @staticmethod
    def combine_of(name: str, space: KeySpace) -> Combine:
        """How the cells of an accumulator become one."""
        if is_list(name):
            return Combine.LARGEST
        if name in (KEY, CONTRIBUTOR_KEY) and space.combine is KeyCombine.XOR:
            return Combine.XOR
        if name in (FIRST_HOUSEHOLD, LOWEST):
            return Combine.LOW
        return Combine.HIGH if name in (LAST_HOUSEHOLD, HIGHEST) else Combine.SUM

    def parts(self, space: KeySpace) -> Iterator[tuple[str, Integers, Combine]]:
        """Each accumulator in the type in which it can be combined further, and how."""
        for name, array in self.items():
            wide = array.astype(sum_type(name), copy=False)
            yield name, wide, self.combine_of(name, space)

    def map(self, change: Callable[[Integers], Integers]) -> Accumulators:
        """The same accumulators with every array changed alike."""
        return _assemble({name: change(array) for name, array in self.items()})

    def flat(self, cells: int) -> Accumulators:
        """The same accumulators of so many cells, one after the other."""
        arrays = {
            name: array.reshape((cells, *array.shape[array.ndim - is_list(name) :]))
            for name, array in self.items()
        }
        return _assemble(arrays)

    @staticmethod
    def from_sums(sums: Mapping[str, Integers], space: KeySpace) -> Accumulators:
        """Make accumulators from combined values; keys are reduced here, once."""
        arrays = dict(sums)
        for name in (KEY, CONTRIBUTOR_KEY):
            if name in arrays and arrays[name].dtype != np.uint32:
                # A single cell would come back as a number, not as an array.
                arrays[name] = np.asarray(space.reduce(arrays[name]))
        return _assemble(arrays)


def _assemble(arrays: Mapping[str, Integers]) -> Accumulators:
    named = {name: arrays[name] for name in SUM_TYPE if name in arrays}
    sums = tuple(
        (name.removeprefix(SUM_OF), array)
        for name, array in arrays.items()
        if name.startswith(SUM_OF)
    )
    contributions = contributions_of(arrays) if CONTRIBUTORS in arrays else None
    replicates = tuple(array for name, array in arrays.items() if name.startswith(REPLICATE))
    return Accumulators(**named, sums=sums, contributions=contributions, replicates=replicates)


Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the numbers of a cube come from: which secret made its keys, which data it counts.

    Attributes:
        key_space: How its keys add up.
        secret_id: The secret that made them.
        data_version: The data.
        lineage: How the data were derived from an original store; empty for one that was loaded.
        rules: What the schema of the data declares impossible. They come with every cube, so that
            no question can be asked without them.
        weights_only: Whether nothing but weighted counts may be published: a pre-tabular method
            drew the weights, and the numbers of records are what they protect.
        listed: The tables for which the data were changed so that no count in them is small;
            ``None`` where there is no such list.
    """

    key_space: KeySpace
    secret_id: str = ""
    data_version: str = ""
    lineage: str = ""
    rules: tuple[PairRule, ...] = field(default=(), compare=False, repr=False)
    weights_only: bool = False
    listed: ListedTables | None = field(default=None, compare=False, repr=False)

    def refuse_records(self, spec: TableSpec) -> None:
        """Refuse a table of numbers of records where only weighted counts may be told.

        Raises:
            Refused: The weights of these data were drawn to protect them.
        """
        if self.weights_only and spec.measure is Measure.COUNT:
            raise Refused(
                f"{spec.title}: the weights of this store were drawn to protect it, and the number"
                " of its records is what they hide. Weighted counts are what it publishes: measure"
                ' = "weighted", on the command line --measure weighted. Methods are compared on the'
                " store that it was derived from."
            )


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
        for name, shape in self.values.shapes():
            if shape != self.spec.shape:
                raise SpecError(f"{self.spec.title}: {name} needs the shape {self.spec.shape}.")

    def __repr__(self) -> str:
        return f"<Cube {'×'.join(map(str, self.spec.shape)) or 'one cell'}: confidential>"

    @property
    def shape(self) -> tuple[int, ...]:
        """How many positions each axis has."""
        return self.spec.shape

    @property
    def dense(self) -> Cube:
        """The cube itself, which holds every cell; a sparse one has nothing here."""
        return self

    def held_for(self, purpose: str) -> Cube:
        """The cube, for what needs every cell; a sparse one refuses.

        Args:
            purpose: What needs every cell, for the message.
        """
        return self

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
        refuse_owned(self.spec, self.values)
        axes = rolled_axes(self.spec, by)
        wanted = {axis.variable.name: axis for axis in axes}
        kept = [axis.variable.name for axis in self.spec.axes if axis.variable.name in wanted]
        order = [kept.index(axis.variable.name) for axis in axes]
        sums: dict[str, Integers] = {}
        for name, array, combine in self.values.parts(self.origin.key_space):
            for at in reversed(range(len(self.spec.axes))):
                mine = self.spec.axes[at]
                target = wanted.get(mine.variable.name)
                array = _roll_axis(array, at, mine, target, combine, fields_of(name))
            sums[name] = array.transpose((*order, *range(len(order), array.ndim)))
        values = Accumulators.from_sums(sums, self.origin.key_space)
        return Cube(self.spec.with_axes(axes), self.origin, values)

    def select(self, **codes: str) -> Cube:
        """The part of the table with these codes: ``cube.select(sex="1", ed="P01")``."""
        spec, chosen = selection(self.spec, codes)
        index = tuple(chosen.get(at, slice(None)) for at in range(len(self.spec.axes)))
        # The ellipsis keeps a single cell an array.
        return Cube(spec, self.origin, self.values.map(lambda array: array[(*index, ...)]))

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


def refuse_owned(spec: TableSpec, values: Accumulators) -> None:
    """Refuse to make coarser cells from finer ones where amounts belong to owners.

    An owner with amounts in two cells is one contributor to both together.

    Raises:
        SpecError: The contributions to the table are those of owners.
    """
    if spec.amount is not None and spec.amount.owner and values.contributions is not None:
        raise SpecError(
            f"{spec.title}: the amounts of {spec.amount.name!r} belong to owners, who may have some"
            " in several cells: a coarser table is tabulated from the records, not made from this"
            " one."
        )


def rolled_axes(spec: TableSpec, by: Sequence[str]) -> tuple[Axis, ...]:
    """Axes to which a table is rolled up; only what it shows itself can be named."""
    variables = {axis.variable.name: axis.variable for axis in spec.axes}

    def named(name: str) -> Variable:
        if name not in variables:
            raise UnknownName("axis", name, known=variables, where="The table to roll up: ")
        return variables[name]

    axes = tuple(parse_axis(text, named) for text in by)
    if len({axis.variable.name for axis in axes}) != len(axes):
        raise SpecError("A variable can be only one axis of a table.")
    return axes


def selection(spec: TableSpec, codes: Mapping[str, str]) -> tuple[TableSpec, dict[int, int]]:
    """The table that is left when codes are chosen, and the chosen position of each axis."""
    universe = spec.universe
    chosen: dict[int, int] = {}
    for variable, code in codes.items():
        at = spec.position(variable)
        axis = spec.axes[at]
        chosen[at] = position = axis.position(str(code))
        axis_code = axis.codes[position]
        if not axis_code.is_total:
            block = next(block for block in axis.blocks if block.level == axis_code.level)
            level = axis.variable.level(axis_code.level)
            universe = restrict(
                universe, axis.variable, level.group_array == position - block.start
            )
    rest = tuple(axis for at, axis in enumerate(spec.axes) if at not in chosen)
    return replace(spec, axes=rest, universe=universe, name=""), chosen


def _roll_axis(
    array: Integers, at: int, mine: Axis, target: Axis | None, combine: Combine, fields: int
) -> Integers:
    """Replace an axis of an array by the levels of ``target``; sum it away without one."""
    empty = identity(combine, array.dtype)

    def rolled(block: Block, group: npt.NDArray[np.int64], size: int) -> Integers:
        part = np.take(array, range(block.start, block.start + block.size), axis=at)
        return regroup(part, at, group, size, combine, empty, fields)

    if target is None:
        whole = mine.blocks[-1]
        summed = rolled(whole, np.zeros(whole.size, dtype=np.int64), 1)
        return summed.reshape((*array.shape[:at], *array.shape[at + 1 :]))
    parts = [rolled(*block_behind(mine, wanted), wanted.size) for wanted in target.blocks]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=at)


def block_behind(mine: Axis, wanted: Block) -> tuple[Block, npt.NDArray[np.int64]]:
    """The coarsest block of an axis from which a wanted one adds up, and its groups."""
    if wanted.level == TOTAL:
        return mine.blocks[-1], np.zeros(mine.blocks[-1].size, dtype=np.int64)
    goal = mine.variable.level(wanted.level).group_array
    for block in reversed(mine.blocks):
        if block.level == wanted.level:
            return block, np.arange(block.size)  # codes without leaves stay in their places
        if block.level == TOTAL:
            continue
        fine = mine.variable.level(block.level).group_array
        group = np.zeros(block.size, dtype=np.int64)
        group[fine] = goal
        if (group[fine] == goal).all():
            return block, group
    shown = ", ".join(block.level for block in mine.blocks if block.level != TOTAL)
    raise SpecError(
        f"{mine.variable.name}@{wanted.level} is finer than what the table shows of"
        f" {mine.variable.name!r} ({shown}). Tabulate it instead of rolling up."
    )


def finish(spec: TableSpec, origin: Origin, base: Mapping[str, Integers]) -> Cube:
    """Make a cube from accumulators on the base groups of its axes, adding every margin."""
    layout = Layout(spec)
    full: dict[str, Integers] = {}
    for name, array in base.items():
        combine = Accumulators.combine_of(name, origin.key_space)
        entry = array.shape[len(spec.base_shape) :]
        empty = identity(combine, array.dtype)
        cells = np.full((layout.size, *entry), empty, dtype=array.dtype)
        corner = tuple(slice(0, size) for size in spec.base_shape)
        cells.reshape((*layout.shape, *entry))[corner] = array
        layout.add_margins(cells, combine, fields=fields_of(name))
        full[name] = layout.shown(cells)
    return Cube(spec, origin, Accumulators.from_sums(full, origin.key_space))
