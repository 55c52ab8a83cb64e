"""What stands beside a delivered number, or in its place. Public."""

from __future__ import annotations

from enum import IntEnum

from sdcensus.model.text import Text


class Mark(IntEnum):
    """Why a delivered cell has no number, or what is to be known about the one that it has.

    Those that are also a ``Flag`` have its values, so that flags of a table are marks as they are.
    Of several that could stand in the place of a sum, the largest does: that a group is not broken
    down tells nothing about the values below it.
    """

    NONE = 0
    WITHHELD = 1
    BELOW_THRESHOLD = 2
    REFUSED = 3
    NOT_AVAILABLE = 4
    LOW_RELIABILITY = 5
    POPULATED = 6
    NOT_BROKEN_DOWN = 7

    @property
    def has_number(self) -> bool:
        """Whether a number stands in the cell."""
        return self in (Mark.NONE, Mark.LOW_RELIABILITY, Mark.POPULATED)

    @property
    def sign(self) -> str:
        """What files show: instead of a number, or beside it in a column of its own."""
        return _SIGNS[self.value]

    @property
    def meaning(self) -> Text:
        """What the sign means, for a legend."""
        return Text.named(f"marks.{self.name.lower()}") if self else Text()


_SIGNS = ("", "c", "..", ".", ":", "( )", "populated", "k")
