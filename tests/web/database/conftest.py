from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sdcensus.web.database import Database
from tests.web.database.places import Place
from tests.web.postgres import Server, running_server

NewPlace = Callable[[], Place]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    with running_server() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def new_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewPlace]:
    """Makes empty databases, in a file or on a server."""
    if request.param == "sqlite":
        numbers = iter(range(100))
        yield lambda: Place(str(tmp_path / f"builder{next(numbers)}.db"))
        return
    server: Server = request.getfixturevalue("postgres_server")
    used: list[str] = []

    def new() -> Place:
        used.append(server.new_database())
        return Place(used[-1])

    yield new
    server.free.extend(used)


@pytest.fixture
def place(new_place: NewPlace) -> Place:
    return new_place()


@pytest.fixture
def database(place: Place) -> Iterator[Database]:
    with place.open() as opened:
        yield opened
