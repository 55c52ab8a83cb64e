from __future__ import annotations

import pytest

from sdcensus.web.database import COMMAND_LINE, Account, Database
from tests.web.database.places import PASSWORD, Place


@pytest.fixture
def ana(database: Database) -> Account:
    return database.accounts.add("Ana", "registered", PASSWORD, by=COMMAND_LINE)


def test_a_session_is_found_by_its_id_alone(database: Database, ana: Account) -> None:
    started, other = database.sessions.start(ana), database.sessions.start(ana)
    assert started.id != other.id
    found = database.sessions.find(started.id)
    assert found is not None
    assert found.account == ana
    assert found.csrf == started.csrf
    for wrong in ("", "x" * 43, started.id[:-1], started.id.swapcase(), f"{started.id}x", "é" * 43):
        assert database.sessions.find(wrong) is None


def test_the_database_cannot_be_used_to_take_over_a_session(
    database: Database, ana: Account, place: Place
) -> None:
    started = database.sessions.start(ana)
    stored = str(place.rows("SELECT * FROM sessions"))
    assert started.id not in stored
    assert started.csrf not in stored
    (hashed,) = place.rows("SELECT id_hash FROM sessions")[0]
    assert database.sessions.find(hashed) is None
    assert started.id not in repr(started)
    assert started.csrf not in repr(started) + repr(database.sessions.find(started.id))


def test_a_csrf_token_belongs_to_one_session(database: Database, ana: Account) -> None:
    one, other = database.sessions.start(ana), database.sessions.start(ana)
    found = database.sessions.find(one.id)
    assert found is not None
    assert database.sessions.csrf_matches(found, one.csrf)
    for wrong in ("", other.csrf, one.csrf[:-1], one.id, "é", "\ud800"):
        assert not database.sessions.csrf_matches(found, wrong)


def test_a_session_ends_when_it_is_idle(database: Database, ana: Account, place: Place) -> None:
    used, idle = database.sessions.start(ana), database.sessions.start(ana)
    for _ in range(3):
        place.clock.move(minutes=40)
        assert database.sessions.find(used.id) is not None
    assert database.sessions.find(idle.id) is None
    # Also after it: what is over does not come back.
    place.clock.move(hours=-2)
    assert database.sessions.find(idle.id) is None


def test_a_session_ends_after_half_a_day_however_busy(
    database: Database, ana: Account, place: Place
) -> None:
    started = database.sessions.start(ana)
    for _ in range(23):
        place.clock.move(minutes=30)
        assert database.sessions.find(started.id) is not None
    place.clock.move(minutes=30)
    assert database.sessions.find(started.id) is None


def test_logging_out_ends_one_session(database: Database, ana: Account) -> None:
    ids = [database.sessions.start(ana).id for _ in range(4)]
    database.sessions.end(ids[0])
    assert [database.sessions.find(one) is None for one in ids] == [True, False, False, False]


def test_sessions_that_are_over_are_swept_away(
    database: Database, ana: Account, place: Place
) -> None:
    for _ in range(3):
        database.sessions.start(ana)
    place.clock.move(minutes=59)
    kept = database.sessions.start(ana)
    place.clock.move(minutes=2)
    assert database.sessions.sweep() == 3
    assert database.sessions.find(kept.id) is not None
    assert place.rows("SELECT count(*) FROM sessions") == [(1,)]
