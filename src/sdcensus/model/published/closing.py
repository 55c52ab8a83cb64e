"""What a method that withholds cells asks of all other products."""

from __future__ import annotations

from enum import StrEnum


class Closing(StrEnum):
    """What a method asks of all other products for the cells that it withholds.

    ``CELLS``: none of them shows such a cell. ``SUMS``: nor can it be computed from what they show.
    """

    NOTHING = ""
    CELLS = "cells"
    SUMS = "sums"
