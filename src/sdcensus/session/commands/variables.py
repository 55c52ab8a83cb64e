"""Conditions and variables in the words of programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

from sdcensus.errors import Sentence, told
from sdcensus.model.spec.operators import (
    AFTER_A_UNIVERSE,
    JOINING_SIGNS,
    OPERATORS,
    REVERSED,
    Operator,
)
from sdcensus.model.spec.predicate import (
    And,
    Comparison,
    Condition,
    ConditionGrammar,
    Expected,
    Name,
    Named,
    Not,
    Or,
    Reference,
)
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.reader import TokenReader, listed
from sdcensus.session.commands.tokens import TokenKind


class ConditionReader(TokenReader, ConditionGrammar):
    """Reads variables, and conditions by the grammar of all conditions.

    Args:
        source: The program.
        universes: The conditions of the universes of the schema, by their names in small letters.
            Where a condition names one, that is what it says.
    """

    def __init__(self, source: str, universes: Mapping[str, str]) -> None:
        super().__init__(source)
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
        return (
            self.next.kind is TokenKind.WORD and point.kind is TokenKind.MARK and point.text == "."
        )

    def operand(self, what: str) -> Reference:
        """A variable at one level."""
        reference = self.variable(what)
        levels: tuple[Name, ...] = ()
        if self.mark("@"):
            levels = (self.word(told("expected.level", "the name of a level after '@'")),)
        return Reference(reference.entity, reference.name, levels, at=reference.at)

    def axis(self, what: str) -> Reference:
        """A variable at one or more levels, with or without its total."""
        reference = self.operand(what)
        levels, total = list(reference.levels), True
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
                levels = levels or [reference.name]
                levels.append(name)
        return Reference(reference.entity, reference.name, tuple(levels), total, reference.at)

    # ---------------------------------------------------------------------------- conditions

    @property
    def position(self) -> int:
        """The character at which the next word stands."""
        return self.next.at

    def takes(self, word: str) -> bool:
        """Take a word or sign of a condition, if it comes next."""
        if self.mark(*JOINING_SIGNS.get(word, (word,))) is not None:
            return True
        return word.isalpha() and self.keyword(word.upper()) is not None

    def comes(self, mark: str) -> bool:
        """Whether a sign comes next."""
        return self.next.kind is TokenKind.MARK and self.next.text == mark

    def named(self) -> Condition | None:
        """What a universe says that is named here."""
        if not self.universe_follows():
            return None
        at, others = self.position, dict(self.universes)
        text = others.pop(self.step().text.casefold())  # none is made of itself
        return _placed(ConditionReader(text, others).condition(), at)

    def universe_follows(self) -> bool:
        """Whether the name of a universe comes next, and nothing that compares it."""
        known = self.next.kind is TokenKind.WORD and self.next.text.casefold() in self.universes
        after = self.after()
        compared = after.keyword in ("IN", "NOT") or (
            after.kind is TokenKind.MARK and after.text not in AFTER_A_UNIVERSE
        )
        return known and not compared

    def compared(self, expected: Expected) -> Reference:
        """A variable at one level."""
        if expected is Expected.VARIABLE:
            return self.operand(told("expected.variable", "the name of a variable"))
        return self.operand(told("expected.condition", "a condition such as person.age >= 15"))

    def lacks(self, expected: Expected) -> NoReturn:
        """Say that something else is expected here."""
        match expected:
            case Expected.IN:
                self.fail(told("expected.in-after-not", "IN after NOT"), known=("IN",))
            case Expected.CODES:
                self.fail(told("expected.codes", "'(' and a list of codes"))
            case Expected.FURTHER_CODE:
                self.fail(told("expected.further-code", "',' and a further code, or ')'"))
            case _:
                self.fail(listed(("AND", "OR", "')'")))

    def too_deep(self, at: int, what: Sentence) -> NoReturn:
        """Say that a condition is nested too deep at a character."""
        refuse(self.source, at, what)

    def operator(self) -> Operator:
        """A sign that compares."""
        token = self.next
        if token.kind is not TokenKind.MARK or token.text not in OPERATORS:
            self.fail(told("expected.sign", "one of = <> < <= > >= IN"), known=("IN",))
        self.step()
        both = f"{token.text}{self.next.text}"
        if self.next.at == token.end and both in REVERSED:
            meant = REVERSED[both]
            what = told("program.write-to-compare", "Write {meant!r} to compare.", meant=meant)
            refuse(self.source, token.at, what)
        return OPERATORS[token.text]


def _placed(condition: Condition, at: int) -> Condition:
    """A condition that was read elsewhere: whatever is wrong with it is said at one place."""
    match condition:
        case Comparison(operand, operator, values):
            levels = tuple(replace(level, at=at) for level in operand.levels)
            here = replace(operand, name=replace(operand.name, at=at), levels=levels, at=at)
            return Comparison(here, operator, tuple(replace(value, at=at) for value in values), at)
        case Named(name):
            return Named(name, at)
        case Not(part):
            return Not(_placed(part, at), at)
        case And(parts):
            return And(tuple(_placed(part, at) for part in parts), at)
        case Or(parts):
            return Or(tuple(_placed(part, at) for part in parts), at)
