"""What a server keeps over a restart, and for how long."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from sdcensus.errors import QuestionError
from sdcensus.model.spec.question import Question
from sdcensus.session.watch import Watch
from sdcensus.web.app import tidy
from sdcensus.web.caching import Threads
from sdcensus.web.database import COMMAND_LINE, Action, AuditEntry as AuditEntry, Database
from tests.session.answer.services import service
from tests.web.servers import CHEAP, QUESTION, TABLES, PausingService, check_error, opened, until


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now


# -------------------------------------------------------------------------------------- sessions


def test_sessions_end_by_the_settings_of_the_server(tmp_path: Path) -> None:
    clock = Clock()
    with opened(tmp_path, clock=clock, session_hours=3.0, session_idle_hours=0.5) as place:
        place.account("ana")
        client, _ = place.logged_in("ana")

        def after(minutes: int) -> int:
            clock.now += timedelta(minutes=minutes)
            return client.get("/api/v1/saved").status_code

        assert [after(29), after(29)] == [200, 200]
        assert after(31) == 401
        client, _ = place.logged_in("ana")
        assert [after(29) for _ in range(6)] == [200] * 6
        assert after(10) == 401


# ------------------------------------------------------------------------------------- retention


def test_what_is_old_is_removed_at_the_start_and_stays_proved(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    with Database.open(tmp_path / "web.db", hashing=CHEAP) as database:
        entry = AuditEntry(who="ana", role="registered", action=Action.TABLE, outcome="allowed")
        times = [now - timedelta(days=40), now - timedelta(days=31), now - timedelta(days=29)]
        database.audit.append([_at(entry, time) for time in times])
    old = Clock()
    old.now = now - timedelta(days=31)
    with Database.open(tmp_path / "web.db", hashing=CHEAP, clock=old) as database:
        database.alarms.report("averaging", "ana", 1.0, {})
        database.feedback.add("old")
    with opened(tmp_path, audit_days=30) as place:
        place.client.post("/api/v1/feedback", json={"text": "new"})
        until(lambda: len(place.database.feedback.all()) == 1)
        until(lambda: not place.database.alarms.all())
        assert [one.text for one in place.database.feedback.all()] == ["new"]
        assert place.database.audit.verify().sound
        kept = [one for one in place.audit() if one.action == "table"]
        assert [one.time for one in kept] == times[2:]
        removed = [one for one in place.audit() if one.action == "retention"]
        assert {one.who for one in removed} == {"~server"}
        assert len(removed) == 3


def _at(entry: AuditEntry, time: datetime) -> AuditEntry:
    return AuditEntry(
        who=entry.who, role=entry.role, action=entry.action, outcome=entry.outcome, time=time
    )


def test_of_a_damaged_audit_nothing_is_removed_and_it_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Database.open(tmp_path / "web.db", hashing=CHEAP) as database:
        old = datetime.now(UTC) - timedelta(days=40)
        entry = AuditEntry(who="ana", role="registered", action=Action.TABLE, outcome="allowed")
        database.audit.append([_at(entry, old)] * 3)
        with database._link.writing() as connection:
            connection.exec_driver_sql("DROP TRIGGER audit_update")
            connection.exec_driver_sql("UPDATE audit SET cells = 7 WHERE sequence = 2")
        database.feedback.add("a text")
    with opened(tmp_path, audit_days=30) as place:
        until(lambda: "what is old is kept" in caplog.text)
        assert sum(one.action == "table" for one in place.audit()) == 3
        assert place.client.get(f"{TABLES}?by=sex").status_code == 200
        # The next time finds the same, and goes on with what can be removed.
        tidy(place.site)


# ------------------------------------------------------------------------------------- the watch


def test_the_watch_remembers_over_a_restart(tmp_path: Path) -> None:
    watch = Watch()
    with opened(tmp_path, watch=watch) as place:
        ana = place.somebody(**place.token("ana"))
        for by in ("area,age", "area,sex", "area,age,sex", "area,age"):
            assert ana.get(f"{TABLES}?by={by}").status_code == 200
        assert ana.get(f"{TABLES}?by=age&where=sex==1").status_code == 200
        assert ana.get(f"{TABLES}?by=age&format=csv").status_code == 200
        place.client.get(f"{TABLES}?by=sex")
        check_error(ana.get(f"{TABLES}?by=nope"), 404, "unknown-name")
        before = watch.score("ana")
        assert before.questions == 5
        everybody = watch.score()
    # What cannot be understood any more is left out.
    with Database.open(tmp_path / "web.db", hashing=CHEAP) as database:
        for question in ('{"by":["gone"],"of":"persons"}', '{"by":["cut', "", "[" * 10_000):
            database.audit.append(
                [
                    AuditEntry(
                        who="ana",
                        role="registered",
                        action=Action.TABLE,
                        outcome="allowed",
                        spec_hash="x" + question[:10],
                        question=question,
                    )
                ]
            )
    again = Watch()
    with opened(tmp_path, watch=again) as place:
        until(lambda: again.score().questions == everybody.questions)
        after = again.score("ana")
        assert after.questions == before.questions
        assert after.score == pytest.approx(before.score, rel=1e-6)
        assert after.information == pytest.approx(before.information)
        # A table that was given before the restart is still no news.
        ana_again = place.database.accounts.find("ana")
        token = place.database.tokens.make(ana_again, "two", by=COMMAND_LINE).text
        program = place.somebody(authorization=f"Bearer {token}")
        assert program.get(f"{TABLES}?by=area,age").status_code == 200
        assert again.score("ana").questions == before.questions
    few = Watch()
    with opened(tmp_path, watch=few, watch_questions=2):
        until(lambda: few.score().questions >= 1)
        assert few.score().questions <= 2


def test_pages_of_answered_questions_are_the_newest_in_order(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    with Database.open(tmp_path / "web.db", hashing=CHEAP) as database:
        database.audit.append(
            [
                AuditEntry(
                    who=f"w{at}",
                    role="registered",
                    action=(Action.TABLE, Action.LOGIN, Action.JOB)[at % 3],
                    outcome="refused" if at == 6 else "allowed",
                    time=now - timedelta(hours=30 - at),
                )
                for at in range(30)
            ]
        )
        since = now - timedelta(hours=28)
        pages = [*database.audit.delivered(since, most=100, at_once=4)]
        assert {len(page) for page in pages[:-1]} == {4}
        names = [one.who for page in pages for one in page]
        assert names == [f"w{at}" for at in range(2, 30) if at % 3 != 1 and at != 6]
        newest = [one.who for page in database.audit.delivered(since, most=3) for one in page]
        assert newest == names[-3:]
        assert [*database.audit.delivered(now, most=3)] == []


def test_a_question_is_watched_without_being_judged() -> None:
    made = service()
    question = Question.from_json({"by": ["age"], "where": "sex == 1"})
    assert made.watched(question).hash() == made.check(question).spec.hash()
    with pytest.raises(QuestionError):
        made.watched(Question.from_json({"by": ["nope"]}))


# -------------------------------------------------------------------------------------- stopping


def test_a_count_that_does_not_end_does_not_hold_the_server(tmp_path: Path) -> None:
    paused = PausingService(service())
    try:
        with opened(tmp_path, paused, shutdown_seconds=1, time_limit=0.1) as place:
            begun = place.client.post(TABLES, json=QUESTION)
            assert begun.status_code == 202
            server = place.server
        # It has stopped, and the count has not.
        assert server.working
        alive = [one for one in threading.enumerate() if one.name.startswith("sdcensus-counting")]
        assert alive
        assert all(one.daemon for one in alive)
        with Database.open(tmp_path / "web.db", hashing=CHEAP) as database:
            assert database.audit.latest(limit=1)[0].action == "stop"
            assert database.audit.verify().sound
    finally:
        paused.gate.set()
    until(lambda: not server.working)


ENDLESS = """
import sys
from pathlib import Path
from sdcensus.cli.shared.console import Output
from sdcensus.cli.shared.run import _termination_as_exception
from sdcensus.cli.builder.serve import DATABASE, _run
from sdcensus.session.guard.run import Revision
from sdcensus.web.settings import Settings
from sdcensus.session.answer import TableService
from tests.session.answer.services import service
from tests.web.servers import PausingService

