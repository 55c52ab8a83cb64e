"""Going through the words of a program one by one; mistakes say what was found and expected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NoReturn

from sdcensus.errors import both, told
from sdcensus.model.spec.predicate import Name, Value
from sdcensus.session.commands.habits import instead
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.syntax import Label, Number
from sdcensus.session.commands.tokens import Token, TokenKind, tokens

#: A number of more digits is none of this language.
_MOST_DIGITS = 15
#: Nothing that is longer is near a word of the language.
_LONGEST_COMPARED = 40


class TokenReader:
    """A place among the words of a program."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokens(source)
        self.place = 0

    @property
    def next(self) -> Token:
        """The word that comes next."""
        return self.tokens[self.place]

    def after(self, count: int = 1) -> Token:
        """A word behind the next one."""
        return self.tokens[min(self.place + count, len(self.tokens) - 1)]

    def step(self) -> Token:
        """Take the next word; the end stays where it is."""
        token = self.next
        if token.kind is not TokenKind.END:
            self.place += 1
        return token

    def fail(self, expected: str, *, known: Iterable[str] = (), words: str = "") -> NoReturn:
        """Say what was found here and what was expected, and which of ``known`` is near it.

        Args:
            expected: What was expected.
            known: Words that may have been meant.
            words: What was found, where that is more than one word.
        """
        token = self.next
        text = told(
            "program.expected",
            "Found {found}; expected {expected}.",
            found=token.found,
            expected=expected,
        )
        near: list[str] = []
        habit = instead(token.text) if token.kind is TokenKind.WORD else None
        if habit is not None:
            refuse(self.source, token.at, both(text, habit))
        if token.kind is TokenKind.WORD:
            meant = (words or token.text).upper()[:_LONGEST_COMPARED]
            near = get_close_matches(meant, list(known), n=2, cutoff=0.6)
        meant_one = told("program.near", "Did you mean {near}?", near=listed(near))
        refuse(self.source, token.at, both(text, meant_one if near else None))

    def keyword(self, *words: str) -> Token | None:
        """Take one of these words of the language, if it comes next."""
        return self.step() if self.next.keyword in words else None

    def need(self, *words: str) -> Token:
        """Take one of these words of the language."""
        return self.keyword(*words) or self.fail(listed(words), known=words)

    def mark(self, *marks: str) -> Token | None:
        """Take one of these signs, if it comes next."""
        token = self.next
        return self.step() if token.kind is TokenKind.MARK and token.text in marks else None

    def need_mark(self, mark: str, expected: str = "") -> Token:
        """Take a sign."""
        return self.mark(mark) or self.fail(expected or repr(mark))

    def name(self, what: str) -> Name:
        """A name that is none of the words of the language."""
        token = self.next
        if token.keyword:
            refuse(
                self.source,
                token.at,
                told(
                    "program.reserved",
                    "Found {word!r}, a word of the language; expected {expected}. A variable of"
                    " that name is written with the kind of unit before it, such as {example}.",
                    word=token.text,
                    expected=what,
                    example=f"person.{token.text.lower()}",
                ),
            )
        return self.word(what)

    def word(self, what: str) -> Name:
        """Any word, in places where words of the language cannot stand."""
        token = self.next
        if token.kind is not TokenKind.WORD:
            self.fail(what)
        self.step()
        return Name(token.text, token.at)

    def label(self, what: str) -> Label:
        """A text in quotes."""
        token = self.next
        if token.kind is not TokenKind.TEXT:
            self.fail(told("expected.in-quotes", "{what} in quotes", what=what))
        self.step()
        return Label(token.text, token.at)

    def number(self, what: str) -> Number:
        """A whole number."""
        token = self.next
        if token.kind is not TokenKind.NUMBER or len(token.text) > _MOST_DIGITS:
            self.fail(what)
        self.step()
        return Number(int(token.text), token.at)

    def value(self) -> Value | None:
        """A code or number, if one comes next."""
        token = self.next
        if token.kind is TokenKind.TEXT:
            self.step()
            return Value(token.text, quoted=True, at=token.at)
        negative = token.kind is TokenKind.MARK and token.text == "-"
        if negative and self.after().kind is TokenKind.NUMBER:
            self.step()
            return Value(f"-{self.step().text}", at=token.at)
        if token.kind is TokenKind.NUMBER:
            self.step()
            return Value(token.text, at=token.at)
        return None

    def need_value(self) -> Value:
        """A code or number."""
        value = self.value()
        if value is None:
            token = self.next
            what = told("expected.value", "a code or number")
            if token.kind is TokenKind.WORD and not token.keyword:
                what = told(
                    "expected.value-or-word",
                    "a code or number (put {word!r} in quotes if it is a code)",
                    word=token.text,
                )
            self.fail(what)
        return value


def listed(words: Sequence[str]) -> str:
    """Words of which one is expected.

    Examples:
        >>> listed(["OF", "BY", "FOR"])
        'OF, BY or FOR'
    """
    if len(words) < 2:
        return "".join(words)
    return told("either", "{some} or {last}", some=tuple(words[:-1]), last=words[-1])
