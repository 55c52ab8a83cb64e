"""Random swapping: households that are drawn, or marked by small cells, exchange their places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.swapping.criteria.allocation import Allocation, area_shares, pair_by_area
from sdcensus.microdata.swapping.earlier import SwapPairs, joined
from sdcensus.microdata.swapping.levels import numbered
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome
from sdcensus.microdata.swapping.units import UnitTable

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Counters of the draws by which units begin a swap, and by which parts of swaps are rounded.
_BEGINNING, _SHARING = 22, 23


def random_pairs(
    design: SwapDesign,
    flagged: Mask,
    *,
    allocation: Allocation,
    wanted: int,
    earlier: SwapPairs,
) -> SwapOutcome:
    """Pairs that begin with units in an order that is drawn, flagged ones first.

    Args:
        design: Who may exchange places with whom.
        flagged: The units that begin before all others.
        allocation: By what the number of swaps is shared out among areas.
        wanted: How many pairs; never more.
        earlier: Pairs that are kept, and count.
    """
    units = design.units
    used = np.zeros(len(units), dtype=bool)
    used[earlier.touched] = True
    area, _ = numbered(design.levels.areas(0, units.leaf))
    order = np.argsort(design.draws.words(units.digests, _BEGINNING), kind="stable")
    order = order[units.movable[order]]
    groups = _groups(order, flagged, area, units, allocation)
    starts = [
        int(design.draws.words(np.zeros(1, dtype=np.uint64), _SHARING, number)[0])
        for number in range(len(groups))
    ]
    donors = design.order(0)
    parts, failed = [earlier], np.zeros(len(units), dtype=bool)
    for region in design.reach.regions[0]:
        rounds = pair_by_area(
            design.rules(0, region),
            groups,
            donors,
            used,
            area=area,
            number=wanted - sum(map(len, parts)),
            draws=starts,
        )
        parts += [design.found(pairs, 0, region) for pairs in rounds]
        for pairs in rounds:
            failed[pairs.failed] = True
    lasting = np.flatnonzero(failed & ~used)
    return SwapOutcome(joined(parts), len(earlier), (lasting,), 0, wanted)


def _groups(
    order: Int64, flagged: Mask, area: Int64, units: UnitTable, allocation: Allocation
) -> list[tuple[Int64, Int64]]:
    """Who begins a swap, one group after the other, with the shares of areas."""
    areas = int(area.max(initial=-1)) + 1
    sizes = np.bincount(area[units.placed], minlength=areas).astype(np.int64)
    risky = np.bincount(area[flagged & units.placed], minlength=areas).astype(np.int64)
    first, rest = order[flagged[order]], order[~flagged[order]]
    if allocation is Allocation.SIZE_AND_RISK:
        return [(np.concatenate([first, rest]), area_shares(allocation, sizes, risky))]
    # Where those who are flagged live is where swaps begin, as long as there are any.
    return [(first, risky), (rest, sizes)]
