"""The numbers behind answers: counted, protected, hidden in part, and kept for the next question.

Counts by the method for counts, sums of amounts by that for sums. Sums are shown where counts of
the same cells may be, and where enough contributors are published behind them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from sdcensus.errors import SpecError
from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.policy.policy import Policy
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer.cells import CountedCells, RecentlyUsed, answer_cells
from sdcensus.session.answer.recipe import compile_total
from sdcensus.session.census.census import Census
from sdcensus.session.policy import Ruling, Verdict
from sdcensus.session.protect.few_contributors import (
    contributors_needed,
    hide_few,
    published_contributors,
)
from sdcensus.session.protect.smallest_group import GroupRule, published_records
from sdcensus.session.publish.products import spec_key

Kept = tuple[CountedCells, Provenance]


class PublishedNumbers(Confidential):
    """Published values of counted cells. Thread-safe.

    Args:
        census: The census.
        policy: What may be asked.
        methods: How counts are protected, by what is counted.
        sums: How sums are protected, by whose amounts are added up.
        rule: The smallest group.
        kept_bytes: How much memory tables may take that are kept for the next question.
    """

    __slots__ = ("_cache", "_census", "_judged", "_methods", "_policy", "_rule", "_sums")

    def __init__(
        self,
        census: Census,
        policy: Policy,
        methods: Mapping[Entity, Method],
        sums: Mapping[Entity, Method],
        rule: GroupRule,
        kept_bytes: int,
    ) -> None:
        self._census, self._policy, self._rule = census, policy, rule
        self._methods, self._sums = methods, sums
        # Tables are kept as the one rule of this service shows them.
        self._cache: RecentlyUsed[Kept] = RecentlyUsed(kept_bytes, lambda kept: kept[0].bytes)
        self._judged: RecentlyUsed[AnyTable] = RecentlyUsed(
            kept_bytes // 4, lambda kept: kept.published.nbytes
        )

    def __repr__(self) -> str:
        return "<PublishedNumbers: confidential>"

    def method(self, spec: TableSpec) -> Method:
        """How a table is protected."""
        return (self._sums if spec.measure.is_sum else self._methods)[spec.of]

    def judging(self, spec: TableSpec) -> AnyTable:
        """The published table of a specification, for rules on published numbers."""

        def make() -> AnyTable:
            if not spec.universe.everything:
                return self._chosen(spec)
            return self._rule.protect(spec, self._methods[spec.of], self._census.tabulate).table

        return self._judged.get(_kept_as(spec), make)

    def _chosen(self, spec: TableSpec) -> Table:
        """How many units a condition chooses, by sums of published values: from the lattice too."""
        if spec.axes:
            raise SpecError(f"{spec.title}: tables with a condition are not judged.")
        compiled = compile_total(spec, self._policy)
        published, _ = self.of(compiled.counted, no_progress)
        cells = answer_cells(compiled, published, Ruling(Verdict()))
        return Table(spec, cells.values)

    def of(self, spec: TableSpec, progress: Progress) -> Kept:
        """Published values of the cells that are counted for an answer."""

        def make() -> Kept:
            progress("counting", 0.0)
            cube = self._tabulate(self._rule.counted(spec))
            progress("protecting", 0.5)
            method, judge = self.method(spec), self._methods[spec.of]
            protected = self._rule.protect(spec, method, self._tabulate, counted=cube, counts=judge)
            table = protected.table.whole()
            progress("protecting", 1.0)
            own = protected.audit.cube.held_for("an answer")
            if not spec.measure.is_sum:
                records = published_records(method, own)
                return CountedCells(table.published, table.flags, records), protected.provenance
            contributors = published_contributors(judge, own)
            least = contributors_needed(self._policy, spec, self._rule.smallest)
            shown = hide_few(table, contributors, least)
            return CountedCells(shown.published, shown.flags, contributors), protected.provenance

        return self._cache.get(_kept_as(spec), make)

    def _tabulate(self, spec: TableSpec) -> AnyCube:
        if not spec.measure.is_sum:
            return self._census.tabulate(spec)
        needs = self.method(spec).needs_contributions
        return self._census.tabulate(spec, contributions=needs)


def _kept_as(spec: TableSpec) -> tuple[str, str]:
    """Under what a counted table is kept: its cells, and in which order they stand.

    Axes that are cut to the codes of a question may tell the same apart in another order.
    """
    order = hashlib.blake2b(digest_size=16)
    for axis in spec.axes:
        codes = "\x1f".join(f"{code.level}\x1e{code.code}" for code in axis.codes)
        order.update(f"{axis.variable.name}\x1d{codes}\x1c".encode())
    return spec_key(spec), order.hexdigest()
