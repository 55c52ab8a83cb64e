"""Which cells may not be shown: rules from a table of true counts to a mask of its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.cube.constraints import level_steps
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.spec.table_spec import TableSpec, area_axis, geography_axes

Mask = npt.NDArray[np.bool_]

#: A mask of the cells of a table, in its shape, from its true counts. Own rules are such functions.
Rule = Callable[[Cube], Mask]


def fewer_than(minimum: int, *, zeros: bool = False) -> Rule:
    """Cells with at least one and fewer than so many units.

    Args:
        minimum: The smallest count that may be shown.
        zeros: Whether empty cells may not be shown either.
    """

    def rule(cube: Cube) -> Mask:
        small: Mask = cube.count < minimum
        return small if zeros else small & (cube.count > 0)

    return rule


def group_disclosure(members: int = 0, axes: Sequence[str] = ()) -> Rule:
    """Lines in which all of a group, or all but a few, are in one cell.

    The cell and what is beside it in the line are closed, the empty ones too: they tell in which
    cell everybody is. A group is a total of two units or more.

    Args:
        members: So many of the group may be elsewhere: they would know of all others.
        axes: The variables whose codes are what a group must not be known for; all by default. A
            table without them has no such lines.
    """

    def rule(cube: Cube) -> Mask:
        closed = np.zeros(cube.shape, dtype=bool)
        for at, axis in enumerate(cube.spec.axes):
            if axes and axis.variable.name not in axes:
                continue
            for step in level_steps(axis.blocks):
                parts = np.take(cube.count, step.parts, axis=at)
                total = np.take(step.sums(cube.count, at), step.parent, axis=at)
                several = step.sizes[step.parent] > 1
                side = [1] * parts.ndim
                side[at] = -1
                whole = (total >= 2) & (total - members <= parts) & several.reshape(side)
                lines = step.sums(_spread(whole, step.parts, at, cube.shape), at) > 0
                hit = np.take(lines, step.parent, axis=at) & (whole | (parts <= members))
                closed |= _spread(hit, step.parts, at, cube.shape) > 0
        return closed

    return rule


def _spread(
    mask: Mask, positions: npt.NDArray[np.int64], axis: int, shape: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    """Numbers of a table from a mask of some positions of an axis."""
    values = np.zeros(shape, dtype=np.int64)
    index: list[Any] = [slice(None)] * len(shape)
    values[(*index[:axis], positions, *index[axis + 1 :])] = mask
    return values


def one_household() -> Rule:
    """Cells of persons who all live in one household."""

    def rule(cube: Cube) -> Mask:
        first, last = cube.values.first_household, cube.values.last_household
        if first is None or last is None:
            raise SpecError(
                f"{cube.spec.title}: the table was counted without households. Count it with"
                " tabulate(..., households=True); the rule is for tables of persons."
            )
        return np.asarray((cube.count > 0) & (first == last) & (first != NO_ROW))

    return rule


def small_areas(population: int, area: str | None = None) -> Rule:
    """All cells that hold somebody, of areas with fewer units in the table than that.

    A table without areas has no such cells.

    Args:
        population: The smallest area whose cells may be shown.
        area: The variable; the first geography of the table by default.
    """

    def rule(cube: Cube) -> Mask:
        if not has_areas(cube.spec, area):
            return np.zeros(cube.shape, dtype=bool)
        at = area_axis(cube.spec, area)
        count = cube.count
        for other, axis in enumerate(cube.spec.axes):
            if other != at:
                # The finest level of each other axis holds everybody once.
                count = np.take(count, range(axis.base_size), axis=other).sum(
                    axis=other, keepdims=True
                )
        return np.asarray(np.broadcast_to(count < population, cube.shape) & (cube.count > 0))

    return rule


def has_areas(spec: TableSpec, area: str | None) -> bool:
    """Whether a table has an axis of a variable; of any geography where none is named."""
    if area is None:
        return bool(geography_axes(spec))
    return any(axis.variable.name == area for axis in spec.axes)


def check_variables(
    specs: Sequence[TableSpec], axes: Sequence[str], population: int | None, area: str | None
) -> None:
    """Refuse rules about variables that none of the tables shows.

    Args:
        specs: The tables that are protected together.
        axes: The variables of a rule about groups.
        population: The smallest area; ``None`` for no such rule.
        area: The variable of the areas, if it is named.

    Raises:
        SpecError: A rule holds in no table.
    """
    for name in axes:
        if not any(has_areas(spec, name) for spec in specs):
            specs[0].position(name)
    if population is not None and not any(has_areas(spec, area) for spec in specs):
        area_axis(specs[0], area)


def any_of(*rules: Rule, unless: Rule | None = None) -> Rule:
    """Cells of which one of the rules holds, without those of another.

    Examples:
        >>> unsafe = any_of(fewer_than(3), one_household(), unless=fewer_than(1, zeros=True))
    """

    def rule(cube: Cube) -> Mask:
        mask = np.zeros(cube.shape, dtype=bool)
        for each in rules:
            mask |= _checked(each(cube), cube)
        return mask if unless is None else mask & ~_checked(unless(cube), cube)

    return rule


def primary_cells(linked: LinkedCubes, rule: Rule) -> Mask:
    """The distinct cells of linked tables of which a rule holds in some table."""
    primary = np.zeros(linked.tables.size, dtype=bool)
    for cube, cells in zip(linked.cubes, linked.tables.cell_of, strict=True):
        hit = cells[_checked(rule(cube), cube)]
        primary[hit[hit >= 0]] = True
    return primary


def with_empty_sums(linked: LinkedCubes, primary: Mask) -> Mask:
    """Primary cells, and the empty sums of which an empty primary cell is a part.

    A sum of 0 tells that all its parts are 0.
    """
    matrix, empty = linked.tables.equations, linked.counts == 0
    parts, sums = matrix.values > 0, (matrix.values < 0) & empty[matrix.columns]
    told = primary & empty
    while True:
        lines = np.zeros(matrix.shape[0], dtype=bool)
        lines[matrix.rows[parts & told[matrix.columns]]] = True
        further = told.copy()
        further[matrix.columns[sums & lines[matrix.rows]]] = True
        if (further == told).all():
            protected: Mask = primary | (told & linked.tables.published)
            return protected
        told = further


def _checked(mask: Mask, cube: Cube) -> Mask:
    """Refuse an own rule that gives something else than a mask of the table."""
    given = np.asarray(mask)
    if given.dtype != np.bool_ or given.shape != cube.shape:
        raise SpecError(
            f"{cube.spec.title}: a rule gives a mask of the shape {cube.shape}, true where a cell"
            " may not be shown."
        )
    return given
