"""Conditions of a program, in the grammar of plans; mistakes point at the character."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sdcensus.errors import Sentence, SpecError, told, unknown
from sdcensus.model.schema.encoding import whole_number
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.axis import at_other_levels
from sdcensus.model.spec.covers import WHOLE, Part, covering, terms_of
from sdcensus.model.spec.predicate import (
    And,
    Comparison,
    Condition,
    Named,
    Not,
    Or,
    Value,
    comparisons,
    parse_condition,
)
from sdcensus.model.spec.question import LONGEST_CONDITION
from sdcensus.model.spec.universe import EVERYTHING, Universe, universe_of
from sdcensus.session.commands.names import Category, Mask, NamedThing, ProgramNames
from sdcensus.session.commands.places import refuse

_SIDES: dict[str, Callable[[int, int], bool]] = {
    "<": int.__lt__,
    "<=": int.__le__,
    ">": int.__gt__,
    ">=": int.__ge__,
}
#: How much longer it takes to compare a code by order than to find it.
_ORDERING = 3


class Conditions:
    """Resolves conditions against the names of a program."""

    def __init__(self, names: ProgramNames) -> None:
        self.names = names
        self._universes: dict[str, Universe] = {}
        self._codes: dict[tuple[str, str], dict[str, list[int]]] = {}
        self._compared: dict[str, Sentence | None] = {}

    # ------------------------------------------------------------------------- to plain text

    def text(self, condition: Condition) -> str:
        """The condition in the grammar of plans.

        Raises:
            QuestionError: It names something that does not exist, or compares it in vain.
        """
        return self._written(condition)

    def both(self, first: str, second: str) -> str:
        """Two conditions of which both must hold; either may be empty."""
        if not first or not second:
            return first or second
        return f"{_bracketed(first)} and {_bracketed(second)}"

    def universe(self, text: str, at: int) -> Universe:
        """The records for which a condition holds.

        Raises:
            QuestionError: It is too long or too complicated, or holds for nobody.
        """
        if not text:
            return EVERYTHING
        if text not in self._universes:
            source = self.names.source
            if len(text) > LONGEST_CONDITION:
                refuse(
                    source,
                    at,
                    told(
                        "condition.too-long",
                        "The condition takes more than {most:,} characters when its codes are"
                        " written out. Take a coarser level, or fewer codes.",
                        most=LONGEST_CONDITION,
                    ),
                )
            try:
                self._count(parse_condition(text), at)
                universe = universe_of(text, self.names.schema)
                terms_of(universe)
            except SpecError as error:
                # Without its place, if it has one: that is a part of a question.
                refuse(source, at, error.said)
            self._universes[text] = universe
        return self._universes[text]

    def _count(self, condition: Condition, at: int) -> None:
        """A condition looks at every code of its variables, and longer for comparisons by order."""
        compared = set(comparisons(condition))
        ordered = [each.operand.name.text for each in compared if each.operator in _SIDES]
        for name in (*ordered * _ORDERING, *{each.operand.name.text for each in compared}):
            self.names.look_at(len(self.names.schema.variable(name).codes), at)

    def _written(self, condition: Condition) -> str:
        match condition:
            case Comparison():
                return self._comparison(condition)
            case Named(name):
                return name
            case Not(Not(part)):
                return self._written(part)  # the opposite of the opposite
            case Not(part):
                return f"not {self._inner(part)}"
            case And(parts):
                return " and ".join(map(self._inner, parts))
            case Or(parts):
                return " or ".join(
                    self._written(part) if isinstance(part, And) else self._inner(part)
                    for part in parts
                )

    def _inner(self, condition: Condition) -> str:
        text = self._written(condition)
        return f"({text})" if isinstance(condition, And | Or) else text

    # --------------------------------------------------------------------------- comparisons

    def _comparison(self, one: Comparison) -> str:
        named = self.names.find(one.operand)
        if named.recoded is not None:
            return self._of_categories(one, named)
        if one.operator in _SIDES:
            return self._of_numbers(one, named)
        for value in one.values:
            self.position(value, named.variable, named.levels[0])
        values = [self._value(value) for value in one.values]
        if one.operator in ("in", "not in"):
            return f"{named.operand} {one.operator} ({', '.join(values)})"
        return f"{named.operand} {one.operator} {values[0]}"

    def _of_numbers(self, one: Comparison, found: NamedThing) -> str:
        value = one.values[0]
        text = f"{found.operand} {one.operator} {self._value(value)}"
        if text not in self._compared:
            self._compared[text] = None
            self.names.look_at(_ORDERING * len(found.levels[0].codes), value.at)
            try:
                universe_of(text, self.names.schema)
            except SpecError as error:
                # The program shows the condition: what is wrong with it is enough.
                what = error.said.values.get("what")
                self._compared[text] = what if isinstance(what, Sentence) else error.said
        wrong = self._compared[text]
        if wrong is not None:
            refuse(self.names.source, value.at, wrong)
        return text

    def position(self, value: Value, variable: Variable, level: Level) -> int:
        """The place of a code at a level, as conditions look it up: 01 and 1 are the same number.

        Raises:
            QuestionError: There is no such code.
        """
        key = (variable.name, level.name)
        if key not in self._codes:
            places: dict[str, list[int]] = {}
            for at, code in enumerate(level.codes):
                places.setdefault(f"'{code.code}", [at])
                number = whole_number(code.code)
                if number is not None:
                    places.setdefault(str(number), []).append(at)
            self._codes[key] = places
        places = self._codes[key]
        number = whole_number(value.text)
        positions = places.get(f"'{value.text}") or places.get(str(number), [])
        if len(positions) != 1:
            known = [code.code for code in level.codes]
            of = axis_name(variable, level)
            hint = at_other_levels(variable, level, value.text)
            what = unknown("code", value.text, known, of=of, hint=hint)
            refuse(self.names.source, value.at, what)
        return positions[0]

    def _value(self, value: Value) -> str:
        if not value.quoted:
            return value.text
        quote = '"' if "'" in value.text else "'"
        if quote in value.text:
            refuse(
                self.names.source,
                value.at,
                told(
                    "condition.both-quotes",
                    "A code with both kinds of quotation marks cannot be compared.",
                ),
            )
        return f"{quote}{value.text}{quote}"

    # -------------------------------------------------------------------- computed categories

    def _of_categories(self, one: Comparison, found: NamedThing) -> str:
        """A comparison with computed categories is one with the codes that they are made of."""
        assert found.recoded is not None
        categories = found.recoded.categories
        if one.operator in _SIDES:
            chosen = self._beside(one, categories, found.recoded.name)
        else:
            chosen = [self._category(value, categories, found.recoded.name) for value in one.values]
        leaves = np.logical_or.reduce([each.leaves for each in chosen])
        text = codes_condition(found.variable, leaves)
        return f"not ({text})" if one.operator in ("!=", "not in") else text

    def _category(self, value: Value, categories: Sequence[Category], name: str) -> Category:
        by_code = {category.code: category for category in categories}
        if value.text not in by_code:
            what = unknown("category", value.text, by_code, of=repr(name))
            refuse(self.names.source, value.at, what)
        return by_code[value.text]

    def _beside(self, one: Comparison, categories: Sequence[Category], name: str) -> list[Category]:
        value = one.values[0]
        limit = whole_number(value.text)
        numbers = [whole_number(each.code) for each in categories]
        if limit is None or None in numbers:
            refuse(
                self.names.source,
                value.at,
                told(
                    "recode.compared",
                    "The categories of {name!r} can be compared by {operator!r} only if all are"
                    " numbers; use = or IN.",
                    name=name,
                    operator=one.operator,
                ),
            )
        holds = _SIDES[one.operator]
        pairs = zip(categories, numbers, strict=True)
        chosen = [each for each, number in pairs if number is not None and holds(number, limit)]
        if not chosen:
            refuse(
                self.names.source,
                value.at,
                told(
                    "recode.no-category",
                    "No category of {name!r} is {operator} {value}.",
                    name=name,
                    operator=one.operator,
                    value=value.text,
                ),
            )
        return chosen


def axis_name(variable: Variable, level: Level) -> str:
    """A variable at a level, as users write it."""
    return variable.name if level.name == variable.leaf_level else f"{variable.name}@{level.name}"


def codes_of(variable: Variable, leaves: Mask) -> dict[str, list[str]]:
    """The fewest declared codes that hold a set of leaves, by level."""
    named = {level.name: level for level in variable.levels()}
    parts = covering(variable).cover(leaves) or ()
    if WHOLE in parts:
        coarsest = min(named.values(), key=lambda level: (len(level.codes), level.name))
        parts = tuple(Part(coarsest.name, at) for at in range(len(coarsest.codes)))
    codes: dict[str, list[str]] = {}
    for part in parts:
        codes.setdefault(part.level, []).append(named[part.level].codes[part.at].code)
    return codes


def codes_condition(variable: Variable, leaves: Mask) -> str:
    """The condition that a record has one of some leaves, by declared codes."""
    parts = []
    for level, codes in codes_of(variable, leaves).items():
        listed = ", ".join(f'"{code}"' if "'" in code else f"'{code}'" for code in codes)
        parts.append(f"{axis_name(variable, variable.level(level))} in ({listed})")
    return " or ".join(parts) if len(parts) == 1 else f"({' or '.join(parts)})"


def _bracketed(text: str) -> str:
    """A condition that keeps together beside others."""
    return f"({text})" if " or " in text else text
