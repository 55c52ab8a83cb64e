"""Figures of a program: which counts they need, and how they are computed from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdcensus.errors import Sentence, SpecError, told
from sdcensus.model.published.figures import number_classes
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.headings import universe_text
from sdcensus.model.spec.predicate import Condition, Name, Reference
from sdcensus.model.spec.question import LONGEST_LABEL, OwnGroup
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.universe import EVERYTHING, Universe, restrict
from sdcensus.model.text import Text
from sdcensus.session.commands.categories import own_groups
from sdcensus.session.commands.conditions import Conditions, axis_name
from sdcensus.session.commands.names import Found, Mask, axis_text
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.program import (
    Choice,
    Class,
    Computed,
    OfNumbers,
    Quotient,
    Show,
)
from sdcensus.session.commands.syntax import Indicator
from sdcensus.session.commands.words import (
    DEPENDENCY_RATIO,
    SEX_RATIO,
    middle_words,
    named_words,
    ratio_words,
    share_words,
)
from sdcensus.session.figures.men_and_women import men_and_women

#: Kinds of plans that no program can ask for, and what to do instead.
ELSEWHERE: dict[str, Sentence] = {
    "average-household-size": told(
        "figures.two-units",
        "It divides counts of two kinds of units. Ask for both: COUNT OF person and COUNT OF"
        " household.",
    )
}
#: What a figure divides, as text and universe.
Side = tuple[str, Universe]


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
        match one.kind.text:
            case "share":
                return self._share(one, decimals)
            case "ratio":
                return self._ratio(one, per, decimals)
            case "sex-ratio":
                return self._sex_ratio(one, per, decimals)
            case "dependency-ratio":
                return self._dependency_ratio(one, per, decimals)
            case _:
                return self._of_numbers(one, decimals)

    def variable(self, one: Indicator) -> Found | None:
        """The variable of a figure: the one that is named, or the one that its kind stands for."""
        if one.of is not None:
            return self.names.find(one.of)
        default = {"sex-ratio": "sex", "dependency-ratio": "age", "median-age": "age"}
        if one.kind.text not in default:
            return None
        name = default[one.kind.text]
        if name not in {each.name for each in self.names.schema.variables}:
            refuse(
                self.source,
                one.kind.at,
                told(
                    "figures.needs-variable",
                    "{kind} needs a variable, and this census has none called {name!r}. Name it:"
                    " {kind} OF person.variable.",
                    kind=one.kind.text,
                    name=name,
                ),
            )
        return self.names.find(Reference(None, Name(name, one.kind.at), at=one.kind.at))

    # ------------------------------------------------------------------------------ quotients

    def _share(self, one: Indicator, decimals: int) -> Wanted:
        assert one.numerator is not None
        below = self._side(one.denominator)
        text = self.conditions.text(one.numerator)
        above = self._resolved(self.conditions.both(text, below[0]), one.numerator.at)
        words = share_words(self.conditions.universe(text, one.numerator.at), below[1])
        return self._quotient(above, below, Show.SHARE, 100, decimals, words)

    def _ratio(self, one: Indicator, per: int, decimals: int) -> Wanted:
        above, below = self._side(one.numerator), self._side(one.denominator)
        words = ratio_words(above[1], below[1], per)
        return self._quotient(above, below, Show.RATIO, per, decimals, words)

    def _sex_ratio(self, one: Indicator, per: int, decimals: int) -> Wanted:
        found = self._plain(one)
        valid = [code.code for code in found.levels[0].codes if not code.is_missing]
        if len(valid) != 2:
            refuse(
                self.source,
                one.kind.at,
                told(
                    "figures.not-two-codes",
                    "{variable} has not two codes. Name both sides: RATIO OF condition TO"
                    " condition.",
                    variable=axis_name(found.variable, found.levels[0]),
                ),
            )
        known = men_and_women(found.levels[0])
        if known is not None:
            valid = [code.code for code in known]
        men, women = (self._resolved(f"{found.operand} == '{code}'", one.kind.at) for code in valid)
        # Where the labels do not say who is who, the title tells what is divided.
        words = ratio_words(men[1], women[1], per) if known is None else named_words(SEX_RATIO, per)
        return self._quotient(men, women, Show.RATIO, per, decimals, words)

    def _dependency_ratio(self, one: Indicator, per: int, decimals: int) -> Wanted:
        age = self._plain(one).operand
        others = self._resolved(f"{age} < 15 or {age} >= 65", one.kind.at)
        workers = self._resolved(f"{age} >= 15 and {age} < 65", one.kind.at)
        words = named_words(DEPENDENCY_RATIO, per)
        return self._quotient(others, workers, Show.RATIO, per, decimals, words)

    def _plain(self, one: Indicator) -> Found:
        found = self.variable(one)
        assert found is not None
        if found.recoded is not None and one.of is not None:
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
        return found

    def _side(self, part: Condition | Name | None) -> Side:
        """One side of a quotient; a kind of unit stands for all of them."""
        if part is None or isinstance(part, Name):
            return "", EVERYTHING
        return self._resolved(self.conditions.text(part), part.at)

    def _resolved(self, text: str, at: int) -> Side:
        universe = self.conditions.universe(text, at)
        if not is_product(universe):
            refuse(
                self.source,
                at,
                told(
                    "figures.no-choice",
                    "This condition must be a choice of codes of each of its variables, joined by"
                    " AND. OR between two variables cannot be made of published counts.",
                ),
            )
        return text, universe

    def _quotient(
        self, above: Side, below: Side, show: Show, per: int, decimals: int, words: Text
    ) -> Wanted:
        """A count divided by another: an axis of groups for each variable of the conditions."""
        sides = (above[1], below[1])
        variables = {one.name: one for side in sides for one in side.variables}
        axes: list[str] = []
        groups: list[tuple[str, tuple[OwnGroup, ...]]] = []
        choices: tuple[list[Choice], list[Choice]] = ([], [])
        for name, variable in sorted(variables.items()):
            masks = [leaves_in(side, variable) for side in sides]
            kept: list[Mask] = []
            for mask, side in zip(masks, choices, strict=True):
                side.append(Choice(name, _place(mask, kept)))
            labels = _distinct(self._label(variable, mask) for mask in kept)
            total = any(mask.all() for mask in masks)
            axis, own = own_groups(
                self.names, variable, list(zip(labels, kept, strict=True)), total=total
            )
            axes.append(axis)
            groups.append((name, own))
        computed = Quotient(
            tuple(choices[0]), tuple(choices[1]), show is Show.SHARE, per, decimals, words
        )
        return Wanted(
            tuple(axes), tuple(variables[name] for name, _ in groups), tuple(groups), computed, show
        )

    def _label(self, variable: Variable, mask: Mask) -> str:
        text = universe_text(restrict(EVERYTHING, variable, mask), self.language)
        plain = "".join(one for one in text if one.isprintable()).strip() or variable.name
        most = LONGEST_LABEL - 8
        return plain if len(plain) <= most else f"{plain[:most]}\N{HORIZONTAL ELLIPSIS}"

    # -------------------------------------------------------------------------------- numbers

    def _of_numbers(self, one: Indicator, decimals: int) -> Wanted:
        found = self._plain(one)
        level = found.levels[0]
        at = one.kind.at if one.of is None else one.of.name.at
        show = Show.MEAN if one.kind.text == "mean" else Show.MEDIAN
        name = axis_name(found.variable, level)
        try:
            numbers = number_classes(found.variable, level, mean=show is Show.MEAN, name=name)
        except SpecError as error:
            refuse(self.source, at, error.said)
        classes = [Class(each.code, each.lower, each.upper) for each in numbers]
        words = middle_words(one.kind.text, found.variable)
        computed = OfNumbers(
            found.variable.name, tuple(classes), decimals, words, found.variable.unit
        )
        axis = axis_text(found.variable, [level], total=False)
        return Wanted((axis,), (found.variable,), (), computed, show)


def _place(mask: Mask, kept: list[Mask]) -> int | None:
    """The number of a choice of leaves among those that are kept; ``None`` for all leaves."""
    if mask.all():
        return None
    for at, one in enumerate(kept):
        if (one == mask).all():
            return at
    kept.append(mask)
    return len(kept) - 1


def _distinct(labels: Iterable[str]) -> list[str]:
    """Labels of which no two are the same."""
    made: list[str] = []
    for label in labels:
        made.append(f"{label} ({len(made) + 1})" if label in made else label)
    return made
