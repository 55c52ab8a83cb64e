from __future__ import annotations

import hashlib
import json
import threading
from datetime import timedelta

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import OutputError, Refused, SpecError
from sdcensus.web.database import (
    COMMAND_LINE,
    Action,
    AuditEntry,
    AuditWriter,
    Damage,
    Database,
    Head,
    Used,
)
from sdcensus.web.database.audit import LONGEST_QUESTION, chain
from sdcensus.web.database.schema import FIRST_HASH
from tests.web.database.conftest import NewPlace
from tests.web.database.places import Clock, Place
from tests.web.servers import until


def table(number: int, who: str = "Ana", **members: object) -> AuditEntry:
    values: dict[str, object] = {
        "who": who,
        "role": "registered",
        "action": Action.TABLE,
        "spec_hash": f"hash {number}",
        "question": f'{{"by":["sex"],"of":"persons","number":{number}}}',
        "cells": number,
        "format": "json-stat",
        "outcome": "allowed",
        "milliseconds": 12,
        "request": f"request {number}",
    }
    return AuditEntry(**{**values, **members})  # type: ignore[arg-type]


def fill(database: Database, entries: int) -> None:
    database.audit.append([table(number) for number in range(1, entries + 1)])


# ---------------------------------------------------------------- the chain


def test_an_entry_is_read_as_it_was_written(database: Database, place: Place) -> None:
    head = database.audit.append([table(7)])
    (entry,) = database.audit.latest()
    assert (entry.sequence, entry.hash) == (head.sequence, head.hash) == (1, head.hash)
    assert (entry.who, entry.role, entry.action) == ("Ana", "registered", "table")
    assert (entry.spec_hash, entry.cells, entry.format) == ("hash 7", 7, "json-stat")
    assert (entry.outcome, entry.reason, entry.request) == ("allowed", "", "request 7")
    assert (entry.time, entry.milliseconds) == (place.clock.now, 12)
    assert json.loads(entry.question)["number"] == 7


def test_the_hashes_can_be_made_by_anyone(database: Database, place: Place) -> None:
    """The documented rule, written once more without this program."""
    fill(database, 3)
    previous = "0" * 64
    names = "sequence time who role action spec_hash question cells format outcome reason"
    columns = f"{names} milliseconds request".split()
    for *values, written in place.rows(
        f"SELECT {', '.join(columns)}, hash FROM audit ORDER BY sequence"
    ):
        entry = json.dumps(
            dict(zip(columns, values, strict=True)),
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
        )
        previous = hashlib.sha256(bytes.fromhex(previous) + entry.encode()).hexdigest()
        assert written == previous
    assert database.audit.head() == Head(3, previous)


@given(texts=st.lists(st.text(), min_size=1, max_size=4), cells=st.integers())
def test_the_chain_takes_whatever_people_type(texts: list[str], cells: int) -> None:
    entries = [table(1, question=text, reason=text, cells=cells) for text in texts]
    rows = chain(entries, Head(0, FIRST_HASH), Clock().now)
    assert [row["sequence"] for row in rows] == list(range(1, len(texts) + 1))
    assert len({row["hash"] for row in rows}) == len(rows)
    assert all("\x00" not in row["question"] for row in rows)
    assert all(0 <= row["cells"] < 2**63 for row in rows)


def test_awkward_texts_are_kept_and_proven(database: Database) -> None:
    for text in (
        "a\x00b",
        "\ud800",
        "\U0001f600 é e\u0301",
        "'; DROP TABLE audit; --",
        "\r\n\u2028",
    ):
        database.audit.append([table(1, who=text, question=text)])
    database.audit.append([table(1, question="x" * 50_000)])
    assert database.audit.verify().sound
    longest = database.audit.latest(limit=1)[0].question
    assert len(longest) == LONGEST_QUESTION + 1
    assert database.audit.latest()[2].question == "'; DROP TABLE audit; --"


def test_actions_have_names_that_are_known(database: Database) -> None:
    with pytest.raises(SpecError, match=r"There is no action 'tabel'. Did you mean 'table'"):
        database.audit.append([table(1, action="tabel")])
    assert database.audit.head().sequence == 0


def test_latest_goes_back_page_by_page(database: Database) -> None:
    fill(database, 10)
    database.audit.append([table(11, who="Ben", action=Action.LOGIN)])
    first = database.audit.latest(limit=4)
    assert [entry.sequence for entry in first] == [11, 10, 9, 8]
    assert [e.sequence for e in database.audit.latest(limit=4, before=8)] == [7, 6, 5, 4]
    assert [e.sequence for e in database.audit.latest(who="Ben")] == [11]
    assert [e.sequence for e in database.audit.latest(action="login")] == [11]


# ---------------------------------------------------------------- damage


