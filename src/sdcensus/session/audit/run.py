"""Auditing tables together: what anybody can compute about the cells that they withhold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import InputError
from sdcensus.formats.read.flagged.statuses import CellState
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress, no_progress
from sdcensus.report.audit.results import AuditedCell, AuditedTable, AuditFindings, FailedSum, Proof
from sdcensus.report.audit.words import amount_text
from sdcensus.session.audit.inputs import OWN, AuditTable
from sdcensus.session.audit.options import AuditOptions
from sdcensus.session.audit.proofs import CellNames, codes_at, proofs_of
from sdcensus.solvers.audit.atoms import MOST_ATOMS, atoms_of
from sdcensus.solvers.audit.audit import audit_system
from sdcensus.solvers.audit.intervals import (
    CellIntervals,
    CellStatus,
    DoesNotAddUp,
    Requirement,
)
from sdcensus.solvers.audit.linked import ShownTable, exact_together, linked_system
from sdcensus.solvers.audit.system import FREE, AuditSystem, FailedEquation

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Sums that fail and are named in a message.
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Tables as one set of cells.

    Attributes:
        tables: The tables.
        linked: Their cells.
        known: Which cells some table shows.
        values: Their values.
        withheld: Which cells some table withholds.
        names: What its cells are called.
        shown_by: For each cell a table that shows it; -1 for none.
        held_by: For each cell a table that withholds it; -1 for none.
    """

    tables: tuple[AuditTable, ...]
    linked: LinkedTables
    known: Mask
    values: Int64
    withheld: Mask
    names: CellNames
    shown_by: Int64
    held_by: Int64


def audit_tables(
    tables: Sequence[AuditTable],
    options: AuditOptions | None = None,
    *,
    notes: Sequence[str] = (),
    progress: Progress = no_progress,
) -> AuditFindings:
    """Audit tables: those that count the same units together.

    Raises:
        DoesNotAddUp: Published values contradict each other by more than the tolerance.
        InputError: Values are negative where counts were expected.
    """
    chosen = options or AuditOptions()
    groups: dict[str, list[AuditTable]] = {}
    decimals = max((table.decimals for table in tables), default=0)
    for at, table in enumerate(tables):
        key = f"{at}" if chosen.separately else table.group
        groups.setdefault(key, []).append(table.with_decimals(decimals))
    left_out: list[str] = []
    parts = []
    for group in groups.values():
        exact = _exact(group)
        left_out += [_left_out(table) for table in group if table not in exact]
        parts.append(_audit_group(_grouped(exact), chosen, progress))
    cells = sorted((cell for part in parts for cell in part.cells), key=_worst_first)
    return replace(
        parts[0],
        tables=tuple(table for part in parts for table in part.tables),
        cells=tuple(cells),
        atoms=sum(part.atoms for part in parts),
        fractional=sum(part.fractional for part in parts),
        unproven=sum(part.unproven for part in parts),
        failed=tuple(failed for part in parts for failed in part.failed),
        wrong=sum(part.wrong for part in parts),
        levels=any(part.levels for part in parts),
        notes=(*notes, *left_out, *(note for part in parts for note in part.notes)),
    )


def _exact(tables: Sequence[AuditTable]) -> list[AuditTable]:
    """Without our own tables that withhold nothing and whose numbers do not add up: noise."""
    if not any(table.withheld.any() for table in tables):
        return list(tables)
    shown = [
        ShownTable(
            table.spec,
            table.values,
            table.known,
            keeps=table.tool != OWN or bool(table.withheld.any()),
        )
        for table in tables
    ]
    return [tables[at] for at in exact_together(shown)]


def _left_out(table: AuditTable) -> str:
    return (
        f"{table.name} withholds nothing, and its numbers do not add up with the others, as they"
        " have noise or are rounded: it is left out."
    )


def _worst_first(cell: AuditedCell) -> tuple[int, int, str, str]:
    width = cell.width
    return -cell.status, FREE if width is None else width, cell.table, cell.cell


