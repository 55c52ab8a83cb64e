"""Texts that no spreadsheet takes for a formula.

A label such as ``=HYPERLINK(...)`` or ``@SUM(...)`` is a text for us, and a program for whoever
opens the file. Labels come from schemas, and schemas from others.
"""

from __future__ import annotations

import re

#: Texts that begin like a formula, in the grammar that Python and Arrow share: with a sign that
#: begins one, or that is taken away before a spreadsheet looks. A single sign, such as the one for
#: no value, is no formula, and nor is a number. Apostrophes before it are part of a text that
#: looks as if it had been made plain already, and must come back as it was.
DANGEROUS = r"^'*[=+\-@\t\r\n](.|\n|\r)"
NUMBER = r"^'*[+-][0-9]+([.,][0-9]+)*%?$"
_DANGEROUS, _NUMBER = re.compile(DANGEROUS), re.compile(NUMBER)


def plain_cell(text: str) -> str:
    """A text as it stands in a cell: behind an apostrophe if it could be a formula.

    Examples:
        >>> plain_cell("=1+1"), plain_cell("- of which men"), plain_cell("-12"), plain_cell("-")
        ("'=1+1", "'- of which men", '-12', '-')
    """
    dangerous = _DANGEROUS.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if dangerous else text


def text_of_cell(cell: str) -> str:
    """The text that ``plain_cell`` made a cell of.

    Examples:
        >>> text_of_cell("'=1+1"), text_of_cell("'t Zand")
        ('=1+1', "'t Zand")
    """
    return cell[1:] if cell[:1] == "'" and plain_cell(cell[1:]) == cell else cell
