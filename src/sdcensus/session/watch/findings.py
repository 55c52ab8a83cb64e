"""What a watch says: scores, alarms with their pattern, and a report for the staff. Public."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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
