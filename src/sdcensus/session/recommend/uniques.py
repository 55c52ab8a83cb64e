"""Which variables single people out: counted in the census at design time, for a builder's menu.

A person who is alone with two or three variables is a cell of one in a table of these. What makes
most such cells is offered more coarsely where the schema declares a coarser level; else the office
is told what it could do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sdcensus.errors import Sentence
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.menu import finest_first
from sdcensus.model.policy.policy import Policy
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Level, Role, Variable
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.text import Text
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.special_uniques import SpecialUniques, special_uniques
from sdcensus.session.census.census import Census
from sdcensus.session.recommend.facts import Facts, axis_of
from sdcensus.store.census_store import RecordSource

#: Tables of so many variables are looked at.
LARGEST_SET = 3
#: At most so many variables are compared; more take minutes and say the same.
MOST_VARIABLES = 10
#: A variable that makes more of the uniques than this is offered more coarsely.
UNIQUE_SHARE = 0.25
#: A coarser level has to save at least this part of the uniques that the variable makes.
SAVED_PART = 0.5
#: Fewer uniques than this are no reason for anything.
FEWEST_UNIQUES = 20


@dataclass(frozen=True, slots=True, repr=False)
class UniqueMaker(Confidential):
    """A variable without which many would not be unique.

    Attributes:
        variable: The variable.
        level: The finest level that is offered.
        share: The share of uniques that it makes: they are alone in no table without it.
        coarser: The level to offer instead; ``None`` where none helps.
        left: How many uniques there are with that level, as a share of those before.
        used: Whether the drafted policy offers no finer one.
    """

    variable: Variable
    level: Level
    share: float
    coarser: Level | None = None
    left: float = 1.0
    used: bool = False

    def __repr__(self) -> str:
        return f"<UniqueMaker {self.variable.name!r}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class UniqueAdvice(Confidential):
    """What makes people unique.

    Attributes:
        keys: The variables that were compared, in the grammar of plans.
        uniques: How many units are alone in a table of at most three of them.
        makers: Variables that make many of them, the worst first.
        pairs: Two variables that make many together, none of which has a coarser level that helps.
    """

    keys: tuple[str, ...]
    uniques: int
    makers: tuple[UniqueMaker, ...] = ()
    pairs: tuple[tuple[str, str, float], ...] = ()

    def __repr__(self) -> str:
        return "<UniqueAdvice: confidential>"

    @property
    def lines(self) -> Iterator[Sentence]:
        """The advice in sentences, with what was counted."""
        listed = ", ".join(self.keys)
        for maker in self.makers:
            key = "none" if maker.coarser is None else "used" if maker.used else "offer"
            yield sentence(
                f"release_special.recommend.{key}",
                axis=axis_of(maker.variable, maker.level),
                share=_share(maker.share),
                keys=listed,
                n=self.uniques,
                most=LARGEST_SET,
                coarser=axis_of(maker.variable, maker.coarser or maker.level),
                left=_share(maker.left),
            )
        for first, second, share in self.pairs:
            yield sentence(
                "release_special.recommend.together",
                first=first,
                second=second,
                share=_share(share),
                n=self.uniques,
            )


def unique_advice(
    census: Census, facts: Facts, policy: Policy, *, progress: Progress = no_progress
) -> UniqueAdvice | None:
    """Count who is alone in small tables of what a policy offers, and what makes them so.

    ``None`` where there is nothing to compare: no records at hand, fewer than two variables, or
    hardly anybody who is alone.

    Args:
        census: The census.
        facts: What was found out about it.
        policy: Says at which levels variables are offered.
        progress: Told how far it is.
    """
    records = census.records
    axes = _axes(facts, policy)
    if records is None or len(axes) < 2:
        return None
    columns = [_column(records, facts, *axis) for axis in axes]
    result = special_uniques(columns, most=LARGEST_SET, progress=progress)
    if result.uniques < FEWEST_UNIQUES:
        return None
    makers = tuple(
        _maker(records, facts, policy, axes, columns, result, place)
        for place in sorted(range(len(axes)), key=lambda at: -result.needed[at])
        if result.needed[place] >= UNIQUE_SHARE and axes[place][0] not in _places(facts)
    )
    names = tuple(axis_of(*axis) for axis in axes)
    return UniqueAdvice(names, result.uniques, makers, tuple(_pairs(axes, makers, result)))


def with_coarser(policy: Policy, facts: Facts, advice: UniqueAdvice) -> tuple[Policy, UniqueAdvice]:
    """The policy with coarser levels of what makes uniques, and the advice that says so.

    Age and sex stay as they are: tables without them are of no use, and noise is there for that.
    """
    basic = (facts.age, facts.sex)
    makers = tuple(
        replace(maker, used=maker.coarser is not None and maker.variable not in basic)
        for maker in advice.makers
    )
    rules = {rule.variable: rule for rule in policy.variables}
    for maker in makers:
        if maker.used and maker.coarser is not None:
            name = maker.variable.name
            rules[name] = replace(policy.rule_of(name), finest_level=maker.coarser.name)
    return replace(policy, variables=tuple(rules.values())), replace(advice, makers=makers)


def _places(facts: Facts) -> tuple[Variable, ...]:
    """The main areas, which have rules of their own."""
    return tuple({area.variable.name: area.variable for area in facts.areas}.values())


def _axes(facts: Facts, policy: Policy) -> list[tuple[Variable, Level]]:
    """Age, sex, the largest areas and other variables, each at the finest level that is offered."""
    several = [area for area in facts.areas if len(area.filled) > 1]
    chosen = [
        (area.variable, area.level)
        for area in several[-1:]
        if area.level.name in {level.name for level in policy.allowed_levels(area.variable)}
    ]
    known = [each for each in (facts.age, facts.sex) if each is not None]
    others = sorted(
        (variable for variable in facts.variables if variable not in known),
        key=lambda variable: variable.role is not Role.KEY,
    )
    axes = []
    for variable in (*known, *others):
        if policy.rule_of(variable.name).offered_for(facts.of):
            offered = finest_first(policy.allowed_levels(variable))
            if offered and len(offered[0].codes) > 1:
                axes.append((variable, offered[0]))
    return [*axes[: len(known)], *chosen, *axes[len(known) :]][:MOST_VARIABLES]


def _column(records: RecordSource, facts: Facts, variable: Variable, level: Level) -> KeyColumn:
    leaves = records.column(facts.of, variable)[slice(0, records.rows(facts.of))]
    return KeyColumn.of(variable.name, level.group_array[leaves], level.codes)


def _maker(
    records: RecordSource,
    facts: Facts,
    policy: Policy,
    axes: Sequence[tuple[Variable, Level]],
    columns: Sequence[KeyColumn],
    result: SpecialUniques,
    place: int,
) -> UniqueMaker:
    """A variable that makes uniques, with the finest coarser level that saves enough of them."""
    variable, level = axes[place]
    share = float(result.needed[place])
    for coarser in finest_first(policy.allowed_levels(variable)):
        if coarser.name == level.name or not level.refines(coarser) or len(coarser.codes) < 2:
            continue
        if len(coarser.codes) >= len(level.codes):
            continue
        others = [*columns[:place], *columns[place + 1 :]]
        trial = [*others, _column(records, facts, variable, coarser)]
        left = special_uniques(trial, most=LARGEST_SET).uniques / result.uniques
        if 1 - left >= SAVED_PART * share:
            return UniqueMaker(variable, level, share, coarser, left)
    return UniqueMaker(variable, level, share)


def _pairs(
    axes: Sequence[tuple[Variable, Level]], makers: Sequence[UniqueMaker], result: SpecialUniques
) -> Iterator[tuple[str, str, float]]:
    """Two variables that make uniques only together, where no coarser level helps."""
    stuck = {maker.variable.name for maker in makers if maker.coarser is None}
    for first in range(len(axes)):
        for second in range(first + 1, len(axes)):
            names = axes[first][0].name, axes[second][0].name
            share = float(result.needed_pairs[first, second])
            if share >= UNIQUE_SHARE and set(names) <= stuck:
                yield *names, share


def _share(share: float) -> Text:
    return in_every_language(partial(share_text, share, digits=0))
