"""Keeping to earlier releases: closed stays closed, open stays open, or the reason is told."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.linked.elsewhere import NOTHING_ELSEWHERE, CellsElsewhere
from sdcensus.model.linked.tables import LinkedTables

Mask = npt.NDArray[np.bool_]

#: Cells that a message names.
_NAMED = 5


class Contradictions(StrEnum):
    """What is done where an earlier release does not allow what is needed now.

    ``REFUSE``: nothing is published, and the cells are named. ``CLOSE``: cells that were open
    before may be closed now; the office is told which.
    """

    REFUSE = "refuse"
    CLOSE = "close"


class Kept(NamedTuple):
    """What earlier releases ask for: cells that must be open, others closed, and remarks."""

    forced: Mask
    frozen: Mask
    remarks: tuple[str, ...]


def kept(
    tables: LinkedTables,
    earlier: CellsElsewhere,
    primary: Mask,
    contradictions: Contradictions = Contradictions.REFUSE,
    beside: CellsElsewhere = NOTHING_ELSEWHERE,
) -> Kept:
    """What earlier releases and other products ask of the cells of some tables.

    Args:
        tables: The tables.
        earlier: Which cells are shown and closed there.
        primary: Cells that may not be shown now.
        contradictions: What is done about primary cells that were open.
        beside: Which cells other products show and close. What they show is closed only where
            nothing else helps: who publishes compares products, refuses it, and names the tables.

    Raises:
        SpecError: A cell that may not be shown is open elsewhere.
    """
    both = np.flatnonzero(earlier.masks(tables)[0] & tables.published & primary)
    remarks: list[str] = []
    if both.size:
        names = _names(tables, both)
        if contradictions is Contradictions.REFUSE:
            raise SpecError(
                "Cells that may not be shown are open elsewhere, in an earlier release or another"
                f" table: {names}. Protect both tables together, by this method with the same"
                " settings; or leave one of them out; or close them even so, by decision:"
                ' contradictions = "close".'
            )
        remarks.append(f"Open before and closed now, since they may not be shown: {names}.")
    told = np.flatnonzero(beside.masks(tables)[0] & tables.published & primary)
    if told.size:
        remarks.append(f"Shown by another product, and may not be: {_names(tables, told)}.")
    forced = earlier.masks(tables)[0] & tables.published & ~primary
    if contradictions is Contradictions.CLOSE:
        # They may be closed, but only if nothing else helps: they come first in the order. So do
        # always those of other products.
        forced = np.zeros_like(forced)
    closed = earlier.also(beside).masks(tables)[1] & tables.published
    return Kept(forced, closed & ~primary, tuple(remarks))


def _names(tables: LinkedTables, cells: npt.NDArray[np.int64]) -> str:
    """Some cells by their codes, and how many more there are."""
    named = " | ".join(tables.name(cell) for cell in cells[:_NAMED].tolist())
    return f"{named} and {cells.size - _NAMED} more" if cells.size > _NAMED else named
