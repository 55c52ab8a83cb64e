"""What figures are of: the sets of leaves that a quotient counts, the classes that a mean needs.

Plans and programs both say what they want here; each then says where the counts are found, in the
cells of its table or in the groups of its question.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdcensus.documents.plan.checks import both
from sdcensus.errors import SpecError, told
from sdcensus.model.plan.plan import PlannedTable
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.delivery import DeliveredTable, Marks
from sdcensus.model.published.figures import FEWEST_BEHIND_AMOUNTS, number_classes
from sdcensus.model.published.percentiles import MEDIAN, QUARTILES, check_percent
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, Level, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.covers import WHOLE, CountedAxis, Mask, needed_levels
from sdcensus.model.spec.headings import units_text
from sdcensus.model.spec.measures import MeasureOf
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import EVERYTHING, Universe, restrict, universe_of
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.session.answer.cells import AnswerCells, CountedCells, answer_cells
from sdcensus.session.answer.delivery import delivered_axis, question_heading, sum_notes
from sdcensus.session.answer.recipe import Compiled, compile_question
from sdcensus.session.figures import words
from sdcensus.session.figures.computation import Choice, OfNumbers, Quotient, Statistic
from sdcensus.session.policy import Ruling
from sdcensus.session.policy.verdict import Verdict
from sdcensus.session.publish.products import Heading, PublishedPart

_MEN = frozenset(
    {
        *("m", "male", "males", "man", "men"),
        *("h", "hombre", "hombres", "masculino", "varón", "varones"),
        *("homme", "hommes", "masculin"),
        *("mannen", "mannelijk"),
        *("homem", "homens"),
    }
)
_WOMEN = frozenset(
    {
        *("f", "female", "females", "woman", "women"),
        *("mujer", "mujeres", "femenino"),
        *("femme", "femmes", "féminin"),
        *("v", "vrouw", "vrouwen", "vrouwelijk"),
        *("mulher", "mulheres", "feminino"),
    }
)


def men_and_women(level: Level) -> tuple[Code, Code] | None:
    """The code for men and the code for women, in whatever order they stand.

    ``None`` where there are not two codes besides missing ones, or their labels do not say it.
    """
    valid = [code for code in level.codes if not code.is_missing]
    if len(valid) != 2:
        return None
    first, second = valid
    if _called(first, _MEN) and _called(second, _WOMEN):
        return first, second
    if _called(first, _WOMEN) and _called(second, _MEN):
        return second, first
    return None


def _called(code: Code, words: frozenset[str]) -> bool:
    labels = [text for _, text in code.label.by_language] or [code.code]
    return any(text.strip().casefold() in words for text in labels)


@dataclass(frozen=True, slots=True, eq=False)
class ConditionAxis:
    """What a quotient needs of one variable.

    Attributes:
        variable: The variable.
        sets: Sets of its leaves, all different and none of them everything.
        above, below: Which of them each side counts; ``None`` for everything.
    """

    variable: Variable
    sets: tuple[Mask, ...]
    above: int | None
    below: int | None

    @property
    def total(self) -> bool:
        """Whether a side counts everything."""
        return self.above is None or self.below is None


#: For an axis and one of its sets, or ``None`` for everything, where the counts stand.
Places = Callable[[ConditionAxis, int | None], tuple[int, ...]]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class QuotientDefinition:
    """One count per so many of another, by what each of them counts."""

    axes: tuple[ConditionAxis, ...]
    share: bool
    per: int
    decimals: int
    words: Text

    def placed(self, places: Places) -> Quotient:
        """The quotient of counts that stand at known places."""
        above = [Choice(axis.variable.name, places(axis, axis.above)) for axis in self.axes]
        below = [Choice(axis.variable.name, places(axis, axis.below)) for axis in self.axes]
        return Quotient(tuple(above), tuple(below), self.share, self.per, self.decimals, self.words)


def share(above: Universe, below: Universe, decimals: int) -> QuotientDefinition:
    """Of the records of one condition, the percentage that fulfils another as well.

    Raises:
        SpecError: A condition is no choice of codes, or no record can fulfil both.
    """
    check_choices(above, below)
    both = above
    for variable in below.variables:
        both = restrict(both, variable, leaves_in(below, variable))
    return QuotientDefinition(
        axes=_axes(both, below),
        share=True,
        per=100,
        decimals=decimals,
        words=words.share_words(above, below),
    )


def ratio(
    above: Universe, below: Universe, per: int, decimals: int, called: Text | None = None
) -> QuotientDefinition:
    """How many records of one condition there are per so many of another.

    Args:
        above, below: The conditions.
        per: Per how many.
        decimals: How many digits stand behind the point.
        called: What a ratio with a name of its own is called, with a gap for per how many.

    Raises:
        SpecError: A condition is no choice of codes, or no record can fulfil it.
    """
    check_choices(above, below)
    return QuotientDefinition(
        axes=_axes(above, below),
        share=False,
        per=per,
        decimals=decimals,
        words=words.per_words(called, per) if called else words.ratio_words(above, below, per),
    )


def sex_ratio(
    variable: Variable,
    level: Level,
    per: int,
    decimals: int,
    *,
    above: Universe | None = None,
    below: Universe | None = None,
) -> QuotientDefinition:
    """How many men there are per so many women.

    Where the labels do not say who is who, the title tells what is divided.

    Args:
        variable, level: The variable, and its level.
        per: Per how many.
        decimals: How many digits stand behind the point.
        above, below: Conditions instead of men, and of women.

    Raises:
        SpecError: There are not two codes.
    """
    if above is not None and below is not None:
        return ratio(above, below, per, decimals)
    valid = [at for at, code in enumerate(level.codes) if not code.is_missing]
    if len(valid) != 2:
        leaves = level.name == variable.leaf_level
        raise SpecError(
            told(
                "figures.not-two-codes",
                "{variable} has not two codes. Name both sides of a ratio.",
                variable=variable.name if leaves else f"{variable.name}@{level.name}",
            )
        )
    known = men_and_women(level)
    if known is not None:
        valid = [level.codes.index(code) for code in known]
    men, women = (restrict(EVERYTHING, variable, level.group_array == at) for at in valid)
    named = known is not None and above is None and below is None
    return ratio(
        men if above is None else above,
        women if below is None else below,
        per,
        decimals,
        words.SEX_RATIO if named else None,
    )


def dependency_ratio(
    operand: str,
    schema: Schema,
    per: int,
    decimals: int,
    *,
    above: Universe | None = None,
    below: Universe | None = None,
) -> QuotientDefinition:
    """How many people of other ages there are per so many from 15 to 64.

    Args:
        operand: The age, as conditions name it.
        schema: The census.
        per: Per how many.
        decimals: How many digits stand behind the point.
        above, below: Conditions instead of other ages, and of 15 to 64.
    """
    others, workers = above, below
    if others is None:
        others = universe_of(f"{operand} < 15 or {operand} >= 65", schema)
    if workers is None:
        workers = universe_of(f"{operand} >= 15 and {operand} < 65", schema)
    named = above is None and below is None
    return ratio(others, workers, per, decimals, words.DEPENDENCY_RATIO if named else None)


def of_numbers(
    kind: str,
    variable: Variable,
    level: Level,
    decimals: int,
    name: str = "",
    *,
    percent: int = MEDIAN,
    fewest: int = FEWEST_BEHIND_AMOUNTS,
    schema: Schema | None = None,
) -> OfNumbers:
    """The mean, the median or percentiles of the numbers that the codes of a level stand for.

    Args:
        kind: ``mean``, ``median``, ``median-age``, ``quartiles`` or ``percentile``.
        variable: The variable.
        level: Its level.
        decimals: How many digits stand behind the point.
        name: How whoever asks calls the variable.
        percent: Which percentile.
        fewest: Of amounts, how many are published at least behind a figure.
        schema: The census, which may say which variable is the age.

    Raises:
        SpecError: The codes are no numbers, or the figure would be somebody's own value.
    """
    statistic = Statistic.MEDIAN if kind == "median-age" else Statistic(kind)
    classes = number_classes(variable, level, mean=statistic is Statistic.MEAN, name=name)
    percents: tuple[int, ...] = (MEDIAN,)
    called = words.MEDIAN_AGE
    if statistic is Statistic.PERCENTILE:
        percents = (check_percent(percent),)
        called = words.variable_words(words.PERCENTILE, variable, percent)
    elif statistic is Statistic.QUARTILES:
        percents = QUARTILES
        called = words.variable_words(words.QUARTILES, variable)
    elif kind != "median-age":
        text = words.MEAN if statistic is Statistic.MEAN else words.MEDIAN
        called = words.variable_words(text, variable)
    return OfNumbers(
        variable.name,
        statistic,
        classes,
        decimals,
        called,
        unit=words.unit_words(variable, schema, age=kind == "median-age"),
        percents=percents,
        fewest=fewest if variable.continuous else None,
    )


def check_choices(*universes: Universe) -> None:
    """Refuse conditions that are no free combination of codes of each of their variables."""
    for universe in universes:
        if not is_product(universe):
            raise SpecError(
                told(
                    "figures.no-choice",
                    "This condition must be a choice of codes of each of its variables, joined by"
                    " AND. OR between two variables cannot be made of published counts.",
                )
            )


def _axes(above: Universe, below: Universe) -> tuple[ConditionAxis, ...]:
    if not (above.truth.any() and below.truth.any()):
        raise SpecError(told("condition.nobody", "No record can fulfil the condition."))
    variables = {each.name: each for side in (above, below) for each in side.variables}
    axes = []
    for _, variable in sorted(variables.items()):
        sets: list[Mask] = []
        sides = [_place(leaves_in(side, variable), sets) for side in (above, below)]
        axes.append(ConditionAxis(variable, tuple(sets), *sides))
    return tuple(axes)


def _place(leaves: Mask, sets: list[Mask]) -> int | None:
    """The number of a set among those that are kept; ``None`` for everything."""
    if leaves.all():
        return None
    for at, kept in enumerate(sets):
        if (kept == leaves).all():
            return at
    sets.append(leaves)
    return len(sets) - 1


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SumsProduct:
    """One table of sums of published values.

    A condition that is no universe goes the same way as in the table builder, so that a plan shows
    the same number: codes are counted as declared, and their published values are added up.

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
        published = CountedCells(part.table.published, part.marks, part.records)
        cells = answer_cells(self.compiled, published, Ruling(Verdict()))
        spec = self.compiled.spec
        return DeliveredTable(
            name=self.name,
            title=self.title,
            axes=tuple(map(delivered_axis, self.compiled.axes)),
            values=cells.values,
            marks=_marks_of_sums(self.compiled, part, cells),
            unit=Text.of({language: units_text(spec, language) for language in LANGUAGES}),
            rows=self.rows,
            notes=(*part.table.notes, *sum_notes(self.compiled, cells)),
            provenance=replace(part.provenance, spec_hash=self.compiled.watched.hash()),
            source=heading.source,
            date=heading.date,
            signs=heading.signs,
            support=cells.support,
        )


