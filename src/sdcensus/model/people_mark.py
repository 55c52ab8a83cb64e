"""A mark of the people of a census, by which the same people are known under another name.

Record keys come from identities, and identities from the code of the census: whoever renames a
census draws all its noise anew, which is one more look that nobody has named. The mark depends on
what the records say only: not on their keys, their order, or the name of the census.
"""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.errors import SpecError

#: How many signs the outline of a census has.
SIGNS = 128
#: Outlines that differ in at most this share of their signs are of the same people. If a share c
#: of the records of a census is changed, arccos(1 - c) / pi of the signs are: .2 is reached at
#: about a fifth of the records. Outlines of different people differ in half of them, and in so
#: few only once in 10^12 cases.
SAME_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class PeopleMark:
    """Who the records of a census are about; no count, no record and no key can be read from it.

    Attributes:
        exact: A digest of what all records say, in any order.
        outline: Signs of random sums over all records: few records change few of them.
    """

    exact: str
    outline: str

    def __str__(self) -> str:
        return f"{self.exact}:{self.outline}"

    @classmethod
    def parse(cls, text: str) -> PeopleMark | None:
        """Read what ``str`` made; ``None`` of an empty text."""
        if not text:
            return None
        exact, colon, outline = text.partition(":")
        if not colon or len(outline) != SIGNS // 4:
            raise SpecError("The mark of the people of a census is damaged.")
        return cls(exact, outline)

    def is_nearly(self, other: PeopleMark) -> bool:
        """Whether both are about the same people, but for some that were corrected."""
        if self.exact == other.exact:
            return True
        differ = int(self.outline, 16) ^ int(other.outline, 16)
        return differ.bit_count() <= SAME_SHARE * SIGNS
