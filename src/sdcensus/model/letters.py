"""Letters as somebody searches for them: without accents, small, in their plainest form."""

from __future__ import annotations

import unicodedata

#: Letters that are one sign and no letter with an accent, as people write them without it.
_ONE_SIGN = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th"}
    | {"\N{LATIN SMALL LETTER DOTLESS I}": "i", "\N{RIGHT SINGLE QUOTATION MARK}": "'"}
)


def plain_letters(text: str) -> str:
    """The same for texts that differ in accents, case or typographic forms only.

    The page of the table builder does the same (``static/shared/folding.js``), to find alike.

    Examples:
        >>> plain_letters("Aysén"), plain_letters("ÑUÑOA"), plain_letters("Straße")
        ('aysen', 'nunoa', 'strasse')
    """
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    letters = "".join(sign for sign in apart if not unicodedata.combining(sign))
    return unicodedata.normalize("NFC", letters.translate(_ONE_SIGN))
