"""Every error that sdcensus raises on purpose.

One tree. Each message says what is wrong, where, what is allowed and what to do, and is safe to
show to anyone: it names files, rows, columns, variables and codes of code lists, never a true
count, a key, a secret or the value of an identifier. ``exit_code`` is what the command line
returns for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


class SdcensusError(Exception):
    """Base of all errors that a user can do something about."""

    exit_code = 1


class SpecError(SdcensusError):
    """A table, axis, level or predicate cannot be understood or does not fit the schema."""

    exit_code = 2


class ConditionError(SpecError):
    """A condition cannot be read.

    Attributes:
        at: The character at which it is wrong.
    """

    def __init__(self, text: str, *, at: int) -> None:
        self.at = at
        super().__init__(text)


class QuestionError(SpecError):
    """A question of the public cannot be understood.

    Attributes:
        place: The part of the question that is wrong, such as ``by[1]`` or ``groups.age[0].label``.
        at: The character of that part at which it is wrong, where it is known.
    """

    def __init__(self, text: str, *, place: str = "", at: int | None = None) -> None:
        self.place, self.at = place, at
        super().__init__(f"{place}: {text}" if place else text)


class DocumentError(SdcensusError):
    """A document that the user wrote has mistakes; all of them are listed, with their lines."""

    exit_code = 3

    def __init__(self, path: str, mistakes: Iterable[Mistake]) -> None:
        self.path = path
        self.mistakes = tuple(sorted(mistakes, key=lambda mistake: mistake.line))
        count = len(self.mistakes)
        head = f"{path} has {count} mistake{'s' if count != 1 else ''}:"
        super().__init__("\n".join([head, *(f"  {mistake}" for mistake in self.mistakes)]))


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in a document: where it stands and what to do about it."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


class Refused(SdcensusError):
    """The disclosure policy, or confidentiality itself, does not allow this output."""

    exit_code = 4


class InputError(SdcensusError):
    """A file that was given cannot be read as what it should be."""

    exit_code = 5


class DataProblems(InputError):
    """The census files do not fit the schema; every kind of problem is listed."""


class StoreError(SdcensusError):
    """A census store is missing, damaged, of a newer version, or made with another secret."""

    exit_code = 6


class SecretError(SdcensusError):
    """The office secret is missing, malformed, or not the one that is needed."""

    exit_code = 7


class OutputError(SdcensusError):
    """Something cannot be written where it was asked to be written."""

    exit_code = 8


class EngineError(SdcensusError):
    """An engine cannot answer a request."""

    exit_code = 9


class MissingExtra(SdcensusError):
    """An optional part of sdcensus is needed and not installed."""

    exit_code = 10

    def __init__(self, extra: str, *, needed_for: str) -> None:
        self.extra = extra
        super().__init__(
            f"{needed_for} needs an optional part. Install it with: pip install 'sdcensus[{extra}]'"
        )


class UnknownName(SpecError):
    """A name is not among those that exist; the nearest ones are offered."""

    def __init__(self, kind: str, name: str, *, known: Iterable[str], where: str = "") -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        super().__init__(f"{where}{unknown(kind, name, self.known)}")


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that ``name`` does not exist and offer what does.

    Examples:
        >>> unknown("variable", "sexx", ["sex", "age"])
        "There is no variable 'sexx'. Did you mean 'sex'?"
    """
    names = [str(one) for one in known]
    near = get_close_matches(str(name), names, n=3, cutoff=0.5)
    if near:
        hint = f"Did you mean {' or '.join(map(repr, near))}?"
    elif not names:
        hint = "There are none."
    elif len(names) <= 12:
        hint = f"There are: {', '.join(names)}."
    else:
        hint = f"There are {len(names)}, from {names[0]!r} to {names[-1]!r}."
    return f"There is no {kind} {name!r}. {hint}"
