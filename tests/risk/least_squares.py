"""The variance of the best linear estimate by brute force: every cell, one equation each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.model.policy.menu import Menu
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec

Float64 = npt.NDArray[np.float64]
#: A cell: for each variable the leaves that it holds.
Cell = tuple[frozenset[int], ...]


def groups(level: Level) -> list[frozenset[int]]:
    """The leaves of each code that has any."""
    found: dict[int, set[int]] = {}
    for leaf, code in enumerate(level.group):
        found.setdefault(code, set()).add(leaf)
    return [frozenset(found[code]) for code in sorted(found)]


def everything(variable: Variable) -> frozenset[int]:
    return frozenset(range(len(variable.codes)))


def cells_of_menu(menu: Menu) -> set[Cell]:
    """Every cell of every table that a menu allows; the same leaves are the same cell."""
    found: set[Cell] = set()
    for levels in itertools.product(*([None, *variable.levels] for variable in menu.variables)):
        table = {
            variable.variable.name: level
            for variable, level in zip(menu.variables, levels, strict=True)
            if level is not None
        }
        if menu.allows(table):
            sets = [
                [everything(variable.variable)] if level is None else groups(level)
                for variable, level in zip(menu.variables, levels, strict=True)
            ]
            found.update(itertools.product(*sets))
    return found


def cell_of(
    variables: Sequence[Variable], chosen: Mapping[str, Level], codes: Mapping[str, str]
) -> Cell:
    found = []
    for variable in variables:
        leaves = everything(variable)
        if variable.name in chosen:
            level = chosen[variable.name]
            at = [code.code for code in level.codes].index(codes[variable.name])
            leaves = frozenset(leaf for leaf, code in enumerate(level.group) if code == at)
        found.append(leaves)
    return tuple(found)


def indicator(cell: Cell, shape: Sequence[int]) -> Float64:
    inside = np.zeros(shape)
    inside[np.ix_(*(sorted(one) for one in cell))] = 1
    return inside.reshape(-1)


def least_squares_weights(shown: Iterable[Cell], target: Cell, shape: Sequence[int]) -> Float64:
    """The weights of published cells in the best linear estimate of a cell."""
    equations = np.stack([indicator(one, shape) for one in shown])
    wanted = indicator(target, shape)
    # weights @ equations = wanted, with the smallest sum of squares: the best linear estimate
    weights, *_ = np.linalg.lstsq(equations.T, wanted, rcond=None)
    assert np.allclose(weights @ equations, wanted, atol=1e-8)
    return np.asarray(weights)


def least_squares_looks(shown: Iterable[Cell], target: Cell, shape: Sequence[int]) -> float:
    """One over the variance of the best linear estimate of a cell from noisy cells."""
    weights = least_squares_weights(shown, target, shape)
    return 1 / float(weights @ weights)


def cells_of_tables(specs: Iterable[TableSpec], variables: Sequence[Variable]) -> set[Cell]:
    """Every cell of some tables; conditions are products of codes."""
    found: set[Cell] = set()
    for spec in specs:
        selected = {
            variable.name: frozenset(np.flatnonzero(leaves_in(spec.universe, variable)).tolist())
            for variable in spec.universe.variables
        }
        axes = {axis.variable.name: axis for axis in spec.axes}
        sets = []
        for variable in variables:
            inside = selected.get(variable.name, everything(variable))
            codes = [inside]
            if variable.name in axes:
                axis = axes[variable.name]
                codes = [group & inside for level in axis.levels for group in groups(level)]
                codes += [inside] if axis.total else []
            sets.append([leaves for leaves in codes if leaves])
        found.update(itertools.product(*sets))
    return found
