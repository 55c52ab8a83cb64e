"""Figures of a program: which counts they need, and how they are computed from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdcensus.errors import QuestionError, Sentence, SpecError, told
from sdcensus.model.plan.vocabulary import INDICATOR_KINDS
from sdcensus.model.schema.roles import variable_for
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.headings import universe_text
from sdcensus.model.spec.predicate import Condition, Name, Reference
from sdcensus.model.spec.question import LONGEST_LABEL, OwnGroup
from sdcensus.model.spec.universe import EVERYTHING, Universe, restrict
from sdcensus.session.commands.categories import own_groups
from sdcensus.session.commands.conditions import Conditions, axis_name
from sdcensus.session.commands.names import Mask, NamedThing, axis_text
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.program import Show
from sdcensus.session.commands.syntax import Indicator
from sdcensus.session.figures.computation import Computed, Statistic
from sdcensus.session.figures.definitions import (
    ConditionAxis,
    QuotientDefinition,
    check_choices,
    dependency_ratio,
    of_numbers,
    ratio,
    sex_ratio,
    share,
)

#: Kinds of plans that no program can ask for, and what to do instead.
ELSEWHERE: dict[str, Sentence] = {
    "average-household-size": told(
        "figures.two-units",
        "It divides counts of two kinds of units. Ask for both: COUNT OF person and COUNT OF"
        " household.",
    ),
    **dict.fromkeys(
        ("quartiles", "percentile", "difference"),
        told("figures.of-plans", "Plans can ask for it, programs cannot."),
    ),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a figure needs.

    Attributes:
        axes: Axes beside those of its groups, in the grammar of plans.
        variables: Their variables.
        groups: Groups of the question.
        computed: How it is computed.
        show: What it is.
    """

    axes: tuple[str, ...]
    variables: tuple[Variable, ...]
    groups: tuple[tuple[str, tuple[OwnGroup, ...]], ...]
    computed: Computed
    show: Show


class Indicators:
    """Makes figures of what a program says about them."""

    def __init__(self, conditions: Conditions, language: str | None) -> None:
        self.conditions, self.language = conditions, language
        self.names = conditions.names
        self.source = self.names.source

    def wanted(self, one: Indicator, per: int, decimals: int) -> Wanted:
        """The counts behind a figure, and the way from them to it.

        Raises:
            QuestionError: It cannot be made of published counts.
        """
        at = one.kind.at if one.of is None else one.of.name.at
        if one.numerator is not None:
            at = one.numerator.at
        try:
            return self._wanted(one, per, decimals)
        except QuestionError:
            raise
        except SpecError as error:
            refuse(self.source, at, error.said)

    def _wanted(self, one: Indicator, per: int, decimals: int) -> Wanted:
        kind = one.kind.text
        if kind in ("share", "ratio"):
            above, below = self._side(one.numerator), self._side(one.denominator)
            if kind == "share":
                return self._quotient(share(above, below, decimals), Show.SHARE)
            return self._quotient(ratio(above, below, per, decimals), Show.RATIO)
        plain = self._plain(one)
        if kind == "sex-ratio":
            definition = sex_ratio(plain.variable, plain.levels[0], per, decimals)
            return self._quotient(definition, Show.RATIO)
        if kind == "dependency-ratio":
            definition = dependency_ratio(plain.operand, self.names.schema, per, decimals)
            return self._quotient(definition, Show.RATIO)
        return self._of_numbers(kind, plain, decimals)

    def variable(self, one: Indicator) -> NamedThing | None:
        """The variable of a figure: the one that is named, or the one that its kind stands for."""
        if one.of is not None:
            return self.names.find(one.of, adds_up=one.kind.text == "mean")
        role = INDICATOR_KINDS[one.kind.text].role
        if role is None:
            return None
        try:
            name = variable_for(role, self.names.schema).name
        except SpecError:
            refuse(
                self.source,
                one.kind.at,
                told(
                    "figures.needs-variable",
                    "{kind} needs a variable, and this census has none called {name!r}. Name it:"
                    " {kind} OF person.variable.",
                    kind=one.kind.text,
                    name=role.value,
                ),
            )
        return self.names.find(Reference(None, Name(name, one.kind.at), at=one.kind.at))

    def _plain(self, one: Indicator) -> NamedThing:
        named = self.variable(one)
        assert named is not None
        if named.recoded is not None and one.of is not None:
            refuse(
                self.source,
                one.of.name.at,
                told(
                    "figures.of-recode",
                    "{name!r} was made by RECODE. Name the variable itself, or both sides: RATIO OF"
                    " condition TO condition.",
                    name=one.of.name.text,
                ),
            )
        return named

    def _side(self, part: Condition | Name | None) -> Universe:
        """One side of a quotient; a kind of unit stands for all of them."""
        if part is None or isinstance(part, Name):
            return EVERYTHING
        universe = self.conditions.universe(self.conditions.text(part), part.at)
        try:
            check_choices(universe)
        except SpecError as error:
            refuse(self.source, part.at, error.said)
        return universe

    def _quotient(self, definition: QuotientDefinition, show: Show) -> Wanted:
        """A count divided by another: an axis of groups for each variable of the conditions."""
        axes: list[str] = []
        groups: list[tuple[str, tuple[OwnGroup, ...]]] = []
        for each in definition.axes:
            labels = _distinct(self._label(each.variable, leaves) for leaves in each.sets)
            labelled = list(zip(labels, each.sets, strict=True))
            axis, own = own_groups(self.names, each.variable, labelled, total=each.total)
            axes.append(axis)
            groups.append((each.variable.name, own))
        variables = tuple(each.variable for each in definition.axes)
        return Wanted(tuple(axes), variables, tuple(groups), definition.placed(_place), show)

    def _label(self, variable: Variable, mask: Mask) -> str:
        text = universe_text(restrict(EVERYTHING, variable, mask), self.language)
        plain = "".join(sign for sign in text if sign.isprintable()).strip() or variable.name
        most = LONGEST_LABEL - 8
        return plain if len(plain) <= most else f"{plain[:most]}\N{HORIZONTAL ELLIPSIS}"

    def _of_numbers(self, kind: str, plain: NamedThing, decimals: int) -> Wanted:
        variable, level = plain.variable, plain.levels[0]
        name = axis_name(variable, level)
        figure = of_numbers(kind, variable, level, decimals, name=name, schema=self.names.schema)
        show = Show.MEAN if figure.statistic is Statistic.MEAN else Show.MEDIAN
        axis = axis_text(variable, [level], total=False)
        return Wanted((axis,), (variable,), (), figure, show)


def _place(axis: ConditionAxis, number: int | None) -> tuple[int, ...]:
    """Where a group stands in the answer: groups first, in their order, then the total."""
    return (len(axis.sets) if number is None else number,)


def _distinct(labels: Iterable[str]) -> list[str]:
    """Labels of which no two are the same."""
    different: list[str] = []
    for label in labels:
        different.append(f"{label} ({len(different) + 1})" if label in different else label)
    return different
