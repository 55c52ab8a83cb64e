"""Conditions and variables, as the grammar of programs has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import get_args

from sdcensus.errors import told
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.reader import Reader, listed
from sdcensus.session.commands.syntax import (
    And,
    Comparison,
    Condition,
    Name,
    Not,
    Operator,
    Or,
    Reference,
    Value,
)
from sdcensus.session.commands.tokens import Kind

#: Deeper than anybody writes, shallow enough never to exhaust the stack.
DEEPEST = 100

_OPERATORS: dict[str, Operator] = {
    **{one: one for one in get_args(Operator) if not one.endswith("in")},
    "=": "==",
    "<>": "!=",
}
_FLIPPED: dict[Operator, Operator] = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
#: Two signs that somebody wrote the wrong way round.
_REVERSED = {"=>": ">=", "=<": "<=", "><": "<>"}


class ConditionReader(Reader):
    """Reads conditions and variables."""

    def __init__(self, source: str, universes: Mapping[str, str]) -> None:
        """Read a program.

        Args:
            source: The program.
            universes: The conditions of the universes of the schema, by their names in small
                letters. Where a condition names one, that is what it says.
        """
        super().__init__(source)
        self.depth = 0
        self.universes = universes

    # ----------------------------------------------------------------------------- variables

    def variable(self, what: str) -> Reference:
        """A variable, with or without the kind of unit before it."""
        at = self.next.at
        if self._entity_follows():
            entity = self.word(what)
            self.step()
            after = told("expected.variable-after-point", "the name of a variable after the point")
            return Reference(entity, self.word(after), at=at)
        return Reference(None, self.name(what), at=at)

    def _entity_follows(self) -> bool:
        point = self.after()
        return self.next.kind is Kind.WORD and point.kind is Kind.MARK and point.text == "."

    def operand(self, what: str) -> Reference:
        """A variable at one level."""
        found = self.variable(what)
        levels: tuple[Name, ...] = ()
        if self.mark("@"):
            levels = (self.word(told("expected.level", "the name of a level after '@'")),)
        return Reference(found.entity, found.name, levels, at=found.at)

    def axis(self, what: str) -> Reference:
        """A variable at one or more levels, with or without its total."""
        found = self.operand(what)
        levels, total = list(found.levels), True
        while sign := self.mark("+", "-"):
            name = self.word(told("expected.level-or-total", "the name of a level, or TOTAL"))
            if name.text.upper() == "TOTAL":
                total = sign.text == "+"
            elif sign.text == "-":
                refuse(
                    self.source,
                    name.at,
                    told("program.only-total", "Only the total can be taken away: -TOTAL."),
                )
            else:
                # A level that is added stands beside that of the codes themselves.
                levels = levels or [found.name]
                levels.append(name)
        return Reference(found.entity, found.name, tuple(levels), total, found.at)

    # ---------------------------------------------------------------------------- conditions

    def condition(self) -> Condition:
        """A condition: parts of which one must hold."""
        return self._chain("OR", self._conjunct, Or)

    def _conjunct(self) -> Condition:
        return self._chain("AND", self._single, And)

    def _chain(
        self, word: str, part: Callable[[], Condition], join: type[And] | type[Or]
    ) -> Condition:
        at = self.next.at
        parts = [part()]
        while self.keyword(word):
            parts.append(part())
        return join(tuple(parts), at) if len(parts) > 1 else parts[0]

    def _single(self) -> Condition:
        self.depth += 1
        token = self.next
        if self.depth > DEEPEST:
            refuse(
                self.source,
                token.at,
                told(
                    "condition.too-deep",
                    "The condition is nested more than {most} deep.",
                    most=DEEPEST,
                ),
            )
        try:
            if self.keyword("NOT"):
                return Not(self._single(), token.at)
            if self.mark("("):
                condition = self.condition()
                self.need_mark(")", listed(("AND", "OR", "')'")))
                return condition
            if self.universe_follows():
                others = dict(self.universes)
                text = others.pop(self.step().text.casefold())  # none is made of itself
                return _placed(ConditionReader(text, others).condition(), token.at)
            return self._comparison()
        finally:
            self.depth -= 1

    def universe_follows(self) -> bool:
        """Whether the name of a universe comes next, and nothing that compares it."""
        known = self.next.kind is Kind.WORD and self.next.text.casefold() in self.universes
        after = self.after()
        compared = after.keyword in ("IN", "NOT") or (after.kind is Kind.MARK and after.text != ")")
        return known and not compared

    def _comparison(self) -> Comparison:
        at = self.next.at
        value = self.value()
        if value is not None:  # the value first: 15 <= age
            operator = self._operator()
            return Comparison(
                self.operand(told("expected.variable", "the name of a variable")),
                _FLIPPED.get(operator, operator),
                (value,),
                at,
            )
        operand = self.operand(told("expected.condition", "a condition such as person.age >= 15"))
        negated = self.keyword("NOT") is not None
        if self.keyword("IN"):
            return Comparison(operand, "not in" if negated else "in", self._values(), at)
        if negated:
            self.fail(told("expected.in-after-not", "IN after NOT"), known=("IN",))
        return Comparison(operand, self._operator(), (self.need_value(),), at)

    def _operator(self) -> Operator:
        token = self.next
        if token.kind is not Kind.MARK or token.text not in _OPERATORS:
            self.fail(told("expected.sign", "one of = <> < <= > >= IN"), known=("IN",))
        self.step()
        both = f"{token.text}{self.next.text}"
        if self.next.at == token.end and both in _REVERSED:
            refuse(
                self.source,
                token.at,
                told(
                    "program.write-to-compare", "Write {meant!r} to compare.", meant=_REVERSED[both]
                ),
            )
        return _OPERATORS[token.text]

    def _values(self) -> tuple[Value, ...]:
        self.need_mark("(", told("expected.codes", "'(' and a list of codes"))
        values = [self.need_value()]
        while self.mark(","):
            values.append(self.need_value())
        self.need_mark(")", told("expected.further-code", "',' and a further code, or ')'"))
        return tuple(values)


def _placed(condition: Condition, at: int) -> Condition:
    """A condition that was read elsewhere: whatever is wrong with it is said at one place."""
    match condition:
        case Comparison(operand, operator, values):
            levels = tuple(replace(level, at=at) for level in operand.levels)
            here = replace(operand, name=replace(operand.name, at=at), levels=levels, at=at)
            return Comparison(here, operator, tuple(replace(value, at=at) for value in values), at)
        case Not(part):
            return Not(_placed(part, at), at)
        case And(parts):
            return And(tuple(_placed(part, at) for part in parts), at)
        case Or(parts):
            return Or(tuple(_placed(part, at) for part in parts), at)
