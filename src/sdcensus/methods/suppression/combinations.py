"""What several tables tell together beyond their sums: combinations of codes as further cells.

Tables of A by B, of A by C and of B by C share margins, and as sums of cells they say no more about
each other. But all three count the same people: every combination of A, B and C is a count of its
own, from 0, that nobody sees. A pattern that is safe with these cells is safe against whoever knows
that; one that is safe by sums alone may not be.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from sdcensus.methods.suppression.intervals import Requirements
from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.audit.atoms import atoms_of, equations_with_atoms
from sdcensus.solvers.audit.system import FREE

#: Combinations and cells that engines with intervals look at together, at most.
MOST_TOGETHER = 2_000
#: Combinations up to which an audit looks at them.
MOST_ATOMS = 20_000


def say_more_than_sums(linked: LinkedCubes) -> bool:
    """Whether tables can say more about each other than their sums do.

    A single table does not, nor do two of the same people whose codes nest in each other: whatever
    fits both by its sums is two tables of some people. Classes that cut each other do: whoever is
    70 or older is 65 or older, whatever other classes the two tables show.
    """
    specs = linked.tables.specs
    conditions = {spec.universe.everything for spec in specs}
    several = len(specs) > 2 or (len(specs) > 1 and conditions != {True})
    return several or any(_cut_each_other(*pair) for pair in itertools.combinations(specs, 2))


def _cut_each_other(first: TableSpec, second: TableSpec) -> bool:
    """Whether a variable has codes in two tables of which neither table's nest in the other's."""
    axes = {axis.variable.name: axis for axis in second.axes}
    shared = ((axis, axes[axis.variable.name]) for axis in first.axes if axis.variable.name in axes)
    return any(not _nests(a, b) and not _nests(b, a) for a, b in shared)


def _nests(fine: Axis, coarse: Axis) -> bool:
    """Whether each of the finest groups of an axis lies within one of another's."""
    pairs = fine.base.astype(np.int64) * coarse.base_size + coarse.base
    return np.unique(pairs).size == np.unique(fine.base).size


def few_enough(linked: LinkedCubes) -> bool:
    """Whether all combinations can be looked at."""
    return atoms_of(linked.tables) + linked.tables.size <= MOST_TOGETHER


def with_combinations(
    linked: LinkedCubes, problem: SuppressionProblem, asked: Requirements
) -> tuple[SuppressionProblem, Requirements]:
    """The same with a cell for each combination of codes, behind the others; nobody sees them."""
    equations = equations_with_atoms(linked.tables)
    more = equations.shape[1] - problem.size
    atoms = linked.atoms
    counts = np.zeros(more, dtype=np.int64)
    counts[atoms.numbers.astype(np.int64)] = atoms.counts
    none, nothing = np.zeros(more, dtype=bool), np.zeros(more, dtype=np.int64)
    values, least, most = counts, nothing, np.full(more, FREE, dtype=np.int64)
    if problem.reach is not None and problem.reach.combined is not None:
        # The sums of tables are changes of the true ones, and so are those of combinations.
        values, least, most = nothing, -problem.reach.combined[0], problem.reach.combined[1]
    wider = replace(
        problem,
        counts=np.append(problem.counts, counts),
        values=np.append(problem.values, values),
        shown=np.append(problem.shown, none),
        primary=np.append(problem.primary, none),
        forced=np.append(problem.forced, none),
        frozen=np.append(problem.frozen, none),
        before=None if problem.before is None else np.append(problem.before, none),
        cost=np.append(problem.cost, nothing),
        least=np.append(problem.least, least),
        equations=equations,
    )
    return wider, replace(
        asked,
        lower=np.append(asked.lower, nothing),
        upper=np.append(asked.upper, nothing),
        width=np.append(asked.width, nothing),
        least=np.append(asked.least, least),
        most=np.append(asked.most, most),
        alone=np.append(asked.alone, np.full(more, -1, dtype=np.int64)),
    )
