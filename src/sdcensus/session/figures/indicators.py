"""Products that are computed from published counts: shares, ratios, distributions, medians, means.

A condition that is no declared code is a sum of published values, never a count with noise of its
own: otherwise indicators would be an endless supply of fresh looks at the same people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sdcensus.errors import SpecError
from sdcensus.methods.notes import weighted_notes
from sdcensus.model.plan.plan import PlannedIndicator, PlannedTable
from sdcensus.model.plan.vocabulary import INDICATOR_KINDS
from sdcensus.model.published.delivery import (
    DeliveredAxis,
    DeliveredTable,
    delivered_axis,
    delivered_cells,
)
from sdcensus.model.published.figures import Counted, Figures, Support, quotient
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.roles import variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.spec.axis import Axis, make_axis, parse_axis
from sdcensus.model.spec.covers import WHOLE, CountedAxis, Part, covering
from sdcensus.model.spec.headings import axis_heading
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe, universe_of
from sdcensus.model.text import Text
from sdcensus.session.figures import words
from sdcensus.session.figures.computation import (
    Computed,
    CountAxis,
    Percentages,
    computed,
    notes_of,
)
from sdcensus.session.figures.definitions import (
    ConditionAxis,
    QuotientDefinition,
    dependency_ratio,
    of_numbers,
    ratio,
    sex_ratio,
    share,
)
from sdcensus.session.publish.products import Heading, PublishedPart

#: From the counts of the tables of a product to its figures.
Compute = Callable[[Sequence[Counted]], Figures]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FiguresProduct:
    """Figures from published counts, under a name of their own.

    Attributes:
        name, title, unit: What they are called.
        specs: The tables of counts behind them.
        axes: For which groups they are given.
        compute: From counts to figures.
        notes: What readers should know.
        rows: How many of the axes stand in rows.
    """

    name: str
    title: Text
    unit: Text
    specs: tuple[TableSpec, ...]
    axes: tuple[DeliveredAxis, ...]
    compute: Compute
    notes: tuple[Text, ...] = ()
    rows: int | None = None
    own: bool = True
    needs_populated: bool = False

    @property
    def cells(self) -> int:
        """How many figures are delivered."""
        return math.prod(len(axis) for axis in self.axes)

    def delivered(self, parts: Sequence[PublishedPart], heading: Heading) -> DeliveredTable:
        """The figures, with marks where there is none or where they are unreliable."""
        figures = self.compute([_counted(part) for part in parts])
        return DeliveredTable(
            name=self.name,
            title=self.title,
            axes=self.axes,
            values=delivered_cells(figures.values, self.axes),
            marks=delivered_cells(figures.marks, self.axes),
            decimals=figures.decimals,
            unit=self.unit,
            rows=self.rows,
            notes=self.notes,
            source=heading.source,
            date=heading.date,
            signs=heading.signs,
        )


def _counted(part: PublishedPart) -> Counted:
    counts = Counted(part.table.published, part.marks, Support.of_records(part.records))
    beside = part.table.beside
    return counts if beside is None else counts.bracketed(beside == Mark.LOW_RELIABILITY)


# ------------------------------------------------------------------------------- from the plan


def share_product(
    table: PlannedTable, schema: Schema, measure: Measure | None = None
) -> FiguresProduct:
    """A table of shares: of the records of each cell, the percentage that fulfils a condition."""
    shares = indicator_product(
        PlannedIndicator(
            name=table.name,
            title=table.title,
            kind="share",
            by=table.by,
            of=table.of,
            universe=table.universe,
            numerator=table.share,
        ),
        schema,
        measure,  # a share says no other measure of its own
    )
    return replace(shares, rows=len(table.rows) or None)


def indicator_product(
    planned: PlannedIndicator, schema: Schema, measure: Measure | None = None
) -> FiguresProduct:
    """The figures that a plan asks for.

    Args:
        planned: What is asked for.
        schema: The schema of the census.
        measure: Of which counts they are computed; by default, of those of the census.

    Raises:
        SpecError: Something in it does not fit the schema, or cannot be made of published counts.
    """
    where = f"Indicator {planned.name!r}: "
    try:
        return _BUILDERS[planned.kind](_Asked(planned, schema, measure))
    except KeyError:
        known = ", ".join(_BUILDERS)
        raise SpecError(f"{where}there is no kind {planned.kind!r}. There are: {known}.") from None
    except SpecError as error:
        text = str(error)
        raise SpecError(text if text.startswith(where) else f"{where}{text}") from None


class _Asked:
    """What is asked for, resolved against the schema."""

    def __init__(self, planned: PlannedIndicator, schema: Schema, measure: Measure | None) -> None:
        self.planned, self.schema, self.measure = planned, schema, measure
        self.by = tuple(parse_axis(text, schema.variable) for text in planned.by)

    def variable(self) -> Variable:
        """The variable that is named, or the one that has the role which the kind needs."""
        role = INDICATOR_KINDS[self.planned.kind].role
        if self.planned.variable:
            return self.schema.variable(self.planned.variable)
        if role is None:
            raise SpecError("name the variable: variable = ...")
        return variable_for(role, self.schema)

    def sides(self) -> tuple[Universe | None, Universe | None]:
        """The conditions above and below the line, where they are given."""
        above, below = (
            universe_of(text, self.schema) if text else None
            for text in (self.planned.numerator, self.planned.denominator)
        )
        return above, below

    def spec(self, more: Sequence[Axis], of: Entity | None = None) -> TableSpec:
        """Counts by the groups and by further axes."""
        names = [axis.variable.name for axis in self.by]
        for axis in more:
            if axis.variable.name in names:
                raise SpecError(
                    f"{axis.variable.name!r} is both a group and part of what is computed. Take it"
                    " out of 'by', or out of the conditions."
                )
        groups = TableSpec.build(
            self.schema,
            self.planned.by,
            of=of or self.planned.of,
            universe=self.planned.universe or None,
            measure=self.measure,
        )
        lineage = self.schema.lineage(groups.of)
        for axis in more:
            if axis.variable.entity not in lineage:
                raise SpecError(
                    f"{axis.variable.name!r} describes {axis.variable.entity.plural}, which do not"
                    f" belong to {groups.of.plural}."
                )
        return groups.with_axes((*groups.axes, *more))

    def product(self, spec: TableSpec, figure: Computed) -> FiguresProduct:
        """Figures that are computed from one table of counts."""
        axes = [CountAxis.of(axis) for axis in spec.axes]

        def compute(counts: Sequence[Counted]) -> Figures:
            return computed(figure, counts[0], axes)

        shown = [axis for axis in spec.axes if axis.variable.name not in figure.consumed]
        return self.named(
            (spec,), compute, shown, figure.words, figure.unit, notes_of(figure, axes)
        )

    def named(
        self,
        specs: tuple[TableSpec, ...],
        compute: Compute,
        shown: Sequence[Axis],
        called: Text,
        unit: Text,
        notes: tuple[Text, ...] = (words.COMPUTED,),
    ) -> FiguresProduct:
        """Figures with the title that the plan gives them, or one that says what they are."""
        condition = words.condition_words(specs[0].universe)
        title = words.figure_title(
            called, lambda language: [axis_heading(axis, language) for axis in self.by], condition
        )
        return FiguresProduct(
            name=self.planned.name,
            title=self.planned.title or title,
            unit=unit,
            specs=specs,
            axes=tuple(delivered_axis(axis) for axis in shown),
            compute=compute,
            notes=(*weighted_notes(specs[0]), *notes),
        )


# ------------------------------------------------------------------------ quotients of two counts


def _share(asked: _Asked) -> FiguresProduct:
    above, below = asked.sides()
    if above is None:
        raise SpecError('name what is counted: numerator = "..."')
    return _quotient(asked, share(above, below or EVERYTHING, asked.planned.decimals))


def _ratio(asked: _Asked) -> FiguresProduct:
    above, below = asked.sides()
    if above is None or below is None:
        raise SpecError('name what is divided: numerator = "...", denominator = "..."')
    return _quotient(asked, ratio(above, below, asked.planned.per, asked.planned.decimals))


def _sex_ratio(asked: _Asked) -> FiguresProduct:
    planned, variable = asked.planned, asked.variable()
    above, below = asked.sides()
    level = variable.level()
    return _quotient(
        asked, sex_ratio(variable, level, planned.per, planned.decimals, above=above, below=below)
    )


def _dependency_ratio(asked: _Asked) -> FiguresProduct:
    planned, name = asked.planned, asked.variable().name
    above, below = asked.sides()
    return _quotient(
        asked,
        dependency_ratio(
            name, asked.schema, planned.per, planned.decimals, above=above, below=below
        ),
    )


def _quotient(asked: _Asked, definition: QuotientDefinition) -> FiguresProduct:
    """Every variable of the conditions is an axis with all of its codes, so that the sums are of
    the fewest published values."""
    axes = [
        make_axis(axis.variable, axis.variable.levels(), total=True) for axis in definition.axes
    ]
    shown = {axis.variable.name: CountedAxis.of(axis) for axis in axes}

    def places(axis: ConditionAxis, number: int | None) -> tuple[int, ...]:
        parts: tuple[Part, ...] | None = (WHOLE,)
        if number is not None:
            parts = covering(axis.variable).cover(axis.sets[number])
        assert parts is not None  # the leaves themselves are declared
        return tuple(shown[axis.variable.name].positions(parts).tolist())

    return asked.product(asked.spec(axes), definition.placed(places))


def _household_size(asked: _Asked) -> FiguresProduct:
    people, households = (asked.spec((), of) for of in (Entity.PERSON, Entity.HOUSEHOLD))
    decimals = asked.planned.decimals

    def compute(counts: Sequence[Counted]) -> Figures:
        return quotient(counts[0], counts[1], per=1, decimals=decimals)

    called, unit = words.HOUSEHOLD_SIZE, words.PER_HOUSEHOLD
    return asked.named((people, households), compute, people.axes, called, unit)


# --------------------------------------------------------------------------- one variable at once


def _distribution(asked: _Asked) -> FiguresProduct:
    axis = parse_axis(asked.planned.variable, asked.schema.variable)
    if not axis.total:
        axis = make_axis(axis.variable, axis.levels, total=True)
    called = words.variable_words(words.DISTRIBUTION, axis.variable)
    figure = Percentages((axis.variable.name,), asked.planned.decimals, called)
    return asked.product(asked.spec((axis,)), figure)


def _of_numbers(asked: _Asked) -> FiguresProduct:
    planned = asked.planned
    variable = asked.variable()
    level = variable.level() if variable.codes else Level(variable.name, (), ())
    figure = of_numbers(planned.kind, variable, level, planned.decimals)
    return asked.product(asked.spec((make_axis(variable, [level], total=False),)), figure)


_BUILDERS: dict[str, Callable[[_Asked], FiguresProduct]] = {
    "share": _share,
    "ratio": _ratio,
    "distribution": _distribution,
    "median": _of_numbers,
    "mean": _of_numbers,
    "median-age": _of_numbers,
    "sex-ratio": _sex_ratio,
    "dependency-ratio": _dependency_ratio,
    "average-household-size": _household_size,
}
