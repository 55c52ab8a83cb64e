"""What the office should look at: alarms of the watch, and what people write to it.

And tables that people keep: the question, and how its answer is shown. Never an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Column, Connection, Table, delete, func, insert, select, text, update

from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.web.database.accounts import check_words
from sdcensus.web.database.audit import enter
from sdcensus.web.database.link import Link, random_id, storable
from sdcensus.web.database.records import Account, Action, Actor, Alarm, Feedback, SavedTable
from sdcensus.web.database.schema import AnyRow, accounts, alarms, feedback, saved_tables

LONGEST_FEEDBACK = 4_000
_LONGEST_CONTACT = 200
_LONGEST_QUESTION = 20_000
#: So many texts that nobody has read are enough: whoever wants to fill the disk finds it closed.
MOST_UNREAD = 10_000
#: The lock of PostgreSQL under which alarms are joined: an arbitrary number, ours.
_ALARM_LOCK = 7_305_003


class Alarms:
    """The alarms of one database."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def report(
        self, pattern: str, who: str, score: float, explanation: Mapping[str, object]
    ) -> Alarm:
        """Keep an alarm. One of the same pattern and person that nobody has looked at goes on.

        Args:
            pattern: The kind of pattern.
            who: The account or the pseudonym; ``""`` for all together.
            score: How strong it is; the largest is kept.
            explanation: What the staff page shows, as plain values; the newest is kept.
        """
        pattern, who = storable(pattern, longest=200), storable(who, longest=200)
        written = json.dumps(explanation, sort_keys=True, default=str)
        with self._link.writing() as connection:
            if self._link.is_postgresql:
                connection.execute(
                    text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _ALARM_LOCK}
                )
            now = self._link.clock()
            going_on = connection.execute(
                select(alarms).where(
                    alarms.c.who == who,
                    alarms.c.pattern == pattern,
                    alarms.c.acknowledged.is_(None),
                )
            ).first()
            identity = random_id() if going_on is None else going_on.id
            if going_on is None:
                connection.execute(
                    insert(alarms).values(
                        id=identity,
                        pattern=pattern,
                        who=who,
                        score=float(score),
                        explanation=written,
                        first=now,
                        last=now,
                        count=1,
                    )
                )
                watch = Actor("~watch", "office")
                about = f"{pattern}: {who}" if who else pattern
                enter(connection, watch, Action.ALARM, now, about=about)
            else:
                connection.execute(
                    update(alarms)
                    .where(alarms.c.id == identity)
                    .values(
                        score=max(float(score), going_on.score),
                        explanation=written,
                        last=now,
                        count=alarms.c["count"] + 1,
                    )
                )
            return _alarm_of(
                connection.execute(select(alarms).where(alarms.c.id == identity)).one()
            )

    def all(self, *, open_only: bool = False, limit: int = 200) -> tuple[Alarm, ...]:
        """Alarms, the newest first; only those that nobody has looked at, if so asked."""
        asked = select(alarms).order_by(alarms.c.last.desc(), alarms.c.id).limit(max(0, limit))
        if open_only:
            asked = asked.where(alarms.c.acknowledged.is_(None))
        with self._link.reading() as connection:
            return tuple(map(_alarm_of, connection.execute(asked)))

    def acknowledge(self, alarm: str, *, by: Actor) -> Alarm:
        """Note that somebody has looked at an alarm; the next one of its kind is a new one.

        Raises:
            UnknownName: There is no such alarm.
        """
        with self._link.writing() as connection:
            now = self._link.clock()
            row, first = _marked(connection, alarms, "alarm", alarm, "acknowledged", by, now)
            if first:
                enter(connection, by, Action.ALARM, now, about=f"acknowledged {row.id}")
            return _alarm_of(row)

    def apply_retention(self, days: int, *, by: Actor) -> int:
        """Remove the alarms that did not go on for some days; how many there were."""
        return _remove_old(self._link, alarms, alarms.c.last, days, by)


