"""What is wrong with the files: every kind of problem, how often, where the first ones stand.

Positions are shown, values are not: a field in the wrong place may hold a name. Only short whole
numbers, which are codes and nothing else, are shown as examples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import DataProblems
from sdcensus.model.schema.encoding import Trouble
from sdcensus.model.schema.variable import Role, Variable
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import OnProblem as OnProblem

_EXAMPLES = 5
#: Distinct values that are kept for advice.
_MOST_VALUES = 100
_LONGEST_SHOWN = 4


class ProblemKind(StrEnum):
    """The kinds of problems, in plain words."""

    UNKNOWN_CODE = "unknown code"
    EMPTY_FIELD = "empty field"
    OUT_OF_RANGE = "out of range"
    NOT_A_NUMBER = "not a number"
    EMPTY_ID = "empty id"
    DUPLICATE_ID = "duplicate id"
    SAME_ID = "one id written in two ways"
    BAD_ID = "id that cannot be used"
    ORPHAN = "no parent record"
    EMPTY_LINK = "empty link"
    EMPTY_OWNER = "empty owner"
    NOT_CONSTANT = "differs within the unit"
    IMPOSSIBLE = "impossible combination"
    REFERENCE_PERSON = "not exactly one reference person"
    BAD_KEY = "key that cannot be used"
    BAD_WEIGHT = "weight that cannot be used"
    ZERO_WEIGHT = "weight of 0"
    NEGATIVE_WEIGHT = "weight below 0"
    EMPTY_WEIGHT = "empty weight"
    LARGE_WEIGHT = "weight too large"


#: What is wrong with weights.
OF_WEIGHTS = frozenset(
    {
        ProblemKind.BAD_WEIGHT,
        ProblemKind.ZERO_WEIGHT,
        ProblemKind.NEGATIVE_WEIGHT,
        ProblemKind.EMPTY_WEIGHT,
        ProblemKind.LARGE_WEIGHT,
    }
)
#: No option makes these harmless: without identity there is no key, and no weight is "not stated".
FATAL = frozenset(
    {
        ProblemKind.EMPTY_ID,
        ProblemKind.DUPLICATE_ID,
        ProblemKind.SAME_ID,
        ProblemKind.BAD_ID,
        ProblemKind.BAD_KEY,
        *OF_WEIGHTS,
    }
)

#: What is said of a value that could not be encoded.
OF_TROUBLE = {
    Trouble.UNKNOWN: ProblemKind.UNKNOWN_CODE,
    Trouble.EMPTY: ProblemKind.EMPTY_FIELD,
    Trouble.OUT_OF_RANGE: ProblemKind.OUT_OF_RANGE,
    Trouble.NOT_A_NUMBER: ProblemKind.NOT_A_NUMBER,
    Trouble.ZERO: ProblemKind.ZERO_WEIGHT,
    Trouble.NEGATIVE: ProblemKind.NEGATIVE_WEIGHT,
}
_OF_WEIGHT = {
    **OF_TROUBLE,
    Trouble.UNKNOWN: ProblemKind.BAD_WEIGHT,
    Trouble.EMPTY: ProblemKind.EMPTY_WEIGHT,
    Trouble.OUT_OF_RANGE: ProblemKind.LARGE_WEIGHT,
    Trouble.NOT_A_NUMBER: ProblemKind.BAD_WEIGHT,
}


def problem_of(variable: Variable, trouble: Trouble) -> ProblemKind:
    """The problem of a value that could not be encoded."""
    return (_OF_WEIGHT if variable.role is Role.WEIGHT else OF_TROUBLE)[trouble]


@dataclass(frozen=True, slots=True)
class Advice:
    """What helps against a problem, and what becomes of the records where it is let pass.

    Attributes:
        remedy: What to do; names the setting that helps.
        effect: What ``--on-problem missing`` makes of it; empty where nothing makes it harmless.
    """

    remedy: Text
    effect: Text = Text()


#: Advice that depends on the values: some of them, and whether these are all that there are.
Adviser = Callable[[Sequence[str], bool], Advice]


def usual_advice(kind: ProblemKind) -> Advice:
    """What helps wherever nothing more is known."""
    key = kind.name.lower()
    effect = Text() if kind in FATAL else Text.named(f"load.effect.{key}")
    return Advice(Text.named(f"load.remedy.{key}"), effect)


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem in one column of one file."""

    kind: ProblemKind
    file: str
    column: str
    records: int
    rows: tuple[int, ...] = ()
    examples: tuple[str, ...] = ()
    advice: Advice | None = None

    @property
    def remedy(self) -> Text:
        """What to do about it."""
        return (self.advice or usual_advice(self.kind)).remedy

    @property
    def effect(self) -> Text:
        """What becomes of the records where it is let pass; empty where that cannot be."""
        return (self.advice or usual_advice(self.kind)).effect

    @property
    def name(self) -> Text:
        """What the kind of problem is called."""
        return Text.named(f"load.kind.{self.kind.name.lower()}")

    def __str__(self) -> str:
        return f"{self.where}. Remedy: {self.remedy.show('en')}."

    @property
    def passed(self) -> str:
        """The problem with what was made of it."""
        return f"{self.where}. {self.effect.show('en')}."

    @property
    def where(self) -> str:
        """What it is, how often, and where the first ones stand."""
        where = f"{self.file}: {self.column}" if self.column else self.file
        records = f"{self.records:,} record{'s' if self.records != 1 else ''}"
        text = f"{where}: {self.kind} in {records}"
        if self.rows:
            more = ", …" if self.records > len(self.rows) else ""
            rows = ", ".join(f"{row:,}" for row in self.rows)
            text += f" (row{'s' if len(self.rows) > 1 else ''} {rows}{more})"
        if self.examples:
            text += f"; such as {', '.join(map(repr, self.examples))}"
        return text


