"""Audits of withheld cells: time by how many there are, by the number of axes, and with atoms.

``python -m benchmarks --only audit`` draws tables with many small counts, withholds those below 3
and, in every line with one withheld cell, the smallest other one. What is measured is the audit
alone: intervals of all withheld cells.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Line
from sdcensus.model.cube.constraints import SparseMatrix, constraints, with_totals
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.quantities import duration_text
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Variable
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.audit.audit import audit_cells
from sdcensus.solvers.audit.intervals import CellIntervals
from sdcensus.solvers.audit.linked import audit_linked

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Each axis as codes and codes of the level above them (0: none); then the mean of a cell.
_TABLES = (
    ("areas × age groups", ((60, 8), (40, 5)), 4.0),
    ("areas × sex × age groups", ((30, 8), (2, 0), (12, 4)), 12.0),
    ("areas × sex × age groups", ((110, 8), (2, 0), (12, 4)), 12.0),
    ("areas × sex × age groups", ((300, 20), (2, 0), (12, 4)), 12.0),
    ("areas × occupation × age groups", ((40, 8), (12, 0), (12, 4)), 30.0),
    ("areas × occupation × age groups", ((100, 8), (15, 0), (12, 4)), 30.0),
    ("four axes, one of them large", ((10, 4), (6, 0), (8, 3), (4, 0)), 75.0),
)
_PROMISED, _LIMIT = 2_000, 30.0


def _axis(name: str, codes: int, groups: int) -> Axis:
    listed = tuple(Code(f"{name}{at}") for at in range(codes))
    trees: tuple[Hierarchy, ...] = ()
    if groups:
        above = tuple(Code(f"{name}_{at}") for at in range(groups))
        level = Level(f"{name}_above", above, tuple(at * groups // codes for at in range(codes)))
        trees = (Hierarchy("tree", (level,)),)
    variable = Variable(name=name, entity=Entity.PERSON, codes=listed, hierarchies=trees)
    return make_axis(variable, list(variable.levels()), total=True)


def _table(sizes: Sequence[tuple[int, int]], mean: float) -> tuple[SparseMatrix, Int64, Mask]:
    """A table, and the cells that are withheld."""
    axes = tuple(_axis(name, *size) for name, size in zip("abcd", sizes, strict=False))
    spec = TableSpec(of=Entity.PERSON, axes=axes)
    draw = np.random.default_rng(1)
    counts = with_totals(spec, draw.poisson(draw.gamma(0.5, 2 * mean, spec.base_shape)))
    equations, flat = constraints(spec), counts.reshape(-1)
    return equations, flat, _withheld(equations, flat)


def _withheld(equations: SparseMatrix, counts: Int64) -> Mask:
    hidden = (counts > 0) & (counts < 3)
    lines = [equations.columns[first:last] for first, last in pairwise(equations.starts.tolist())]
    alone = True
    while alone:
        alone = False
        for cells in lines:
            held = hidden[cells]
            if held.sum() == 1 and cells.size > 1:
                others = cells[~held]
                order = np.lexsort((counts[others], counts[others] == 0))
                hidden[others[order[0]]] = True
                alone = True
    return hidden


def _timed(equations: SparseMatrix, counts: Int64, hidden: Mask) -> tuple[float, CellIntervals]:
    start = time.perf_counter()
    intervals = audit_cells(equations, counts, hidden)
    return time.perf_counter() - start, intervals


def measure(folder: Path) -> list[Line]:
    """Audits of growing tables."""
    lines = []
    _timed(*_table(((6, 2), (5, 0)), 4.0))  # loads and compiles
    for name, sizes, mean in _TABLES:
        equations, counts, hidden = _table(sizes, mean)
        seconds, intervals = _timed(equations, counts, hidden)
        if not ((intervals.lower <= counts) & (counts <= intervals.upper)).all():
            raise AssertionError("a true count lies outside of its interval")
        number = int(hidden.sum())
        disclosed = int(intervals.disclosed.sum())
        promised = 0.75 * _PROMISED <= number <= 1.5 * _PROMISED
        lines.append(
            Line(
                f"audit of {number:,} withheld of {counts.size:,} cells, {name}",
                f"{duration_text(seconds)}, {disclosed:,} disclosed",
                f"{_PROMISED:,} cells: {_LIMIT:.0f} s" if promised else "",
                seconds <= _LIMIT if promised else None,
            )
        )
    return [*lines, *_atoms()]


def _atoms() -> list[Line]:
    """Three linked tables of two axes each, by sums and through their atoms."""
    lines = []
    for codes in (8, 12, 16):
        axes = [_axis(name, codes, 0) for name in "abc"]
        pairs = ((0, 1), (0, 2), (1, 2))
        specs = [TableSpec(of=Entity.PERSON, axes=(axes[one], axes[other])) for one, other in pairs]
        linked = LinkedTables.of(specs)
        draw = np.random.default_rng(2)
        base = draw.poisson(draw.gamma(0.3, 1.5, (codes,) * 3))
        tables = [
            with_totals(spec, base.sum(axis=at)) for spec, at in zip(specs, (2, 1, 0), strict=True)
        ]
        values = linked.gather(tables)
        hidden = (values > 0) & (values < 5)
        times = []
        for atoms in (False, True):
            start = time.perf_counter()
            audit_linked(linked, values, hidden, atoms=atoms)
            times.append(time.perf_counter() - start)
        lines.append(
            Line(
                f"three linked tables, {int(hidden.sum()):,} withheld of {linked.size:,} cells, by"
                f" sums and through {codes**3:,} atoms",
                " and ".join(duration_text(seconds) for seconds in times),
            )
        )
    return lines
