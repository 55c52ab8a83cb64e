"""Tables of a plan under a condition that is no universe: sums of published values.

The condition goes the same way as in the table builder, so that a plan shows the same number: the
codes that make up what it chooses are counted as they are declared, and their published values are
added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sdcensus.documents.plan.checks import both
from sdcensus.errors import SpecError
from sdcensus.model.plan.plan import PlannedTable
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.covers import WHOLE, CountedAxis, needed_levels
from sdcensus.model.spec.headings import units_text
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.session.answer.cells import CountedCells, answer_cells
from sdcensus.session.answer.delivery import delivered_axis, question_heading, sum_notes
from sdcensus.session.answer.recipe import Compiled, compile_question
from sdcensus.session.policy import Ruling
from sdcensus.session.policy.verdict import Verdict
from sdcensus.session.publish.products import Heading, PublishedPart


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SumsProduct:
    """One table of sums of published values.

    Attributes:
        name, title: What it is called.
        compiled: Its codes, and which declared codes each is the sum of.
        rows: How many of the axes stand in rows.
    """

    name: str
    title: Text
    compiled: Compiled
    rows: int | None = None
    own: bool = True
    needs_populated: bool = False

    @property
    def specs(self) -> tuple[TableSpec, ...]:
        """The table of the declared codes."""
        return (self.compiled.counted,)

    @property
    def cells(self) -> int:
        """How many sums are delivered."""
        return self.compiled.cells

    def delivered(self, parts: Sequence[PublishedPart], heading: Heading) -> DeliveredTable:
        """The sums; one of which any part is not shown is not shown."""
        (part,) = parts
        published = CountedCells(part.table.published, part.marks)
        cells = answer_cells(self.compiled, published, Ruling(Verdict()))
        spec = self.compiled.spec
        return DeliveredTable(
            name=self.name,
            title=self.title,
            axes=tuple(map(delivered_axis, self.compiled.axes)),
            values=cells.values,
            marks=cells.marks,
            unit=Text.of({language: units_text(spec, language) for language in LANGUAGES}),
            rows=self.rows,
            notes=(*part.table.notes, *sum_notes(self.compiled, cells)),
            provenance=replace(part.provenance, spec_hash=self.compiled.watched.hash()),
            source=heading.source,
            date=heading.date,
            signs=heading.signs,
            support=cells.support,
        )


def sums_product(table: PlannedTable, policy: Policy) -> SumsProduct:
    """A table with a condition, as the builder answers it.

    Args:
        table: The table.
        policy: Of what codes sums are made: those that it allows.

    Raises:
        SpecError: The condition cannot be made of published values.
    """
    where = both(table.universe, table.where)
    try:
        compiled = compile_question(Question(of=table.of.plural, by=table.by, where=where), policy)
    except SpecError as error:
        raise SpecError(f"{table.name}: {error}") from None
    asked = compiled.spec.with_axes(axis.asked for axis in compiled.axes)
    return SumsProduct(
        name=table.name,
        title=table.title or question_heading(asked),
        compiled=_declared(compiled),
        rows=len(table.rows) or None,
    )


def _declared(compiled: Compiled) -> Compiled:
    """The same, of which whole levels are counted: what is published is recorded by its codes."""
    axes = tuple(
        replace(axis, counted=_whole(axis.asked.variable, axis.counted)) for axis in compiled.axes
    )
    filters = tuple(
        replace(axis, counted=_whole(axis.variable, axis.counted)) for axis in compiled.filters
    )
    counted = compiled.counted.with_axes(
        (*(axis.counted.axis for axis in axes), *(axis.counted.axis for axis in filters))
    )
    return replace(compiled, axes=axes, filters=filters, counted=counted)


def _whole(variable: Variable, counted: CountedAxis) -> CountedAxis:
    levels = needed_levels(variable, counted.places) or [variable.level()]
    return CountedAxis.of(make_axis(variable, levels, total=WHOLE in counted.places))
