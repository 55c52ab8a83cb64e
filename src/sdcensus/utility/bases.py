"""Over which cells means are taken, and where totals come from."""

from __future__ import annotations

from enum import StrEnum


class Base(StrEnum):
    """Over which cells the mean of distances is taken.

    ``nonzero``: over the cells with records. Empty cells that stay empty say nothing about noise,
    and most cells of a detailed census table are empty: with them in the mean, a method would
    look the better the emptier the table is. The figures of the founding study are of this kind.
    ``all``: over every cell.
    """

    NONZERO = "nonzero"
    ALL = "all"


class Source(StrEnum):
    """Where the published figure of a coarser table comes from.

    ``published``: the total that was published. ``summed``: the sum of the published interior
    cells, as a reader makes it who does not find the total.
    """

    PUBLISHED = "published"
    SUMMED = "summed"
