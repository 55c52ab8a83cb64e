"""Which numbers a table builder has given out, in both kinds of databases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sdcensus.errors import OutputError, Refused
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.published.lock import EventKind, Making
from sdcensus.model.published.served_numbers import Opening, ServedEvent, ServedNumbers
from sdcensus.model.schema.variable import Entity
from sdcensus.session.answer import TableService
from sdcensus.session.guard.run import Revision
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units
from sdcensus.web.database import COMMAND_LINE, Action, Database
from sdcensus.web.numbers import open_numbers
from tests.session.publish.publications import people, stored, without
from tests.web.database.places import Place


def opening(name: str = "first publication", **changes: object) -> Opening:
    making = Making(
        method="cell-key",
        method_version="1",
        fingerprint="",
        data_version="d1",
        key_version=1,
        secret_id="s",
        package_version="1",
        settings='{"persons":"f"}',
        consistent=True,
        store="/där",
        census="A",
        reference_date="2021-01-01",
        series="code:A",
        people="e:o",
    )
    return Opening(
        numbers=ServedNumbers(making=replace(making, **changes), smallest_group=23),  # type: ignore[arg-type]
        event=ServedEvent(
            name=name,
            kind=EventKind.REVISION if changes else EventKind.FIRST,
            series="code:A",
        ),
    )


def serve(database: Database, what: Opening) -> None:
    database.served.open(what, before=database.served.all(), by=COMMAND_LINE)


def test_what_was_opened_is_there_when_it_is_opened_again(place: Place) -> None:
    with place.open() as database:
        serve(database, opening())
        place.clock.move(seconds=1)
        serve(database, opening("again", data_version="d2"))
        assert database.audit.latest(limit=1)[0].action == Action.SETTINGS
        assert "again" in database.audit.latest(limit=1)[0].reason
    with place.open() as database:
        assert database.served.all() == (opening(data_version="d2").numbers,)
        assert [event.name for event in database.served.events()] == ["first publication", "again"]


def test_two_servers_do_not_open_other_numbers_at_once(database: Database) -> None:
    before = database.served.all()
    database.served.open(opening(), before=before, by=COMMAND_LINE)
    with pytest.raises(OutputError, match="Another server has just opened"):
        database.served.open(opening(data_version="d2"), before=before, by=COMMAND_LINE)
    assert database.served.all() == (opening().numbers,)


def test_a_database_of_the_first_version_gets_its_tables(place: Place) -> None:
    place.open().close()
    place.run(
        "DROP TABLE served", "DROP TABLE served_events", "UPDATE sdcensus_version SET version = 1"
    )
    with place.open() as database:
        assert database.served.all() == ()
        serve(database, opening())


def service(path: Path, units: Units, *, key_version: int = 1) -> TableService:
    census = stored(path, units)
    rules = Policy(
        name="test", schema=census.schema, limits=Limits(dimensions=2), online=OnlineRules()
    )
    method = CellKey(scheme("CP4"), SECRET, lookup="hashed", key_version=key_version)
    return TableService(census, rules, {Entity.PERSON: method})


def test_the_numbers_of_a_service_are_kept_and_guarded(place: Place, tmp_path: Path) -> None:
    first = service(tmp_path / "a.store", people(400))
    other = service(tmp_path / "b.store", without(people(400), [3]))
    with place.open() as database:
        open_numbers(first, database)
        open_numbers(first, database)
        (kept,) = database.served.all()
        assert (kept.making.data_version, kept.making.key_version, kept.looks) == (
            first.versions.data,
            1,
            1,
        )
        assert "persons" in kept.making.settings
        with pytest.raises(Refused, match="Published numbers are permanent"):
            open_numbers(other, database)
        assert database.served.all() == (kept,)
        again = service(tmp_path / "c.store", without(people(400), [3]), key_version=2)
        open_numbers(again, database, Revision("new keys", rekey=True))
    with place.open() as database:
        (kept,) = database.served.all()
        assert (kept.making.key_version, kept.looks) == (2, 2)
        with pytest.raises(Refused, match="the key version is 1 instead of 2"):
            open_numbers(other, database)
