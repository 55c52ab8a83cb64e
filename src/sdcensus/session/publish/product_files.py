"""From the cube of a table to the files of a product: protect, obey the policy, deliver, write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdcensus.errors import Refused
from sdcensus.formats.write import write_delivered
from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.linked.products import ProductTable
from sdcensus.model.plan.plan import Plan
from sdcensus.model.progress import Progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.record_changes import notes_of_records
from sdcensus.model.published.table import AnyTable, SparseTable, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import table_heading
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.text import Text
from sdcensus.session.census.maps import outlines_in
from sdcensus.session.figures.asked import FiguresProduct
from sdcensus.session.figures.noise_remarks import percentile_remarks
from sdcensus.session.guard.guard import Guard
from sdcensus.session.policy import Outcome, show
from sdcensus.session.policy.code_rules import positions_of
from sdcensus.session.policy.households import one_household_cells, withhold_households
from sdcensus.session.policy.verdict import withholds_households
from sdcensus.session.protect.counting import counting, needs_replicates
from sdcensus.session.protect.few_contributors import (
    contributors_needed,
    hide_few,
    published_contributors,
)
from sdcensus.session.protect.smallest_group import (
    GroupRule,
    published_records,
    too_large,
)
from sdcensus.session.publish.counting import count_tables
from sdcensus.session.publish.last_files import OF_DERIVED, evaluated
from sdcensus.session.publish.linked_groups import LinkedGroups, counted_for
from sdcensus.session.publish.products import Mask, Product, PublishedPart, TableProduct, spec_key
from sdcensus.session.publish.resolution import Resolved
from sdcensus.session.publish.schedule import Schedule
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
        self._judged: dict[str, AnyTable] = {}
        self._lock, self._judging = threading.Lock(), threading.Lock()
        for product in products:
            self._parts[product.name] = {}
            for key in dict.fromkeys(spec_key(spec) for spec in product.specs):
                self._waiting.setdefault(key, []).append(product)
        self.groups = LinkedGroups(resolved, self.specs())

    def counted(self) -> tuple[TableSpec, ...]:
        """What is counted for each of ``specs``."""
        return counted_for(self._resolved, self.groups, self.specs())

    def _rule(self, spec: TableSpec) -> GroupRule:
        return GroupRule(self._resolved.smallest_group_of(spec))

    def specs(self) -> tuple[TableSpec, ...]:
        """The tables that are needed, each once."""
        specs = {}
        for key, products in self._waiting.items():
            for spec in products[0].specs:
                if spec_key(spec) == key:
                    specs[key] = spec
        return tuple(specs.values())

    def count(self, schedule: Schedule, *, engine: str | None, threads: int) -> None:
        """Count every table of a schedule, protect it, and finish what waited for it."""
        specs, resolved = self.specs(), self._resolved
        count_tables(
            resolved.census,
            schedule,
            lambda index, cube: self.take(specs[index], cube),
            engine=engine,
            threads=threads,
            households=withholds_households(resolved.policy) or self.groups.needs_households,
            replicates=lambda spec: needs_replicates(resolved.method(spec), spec),
        )

    def take(self, spec: TableSpec, counted: AnyCube) -> None:
        """Protect a table and finish the products that waited for it.

        One that is protected together with others waits for them: ``finish_groups``.

        Args:
            spec: The table.
            counted: What was counted for it.
        """
        if spec in self.groups:
            self.groups.keep(spec, counted)
            return
        if isinstance(counted, SparseCube):
            for product in self._waiting[spec_key(spec)]:
                self._stream(product, spec, counted)
            return
        method, counts = self._resolved.method(spec), self._resolved.methods.judging(spec)
        tabulate = counting(self._resolved.census, method)
        protected = self._rule(spec).protect(spec, method, tabulate, counted=counted, counts=counts)
        self._publish(spec, self._of_enough(spec, protected))

    def _of_enough(self, spec: TableSpec, protected: Protected) -> Protected:
        """Sums with noise are shown where enough contributors are published behind them."""
        resolved = self._resolved
        if not resolved.method(spec).first.for_sums:
            return protected
        least = contributors_needed(resolved.policy, spec, resolved.smallest_group_of(spec))
        cube = protected.audit.cube.held_for("the numbers of its contributors")
        contributors = published_contributors(resolved.methods.for_counts(spec.of), cube)
        return replace(protected, table=hide_few(protected.table.whole(), contributors, least))

    def finish_groups(self, progress: Progress) -> None:
        """Protect tables that are protected together, once all are counted, and finish them."""

        def out() -> list[ProductTable]:
            return self._guard.registry.products(self._guard.out())

        self.groups.protect(out, self._publish, progress)

    def _publish(self, spec: TableSpec, protected: Protected, together: str = "") -> None:
        """Finish the products that waited for a table, now that it is protected."""
        key = spec_key(spec)
        products, method = self._waiting[key], self._resolved.method(spec)
        table, cube = protected.table.whole(), protected.audit.cube.held_for("its files")
        taken_over = 0
        if self._resolved.imports_into(spec):
            imported = self._guard.imported(table, protected.provenance)
            table, taken_over = imported.table, imported.cells
        shown, refused = self._shown(table, products[0].name)
        if withholds_households(self._resolved.policy) and spec.of is Entity.PERSON:
            shown = withhold_households(shown, one_household_cells(cube))
        for product in products:
            name = product.name
            if len(product.specs) > 1:
                name = f"{name} ({replace(spec, name='').title})"
            changes = self._guard.look(
                name, shown, protected.provenance, imported=taken_over, together=together
            )
            office: Office = {"changes": changes.to_json()}
            remarks = list(protected.audit.remarks)
            if isinstance(product, FiguresProduct):
                remarks += percentile_remarks(product, shown, method)
            if remarks:
                office["remarks"] = remarks
            if self._resolved.output.evaluation:
                axes = product.table.axes if isinstance(product, TableProduct) else None
                original = self._original(spec)
                office["evaluation"] = evaluated(name, cube, shown, axes, original=original)
                office["evaluation"][OF_DERIVED] = original is None and self._is_derived
            part = PublishedPart(
                self._noted(shown, method),
                protected.provenance,
                refused,
                cube.count != 0 if product.needs_populated else None,
                published_records(method, cube),
            )
            with self._lock:
                parts = self._parts[product.name]
                parts[key] = (part, office)
                complete = len(parts) == len({spec_key(spec) for spec in product.specs})
            if complete:
                self._finish(product, self._parts.pop(product.name))

    @property
    def _is_derived(self) -> bool:
        return bool(self._resolved.census.origin.lineage)

    def _original(self, spec: TableSpec) -> Cube | None:
        """The counts before records were changed, if they were and the original can count them."""
        original = self._resolved.original
        if original is None:
            return None
        known = {variable.name: variable for variable in original.schema.variables}
        for variable in (*(axis.variable for axis in spec.axes), *spec.universe.variables):
            before = known.get(variable.name)
            codes = () if before is None else tuple(code.code for code in before.codes)
            if codes != tuple(code.code for code in variable.codes):
                return None
        unweighted = spec.measure is Measure.WEIGHTED and original.schema.weight(spec.of) is None
        counted = replace(spec, measure=Measure.COUNT) if unweighted else spec
        return original.tabulate(counted).held_for("the evaluation")

    def _noted(self, table: Table, method: Method) -> Table:
        if not self._resolved.output.notes:
            return replace(table, notes=())
        origin = self._resolved.census.origin
        notes = notes_for(table, method.claims(), lineage=origin.lineage, listed=origin.listed)
        return replace(table, notes=(*notes, *table.notes))

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
                method = self._resolved.method(spec)
                tabulate = counting(self._resolved.census, method)
                protected = self._rule(spec).protect(
                    spec, method, tabulate, counts=self._resolved.methods.judging(spec)
                )
                self._judged[key] = protected.table
            return self._judged[key]

    def _finish(self, product: Product, parts: Mapping[str, tuple[PublishedPart, Office]]) -> None:
        resolved = self._resolved
        keys = [spec_key(spec) for spec in product.specs]
        ordered = [parts[key] for key in keys]
        once = [parts[key] for key in dict.fromkeys(keys)]
        delivered = product.delivered([part for part, _ in ordered], resolved.heading)
        if resolved.output.notes:
            # Figures have notes of their own; that of their records is theirs as well.
            origin = resolved.census.origin
            notes = (
                *delivered.notes,
                *notes_of_records(origin.lineage, origin.listed, product.specs),
            )
            delivered = replace(delivered, notes=_with_office_notes(notes, resolved.plan))
        paths = write_delivered(
            delivered,
            self._workplace.hidden,
            formats=resolved.output.formats,
            languages=resolved.output.languages,
            labels=resolved.labels(product),
            outlines=outlines_in(resolved.census),
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
        smallest = resolved.smallest_group_of(spec)
        if smallest is not None:
            raise Refused(f"{product.name}: {too_large(spec, smallest)}")
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
        method = resolved.method(cube.spec)
        if method.first.for_sums:
            raise Refused(
                f"{product.name}: a sum is shown where enough contributors are published behind it,"
                " and a table of this size has no room for the signs that stand for the others."
                " Take fewer variables or coarser areas."
            )
        nothing = SparseTable(cube.spec, np.zeros(0, np.uint64), np.zeros(0, np.int64))
        notes: tuple[Text, ...] = ()
        if resolved.output.notes:
            origin = resolved.census.origin
            notes = notes_for(
                nothing, method.claims(), lineage=origin.lineage, listed=origin.listed
            )
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
            # Cells that go by once are compared with what was counted, and with nothing else.
            office["evaluation"] = {**result.evaluation, OF_DERIVED: self._is_derived}
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