def _grouped(tables: Sequence[AuditTable]) -> _Group:
    linked = LinkedTables.of([table.spec for table in tables])
    values = np.zeros(linked.size, dtype=np.int64)
    shown_by = np.full(linked.size, -1, dtype=np.int64)
    held_by = np.full(linked.size, -1, dtype=np.int64)
    for at in reversed(range(len(tables))):
        cells, table = linked.cell_of[at], tables[at]
        possible = cells >= 0
        shown, held = possible & table.known, possible & table.withheld
        values[cells[shown]] = table.values[shown]
        shown_by[cells[shown]] = at
        held_by[cells[held]] = at
    names = CellNames(linked)
    known, withheld = shown_by >= 0, held_by >= 0
    return _Group(tuple(tables), linked, known, values, withheld, names, shown_by, held_by)


def _audit_group(group: _Group, options: AuditOptions, progress: Progress) -> AuditFindings:
    decimals = group.tables[0].decimals
    unit = 10**decimals
    # A last decimal of a sum is nothing that tells anything.
    whole = options.whole and group.tables[0].spec.amount is None
    tolerance = int(options.tolerance * unit)
    if not group.withheld.any():
        return _nothing_withheld(group, options)
    _check_values(group, options, tolerance)
    atoms, notes = _atoms(group, options)
    system, asked = linked_system(
        group.linked,
        group.values,
        ~group.known,
        lower=None if options.lowest is None else options.lowest * unit,
        least=_least(group, options, unit),
        upper=_upper(group, options, unit),
        tolerance=tolerance,
        atoms=atoms > 0,
    )
    asked[: group.linked.size] &= group.withheld
    failed = _failed_sums(group, system, tolerance)
    try:
        intervals = audit_system(
            system, asked=asked, integer=whole, workers=options.workers, progress=progress
        )
    except DoesNotAddUp as error:
        raise _told(group, error, options, decimals) from None
    width = int(options.width * unit)
    requirement = Requirement(
        percent=options.percent, width=width, reach=_reach(group, intervals.asked.size)
    )
    status = intervals.status(requirement)
    cells = _cells(group, system, intervals, status, options.proofs, progress)
    own, has_own = _own_values(group)
    size = group.linked.size
    inside = (intervals.lower[:size] <= own) & (own <= intervals.upper[:size])
    reached = intervals.reached_lower & intervals.reached_upper
    return AuditFindings(
        tables=tuple(_table(table) for table in group.tables),
        cells=cells,
        atoms=atoms,
        whole=whole,
        fractional=int((intervals.asked & intervals.bounded & ~reached).sum()),
        unproven=int((intervals.asked & intervals.unproven).sum()),
        decimals=decimals,
        percent=options.percent,
        width=width,
        levels=requirement.reach is not None,
        tolerance=tolerance,
        failed=failed,
        wrong=int((has_own & ~inside).sum()),
        notes=notes,
    )


def _atoms(group: _Group, options: AuditOptions) -> tuple[int, tuple[str, ...]]:
    """How many combinations of codes count as further cells, and what is to be known of it."""
    atoms = atoms_of(group.linked) if options.atoms else 0
    notes: list[str] = []
    if atoms > MOST_ATOMS:
        notes.append(
            f"The tables count {atoms:,} combinations of codes, more than {MOST_ATOMS:,}: the audit"
            " goes by sums of cells alone."
        )
        atoms = 0
    if _zeros_are_shown(group) and options.lowest == 0 and options.withheld_from is None:
        notes.append(
            "Cells are shown as 0: readers may take it that withheld ones hold somebody. If no"
            " empty cell is withheld, say so: --withheld-from 1."
        )
    return atoms, tuple(notes)


def _nothing_withheld(group: _Group, options: AuditOptions) -> AuditFindings:
    """Tables that show all their cells: nothing is to be computed, whatever they add up to."""
    names = ", ".join(table.name for table in group.tables[:3])
    more = len(group.tables) - 3
    names += f" and {more} more" if more > 0 else ""
    return AuditFindings(
        tables=tuple(_table(table) for table in group.tables),
        cells=(),
        whole=options.whole,
        decimals=group.tables[0].decimals,
        percent=options.percent,
        width=int(options.width * 10 ** group.tables[0].decimals),
        tolerance=int(options.tolerance * 10 ** group.tables[0].decimals),
        notes=(f"No cell is withheld in {names}.",),
    )


# ---------------------------------------------------------------- what is known


