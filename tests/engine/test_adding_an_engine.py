"""An engine as a newcomer would write one: the protocol, and the suite that every engine passes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import ClassVar

from hypothesis import given

from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Can, Engine, Tabulate, check_ability
from sdcensus.model.cube.cube import Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.schema.variable import Entity
from sdcensus.testing.conformance import check_engine, small_store
from sdcensus.testing.small_census import SmallCensus
from sdcensus.testing.strategies import TableRequest, censuses_with_tables


class RecordingEngine:
    """Answers what it is asked, and remembers it: a name, what it can do, two things to say."""

    name: ClassVar[str] = "recording"
    can: ClassVar[frozenset[Can]] = frozenset(Can) - {Can.LARGER_THAN_MEMORY}

    def __init__(self, behind: Engine) -> None:
        self._behind = behind
        self.requests: list[Tabulate] = []

    @property
    def origin(self) -> Origin:
        return self._behind.origin

    def tabulate(self, request: Tabulate) -> AnyCube:
        check_ability(self, request)
        self.requests.append(request)
        return self._behind.tabulate(request)


Drawn = tuple[SmallCensus, TableRequest]


@given(censuses_with_tables())
def test_an_engine_of_ones_own_passes_the_suite_of_all(drawn: Drawn) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, places = small_store(Path(folder) / "census.store", census)
        engine = RecordingEngine(MemoryEngine(store, threads=1))
        households = places.get(Entity.HOUSEHOLD)
        check_engine(engine, census, table, schema=store.schema, households=households)
        assert len(engine.requests) == 1
        del store, engine  # Windows removes no file that is mapped
