"""How many changed records stand behind the numbers that a revision or a re-keying changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SdcensusError, StoreError
from sdcensus.model.confidential import Confidential
from sdcensus.model.published.lock import Making
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.guard.changed_records import ChangedRecords
from sdcensus.session.guard.run import GuardRun
from sdcensus.session.guard.table_changes import TableChanges, by_area
from sdcensus.store.census_store import CensusStore
from sdcensus.store.registry_values import Values

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
        plain = self._plain_cells(spec, values, found)
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

    def _plain_cells(self, spec: TableSpec, values: Values, found: SharedNumbers) -> Numbers:
        """Changed cells whose change new keys do not hide."""
        method = self._run.methods(spec.of)
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
        for one in {made.data_version: made for made in makings}.values():
            if one.data_version == making.data_version:
                counts = np.zeros(cells.size, dtype=np.int64)
            else:
                counts = self._changed_since(one).behind(spec, cells, enough=enough)
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
                old = CensusStore.open(path)
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
