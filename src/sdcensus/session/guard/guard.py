"""The guard over what was published: numbers that are out stay, or change on purpose and safely.

With permanent keys a correction changes the numbers of the cells that hold the corrected record
and no others, so the difference of two publications shows the person. A run that would change
numbers therefore stops; a revision needs enough changed records behind every changed number; and
re-keying draws all numbers anew, so that the changes say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from sdcensus.errors import Refused
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.lock import LOCK_FILE, LockedTable, Making
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.guard import words
from sdcensus.session.guard.closed import closed_in_run, entries_out
from sdcensus.session.guard.comparison import (
    PublishedComparison,
    RecordCounter,
    streamed_changes,
)
from sdcensus.session.guard.harmony import Imported, coexistence_warnings, imported
from sdcensus.session.guard.lines import crossed_lines, lines_beside
from sdcensus.session.guard.run import (
    CHECK_FILE,
    REDRAWN_SHARE,
    REGISTRY_FOLDER,
    REVISION_MINIMUM,
    GuardRun,
    Revision,
    TableChanges,
    open_registry,
    read_lock,
    series_key_version,
    series_lookup,
)
from sdcensus.store.owner_only import make_owner_only_folder, write_owner_only
from sdcensus.store.people import PeopleMark, renamed_from
from sdcensus.store.registry import RegistryEntry
from sdcensus.store.registry_values import Values, values_digest

__all__ = [
    "REDRAWN_SHARE",
    "REVISION_MINIMUM",
    "Guard",
    "Revision",
    "TableChanges",
    "open_guard",
    "open_registry",
    "read_lock",
    "series_key_version",
    "series_lookup",
]


def open_guard(
    office: Path,
    census: Census,
    method: Method | Callable[[TableSpec], Method],
    *,
    plan: str,
    specs: Sequence[TableSpec] = (),
    date: str = "",
    revision: Revision | None = None,
    accepts: bool = False,
    progress: Progress = no_progress,
) -> Guard:
    """Open the lock and the registry of an office folder, and check what is asked for.

    Args:
        office: The folder of the office; made if it is missing.
        census: From which is published.
        method: How, or what gives the method of a table; built with ``series_key_version``.
        plan: The name of the plan.
        specs: All tables of the run; without them, what the lock says is of the plan.
        date: The date of the publication, from the plan.
        revision: Whether published numbers may change, and how; by default they may not.
        accepts: Whether somebody accepts by name that cells are closed which are out.
        progress: Told what is done.
    """
    event = revision or Revision()
    make_owner_only_folder(office)
    return Guard(
        office,
        GuardRun(
            census=census,
            methods=(lambda _: method) if isinstance(method, Method) else method,
            specs=tuple(specs),
            plan=plan,
            date=date,
            revision=event.name,
            rekey=event.rekey,
            two_lines=event.two_lines,
            old_store=event.old_store,
            minimum=event.minimum,
            accepts=accepts,
            progress=progress,
        ),
    )


class Guard(Confidential):
    """Compares the tables of a run with what was published. Its methods may run in threads."""

    __slots__ = (
        *("_batch", "_comparison", "_counter", "_people", "_run", "_series"),
        *("closed_late", "lock", "office", "registry"),
    )

    def __init__(self, office: Path, run: GuardRun) -> None:
        self.office = office
        self.lock = read_lock(office)
        self.registry = open_registry(office)
        self._batch = self.registry.batch()
        self._run = run
        self._counter = RecordCounter(run)
        self._series = self.lock.series_of(run.census.schema.census)
        self._comparison = PublishedComparison(self.lock, self.registry, run, self._series)
        self._people: PeopleMark | None = None
        #: Whether cells are closed that are out, which somebody has accepted; after ``decide``.
        self.closed_late = False

    def __repr__(self) -> str:
        return f"<Guard of {self.office}: confidential>"

    # ------------------------------------------------------------------------------ looking

    def look(
        self,
        name: str,
        table: AnyTable,
        provenance: Provenance,
        *,
        imported: int = 0,
        together: str = "",
    ) -> TableChanges:
        """Compare a table with what was published, and keep its values ready to be recorded.

        Args:
            name: What the plan calls it.
            table: What would be published.
            provenance: How it was made.
            imported: How many of its numbers ``imported`` took over.
            together: The same word for tables that were protected together.
        """
        spec, values = table.spec, Values.of(table)
        digest = values_digest(spec, values)
        same = TableChanges(
            name=name,
            title=spec.title,
            spec_hash=spec.hash(),
            cells=spec.cells,
            of=spec.of,
            provenance=provenance,
            digest=digest,
            imported=imported,
        )
        locked = self.lock.table(same.spec_hash, self._series)
        making = self._making(spec, provenance)
        if locked is not None:
            other = self.lock.making(locked).data_version != making.data_version
            line = self.lock.making(locked).lineage != making.lineage
            same = replace(same, known=True, other_data=other, other_line=line)
            if locked.digest == digest:
                return replace(same, entry=locked.entry, compared=spec.cells)
        shared_numbers = self._comparison.shared_numbers(spec, values, locked, making)
        regrouped = bool(shared_numbers.hidden or shared_numbers.opened)
        if locked is not None and not shared_numbers.cells.size and not regrouped:
            # The same numbers in another order of axes or levels.
            return replace(
                same, entry=locked.entry, digest=locked.digest, compared=shared_numbers.compared
            )
        entry = self._batch.add(
            table,
            provenance=provenance,
            name=name,
            consistent=not imported and self._run.consistent(spec),
            series=self._series,
            closes=self._run.methods(spec).first.closing(),
            together=together,
        )
        table_changes = replace(
            same,
            entry=entry,
            compared=shared_numbers.compared,
            changed=int(shared_numbers.cells.size),
            contradicts=shared_numbers.contradicts,
            hidden=shared_numbers.hidden,
            opened=shared_numbers.opened,
        )
        if not shared_numbers.cells.size:
            return table_changes
        why = dict.fromkeys(
            w for before in shared_numbers.makings for w in words.differences(before, making)
        )
        table_changes = replace(table_changes, why=tuple(why))
        return self._counter.counted(table_changes, spec, values, shared_numbers, making)

    def look_streamed(
        self, name: str, spec: TableSpec, digest: str, provenance: Provenance
    ) -> TableChanges:
        """The same for a table whose values are too many to be kept: known by a digest of them.

        Args:
            name: What the plan calls it.
            spec: The table.
            digest: A digest of its published cells that does not depend on formats.
            provenance: How it was made.
        """
        locked = self.lock.table(spec.hash(), self._series)
        table_changes = streamed_changes(
            name,
            spec,
            digest,
            provenance,
            locked=locked,
            before=None if locked is None else self.lock.making(locked),
            making=self._making(spec, provenance),
        )
        if locked is not None and locked.digest == digest:
            return table_changes
        entry = self._batch.add_digest(
            spec,
            digest,
            provenance=provenance,
            name=name,
            consistent=self._run.consistent(spec),
            series=self._series,
        )
        return replace(table_changes, entry=entry)

    def _making(self, spec: TableSpec, provenance: Provenance, *, people: str = "") -> Making:
        store = self._run.store
        return Making.of(
            provenance,
            settings=self._run.methods(spec).parameters(),
            consistent=self._run.consistent(spec),
            store="" if store is None else str(store.path.resolve()),
            info=self._run.census.schema.census,
            series=self._series,
            people=people,
        )

    def _mark(self) -> PeopleMark | None:
        """The mark of the people of the census; computed once."""
        if self._people is None:
            self._run.progress("marking whose records these are", 0.0)
            self._people = self._run.census.people
        return self._people

    def imported(self, table: Table, provenance: Provenance) -> Imported:
        """A table with the numbers that were published before for the same records.

        For a plan that says so; called before ``look``, which is told how many they are.
        """
        return imported(
            table,
            self.registry,
            provenance=provenance,
            consistent=self._run.consistent(table.spec),
            series=self._series,
            wanted=lambda entry: self._is_taken_over(entry, provenance),
        )

    def _is_taken_over(self, entry: RegistryEntry, provenance: Provenance) -> bool:
        """What the plan itself has published stays only as long as it is about the same data."""
        if entry.provenance is not None and entry.provenance.lineage != provenance.lineage:
            return False  # a table has the numbers of one line
        locked = self.lock.table(entry.spec_hash, self._series)
        if locked is None or locked.plan != self._run.plan:
            return True
        making = self.lock.making(locked)
        return making.data_version == provenance.data_version and not self._run.rekey

    # ----------------------------------------------------------------------------- deciding

    def decide(self, changes: Sequence[TableChanges]) -> tuple[str, ...]:
        """Refuse the run, or tell what the office should know, a sentence each.

        Raises:
            Refused: Published numbers would change without a name for it, or in a way that shows
                who was corrected.
        """
        run = self._run
        changed = [change for change in changes if change.changed]
        notes = words.notes(changes, self._left_out(changes), plan=run.plan)
        notes += coexistence_warnings(
            self.lock, self.registry, run.specs, run.methods, run.census.schema
        )
        groups = words.smallest_group(changes, self.lock.smallest_group(self._series))
        if groups.lowered and run.revision is None:
            raise Refused(groups.refusal)
        if groups.lowered and self.lock.event(run.revision or "", run.plan) is not None:
            raise Refused(words.name_used(run.revision))
        notes += groups.notes
        notes += crossed_lines(self.lock, self._series, run, changes, self.office)
        closed = closed_in_run(self.office, self.registry, run, self._series, changes)
        self.closed_late, notes = closed.late, (*notes, *closed.notes)
        info = run.census.schema.census
        renamed = renamed_from(self.lock.makings, info, self._series, self._mark)
        if renamed is not None:
            if not run.rekey:
                raise Refused(words.renamed(renamed.census, info, looks=self._looks()))
            return (*notes, *words.drawn_again(self._looks()))
        if not changed:
            done = None if run.revision is None else self.lock.event(run.revision, run.plan)
            if run.rekey and done is None and any(change.known for change in changes):
                raise Refused(words.nothing_redrawn())
            if run.revision is not None and done is None and not groups.lowered:
                notes += (f"The revision {run.revision!r} changes no published number.",)
            return notes
        if run.revision is None:
            raise Refused(words.would_change(changed))
        # Other plans of the office may take part in the same revision.
        named = [event for event in self.lock.events if event.name == run.revision]
        if any(
            lock_event.plan == run.plan or lock_event.kind is not run.kind for lock_event in named
        ):
            raise Refused(words.name_used(run.revision))
        refusal = self._refusal(changed)
        if refusal:
            raise Refused(refusal)
        return (*notes, *words.passed(changed, run.revision, run.rekey, looks=self._looks()))

    def out(self) -> list[RegistryEntry]:
        """What is out of this census, the last publication of every table."""
        return entries_out(self.registry, self._series)

    def _refusal(self, changed: Sequence[TableChanges]) -> str:
        run = self._run
        report = self.office / CHECK_FILE
        if run.rekey:
            exposed = [table_changes for table_changes in changed if table_changes.exposed]
            if exposed:
                self._report(report, exposed)
                return words.exposed(exposed, run.minimum, report)
            if _share(changed) < REDRAWN_SHARE:
                return words.nothing_redrawn()
            return ""
        other = tuple(dict.fromkeys(w for table in changed for w in table.why if w != words.DATA))
        if other:
            return words.only_rekeying(changed, other, looks=self._looks())
        uncounted = [table_changes for table_changes in changed if table_changes.uncounted]
        if uncounted:
            return words.not_counted(uncounted, looks=self._looks())
        short = [table_changes for table_changes in changed if table_changes.short]
        if short:
            self._report(report, short)
            return words.too_few(short, run.minimum, report, looks=self._looks())
        return ""

    def _looks(self) -> int:
        """How often numbers were drawn before the event of this run."""
        taking_part = self._run.rekey and self.lock.event(self._run.revision or "") is not None
        return self.lock.looks - taking_part

    def _report(self, path: Path, changed: Sequence[TableChanges]) -> None:
        write_owner_only(path, words.report(changed, self._run.minimum).encode())

    def _left_out(self, changes: Sequence[TableChanges]) -> tuple[LockedTable, ...]:
        """Tables that are out and are not part of this run."""
        here = {
            *(spec.hash() for spec in self._run.specs),
            *(change.spec_hash for change in changes),
        }
        own = [table for table in self.lock.tables if table.series == self._series]
        return tuple(locked_table for locked_table in own if locked_table.spec_hash not in here)

    # ---------------------------------------------------------------------------- recording

    def prepare(self, changes: Sequence[TableChanges], folder: Path) -> dict[str, str]:
        """Write what makes the run recorded into a folder, to be moved with the rest of it.

        Args:
            changes: What ``look`` said about every table, in the order of the plan.
            folder: Where to write.

        Returns:
            Names in that folder, and where each file belongs in the folder of the office; empty
            if nothing is to be recorded. The registry's file comes first, the lock last.
        """
        fresh = [change for change in changes if change.fresh]
        moved = self._run.revision and any(change.other_line for change in changes)
        if not fresh and not moved:
            return {}
        line = self._run.census.origin.lineage
        beside = lines_beside(self.lock, self._series, changes, line, self.office)
        event = self._run.event(fresh, self.lock, tuple(beside))
        batch = self.registry.batch()
        tables = {}
        # A revision publishes all tables from the new data, also those that stay as they are.
        again = [change for change in changes if change.other_data and not change.fresh]
        for table_changes in (*fresh, *(again if self._run.revision else ())):
            if table_changes.fresh:
                batch.take(table_changes.entry)
            table = LockedTable(
                name=table_changes.name,
                title=table_changes.title,
                plan=self._run.plan,
                series=self._series,
                spec_hash=table_changes.spec_hash,
                cells=table_changes.cells,
                digest=table_changes.digest,
                entry=table_changes.entry,
                making=0,
                event=0,
            )
            people = "" if (mark := self._mark()) is None else str(mark)
            spec = self.registry.entry(table_changes.entry).spec
            making = self._making(spec, table_changes.provenance, people=people)
            tables[table_changes.spec_hash] = (table, making)
        lock = self.lock.with_event(event, tables)
        name, content = batch.content(event.name)
        batch.forget_others()
        (self.office / CHECK_FILE).unlink(missing_ok=True)  # of a refusal that is settled
        write_owner_only(folder / "publication.json", content)
        write_owner_only(folder / LOCK_FILE, lock.to_json().encode())
        return {
            "publication.json": f"{REGISTRY_FOLDER}/{name}",
            LOCK_FILE: LOCK_FILE,
        }

    def record(self, changes: Sequence[TableChanges]) -> Path:
        """Write registry and lock at once, for who moves nothing; the path of the lock.

        Recording the same again changes nothing.
        """
        folder = self.office / ".recording"
        make_owner_only_folder(folder)
        for own, name in self.prepare(changes, folder).items():
            (folder / own).replace(self.office / name)
        folder.rmdir()
        self.lock = read_lock(self.office)
        self._comparison = PublishedComparison(self.lock, self.registry, self._run, self._series)
        return self.office / LOCK_FILE


def _share(changed: Sequence[TableChanges]) -> float:
    """Of the numbers that no correction touches, the share that was drawn anew."""
    total = sum(table_changes.redrawn for table_changes in changed)
    return sum(table_changes.drawn for table_changes in changed) / total if total else 1.0
