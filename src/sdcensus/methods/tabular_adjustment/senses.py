"""Whether a cell goes up or down, and which of equally near tables is taken: drawn from the secret.

If a rule that everybody knows decided, it could be turned round: where every 2 goes to 3 and no 2
goes to 0, a published 0 is no 2. Draws depend on what a cell stands for and not on where it stands:
the same cell has the same draws in every table and in every order of axes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.methods.tabular_adjustment.requirements import Int64, Mask, Requirements
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.secret import Purpose, Secret

UInt64 = npt.NDArray[np.uint64]

#: Bits of the draws that decide among tables that are equally near.
TIE_BITS = 8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Draws:
    """What is drawn for every cell.

    Attributes:
        chance: A number from 0 to below 2**32.
        rise, fall: What one unit more and one unit less costs among equally near tables.
        of_sets: Draws for sets of records, from what they stand for.
    """

    chance: Int64
    rise: Int64
    fall: Int64
    of_sets: Callable[[UInt64], UInt64]

    def __repr__(self) -> str:
        return "<Draws: confidential>"

    @classmethod
    def of(cls, tables: LinkedTables, secret: Secret, key_version: int) -> Draws:
        """Draw for the cells of some tables."""
        key = secret.sub_key(Purpose.ADJUST, key_version)
        words: UInt64 = siphash24(key, np.ascontiguousarray(tables.hashes))
        low = np.uint64((1 << TIE_BITS) - 1)
        return cls(
            (words >> np.uint64(32)).astype(np.int64),
            (words & low).astype(np.int64),
            (words >> np.uint64(TIE_BITS) & low).astype(np.int64),
            lambda definitions: siphash24(key, np.ascontiguousarray(definitions.reshape(-1, 1))),
        )


def drawn_senses(asked: Requirements, draws: Draws) -> Mask:
    """For each cell whether it goes up, drawn so that it is the true count on average.

    A cell that goes down by 1 or up by 2 goes up once in three times. One that has a single way
    takes it.
    """
    distance = asked.down + asked.up
    rises = draws.chance * distance < asked.down << 32
    senses: Mask = asked.can_rise & (rises | ~asked.can_fall)
    return senses


def alternating(asked: Requirements, draws: Draws) -> Mask:
    """For each cell whether it goes up: by turns, in the order of size, so that sums stay near."""
    both = np.flatnonzero(asked.can_fall & asked.can_rise)
    order = both[np.lexsort((draws.chance[both], asked.counts[both]))]
    senses: Mask = asked.can_rise & ~asked.can_fall
    senses[order[1::2]] = True
    return senses
