"""What is said of each cell: what everybody knows of it, when it is opened, why it is closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.problem import SuppressionProblem, least_with_parts
from sdcensus.methods.suppression.rules import Rule
from sdcensus.methods.suppression.settings import Order
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.elsewhere import CellsElsewhere
from sdcensus.solvers.audit.system import FREE

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def least_known(linked: LinkedCubes, *, zeros_shown: bool) -> Int64:
    """What everybody knows each cell to be at least.

    Where empty cells are shown, a closed one holds somebody: three closed cells of which the
    total is 3 are three ones. Rules that close empty cells say in which lines; on the safe side
    it is known which of the closed ones are empty.
    """
    told = linked.tables.published & zeros_shown
    filled = np.asarray(told & (linked.counts > 0), dtype=np.int64)
    if linked.sums is None:
        return least_with_parts(linked.tables.equations, filled)
    # On the safe side it is known to which sums nobody contributes less than 0.
    filled[linked.sums.negative] = 0
    least = least_with_parts(linked.tables.equations, filled)
    return np.where(linked.sums.negative, -FREE, least)


def opening_order(linked: LinkedCubes, order: Order, earlier: CellsElsewhere) -> Int64:
    """The cells that are shown, those first that are to be kept open first."""
    tables, counts = linked.tables, np.abs(linked.values)
    before, _ = earlier.masks(tables)
    keys: list[npt.NDArray[Any]] = [tables.hashes[:, 1], tables.hashes[:, 0]]
    if order is Order.LARGE:
        keys += [-tables.depth(), -counts]
    elif order is Order.TOTALS:
        keys += [-counts, -tables.depth()]
    else:
        keys += [-counts, -tables.depth(), linked.counts > 0]
    # What was open before stays so if it can.
    cells = np.lexsort((*keys, ~before))
    return np.asarray(cells[tables.published[cells]], dtype=np.int64)


def named(rule: Rule) -> str:
    """What an own rule is called, for what decides the numbers."""
    return f"{getattr(rule, '__module__', '')}.{getattr(rule, '__qualname__', repr(rule))}"


def reasons_of(
    problem: SuppressionProblem, closed: Mask, by_rule: Mapping[str, Mask]
) -> tuple[tuple[str, Mask], ...]:
    """Why each closed cell is closed; an open one has no reason."""
    rules = {f"primary: {name}": mask & closed for name, mask in by_rule.items()}
    by_a_rule = np.logical_or.reduce(list(by_rule.values()))
    sums = problem.primary & ~by_a_rule
    earlier = problem.frozen & ~problem.primary
    return (
        *rules.items(),
        ("primary: empty sum", sums & closed),
        ("earlier", earlier & closed),
        ("secondary", closed & ~problem.primary & ~earlier),
    )
