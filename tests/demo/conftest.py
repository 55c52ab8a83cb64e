from __future__ import annotations

import pytest

from sdcensus.demo import make_country, write_country
from sdcensus.demo.census import DemoCensus
from tests.demo.reading import Written


@pytest.fixture(scope="session")
def island(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A country of 30,000 persons, written as csv and read again."""
    folder = tmp_path_factory.mktemp("island") / "country"
    return Written(write_country(folder, country=make_country(30_000), seed=11))


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> DemoCensus:
    """A country that is large enough to count rare things; never written."""
    return DemoCensus(make_country(190_000), seed=5)
