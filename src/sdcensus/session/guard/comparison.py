"""What a table shares with what was published before, and where its numbers are others now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SdcensusError, StoreError
from sdcensus.model.confidential import Confidential
from sdcensus.model.published.lock import LockedTable, Making, PublicationLock
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Mark
from sdcensus.model.spec.shared_cells import shared_cells
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.guard import words
from sdcensus.session.guard.changed_records import ChangedRecords
from sdcensus.session.guard.run import GuardRun, TableChanges, by_area
from sdcensus.session.protect.linked import linked_method
from sdcensus.store.census_store import CensusStore
from sdcensus.store.registry import Registry, RegistryEntry
from sdcensus.store.registry_values import Differences, Values, differences

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SharedNumbers(Confidential):
    """What a table shares with what was published before.

    Attributes:
        compared: How many cells.
        cells: Those with another number now.
        contradicts: In which tables that are not part of the run, how many.
        makings: How the numbers that change were made.
        before: What was published of the same table.
        hidden, opened: Cells that another smallest group alone hides or shows, which change no
            number.
    """

    compared: int
    cells: Numbers
    contradicts: tuple[tuple[str, int], ...]
    makings: tuple[Making, ...]
    before: Values | None = None
    hidden: int = 0
    opened: int = 0

    def __repr__(self) -> str:
        return "<SharedNumbers: confidential>"


class RecordCounter(Confidential):
    """Counts changed records for the tables of a run; every pair of stores is compared once."""

    __slots__ = ("_changed", "_run", "_turn")

    def __init__(self, run: GuardRun) -> None:
        self._run = run
        self._changed: dict[str, ChangedRecords | str] = {}
        self._turn = Lock()

    def __repr__(self) -> str:
        return "<RecordCounter: confidential>"

    def counted(
        self,
        made: TableChanges,
        spec: TableSpec,
        values: Values,
        found: SharedNumbers,
        making: Making,
    ) -> TableChanges:
        """Count changed records behind changed numbers, where a revision asks for it."""
        minimum = self._run.minimum
        if self._run.revision is None:
            areas = by_area(spec, found.cells)
            return replace(made, areas=areas.areas, areas_changed=areas.changed)
        try:
            if self._run.rekey:
                return self._counted_redrawn(made, spec, values, found, making)
            behind = self._behind(spec, found.cells, found.makings, making, enough=minimum)
        except SdcensusError as error:
            areas = by_area(spec, found.cells)
            return replace(
                made, uncounted=str(error), areas=areas.areas, areas_changed=areas.changed
            )
        if not making.consistent:
            # Numbers of such a method also follow those of other cells of their table.
            kept = behind > 0
            cells, behind = found.cells[kept], behind[kept]
        else:
            cells = found.cells
        areas = by_area(spec, cells, behind, minimum=minimum)
        return replace(
            made,
            short=int((behind < minimum).sum()),
            areas=areas.areas,
            areas_changed=areas.changed,
            areas_short=areas.short,
        )

    def _counted_redrawn(
        self,
        made: TableChanges,
        spec: TableSpec,
        values: Values,
        found: SharedNumbers,
        making: Making,
    ) -> TableChanges:
        """After re-keying: are numbers drawn anew everywhere, and which show changes even so?"""
        shown = _not_empty(values, found.before)
        changed = np.isin(shown, found.cells)
        plain = self._plain_cells(spec, values, found, making)
        uncounted = ""
        try:
            behind = self._behind(spec, shown, found.makings, making, enough=None)
            untouched = behind == 0
            at = np.searchsorted(shown, plain)
            inside = (at < shown.size) & (shown[np.minimum(at, shown.size - 1)] == plain)
            behind_plain = np.zeros(plain.size, dtype=np.int64)
            behind_plain[inside] = behind[at[inside]]
            short = plain[behind_plain < self._run.minimum]
        except SdcensusError as error:
            # Re-keying needs no old store, unless something is published exactly.
            untouched = np.ones(shown.size, dtype=bool)
            short = plain
            uncounted = str(error) if plain.size else ""
        areas = by_area(spec, short)
        return replace(
            made,
            exposed=int(short.size),
            uncounted=uncounted,
            redrawn=int(untouched.sum()),
            drawn=int((changed & untouched).sum()),
            areas=areas.areas,
            areas_changed=areas.changed,
            areas_short=areas.changed,
        )

    def _plain_cells(
        self, spec: TableSpec, values: Values, found: SharedNumbers, making: Making
    ) -> Numbers:
        """Changed cells whose change new keys do not hide."""
        method = self._run.methods(spec)
        if linked_method(method) is not None and method.first.shows_truth:
            # Nothing is drawn: new keys hide no correction.
            same = all(made.data_version == making.data_version for made in found.makings)
            return found.cells[:0] if same else found.cells
        plain = [np.intersect1d(method.exempt_cells(spec), found.cells)]
        if method.claims().zeros_are_true and found.before is not None:
            cells = found.cells
            filled = (values.at(cells) == 0) != (found.before.at(cells) == 0)
            plain.append(cells[filled])
        return np.unique(np.concatenate(plain))

    def _behind(
        self,
        spec: TableSpec,
        cells: Numbers,
        makings: Sequence[Making],
        making: Making,
        *,
        enough: int | None,
    ) -> Int64:
        """For each cell the records that changed since it was published."""
        fewest: Int64 | None = None
        for before in {made.data_version: made for made in makings}.values():
            if before.data_version == making.data_version:
                counts = np.zeros(cells.size, dtype=np.int64)
            else:
                counts = self._changed_since(before).behind(spec, cells, enough=enough)
            fewest = counts if fewest is None else np.minimum(fewest, counts)
        if fewest is None:
            raise StoreError("It is not known from which data the earlier numbers were published.")
        return fewest

    def _changed_since(self, making: Making) -> ChangedRecords:
        """The records that changed since numbers were made."""
        with self._turn:
            known = self._changed.get(making.data_version)
            if known is None:
                self._run.progress("comparing the records with those published before", 0.0)
                known = self._opened(making)
                self._changed[making.data_version] = known
        if isinstance(known, str):
            raise StoreError(known)
        return known

    def _opened(self, making: Making) -> ChangedRecords | str:
        new = self._run.store
        if new is None:
            return "changed records are counted between stores, and this census has none on disk"
        tried = []
        for path in (self._run.old_store, Path(making.store) if making.store else None):
            if path is None:
                continue
            try:
                old = CensusStore.open(path, verify=True)
            except StoreError as error:
                tried.append(str(error).rstrip("."))
                continue
            if old.manifest.data_version != making.data_version:
                tried.append(f"{path} holds other data than were published")
                continue
            try:
                return ChangedRecords(old, new)
            except StoreError as error:
                return str(error)
        reasons = "; ".join(tried) or "its place is not known"
        return (
            f"the store from which was published is not there ({reasons}); name it:"
            " --old-store PATH"
        )


def _not_empty(values: Values, before: Values | None) -> Numbers:
    """Cells with a number other than 0, now or before."""
    if values.numbers is not None:
        both = [values.numbers]
        if before is not None and before.numbers is not None:
            both.append(before.numbers)
        return np.unique(np.concatenate(both))
    shown = values.published != 0
    if before is not None and before.numbers is None and before.published.size == shown.size:
        shown |= before.published != 0
    return np.flatnonzero(shown).astype(np.uint64)


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
            differing = differences(spec, values, entry.spec, before)
            if differing is not None:
                compared = differing.compared
                own = self._lock.making(locked)
                cells, hidden, opened = _by_numbers(differing, own, making)
                parts.append(cells)
                if cells.size:
                    makings.append(own)
        contradicts = []
        for entry, table in self._not_in_run():
            made_by = None if table is None else self._lock.making(table)
            agrees = (
                made_by is not None and made_by.decides == making.decides and made_by.consistent
            )
            if agrees and making.consistent:
                continue
            differing = differences(spec, values, entry.spec, self._registry.values(entry))
            if differing is None:
                continue
            compared = max(compared, differing.compared)
            cells = differing.cells
            if made_by is not None:
                cells, _, more = _by_numbers(differing, made_by, making)
                opened += more
            cells = self._not_out(spec, values, cells, entry)
            if cells.size:
                contradicts.append((self._named(entry, table), int(cells.size)))
                parts.append(cells)
                makings += [] if made_by is None else [made_by]
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


def streamed_changes(
    name: str,
    spec: TableSpec,
    digest: str,
    provenance: Provenance,
    *,
    locked: LockedTable | None,
    before: Making | None,
    making: Making,
) -> TableChanges:
    """What is known of a table whose values are too many to be kept.

    Args:
        name: What the plan calls it.
        spec: The table.
        digest: A digest of its published cells.
        provenance: How it was made.
        locked, before: What was published of it, and how that was made, if anything was.
        making: How it is made now.
    """
    changes = TableChanges(
        name=name,
        title=spec.title,
        spec_hash=spec.hash(),
        cells=spec.cells,
        of=spec.of,
        provenance=provenance,
        entry="" if locked is None else locked.entry,
        digest=digest,
        known=locked is not None,
        values_kept=False,
    )
    if locked is None or before is None:
        return changes
    changes = replace(
        changes,
        other_data=before.data_version != making.data_version,
        other_line=before.lineage != making.lineage,
    )
    if locked.digest == digest:
        return changes
    # Which cells changed is not known; that all did is the safe side.
    return replace(
        changes,
        changed=spec.cells,
        why=words.differences(before, making),
        uncounted="the values of a streamed table are not kept, so its changed cells are not known",
    )
