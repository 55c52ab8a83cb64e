"""From the cube of a table to the files of a product: protect, obey the policy, deliver, write."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdcensus.engine.requests import Engine, Tabulate
from sdcensus.errors import Refused, UnknownName
from sdcensus.formats.write import write_delivered
from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.plan.plan import Plan
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import AnyTable, SparseTable, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import table_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.session.census.census import Census, EngineName
from sdcensus.session.guard.guard import Guard
from sdcensus.session.policy import Outcome, show
from sdcensus.session.policy.code_rules import positions_of
from sdcensus.session.policy.households import (
    one_household_cells,
    withhold_households,
)
from sdcensus.session.policy.verdict import withholds_households
from sdcensus.session.protect.smallest_group import GroupRule, too_large
from sdcensus.session.publish.derived_cubes import derived
from sdcensus.session.publish.last_files import evaluated
from sdcensus.session.publish.products import Mask, Product, PublishedPart, TableProduct, spec_key
from sdcensus.session.publish.resolution import Resolved
from sdcensus.session.publish.schedule import Scan, Schedule
from sdcensus.session.publish.streamed import StreamOptions, stream_table
from sdcensus.session.publish.workplace import Finished, Workplace, WrittenFile

Office = dict[str, Any]


class Maker:
    """Makes the products of a plan as their tables come from the engine, in several threads.

    Args:
        resolved: The plan.
        workplace: Where files are written and finished products are noted.
        guard: Looks at every published table before anybody sees it.
        products: What is to be made.
        done: Called with each product that is finished.
        memory: How many bytes the whole run may take.
    """

    def __init__(
        self,
        resolved: Resolved,
        workplace: Workplace,
        guard: Guard,
        products: Sequence[Product],
        done: Callable[[Finished], None],
        *,
        memory: int,
    ) -> None:
        self._resolved = resolved
        self._workplace = workplace
        self._guard = guard
        self._done = done
        # What a table takes that is streamed while another worker goes on with its own.
        self._memory = memory // 4
        self._waiting: dict[str, list[Product]] = {}
        self._parts: dict[str, dict[str, tuple[PublishedPart, Office]]] = {}
        self._rule = GroupRule(resolved.smallest_group)
        self._judged: dict[str, AnyTable] = {}
        self._lock, self._judging = threading.Lock(), threading.Lock()
        for product in products:
            self._parts[product.name] = {}
            for key in dict.fromkeys(spec_key(spec) for spec in product.specs):
                self._waiting.setdefault(key, []).append(product)

    def counted(self) -> tuple[TableSpec, ...]:
        """What is counted for each of ``specs``: with the groups above its cells, under a rule."""
        return tuple(self._rule.counted(spec) for spec in self.specs())

    def specs(self) -> tuple[TableSpec, ...]:
        """The tables that are needed, each once."""
        specs = {}
        for key, products in self._waiting.items():
            for spec in products[0].specs:
                if spec_key(spec) == key:
                    specs[key] = spec
        return tuple(specs.values())

    def take(self, spec: TableSpec, counted: AnyCube) -> None:
        """Protect a table and finish the products that waited for it.

        Args:
            spec: The table.
            counted: What was counted for it.
        """
        key = spec_key(spec)
        products = self._waiting[key]
        if isinstance(counted, SparseCube):
            for product in products:
                self._stream(product, spec, counted)
            return
        method = self._resolved.method(spec.of)
        protected = self._rule.protect(
            spec, method, self._resolved.census.tabulate, counted=counted
        )
        table, cube = protected.table.whole(), protected.audit.cube.held_for("its files")
        taken_over = 0
        if self._resolved.imports:
            imported = self._guard.imported(table, protected.provenance)
            table, taken_over = imported.table, imported.cells
        shown, refused = self._shown(table, products[0].name)
        if withholds_households(self._resolved.policy) and spec.of is Entity.PERSON:
            shown = withhold_households(shown, one_household_cells(cube))
        for product in products:
            name = product.name
            if len(product.specs) > 1:
                name = f"{name} ({replace(spec, name='').title})"
            changes = self._guard.look(name, shown, protected.provenance, imported=taken_over)
            office: Office = {"changes": changes.to_json()}
            if self._resolved.output.evaluation:
                axes = product.table.axes if isinstance(product, TableProduct) else None
                office["evaluation"] = evaluated(
                    name, cube, shown, axes, original=self._original(spec)
                )
            part = PublishedPart(
                self._noted(shown, method),
                protected.provenance,
                refused,
                cube.count != 0 if product.needs_populated else None,
            )
            with self._lock:
                parts = self._parts[product.name]
                parts[key] = (part, office)
                complete = len(parts) == len({spec_key(spec) for spec in product.specs})
            if complete:
                self._finish(product, self._parts.pop(product.name))

    def _original(self, spec: TableSpec) -> Cube | None:
        """The counts before records were swapped, if they were."""
        if self._resolved.original is None:
            return None
        return self._resolved.original.tabulate(spec).dense

    def _noted(self, table: Table, method: Method) -> Table:
        if not self._resolved.output.notes:
            return replace(table, notes=())
        return replace(table, notes=(*notes_for(table, method.claims()), *table.notes))

    def _shown(self, table: Table, name: str) -> tuple[Table, Mask | None]:
        """What the policy lets be seen of a table, and the cells that it does not show at all."""
        policy = self._resolved.policy
        if policy is None:
            return table, None
        decision = show(policy, table, role=self._resolved.role, published=self._published)
        if decision.verdict.outcome is Outcome.REFUSED or not isinstance(decision.table, Table):
            raise Refused(
                f"{name}: the policy {policy.name!r} does not let it pass for the role"
                f" {self._resolved.role!r}.\n" + "\n".join(decision.verdict.lines())
            )
        refused = np.zeros(table.shape, dtype=bool)
        for withheld in decision.verdict.withheld:
            at = table.spec.position(withheld.variable)
            index: list[Any] = [slice(None)] * len(table.shape)
            index[at] = positions_of(table.spec.axes[at], withheld)
            refused[tuple(index)] = True
        return decision.table, refused if refused.any() else None

    def _published(self, spec: TableSpec) -> AnyTable:
        """The published table of a specification, for rules on published numbers; made once."""
        key = spec_key(spec)
        with self._judging:
            if key not in self._judged:
                method = self._resolved.method(spec.of)
                tabulate = self._resolved.census.tabulate
                self._judged[key] = self._rule.protect(spec, method, tabulate).table
            return self._judged[key]

    def _finish(self, product: Product, parts: Mapping[str, tuple[PublishedPart, Office]]) -> None:
        resolved = self._resolved
        keys = [spec_key(spec) for spec in product.specs]
        ordered = [parts[key] for key in keys]
        once = [parts[key] for key in dict.fromkeys(keys)]
        delivered = product.delivered([part for part, _ in ordered], resolved.heading)
        if resolved.output.notes:
            delivered = replace(delivered, notes=_with_office_notes(delivered.notes, resolved.plan))
        paths = write_delivered(
            delivered,
            self._workplace.hidden,
            formats=resolved.output.formats,
            languages=resolved.output.languages,
            labels=resolved.labels(product),
        )
        public = {
            "title": dict(delivered.title.by_language),
            "cells": delivered.cells,
            "marks": [mark.name for mark in delivered.used_marks()],
            "notes": [dict(note.by_language) for note in delivered.notes],
            "provenance": [part.provenance.to_json() for part, _ in once],
        }
        office = {"tables": [entry for _, entry in once]}
        self._note(Finished(product.name, _written(paths), public, office))

    def _stream(self, product: Product, spec: TableSpec, cube: SparseCube) -> None:
        """A table too large to hold goes to its files part by part."""
        resolved = self._resolved
        if self._rule.smallest is not None:
            raise Refused(f"{product.name}: {too_large(spec, self._rule.smallest)}")
        if not isinstance(product, TableProduct):
            raise Refused(
                f"{product.name}: a table behind it is too large to be held. Take coarser areas."
            )
        policy = resolved.policy
        if policy is not None and policy.online_for(resolved.role).on_values:
            raise Refused(
                f"{product.name}: the policy {policy.name!r} has rules on published numbers, and a"
                " table of this size has no room for the signs that they need. Take fewer"
                " variables or coarser areas, or publish it under a role without such rules."
            )
        if withholds_households(policy) and cube.spec.of is Entity.PERSON:
            raise Refused(
                f"{product.name}: the policy withholds cells of one household, and a table of this"
                " size has no room for the signs that stand for them. Take fewer variables or"
                " coarser areas."
            )
        method = resolved.method(cube.spec.of)
        nothing = SparseTable(cube.spec, np.zeros(0, np.uint64), np.zeros(0, np.int64))
        notes = notes_for(nothing, method.claims()) if resolved.output.notes else ()
        options = StreamOptions(
            formats=resolved.output.formats,
            languages=resolved.output.languages,
            labels=resolved.labels(product),
            notes=_with_office_notes(notes, resolved.plan),
            heading=resolved.heading,
            evaluation=resolved.output.evaluation,
            memory=self._memory,
        )
        result = stream_table(cube, method, product.table, self._workplace.hidden, options)
        changes = self._guard.look_streamed(
            product.name, cube.spec, result.digest, result.provenance
        )
        office: Office = {"changes": changes.to_json()}
        if result.evaluation is not None:
            office["evaluation"] = result.evaluation
        title = product.table.title or Text.of(table_heading(cube.spec))
        public = {
            "title": dict(title.by_language),
            "cells": result.cells,
            "marks": [],
            "notes": [dict(note.by_language) for note in notes],
            "provenance": [result.provenance.to_json()],
        }
        self._note(Finished(product.name, _written(result.files), public, {"tables": [office]}))

    def _note(self, finished: Finished) -> None:
        self._workplace.finish(finished)
        self._done(finished)


def _written(paths: Sequence[Any]) -> tuple[WrittenFile, ...]:
    return tuple(WrittenFile.of(path) for path in paths)


def _with_office_notes(notes: Sequence[Text], plan: Plan) -> tuple[Text, ...]:
    """The notes that stand beside a delivered table: its own, then the office's, each once."""
    office = [plan.office.legal_basis] if plan.office.legal_basis else []
    return tuple(dict.fromkeys([*notes, *office]))