def _check_values(group: _Group, options: AuditOptions, tolerance: int) -> None:
    """Refuse negative values where counts are meant, and two values for one cell."""
    negative = np.flatnonzero(group.known & (group.values < 0))
    if options.lowest is not None and negative.size:
        name = group.names.of(int(negative[0]))
        shown_in = group.tables[int(group.shown_by[negative[0]])].name
        raise InputError(
            f"{shown_in}: the value of {name} is negative ({negative.size:,} such cells). Withheld"
            " cells may then be negative as well: say so with --lowest none."
        )
    for at, table in enumerate(group.tables):
        cells = group.linked.cell_of[at]
        shown = (cells >= 0) & table.known
        gaps = np.abs(table.values[shown] - group.values[cells[shown]])
        if (gaps > tolerance).any():
            cell = int(cells[shown][np.argmax(gaps)])
            other = group.tables[int(group.shown_by[cell])].name
            shown_gap = amount_text(int(gaps.max()), table.decimals)
            raise DoesNotAddUp(
                (),
                f"{table.name} and {other} have different values for the same cell"
                f" ({group.names.of(cell)}; {int((gaps > tolerance).sum()):,} such cells,"
                f" the largest gap is {shown_gap}). If values are rounded, give --tolerance; if the"
                " files do not count the same, audit them with --separately.",
            )


def _zeros_are_shown(group: _Group) -> bool:
    """Whether some table lists cells as 0."""
    return any(
        ((table.states == CellState.SHOWN) & (table.values == 0)).any() for table in group.tables
    )


def _least(group: _Group, options: AuditOptions, unit: int) -> Int64 | None:
    """What is known of withheld cells from below: that they are not empty."""
    if options.withheld_from is None:
        return None
    return np.where(group.withheld & ~group.known, options.withheld_from * unit, -FREE)


def _upper(group: _Group, options: AuditOptions, unit: int) -> Int64 | None:
    """What is known of withheld cells from above: a rule that everybody knows."""
    if options.withheld_below is None:
        return None
    upper = np.full(group.linked.size, FREE, dtype=np.int64)
    for at, table in enumerate(group.tables):
        cells = group.linked.cell_of[at]
        small = (cells >= 0) & (table.states == CellState.PRIMARY)
        upper[cells[small]] = options.withheld_below * unit - 1
    return upper


def _reach(group: _Group, size: int) -> tuple[Int64, Int64] | None:
    """How far intervals have to reach by the files' own protection levels."""
    if not any(table.need is not None for table in group.tables):
        return None
    low = np.full(size, FREE, dtype=np.int64)
    high = np.full(size, -FREE, dtype=np.int64)
    for at, table in enumerate(group.tables):
        if table.need is None:
            continue
        cells = group.linked.cell_of[at]
        down, up = table.need
        asked = (cells >= 0) & table.has_own & (table.states == CellState.PRIMARY)
        asked &= (down > 0) | (up > 0)
        low[cells[asked]] = (table.own - down)[asked]
        high[cells[asked]] = (table.own + up)[asked]
    # Nobody takes a cell below what it can be at least.
    return np.where(low < FREE, np.maximum(low, 0), low), high


def _own_values(group: _Group) -> tuple[Int64, Mask]:
    own = np.zeros(group.linked.size, dtype=np.int64)
    has_own = np.zeros(group.linked.size, dtype=bool)
    for at, table in enumerate(group.tables):
        cells = group.linked.cell_of[at]
        held = (cells >= 0) & table.has_own
        own[cells[held]], has_own[cells[held]] = table.own[held], True
    return own, has_own


# ---------------------------------------------------------------- what was found