class Endless(PausingService):
    def answer(self, question, *args, **named):
        while question.by:
            self.gate.wait(60)
        return TableService.answer(self, question, *args, **named)

settings = Settings(
    state=Path(sys.argv[1]), port=0, metrics_port=0, shutdown_seconds=1, time_limit=0.1
)
with _termination_as_exception():
    _run(Output(quiet=False), Endless(service()), settings, settings.state / DATABASE, Revision())
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows ends programs in other ways")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_process_ends_well_although_a_count_never_does(tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-u", "-c", ENDLESS, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        heard = ""
        while "Table builder on" not in heard:
            line = process.stdout.readline()
            assert line, heard
            heard += line
        url = heard.split("Table builder on ")[1].strip()
        until(lambda: _answers(f"{url}/ready"))
        assert httpx.post(f"{url}{TABLES}", json=QUESTION, timeout=30).status_code == 202
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0, err
    assert "Stopped." in out
    assert "Traceback" not in err
    with Database.open(tmp_path / "builder.db", hashing=CHEAP) as database:
        assert [one.action for one in database.audit.latest()][::-1] == ["start", "stop"]
        assert database.audit.verify().sound


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


def test_threads_do_their_work_and_hand_on_errors() -> None:
    threads = Threads(2, "test")
    gate = threading.Event()
    blocked = [threads.submit(gate.wait) for _ in range(2)]
    waiting = [threads.submit(pow, at, 2) for at in range(10)]
    until(lambda: threads.running == 2)
    assert not any(one.done() for one in waiting)
    gate.set()
    assert [one.result(10) for one in waiting] == [at * at for at in range(10)]
    assert all(one.result(10) for one in blocked)
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(10)
    until(lambda: threads.running == 0)
    gate.clear()
    held = [threads.submit(gate.wait, 20) for _ in range(2)]
    late = threads.submit(int)
    until(lambda: threads.running == 2)
    threads.shutdown(wait=False, cancel_futures=True)
    with pytest.raises(CancelledError):
        late.result(10)
    with pytest.raises(RuntimeError):
        threads.submit(int)
    gate.set()
    threads.shutdown()
    assert all(one.result(0) for one in held)
    assert threads.running == 0


# ---------------------------------------------------------------------------------------- health


def test_a_server_that_cannot_write_its_audit_is_not_healthy(tmp_path: Path) -> None:
    with opened(tmp_path) as place:
        assert place.client.get("/health").status_code == 200
        with place.database._link.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE audit RENAME TO elsewhere")
        place.client.get(f"{TABLES}?by=sex")
        until(lambda: place.client.get("/health").status_code == 503)
        assert place.client.get("/health").json() == {"status": "audit"}
        assert place.client.get("/ready").status_code == 503
        with place.database._link.writing() as connection:
            connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO audit")
        until(lambda: place.client.get("/health").status_code == 200)
        assert [one.outcome for one in place.audit() if one.action == "table"] == ["allowed"]
