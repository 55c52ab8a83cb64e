"""The order of donors: who has twice the risk is offered first twice as often."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.microdata.swapping.risk import NOT_AT_RISK, UnitRisk, draw_waits
from tests.microdata.swapping.test_targeted import DRAWS

PAIRS = 40_000


def first_share(risk: UnitRisk) -> float:
    """How often the first of two neighbours is offered before the second."""
    waits = draw_waits(DRAWS.words(np.arange(2 * PAIRS, dtype=np.uint64) << np.uint64(32), 1))
    order = risk.order(0, waits)
    assert np.array_equal(np.sort(order), np.arange(2 * PAIRS))
    place = np.argsort(order)
    return float((place[0::2] < place[1::2]).mean())


@pytest.mark.parametrize(("rare", "common"), [(1, 1), (1, 2), (2, 3), (1, 9)])
def test_donors_come_in_proportion_to_their_risk(rare: int, common: int) -> None:
    """Accepted is the probability of the sample; rejected are those of risks a tenth off."""
    level = np.full(2 * PAIRS, NOT_AT_RISK)
    counted = UnitRisk(level, np.tile([rare, common], PAIRS)[None].astype(np.int32), None)
    given = UnitRisk(level, None, np.tile([common, rare], PAIRS)[None].astype(np.int64) * 1000)
    wanted = common / (rare + common)
    error = np.sqrt(wanted * (1 - wanted) / PAIRS)
    for share in (first_share(counted), first_share(given)):
        assert abs(share - wanted) < 4.5 * error
        for wrong in (1.1, 1 / 1.1):
            near = wrong * common / (rare + wrong * common)
            assert abs(share - near) > 4.5 * error
