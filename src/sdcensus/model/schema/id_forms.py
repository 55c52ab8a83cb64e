"""The form in which ids are compared, and the rules by which one id is another.

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
    WHOLE = "whole"
    """Without the ``.0`` of a decimal number."""
    ZEROS = "zeros"
    """After filling with zeros in front."""
    LETTERS = "letters"
    """Without regard to capital letters."""


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


#: How owners of amounts are compared: whole numbers by their value, other ids as written.
OWNER_FORM = IdForm((1,))


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
