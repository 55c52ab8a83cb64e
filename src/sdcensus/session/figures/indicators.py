"""Products that are computed from published counts: shares, ratios, distributions, medians, means.

A condition that is no declared code is a sum of published values, never a count with noise of its
own: otherwise indicators would be an endless supply of fresh looks at the same people.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.building_blocks import fewest_codes
from sdcensus.model.plan.plan import PlannedIndicator, PlannedTable
from sdcensus.model.published.delivery import (
    DeliveredAxis,
    DeliveredTable,
    delivered_axis,
    delivered_cells,
)
from sdcensus.model.published.figures import (
    Counted,
    Figures,
    mean,
    median,
    number_classes,
    quotient,
)
from sdcensus.model.schema.entity import Entity
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.axis import Axis, make_axis, parse_axis
from sdcensus.model.spec.headings import (
    axis_heading,
    joined_in_title,
    universe_text,
    variable_heading,
)
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, universe_of
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.session.figures import indicator_words as words
from sdcensus.session.figures import words as figure_words
from sdcensus.session.figures.men_and_women import men_and_women
from sdcensus.session.publish.products import Heading, PublishedPart

Int64 = npt.NDArray[np.int64]
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
        notes: What readers should know besides.
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
            notes=(figure_words.COMPUTED, *self.notes),
            source=heading.source,
            date=heading.date,
            signs=heading.signs,
        )


def _counted(part: PublishedPart) -> Counted:
    return Counted(part.table.published, part.marks)


# ------------------------------------------------------------------------------- from the plan


def share_product(table: PlannedTable, schema: Schema) -> FiguresProduct:
    """A table of shares: of the records of each cell, the percentage that fulfils a condition."""
    made = indicator_product(
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
    )
    return replace(made, rows=len(table.rows) or None)


def indicator_product(planned: PlannedIndicator, schema: Schema) -> FiguresProduct:
    """The figures that a plan asks for.

    Raises:
        SpecError: Something in it does not fit the schema, or cannot be made of published counts.
    """
    where = f"Indicator {planned.name!r}: "
    try:
        return _BUILDERS[planned.kind](_Asked(planned, schema))
    except KeyError:
        known = ", ".join(_BUILDERS)
        raise SpecError(f"{where}there is no kind {planned.kind!r}. There are: {known}.") from None
    except SpecError as error:
        text = str(error)
        raise SpecError(text if text.startswith(where) else f"{where}{text}") from None


class _Asked:
    """What is asked for, resolved against the schema."""

    def __init__(self, planned: PlannedIndicator, schema: Schema) -> None:
        self.planned, self.schema = planned, schema
        self.by = tuple(parse_axis(text, schema.variable) for text in planned.by)

    def variable(self, default: str = "") -> Variable:
        name = self.planned.variable or default
        if not name:
            raise SpecError("name the variable: variable = ...")
        return self.schema.variable(name)

    def spec(self, more: Sequence[Axis], of: Entity | None = None) -> TableSpec:
        """Counts by the groups and by further axes."""
        names = [axis.variable.name for axis in self.by]
        for axis in more:
            if axis.variable.name in names:
                raise SpecError(
                    f"{axis.variable.name!r} is both a group and part of what is computed. Take it"
                    " out of 'by', or out of the conditions."
                )
        made = TableSpec.build(
            self.schema,
            self.planned.by,
            of=of or self.planned.of,
            universe=self.planned.universe or None,
        )
        lineage = self.schema.lineage(made.of)
        for axis in more:
            if axis.variable.entity not in lineage:
                raise SpecError(
                    f"{axis.variable.name!r} describes {axis.variable.entity.plural}, which do not"
                    f" belong to {made.of.plural}."
                )
        return made.with_axes((*made.axes, *more))

    def product(
        self,
        specs: Sequence[TableSpec],
        compute: Compute,
        *,
        title: Text,
        unit: Text,
        more: Sequence[DeliveredAxis] = (),
        notes: tuple[Text, ...] = (),
    ) -> FiguresProduct:
        return FiguresProduct(
            name=self.planned.name,
            title=self.planned.title or self._with_groups(title),
            unit=unit,
            specs=tuple(specs),
            axes=(*(delivered_axis(axis) for axis in self.by), *more),
            compute=compute,
            notes=notes,
        )

    def _with_groups(self, title: Text) -> Text:
        """What is computed, and for which groups."""
        if not self.by:
            return title
        made = {}
        for language, text in title.by_language:
            axes = [axis_heading(axis, language) for axis in self.by]
            made[language] = f"{text} {words.BY.show(language)} {joined_in_title(axes, language)}"
        return Text.of(made)


# ------------------------------------------------------------------------ quotients of two counts


def _share(asked: _Asked) -> FiguresProduct:
    planned = asked.planned
    if not planned.numerator:
        raise SpecError('name what is counted: numerator = "..."')
    above, below = (
        _in_words(one, asked.schema) for one in (planned.numerator, planned.denominator)
    )
    title = words.SHARE_OF if planned.denominator else words.SHARE
    title = words.filled(title, above=above, below=below)
    return _quotient(
        asked, planned.numerator, planned.denominator, share=True, per=100, title=title
    )


def _ratio(asked: _Asked) -> FiguresProduct:
    planned = asked.planned
    if not planned.numerator or not planned.denominator:
        raise SpecError('name what is divided: numerator = "...", denominator = "..."')
    return _ratio_of(asked, planned.numerator, planned.denominator)


def _ratio_of(asked: _Asked, numerator: str, denominator: str) -> FiguresProduct:
    """How many of one kind there are per so many of another."""
    per = asked.planned.per
    above, below = (_in_words(one, asked.schema) for one in (numerator, denominator))
    title = words.filled(words.RATIO, above=above, below=below, per=per)
    return _quotient(asked, numerator, denominator, share=False, per=per, title=title)


def _sex_ratio(asked: _Asked) -> FiguresProduct:
    planned = asked.planned
    variable = asked.variable("sex")
    valid = [code.code for code in variable.codes if not code.is_missing]
    if len(valid) != 2 and not (planned.numerator and planned.denominator):
        raise SpecError(
            f"{variable.name!r} has not two codes. Name both sides: numerator, denominator."
        )
    known = men_and_women(variable.level())
    if known is not None:
        valid = [one.code for one in known]
    men = planned.numerator or f"{variable.name} == '{valid[0]}'"
    women = planned.denominator or f"{variable.name} == '{valid[1]}'"
    # Where the labels do not say who is who, the title tells what is divided.
    if planned.numerator or planned.denominator or known is None:
        return _ratio_of(asked, men, women)
    title = words.filled(words.SEX_RATIO, per=planned.per)
    return _quotient(asked, men, women, share=False, per=planned.per, title=title)


def _dependency_ratio(asked: _Asked) -> FiguresProduct:
    planned = asked.planned
    name = asked.variable("age").name
    others = planned.numerator or f"{name} < 15 or {name} >= 65"
    workers = planned.denominator or f"{name} >= 15 and {name} < 65"
    if planned.numerator or planned.denominator:
        return _ratio_of(asked, others, workers)
    title = words.filled(words.DEPENDENCY_RATIO, per=planned.per)
    return _quotient(asked, others, workers, share=False, per=planned.per, title=title)


def _household_size(asked: _Asked) -> FiguresProduct:
    people = asked.spec((), Entity.PERSON)
    households = asked.spec((), Entity.HOUSEHOLD)
    decimals = asked.planned.decimals

    def compute(counts: Sequence[Counted]) -> Figures:
        return quotient(counts[0], counts[1], per=1, decimals=decimals)

    return asked.product(
        (people, households),
        compute,
        title=words.HOUSEHOLD_SIZE,
        unit=words.PER_HOUSEHOLD,
    )


def _quotient(
    asked: _Asked, above: str, below: str, *, share: bool, per: int, title: Text
) -> FiguresProduct:
    first, second = universe_of(above, asked.schema), universe_of(below or None, asked.schema)
    axes = _condition_axes((first, second))
    spec = asked.spec(axes)
    if share:
        first = _both(first, second)
    picked = [[_codes(axis, one) for axis in axes] for one in (first, second)]
    decimals = asked.planned.decimals

    def compute(counts: Sequence[Counted]) -> Figures:
        top, bottom = (_summed(counts[0], one) for one in picked)
        return quotient(top, bottom, per=per, decimals=decimals, share=share)

    unit = figure_words.PERCENT if share else words.filled(words.PER, per=per)
    return asked.product((spec,), compute, title=title, unit=unit)


def _in_words(condition: str, schema: Schema) -> dict[str, str]:
    """A condition in every language that titles are written in; empty for none."""
    universe = universe_of(condition or None, schema)
    return {language: universe_text(universe, language) for language in LANGUAGES}


def _condition_axes(universes: Sequence[Universe]) -> tuple[Axis, ...]:
    """An axis with all declared codes for each variable of the conditions."""
    found: dict[str, Variable] = {}
    for universe in universes:
        if not is_product(universe):
            raise SpecError(
                "a condition must be a choice of codes of each of its variables, joined by 'and'."
                " 'or' between two variables cannot be made of published counts."
            )
        found |= {variable.name: variable for variable in universe.variables}
    return tuple(make_axis(variable, variable.levels(), total=True) for variable in found.values())


def _both(first: Universe, second: Universe) -> Universe:
    """The records of both universes, each a choice of codes of its variables."""
    from sdcensus.model.spec.universe import restrict

    made = first
    for variable in second.variables:
        made = restrict(made, variable, leaves_in(second, variable))
    return made


def _codes(axis: Axis, universe: Universe) -> Int64:
    """The fewest published codes of an axis that make up a choice of leaves: 1 for each of them."""
    wanted = leaves_in(universe, axis.variable)
    if not wanted.any():
        raise SpecError(f"no code of {axis.variable.name!r} fulfils the conditions together.")
    groups = np.zeros(axis.base_size, dtype=bool)
    groups[axis.base[wanted]] = True
    chosen = fewest_codes(axis, groups, subtraction=False)
    if chosen is None:
        raise SpecError(f"no codes of {axis.variable.name!r} make up the condition.")
    return chosen


def _summed(counts: Counted, picked: Sequence[Int64]) -> Counted:
    """Published counts added up over chosen codes of the last axes."""
    for codes in reversed(picked):
        counts = counts.along_last(np.flatnonzero(codes)).summed()
    return counts


# --------------------------------------------------------------------------- one variable at once


def _distribution(asked: _Asked) -> FiguresProduct:
    axis = parse_axis(asked.planned.variable, asked.schema.variable)
    if not axis.total:
        axis = make_axis(axis.variable, axis.levels, total=True)
    spec = asked.spec((axis,))
    decimals = asked.planned.decimals

    def compute(counts: Sequence[Counted]) -> Figures:
        shape = counts[0].counts.shape
        total = counts[0].each(lambda array: np.broadcast_to(array[..., -1:], shape))
        return quotient(counts[0], total, decimals=decimals, share=True)

    return asked.product(
        (spec,),
        compute,
        title=words.filled(words.DISTRIBUTION, above=_label(axis.variable)),
        unit=figure_words.PERCENT,
        more=(delivered_axis(axis),),
    )


def _median(asked: _Asked) -> FiguresProduct:
    variable = asked.variable("age" if asked.planned.kind == "median-age" else "")
    title = words.filled(words.MEDIAN, above=_label(variable))
    if asked.planned.kind == "median-age":
        title = words.MEDIAN_AGE
    return _of_numbers(asked, variable, median, title)


def _mean(asked: _Asked) -> FiguresProduct:
    variable = asked.variable()
    title = words.filled(words.MEAN, above=_label(variable))
    return _of_numbers(asked, variable, mean, title)


def _label(variable: Variable) -> dict[str, str]:
    return {language: variable_heading(variable, language) for language in LANGUAGES}


def _of_numbers(
    asked: _Asked, variable: Variable, figure: Callable[..., Figures], title: Text
) -> FiguresProduct:
    """A figure of the classes of numbers that the codes of a variable stand for."""
    level = variable.level() if variable.codes else Level(variable.name, (), ())
    classes = number_classes(variable, level, mean=figure is mean)
    axis = make_axis(variable, [level], total=False)
    spec = asked.spec((axis,))
    places = np.array([one.place for one in classes], dtype=np.int64)
    lower, upper = [one.lower for one in classes], [one.upper for one in classes]
    decimals = asked.planned.decimals

    def compute(counts: Sequence[Counted]) -> Figures:
        chosen = counts[0].along_last(places)
        return figure(chosen, lower, upper, decimals=decimals)

    unit = Text.of(variable.unit) if variable.unit else title
    notes = (figure_words.OPEN_CLASS,) if figure is mean and None in upper else ()
    return asked.product((spec,), compute, title=title, unit=unit, notes=notes)


_BUILDERS: dict[str, Callable[[_Asked], FiguresProduct]] = {
    "share": _share,
    "ratio": _ratio,
    "distribution": _distribution,
    "median": _median,
    "mean": _mean,
    "median-age": _median,
    "sex-ratio": _sex_ratio,
    "dependency-ratio": _dependency_ratio,
    "average-household-size": _household_size,
}
