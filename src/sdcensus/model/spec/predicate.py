"""The small language of conditions: ``age >= 15 and ed@parish in ('P01', 'P02')``.

There is one grammar and one tree of conditions, for plans, for the table builder and for programs
of commands. A name that stands alone is that of a universe of the schema: ``adults and sex == 1``.

A condition is parsed once, resolved against the schema and brought into a canonical form, so
that every spelling of the same condition is the same universe, on every engine.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NoReturn

from sdcensus.errors import ConditionError, Sentence, SpecError, told
from sdcensus.model.spec.operators import (
    AFTER_A_UNIVERSE,
    JOINING_SIGNS,
    OPERATORS,
    REVERSED,
    Operator,
)

#: Deeper than anybody writes, shallow enough never to exhaust the stack.
DEEPEST = 100


# Two trees are equal if they say the same, wherever it stands: ``at`` is the character.


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written."""

    text: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Value:
    """A code or number, in quotes or without."""

    text: str
    quoted: bool = False
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """A variable: ``person.age@five_year+broad-total``.

    Attributes:
        entity: The kind of unit before the point, if it is named.
        name: The variable, or a name that a program has defined.
        levels: The levels that are named; one at most in a condition.
        total: Whether the total is shown.
    """

    entity: Name | None
    name: Name
    levels: tuple[Name, ...] = ()
    total: bool = True
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a variable with one or more codes."""

    operand: Reference
    operator: Operator
    values: tuple[Value, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Named:
    """A universe that the schema declares, by its name."""

    name: str
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    part: Condition
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class And:
    """Two or more conditions that must all hold."""

    parts: tuple[Condition, ...]
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Or:
    """Two or more conditions of which at least one must hold."""

    parts: tuple[Condition, ...]
    at: int = field(default=0, compare=False)


Condition = Comparison | Named | Not | And | Or


def comparisons(condition: Condition) -> Iterator[Comparison]:
    """All comparisons of a condition, from left to right."""
    match condition:
        case Comparison():
            yield condition
        case Named():
            pass  # what it stands for, the schema knows
        case Not(part):
            yield from comparisons(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from comparisons(part)


def parse_condition(text: str) -> Condition:
    """Parse a condition; mistakes point at the character.

    Examples:
        >>> parse_condition("sex == 1").values
        (Value(text='1', quoted=False, at=7),)
        >>> parse_condition("age >")
        Traceback (most recent call last):
            ...
        sdcensus.errors.ConditionError: In the condition 'age >', at its end: expected ...
    """
    return _PlanCondition(text).whole()


class Expected(Enum):
    """What the grammar needs at a place; each language has its own words for it."""

    CONDITION = auto()
    VARIABLE = auto()
    IN = auto()
    CODES = auto()
    FURTHER_CODE = auto()
    CLOSING = auto()


_FLIPPED: dict[Operator, Operator] = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


class ConditionGrammar(ABC):
    """The grammar of conditions; a language says how its words are spelled and mistakes told.

    ::

        condition  = conjunct { "or" conjunct }
        conjunct   = single { "and" single }          (also & and &&, | and || for "or")
        single     = "not" single | "(" condition ")" | universe | comparison
        comparison = variable operator value | value operator variable
                   | variable [ "not" ] "in" "(" value { "," value } ")"
    """

    _depth = 0

    @property
    @abstractmethod
    def position(self) -> int:
        """The character at which the next word stands."""

    @abstractmethod
    def takes(self, word: str) -> bool:
        """Take ``and``, ``or``, ``not``, ``in`` or one of ``( ) ,`` if it comes next."""

    @abstractmethod
    def comes(self, mark: str) -> bool:
        """Whether a sign comes next."""

    @abstractmethod
    def named(self) -> Condition | None:
        """Take the name of a universe, if one comes next that is compared with nothing."""

    @abstractmethod
    def value(self) -> Value | None:
        """Take a code or number, if one comes next."""

    @abstractmethod
    def need_value(self) -> Value:
        """Take a code or number."""

    @abstractmethod
    def compared(self, expected: Expected) -> Reference:
        """Take a variable at one level."""

    @abstractmethod
    def operator(self) -> Operator:
        """Take a sign that compares."""

    @abstractmethod
    def lacks(self, expected: Expected) -> NoReturn:
        """Say that something else is expected here."""

    def too_deep(self, at: int, what: Sentence) -> NoReturn:
        """Say that a condition is nested too deep at a character."""
        raise SpecError(what)

    def condition(self) -> Condition:
        """A condition: parts of which one must hold."""
        return self._chain("or", self._conjunct, Or)

    def _conjunct(self) -> Condition:
        return self._chain("and", self._single, And)

    def _chain(
        self, word: str, part: Callable[[], Condition], join: type[And] | type[Or]
    ) -> Condition:
        at = self.position
        parts = [part()]
        while self.takes(word):
            parts.append(part())
        return join(tuple(parts), at) if len(parts) > 1 else parts[0]

    def _single(self) -> Condition:
        at = self.position
        self._depth += 1
        if self._depth > DEEPEST:
            what = told(
                "condition.too-deep",
                "The condition is nested more than {most} deep.",
                most=DEEPEST,
            )
            self.too_deep(at, what)
        try:
            if self.takes("not"):
                return Not(self._single(), at)
            if self.takes("("):
                condition = self.condition()
                return condition if self.takes(")") else self.lacks(Expected.CLOSING)
            return self.named() or self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> Comparison:
        at = self.position
        value = self.value()
        if value is not None:  # the value first: 15 <= age
            operator = self.operator()
            flipped = _FLIPPED.get(operator, operator)
            return Comparison(self.compared(Expected.VARIABLE), flipped, (value,), at)
        operand = self.compared(Expected.CONDITION)
        negated = self.takes("not")
        if self.takes("in"):
            return Comparison(operand, "not in" if negated else "in", self._values(), at)
        if negated:
            self.lacks(Expected.IN)
        return Comparison(operand, self.operator(), (self.need_value(),), at)

    def _values(self) -> tuple[Value, ...]:
        if not self.takes("("):
            self.lacks(Expected.CODES)
        values = [self.need_value()]
        while self.takes(",") and not self.comes(")"):
            values.append(self.need_value())
        return tuple(values) if self.takes(")") else self.lacks(Expected.FURTHER_CODE)


# ---------------------------------------------------------------- as plans and questions write it

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'[^']*'|"[^"]*")
      | (?P<number>-?\d+(?![\w.]))
      | (?P<operator>==|!=|<>|<=|>=|<|>|=)
      | (?P<mark>&&|\|\||[(),@&|])
      | (?P<word>[^\W\d]\w*|(?<=@)\d\w*)
    )""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    position: int


class _PlanCondition(ConditionGrammar):
    """The words of one condition."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.at = 0

    def _tokens(self) -> Iterator[_Token]:
        position = 0
        while self.text[position:].strip():
            match = _TOKEN.match(self.text, position)
            if match is None:
                while self.text[position].isspace():
                    position += 1
                self._mistake(position, _unreadable(self.text[position:]))
            kind = match.lastgroup or ""
            yield _Token(kind, match.group(kind), match.start(kind))
            position = match.end()

    def whole(self) -> Condition:
        """The whole text as one condition."""
        if not self.tokens:
            raise SpecError(
                told(
                    "condition.empty",
                    "The condition is empty. Write one such as: age >= 15 and sex == 1",
                )
            )
        condition = self.condition()
        if self._next.kind != "end":
            self._fail(told("expected.and-or-end", "'and', 'or' or the end"))
        return condition

    def _mistake(self, at: int, what: Sentence) -> NoReturn:
        text = told(
            "condition.at-end",
            "In the condition {text!r}, at its end: {what}.",
            text=self.text,
            what=what,
        )
        if at < len(self.text):
            text = told(
                "condition.at-character",
                "In the condition {text!r}, at character {number}: {what}.",
                text=self.text,
                number=str(at + 1),
                what=what,
            )
        raise ConditionError(text, at=at)

    def lacks(self, expected: Expected) -> NoReturn:
        self._fail(
            {
                Expected.IN: told("expected.in", "'in' after 'not'"),
                Expected.CODES: told("expected.codes", "'(' and a list of codes"),
            }.get(expected, "')'")
        )

    def _fail(self, what: str) -> NoReturn:
        self._mistake(self.position, told("condition.expected", "expected {what}", what=what))

    @property
    def position(self) -> int:
        return self._next.position

    @property
    def _next(self) -> _Token:
        if self.at < len(self.tokens):
            return self.tokens[self.at]
        return _Token("end", "", len(self.text))

    def _take(self, kind: str, texts: Sequence[str] = ()) -> _Token | None:
        token = self._next
        if token.kind == kind and (not texts or token.text in texts):
            self.at += 1
            return token
        return None

    def takes(self, word: str) -> bool:
        if self._take("mark", JOINING_SIGNS.get(word, (word,))) is not None:
            return True
        return word.isalpha() and self._take("word", (word, word.upper())) is not None

    def comes(self, mark: str) -> bool:
        return self._next.text == mark

    def named(self) -> Condition | None:
        after = self.tokens[self.at + 1 : self.at + 2]
        joined = any(token.text.lower() in {*AFTER_A_UNIVERSE, "and", "or"} for token in after)
        token = self._take("word") if joined or not after else None
        return None if token is None else Named(token.text, token.position)

    def operator(self) -> Operator:
        token = self._take("operator")
        if token is None:
            self._fail(told("expected.operator", "one of == != < <= > >= in"))
        meant = REVERSED.get(f"{token.text}{self._next.text}")
        if meant is not None:
            what = told("condition.write-to-compare", "write {meant!r} to compare", meant=meant)
            self._mistake(token.position, what)
        return OPERATORS[token.text]

    def compared(self, expected: Expected) -> Reference:
        variable = self._name(told("expected.variable", "the name of a variable"))
        levels: tuple[Name, ...] = ()
        if self._take("mark", ("@",)):
            levels = (self._name(told("expected.a-level", "a level")),)
        return Reference(None, variable, levels, at=variable.at)

    def _name(self, what: Sentence) -> Name:
        token = self._take("word")
        return self._fail(what) if token is None else Name(token.text, token.position)

    def value(self) -> Value | None:
        token = self._take("number")
        if token is not None:
            return Value(token.text, at=token.position)
        token = self._take("text")
        return None if token is None else Value(token.text[1:-1], quoted=True, at=token.position)

    def need_value(self) -> Value:
        value = self.value()
        if value is None:
            what = told("expected.value", "a code or number")
            if self._next.kind == "word":
                what = told(
                    "expected.value-in-quotes",
                    "a code or number; put {word!r} in quotes",
                    word=self._next.text,
                )
            self._fail(what)
        return value


def _unreadable(rest: str) -> Sentence:
    """Why no word of the language begins here."""
    if rest[0] in "'\"":
        return told(
            "condition.no-quote",
            "the text that begins here has no {quote} at its end",
            quote=rest[0],
        )
    if re.match(r"-?\d", rest):
        return told(
            "condition.whole-numbers",
            "codes and whole numbers only; put a code with other signs in quotes",
        )
    if rest[0] == ".":
        return told("condition.no-unit", "write the variable alone, without the unit before it")
    if rest[0] == "!":
        return told("condition.exclamation", "write 'not' for the opposite, != for 'is not'")
    return told("condition.meaningless", "{sign!r} means nothing here", sign=rest[0])