#: What is done with each table: its position among those of the schedule, and its cube.
Work = Callable[[int, AnyCube], None]

#: What progress calls this stage.
STAGE = "tables"
#: How often whoever waits looks whether somebody wants everything to stop.
_PATIENCE = 0.2


def count_tables(
    census: Census,
    schedule: Schedule,
    work: Work,
    *,
    engine: str | EngineName | None = None,
    threads: int | None = None,
    progress: Progress = no_progress,
    only: Collection[int] | None = None,
    households: bool = False,
) -> None:
    """Count every table of a schedule and hand each to ``work``.

    ``work`` is called by several threads at the same time, for each table once, in no promised
    order. At most ``schedule.workers`` scans and as many tables are held. The first error, of
    counting or of ``work``, stops everything and is raised here once the others have ended what
    they were at.

    Args:
        census: The records.
        schedule: What is counted together.
        work: What is done with each table.
        engine: Who counts, as for ``Census.tabulate``.
        threads: How many processors to use; those of the schedule by default.
        progress: Told how much is done, by one thread at a time.
        only: Positions of the tables that are wanted; the others were done before.
        households: Also find which cells of persons are one household.
    """
    schedule.check_memory()
    wanted = set(range(len(schedule.specs))) if only is None else set(only)
    for at in sorted(wanted - set(range(len(schedule.specs)))):
        raise UnknownName(
            "table in the schedule", str(at), known=map(str, range(len(schedule.specs)))
        )
    if wanted:
        _Crew(census, schedule, wanted, work, engine, threads, progress, households).run()


