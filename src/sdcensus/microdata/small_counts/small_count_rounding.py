"""A store in which no count of the listed tables is small, and everything adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdcensus.errors import Sentence, SpecError
from sdcensus.microdata.method import Changes, Draws, Fact, FactTable, OfficeFile, OneKind
from sdcensus.microdata.small_counts.records import GroupedRecords
from sdcensus.model.confidential import Confidential
from sdcensus.model.linked.small_counts import (
    BASE,
    FORCE,
    INNER_CHECK,
    THRESHOLD,
    InnerCheck,
    SmallCountRule,
)
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.listed_tables import TableList
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import Measure
from sdcensus.store.census_store import CensusStore

_HEADINGS = ("table", "cells", "small", "changed", "largest", "mean")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RoundedRecords(Confidential):
    """Copies records and leaves records out until no count of the listed tables is small.

    The same groups get the same sizes as by the method for tables: tables of the list, counted in
    the store, are what that method publishes. The store holds one kind of unit with the variables
    of the list and nothing else, since copies live in no household.

    Attributes:
        tables: The tables, each as comma-separated axes.
        of: What they count; persons, or the innermost units of the census, if not given.
        where: The condition of all of them; empty for none.
        base: Counts are 0 or at least this.
        threshold: Counts below this are small; the base if ``None``.
        force: Whether every smallest group becomes a multiple of the base.
        inner_check: Which small groups are looked for that listed tables give away.
    """

    tables: tuple[str, ...]
    of: str = ""
    where: str = ""
    base: int = 3
    threshold: int | None = None
    force: bool = False
    inner_check: str = InnerCheck.DIFFERENCES

    name: ClassVar[str] = "small-count-rounding"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Copy and leave out records until no count of some tables is small."
    purpose: ClassVar[Purpose | None] = Purpose.SMALL_COUNTS
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "tables",
            ValueKind.TABLES,
            "The tables that will have no small counts, each as axes.",
            required=True,
        ),
        Parameter(
            "of",
            ValueKind.UNITS,
            "What the tables count; persons, or the innermost units of the census.",
        ),
        Parameter("where", ValueKind.CONDITION, "The condition of all of the tables."),
        BASE,
        THRESHOLD,
        FORCE,
        INNER_CHECK,
    )

    def __repr__(self) -> str:
        return "<RoundedRecords: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """Find the groups that the tables tell apart, and give each its size."""
        assert draws is not None
        rule = SmallCountRule(self.base, self.threshold, self.force, self.inner_check)
        listed, specs = self._listed(records)
        progress("finding what the tables tell apart", 0.0)
        grouped = GroupedRecords.of(records, listed.of, LinkedTables.of(specs))
        progress("rounding small counts", 0.3)
        atoms, tables = grouped.atoms, grouped.tables
        rounded = rule.rounded(tables, atoms, draws.words(atoms.definitions, 0))
        progress("choosing records", 0.9)
        repetition = sum(step.method == self.name for step in records.manifest.lineage)
        resized = grouped.resized(rounded.inner, draws, repetition)
        one_kind = OneKind(
            entity=listed.of,
            variables=_variables(specs),
            rows=resized.rows,
            digests=resized.digests,
            keys=resized.keys,
            listed=listed,
        )
        return Changes(
            dropped={listed.of: resized.dropped},
            one_kind=one_kind,
            figures={
                f"{listed.of.plural} copied": resized.copies,
                "groups rounded": int((rounded.inner != atoms.counts).sum()),
                "passes": rounded.passes,
            },
            facts=(_deviations(grouped, rounded.inner, rule),),
            files=(_copies(records, one_kind),),
            notes=_notes(one_kind),
        )

    def foresee(
        self, records: CensusStore, draws: Draws | None, progress: Progress
    ) -> tuple[FactTable, ...]:
        """How far the cells of each table would move."""
        return self.derive(records, draws, progress).facts

    def _listed(self, records: CensusStore) -> tuple[TableList, tuple[TableSpec, ...]]:
        schema = records.schema
        if schema.census.weights_only or schema.census.measure is Measure.WEIGHTED:
            raise SpecError(
                "The census publishes weighted counts, and small count rounding counts records."
                " Take a census without weights."
            )
        if self.of:
            unit = Entity.parse(self.of)
        else:
            kinds = schema.top_down
            unit = Entity.PERSON if Entity.PERSON in kinds else kinds[-1]
        schema.entity(unit)
        listed = TableList(unit, tuple(self.tables), self.where)
        return listed, listed.specs(schema)


def _variables(specs: Sequence[TableSpec]) -> tuple[str, ...]:
    """The variables that tables show or have a condition on."""
    names = {axis.variable.name for spec in specs for axis in spec.axes}
    names |= {variable.name for spec in specs for variable in spec.universe.variables}
    return tuple(sorted(names))


def _notes(one_kind: OneKind) -> tuple[Sentence, ...]:
    names = ", ".join(one_kind.variables)
    return (
        sentence("small_counts.store.alone", units=one_kind.entity.plural, variables=names),
        sentence("small_counts.store.listed"),
    )


def _copies(records: CensusStore, one_kind: OneKind) -> OfficeFile:
    """Which records are copies, and of whom."""
    copied = np.flatnonzero(one_kind.rows[1:] == one_kind.rows[:-1]) + 1
    digests = np.asarray(records.digests(one_kind.entity), dtype=np.uint64)
    columns = {
        "record": digests[one_kind.rows[copied]],
        "copy": np.asarray(one_kind.digests[copied], dtype=np.uint64),
    }
    return OfficeFile(name="copies.csv", columns=columns)


def _deviations(grouped: GroupedRecords, sizes: np.ndarray, rule: SmallCountRule) -> FactTable:
    """How far the cells of each table move."""
    atoms, tables = grouped.atoms, grouped.tables
    before = tables.spread(atoms.sums(tables, atoms.counts))
    after = tables.spread(atoms.sums(tables, sizes))
    threshold = rule.threshold or rule.base
    rows: list[tuple[Fact, ...]] = []
    for spec, old, new in zip(tables.specs, before, after, strict=True):
        change = np.abs(new - old)
        rows.append(
            (
                spec.title,
                int(old.size),
                int(((old > 0) & (old < threshold)).sum()),
                int((change > 0).sum()),
                int(change.max(initial=0)),
                float(change.mean()) if change.size else None,
            )
        )
    return FactTable(
        name="small-counts",
        title=sentence("small_counts.store.deviations"),
        headings=tuple(sentence(f"small_counts.heading.{name}") for name in _HEADINGS),
        rows=tuple(rows),
    )
