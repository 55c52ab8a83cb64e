"""From a question to what is counted for it, and how its cells are put together.

A question becomes three things: the table that the policy judges (axes and condition as they were
asked for), the table that is counted (declared codes only, without any condition), and for every
code of the answer the counted codes whose published values it is the sum of. A verdict about all
codes becomes one about those that are shown.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdcensus.errors import ConditionError, QuestionError, SpecError, UnknownName, told
from sdcensus.model.policy.policy import Policy
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.model.spec.axis import TOTAL, Axis
from sdcensus.model.spec.covers import WHOLE, terms_of
from sdcensus.model.spec.levels_told_apart import uses_of
from sdcensus.model.spec.measures import FigureOf, MeasureOf
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe, restrict
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.session.answer.axes import (
    ALL_AREAS,
    ALL_CATEGORIES,
    WHOLE_COUNTRY,
    FilterAxis,
    ShownAxis,
    Ways,
    all_parts,
    answer_axis,
    filter_axis,
)
from sdcensus.session.policy import Verdict, VerdictReason


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Compiled:
    """A question that fits the schema.

    Attributes:
        question: The question.
        spec: The table that the policy judges.
        watched: The same, narrowed to the codes that are shown.
        axes, filters: What the answer shows, and what its condition needs besides.
        counted: The table that is counted: no condition, declared codes only.
        terms: How many products of sets of codes the condition is.
        figure: What is said of an amount; ``None`` for counts.
    """

    question: Question
    spec: TableSpec
    watched: TableSpec
    axes: tuple[ShownAxis, ...]
    filters: tuple[FilterAxis, ...]
    counted: TableSpec
    terms: int
    figure: FigureOf | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes each axis of the answer shows."""
        return tuple(len(axis.codes) for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells the answer has."""
        return math.prod(self.shape)

    @property
    def dimensions(self) -> int:
        """How many variables it has, those of the condition included."""
        return len(uses_of(self.spec))

    @property
    def declared(self) -> bool:
        """Whether the answer is a table of declared codes, as a plan would publish it."""
        one_part = all(len(parts) == 1 for chosen in self.filters for parts in chosen.parts)
        return self.terms == 1 and one_part and all(axis.whole for axis in self.axes)

    def measured(self, policy: Policy) -> Compiled:
        """The same as the policy answers it: rules are about records, answers may be weighted."""
        measure: Measure | MeasureOf = policy.answers
        if self.figure is not None:
            measure = self.figure.summed(weighted=policy.answers is Measure.WEIGHTED)
        return replace(
            self,
            spec=self.spec.measured(measure, policy.schema),
            watched=self.watched.measured(measure, policy.schema),
            counted=self.counted.measured(measure, policy.schema),
        )


def compile_question(question: Question, policy: Policy) -> Compiled:
    """Check a question against the schema and find out what it needs.

    Raises:
        QuestionError: It names something that does not exist or cannot be combined.
    """
    asked = _spec(question, policy)
    terms, ways = terms_of(asked.universe), Ways(policy)
    codes, groups = dict(question.codes), dict(question.groups)
    names = [axis.variable.name for axis in asked.axes]
    for part, members in (("codes", codes), ("groups", groups)):
        for name in members:
            if name not in names:
                missing = UnknownName("axis", name, known=names)
                raise QuestionError(missing.said, place=f"{part}.{name}") from missing
    for name in codes:
        if name in groups:
            raise QuestionError(
                told("question.codes-and-groups", "Name codes or groups of a variable, not both."),
                place=f"codes.{name}",
            )
    for name, own in groups.items():
        if len({own_group.label for own_group in own}) < len(own):
            raise QuestionError(
                told("question.groups-alike", "Two groups have the same name."),
                place=f"groups.{name}",
            )
    axes = tuple(
        answer_axis(axis, terms, ways, codes.get(name), groups.get(name), _total_name(axis, asked))
        for axis, name in zip(asked.axes, names, strict=True)
    )
    filters = tuple(
        filter_axis(variable, terms, ways)
        for variable in asked.universe.variables
        if variable.name not in names
    )
    spec = asked.with_axes(axis.judged for axis in axes)
    return Compiled(
        question=question,
        spec=spec,
        watched=_watched(spec, axes, codes),
        axes=axes,
        filters=filters,
        counted=TableSpec(
            of=asked.of,
            axes=(
                *(axis.counted.axis for axis in axes),
                *(filter_axis.counted.axis for filter_axis in filters),
            ),
        ),
        terms=len(terms),
        figure=_figure(question, policy),
    )


def _figure(question: Question, policy: Policy) -> FigureOf | None:
    """What is said of an amount, which must be one of the units that are counted."""
    figure = question.figure
    if figure is not None:
        try:
            figure.amount_of(Entity.parse(question.of), policy.schema)
        except SpecError as error:
            raise QuestionError(error.said, place="measure") from None
    return figure


def _total_name(axis: Axis, asked: TableSpec) -> Text:
    """What the total of an axis is called beside codes that were chosen.

    It is about the whole country where nothing else in the table chooses areas.
    """
    if axis.variable.role is not Role.GEOGRAPHY:
        return ALL_CATEGORIES
    used = [*(shown.variable for shown in asked.axes), *asked.universe.variables]
    others = {variable.name for variable in used if variable.role is Role.GEOGRAPHY}
    return WHOLE_COUNTRY if others == {axis.variable.name} else ALL_AREAS


def compile_offered(question: Question, policy: Policy, units: Container[Entity]) -> Compiled:
    """A question about units that are offered.

    Args:
        question: The question.
        policy: What may be asked, and by which measure it is answered.
        units: What is counted at all.

    Raises:
        QuestionError: It names something that does not exist or is not offered.
    """
    compiled = compile_question(question, policy)
    of = compiled.spec.of
    if of not in units or not policy.counts(of):
        text = told("units.not-offered", "Tables of {units} are not offered.", units=of.many)
        raise QuestionError(text, place="of")
    if compiled.figure is None:
        return compiled
    # Looks at sums are looks at another series of numbers than those at counts.
    watched = compiled.watched.measured(compiled.figure.summed(weighted=False), policy.schema)
    return replace(compiled, watched=watched)


def compile_total(spec: TableSpec, policy: Policy) -> Compiled:
    """What is counted for the number of units that the condition of a table chooses.

    It is a sum of published values like every answer: a rule that read a count of the condition
    itself would tell, by what it refuses, about a number that is published nowhere.
    """
    terms, ways = terms_of(spec.universe), Ways(policy)
    filters = tuple(filter_axis(variable, terms, ways) for variable in spec.universe.variables)
    total = spec.with_axes(())
    return Compiled(
        question=Question(of=spec.of.plural),
        spec=total,
        watched=total,
        axes=(),
        filters=filters,
        counted=TableSpec(
            of=spec.of, axes=tuple(filter_axis.counted.axis for filter_axis in filters)
        ),
        terms=len(terms),
    )


def _spec(question: Question, policy: Policy) -> TableSpec:
    """The table that was asked for; mistakes say which part of the question they are in."""
    schema = policy.schema
    try:
        entity = Entity.parse(question.of)
        schema.entity(entity)
    except SpecError as error:
        raise QuestionError(error.said, place="of") from None
    for at, text in enumerate(question.by):
        try:
            TableSpec.build(schema, [text], of=entity)
        except SpecError as error:
            raise QuestionError(error.said, place=f"by[{at}]") from None
    try:
        TableSpec.build(schema, [], of=entity, universe=question.where or None)
    except ConditionError as error:
        raise QuestionError(error.said, place="where", at=error.at) from None
    except SpecError as error:
        raise QuestionError(error.said, place="where") from None
    try:
        return TableSpec.build(schema, question.by, of=entity, universe=question.where or None)
    except SpecError as error:
        raise QuestionError(error.said, place="by") from None


def _watched(
    spec: TableSpec, axes: Sequence[ShownAxis], codes: Mapping[str, tuple[str, ...]]
) -> TableSpec:
    """The table with its condition narrowed to the codes that are shown."""
    universe: Universe = spec.universe
    for axis in axes:
        variable = axis.asked.variable
        if variable.name not in codes:
            continue
        mask = np.zeros(len(variable.codes), dtype=bool)
        for code in axis.codes:
            if code.level == TOTAL:
                continue
            for part in all_parts(list(code.parts)):
                if part == WHOLE:
                    mask[:] = True
                else:
                    mask |= variable.level(part.level).group_array == part.at
        universe = restrict(universe, variable, mask)
    if universe is spec.universe:
        return spec
    return TableSpec(of=spec.of, axes=spec.axes, universe=universe)


def verdict_of_shown(policy: Policy, compiled: Compiled, verdict: Verdict) -> Verdict:
    """A verdict about the codes that are shown: what is withheld of others is nobody's concern."""
    shown = {}
    for axis in compiled.axes:
        name = axis.asked.variable.name
        if not any(gone.variable == name for reason in verdict.reasons for gone in reason.withheld):
            continue
        codes_of = {level.name: level.codes for level in axis.asked.variable.levels()}
        every = {part for code in axis.codes for parts in code.parts for part in parts}
        shown[name] = {
            (part.level, codes_of[part.level][part.at].code) for part in every if not part.total
        }
    reasons = []
    for reason in verdict.reasons:
        kept = []
        for withheld in reason.withheld:
            there = shown.get(withheld.variable, set())
            codes = tuple(code for code in withheld.codes if (withheld.level, code) in there)
            if codes:
                kept.append(replace(withheld, codes=codes))
        if kept or not reason.withheld:
            reasons.append(replace(reason, withheld=tuple(kept)))
    areas, available = _areas_shown(policy, compiled, reasons, verdict)
    if areas and available == 0:
        reasons = [replace(reason, refuses=True) for reason in reasons]
    return Verdict(tuple(reasons), areas, available, verdict.notes)


def _areas_shown(
    policy: Policy, compiled: Compiled, reasons: list[VerdictReason], verdict: Verdict
) -> tuple[int | None, int | None]:
    """Of the areas that are shown, groups of them included, how many there are and have numbers."""
    if verdict.areas is None:
        return None, None
    places = [area.name for area in policy.areas]
    for axis in compiled.axes:
        variable = axis.asked.variable
        if variable.name not in places:
            continue
        gone = {
            (withheld.level, code)
            for reason in reasons
            for withheld in reason.withheld
            if withheld.variable == variable.name
            for code in withheld.codes
        }
        codes = [code for code in axis.codes if code.level != TOTAL]
        if not gone:
            return len(codes), len(codes)
        names = {level.name: [code.code for code in level.codes] for level in variable.levels()}
        hidden = sum(
            any(
                (part.level, names[part.level][part.at]) in gone for part in parts if not part.total
            )
            for code in codes
            for parts in [[piece for part in code.parts for piece in part]]
        )
        return len(codes), len(codes) - hidden
    return verdict.areas, verdict.available
