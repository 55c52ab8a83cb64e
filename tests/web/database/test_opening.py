from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from sdcensus.errors import InputError, OutputError, SdcensusError
from sdcensus.web.database import COMMAND_LINE, Database
from sdcensus.web.database.link import open_link, utc_now
from sdcensus.web.database.schema import STEPS, migrate
from tests.web.database.places import CHEAP, PASSWORD, Place
from tests.web.postgres import PASSWORD as SERVER_PASSWORD, Server


def test_what_is_written_is_there_when_it_is_opened_again(place: Place) -> None:
    with place.open() as database:
        database.accounts.add("Ana", "staff", PASSWORD, display_name="Ana M.", by=COMMAND_LINE)
    with place.open() as database:
        (account,) = database.accounts.all()
        assert (account.name, account.role, account.display_name) == ("Ana", "staff", "Ana M.")
        assert account.created == place.clock.now
        for _ in range(3):
            database.check()


def test_a_newer_version_is_refused_and_left_alone(place: Place) -> None:
    place.open().close()
    place.run(f"UPDATE sdcensus_version SET version = {len(STEPS) + 1}")
    with pytest.raises(InputError, match="newer version of sdcensus"):
        place.open()
    assert place.rows("SELECT version FROM sdcensus_version") == [(len(STEPS) + 1,)]


def test_tables_of_another_program_are_left_alone(place: Place) -> None:
    if not place.is_postgresql:
        Path(place.url).touch(mode=0o600)
    place.run("CREATE TABLE accounts (id integer)")
    with pytest.raises(InputError, match="tables of another program"):
        place.open()


def test_steps_from_version_to_version_run_once_each_and_all_or_none(place: Place) -> None:
    place.open().close()
    ran = []

    def step(name: str) -> None:
        ran.append(name)

    def second(connection: Connection) -> None:
        step("second")
        connection.execute(text("ALTER TABLE feedback ADD COLUMN answered text"))

    def third(connection: Connection) -> None:
        step("third")

    def broken(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE half (id integer)"))
        raise ValueError

    link = open_link(place.url, clock=utc_now)
    try:
        for _ in range(2):
            with link.writing() as connection:
                migrate(connection, where="x", steps=(*STEPS, second, third))
        assert ran == ["second", "third"]
        with pytest.raises(ValueError), link.writing() as connection:  # noqa: PT011
            migrate(connection, where="x", steps=(*STEPS, second, third, broken))
    finally:
        link.close()
    assert place.rows("SELECT version FROM sdcensus_version") == [(len(STEPS) + 2,)]
    assert place.rows("SELECT answered FROM feedback") == []
    with pytest.raises(Exception, match="half"):
        place.rows("SELECT * FROM half")


def test_several_processes_may_make_the_tables_at_the_same_time(place: Place) -> None:
    failed: list[SdcensusError] = []

    def open_and_close() -> None:
        try:
            place.open().close()
        except SdcensusError as error:
            failed.append(error)

    threads = [threading.Thread(target=open_and_close) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert place.rows("SELECT version FROM sdcensus_version") == [(len(STEPS),)]
    assert place.rows("SELECT count(*) FROM keys") == [(1,)]


# ---------------------------------------------------------------- files


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_the_files_are_their_owners_only(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "builder.db"
    with Database.open(path, hashing=CHEAP) as database:
        database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
        files = sorted(path.parent.iterdir())
        assert [file.name for file in files] == ["builder.db", "builder.db-shm", "builder.db-wal"]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        Database.open(path, hashing=CHEAP)


def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes about the census", encoding="utf-8", newline="\n")
    with pytest.raises(InputError, match="not a database of SQLite"):
        Database.open(path)
    assert path.read_text(encoding="utf-8") == "my notes about the census"
    with pytest.raises(InputError, match="is a folder"):
        Database.open(tmp_path)
    with pytest.raises(InputError, match=r"does not exist\. Make it with"):
        Database.open(tmp_path / "none.db", must_exist=True)
    with pytest.raises(OutputError, match="cannot be written"):
        Database.open(path / "builder.db")


def test_a_damaged_file_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "builder.db"
    Database.open(path, hashing=CHEAP).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    with pytest.raises(SdcensusError, match=r"builder\.db"):
        Database.open(path, hashing=CHEAP).accounts.all()


def test_a_database_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    path = tmp_path / "builder.db"
    with Database.open(path, hashing=CHEAP) as database:
        # What SQLite does on a disk that is mounted for reading only.
        with database._link.engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver is not None
            driver.execute("PRAGMA query_only = ON")
        with pytest.raises(
            OutputError, match=r"readonly database\. Check that the disk is not full"
        ):
            database.check()
        with pytest.raises(OutputError):
            database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)
        assert database.accounts.all() == ()


def test_urls_of_sqlite_name_files(tmp_path: Path) -> None:
    path = tmp_path / "a builder.db"
    Database.open(f"sqlite:///{str(path).replace(' ', '%20')}", hashing=CHEAP).close()
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    for url in ("sqlite://", "sqlite:///:memory:"):
        with pytest.raises(InputError, match="need a file or a server"):
            Database.open(url)


# ---------------------------------------------------------------- servers


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://census:opensesame77@127.0.0.1:1/builder",
        "postgres://census:opensesame77@127.0.0.1:1/builder",
        "postgresql://census@127.0.0.1:1/builder?password=opensesame77",
        "postgresql://census:opensesame77@127.0.0.1:one/builder",
        "postgresql://census:opensesame77@127.0.0.1:1/builder?sslmode=opensesame77",
        "mysql://census:opensesame77@127.0.0.1/builder",
    ],
)
def test_no_message_shows_the_password_of_a_url(url: str) -> None:
    with pytest.raises(InputError) as caught:
        Database.open(url)
    error = caught.value
    assert "opensesame77" not in f"{error} {error!r}"
    # Nor does a traceback, which would show what another library said.
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__


def test_a_wrong_password_of_the_server_is_explained_without_it(postgres_server: Server) -> None:
    url = f"postgresql://postgres:opensesame77@127.0.0.1:{postgres_server.port}/postgres"
    with pytest.raises(InputError, match="password authentication failed") as caught:
        Database.open(url)
    assert "opensesame77" not in str(caught.value)
    with pytest.raises(InputError, match='"nowhere" does not exist'):
        Database.open(postgres_server.url("nowhere"))


def test_nothing_that_is_shown_holds_the_password(postgres_server: Server) -> None:
    with Database.open(postgres_server.new_database(), hashing=CHEAP) as database:
        shown = f"{database} {database!r} {database.shown} {database._link!r}"
        assert f"postgresql://postgres@127.0.0.1:{postgres_server.port}/test_" in shown
        assert SERVER_PASSWORD not in shown
        assert "p4ss" not in shown


def test_a_server_that_was_restarted_is_found_again(postgres_server: Server) -> None:
    place = Place(postgres_server.new_database())
    with place.open() as database:
        database.check()
        place.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        database.check()
