"""What a plan asks for, resolved against the schema, and the figures that become of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sdcensus.errors import SpecError
from sdcensus.methods.notes import weighted_notes
from sdcensus.model.plan.plan import PlannedIndicator
from sdcensus.model.plan.vocabulary import INDICATOR_KINDS
from sdcensus.model.published.delivery import (
    DeliveredAxis,
    DeliveredTable,
    delivered_axis,
    delivered_cells,
)
from sdcensus.model.published.figures import (
    DEFAULT_LIMITS,
    FEWEST_BEHIND_AMOUNTS,
    Counted,
    Figures,
    Support,
    scale_of,
)
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.roles import variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.spec.axis import Axis, make_axis, parse_axis
from sdcensus.model.spec.covers import WHOLE, CountedAxis, Part, covering
from sdcensus.model.spec.headings import axis_heading
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import Universe, universe_of
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.figures import words
from sdcensus.session.figures.amounts import mean_decimals
from sdcensus.session.figures.computation import (
    Computed,
    CountAxis,
    OfNumbers,
    Quotient,
    computed,
    notes_of,
)
from sdcensus.session.figures.definitions import ConditionAxis, QuotientDefinition
from sdcensus.session.publish.products import Heading, PublishedPart

#: From the counts of the tables of a product to its figures.
Compute = Callable[[Sequence[Counted]], Figures]
#: How many are published at least behind figures of an amount, given what the plan says.
Behind = Callable[[str, int | None], int]


def least_said(amount: str, said: int | None) -> int:
    """As many as a plan says, where there is neither a policy nor a smallest group."""
    return FEWEST_BEHIND_AMOUNTS if said is None else said


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FiguresProduct:
    """Figures from published counts and sums, under a name of their own.

    Attributes:
        name, title, contents, unit: What they are called.
        specs: The tables of counts and of sums behind them.
        axes: For which groups they are given.
        compute: From counts to figures.
        notes: What readers should know.
        rows: How many of the axes stand in rows.
        of_numbers: What is computed, where it is a percentile of an amount.
        amounts: What it is of which amount, for the policy; nothing for figures of counts.
    """

    name: str
    title: Text
    unit: Text
    specs: tuple[TableSpec, ...]
    axes: tuple[DeliveredAxis, ...]
    compute: Compute
    contents: Text = Text()
    notes: tuple[Text, ...] = ()
    rows: int | None = None
    own: bool = True
    needs_populated: bool = False
    of_numbers: OfNumbers | None = None
    amounts: tuple[FigureOf, ...] = ()

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
            contents=self.contents,
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


class Asked:
    """What is asked for, resolved against the schema."""

    def __init__(
        self,
        planned: PlannedIndicator,
        schema: Schema,
        measure: Measure | None,
        behind: Behind = least_said,
    ) -> None:
        self.planned, self.schema, self.measure = planned, schema, measure
        self.by = tuple(parse_axis(text, schema.variable) for text in planned.by)
        self._behind = behind
        # Refuse here, before any work, what cannot be computed.
        DEFAULT_LIMITS.for_amounts(least_said("", planned.fewest))
        scale_of(planned.per or 1, self.decimals)

    def variable(self) -> Variable:
        """The variable that is named, or the one that has the role which the kind needs."""
        role = INDICATOR_KINDS[self.planned.kind].role
        name = self.planned.variable
        if "@" in name:
            return parse_axis(name, self.schema.variable).variable
        if name:
            return self.schema.variable(name)
        if role is None:
            raise SpecError("name the variable: variable = ...")
        return variable_for(role, self.schema)

    @property
    def decimals(self) -> int:
        """How many digits behind the point are published."""
        return 1 if self.planned.decimals is None else self.planned.decimals

    def decimals_of(self, amount: Variable) -> int:
        """The same for a mean of an amount, or a ratio of sums of it: by default its own."""
        return mean_decimals(amount) if self.planned.decimals is None else self.planned.decimals

    def fewest(self, *amounts: Variable) -> int:
        """How many are published at least behind a figure of some amounts."""
        return max(self._behind(amount.name, self.planned.fewest) for amount in amounts)

    @property
    def per(self) -> int:
        """What ratios of counts are given per."""
        return 100 if self.planned.per is None else self.planned.per

    def level(self) -> Level:
        """The level of the variable that is named, or its leaves."""
        variable = self.variable()
        if not variable.codes:
            return Level(variable.name, (), ())
        if "@" not in self.planned.variable:
            return variable.level()
        levels = parse_axis(self.planned.variable, self.schema.variable).levels
        if len(levels) > 1:
            raise SpecError("one level of the variable is enough; several are named.")
        return levels[0]

    def sides(self) -> tuple[Universe | None, Universe | None]:
        """The conditions above and below the line, where they are given."""
        return self.condition("numerator"), self.condition("denominator")

    def condition(self, setting: str) -> Universe | None:
        """A condition, where it is given."""
        text = getattr(self.planned, setting)
        return universe_of(text, self.schema) if text else None

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

    @staticmethod
    def counted(definition: QuotientDefinition) -> tuple[list[Axis], Quotient]:
        """The axes of the conditions of a quotient, and where on them its two sides stand.

        Every variable of the conditions is an axis with all of its codes, so that the sums are of
        the fewest published values.
        """
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

        return axes, definition.placed(places)

    def product(
        self, spec: TableSpec, figure: Computed, last: tuple[DeliveredAxis, ...] = ()
    ) -> FiguresProduct:
        """Figures that are computed from one table of counts; ``last`` are axes of their own."""
        axes = [CountAxis.of(axis) for axis in spec.axes]

        def compute(counts: Sequence[Counted]) -> Figures:
            return computed(figure, counts[0], axes)

        shown = [axis for axis in spec.axes if axis.variable.name not in figure.consumed]
        product = self.named(
            (spec,), compute, shown, figure.words, figure.unit, notes_of(figure, axes), last
        )
        if not isinstance(figure, OfNumbers) or figure.fewest is None:
            return product
        median = FigureOf(AmountFigure.MEDIAN, figure.variable)
        return replace(product, of_numbers=figure, amounts=(median,))

    def named(
        self,
        specs: tuple[TableSpec, ...],
        compute: Compute,
        shown: Sequence[Axis],
        called: Text,
        unit: Text,
        notes: tuple[Text, ...] = (words.COMPUTED,),
        last: tuple[DeliveredAxis, ...] = (),
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
            contents=called,
            specs=specs,
            axes=(*(delivered_axis(axis) for axis in shown), *last),
            compute=compute,
            notes=(*weighted_notes(specs[0]), *notes),
        )
