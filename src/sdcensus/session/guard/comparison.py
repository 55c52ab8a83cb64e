"""What a table shares with what was published before, and where its numbers are others now."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.published.lock import LockedTable, Making, PublicationLock
from sdcensus.model.published.table import Mark
from sdcensus.model.spec.shared_cells import shared_cells
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.guard.records_behind import SharedNumbers
from sdcensus.session.guard.run import GuardRun
from sdcensus.store.registry import Registry, RegistryEntry
from sdcensus.store.registry_values import Differences, Values, differences

Numbers = npt.NDArray[np.uint64]


class PublishedComparison(Confidential):
    """Compares tables of a run with the registry; its methods may run in threads.

    Args:
        lock: How earlier numbers were made.
        registry: What was published.
        run: What the run is about.
        series: The census; tables of others are not looked at.
    """

    __slots__ = ("_lock", "_others", "_registry", "_run", "_series", "_turn")

    def __init__(
        self, lock: PublicationLock, registry: Registry, run: GuardRun, series: str
    ) -> None:
        self._lock, self._registry = lock, registry
        self._run, self._series = run, series
        self._others: tuple[RegistryEntry, ...] | None = None
        self._turn = Lock()

    def __repr__(self) -> str:
        return "<Comparison: confidential>"

    def shared_numbers(
        self, spec: TableSpec, values: Values, locked: LockedTable | None, making: Making
    ) -> SharedNumbers:
        """Compare with the same table, and with tables that this run does not publish anew."""
        compared, parts = 0, [np.zeros(0, dtype=np.uint64)]
        makings: list[Making] = []
        hidden = opened = 0
        before = None
        if locked is not None:
            entry = self._registry.entry(locked.entry)
            before = self._registry.values(entry)
            found = differences(spec, values, entry.spec, before)
            if found is not None:
                compared = found.compared
                own = self._lock.making(locked)
                cells, hidden, opened = _by_numbers(found, own, making)
                parts.append(cells)
                if cells.size:
                    makings.append(own)
        contradicts = []
        for entry, table in self._not_in_run():
            made = None if table is None else self._lock.making(table)
            agrees = made is not None and made.decides == making.decides and made.consistent
            if agrees and making.consistent:
                continue
            found = differences(spec, values, entry.spec, self._registry.values(entry))
            if found is None:
                continue
            compared = max(compared, found.compared)
            cells = found.cells
            if made is not None:
                cells, _, more = _by_numbers(found, made, making)
                opened += more
            cells = self._not_out(spec, values, cells, entry)
            if cells.size:
                contradicts.append((self._named(entry, table), int(cells.size)))
                parts.append(cells)
                makings += [] if made is None else [made]
        return SharedNumbers(
            compared,
            np.unique(np.concatenate(parts)),
            tuple(contradicts),
            tuple(makings),
            before,
            hidden,
            opened,
        )

    def _named(self, entry: RegistryEntry, table: LockedTable | None) -> str:
        elsewhere = table is not None and table.plan != self._run.plan
        return f"{entry.name} of {table.plan}" if table and elsewhere else entry.name

    def _not_out(
        self, spec: TableSpec, values: Values, cells: Numbers, older: RegistryEntry
    ) -> Numbers:
        """Of cells with another number than an older table, those that no later one shows so."""
        if not cells.size:
            return cells
        later = [entry for entry in self._registry.latest() if entry.order > older.order]
        out = np.zeros(cells.size, dtype=bool)
        for entry in later:
            if not entry.has_values or entry.series not in ("", self._series):
                continue
            shared = shared_cells(spec, entry.spec)
            if shared is None:
                continue
            at, theirs = shared.of(cells)
            known, mine = self._registry.values(entry), cells[at]
            out[at] |= (known.at(theirs) == values.at(mine)) & (
                known.flags_at(theirs) == values.flags_at(mine)
            )
        return cells[~out]

    def _not_in_run(self) -> list[tuple[RegistryEntry, LockedTable | None]]:
        """Tables that are out and that this run does not publish, with their values."""
        with self._turn:
            if self._others is None:
                here = {spec.hash() for spec in self._run.specs} or {
                    table.spec_hash for table in self._lock.tables if table.plan == self._run.plan
                }
                self._others = tuple(
                    entry
                    for entry in self._registry.latest(without=here)
                    if entry.has_values and entry.series in ("", self._series)
                )
        return [(other, self._lock.table(other.spec_hash, self._series)) for other in self._others]


def _by_numbers(found: Differences, before: Making, now: Making) -> tuple[Numbers, int, int]:
    """Of cells that differ those with other numbers, and how many are only hidden or only shown.

    A part of a group that is too small to be broken down tells nothing about its number, so
    another smallest group changes no number. Where anything else is different, every difference
    counts.
    """
    same = replace(before, smallest_group=now.smallest_group).decides == now.decides
    if not same or before.smallest_group == now.smallest_group:
        return found.cells, 0, 0
    hidden = found.flags == Mark.NOT_BROKEN_DOWN
    opened = (found.flags_before == Mark.NOT_BROKEN_DOWN) & ~hidden
    return found.cells[~hidden & ~opened], int(hidden.sum()), int(opened.sum())
