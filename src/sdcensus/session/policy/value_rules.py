"""Rules on published numbers: mean cell size, shares of ones and twos, population of areas.

They judge the table without its condition, whose variables are axes of it instead. A condition
then cannot be used to ask for a refused table slice by slice: every slice is judged as the whole.
Of that table, the mean cell size needs the published totals of areas only, and how many cells an
area has follows from code lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.policy.policy import OnlineRules, Policy
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.schema.structural import structural_zeros
from sdcensus.model.spec.levels_told_apart import Use, unfiltered, uses_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.policy.code_rules import area_uses

#: Gives the published table of a specification.
Publish = Callable[[TableSpec], AnyTable]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
#: More cells, or people, than any table has.
_MOST = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Areas:
    """The areas of a table with their published populations.

    Attributes:
        use: How the table uses areas; ``None`` where it is about the whole country.
        spec: The table of populations: areas at the levels that matter, and their total.
        population: What is published in it; 0 where a sign stands.
    """

    use: Use | None
    spec: TableSpec
    population: Int64

    @property
    def whole(self) -> int:
        """The published total over all areas."""
        return int(self.population.reshape(-1)[-1])


def population_specs(policy: Policy, spec: TableSpec) -> tuple[tuple[Use | None, TableSpec], ...]:
    """The tables of the populations that the rules read: areas alone, of everybody.

    One for each variable of areas that the table uses, the main geography first; the country as a
    whole where it uses none.
    """
    plain = unfiltered(spec)
    uses = area_uses(policy, uses_of(spec))
    if not uses:
        return ((None, plain.with_axes(())),)
    return tuple((use, plain.with_axes((plain.axis(use.variable.name),))) for use in uses)


def needed_tables(policy: Policy, spec: TableSpec, rules: OnlineRules) -> tuple[TableSpec, ...]:
    """The published tables that decide about a table."""
    needed = []
    sizes = (rules.mean_cell_size, rules.mean_cell_size_of_table, rules.minimum_population)
    if any(size is not None for size in sizes):
        needed += [wanted for _, wanted in population_specs(policy, spec)]
    if rules.ones is not None or rules.ones_and_twos is not None:
        needed.append(unfiltered(spec))
    everything, totals = spec.universe.everything, all(axis.total for axis in spec.axes)
    if rules.minimum_population is not None and not everything and not totals:
        needed.append(spec.with_axes(()))
    return tuple(needed)


def areas_of(
    policy: Policy, spec: TableSpec, table: AnyTable | None, published: Publish | None
) -> tuple[Areas, ...]:
    """The published populations of the areas of a table; from the table itself, if it is given.

    Those of the main geography come first.
    """
    areas = []
    for use, wanted in population_specs(policy, spec):
        values = None if table is None else _population_in(table, wanted)
        if values is None:
            values = _values(ask_published(published, wanted, spec))
        areas.append(Areas(use, wanted, values))
    return tuple(areas)


def universe_population(spec: TableSpec, table: AnyTable | None, published: Publish | None) -> int:
    """The published number of units that a table is about: of those that its condition chooses."""
    if table is None or not all(axis.total for axis in spec.axes):
        table = ask_published(published, spec.with_axes(()), spec)
    # The last cell is the total of everything.
    return int(table.at(np.array([table.spec.cells - 1], dtype=np.uint64))[0])


def _population_in(table: AnyTable, wanted: TableSpec) -> Int64 | None:
    """The populations from the table itself, if it shows them."""
    spec = table.spec
    if not spec.universe.everything or not all(axis.total for axis in spec.axes):
        return None
    names = [axis.variable.name for axis in wanted.axes]
    rows = [
        np.arange(size) if axis.variable.name in names else np.array([size - 1])
        for axis, size in zip(spec.axes, spec.shape, strict=True)
    ]
    numbers = np.zeros((), dtype=np.int64)
    if rows:
        numbers = np.ravel_multi_index(np.ix_(*rows), spec.shape)
    cells = numbers.reshape(-1).astype(np.uint64)
    return table.at(cells).reshape(wanted.shape)


def ask_published(published: Publish | None, wanted: TableSpec, spec: TableSpec) -> AnyTable:
    """The published table that decides about another one."""
    if published is None:
        raise SpecError(
            f"{spec.title}: the policy decides on the published table of {wanted.title}, without"
            " conditions and with totals. Say how it is published: published=..."
        )
    table = published(wanted)
    if table.spec != wanted:
        raise SpecError(f"The table of {wanted.title} was asked for, and {table.spec.title} came.")
    return table


def _values(table: AnyTable) -> Int64:
    if isinstance(table, Table):
        return table.published
    return table.at(np.arange(table.spec.cells, dtype=np.uint64)).reshape(table.shape)


# ------------------------------------------------------------------------------ mean cell size


def interior_cells(policy: Policy, spec: TableSpec, areas: Areas, rules: OnlineRules) -> Int64:
    """For each position of the table of populations, how many interior cells stand behind it."""
    plain = unfiltered(spec)
    names = [axis.variable.name for axis in areas.spec.axes]
    others = [axis for axis in plain.axes if axis.variable.name not in names]
    inside = min(math.prod(axis.base_size for axis in others), _MOST)
    cells = np.full(areas.spec.shape, inside, dtype=np.int64)
    for axis in areas.spec.axes:
        cells[-1] = min(inside * axis.base_size, _MOST)
    if not rules.exclude_structural_zeros:
        return cells
    try:
        empty = structural_zeros(plain, policy.schema)
    except SpecError:
        return cells  # too many combinations to tell: all cells count, which is stricter
    held = ~empty
    for at in reversed(range(len(plain.axes))):
        axis = plain.axes[at]
        if axis.variable.name in names:
            continue
        # Without nested levels no position is a base group: all cells count, which is stricter.
        if not axis.base_is_shown:
            return cells
        held = np.take(held, range(axis.base_size), axis=at).sum(axis=at)
    counted = np.asarray(held, dtype=np.int64).reshape(areas.spec.shape)
    for axis in areas.spec.axes:
        if not axis.base_is_shown:
            return cells
        counted = counted.copy()
        counted[-1] = counted[: axis.base_size].sum()
    return counted


def below_mean(population: Int64, cells: Int64, size: float) -> Mask:
    """Where the mean cell size lies below a limit, compared without floating point."""
    limit = Fraction(str(size))
    kinds, which = np.unique(cells, return_inverse=True)
    least = [min(math.ceil(limit * int(kind)), _MOST) for kind in kinds]
    return np.asarray(population < np.array(least, dtype=np.int64)[which].reshape(cells.shape))


# ------------------------------------------------------------------------------------- shares


@dataclass(frozen=True, slots=True)
class ValueShares:
    """How many interior cells are published as 1, as 2, and as anything but 0."""

    ones: int
    twos: int
    nonzero: int

    def above(self, limit: float | None, *, twos: bool) -> bool:
        """Whether the share lies above a limit; a table without any such cell has none."""
        if limit is None or not self.nonzero:
            return False
        small = self.ones + (self.twos if twos else 0)
        return small > Fraction(str(limit)) * self.nonzero


def shares_of(spec: TableSpec, table: AnyTable | None, published: Publish | None) -> ValueShares:
    """The shares of a table without its condition."""
    if table is None or not spec.universe.everything:
        table = ask_published(published, unfiltered(spec), spec)
    values = _interior(table)
    small = np.bincount(np.clip(values, 0, 3), minlength=4)
    return ValueShares(int(small[1]), int(small[2]), int(np.count_nonzero(values)))


def _interior(table: AnyTable) -> Int64:
    """Published values of interior cells; of levels that do not nest, of all but totals."""
    sizes = [
        axis.base_size if axis.base_is_shown else len(axis.codes) - axis.total
        for axis in table.spec.axes
    ]
    if isinstance(table, Table):
        inside: Any = (*(slice(0, size) for size in sizes), ...)
        return np.asarray(table.published[inside]).reshape(-1)
    limits = np.array(sizes, dtype=np.int64).reshape(-1, 1)
    return table.published[(table.positions() < limits).all(axis=0)]


# ----------------------------------------------------------------------------------- the areas


def sums_at(areas: Areas, spec: TableSpec) -> Int64 | None:
    """Populations of the areas of another version of a table, as sums of published ones.

    ``None`` where the other version shows areas that are no unions of these.
    """
    if areas.use is None or not spec.axes:
        return np.array(areas.whole).reshape(spec.shape)
    mine, theirs = areas.spec.axes[0], spec.axes[0]
    parts = []
    for level in theirs.levels:
        sums = None
        for block, own in zip(mine.blocks, mine.levels, strict=False):
            if own.refines(level):
                values = areas.population[block.start : block.start + block.size]
                group = np.zeros(block.size, dtype=np.int64)
                group[own.group_array] = level.group_array
                sums = np.bincount(group, values, len(level.codes)).astype(np.int64)
                if own.name == level.name:
                    sums = values
                    break
        if sums is None:
            return None
        parts.append(sums)
    return np.concatenate([*parts, areas.population[-1:]])
