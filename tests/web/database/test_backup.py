from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from sdcensus.errors import InputError, OutputError
from sdcensus.web.database import COMMAND_LINE, Action, Database
from sdcensus.web.database.schema import STEPS
from tests.web.database.conftest import NewPlace
from tests.web.database.places import CHEAP, PASSWORD, Place
from tests.web.database.test_audit import fill
from tests.web.database.test_served import opening, serve
from tests.web.postgres import Server


def furnish(database: Database) -> str:
    """Some of everything; the text of a token."""
    ana = database.accounts.add("Ana", "staff", PASSWORD, display_name="A", by=COMMAND_LINE)
    database.accounts.add("Ben", "registered", PASSWORD, by=COMMAND_LINE)
    database.accounts.disable("Ben", by=ana.actor())
    token = database.tokens.make(ana, "laptop", by=ana.actor()).text
    gone = database.tokens.make(ana, "old", by=ana.actor())
    database.tokens.revoke(gone.token.id, by=ana.actor())
    database.saved.add(ana, "Ünïcode \U0001f600", '{"of":"persons"}', {"rows": "sex"})
    database.alarms.report("averaging", "Ben", 1.5, {"a": [1, 2]})
    database.feedback.add("line\nline", contact="c")
    database.sessions.start(ana)
    database.pseudonyms.of("192.0.2.77")
    serve(database, opening())
    fill(database, 30)
    return token


def contents(database: Database) -> dict[str, object]:
    """All that is worth keeping, in plain values."""
    accounts = database.accounts.all()
    return {
        "accounts": accounts,
        "tokens": [[*map(repr, database.tokens.of(account))] for account in accounts],
        "saved": [[*map(repr, database.saved.of(account))] for account in accounts],
        "alarms": [*map(repr, database.alarms.all())],
        "feedback": database.feedback.all(),
        "served": (database.served.all(), database.served.events()),
    }


def check_same(database: Database, before: dict[str, object], token: str) -> None:
    assert contents(database) == before
    account = database.tokens.verify(token)
    assert account is not None
    assert account.name == "Ana"
    assert database.accounts.check_password("Ana", PASSWORD).account
    assert database.accounts.check_password("Ben", PASSWORD).account is None


@pytest.mark.parametrize("name", ["copy.db", "copy.jsonl"])
def test_a_backup_gives_everything_back(new_place: NewPlace, tmp_path: Path, name: str) -> None:
    place, other = new_place(), new_place()
    target = tmp_path / name
    with place.open() as database:
        token = furnish(database)
        before, entries = contents(database), database.audit.latest(limit=1_000)
        noted = database.audit.head()
        database.backup(target, by=COMMAND_LINE)
        assert database.audit.latest(limit=1)[0].action == Action.BACKUP
        if os.name != "nt":
            assert stat.S_IMODE(target.stat().st_mode) == 0o600
        with pytest.raises(OutputError, match="already exists"):
            database.backup(target, by=COMMAND_LINE)
    content = target.read_bytes()
    with other.open() as database:
        restored = database.restore(target, by=COMMAND_LINE)
        assert restored.proof.sound
        assert dict(restored.rows)["accounts"] == 2
        assert database.audit.latest(limit=1)[0].action == Action.RESTORE
        assert database.audit.latest(limit=1_000)[1:] == entries
        assert database.audit.verify(noted).sound
        check_same(database, before, token)
        assert other.rows("SELECT count(*) FROM sessions") == [(0,)]
        assert other.rows("SELECT count(*) FROM daily_keys") == [(0,)]
    with other.open() as database:
        check_same(database, before | {"tokens": contents(database)["tokens"]}, token)
        fill(database, 3)
        assert database.audit.verify(noted).sound
    assert target.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_office_moves_from_a_file_to_a_server_and_back(
    postgres_server: Server, tmp_path: Path
) -> None:
    file, server = Place(str(tmp_path / "a.db")), Place(postgres_server.new_database())
    with file.open() as database:
        token = furnish(database)
        before = contents(database)
        database.backup(tmp_path / "a-copy.db", by=COMMAND_LINE)
    with server.open() as database:
        database.restore(tmp_path / "a-copy.db", by=COMMAND_LINE)
        assert contents(database) == before
        database.backup(tmp_path / "b-copy.jsonl", by=COMMAND_LINE)
    with Place(str(tmp_path / "c.db")).open() as database:
        assert database.restore(tmp_path / "b-copy.jsonl", by=COMMAND_LINE).proof.sound
        check_same(database, before, token)