def test_the_database_itself_refuses_changes(database: Database, place: Place) -> None:
    fill(database, 2)
    place.clock.move(days=400)
    assert database.audit.apply_retention(365, by=COMMAND_LINE) is not None
    fill(database, 5)
    for statement in (
        "UPDATE audit SET cells = 0 WHERE sequence = 4",
        "UPDATE audit SET hash = hash",
        "DELETE FROM audit WHERE sequence = 4",
        "DELETE FROM audit",
        "DELETE FROM audit_head",
        "UPDATE audit_head SET sequence = 2",
        "UPDATE audit_anchors SET removed = 0",
        "DELETE FROM audit_anchors",
        *(["TRUNCATE audit", "TRUNCATE audit_anchors"] if place.is_postgresql else []),
    ):
        with pytest.raises(Exception, match="the audit is append-only"):
            place.run(statement)
    assert database.audit.verify().sound


INSERTED = (
    "INSERT INTO audit SELECT {number}, time, who, role, action, spec_hash, question, cells,"
    " format, outcome, reason, milliseconds, request, hash FROM audit WHERE sequence = 5"
)


DAMAGE: tuple[tuple[list[str], int, Damage], ...] = (
    (["UPDATE audit SET cells = 999 WHERE sequence = 4"], 4, Damage.CHANGED),
    (["UPDATE audit SET who = 'Eve' WHERE sequence = 1"], 1, Damage.CHANGED),
    (["UPDATE audit SET question = '' WHERE sequence = 10"], 10, Damage.CHANGED),
    (["UPDATE audit SET time = 'yesterday' WHERE sequence = 6"], 6, Damage.CHANGED),
    ([f"UPDATE audit SET hash = '{'0' * 64}' WHERE sequence = 10"], 10, Damage.CHANGED),
    (["UPDATE audit SET hash = 'none' WHERE sequence = 2"], 2, Damage.CHANGED),
    (["DELETE FROM audit WHERE sequence = 1"], 1, Damage.REMOVED),
    (["DELETE FROM audit WHERE sequence = 4"], 4, Damage.REMOVED),
    (["DELETE FROM audit WHERE sequence BETWEEN 4 AND 6"], 4, Damage.REMOVED),
    (["DELETE FROM audit WHERE sequence = 10"], 10, Damage.REMOVED),
    (["DELETE FROM audit WHERE sequence > 7"], 8, Damage.REMOVED),
    (["DELETE FROM audit"], 1, Damage.REMOVED),
    ([INSERTED.format(number=11)], 11, Damage.CHANGED),
    ([INSERTED.format(number=0)], 0, Damage.INSERTED),
    (  # two entries change places
        [
            "UPDATE audit SET sequence = 99 WHERE sequence = 3",
            "UPDATE audit SET sequence = 3 WHERE sequence = 7",
            "UPDATE audit SET sequence = 7 WHERE sequence = 99",
        ],
        3,
        Damage.CHANGED,
    ),
    (  # one goes, and the others close the gap
        [
            "DELETE FROM audit WHERE sequence = 5",
            *(f"UPDATE audit SET sequence = {n - 1} WHERE sequence = {n}" for n in range(6, 11)),
        ],
        5,
        Damage.CHANGED,
    ),
    (  # one comes in between
        [
            *(
                f"UPDATE audit SET sequence = {n + 1} WHERE sequence = {n}"
                for n in range(10, 5, -1)
            ),
            INSERTED.format(number=6),
        ],
        6,
        Damage.CHANGED,
    ),
)


def test_damage_is_found_where_it_is(database: Database, place: Place) -> None:
    fill(database, 10)
    assert database.audit.verify().sound
    place.without_guards()
    place.run("CREATE TABLE kept AS SELECT * FROM audit")
    for statements, at, damage in DAMAGE:
        place.run(*statements)
        proof = database.audit.verify()
        assert not proof.sound, statements
        first = min(proof.findings, key=lambda finding: finding.sequence)
        assert (first.sequence, first.damage) == (at, damage), statements
        place.run("DELETE FROM audit", "INSERT INTO audit SELECT * FROM kept")
        assert database.audit.verify().sound


def test_an_end_that_was_noted_finds_a_chain_that_was_written_anew(
    database: Database, new_place: NewPlace
) -> None:
    fill(database, 5)
    noted = database.audit.head()
    fill(database, 5)
    assert database.audit.verify(noted).sound
    forged = new_place()
    with forged.open() as other:
        other.audit.append([table(n, who="Eve" if n == 3 else "Ana") for n in range(1, 11)])
        assert other.audit.verify().sound
        (finding,) = other.audit.verify(noted).findings
        assert (finding.sequence, finding.damage) == (5, Damage.CHANGED)
    shorter = new_place()
    with shorter.open() as other:
        fill(other, 3)
        (finding,) = other.audit.verify(noted).findings
        assert (finding.sequence, finding.damage) == (4, Damage.REMOVED)


