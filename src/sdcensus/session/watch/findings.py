"""From when on a watch says something, and what: scores, alarms, a report for the staff. Public."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from enum import StrEnum

from sdcensus.errors import SpecError

#: Stands for all accounts together.
EVERYBODY = "*"

Value = str | int | float


class Pattern(StrEnum):
    """A series of questions that tells more than each of them. These words do not change."""

    AVERAGING = "averaging"
    DIFFERENCING = "differencing"
    SCANNING = "scanning"
    COVERAGE = "coverage"


_SENTENCES = {
    Pattern.AVERAGING: (
        "{who} saw the counts of {target} in {partitions} different ways. Averaged, they are worth"
        " {information} independent looks; the limit is {limit}."
    ),
    Pattern.DIFFERENCING: (
        "{who} asked {times} times for a table under a condition that differs by at most {few}"
        " codes from another one, lastly of {variable}; the limit is {limit}."
    ),
    Pattern.SCANNING: (
        "{who} walked through {places} single places of {table}, choosing by {variables}; the"
        " limit is {limit}."
    ),
    Pattern.COVERAGE: (
        "{who} went through {pairs} pairs of variables for {place}, a large part of all that can be"
        " asked for; the limit is {limit}."
    ),
}


@dataclass(frozen=True, slots=True)
class WatchAlarm:
    """A pattern that went over its limit.

    Attributes:
        pattern: Which one.
        who: The account, or ``"*"`` for all together.
        score: How many times the limit.
        values: What the words of the pattern are filled with, by name. Averaging: ``target``,
            ``codes`` (of the target, where not all of them were asked for), ``partitions``,
            ``information``, ``limit``. Differencing: ``times``, ``few``, ``variable``, ``limit``.
            Scanning: ``places``, ``table``, ``variables``, ``limit``. Coverage: ``pairs``,
            ``place``, ``limit``.
        specs: Titles of tables that were asked for, the last one last.
        at: When, in the seconds that the watch was told.
    """

    pattern: Pattern
    who: str
    score: float
    values: tuple[tuple[str, Value], ...]
    specs: tuple[str, ...]
    at: float = 0.0

    @property
    def sentence(self) -> str:
        """The pattern in English."""
        said = dict(self.values)
        if said.get("codes"):
            said["target"] = f"{said['target']} ({said['codes']})"
        who = "All accounts together" if self.who == EVERYBODY else f"The account {self.who}"
        return _SENTENCES[self.pattern].format(who=who, **said)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a watch says about one question that is answered in any case.

    Attributes:
        score: The score of the account, this question included; 1 is the limit.
        delay: How many seconds the answer should wait. Only questions that go on with a pattern
            wait at all.
        alarms: Alarms that this question raised.
    """

    score: float
    delay: float
    alarms: tuple[WatchAlarm, ...] = ()


@dataclass(frozen=True, slots=True)
class WatchScore:
    """How far an account, or all together, went with each pattern.

    Attributes:
        who: The account, or ``"*"`` for all together.
        score: The largest of the patterns as a share of its limit, aged to the last question.
        questions: How many questions were seen; repeated ones count.
        information: The looks at the target with the most of them, never aged.
        target: That target.
        partitions: In how many ways it was seen.
        differences: Conditions next to each other, aged.
        scanned: Single places of the table with the most of them, aged.
        covered: Pairs of variables for the kind of area with the most of them, never aged.
        last: When the last question was seen.
    """

    who: str
    score: float = 0.0
    questions: int = 0
    information: float = 0.0
    target: str = ""
    partitions: int = 0
    differences: float = 0.0
    scanned: float = 0.0
    covered: int = 0
    last: float = 0.0


@dataclass(frozen=True, slots=True)
class WatchReport:
    """What the staff sees.

    Attributes:
        everybody: All accounts together.
        accounts: The accounts with the highest scores, the highest first.
        alarms: The last alarms, the newest first.
        raised: How many alarms there were in all.
        watched: How many accounts are remembered.
        forgotten: How many accounts were forgotten to make room.
    """

    everybody: WatchScore
    accounts: tuple[WatchScore, ...]
    alarms: tuple[WatchAlarm, ...]
    raised: int = 0
    watched: int = 0
    forgotten: int = 0


#: The share of the look budget of a menu from which on one account is worth a look.
SHARE_OF_BUDGET = 0.25
#: The share of the pairs of variables of a small menu that is a walk through the whole.
SHARE_OF_MENU = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchLimits:
    """The thresholds of a watch. All of them come from public information.

    Attributes:
        information: Looks at one target by one account, from which on the staff is told. A look
            is a published value of the target itself, or a sum of ``k`` parts as ``1 / k``.
        information_all: The same for all accounts together.
        differences: Conditions of one account that differ by few codes, within the half-life.
        differences_all: The same for all accounts together.
        scanned: Single places of one table through which one account walks, within the half-life.
        covered: Pairs of variables that one account sees for one kind of area, or without any.
        few: By how many codes two conditions differ at most to be next to each other.
        few_share: And by what share of the larger one at most.
        units: About how many units there are, as published; what is small depends on it.
        small: Targets with fewer units to a cell than this, on average, are worth averaging.
        fine: Tables with fewer units to a cell than this, on average, are worth a walk.
        slow_from: From which share of a limit on answers are slowed down.
        longest_delay: The longest that an answer waits, in seconds.
        half_life: After how many seconds a question counts half as much for slowing down.
        accounts: How many accounts are remembered.
        each: How many kinds of cells, of targets, of conditions and of places are remembered for
            one account; twice as many for all of them together.
        entries: How many things are remembered about all of them together, each a few hundred
            bytes.
    """

    information: float = 6.0
    information_all: float = 12.0
    differences: float = 20.0
    differences_all: float = 200.0
    scanned: float = 30.0
    covered: float = 80.0
    few: int = 2
    few_share: float = 0.2
    units: float = 50_000.0
    small: float = 500.0
    fine: float = 20.0
    slow_from: float = 0.75
    longest_delay: float = 5.0
    half_life: float = 30 * 86_400.0
    accounts: int = 10_000
    each: int = 8_192
    entries: int = 300_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if (
                not math.isfinite(value)
                or value < 0
                or (value == 0 and field.name != "longest_delay")
            ):
                raise SpecError(f"The limit {field.name!r} of a watch is a number above 0.")
        if self.slow_from > 1:
            raise SpecError("Answers are slowed down from a share of a limit on: at most 1.")

    @classmethod
    def for_menu(cls, *, looks: float, units: float, variables: int = 0) -> WatchLimits:
        """Limits for a menu whose look budget is known.

        Noise that withstands many looks makes few of them harmless: one account may have a
        quarter of the budget, and all together half of it, before the staff is told. Small
        budgets leave the usual limits in place.

        Args:
            looks: The looks at the worst cell that the menu allows.
            units: About how many units are counted, as published.
            variables: How many variables it has besides areas; of a small menu, most pairs of
                them are a walk through the whole.
        """
        usual = cls()
        pairs = variables * (variables - 1) / 2
        information = max(usual.information, SHARE_OF_BUDGET * looks)
        return cls(
            information=information,
            information_all=max(usual.information_all, 2 * information),
            units=max(units, 1.0),
            covered=min(usual.covered, SHARE_OF_MENU * pairs) if pairs else usual.covered,
        )

    @property
    def target_cells(self) -> float:
        """From how many cells on a target is small enough to be worth averaging."""
        return self.units / self.small

    @property
    def scan_cells(self) -> float:
        """From how many cells on a table is fine enough to be worth a walk."""
        return self.units / self.fine
