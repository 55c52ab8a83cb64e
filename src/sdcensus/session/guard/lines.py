"""One line of records for a census: numbers of an original store and of derived ones do not meet.

Whoever has related numbers of two lines learns from the differences what a pre-tabular method did,
and to whom. Every two tables of one census are related: they count the same people.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcensus.errors import Refused
from sdcensus.model.published.lock import PublicationLock
from sdcensus.model.published.provenance import line_text
from sdcensus.session.guard import words
from sdcensus.session.guard.run import GuardRun, TableChanges
from sdcensus.session.guard.served_lines import read_served

_MOST = 8


def lines_beside(
    lock: PublicationLock,
    series: str,
    changes: Sequence[TableChanges],
    now: str,
    office: Path,
) -> dict[str, list[str]]:
    """The tables that are out of other lines, and that a run does not take over; by line.

    What the table builder serves is no table of a plan: no run takes it over.
    """
    served = read_served(office).get(series)
    here = {change.spec_hash for change in changes}
    beside: dict[str, list[str]] = {}
    for table in lock.tables:
        lineage = lock.making(table).lineage
        if table.series == series and table.spec_hash not in here and lineage != now:
            beside.setdefault(lineage, []).append(f"{table.name} ({table.plan})")
    if served not in (None, now):
        beside.setdefault(str(served), []).append("the table builder")
    return beside


def crossed_lines(
    lock: PublicationLock,
    series: str,
    run: GuardRun,
    changes: Sequence[TableChanges],
    office: Path,
) -> tuple[str, ...]:
    """What the office should know where a run publishes from another line than what is out.

    Also where no published number changes. A revision by name may take everything over that is
    out of another line; to leave tables of it out beside the new ones is a decision of its own,
    which the lock keeps under that name.

    Args:
        lock: What was published.
        series: The census.
        run: What would be published.
        changes: What was found about its tables.
        office: The folder of the office, in which a table builder says from which line it serves.

    Raises:
        Refused: Nobody has decided that.
    """
    now, before = run.census.origin.lineage, lock.lineage(series)
    before = read_served(office).get(series) if before is None else before
    moved = [change for change in changes if change.other_line]
    if before is None or not (moved or any(change.fresh for change in changes)):
        return ()
    beside = lines_beside(lock, series, changes, now, office)
    if before == now and not moved and lock.stands_beside(series, now, beside):
        return tuple(_still_out(line, tables) for line, tables in beside.items())
    if before == now and not moved and not beside:
        return ()
    if run.revision is None:
        raise Refused(_no_name(now, beside or {before: []}))
    if lock.event(run.revision, run.plan) is not None:
        raise Refused(words.name_used(run.revision))
    if beside and not run.two_lines:
        raise Refused(_left_out(run.revision, now, beside))
    notes = (
        f"Revision {run.revision!r}: tables are now made from {line_text(now)}, and no longer from"
        f" {line_text(before)}.",
    )
    return (*notes, *(_still_out(line, tables) for line, tables in beside.items()))


def _names(tables: Sequence[str]) -> str:
    shown = ", ".join(tables[:_MOST])
    return shown if len(tables) <= _MOST else f"{shown} and {len(tables) - _MOST:,} more"


def _still_out(line: str, tables: Sequence[str]) -> str:
    return (
        f"Two lines of records are out: {_names(tables)} from {line_text(line)}. Readers have both."
        " Publish or serve this anew from the store of the run as soon as you can."
    )


def _no_name(now: str, before: dict[str, list[str]]) -> str:
    lines = " and ".join(line_text(line) for line in before)
    return (
        f"These tables would be made from {line_text(now)}, and tables that are out were made from"
        f" {lines}. Who has related numbers from both learns from their differences what was"
        f" changed, and for whom.\n{words.UNTOUCHED}\nPublish from the store from which was"
        " published before; or, if the other one shall take its place, publish everything that is"
        " out anew from it and give that a name: --revision NAME."
    )


def _left_out(revision: str, now: str, beside: dict[str, list[str]]) -> str:
    listed = [f"  from {line_text(line)}: {_names(tables)}" for line, tables in beside.items()]
    return "\n".join(
        [
            f"The revision {revision!r} publishes from {line_text(now)} and does not take over all"
            " that is out of another line:",
            *listed,
            "Who has related numbers from both learns from their differences what was changed, and"
            f" for whom, also where no number changes. {words.UNTOUCHED}",
            "What can be done:",
            "  publish from the store from which these tables were made;",
            "  put these tables into the plan, so that the revision takes them over;",
            "  or, if both shall be out, decide it by this name: --two-lines. The lock keeps the"
            " decision, and whoever approves is told.",
        ]
    )