def _marks_of_sums(compiled: Compiled, part: PublishedPart, cells: AnswerCells) -> Marks | None:
    """The marks of sums: those of estimates that at least half of a sum comes from go beside it."""
    beside, values = part.table.beside, part.table.published
    if beside is None:
        return cells.marks
    marks = np.zeros(cells.values.shape, np.uint8) if cells.marks is None else cells.marks.copy()
    low = Mark.LOW_RELIABILITY
    for mark, own in ((Mark.MODERATE_ERROR, beside != Mark.NONE), (low, beside == low)):
        some = CountedCells(np.where(own, values, 0))
        share = answer_cells(compiled, some, Ruling(Verdict())).values
        much = (2 * share >= cells.values) & (cells.values > 0)
        marks[much & ((marks == Mark.NONE) | (marks == Mark.MODERATE_ERROR))] = mark
    return marks


def sums_product(
    table: PlannedTable, policy: Policy, measure: Measure | None = None
) -> SumsProduct:
    """A table with a condition, as the builder answers it.

    Args:
        table: The table.
        policy: Of what codes sums are made: those that it allows.
        measure: What is added up, where the table does not say it; by default as the census does.

    Raises:
        SpecError: The condition cannot be made of published values.
    """
    where = both(table.universe, table.where)
    if isinstance(table.measure, MeasureOf):
        raise SpecError(
            f"{table.name}: 'where' is for tables of counts. Sums of an amount are published of"
            ' universes that the schema declares: universe = "NAME".'
        )
    try:
        compiled = compile_question(Question(of=table.of.plural, by=table.by, where=where), policy)
        rules = replace(policy, measure=table.measure or measure or policy.schema.census.measure)
        compiled = compiled.measured(rules)
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
