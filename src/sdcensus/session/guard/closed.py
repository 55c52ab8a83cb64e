"""Cells that one product closes are closed in all: the tables of a run and everything that is out.

Compared by what cells are, not by what was counted in them, and without regard to how tables are
spelled, to methods, and to the line of records that they come from. Tables that the run publishes
anew take the place of what was out under the same specification: that is a revision, with a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sdcensus.errors import Refused
from sdcensus.model.linked.opened import compare_products
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.linked.structural import impossible_products
from sdcensus.model.schema.identities import ties_of
from sdcensus.model.schema.schema import Schema
from sdcensus.session.guard.run import GuardRun, TableChanges
from sdcensus.session.guard.served_menus import served_products
from sdcensus.store.registered_files import read_registered
from sdcensus.store.registry import Registry, RegistryEntry
from sdcensus.store.registry_closed import late_text, opening_text

#: What a risk is called that somebody has accepted: closed cells that are out already.
CLOSED_LATE = "closed-late"
_ACCEPT = (
    "or somebody accepts by name that closing them hides nothing: --accept-risk NAME --reason"
    ' "WHY".'
)


@dataclass(frozen=True, slots=True)
class ClosedCells:
    """What was found about closed cells of a run that may pass.

    Attributes:
        notes: What the office should know, a sentence each.
        late: Whether cells are closed that are out, which somebody has accepted.
    """

    notes: tuple[str, ...] = ()
    late: bool = False


def entries_out(
    registry: Registry, series: str, without: Collection[str] = ()
) -> list[RegistryEntry]:
    """What is out of a census, the last publication of every table.

    Args:
        registry: What was published.
        series: The census.
        without: Hashes of tables that are not wanted.
    """
    latest = registry.latest(without=without)
    return [entry for entry in latest if entry.series in ("", series)]


def closed_in_run(
    office: Path,
    registry: Registry,
    run: GuardRun,
    series: str,
    changes: Sequence[TableChanges],
) -> ClosedCells:
    """Refuse a run that gives away closed cells; what the office should know of the others.

    Args:
        office: The folder of the office, in which a table builder says what it offers.
        registry: What was published, with the values of the run.
        run: What the run is about.
        series: The census.
        changes: The tables of the run.
    """
    here = [registry.entry(change.entry) for change in changes]
    latest = entries_out(registry, series)
    if not any(entry.closes for entry in (*here, *latest)):
        return ClosedCells()
    closes = {entry.spec_hash: bool(entry.closes) for entry in here}
    # A table takes the place of what was out, unless that has closed cells and it does not.
    out = [entry for entry in latest if entry.closes and not closes.get(entry.spec_hash, False)]
    out += [entry for entry in latest if not entry.closes and entry.spec_hash not in closes]
    products = registry.products(here)
    before = registry.products(out)
    # A builder that would show what is out and closed stays closed itself.
    before += served_products(office, series, run.census.schema, products)
    fresh = frozenset(at for at, change in enumerate(changes) if change.fresh)
    empty = impossible_products(run.census.schema, [*products, *before])
    closed = check_closed(products, before, fresh=fresh, accepts=run.accepts, empty=empty)
    notes = (
        *closed.notes,
        *reopened(registry, here, latest),
        *other_units(run.census.schema, (*here, *out)),
        *_records_out(office),
    )
    return replace(closed, notes=notes)


def reopened(
    registry: Registry, here: Sequence[RegistryEntry], latest: Sequence[RegistryEntry]
) -> tuple[str, ...]:
    """That a table shows cells that it had closed, or closes cells that it had shown.

    Args:
        registry: Where values are kept.
        here: The tables of a run.
        latest: What was out before, the same tables among it.
    """
    before = {entry.spec_hash: entry for entry in latest if entry.closes and entry.has_values}
    notes = []
    for entry in here:
        old = before.get(entry.spec_hash)
        if old is None or old.id == entry.id:
            continue
        products = registry.products([old, entry])
        found = compare_products(
            [replace(product, closing=Closing.CELLS) for product in products]
        ).opened
        counts = {cells.closed_in: len(cells.cells) for cells in found}
        if counts.get(0):
            notes.append(
                f"{entry.name}: {counts[0]:,} cells that were closed are shown now. Readers of"
                " both releases have them. The setting 'earlier' of the method keeps them closed."
            )
        if counts.get(1):
            notes.append(
                f"{entry.name}: {counts[1]:,} cells that were shown are closed now. Readers of"
                " the earlier release have them."
            )
    return tuple(notes)


def _records_out(office: Path) -> tuple[str, ...]:
    """That files of records are out, with which closed cells are not compared."""
    if not read_registered(office):
        return ()
    return (
        "Cells are closed, and files of records are in the register of the office: whoever has them"
        " counts for themselves. They are not compared with closed cells.",
    )


def check_closed(
    run: Sequence[ProductTable],
    out: Sequence[ProductTable],
    *,
    fresh: Collection[int],
    accepts: bool,
    empty: Sequence[ProductTable] = (),
) -> ClosedCells:
    """Refuse a run that gives away what is closed, or closes what is out.

    Args:
        run: The tables of the run.
        out: What is out, and not published anew by the run.
        fresh: Which tables of the run are not out as they are.
        accepts: Whether somebody accepts by name that cells are closed which are out.
        empty: Tables of which everybody knows that they are 0.

    Raises:
        Refused: Cells would be closed in one product and given away by others.
    """
    products = [*run, *out]
    comparison = compare_products(products, empty=empty)
    opens = [cells for cells in comparison.opened if any(at in fresh for at in cells.opened_by)]
    if opens or comparison.unchecked:
        raise Refused(opening_text(products, opens, comparison))
    late = [cells for cells in comparison.opened if cells.closed_in in fresh]
    if late and not accepts:
        raise Refused(late_text(products, late, accepting=_ACCEPT))
    notes = tuple(
        f"{cells.sentence(products)} Closing them hides nothing: they are out." for cells in late
    )
    return ClosedCells(notes, bool(late))


def other_units(schema: Schema, entries: Iterable[RegistryEntry]) -> tuple[str, ...]:
    """That closed cells of one kind of unit are not compared with tables of another."""
    tables = list(entries)
    closing = {entry.spec.of for entry in tables if entry.closes is Closing.SUMS}
    shown = {entry.spec.of for entry in tables}
    pairs = {
        (closed, other): None
        for tie in ties_of(schema)
        for closed, other in ((tie.each, tie.holds), (tie.holds, tie.each))
        if closed in closing and other in shown
    }
    return tuple(
        f"Cells of {closed.plural} are closed, and tables of {other.plural} are published. Where"
        f" one count is a multiple of the other (the schema declares it), a table of"
        f" {other.plural} can give a closed cell away: this is not compared. Look at tables that"
        " show such codes."
        for closed, other in pairs
    )