# ---------------------------------------------------------------- retention


def test_retention_removes_the_oldest_and_keeps_the_proof(database: Database, place: Place) -> None:
    fill(database, 6)
    sixth = database.audit.head()
    place.clock.move(days=100)
    fill(database, 4)
    assert database.audit.apply_retention(365, by=COMMAND_LINE) is None
    place.clock.move(days=300)
    anchor = database.audit.apply_retention(365, by=COMMAND_LINE)
    assert anchor is not None
    assert (anchor.sequence, anchor.hash, anchor.removed) == (6, sixth.hash, 6)
    proof = database.audit.verify()
    assert proof.sound
    assert (proof.entries, proof.first, proof.anchors) == (5, 7, (anchor,))
    entry = database.audit.latest(limit=1)[0]
    assert (entry.sequence, entry.action, entry.who) == (11, Action.RETENTION, "~office")
    assert database.audit.verify(sixth).sound
    # And once more, so that one anchor follows another.
    place.clock.move(days=366)
    again = database.audit.apply_retention(365, by=COMMAND_LINE)
    assert again is not None
    assert (again.sequence, again.removed) == (11, 5)
    fill(database, 2)
    proof = database.audit.verify()
    assert proof.sound
    assert proof.anchors == (anchor, again)
    place.without_guards()
    place.run("DELETE FROM audit WHERE sequence = 12")
    assert [finding.sequence for finding in database.audit.verify().findings] == [12]


