from __future__ import annotations

import pytest

from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.model.spec.question import Question
from sdcensus.web.database import COMMAND_LINE, Account, Action, Database
from sdcensus.web.database.notices import MOST_SAVED, MOST_UNREAD
from tests.web.database.places import PASSWORD, Place

ASKED = Question(by=("ed@parish", "sex"), where="age >= 15")


@pytest.fixture
def ana(database: Database) -> Account:
    return database.accounts.add("Ana", "staff", PASSWORD, by=COMMAND_LINE)


def test_a_saved_table_is_its_owners(database: Database, ana: Account, place: Place) -> None:
    ben = database.accounts.add("Ben", "registered", PASSWORD, by=COMMAND_LINE)
    view = {"rows": "ed", "columns": "sex", "tab": "map", "lang": "nl"}
    first = database.saved.add(ana, "Adults by parish", ASKED.text, view)
    place.clock.move(seconds=1)
    second = database.saved.add(ana, "Adults by parish", ASKED.text)
    assert database.saved.of(ana) == (second, first)
    assert first.view == view
    assert first.question == ASKED.text
    assert database.saved.of(ben) == ()
    with pytest.raises(UnknownName):
        database.saved.remove(ben, first.id)
    database.saved.remove(ana, first.id)
    assert database.saved.of(ana) == (second,)
    with pytest.raises(UnknownName):
        database.saved.remove(ana, first.id)


def test_saved_tables_have_limits(database: Database, ana: Account, place: Place) -> None:
    database.saved.add(ana, "one", ASKED.text)
    copied = (
        "INSERT INTO saved_tables SELECT 'copy {n}', account, name, question, view, created"
        " FROM saved_tables WHERE id NOT LIKE 'copy%'"
    )
    place.run(*(copied.format(n=n) for n in range(MOST_SAVED - 1)))
    with pytest.raises(SpecError, match="There are 500 saved tables"):
        database.saved.add(ana, "one more", ASKED.text)
    for name, question, view in [
        ("", "q", {}),
        ("x" * 201, "q", {}),
        ("x", "q" * 200_001, {}),
        ("x", "q", {"rows": "r" * 5_000}),
    ]:
        with pytest.raises(SpecError):
            database.saved.add(ana, name, question, view)


def test_an_alarm_goes_on_until_somebody_looks_at_it(
    database: Database, ana: Account, place: Place
) -> None:
    report = database.alarms.report
    begun = place.clock.now
    first = report("averaging", "Ben", 2.5, {"tables": ["a", "b"], "cell": "all"})
    assert first.explanation == {"tables": ["a", "b"], "cell": "all"}
    place.clock.move(minutes=5)
    same = report("averaging", "Ben", 1.25, {"tables": ["c"]})
    assert (same.id, same.count, same.score) == (first.id, 2, 2.5)
    assert (same.first, same.last) == (begun, place.clock.now)
    others = [report("averaging", "", 9, {}), report("differencing", "Ben", 1, {})]
    assert len({same.id, *(other.id for other in others)}) == 3
    looked = database.alarms.acknowledge(first.id, by=ana.actor())
    assert (looked.acknowledged_by, looked.acknowledged) == ("Ana", place.clock.now)
    assert {one.id for one in database.alarms.all(open_only=True)} == {o.id for o in others}
    assert len(database.alarms.all()) == 3
    again = report("averaging", "Ben", 1, {})
    assert (again.count, again.id == first.id) == (1, False)
    about = [entry.reason for entry in database.audit.latest(action=Action.ALARM)]
    assert about == [
        "averaging: Ben",
        f"acknowledged {first.id}",
        "differencing: Ben",
        "averaging",
        "averaging: Ben",
    ]
    with pytest.raises(UnknownName):
        database.alarms.acknowledge("none", by=ana.actor())


def test_feedback_is_kept_for_the_office(database: Database, ana: Account, place: Place) -> None:
    words = "Why do the parishes not add up?\nThank you! \U0001f600"
    kept = database.feedback.add(f"  {words}\n", contact="b@example.org", question=ASKED.text)
    assert (kept.text, kept.contact, kept.question) == (words, "b@example.org", ASKED.text)
    place.clock.move(seconds=1)
    later = database.feedback.add("More")
    assert database.feedback.all() == (later, kept)
    read = database.feedback.mark_read(kept.id, by=ana.actor())
    assert (read.read_by, read.read) == ("Ana", place.clock.now)
    assert database.feedback.all(unread_only=True) == (later,)
    with pytest.raises(UnknownName):
        database.feedback.mark_read("none", by=ana.actor())


def test_feedback_has_limits(database: Database, place: Place) -> None:
    database.feedback.add("x" * 4_000)
    for words, contact in [("", ""), ("  \n", ""), ("x" * 4_001, ""), ("x", "c" * 201)]:
        with pytest.raises(SpecError):
            database.feedback.add(words, contact=contact)
    hundred = " UNION ALL ".join(f"SELECT {n} AS n" for n in range(100))
    numbers = f"SELECT a.n + 100 * b.n AS n FROM ({hundred}) AS a CROSS JOIN ({hundred}) AS b"
    place.run(
        "INSERT INTO feedback SELECT 'copy ' || numbers.n, time, text, contact, question, read_by,"
        f" read FROM feedback, ({numbers}) AS numbers"
    )
    assert place.rows("SELECT count(*) FROM feedback") == [(MOST_UNREAD + 1,)]
    with pytest.raises(OutputError, match="10,000 texts wait"):
        database.feedback.add("One more")
