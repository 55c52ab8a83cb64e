"""How many swaps begin in each area, and the search for partners area by area."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.swapping.selection import PARTS, shared_out
from sdcensus.microdata.swapping.pairing import Pairs, Rules, find_pairs
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Allocation(StrEnum):
    """By what the number of swaps is shared out among areas."""

    EVEN = "even"
    SIZE_AND_RISK = "size-and-risk"


def area_shares(allocation: Allocation, units: Int64, at_risk: Int64) -> Int64:
    """The share of each area in the number of swaps, as whole numbers.

    Evenly: as many as it has units. By size and risk: half in proportion to 1 over the units of the
    area, so that small areas get more, and half in proportion to the share of its units at risk.

    Args:
        allocation: By what.
        units: How many units each area has.
        at_risk: How many of them are at risk.

    Examples:
        >>> area_shares(Allocation.EVEN, np.array([30, 10]), np.array([0, 0])).tolist()
        [30, 10]
        >>> shares = area_shares(Allocation.SIZE_AND_RISK, np.array([30, 10]), np.array([3, 3]))
        >>> (shares / shares.sum()).round(3).tolist()
        [0.25, 0.75]
    """
    if allocation is Allocation.EVEN:
        return units
    size = np.where(units > 0, PARTS // np.maximum(units, 1), 0)
    risk = at_risk * PARTS // np.maximum(units, 1)
    return sum((_scaled(part) for part in (size, risk)), np.zeros(units.size, dtype=np.int64))


def _scaled(part: Int64) -> Int64:
    """The same proportions with a sum near half of ``PARTS``; nothing where there is nothing."""
    total = int(part.sum())
    # Each is below 2**31, so that the product fits; what is lost is less than one part in each.
    return part * (PARTS // 2) // total if total else part


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Turns(Confidential):
    """Units that look for partners, area by area.

    Attributes:
        units: The units, those of one area behind each other, in the order in which they look.
        starts: Where each area begins among them.
        quotas: How many pairs each area begins.
    """

    units: Int64
    starts: Int64
    quotas: Int64

    def __repr__(self) -> str:
        return "<Turns: confidential>"


def turns_of(
    candidates: Int64, area: Int64, areas: int, shares: Int64, number: int, draw: int
) -> Turns:
    """Share a number of swaps out among areas.

    Args:
        candidates: The units that may begin one, in the order in which they are asked.
        area: The area of every unit, from 0.
        areas: How many areas there are.
        shares: In proportion to what.
        number: How many swaps.
        draw: 64 random bits, for what is left over when parts are rounded.
    """
    own = area[candidates]
    sizes = np.bincount(own, minlength=areas).astype(np.int64)
    order = np.argsort(own, kind="stable")
    quotas = shared_out(np.where(sizes > 0, shares, 0), number, sizes, draw)
    return Turns(units=candidates[order], starts=np.cumsum(sizes) - sizes, quotas=quotas)


def pair_by_area(
    rules: Rules,
    groups: Sequence[tuple[Int64, Int64]],
    donors: Int64,
    used: Mask,
    *,
    area: Int64,
    number: int,
    draws: Sequence[int],
) -> list[Pairs]:
    """Make a number of pairs that begin in areas in proportion, one group of units after another.

    Whoever finds no partner is replaced by the next of the area; what an area cannot begin is begun
    by units of the group anywhere, and what a group cannot begin, by the next group.

    Args:
        rules: Who may be whose partner.
        groups: The units that may begin a swap, in the order in which they are asked, and the
            shares of areas in the swaps that they begin.
        donors: The units that may be found, in the order in which they are offered.
        used: Which units are taken; those of new pairs are marked.
        area: The area of every unit, from 0 without gaps.
        number: How many pairs.
        draws: 64 random bits for each group.
    """
    rounds: list[Pairs] = []
    for (candidates, shares), draw in zip(groups, draws, strict=True):
        left = number - sum(map(len, rounds))
        free = candidates[~used[candidates]]
        turns = turns_of(free, area, shares.size, shares, left, draw)
        rounds.append(
            find_pairs(
                rules, turns.units, donors, used, turn_starts=turns.starts, quotas=turns.quotas
            )
        )
        left -= len(rounds[-1])
        failed = np.zeros(used.size, dtype=bool)
        failed[rounds[-1].failed] = True
        rest = free[~used[free] & ~failed[free]]
        if left > 0 and rest.size:
            rounds.append(find_pairs(rules, rest, donors, used, turn_starts=[0], quotas=[left]))
    return rounds