class _Counted:
    """A scan that was counted, and its tables that are still to be made from it."""

    __slots__ = ("_cube", "left", "scan", "waiting")

    def __init__(self, scan: Scan, cube: AnyCube, waiting: list[int]) -> None:
        self.scan, self.waiting = scan, waiting
        self.left = len(waiting)
        self._cube: AnyCube | None = cube

    def table(self, spec: TableSpec) -> AnyCube:
        """The cube of one of its tables."""
        assert self._cube is not None
        return self._cube if self.scan.direct else derived(self._cube, spec)

    def forget(self) -> None:
        """Give the memory back: nothing more comes of it."""
        self._cube = None


class _Crew:
    """The workers. Each takes a table of a counted scan if one waits, else counts the next scan."""

    def __init__(
        self,
        census: Census,
        schedule: Schedule,
        wanted: set[int],
        work: Work,
        engine: str | EngineName | None,
        threads: int | None,
        progress: Progress,
        households: bool,
    ) -> None:
        self._households = households
        scans = [scan for scan in schedule.scans if wanted.intersection(scan.tables)]
        most = schedule.threads if threads is None else max(1, threads)
        self._workers = max(1, min(schedule.workers, most, len(wanted)))
        at_once = max(1, min(self._workers, len(scans)))
        self._engine: Engine = census.engine(engine, threads=max(1, most // at_once))
        # Other engines spread one request over all processors themselves: one at a time.
        self._at_once = at_once if self._engine.name == EngineName.MEMORY else 1
        self._specs, self._wanted, self._work = schedule.specs, wanted, work
        self._scans = scans[::-1]  # taken from the end
        self._counted: list[_Counted] = []
        self._held = self._counting = 0
        self._failure: BaseException | None = None
        self._changed = threading.Condition()
        self._progress, self._telling = progress, threading.Lock()
        self._cells = sum(self._specs[at].cells for at in wanted)
        self._done = 0

    def run(self) -> None:
        """Do all of it; raise what stopped it."""
        self._progress(STAGE, 0.0)
        threads = [
            threading.Thread(target=self._serve, name=f"tables-{at}", daemon=True)
            for at in range(self._workers)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():  # a wait without an end cannot be interrupted everywhere
                    thread.join(_PATIENCE)
        except BaseException as interruption:
            self._stop(interruption)
            for thread in threads:
                thread.join()
            raise
        if self._failure is not None:
            raise self._failure
        self._progress(STAGE, 1.0)

    def _stop(self, failure: BaseException) -> None:
        with self._changed:
            if self._failure is None:
                self._failure = failure
            self._changed.notify_all()

    def _serve(self) -> None:
        try:
            while (step := self._next()) is not None:
                step()
        except BaseException as failure:  # raised again by whoever waits
            self._stop(failure)

    def _next(self) -> Callable[[], None] | None:
        """What to do next; waits while something may still come, None if nothing will."""
        with self._changed:
            while self._failure is None:
                if self._counted:
                    counted = self._counted[0]
                    at = counted.waiting.pop(0)
                    if not counted.waiting:
                        self._counted.remove(counted)
                    return functools.partial(self._make, counted, at)
                free = self._counting < self._at_once and self._held < self._workers
                if self._scans and free:
                    self._held += 1
                    self._counting += 1
                    return functools.partial(self._count, self._scans.pop())
                if not self._scans and not self._counting:
                    return None
                self._changed.wait()
            return None

    def _count(self, scan: Scan) -> None:
        households = self._households and scan.spec.of is Entity.PERSON
        cube = self._engine.tabulate(Tabulate(spec=scan.spec, households=households))
        waiting = [at for at in scan.tables if at in self._wanted]
        with self._changed:
            self._counted.append(_Counted(scan, cube, waiting))
            self._counting -= 1
            self._changed.notify_all()

    def _make(self, counted: _Counted, at: int) -> None:
        cube = counted.table(self._specs[at])
        with self._changed:
            counted.left -= 1
            if not counted.left:
                counted.forget()
                self._held -= 1
                self._changed.notify_all()
        self._work(at, cube)
        with self._telling:
            self._done += self._specs[at].cells
            self._progress(STAGE, self._done / self._cells if self._cells else 1.0)
