"""What figures that are computed from published counts are called, in every language.

For plans, the table builder and commands alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdcensus.model.quantities import number_text
from sdcensus.model.schema.roles import is_age
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.headings import (
    joined_in_title,
    universe_text,
    variable_heading,
)
from sdcensus.model.spec.universe import Universe
from sdcensus.model.text import LANGUAGES, Text

COMPUTED = Text.named("figures.computed")
OPEN_CLASS = Text.named("figures.open_class")
PERCENT = Text.named("figures.percent")
BY = Text.named("figures.by")
HOUSEHOLD_SIZE = Text.named("figures.household_size")
PER_HOUSEHOLD = Text.named("figures.per_household")
MEDIAN_AGE = Text.named("figures.median_age")
SHARE = Text.named("figures.share")
SHARE_OF = Text.named("figures.share_of")
RATIO = Text.named("figures.ratio")
SEX_RATIO = Text.named("figures.sex_ratio")
DEPENDENCY_RATIO = Text.named("figures.dependency_ratio")
PER = Text.named("figures.per")
DISTRIBUTION = Text.named("figures.distribution")
MEDIAN = Text.named("figures.median")
MEAN = Text.named("figures.mean")
PERCENTILE = Text.named("figures.percentile")
QUARTILES = Text.named("figures.quartiles")
QUARTILE = Text.named("figures.quartile")
FIRST_QUARTILE = Text.named("figures.first_quartile")
MIDDLE_QUARTILE = Text.named("figures.middle_quartile")
THIRD_QUARTILE = Text.named("figures.third_quartile")
RATIO_OF_ONE = Text.named("figures.ratio_of_one")
YEARS = Text.named("figures.years")
UNIT_PER = Text.named("figures.unit_per")
DIFFERENCE_OF_MEANS = Text.named("figures.difference_of_means")
DIFFERENCE_OF_SUMS = Text.named("figures.difference_of_sums")
OF_AMOUNTS = Text.named("figures.of_amounts")
INTERPOLATED = Text.named("figures.interpolated")
DIFFERENCES = Text.named("figures.differences")


def share_words(above: Universe, below: Universe) -> Text:
    """What a share is: of whom, the percentage of whom."""
    if below.everything:
        return SHARE.filled(above=_condition(above))
    return SHARE_OF.filled(above=_condition(above), below=_condition(below))


def ratio_words(above: Universe, below: Universe, per: int) -> Text:
    """What a ratio is: how many of whom per so many of whom."""
    return RATIO.filled(above=_condition(above), below=_condition(below), per=_number(per))


def per_words(words: Text, per: int) -> Text:
    """What a ratio with a name of its own is, or what ratios are given per."""
    return words.filled(per=_number(per))


def variable_words(words: Text, variable: Variable, percent: int | None = None) -> Text:
    """What a figure of a variable is, and which percentile of it."""
    above = {each: variable_heading(variable, each) for each in LANGUAGES}
    if percent is None:
        return words.filled(above=above)
    return words.filled(above=above, percent=_number(percent))


def unit_words(variable: Variable, schema: Schema | None = None, *, age: bool = False) -> Text:
    """What the numbers of a variable are: its unit, years of an age, or else what it is called.

    Args:
        variable: The variable.
        schema: The census, which may say which variable is the age.
        age: Whether it is an age, whatever it is called.
    """
    if variable.unit_text:
        return variable.unit_text
    if age or is_age(variable, schema):
        return YEARS
    return Text.of({each: variable_heading(variable, each) for each in LANGUAGES})


def amounts_words(above: Variable, below: Text, per: int) -> Text:
    """What a ratio of amounts is: how much of what, per how much of what."""
    name = {each: variable_heading(above, each) for each in LANGUAGES}
    if per == 1:
        return RATIO_OF_ONE.filled(above=name, below=below)
    return RATIO.filled(above=name, below=below, per=_number(per))


def difference_words(words: Text, amount: Variable, first: Universe, second: Universe) -> Text:
    """What a difference is: of what, between whom and whom."""
    name = {each: variable_heading(amount, each) for each in LANGUAGES}
    return words.filled(above=name, first=_condition(first), second=_condition(second))


def fewest_words(words: Text, fewest: int) -> Text:
    """A note that says how many are published behind a figure at least."""
    return words.filled(fewest=_number(fewest))


def figure_title(
    words: Text, headings: Callable[[str], Sequence[str]], condition: Text = Text()
) -> Text:
    """What is computed, for which groups, and for whom.

    Args:
        words: What is computed.
        headings: What its axes are called in a language.
        condition: For whom; empty for everybody.
    """
    titles = {}
    for language, text in words.by_language:
        axes = list(headings(language))
        by = f" {BY.show(language)} {joined_in_title(axes, language)}" if axes else ""
        whom = condition.show(language)
        titles[language] = f"{text}{by}. {whom}" if whom else f"{text}{by}"
    return Text.of(titles)


def condition_words(universe: Universe) -> Text:
    """For whom a figure is, in words; empty for everybody."""
    return Text.of(_condition(universe))


def _condition(universe: Universe) -> dict[str, str]:
    return {language: universe_text(universe, language) for language in LANGUAGES}


def _number(number: int) -> dict[str, str]:
    return {language: number_text(number, language) for language in LANGUAGES}
