"""What is wrong with the files: every kind of problem, how often, where the first ones stand.

Positions are shown, values are not: a field in the wrong place may hold a name. Only short whole
numbers, which are codes and nothing else, are shown as examples.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import DataProblems
from sdcensus.model.schema.encoding import Trouble
from sdcensus.model.schema.variable import Role, Variable
from sdcensus.model.vocabulary import OnProblem as OnProblem

_EXAMPLES = 5
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
    NOT_CONSTANT = "differs within the unit"
    IMPOSSIBLE = "impossible combination"
    REFERENCE_PERSON = "not exactly one reference person"
    BAD_KEY = "key that cannot be used"
    BAD_WEIGHT = "weight that cannot be used"


#: No option makes these harmless: without identity there is no key, and no weight is "not stated".
FATAL = frozenset(
    {
        ProblemKind.EMPTY_ID,
        ProblemKind.DUPLICATE_ID,
        ProblemKind.SAME_ID,
        ProblemKind.BAD_ID,
        ProblemKind.BAD_KEY,
        ProblemKind.BAD_WEIGHT,
    }
)

#: What is said of a value that could not be encoded.
OF_TROUBLE = {
    Trouble.UNKNOWN: ProblemKind.UNKNOWN_CODE,
    Trouble.EMPTY: ProblemKind.EMPTY_FIELD,
    Trouble.OUT_OF_RANGE: ProblemKind.OUT_OF_RANGE,
    Trouble.NOT_A_NUMBER: ProblemKind.NOT_A_NUMBER,
    Trouble.ZERO: ProblemKind.BAD_WEIGHT,
    Trouble.NEGATIVE: ProblemKind.BAD_WEIGHT,
}


def problem_of(variable: Variable, trouble: Trouble) -> ProblemKind:
    """The problem of a value that could not be encoded."""
    return ProblemKind.BAD_WEIGHT if variable.role is Role.WEIGHT else OF_TROUBLE[trouble]


_REMEDY = {
    ProblemKind.UNKNOWN_CODE: "add the code to the code list, or correct the file",
    ProblemKind.EMPTY_FIELD: 'fill it, or say what an empty field means: empty = "not_stated"',
    ProblemKind.OUT_OF_RANGE: "widen the range in the schema, or correct the file",
    ProblemKind.NOT_A_NUMBER: "correct the file, or declare the codes that are not numbers",
    ProblemKind.EMPTY_ID: "every record needs all parts of its id",
    ProblemKind.DUPLICATE_ID: "ids must be unique: add the column that tells the records apart",
    ProblemKind.SAME_ID: "with 'id_width' or 'id_any_case' these rows have the same id: write it in"
    " one way; or leave the setting out, if they are different units",
    ProblemKind.BAD_ID: "an id must not contain '|', begin with '-', or be wider than declared",
    ProblemKind.ORPHAN: "add the parent or correct the link; if it may be empty: optional = true",
    ProblemKind.NOT_CONSTANT: "the same value must stand in all records of the unit",
    ProblemKind.IMPOSSIBLE: "correct the records, or the rule in the schema",
    ProblemKind.REFERENCE_PERSON: "each household needs one; check keys.reference_person",
    ProblemKind.BAD_KEY: "keys must be whole numbers below the modulus, or decimals from 0 to 1",
    ProblemKind.BAD_WEIGHT: "a weight is a number above 0 with the decimals that the schema keeps;"
    " leave records that stand for nobody out of the file",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem in one column of one file."""

    kind: ProblemKind
    file: str
    column: str
    records: int
    rows: tuple[int, ...] = ()
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f"{self.file}: {self.column}" if self.column else self.file
        records = f"{self.records:,} record{'s' if self.records != 1 else ''}"
        text = f"{where}: {self.kind} in {records}"
        if self.rows:
            more = ", …" if self.records > len(self.rows) else ""
            rows = ", ".join(f"{row:,}" for row in self.rows)
            text += f" (row{'s' if len(self.rows) > 1 else ''} {rows}{more})"
        if self.examples:
            text += f"; such as {', '.join(map(repr, self.examples))}"
        return f"{text}. Remedy: {_REMEDY[self.kind]}."


@dataclass(slots=True)
class _Entry:
    records: int = 0
    rows: list[int] = field(default_factory=list)
    examples: dict[str, None] = field(default_factory=dict)


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
        examples: Iterable[str] = (),
    ) -> None:
        """Add records with a problem, by the rows on which they stand."""
        if rows.size == 0:
            return
        entry = self._entries.setdefault((kind, file, column), _Entry())
        entry.records += int(rows.size)
        room = _EXAMPLES - len(entry.rows)
        entry.rows += np.sort(rows)[: max(room, 0)].astype(int).tolist()
        for example in examples:
            if len(entry.examples) < _EXAMPLES and _is_short_code(example):
                entry.examples[example] = None

    def problems(self) -> tuple[Problem, ...]:
        """All problems, by file and column."""
        problems = [
            Problem(
                kind, file, column, entry.records, tuple(sorted(entry.rows)), tuple(entry.examples)
            )
            for (kind, file, column), entry in self._entries.items()
        ]
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
        weights = any(problem.kind is ProblemKind.BAD_WEIGHT for problem in fatal)
        ids = any(problem.kind is not ProblemKind.BAD_WEIGHT for problem in fatal)
        needed = [*(["a usable, unique id and key"] * ids), *(["a weight above 0"] * weights)]
        lines.append(f"Records need {' and '.join(needed)}. {afterwards}".rstrip())
    else:
        remedy = f"Correct the files or the schema, or {otherwise}."
        lines.append(f"{afterwards} {remedy}".lstrip())
    raise DataProblems("\n".join(lines))


def _is_short_code(text: str) -> bool:
    return len(text) <= _LONGEST_SHOWN and text.isascii() and text.isdigit()
