"""The form in which ids are compared, and by which rule the links between files match.

Files write one id in several ways: with zeros in front in one and as a number in another, as
``1234.0``, in small and capital letters. Where a schema declares a form, an id is that form
everywhere: in links, and in the record keys that come from it. Where it declares none, ids are
taken as they are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

#: A text that is a whole number and nothing else, as data frames and workbooks write it.
WHOLE_NUMBER = r"^[0-9]+([.]0+)?$"
#: The end of such a text that says nothing.
EMPTY_FRACTION = r"[.]0+$"
#: Beyond this a float does not tell neighbouring whole numbers apart, so it is no id.
LARGEST_FLOAT_ID = 1 << 53


class LinkRule(StrEnum):
    """What had to be done so that an id of one file is one of another; each after those before."""

    AS_WRITTEN = "as written"
    WHOLE = "without the .0 of a decimal number"
    ZEROS = "after filling with zeros"
    LETTERS = "without regard to capital letters"


@dataclass(frozen=True, slots=True)
class IdForm:
    """How the parts of an id are written when ids are compared.

    Attributes:
        widths: For each part, how many digits a whole number is filled to with zeros in front; 0
            for a part that is taken as written. None at all where no part is changed.
        any_case: Whether small and capital letters from a to z are the same.
    """

    widths: tuple[int, ...] = ()
    any_case: bool = False

    @property
    def declared(self) -> bool:
        """Whether anything is changed at all."""
        return self.any_case or any(self.widths)

    def width(self, part: int) -> int:
        """How many digits whole numbers of a part have; 0 where it is taken as written."""
        return self.widths[part] if self.widths else 0

    @property
    def rules(self) -> tuple[LinkRule, ...]:
        """The rules by which ids can match, in the order in which they are tried."""
        by_number = (LinkRule.WHOLE, LinkRule.ZEROS) if any(self.widths) else ()
        return (LinkRule.AS_WRITTEN, *by_number, *([LinkRule.LETTERS] * self.any_case))

    def rule_text(self, rule: LinkRule) -> str:
        """A rule in words, with the number of digits where it has one."""
        digits = [str(width) for width in self.widths if width]
        filled = f"{LinkRule.ZEROS.value} to {' and '.join(digits)} digits"
        if rule is LinkRule.ZEROS:
            return filled
        return f"{filled} and {rule.value}" if rule is LinkRule.LETTERS and digits else rule.value


def plain_id(text: str, width: int, *, any_case: bool = False) -> str:
    """One part of an id in its form: the plain reference of what readers and engines do.

    Examples:
        >>> plain_id(" 7", 4), plain_id("0007.0", 4), plain_id("A7", 4), plain_id("7", 0)
        ('0007', '0007', 'A7', '7')
    """
    text = text.strip()
    if width and re.search(WHOLE_NUMBER, text, re.ASCII):
        text = re.sub(EMPTY_FRACTION, "", text).lstrip("0").rjust(width, "0")
    return "".join(sign.upper() if sign.isascii() else sign for sign in text) if any_case else text


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LinkMatches:
    """How the links from records of one kind to those of another match. Confidential.

    Attributes:
        units: The records that name another, such as "persons".
        parents: What they lie in, such as "households".
        columns: The columns that name it.
        form: The form in which ids are compared.
        matches: How many records found theirs by each rule, in the order of the rules.
        unmatched: How many name one that there is none of.
        unnamed: How many name none.
        alone: How many of the parents are named by nobody.
    """

    units: str
    parents: str
    columns: tuple[str, ...]
    form: IdForm
    matches: tuple[tuple[LinkRule, int], ...]
    unmatched: int
    unnamed: int
    alone: int

    def __str__(self) -> str:
        """One line, such as ``households of persons: 12 match as written, 3 do not match``."""
        by_rule = [
            f"{count:,} match {self.form.rule_text(rule)}"
            if rule is LinkRule.AS_WRITTEN
            else f"{count:,} {self.form.rule_text(rule)}"
            for rule, count in self.matches
            if count or rule is LinkRule.AS_WRITTEN
        ]
        if self.unmatched:
            by_rule.append(f"{self.unmatched:,} {_verb(self.unmatched, 'do')} not match")
        if self.unnamed:
            by_rule.append(f"{self.unnamed:,} {_verb(self.unnamed, 'name')} none")
        text = f"{self.parents} of {self.units}: {', '.join(by_rule)}"
        if self.alone:
            text += f"; {self.alone:,} {self.parents} without {self.units}"
        return text

    def __repr__(self) -> str:
        return f"<links of {self.units} to {self.parents}: confidential>"


def _verb(count: int, many: str) -> str:
    return many if count != 1 else {"do": "does", "name": "names"}[many]
