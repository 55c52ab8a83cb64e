"""Products that are computed from published numbers: shares, ratios, distributions, medians, means.

A condition that is no declared code is a sum of published values, never a count with noise of its
own: otherwise indicators would be an endless supply of fresh looks at the same people.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sdcensus.errors import SpecError
from sdcensus.model.plan.plan import PlannedIndicator, PlannedTable
from sdcensus.model.plan.vocabulary import SUM_SIDE
from sdcensus.model.published.figures import Counted, Figures, quotient
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.axis import make_axis, parse_axis
from sdcensus.model.spec.table_spec import Measure
from sdcensus.model.spec.universe import EVERYTHING
from sdcensus.session.figures import words
from sdcensus.session.figures.amount_indicators import (
    difference_of_amounts,
    mean_of_amount,
    ratio_of_amounts,
)
from sdcensus.session.figures.amounts import quartile_axis
from sdcensus.session.figures.asked import (
    Asked,
    Behind,
    FiguresProduct as FiguresProduct,
    least_said,
)
from sdcensus.session.figures.computation import Percentages, Statistic
from sdcensus.session.figures.definitions import (
    QuotientDefinition,
    dependency_ratio,
    of_numbers,
    ratio,
    sex_ratio,
    share,
)

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
    planned: PlannedIndicator,
    schema: Schema,
    measure: Measure | None = None,
    behind: Behind = least_said,
) -> FiguresProduct:
    """The figures that a plan asks for.

    Args:
        planned: What is asked for.
        schema: The schema of the census.
        measure: Of which counts they are computed; by default, of those of the census.
        behind: How many are published at least behind figures of an amount.

    Raises:
        SpecError: Something in it does not fit the schema, or cannot be made of published counts.
    """
    where = f"Indicator {planned.name!r}: "
    try:
        return _BUILDERS[planned.kind](Asked(planned, schema, measure, behind))
    except KeyError:
        known = ", ".join(_BUILDERS)
        raise SpecError(f"{where}there is no kind {planned.kind!r}. There are: {known}.") from None
    except SpecError as error:
        text = str(error)
        raise SpecError(text if text.startswith(where) else f"{where}{text}") from None


# ------------------------------------------------------------------------ quotients of two counts


def _share(asked: Asked) -> FiguresProduct:
    above, below = asked.sides()
    if above is None:
        raise SpecError('name what is counted: numerator = "..."')
    return _quotient(asked, share(above, below or EVERYTHING, asked.decimals))


def _ratio(asked: Asked) -> FiguresProduct:
    if SUM_SIDE.fullmatch(asked.planned.numerator):
        return ratio_of_amounts(asked)
    above, below = asked.sides()
    if above is None or below is None:
        raise SpecError('name what is divided: numerator = "...", denominator = "..."')
    return _quotient(asked, ratio(above, below, asked.per, asked.decimals))


def _sex_ratio(asked: Asked) -> FiguresProduct:
    variable = asked.variable()
    above, below = asked.sides()
    level = variable.level()
    return _quotient(
        asked, sex_ratio(variable, level, asked.per, asked.decimals, above=above, below=below)
    )


def _dependency_ratio(asked: Asked) -> FiguresProduct:
    name = asked.variable().name
    above, below = asked.sides()
    return _quotient(
        asked,
        dependency_ratio(name, asked.schema, asked.per, asked.decimals, above=above, below=below),
    )


def _quotient(asked: Asked, definition: QuotientDefinition) -> FiguresProduct:
    axes, placed = asked.counted(definition)
    return asked.product(asked.spec(axes), placed)


def _household_size(asked: Asked) -> FiguresProduct:
    people, households = (asked.spec((), of) for of in (Entity.PERSON, Entity.HOUSEHOLD))
    decimals = asked.decimals

    def compute(counts: Sequence[Counted]) -> Figures:
        return quotient(counts[0], counts[1], per=1, decimals=decimals)

    called, unit = words.HOUSEHOLD_SIZE, words.PER_HOUSEHOLD
    return asked.named((people, households), compute, people.axes, called, unit)


# --------------------------------------------------------------------------- one variable at once


def _distribution(asked: Asked) -> FiguresProduct:
    axis = parse_axis(asked.planned.variable, asked.schema.variable)
    if not axis.total:
        axis = make_axis(axis.variable, axis.levels, total=True)
    called = words.variable_words(words.DISTRIBUTION, axis.variable)
    figure = Percentages((axis.variable.name,), asked.decimals, called)
    return asked.product(asked.spec((axis,)), figure)


def _of_numbers(asked: Asked) -> FiguresProduct:
    planned = asked.planned
    variable, level = asked.variable(), asked.level()
    if planned.kind == "mean" and variable.continuous and "@" not in planned.variable:
        return mean_of_amount(asked, variable)
    figure = of_numbers(
        planned.kind,
        variable,
        level,
        asked.decimals,
        repr(planned.variable) if "@" in planned.variable else "",
        percent=planned.percent,
        fewest=asked.fewest(variable),
        schema=asked.schema,
    )
    last = (quartile_axis(),) if figure.statistic is Statistic.QUARTILES else ()
    return asked.product(asked.spec((make_axis(variable, [level], total=False),)), figure, last)


_BUILDERS: dict[str, Callable[[Asked], FiguresProduct]] = {
    "share": _share,
    "ratio": _ratio,
    "distribution": _distribution,
    "median": _of_numbers,
    "mean": _of_numbers,
    "quartiles": _of_numbers,
    "percentile": _of_numbers,
    "difference": difference_of_amounts,
    "median-age": _of_numbers,
    "sex-ratio": _sex_ratio,
    "dependency-ratio": _dependency_ratio,
    "average-household-size": _household_size,
}
