"""Every error that sdcensus raises on purpose.

One tree. Each message says what is wrong, where, what is allowed and what to do, and is safe to
show to anyone: it names files, rows, columns, variables and codes of code lists, never a true
count, a key, a secret or the value of an identifier. ``exit_code`` is what the command line
returns for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

#: What a sentence has places for: texts as they are, numbers, lists, and other sentences.
Told = str | int | float | tuple[str, ...]


class Sentence(str):
    """Words in English that can be said in other languages as well.

    Attributes:
        words: Which text says the same in other languages; stable, such as ``condition.empty``.
            Empty where there is none.
        values: What that text has places for, by name. A sentence among them is told in the other
            language too, texts are shown as they are.
    """

    words: str = ""
    values: Mapping[str, Told] = MappingProxyType({})

    def __deepcopy__(self, memo: object) -> Sentence:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (str(self), self.words, dict(self.values))


def _restored(english: str, words: str, values: Mapping[str, Told]) -> Sentence:
    sentence = Sentence(english)
    sentence.words, sentence.values = words, MappingProxyType(values)
    return sentence


def told(words: str, english: str, /, **values: Told) -> Sentence:
    """A sentence with its places filled; lists have commas, whole figures no decimals.

    Examples:
        >>> told("has", "{name!r} has {count:,}: {some}.", name="sex", count=2, some=("1", "2"))
        "'sex' has 2: 1, 2."
    """
    sentence = Sentence(english.format_map({name: _shown(value) for name, value in values.items()}))
    sentence.words, sentence.values = words, MappingProxyType(values)
    return sentence


def _shown(value: Told) -> Told:
    match value:
        case tuple():
            return ", ".join(value)
        case float():
            return f"{value:,.0f}" if value.is_integer() else f"{value:g}"
        case _:
            return value


def both(first: Sentence, second: Sentence | None) -> Sentence:
    """Two sentences one after the other, if there are two."""
    if second is None:
        return first
    return told("both", "{first} {second}", first=first, second=second)


class SdcensusError(Exception):
    """Base of all errors that a user can do something about."""

    exit_code = 1

    @property
    def said(self) -> Sentence:
        """The message, to be told in other languages where it has words for them."""
        first = self.args[0] if self.args else ""
        return first if isinstance(first, Sentence) else Sentence(self)


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

    _text: str | None = None

    def __init__(self, text: str, *, place: str = "", at: int | None = None) -> None:
        self.place, self.at = place, at
        self._text = text
        super().__init__(f"{place}: {text}" if place else text)

    @property
    def said(self) -> Sentence:
        """The message without its place."""
        if self._text is None:
            return super().said
        return self._text if isinstance(self._text, Sentence) else Sentence(self._text)


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


class Unconfirmed(Refused):
    """Something that is done only if somebody says so, and nobody has."""


class InputError(SdcensusError):
    """A file that was given cannot be read as what it should be."""

    exit_code = 5


class DataProblems(InputError):
    """The census files do not fit the schema; every kind of problem is listed.

    Attributes:
        problems: What was found, for reports.
    """

    def __init__(self, text: str, problems: Iterable[object] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__(text)


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

    def __init__(
        self,
        kind: str,
        name: str,
        *,
        known: Iterable[str],
        where: str = "",
        hint: Sentence | None = None,
    ) -> None:
        self.kind, self.name, self.known = kind, name, tuple(known)
        what: str = unknown(kind, name, self.known, hint=hint)
        if isinstance(where, Sentence):
            what = told("within", "{where}: {what}", where=where, what=what)
        elif where:
            what = f"{where}{what}"
        super().__init__(what)


def unknown(
    kind: str, name: str, known: Iterable[str], *, of: str = "", hint: Sentence | None = None
) -> Sentence:
    """Say that ``name`` does not exist and offer what does.

    Args:
        kind: What it should be the name of.
        name: The name.
        known: The names that exist.
        of: What the kind belongs to, as in "level of age".
        hint: What helps better than names that are near.

    Examples:
        >>> unknown("variable", "sexx", ["sex", "age"])
        "There is no variable 'sexx'. Did you mean 'sex'?"
        >>> unknown("variable", "SEXO", ["sexo", "edad"])
        "There is no variable 'SEXO'. Did you mean 'sexo'?"
    """
    names = [str(one) for one in known]
    words = f"unknown.{kind.replace(' ', '-')}"
    if of:
        english = "There is no {kind} of {of} {name!r}."
        what = told(f"{words}-of", english, kind=kind, of=of, name=name)
    else:
        what = told(words, "There is no {kind} {name!r}.", kind=kind, name=name)
    if hint is not None:
        return both(what, hint)
    same = [other for other in names if other.casefold() == str(name).casefold()]
    return both(what, offered(names, same or get_close_matches(str(name), names, n=3, cutoff=0.5)))


def offered(names: Sequence[str], near: Sequence[str] = ()) -> Sentence:
    """What there is: at most three names that are near, else all of a short list."""
    match near:
        case [one]:
            return told("offered.one", "Did you mean {one!r}?", one=one)
        case [one, two]:
            return told("offered.two", "Did you mean {one!r} or {two!r}?", one=one, two=two)
        case [one, two, three]:
            return told(
                "offered.three",
                "Did you mean {one!r} or {two!r} or {three!r}?",
                one=one,
                two=two,
                three=three,
            )
    if not names:
        return told("offered.none", "There are none.")
    if len(names) <= 12:
        return told("offered.all", "There are: {names}.", names=tuple(names))
    return told(
        "offered.many",
        "There are {count:,}, from {first!r} to {last!r}.",
        count=len(names),
        first=names[0],
        last=names[-1],
    )