class FeedbackBox:
    """What people write to the office."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def add(self, words: str, *, contact: str = "", question: str = "") -> Feedback:
        """Keep a text.

        Args:
            words: What somebody wrote; at most 4,000 characters.
            contact: How the office can answer, if the person wants that.
            question: The text of the question that the page showed.

        Raises:
            SpecError: It is empty or too long.
            OutputError: Too many wait to be read.
        """
        words, contact = storable(words).strip(), storable(contact).strip()
        if not words:
            raise SpecError("The text is empty.")
        if len(words) > LONGEST_FEEDBACK:
            raise SpecError(
                f"The text has {len(words):,} characters; at most {LONGEST_FEEDBACK:,} are allowed."
            )
        if len(contact) > _LONGEST_CONTACT:
            raise SpecError(f"The contact has more than {_LONGEST_CONTACT} characters.")
        kept = Feedback(
            id=random_id(),
            time=self._link.clock(),
            text=words,
            contact=contact,
            question=storable(question, longest=_LONGEST_QUESTION),
            read_by=None,
            read=None,
        )
        with self._link.writing() as connection:
            if _is_full(connection):
                raise OutputError(
                    f"{MOST_UNREAD:,} texts wait to be read by the office. Try again later."
                )
            connection.execute(insert(feedback).values(asdict(kept)))
        return kept

    def is_full(self) -> bool:
        """Whether so many texts wait to be read that no more are taken."""
        with self._link.reading() as connection:
            return _is_full(connection)

    def all(self, *, unread_only: bool = False, limit: int = 200) -> tuple[Feedback, ...]:
        """What was written, the newest first."""
        asked = (
            select(feedback).order_by(feedback.c.time.desc(), feedback.c.id).limit(max(0, limit))
        )
        if unread_only:
            asked = asked.where(feedback.c.read.is_(None))
        with self._link.reading() as connection:
            return tuple(Feedback(**row._mapping) for row in connection.execute(asked))

    def mark_read(self, identity: str, *, by: Actor) -> Feedback:
        """Note that somebody of the office has read a text.

        Raises:
            UnknownName: There is no such text.
        """
        with self._link.writing() as connection:
            now = self._link.clock()
            row, _ = _marked(connection, feedback, "feedback", identity, "read", by, now)
            return Feedback(**row._mapping)

    def apply_retention(self, days: int, *, by: Actor) -> int:
        """Remove what was written before some days, read or not; how many texts there were."""
        return _remove_old(self._link, feedback, feedback.c.time, days, by)


def _is_full(connection: Connection) -> bool:
    unread = select(func.count()).select_from(feedback).where(feedback.c.read.is_(None))
    return int(connection.execute(unread).scalar_one()) >= MOST_UNREAD


def _marked(
    connection: Connection,
    table: Table,
    kind: str,
    identity: str,
    mark: str,
    by: Actor,
    now: datetime,
) -> tuple[AnyRow, bool]:
    """A row at which somebody has looked, and whether nobody had before."""
    asked = select(table).where(table.c.id == storable(identity))
    row = connection.execute(asked).one_or_none()
    if row is None:
        known = connection.execute(select(table.c.id)).scalars().all()
        raise UnknownName(kind, identity[:40], known=known)
    first = row._mapping[mark] is None
    if first:
        values = {mark: now, f"{mark}_by": storable(by.who)}
        connection.execute(update(table).where(table.c.id == row.id).values(values))
    return connection.execute(asked).one(), first


def _remove_old(link: Link, table: Table, time: Column[Any], days: int, by: Actor) -> int:
    if days < 1:
        raise SpecError("Alarms and messages are kept for at least one day.")
    with link.writing() as connection:
        now = link.clock()
        gone = connection.execute(delete(table).where(time < now - timedelta(days=days))).rowcount
        if gone:
            about = f"{gone} of {table.name}, kept {days} days"
            enter(connection, by, Action.RETENTION, now, about=about)
    return gone


def _alarm_of(row: AnyRow) -> Alarm:
    return Alarm(**{**row._mapping, "explanation": json.loads(row.explanation)})


#: How many tables an account may keep.
MOST_SAVED = 500
_LONGEST_SAVED = 200_000
_LONGEST_VIEW = 4_000


class SavedTables:
    """The saved tables of one database."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def add(
        self, account: Account, name: str, question: str, view: Mapping[str, str] | None = None
    ) -> SavedTable:
        """Keep a question.

        Args:
            account: Whose it is.
            name: How its owner calls it.
            question: The text of the question.
            view: How its answer is shown: rows, columns, tab and so on.

        Raises:
            SpecError: There are too many, or it is too long.
        """
        name = check_words(name, "name of the table", longest=200)
        shown = {storable(key): storable(value) for key, value in (view or {}).items()}
        written = json.dumps(shown, sort_keys=True, ensure_ascii=False)
        if len(question) > _LONGEST_SAVED or len(written) > _LONGEST_VIEW:
            raise SpecError("The question, or how it is shown, is too long to be saved.")
        saved = SavedTable(
            id=random_id(),
            name=name,
            question=storable(question),
            view=shown,
            created=self._link.clock(),
        )
        with self._link.writing() as connection:
            # On PostgreSQL two of them at once must not both be the last that is allowed.
            connection.execute(
                select(accounts.c.id).where(accounts.c.id == account.id).with_for_update()
            )
            have = connection.execute(
                select(func.count())
                .select_from(saved_tables)
                .where(saved_tables.c.account == account.id)
            ).scalar_one()
            if have >= MOST_SAVED:
                raise SpecError(
                    f"There are {have} saved tables, and no more are allowed. Remove one first."
                )
            row = {**asdict(saved), "account": account.id, "view": written}
            connection.execute(insert(saved_tables).values(row))
        return saved

    def of(self, account: Account) -> tuple[SavedTable, ...]:
        """The saved tables of an account, the newest first."""
        with self._link.reading() as connection:
            rows = connection.execute(
                select(*(column for column in saved_tables.c if column.name != "account"))
                .where(saved_tables.c.account == account.id)
                .order_by(saved_tables.c.created.desc(), saved_tables.c.id)
            ).all()
        return tuple(SavedTable(**{**row._mapping, "view": json.loads(row.view)}) for row in rows)

    def remove(self, account: Account, saved: str) -> None:
        """Remove a saved table of an account.

        Raises:
            UnknownName: It has none of this id.
        """
        with self._link.writing() as connection:
            gone = connection.execute(
                delete(saved_tables).where(
                    saved_tables.c.id == storable(saved), saved_tables.c.account == account.id
                )
            )
        if not gone.rowcount:
            known = [saved_table.id for saved_table in self.of(account)]
            raise UnknownName("saved table", saved[:40], known=known)