def _cells(
    group: _Group,
    system: AuditSystem,
    intervals: CellIntervals,
    status: Int64,
    most_proofs: int,
    progress: Progress,
) -> tuple[AuditedCell, ...]:
    linked = group.linked
    elsewhere = np.flatnonzero(group.withheld & group.known)
    asked = np.flatnonzero(intervals.asked[: linked.size])
    found = [_published_elsewhere(group, cell) for cell in elsewhere.tolist()]
    ranked = asked[np.lexsort((asked, intervals.width[asked], -status[asked]))]
    near = ranked[status[ranked] != CellStatus.PROTECTED][:most_proofs]
    proofs = proofs_of(system, group.names, intervals, near, progress)
    for cell in ranked.tolist():
        table = group.tables[int(group.held_by[cell])]
        low, high = int(intervals.lower[cell]), int(intervals.upper[cell])
        found.append(
            AuditedCell(
                table=table.name,
                cell=group.names.of(cell),
                secondary=_secondary(group, cell) if table.kinds else None,
                lower=None if low <= -FREE else low,
                upper=None if high >= FREE else high,
                status=CellStatus(int(status[cell])),
                proofs=proofs.get(cell, ()),
            )
        )
    return tuple(found)


def _published_elsewhere(group: _Group, cell: int) -> AuditedCell:
    table = group.tables[int(group.held_by[cell])]
    value = int(group.values[cell])
    at = int(group.shown_by[cell])
    place = (group.linked.cell_of[at] == cell) & group.tables[at].known
    codes = codes_at(group.tables[at].spec, int(np.flatnonzero(place.reshape(-1))[0]))
    shown = f"{group.tables[at].name}: {codes}"
    return AuditedCell(
        table=table.name,
        cell=group.names.of(cell),
        secondary=_secondary(group, cell) if table.kinds else None,
        lower=value,
        upper=value,
        status=CellStatus.DISCLOSED,
        proofs=(Proof(side=None, bound=value, elsewhere=shown),),
    )


def _secondary(group: _Group, cell: int) -> bool:
    at = int(group.held_by[cell])
    place = group.linked.cell_of[at] == cell
    return not (group.tables[at].states[place] == CellState.PRIMARY).any()


def _failed_sums(group: _Group, system: AuditSystem, tolerance: int) -> tuple[FailedSum, ...]:
    """Sums that fail, by no more than is tolerated."""
    if not tolerance:
        return ()
    strict = replace(system, tolerance=0)
    return tuple(_sum(group, failed) for failed in strict.failed() if abs(failed.gap) <= tolerance)


def _sum(group: _Group, failed: FailedEquation) -> FailedSum:
    total = failed.cells[int(np.argmin(failed.factors))]
    return FailedSum(group.names.of(total), len(failed.cells) - 1, failed.gap)


def _told(group: _Group, error: DoesNotAddUp, options: AuditOptions, decimals: int) -> DoesNotAddUp:
    """The same error with codes."""
    assumed = [
        f"--withheld-{word} {number}"
        for word, number in (("from", options.withheld_from), ("below", options.withheld_below))
        if number is not None
    ]
    if assumed:
        return DoesNotAddUp(
            error.failed,
            f"The published values do not fit what is said of withheld cells: {', '.join(assumed)}."
            " Some are outside of it, such as those that were closed for others where a file does"
            " not tell which these are. Leave it out, and see whether the values add up then.",
        )
    if not error.failed:
        return DoesNotAddUp(
            (),
            "The published values contradict each other: every single sum leaves room for withheld"
            " cells, and all of them together leave none. If values are rounded, give --tolerance;"
            " if the files do not count the same, audit them with --separately.",
        )
    worst = sorted(error.failed, key=lambda failed: -abs(failed.gap))
    named = [_sum(group, failed) for failed in worst[:_MOST_NAMED]]
    lines = [
        f"  {failed.total}: its {failed.parts} parts add up to"
        f" {amount_text(abs(failed.gap), decimals)} {'more' if failed.gap > 0 else 'less'}"
        for failed in named
    ]
    more = len(error.failed) - len(named)
    lines += [f"  and {more:,} more"] if more > 0 else []
    count = len(error.failed)
    text = (
        f"The published values do not add up: {count:,} sum{'s' * (count != 1)} fail"
        f"{'s' * (count == 1)}."
        " If values are rounded, give --tolerance; if cells are missing from the file, say what"
        " they are with --absent.\n" + "\n".join(lines)
    )
    return DoesNotAddUp(error.failed, text)


def _table(table: AuditTable) -> AuditedTable:
    return AuditedTable(
        table.name,
        int(table.states.size),
        int(table.known.sum()),
        int(table.withheld.sum()),
        int((table.states == CellState.ABSENT).sum()),
        table.tool,
    )
