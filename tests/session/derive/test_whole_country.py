"""What a swap changes in tables of the whole country: what belongs to places, and nothing else."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sdcensus.demo import make_country, write_country
from sdcensus.model.cube.cube import Cube
from sdcensus.session.census.census import Census, load, open_store
from sdcensus.session.derive.derivation import derive
from sdcensus.testing.island import SECRET

Stores = tuple[Census, Census]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    """A census, and its derived store after a swap of three households in ten."""
    folder = tmp_path_factory.mktemp("whole")
    country = write_country(folder / "country", country=make_country(1500))
    load(country.schema, folder / "c.store", secret=SECRET)
    rules = {"risk_variables": "age,sex", "k": 3, "rate": 0.3}
    derive(folder / "c.store", folder / "swapped.store", "targeted-swap", rules, secret=SECRET)
    return open_store(folder / "c.store"), open_store(folder / "swapped.store")


def is_changed(stores: Stores, *axes: str) -> bool:
    before, after = (census.tabulate(*axes) for census in stores)
    assert isinstance(before, Cube)
    assert isinstance(after, Cube)
    return not np.array_equal(before.count, after.count)


def test_tables_of_persons_and_households_stay(stores: Stores) -> None:
    own = ("sex", "age@five_year", "ethnicity", "religion", "household_size", "tenure")
    for axes in combinations(own, 2):
        assert not is_changed(stores, *axes), axes
    assert is_changed(stores, "ed", "sex")


@pytest.mark.parametrize("of_place", ["rooms", "walls"])
def test_tables_with_what_belongs_to_the_place_change(stores: Stores, of_place: str) -> None:
    """A household leaves its dwelling and its building behind."""
    assert is_changed(stores, "sex", of_place)
