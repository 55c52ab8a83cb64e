"""Audits of tables that are published together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.audit.atoms import equations_with_atoms
from sdcensus.solvers.audit.audit import audit_system
from sdcensus.solvers.audit.intervals import CellIntervals
from sdcensus.solvers.audit.system import FREE, AuditSystem, Mask


def linked_system(
    linked: LinkedTables,
    values: npt.NDArray[Any],
    hidden: npt.NDArray[Any],
    *,
    lower: int | None = 0,
    least: npt.NDArray[Any] | None = None,
    upper: npt.NDArray[Any] | None = None,
    tolerance: int = 0,
    atoms: bool = False,
) -> tuple[AuditSystem, Mask]:
    """The equations of linked tables, and which of their cells can be asked for.

    Args:
        linked: The tables.
        values: A value for each cell; those of withheld and of auxiliary cells are not looked at.
        hidden: A mask of the cells that are withheld; those that no table shows are, too.
        lower: The least that any cell can be; ``None`` for amounts that may be negative.
        least: What is known of each cell from below, besides that.
        upper: What is known of each cell from above.
        tolerance: By how much equations may fail.
        atoms: Whether combinations of all codes count as further cells, at least 0 each.
    """
    mask, numbers = np.asarray(hidden), np.asarray(values)
    if mask.shape != (linked.size,) or numbers.shape != (linked.size,):
        raise SpecError(f"An audit needs a value and a mark for each of the {linked.size:,} cells.")
    if atoms and lower is None:
        raise SpecError("Atoms are counts: they need a lower bound of 0.")
    equations = equations_with_atoms(linked) if atoms else linked.equations
    more = equations.shape[1] - linked.size
    unseen = mask | ~linked.published
    asked = np.append(mask & linked.published, np.zeros(more, dtype=bool))
    below = np.append(
        np.full(linked.size, -FREE if lower is None else lower, dtype=np.int64),
        np.zeros(more, dtype=np.int64),
    )
    if least is not None:
        below[: linked.size] = np.maximum(below[: linked.size], least)
    above = None
    if upper is not None:
        above = np.append(upper, np.full(more, np.iinfo(np.int64).max))
    system = AuditSystem.of(
        equations,
        np.append(numbers, np.zeros(more, dtype=numbers.dtype)),
        np.append(unseen, np.ones(more, dtype=bool)),
        lower=below,
        upper=above,
        tolerance=tolerance,
    )
    return system, asked


@dataclass(frozen=True, slots=True, eq=False)
class ShownTable:
    """What a table shows, to find out whether others add up with it.

    Attributes:
        spec: The table.
        values: A value for each cell.
        known: Which cells have one.
        keeps: Whether it is kept in any case: it withholds cells, and is what others are put to.
    """

    spec: TableSpec
    values: npt.NDArray[Any]
    known: Mask
    keeps: bool


def exact_together(tables: Sequence[ShownTable]) -> list[int]:
    """Which tables show numbers that add up, each by itself and with those that withhold cells.

    Numbers with noise, or rounded one by one, leave nothing to solve. Who has them beside tables
    that add up leaves them out.

    Args:
        tables: The tables.

    Returns:
        Their places, in the same order.
    """
    linked = LinkedTables.of([table.spec for table in tables])
    values, known = np.zeros(linked.size, dtype=np.int64), np.zeros(linked.size, dtype=bool)
    kept = []
    for at in sorted(range(len(tables)), key=lambda at: not tables[at].keeps):
        table, cells = tables[at], linked.cell_of[at]
        shown = (cells >= 0) & table.known
        numbers, own = cells[shown], table.values[shown]
        if not table.keeps:
            common = known[numbers]
            if (values[numbers[common]] != own[common]).any() or not _adds_up(table):
                continue
        values[numbers], known[numbers] = own, True
        kept.append(at)
    return sorted(kept)


def _adds_up(table: ShownTable) -> bool:
    """Whether all sums of a table hold of which every part is shown."""
    linked = LinkedTables.of([table.spec])
    (cells,) = linked.cell_of
    shown = (cells >= 0) & table.known
    values, known = np.zeros(linked.size, dtype=np.int64), np.zeros(linked.size, dtype=bool)
    values[cells[shown]], known[cells[shown]] = table.values[shown], True
    system, _ = linked_system(linked, values, ~known)
    return not system.failed()


def audit_linked(
    linked: LinkedTables,
    values: npt.NDArray[Any],
    hidden: npt.NDArray[Any],
    *,
    lower: int | None = 0,
    least: npt.NDArray[Any] | None = None,
    tolerance: int = 0,
    atoms: bool = False,
    integer: bool = False,
    solution: npt.NDArray[Any] | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> CellIntervals:
    """The narrowest intervals of withheld cells of linked tables; ``audit_cells`` has the details.

    Args:
        linked: The tables.
        values: A value for each cell.
        hidden: A mask of the cells that are withheld.
        lower: The least that any cell can be.
        least: What is known of each cell from below, besides that.
        tolerance: By how much equations may fail.
        atoms: Whether combinations of all codes count as further cells, at least 0 each.
        integer: Whether bounds are moved to where a table of whole numbers reaches them.
        solution: True values of all cells, as a place to begin; not with atoms.
        workers, progress: How many threads work, and who is told.
    """
    system, asked = linked_system(
        linked, values, hidden, lower=lower, least=least, tolerance=tolerance, atoms=atoms
    )
    intervals = audit_system(
        system,
        asked=asked,
        integer=integer,
        solution=None if atoms else solution,
        workers=workers,
        progress=progress,
    )
    return intervals.first(linked.size)
