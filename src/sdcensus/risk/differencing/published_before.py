"""A table against everything that was published before it, and exempt totals against each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import AnyTable, PublishedTable, SparseTable, Table
from sdcensus.model.spec.leaf_groups import leaf_blocks
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.findings import Findings
from sdcensus.risk.differencing.differences import differences_between
from sdcensus.risk.differencing.tiling import values_from
from sdcensus.store.registry import Registry

#: How an office gets the true counts of a table that it published earlier.
Tabulate = Callable[[TableSpec], AnyCube]
_Earlier = TableSpec | Cube | AnyTable
Before = Registry | Iterable[TableSpec | Cube | Table | PublishedTable]


def differences_with(
    source: Cube | Table,
    before: Before,
    *,
    threshold: int = 2,
    tabulate: Tabulate | None = None,
    progress: Progress = no_progress,
) -> tuple[Findings, ...]:
    """Find few units that a table shows together with tables that were published before.

    Also within the table itself, where its own levels do not nest.

    Args:
        source: True counts of the new table, for findings that are so; or its published values,
            for findings that a reader would think.
        before: A registry, or specifications, cubes or published tables.
        threshold: The largest number of units that is found, from 1.
        tabulate: Gives the true counts of a specification. Without it the true counts of earlier
            tables come from ``source`` alone, where it is fine enough; otherwise they are asked
            for.
        progress: Told how many of the earlier tables are done.
    """
    earlier = _earlier(source, before)
    found: list[Findings] = [*differences_between(source, source, threshold=threshold)]
    for done, one in enumerate(earlier):
        progress("Comparing with earlier tables", done / len(earlier))
        spec = one if isinstance(one, TableSpec) else one.spec
        if spec != source.spec:
            other = _counterpart(source, one, tabulate)
            found += differences_between(source, other, threshold=threshold)
    progress("Comparing with earlier tables", 1.0)
    return tuple(found)


def exempt_differences(
    specs: Sequence[TableSpec],
    counts: Cube | Tabulate,
    *,
    threshold: int = 2,
) -> tuple[Findings, ...]:
    """Find few units that exempt cells, which are published as they are, show together.

    Args:
        specs: The tables of exempt cells, for example of persons by parish and by constituency.
        counts: A cube fine enough to count all of them, or what gives the counts of each.
        threshold: The largest number of units that is found, from 1.
    """
    cubes = [_counted(spec, counts) for spec in specs]
    pairs = itertools.combinations_with_replacement(cubes, 2)
    found = (differences_between(one, other, threshold=threshold) for one, other in pairs)
    return tuple(itertools.chain.from_iterable(found))


def _earlier(source: Cube | Table, before: Before) -> list[_Earlier]:
    if isinstance(before, Registry):
        return list(before.specs()) if isinstance(source, Cube) else list(before.tables())
    return [entry.table if isinstance(entry, PublishedTable) else entry for entry in before]


def _counterpart(source: Cube | Table, other: _Earlier, tabulate: Tabulate | None) -> Cube | Table:
    """An earlier table with numbers of the same kind as the new one has."""
    if isinstance(source, Table):
        if isinstance(other, Table):
            return other
        if isinstance(other, SparseTable):
            raise _too_large(other.spec)
        raise SpecError(
            "The published values of earlier tables are needed to compare a published table with"
            " them; give published tables or a registry."
        )
    if isinstance(other, Cube):
        return other
    spec = other if isinstance(other, TableSpec) else other.spec
    return _counted(spec, source if tabulate is None else tabulate)


def _counted(spec: TableSpec, counts: Cube | Tabulate) -> Cube:
    """The true counts of a table, from a finer cube or from whoever can count."""
    if not isinstance(counts, Cube):
        cube = counts(spec)
        if not isinstance(cube, Cube):
            raise _too_large(spec)
        return cube
    if counts.spec == spec and counts.shape == spec.shape:
        return counts
    values, known = values_from(spec, counts.spec, counts.count)
    if not known[_possible(spec)].all():
        raise SpecError(
            f"{spec.title} cannot be counted from {counts.spec.title}, which is coarser or about"
            " other records. Say how tables are counted (tabulate=), or give a finer cube."
        )
    keys = np.zeros(spec.shape, dtype=np.uint32)
    return Cube(spec, counts.origin, Accumulators(values, keys))


def _possible(spec: TableSpec) -> npt.NDArray[np.bool_]:
    """Which cells stand for any leaves at all."""
    possible = np.ones(spec.shape, dtype=bool)
    for at, axis in enumerate(spec.axes):
        leaves = np.concatenate([block.leaves for block in leaf_blocks(spec, axis.variable)])
        possible &= (leaves > 0).reshape([-1 if axis == at else 1 for axis in range(possible.ndim)])
    return possible


def _too_large(spec: TableSpec) -> SpecError:
    return SpecError(
        f"{spec.title} is too large to be compared with other tables cell by cell. Take fewer or"
        " coarser axes."
    )