def test_retention_of_many_entries_takes_them_some_at_a_time(
    database: Database, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdcensus.web.database.audit._REMOVED_AT_ONCE", 10)
    fill(database, 35)
    place.clock.move(days=400)
    fill(database, 5)
    anchor = database.audit.apply_retention(365, by=COMMAND_LINE)
    assert anchor is not None
    assert (anchor.sequence, anchor.removed) == (35, 35)
    proof = database.audit.verify()
    assert proof.sound
    assert [(anchor.sequence, anchor.removed) for anchor in proof.anchors] == [
        (10, 10),
        (20, 10),
        (30, 10),
        (35, 5),
    ]
    assert proof.entries == 6


def test_retention_does_not_wipe_out_traces(database: Database, place: Place) -> None:
    fill(database, 5)
    place.clock.move(days=400)
    place.without_guards()
    place.run("UPDATE audit SET cells = 0 WHERE sequence = 2")
    with pytest.raises(Refused, match="Entry 2 was changed"):
        database.audit.apply_retention(365, by=COMMAND_LINE)
    assert len(database.audit.latest()) == 5
    assert database.audit.apply_retention(365, by=COMMAND_LINE, even_if_damaged=True) is not None
    assert database.audit.verify().sound
    place.run(
        "UPDATE audit SET sequence = 3",
        "UPDATE audit SET time = '0 hours' WHERE sequence = 3",
    )
    assert len(database.audit.latest()) == 1
    place.clock.move(days=400)
    assert database.audit.apply_retention(365, by=COMMAND_LINE, even_if_damaged=True) is not None
    with pytest.raises(SpecError, match="at least one day"):
        database.audit.apply_retention(0, by=COMMAND_LINE)


# ---------------------------------------------------------------- quotas


def test_what_was_used_is_read_from_the_audit(place: Place) -> None:
    with place.open() as database:
        start = place.clock.now
        database.audit.append([table(100), table(20, action=Action.JOB, outcome="withheld")])
        database.audit.append(
            [
                table(7, who="Ben"),
                table(1_000, outcome="refused"),
                table(1_000, action=Action.LOGIN),
                table(1_000, action=Action.SETTINGS),
            ]
        )
        place.clock.move(hours=2)
        database.audit.append([table(3, action=Action.DOWNLOAD)])
    with place.open() as database:
        used = database.audit.used
        assert used("Ana", start) == Used(3, 123)
        assert used("Ana", start + timedelta(hours=1)) == Used(1, 3)
        assert used("Ana", start, actions=[Action.TABLE]) == Used(1, 100)
        assert used("Ben", start) == Used(1, 7)
        assert used("nobody", start) == Used(0, 0)


# ---------------------------------------------------------------- several at once


def test_several_writers_make_one_chain(place: Place) -> None:
    def write(number: int) -> None:
        with place.open() as own:  # connections of its own, as another process has
            for group in range(10):
                own.audit.append([table(n, who=f"writer {number}") for n in range(group % 4 + 1)])

    place.open().close()
    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with place.open() as database:
        proof = database.audit.verify()
        assert proof.sound
        assert proof.entries == proof.head.sequence == 4 * (1 + 2 + 3 + 4 + 1 + 2 + 3 + 4 + 1 + 2)


# ---------------------------------------------------------------- the queue in front of it


def test_the_queue_keeps_the_order_and_loses_nothing(database: Database, place: Place) -> None:
    with AuditWriter(database.audit) as writer:

        def write(who: str) -> None:
            for number in range(500):
                writer.write(table(number, who=who))

        threads = [threading.Thread(target=write, args=(f"user {n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        writer.flush()
        assert (writer.waiting, writer.healthy, writer.error) == (0, True, None)
        writer.write(table(1, who="the last"))
    assert database.audit.latest(limit=1)[0].who == "the last"
    assert database.audit.verify().sound
    for number in range(4):
        rows = place.rows(f"SELECT cells FROM audit WHERE who = 'user {number}' ORDER BY sequence")
        assert [cells for (cells,) in rows] == list(range(500))
    with pytest.raises(OutputError, match="closed"):
        writer.write(table(1))


def test_entries_reach_the_database_without_being_asked(database: Database) -> None:
    with AuditWriter(database.audit, delay=0.001) as writer:
        writer.write(table(1))
        with writer._changed:
            assert writer._changed.wait_for(lambda: writer._done == 1, timeout=30)
        assert database.audit.head().sequence == 1


def test_the_time_of_an_entry_is_when_it_was_handed_over(database: Database, place: Place) -> None:
    with AuditWriter(database.audit, delay=60) as writer:
        handed = place.clock.now
        writer.write(table(1))
        place.clock.move(hours=1)
        writer.flush()
    assert database.audit.latest()[0].time == handed


def state(writer: AuditWriter) -> tuple[bool, bool, int]:
    """Whether it is healthy, whether it has an error, and how many entries wait."""
    return writer.healthy, writer.error is not None, writer.waiting


def test_while_the_database_fails_entries_are_kept_and_the_server_knows(
    database: Database, place: Place
) -> None:
    writer = AuditWriter(database.audit, most=50, delay=0.001)
    writer.write(table(0))
    writer.flush()
    place.run("ALTER TABLE audit_head RENAME TO gone")
    for number in range(1, 51):
        writer.write(table(number))
    until(lambda: not writer.healthy)
    with pytest.raises(OutputError, match="50 entries of the audit are not written yet"):
        writer.flush(timeout=0.01)
    assert state(writer) == (False, True, 50)
    assert "audit_head" in str(writer.error)
    with pytest.raises(OutputError, match="50 entries wait already"):
        writer.write(table(51))
    place.run("ALTER TABLE gone RENAME TO audit_head")
    writer.flush(timeout=30)
    assert state(writer) == (True, False, 0)
    writer.close()
    entries = database.audit.latest()
    assert [entry.cells for entry in entries] == list(range(50, -1, -1))
    assert database.audit.verify().sound


def test_what_cannot_be_written_at_the_end_is_an_error(database: Database, place: Place) -> None:
    writer = AuditWriter(database.audit)
    place.run("ALTER TABLE audit_head RENAME TO gone")
    writer.write(table(1))
    until(lambda: not writer.healthy)
    with pytest.raises(OutputError, match="1 entries of the audit are not written"):
        writer.close(timeout=0.01)
    assert not writer.healthy
    until(lambda: not writer._thread.is_alive())


# ---------------------------------------------------------------- those without an account


def test_no_address_is_stored(database: Database, place: Place) -> None:
    name = database.pseudonyms.of("192.0.2.77")
    database.audit.append([table(1, who=name, role="anonymous")])
    tables = ("audit", "daily_keys", "keys")
    stored = "".join(str(place.rows(f"SELECT * FROM {table}")) for table in tables)
    assert name in stored
    assert "192.0.2.77" not in stored


def test_a_client_has_one_name_a_day(place: Place) -> None:
    with place.open() as database:
        name = database.pseudonyms.of("192.0.2.77")
        assert (
            name
            == database.pseudonyms.of("192.0.2.77")
            == database.pseudonyms.of("::ffff:192.0.2.77")
        )
        assert name.startswith("~")
        assert name != database.pseudonyms.of("192.0.2.78")
        assert database.pseudonyms.of("2001:db8::1") == database.pseudonyms.of("2001:db8::2")
        assert database.pseudonyms.of("2001:db8::1") != database.pseudonyms.of("2001:db8:0:1::1")
        for odd in ("", "unknown", "\x00", "\ud800", "x" * 5_000):
            assert len(database.pseudonyms.of(odd)) == 17
    with place.open() as database, place.open() as other:
        assert database.pseudonyms.of("192.0.2.77") == name == other.pseudonyms.of("192.0.2.77")
        place.clock.move(days=1)
        assert database.pseudonyms.of("192.0.2.77") not in (name, "~")
        place.clock.move(days=1)
        database.pseudonyms.of("192.0.2.77")
    # The key of the first day is gone, and with it the way from its names to addresses.
    assert len(place.rows("SELECT day FROM daily_keys")) == 2