def test_a_backup_while_others_write_is_one_state(new_place: NewPlace, tmp_path: Path) -> None:
    place, other = new_place(), new_place()
    ended = threading.Event()

    def write() -> None:
        with place.open() as own:
            while not ended.is_set():
                fill(own, 1)

    with place.open() as database:
        fill(database, 5)
        thread = threading.Thread(target=write)
        thread.start()
        try:
            database.backup(tmp_path / "copy", by=COMMAND_LINE)
        finally:
            ended.set()
            thread.join()
    with other.open() as database:
        assert database.restore(tmp_path / "copy", by=COMMAND_LINE).proof.sound


def test_restoring_overwrites_nothing(new_place: NewPlace, tmp_path: Path) -> None:
    place, other = new_place(), new_place()
    with place.open() as database:
        furnish(database)
        database.backup(tmp_path / "copy", by=COMMAND_LINE)
    with other.open() as database:
        ana = database.accounts.add("Ana", "staff", "a different passphrase", by=COMMAND_LINE)
        token = database.tokens.make(ana, "laptop", by=COMMAND_LINE).text
        with pytest.raises(OutputError, match="is not empty"):
            database.restore(tmp_path / "copy", by=COMMAND_LINE)
        assert database.accounts.all() == (ana,)
        assert database.tokens.verify(token) == ana
        assert database.audit.verify().sound


def test_files_that_are_no_backups_are_refused(new_place: NewPlace, tmp_path: Path) -> None:
    place, other = new_place(), new_place()
    with place.open() as database:
        furnish(database)
        database.backup(tmp_path / "copy.jsonl", by=COMMAND_LINE)
    lines = (tmp_path / "copy.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    bad = {
        "empty": "",
        "words": "my notes",
        "list": "[]\n",
        "other": '{"a": 1}\n',
        "cut off": "".join(lines[:-1]),
        "cut within": "".join(lines)[:-20],
        "without one": "".join([*lines[:3], *lines[4:]]),
        "changed": "".join(lines).replace('"Ana"', '"Eve"', 1),
        "newer": "".join(lines).replace(f'"version": {len(STEPS)}', '"version": 99', 1),
        "sqlite": "SQLite format 3\0 and then nothing of the kind",
    }
    with other.open() as database:
        for name, text in bad.items():
            path = tmp_path / name
            path.write_text(text, encoding="utf-8", newline="\n")
            with pytest.raises(InputError, match=name):
                database.restore(path, by=COMMAND_LINE)
        with pytest.raises(InputError, match="cannot be read"):
            database.restore(tmp_path / "none", by=COMMAND_LINE)
        assert database.accounts.all() == ()
        assert database.restore(tmp_path / "copy.jsonl", by=COMMAND_LINE).proof.sound


def test_a_damaged_audit_is_known_as_such_after_restoring(
    new_place: NewPlace, tmp_path: Path
) -> None:
    place, other = new_place(), new_place()
    with place.open() as database:
        fill(database, 5)
        place.without_guards()
        place.run("UPDATE audit SET cells = 0 WHERE sequence = 4")
        database.backup(tmp_path / "copy", by=COMMAND_LINE)
    with other.open() as database:
        (finding,) = database.restore(tmp_path / "copy", by=COMMAND_LINE).proof.findings
        assert finding.sequence == 4


def test_no_file_holds_a_password_or_a_secret_in_clear(tmp_path: Path) -> None:
    path = tmp_path / "builder.db"
    password = "Grandmother's blue teapot 1937"
    with Database.open(path, hashing=CHEAP) as database:
        ana = database.accounts.add("Ana", "staff", password, by=COMMAND_LINE)
        database.accounts.set_password("Ana", f"{password}!", by=COMMAND_LINE)
        database.accounts.check_password("Ana", f"{password}?")
        token = database.tokens.make(ana, "laptop", by=ana.actor()).text
        session = database.sessions.start(ana)
        database.backup(tmp_path / "copy.db", by=COMMAND_LINE)
        database.backup(tmp_path / "copy.jsonl", by=COMMAND_LINE)
        files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        assert {"builder.db", "builder.db-wal", "copy.db", "copy.jsonl"} <= set(files)
        for name, content in files.items():
            for secret in (password, token.split("_")[2], session.id, session.csrf):
                assert secret.encode() not in content, name
        assert b"Ana" in files["copy.db"]
