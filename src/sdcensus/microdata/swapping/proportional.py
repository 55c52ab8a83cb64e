"""Swapping with probability in proportion to the risk of a household."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.swapping.selection import select_in_proportion, shared_risk
from sdcensus.microdata.method import Draws
from sdcensus.microdata.swapping.criteria.members import combination_counts
from sdcensus.microdata.swapping.earlier import SwapPairs, joined
from sdcensus.microdata.swapping.pairing import find_pairs
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome
from sdcensus.microdata.swapping.units import NO_UNIT, UnitTable
from sdcensus.model.schema.variable import Entity

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Counters of the draws that put units in order, and of the start of the selection.
_ORDERING, _STARTING = 24, 25


def unit_risks(units: UnitTable, risk: Sequence[str]) -> Int64:
    """The risk of each unit from how rare its persons are, in parts of ``PARTS``."""
    counts = combination_counts(units.store, Entity.PERSON, risk)
    number = units.number_of(Entity.PERSON)
    held = number != NO_UNIT
    return shared_risk(number[held], counts[held], len(units))


def select_units(units: UnitTable, risks: Int64, rate: float, draws: Draws) -> Int64:
    """The units that are selected, in the order that was drawn for them.

    As many as the rate says of all units in an area, to the nearest whole number; all that may move
    and have a risk, if there are not so many.
    """
    number = round(Fraction(str(rate)) * units.settled)
    order = np.argsort(draws.words(units.digests, _ORDERING), kind="stable")
    order = order[units.movable[order]]
    start = int(draws.words(np.zeros(1, dtype=np.uint64), _STARTING)[0])
    return order[select_in_proportion(risks[order], number, start)]


def proportional_pairs(design: SwapDesign, selected: Int64, earlier: SwapPairs) -> SwapOutcome:
    """A partner for each selected unit that nobody has found before.

    Args:
        design: Who may exchange places with whom.
        selected: The units that look for a partner, in order.
        earlier: Pairs that are kept.
    """
    used = np.zeros(len(design.units), dtype=bool)
    used[earlier.touched] = True
    donors = design.order(0)
    parts, left = [earlier], selected
    for region in design.reach.regions[0]:
        pairs = find_pairs(design.rules(0, region), left, donors, used)
        parts.append(design.found(pairs, 0, region))
        left = pairs.failed
    lasting = left[~used[left]]
    every = joined(parts)
    return SwapOutcome(every, len(earlier), (lasting,), 0, len(every) + lasting.size)
