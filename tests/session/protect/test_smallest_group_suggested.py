"""The smallest group to begin with: larger than any private household after any deviation."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.per_unit import PerUnitDeviations
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.rounding import RandomRounding
from sdcensus.model.schema.variable import Entity
from sdcensus.risk.groups.broken_down import LARGEST_GROUP, LARGEST_HOUSEHOLD
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import (
    WITHOUT_HOUSEHOLDS,
    group_claim,
    largest_private_household,
    suggested_smallest_group,
)
from sdcensus.testing.conformance import small_store
from sdcensus.testing.island import SECRET, island
from sdcensus.testing.small_census import SmallCensus
from sdcensus.testing.strategies import conditions, small_censuses


@given(st.data(), small_censuses(most_units=20))
def test_it_is_larger_than_every_private_household(
    data: st.DataObject, census: SmallCensus
) -> None:
    schema = census.schema
    if not any(entity.entity is Entity.HOUSEHOLD for entity in schema.entities):
        return
    usable = [one for one in schema.usable(Entity.HOUSEHOLD) if one.entity is Entity.HOUSEHOLD]
    where = data.draw(conditions(usable)) if usable else None
    homes = Counter(
        one.parents[Entity.HOUSEHOLD]
        for one in census.units[Entity.PERSON]
        if one.parents[Entity.HOUSEHOLD] is not None
    )
    chosen = [
        homes[at]
        for at, one in enumerate(census.units[Entity.HOUSEHOLD])
        if where is not None and where.holds(one.leaves)
    ]
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", census)
        held = Census(store.schema, store)
        assert largest_private_household(held) == max(
            [1, *(home for home in homes.values() if home <= LARGEST_HOUSEHOLD)]
        )
        if where is not None and chosen:
            largest = largest_private_household(held, where.text)
            assert largest == max(chosen)
            method = CellKey(scheme("CP4"), SECRET)
            size = suggested_smallest_group(held, method, private=where.text)
            assert group_claim(method, size).units == max(LARGEST_GROUP, largest)
            assert suggested_smallest_group(held, 4, private=where.text) == size
        elif where is not None:
            with pytest.raises(SpecError, match="No household is a private one"):
                largest_private_household(held, where.text)
        del store, held  # Windows removes no file that is mapped


def test_the_deviation_is_added() -> None:
    """Without households in the census a size stands in for theirs."""
    census = island()
    for method, largest in ((CellKey(scheme("CP3"), SECRET), 3), (RandomRounding(5), 4)):
        assert suggested_smallest_group(census, method) == WITHOUT_HOUSEHOLDS + largest + 1
    with pytest.raises(SpecError, match="far from the truth"):
        suggested_smallest_group(census, PerUnitDeviations(2, secret=SECRET, totals="own"))
    with pytest.raises(SpecError, match="no households"):
        suggested_smallest_group(census, RandomRounding(5), private="sex == 1")
