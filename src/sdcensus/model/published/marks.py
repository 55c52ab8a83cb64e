"""What stands beside a published number, or in its place. Public."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import numpy.typing as npt

from sdcensus.model.text import Text


class Mark(IntEnum):
    """Why a published cell has no number, or what is to be known about the one that it has.

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


#: The marks that stand in the place of a number.
IN_PLACE = tuple(mark for mark in Mark if not mark.has_number)


def marks_in(marks: npt.NDArray[np.uint8] | None) -> tuple[Mark, ...]:
    """The marks that stand in some cells.

    Examples:
        >>> [mark.name for mark in marks_in(np.array([0, 7, 1, 7], dtype=np.uint8))]
        ['WITHHELD', 'NOT_BROKEN_DOWN']
    """
    if marks is None:
        return ()
    present = set(np.unique(marks).tolist())
    return tuple(mark for mark in Mark if mark and mark.value in present)


_SIGNS = ("", "c", "..", ".", ":", "( )", "populated", "k")
