"""The rarest record of each unit, against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.swapping.likes import NONE_THERE, fewest_alike


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_rarest_record_of_each_unit(seed: int) -> None:
    draw = np.random.default_rng(seed)
    records, units = int(draw.integers(0, 60)), int(draw.integers(1, 12))
    kinds, places = draw.integers(0, 4, records), draw.integers(0, 8, records)
    owner = draw.integers(-1, units, records)
    areas = np.stack([np.arange(8) // 4, np.arange(8) // 2, np.arange(8)])
    fewest, most = fewest_alike(kinds, places, owner, areas, count=units)
    for level, area in enumerate(areas):
        groups = list(zip(kinds.tolist(), area[places].tolist(), strict=True))
        counts = Counter(groups)
        assert most[level] == max(counts.values(), default=0)
        for unit in range(units):
            own = [counts[group] for group, at in zip(groups, owner, strict=True) if at == unit]
            assert fewest[level, unit] == min(own, default=NONE_THERE)
