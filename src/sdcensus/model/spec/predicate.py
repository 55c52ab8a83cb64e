"""The small language of conditions: ``age >= 15 and ed@parish in ('P01', 'P02')``.

A name that stands alone is that of a universe of the schema: ``adults and sex == 1``.

A condition is parsed once, resolved against the schema and brought into a canonical form, so
that every spelling of the same condition is the same universe, on every engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sdcensus.errors import ConditionError, Sentence, SpecError, told

Operator = Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in"]


@dataclass(frozen=True, slots=True)
class Operand:
    """A variable, at one of its levels."""

    variable: str
    level: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of a variable with one or more codes."""

    operand: Operand
    operator: Operator
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A universe that the schema declares, by its name, and the character where that stands."""

    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Both:
    """Two conditions that must both hold."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Either:
    """Two conditions of which at least one must hold."""

    left: Condition
    right: Condition


Condition = Comparison | Named | Not | Both | Either

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>'[^']*'|"[^"]*")
      | (?P<number>-?\d+(?![\w.]))
      | (?P<operator>==|!=|<=|>=|<|>|=)
      | (?P<mark>[(),@])
      | (?P<word>[^\W\d]\w*)
    )""",
    re.VERBOSE,
)
_COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
_FLIPPED: dict[str, str] = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
#: Deeper than anybody writes, shallow enough never to exhaust the stack.
_DEEPEST = 100


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    position: int


def comparisons(condition: Condition) -> Iterator[Comparison]:
    """All comparisons of a condition, from left to right."""
    match condition:
        case Comparison():
            yield condition
        case Named():
            pass  # what it stands for, the schema knows
        case Not(part):
            yield from comparisons(part)
        case Both(left, right) | Either(left, right):
            yield from comparisons(left)
            yield from comparisons(right)


def parse_condition(text: str) -> Condition:
    """Parse a condition; mistakes point at the character.

    Examples:
        >>> parse_condition("sex == 1")
        Comparison(operand=Operand(variable='sex', level=None), operator='==', values=('1',))
        >>> parse_condition("age >")
        Traceback (most recent call last):
            ...
        sdcensus.errors.ConditionError: In the condition 'age >', at its end: expected ...
    """
    return _Parser(text).parse()


class _Parser:
    """Recursive descent over the tokens of one condition."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.at = 0
        self.depth = 0

    def _tokens(self) -> Iterator[_Token]:
        position = 0
        while self.text[position:].strip():
            match = _TOKEN.match(self.text, position)
            if match is None:
                while self.text[position].isspace():
                    position += 1
                raise self._mistake(position, _unreadable(self.text[position:]))
            kind = match.lastgroup or ""
            yield _Token(kind, match.group(kind), match.start(kind))
            position = match.end()

    def _mistake(self, position: int, what: Sentence) -> SpecError:
        text = told(
            "condition.at-end",
            "In the condition {text!r}, at its end: {what}.",
            text=self.text,
            what=what,
        )
        if position < len(self.text):
            text = told(
                "condition.at-character",
                "In the condition {text!r}, at character {number}: {what}.",
                text=self.text,
                number=str(position + 1),
                what=what,
            )
        return ConditionError(text, at=position)

    def _expected(self, what: str) -> SpecError:
        expected = told("condition.expected", "expected {what}", what=what)
        return self._mistake(self._peek().position, expected)

    def _peek(self) -> _Token:
        if self.at < len(self.tokens):
            return self.tokens[self.at]
        return _Token("end", "", len(self.text))

    def _take(self, kind: str, texts: Sequence[str] = ()) -> _Token | None:
        token = self._peek()
        if token.kind == kind and (not texts or token.text in texts):
            self.at += 1
            return token
        return None

    def _need(self, what: str, kind: str, texts: Sequence[str] = ()) -> _Token:
        token = self._take(kind, texts)
        if token is None:
            raise self._expected(what)
        return token

    def parse(self) -> Condition:
        """The whole text as one condition."""
        if not self.tokens:
            raise SpecError(
                told(
                    "condition.empty",
                    "The condition is empty. Write one such as: age >= 15 and sex == 1",
                )
            )
        condition = self._either()
        if self._peek().kind != "end":
            raise self._expected(told("expected.and-or-end", "'and', 'or' or the end"))
        return condition

    def _chain(
        self, word: str, part: Callable[[], Condition], join: type[Both] | type[Either]
    ) -> Condition:
        parts = [part()]
        while self._take("word", (word, word.upper())):
            parts.append(part())
        # In pairs, and pairs of pairs: a long chain must not be a deep one.
        while len(parts) > 1:
            odd = parts[len(parts) & ~1 :]
            pairs = zip(parts[::2], parts[1::2], strict=False)
            parts = [*(join(left, right) for left, right in pairs), *odd]
        return parts[0]

    def _either(self) -> Condition:
        return self._chain("or", self._both, Either)

    def _both(self) -> Condition:
        return self._chain("and", self._single, Both)

    def _single(self) -> Condition:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise SpecError(
                told(
                    "condition.too-deep",
                    "The condition is nested more than {most} deep.",
                    most=_DEEPEST,
                )
            )
        try:
            if self._take("word", ("not", "NOT")):
                return Not(self._single())
            if self._take("mark", ("(",)):
                condition = self._either()
                self._need("')'", "mark", (")",))
                return condition
            return self._comparison()
        finally:
            self.depth -= 1

    def _comparison(self) -> Comparison | Named:
        value = self._take("number") or self._take("text")
        if value is not None:  # the value first: 15 <= age
            operator = self._operator()
            return Comparison(self._operand(), _FLIPPED[operator], (_unquote(value),))  # type: ignore[arg-type]
        first = self._peek()
        operand = self._operand()
        if operand.level is None and self._ends():
            return Named(operand.variable, first.position)
        negated = self._take("word", ("not", "NOT")) is not None
        if self._take("word", ("in", "IN")):
            return Comparison(operand, "not in" if negated else "in", self._values())
        if negated:
            raise self._expected(told("expected.in", "'in' after 'not'"))
        return Comparison(operand, self._operator(), (self._value(),))  # type: ignore[arg-type]

    def _ends(self) -> bool:
        """Whether nothing follows with which a name could be compared."""
        token = self._peek()
        joins = token.kind == "word" and token.text.lower() in ("and", "or")
        return token.kind == "end" or joins or token.text == ")"

    def _operator(self) -> str:
        signs = told("expected.operator", "one of == != < <= > >= in")
        token = self._need(signs, "operator")
        if token.text not in _COMPARISONS:
            meant = {"=>": ">=", "=<": "<="}.get(f"{token.text}{self._peek().text}", "==")
            what = told("condition.write-to-compare", "write {meant!r} to compare", meant=meant)
            raise self._mistake(token.position, what)
        return token.text

    def _operand(self) -> Operand:
        name = told("expected.variable", "the name of a variable")
        variable, level = self._need(name, "word").text, None
        if self._take("mark", ("@",)):
            level = self._need(told("expected.a-level", "a level"), "word").text
        return Operand(variable, level)

    def _value(self) -> str:
        token = self._take("number") or self._take("text")
        if token is None:
            word = self._peek()
            what = told("expected.value", "a code or number")
            if word.kind == "word":
                what = told(
                    "expected.value-in-quotes",
                    "a code or number; put {word!r} in quotes",
                    word=word.text,
                )
            raise self._expected(what)
        return _unquote(token)

    def _values(self) -> tuple[str, ...]:
        self._need(told("expected.codes", "'(' and a list of codes"), "mark", ("(",))
        values = [self._value()]
        while self._take("mark", (",",)):
            if self._peek().text == ")":
                break
            values.append(self._value())
        self._need("')'", "mark", (")",))
        return tuple(values)


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
    return told("condition.meaningless", "{sign!r} means nothing here", sign=rest[0])


def _unquote(token: _Token) -> str:
    return token.text[1:-1] if token.kind == "text" else token.text
