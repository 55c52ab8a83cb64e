"""What is wrong with files that are read where they lie, in the words of the loader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.errors import DataProblems, SpecError
from sdcensus.model.encoding import Trouble


class OnProblem(StrEnum):
    """What to do with records that do not fit the schema."""

    REFUSE = "refuse"
    MISSING = "missing"

    @classmethod
    def parse(cls, word: str) -> OnProblem:
        """Read the word of an option."""
        try:
            return cls(word)
        except ValueError:
            raise SpecError(
                f"There is no way {word!r} to deal with problems. There are: refuse, missing."
            ) from None


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of problem: its name, what to do about it, and whether no option makes it harmless."""

    name: str
    remedy: str
    fatal: bool = False


UNKNOWN_CODE = Kind("unknown code", "add the code to the code list, or correct the file")
EMPTY_FIELD = Kind("empty field", 'say what an empty field means: empty = "not_stated"')
OUT_OF_RANGE = Kind("out of range", "widen the range in the schema, or correct the file")
NOT_A_NUMBER = Kind("not a number", "correct the file, or declare the codes that are not numbers")
EMPTY_ID = Kind("empty id", "every record needs all parts of its id", fatal=True)
DUPLICATE_ID = Kind(
    "duplicate id", "ids must be unique: add the column that tells the records apart", fatal=True
)
BAD_ID = Kind(
    "id that cannot be used",
    "an id must not contain '|' and a number in it must not be negative",
    fatal=True,
)
ORPHAN = Kind("no parent record", "add the parent record, or set optional = true for the entity")
NOT_CONSTANT = Kind(
    "differs within the unit", "the same value must stand in all records of the unit"
)
REFERENCE_PERSON = Kind(
    "not exactly one reference person", "each household needs one; check keys.reference_person"
)
BAD_KEY = Kind(
    "key that cannot be used",
    "keys must be whole numbers below the modulus, or decimals from 0 to 1",
    fatal=True,
)

OF_TROUBLE = {
    Trouble.UNKNOWN: UNKNOWN_CODE,
    Trouble.EMPTY: EMPTY_FIELD,
    Trouble.OUT_OF_RANGE: OUT_OF_RANGE,
    Trouble.NOT_A_NUMBER: NOT_A_NUMBER,
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One kind of problem in one column of one file, and the rows where it is met first."""

    kind: Kind
    file: str
    column: str
    records: int
    rows: tuple[int, ...] = ()

    def __str__(self) -> str:
        records = f"{self.records:,} record{'s' if self.records != 1 else ''}"
        text = f"{self.file}: {self.column}: {self.kind.name} in {records}"
        if self.rows:
            more = ", …" if self.records > len(self.rows) else ""
            rows = ", ".join(f"{row:,}" for row in self.rows)
            text += f" (row{'s' if len(self.rows) > 1 else ''} {rows}{more})"
        return f"{text}. Remedy: {self.kind.remedy}."


def refuse_if(problems: Iterable[Problem], on_problem: OnProblem) -> None:
    """Stop when there is a problem that the option does not allow."""
    found: Sequence[Problem] = sorted(
        problems, key=lambda one: (one.file, one.column, one.kind.name)
    )
    fatal = [one for one in found if one.kind.fatal]
    if not (found if on_problem is OnProblem.REFUSE else fatal):
        return
    lines = [f"The files do not fit the schema ({len(found)} kinds of problems):"]
    lines += [f"  {problem}" for problem in found]
    if fatal:
        lines.append("Records without a usable, unique id cannot be counted.")
    else:
        lines.append(
            "Correct the files or the schema, or count such values as 'not stated' with on_problem"
            ' = "missing".'
        )
    raise DataProblems("\n".join(lines))
