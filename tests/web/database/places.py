"""Databases to test with, and the hands of somebody who gets at them without this program."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from sdcensus.web.database import Database, Hashing

#: Next to no work, so that tests are quick.
CHEAP = Hashing(passes=1, memory=8, lanes=1)
PASSWORD = "correct horse battery staple"


@dataclass(slots=True)
class Clock:
    """A clock that stands still until it is moved."""

    now: datetime = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a database is."""

    url: str
    clock: Clock = field(default_factory=Clock)

    @property
    def is_postgresql(self) -> bool:
        return "://" in self.url

    def open(self) -> Database:
        return Database.open(self.url, hashing=CHEAP, clock=self.clock)

    def run(self, *statements: str) -> None:
        """Run statements past this program."""
        if self.is_postgresql:
            with psycopg.connect(self.url) as connection:
                for statement in statements:
                    connection.execute(statement)
            return
        with closing(sqlite3.connect(self.url)) as file, file:
            for statement in statements:
                file.execute(statement)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        if self.is_postgresql:
            with psycopg.connect(self.url) as connection:
                return connection.execute(statement).fetchall()
        with closing(sqlite3.connect(self.url)) as file:
            return file.execute(statement).fetchall()

    def without_guards(self) -> None:
        """What somebody does first who wants to change the audit: remove the triggers."""
        if self.is_postgresql:
            tables = ("audit", "audit_head", "audit_anchors")
            self.run(*(f"ALTER TABLE {table} DISABLE TRIGGER ALL" for table in tables))
            return
        names = self.rows("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        self.run(*(f"DROP TRIGGER {name}" for (name,) in names))
