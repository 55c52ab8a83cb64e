"""Looks that are counted in the records of a census: how well each cell of a kind is seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.policy.menu import Menu, MenuVariable
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Level
from sdcensus.risk.looks.data import CellLooks, Collector
from sdcensus.session.census.census import Census

#: So many choices of variables are counted at most.
MOST_TABLES = 3_000
#: And for at most so many cells: each is compared with every other one.
MOST_CELLS = 3_000

Int64 = npt.NDArray[np.int64]


def looks_in_data(
    census: Census,
    menu: Menu,
    chosen: Mapping[str, Level | str],
    *,
    perturbation: Perturbation | None = None,
    unbroken: int = 0,
    most_tables: int = MOST_TABLES,
    progress: Progress = no_progress,
) -> CellLooks:
    """The looks at every cell with these variables at these levels, from the census itself.

    Every choice of variables that a table may have is counted together with those of the cell,
    fewer variables first, up to a number of choices.

    Args:
        census: The census.
        menu: The tables that may be asked for.
        chosen: The levels of the cells by variable; names will do.
        perturbation: Of the cells, if small counts shall have the noise that they get.
        unbroken: Groups of fewer records than this are not broken down in any table: the smallest
            group of a policy less the largest deviation.
        most_tables: How many choices of variables are counted at most.
        progress: Told how far it is.
    """
    levels = {
        name: menu.variable(name).variable.level(level) if isinstance(level, str) else level
        for name, level in chosen.items()
    }
    menu = replace(menu, cells=None)  # a larger table can be asked for area by area
    if not menu.allows(levels):
        raise SpecError(f"The menu has no table by {', '.join(levels)}, so nobody looks at it.")
    shape = [len(level.codes) for level in levels.values()]
    own = census.tabulate(*_axes(levels), of=menu.of)
    positions, count = _filled(own)
    if count.size > MOST_CELLS:
        raise SpecError(
            f"Looks are counted for at most {MOST_CELLS:,} cells at a time, and"
            f" {', '.join(levels)} have more. Take coarser levels or fewer variables."
        )
    place = np.full(math.prod(shape), -1, dtype=np.int64)
    place[_joined(positions, shape, count.size)] = np.arange(count.size)
    collector = Collector(count, perturbation)
    choices = [
        menu_variables
        for number in range(min(menu.dimensions, len(menu.variables)) + 1)
        for menu_variables in itertools.combinations(menu.variables, number)
    ]
    counted = choices[:most_tables]
    for at, variables in enumerate(counted):
        progress("counting tables", at / len(counted))
        _collect(collector, place, census, menu, levels, variables, unbroken)
    title = ", ".join(f"{name}@{level.name}" for name, level in levels.items())
    left_out = len(choices) - len(counted)
    return CellLooks(title, count, collector.looks(), len(counted), left_out)


def _axes(levels: Mapping[str, Level]) -> list[str]:
    return [f"{name}@{level.name}-total" for name, level in levels.items()]


def _joined(codes: Sequence[Int64], sizes: Sequence[int], length: int) -> Int64:
    """Positions along several axes as one."""
    numbers = np.zeros(length, dtype=np.int64)
    for code, size in zip(codes, sizes, strict=True):
        numbers = numbers * size + code
    return numbers


def _collect(
    collector: Collector,
    place: Int64,
    census: Census,
    menu: Menu,
    levels: Mapping[str, Level],
    variables: Sequence[MenuVariable],
    unbroken: int,
) -> None:
    """Add all tables by these variables, at all their levels."""
    tables = [
        dict(zip((variable.variable.name for variable in variables), chosen, strict=True))
        for chosen in itertools.product(*(variable.levels for variable in variables))
    ]
    tables = [table for table in tables if menu.allows(table)]
    if not tables:
        return
    names = dict.fromkeys([*levels, *(variable.variable.name for variable in variables)])
    # The cells and every level of the tables can be told from the leaves.
    finest = {name: _finest(menu.variable(name), levels.get(name)) for name in names}
    positions, count = _filled(census.tabulate(*_axes(finest), of=menu.of))
    leaf = {name: _a_leaf(finest[name])[at] for name, at in zip(names, positions, strict=True)}
    codes = [level.group_array[leaf[name]] for name, level in levels.items()]
    cell = place[_joined(codes, [len(level.codes) for level in levels.values()], count.size)]
    for table in tables:
        own = [level.group_array[leaf[name]] for name, level in table.items()]
        sizes = [len(level.codes) for level in table.values()]
        part = np.unique(_joined(own, sizes, count.size), return_inverse=True)[1].reshape(-1)
        shown = _broken_down(own, sizes, count, unbroken)
        collector.add(cell[shown], part[shown], count[shown])


def _broken_down(
    codes: Sequence[Int64], sizes: Sequence[int], count: Int64, unbroken: int
) -> npt.NDArray[np.bool_]:
    """Which groups lie in cells of a table that are shown: without any axis there are enough."""
    shown = np.ones(count.size, dtype=bool)
    if unbroken > 0:
        for at in range(len(codes)):
            others = _joined(
                [*codes[:at], *codes[at + 1 :]], [*sizes[:at], *sizes[at + 1 :]], count.size
            )
            group = np.unique(others, return_inverse=True)[1].reshape(-1)
            shown &= np.bincount(group, count)[group] >= unbroken
    return shown


def _finest(one: MenuVariable, own: Level | None) -> Level:
    """A level from which all others on the menu follow, and that of the cells."""
    levels = [*one.levels, *([own] if own is not None else [])]
    for level in levels:
        if all(level.refines(other) for other in levels):
            return level
    return one.variable.level(None)


def _a_leaf(level: Level) -> Int64:
    """Some leaf of each code."""
    leaves = np.zeros(len(level.codes), dtype=np.int64)
    leaves[level.group_array] = np.arange(len(level.group_array))
    return leaves


def _filled(cube: AnyCube) -> tuple[list[Int64], Int64]:
    """Of every cell with records: its place along each axis, and its count."""
    if isinstance(cube, SparseCube):
        block = next(cube.blocks())
        return [positions.astype(np.int64) for positions in block.positions.T], block.values.count
    places = np.flatnonzero(cube.count)
    positions = [*np.unravel_index(places, cube.shape)] if cube.shape else []
    return positions, cube.count.reshape(-1)[places]
