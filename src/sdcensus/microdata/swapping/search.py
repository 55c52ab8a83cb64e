"""Who is exchanged: everybody at risk from the coarsest level to the finest, then the rate.

The algorithm is that of targeted record swapping (sdcMicro, mu-ARGUS), with what surprises there
mended: partners lie inside a region by the level at risk; a unit that found nobody can still be
found, but never from inside its own area; those at risk choose before those who fill up the rate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.microdata.method import Draws
from sdcensus.microdata.swapping.earlier import SwapPairs, joined
from sdcensus.microdata.swapping.levels import AreaLevels
from sdcensus.microdata.swapping.pairing import Pairs, Places, Rules, find_pairs
from sdcensus.microdata.swapping.profiles import Profile
from sdcensus.microdata.swapping.rate import area_digests, spread
from sdcensus.microdata.swapping.reach import Reach, region_name
from sdcensus.microdata.swapping.risk import NOT_AT_RISK, UnitRisk
from sdcensus.microdata.swapping.units import UnitTable
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Level

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SwapDesign(Confidential):
    """Everything that decides who exchanges places with whom.

    Attributes:
        units: The units that move.
        levels: The levels at which they may be at risk, from coarse to fine.
        profiles: In which they are alike, in this order.
        risk: How much they are at risk.
        waits: An exponential waiting time for each: the lottery.
        reach: Where partners lie, by level.
        draws: Further random numbers.
        places: Where units are, for a largest distance.
        farthest: The largest distance in metres.
        values: What each unit would give, where partners must differ in it.
    """

    units: UnitTable
    levels: AreaLevels
    profiles: tuple[Profile, ...]
    risk: UnitRisk
    waits: UInt64
    reach: Reach
    draws: Draws
    places: Places | None = None
    farthest: int | None = None
    values: Int64 | None = None

    def rules(self, level: int, region: Level | None) -> Rules:
        """Who may be whose partner for units at risk at a level."""
        leaf = self.units.leaf
        return Rules(
            profiles=self.profiles,
            area=self.levels.areas(level, leaf),
            values=self.values,
            region=None if region is None else region.group_array[leaf],
            places=self.places,
            farthest=self.farthest,
        )

    def found(self, pairs: Pairs, level: int, region: Level | None) -> SwapPairs:
        """Pairs with the level whose areas they left, and the region in which they lie."""
        names = np.full((2, len(pairs)), self.levels.names[level], dtype=object)
        names[1] = region_name(region)
        return SwapPairs(pairs.initiators, pairs.partners, names[0], pairs.profiles, names[1])

    def order(self, level: int) -> Int64:
        """The units that may move, in the order of their draws at a level."""
        order = self.risk.order(level, self.waits)
        return order[self.units.movable[order]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SwapOutcome(Confidential):
    """Who exchanged places.

    Attributes:
        pairs: All pairs, those that were kept first.
        kept: How many of them are earlier ones.
        failed: The units at risk that found no partner, level by level.
        passed: How many units were asked to fill up the rate, and found no partner.
        wanted: How many pairs the rate asks for.
    """

    pairs: SwapPairs
    kept: int
    failed: tuple[Int64, ...]
    passed: int
    wanted: int

    @property
    def short(self) -> bool:
        """Whether there are fewer pairs than the rate asks for."""
        return len(self.pairs) < self.wanted


def by_area(units: Int64, area: Int64) -> Int64:
    """Units area by area, in each as they were."""
    keys = area[units].astype(np.uint64)
    _, order = sort_cells(keys, largest=int(keys.max(initial=0)))
    return units[order]


class _Search(Confidential):
    """The state of one search: who is taken, and the pairs so far."""

    def __init__(self, design: SwapDesign, earlier: SwapPairs) -> None:
        self.design = design
        self.used = np.zeros(len(design.units), dtype=bool)
        self.used[earlier.touched] = True
        self.parts = [earlier]

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return sum(len(part) for part in self.parts)

    def pairs(
        self,
        level: int,
        region: Level | None,
        initiators: Int64,
        donors: Int64,
        turns: Int64 | None = None,
        quotas: Int64 | None = None,
    ) -> Pairs:
        design = self.design
        rules = design.rules(level, region)
        pairs = find_pairs(rules, initiators, donors, self.used, turn_starts=turns, quotas=quotas)
        self.parts.append(design.found(pairs, level, region))
        return pairs

    def at_risk(self, level: int, donors: Int64, failed: Mask) -> Int64:
        """Exchange who is at risk at a level; those who found nobody."""
        design = self.design
        risky = donors[(design.risk.level[donors] == level) & ~self.used[donors]]
        area = design.levels.areas(level, design.units.leaf)
        left = by_area(risky, area)
        for region in design.reach.regions[level]:
            left = self.pairs(level, region, left, donors).failed
        failed[left] = True
        return left

    def fill(self, wanted: int, donors: Int64, failed: Mask) -> int:
        """Exchange others until there are as many pairs as the rate asks for.

        Areas get shares of the pairs in proportion to their units; pairs of those at risk count. If
        an area cannot have its share, others have more.

        Returns:
            How many were asked and found nobody.
        """
        design = self.design
        finest = len(design.levels) - 1
        area = design.levels.areas(finest, design.units.leaf)
        quotas = self._quotas(wanted, area)
        passed = np.zeros(len(design.units), dtype=bool)
        starts_of = np.arange(quotas.size)
        for region in design.reach.regions[finest]:
            if not quotas.any():
                break
            pool = by_area(donors[~self.used[donors] & ~failed[donors]], area)
            turns = np.searchsorted(area[pool], starts_of)
            pairs = self.pairs(finest, region, pool, donors, turns, quotas)
            quotas = quotas - np.bincount(area[pairs.initiators], minlength=quotas.size)
            passed[pairs.failed] = True
        for region in design.reach.regions[finest]:
            if self.count >= wanted:
                break
            pool = donors[~self.used[donors] & ~failed[donors]]
            rest = np.array([wanted - self.count])
            pairs = self.pairs(finest, region, pool, donors, np.array([0]), rest)
            passed[pairs.failed] = True
        return int((passed & ~self.used).sum())

    def _quotas(self, wanted: int, area: Int64) -> Int64:
        design = self.design
        level = design.levels.levels[-1]
        digests = area_digests([code.code for code in level.codes])
        sizes = np.bincount(area[design.units.placed], minlength=len(level.codes))
        targets = spread(wanted, sizes, digests, design.draws)
        initiated = np.bincount(area[joined(self.parts).initiators], minlength=targets.size)
        missing = np.maximum(targets - initiated, 0)
        return spread(max(wanted - self.count, 0), missing, digests, design.draws)


def search_pairs(
    design: SwapDesign, wanted: int, earlier: SwapPairs, progress: Progress
) -> SwapOutcome:
    """Find pairs for everybody at risk, and more until there are as many as are wanted.

    Args:
        design: Who may exchange places with whom.
        wanted: How many pairs the rate asks for. Those at risk are exchanged beyond it.
        earlier: Pairs that are kept.
        progress: Told how far it is.
    """
    search = _Search(design, earlier)
    failed = np.zeros(len(design.units), dtype=bool)
    failures = []
    for level in range(len(design.levels)):
        progress("looking for partners", level / len(design.levels))
        donors = design.order(level)
        failures.append(search.at_risk(level, donors, failed))
    passed = search.fill(wanted, donors, failed)
    # Who found nobody may have been found by others meanwhile.
    lasting = tuple(left[~search.used[left]] for left in failures)
    return SwapOutcome(joined(search.parts), len(earlier), lasting, passed, wanted)


def qualifying(design: SwapDesign, pairs: SwapPairs) -> SwapPairs:
    """Those of earlier pairs that could be found again: by the same profile, level and region."""
    units, keep = design.units, np.zeros(len(pairs), dtype=bool)
    both = units.movable[pairs.initiators] & units.movable[pairs.partners]
    for level, name in enumerate(design.levels.names):
        for region in design.reach.regions[level]:
            same = both & (pairs.levels == name) & (pairs.regions == region_name(region))
            rules = design.rules(level, region)
            for number, profile in enumerate(design.profiles):
                at = np.flatnonzero(same & (pairs.profiles == number))
                first, second = pairs.initiators[at], pairs.partners[at]
                keep[at] = profile.similar(first, second) & _allowed(rules, first, second)
    return pairs.chosen(keep)


def _allowed(rules: Rules, first: Int64, second: Int64) -> Mask:
    allowed: Mask = rules.area[first] != rules.area[second]
    if rules.values is not None:
        allowed &= rules.values[first] != rules.values[second]
    if rules.region is not None:
        allowed &= rules.region[first] == rules.region[second]
    if rules.places is not None and rules.farthest is not None:
        across = rules.places.x[first] - rules.places.x[second]
        along = rules.places.y[first] - rules.places.y[second]
        allowed &= across * across + along * along <= rules.farthest**2
    return allowed


def at_risk_by_level(design: SwapDesign) -> Sequence[Int64]:
    """The units that may move and are at risk, by the coarsest level at which they are."""
    risky = np.where(design.units.movable, design.risk.level, NOT_AT_RISK)
    return [np.flatnonzero(risky == level) for level in range(len(design.levels))]