@dataclass(slots=True, repr=False)
class _Entry:
    """What is known of one problem. Its values are for advice only, and never shown."""

    adviser: Adviser | None
    records: int = 0
    rows: list[int] = field(default_factory=list)
    values: dict[str, None] = field(default_factory=dict)

    def problem(self, kind: ProblemKind, file: str, column: str) -> Problem:
        examples = [value for value in self.values if is_short_code(value)][:_EXAMPLES]
        advice = None
        if self.adviser is not None:
            complete = len(self.values) < _MOST_VALUES
            advice = self.adviser(tuple(self.values), complete)
        rows = tuple(sorted(self.rows))
        return Problem(kind, file, column, self.records, rows, tuple(examples), advice)


class ProblemLog:
    """Collects problems while files are read."""

    def __init__(self) -> None:
        self._entries: dict[tuple[ProblemKind, str, str], _Entry] = {}

    def add(
        self,
        kind: ProblemKind,
        file: str,
        column: str,
        rows: npt.NDArray[Any],
        values: Iterable[str] = (),
        adviser: Adviser | None = None,
    ) -> None:
        """Add records with a problem, by the rows on which they stand.

        Args:
            kind: What is wrong.
            file, column: Where.
            rows: On which rows.
            values: Distinct values that are wrong. Short codes among them are shown.
            adviser: What helps against such values; else what usually does.
        """
        if rows.size == 0:
            return
        entry = self._entries.setdefault((kind, file, column), _Entry(adviser))
        entry.records += int(rows.size)
        room = _EXAMPLES - len(entry.rows)
        entry.rows += np.sort(rows)[: max(room, 0)].astype(int).tolist()
        for value in values:
            if len(entry.values) < _MOST_VALUES:
                entry.values[value] = None

    def problems(self) -> tuple[Problem, ...]:
        """All problems, by file and column."""
        problems = [entry.problem(*place) for place, entry in self._entries.items()]
        return tuple(
            sorted(problems, key=lambda problem: (problem.file, problem.column, problem.kind))
        )


def refuse_if(
    problems: Iterable[Problem], on_problem: OnProblem, *, afterwards: str, otherwise: str
) -> None:
    """Stop when there is a problem that the option does not allow.

    Args:
        problems: What was found.
        on_problem: What the user wants done about it.
        afterwards: What became of the work, for the end of the message.
        otherwise: How to go on in spite of the problems, where an option allows that.
    """
    listed = sorted(problems, key=lambda problem: (problem.file, problem.column, problem.kind))
    fatal = [problem for problem in listed if problem.kind in FATAL]
    if not (listed if on_problem is OnProblem.REFUSE else fatal):
        return
    kinds = "1 kind of problem" if len(listed) == 1 else f"{len(listed)} kinds of problems"
    lines = [
        f"The files do not fit the schema ({kinds}):",
        *(f"  {problem}" for problem in listed),
    ]
    if fatal:
        weights = any(problem.kind in OF_WEIGHTS for problem in fatal)
        ids = any(problem.kind not in OF_WEIGHTS for problem in fatal)
        needed = [*(["a usable, unique id and key"] * ids), *(["a weight above 0"] * weights)]
        lines.append(f"Records need {' and '.join(needed)}. {afterwards}".rstrip())
    else:
        remedy = f"Correct the files or the schema, or {otherwise}."
        lines.append(f"{afterwards} {remedy}".lstrip())
    raise DataProblems("\n".join(lines), listed)


def is_short_code(text: str) -> bool:
    """Whether a value can be shown: a code and nothing else."""
    return len(text) <= _LONGEST_SHOWN and text.isascii() and text.isdigit()
