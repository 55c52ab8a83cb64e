"""The tables of the database, their triggers, and the way from older versions to this one.

Times are texts of fixed width in UTC, so that they are the same, and sort in the same way, in
every database and in the audit. Ids are random texts made here: no database counts for us, and
rows keep their ids when they move from one database to another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.types import TypeDecorator

from sdcensus.errors import InputError

#: What stands before the first entry of an audit.
FIRST_HASH = "0" * 64
#: The lock of PostgreSQL under which the schema is changed: an arbitrary number, ours.
_SCHEMA_LOCK = 7_305_001


def time_text(time: datetime) -> str:
    """A time as it is stored.

    Examples:
        >>> time_text(datetime(2026, 1, 2, 3, 4, 5, 60, tzinfo=UTC))
        '2026-01-02T03:04:05.000060Z'
    """
    return f"{time.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def text_time(text: str) -> datetime:
    """The time that a stored text stands for."""
    return datetime.fromisoformat(text).astimezone(UTC)


class Instant(TypeDecorator[datetime]):
    """A time, stored as a text in UTC."""

    impl = String(27)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """The text of a time."""
        return None if value is None else time_text(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """The time of a text."""
        if value is None:
            return None
        try:
            return text_time(value)
        except ValueError:  # somebody has put something else there, and must be found out
            return datetime.min.replace(tzinfo=UTC)


#: A row of any table or of any join of them.
AnyRow = Row[*tuple[Any, ...]]

METADATA = MetaData()


def _texts(*names: str) -> list[Column[str]]:
    """Columns of texts, none of which is ever missing."""
    return [Column(name, Text, nullable=False) for name in names]


version = Table("sdcensus_version", METADATA, Column("version", Integer, nullable=False))

#: Random bytes that the server needs again after a restart.
keys = Table(
    "keys",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

#: Keys of the pseudonyms of clients: one a day, and none of a day that is over.
daily_keys = Table(
    "daily_keys",
    METADATA,
    Column("day", String(10), primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

accounts = Table(
    "accounts",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("name", Text, nullable=False),
    # The name as it is compared: large and small letters are the same.
    Column("name_key", Text, nullable=False, unique=True),
    Column("role", String(20), nullable=False),
    *_texts("display_name", "password_hash"),
    Column("created", Instant, nullable=False),
    Column("disabled", Instant),
    CheckConstraint("role IN ('registered', 'staff')", name="accounts_role"),
)

sessions = Table(
    "sessions",
    METADATA,
    Column("id_hash", String(64), primary_key=True),
    Column("account", ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("created", Instant, nullable=False),
    Column("last_seen", Instant, nullable=False),
    Column("expires", Instant, nullable=False, index=True),
)

tokens = Table(
    "tokens",
    METADATA,
    Column("id", String(10), primary_key=True),
    Column("account", ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    *_texts("name", "secret_hash"),
    Column("created", Instant, nullable=False),
    *(Column(name, Instant) for name in ("last_used", "expires", "revoked")),
)

saved_tables = Table(
    "saved_tables",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("account", ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True),
    *_texts("name", "question", "view"),
    Column("created", Instant, nullable=False),
)

audit = Table(
    "audit",
    METADATA,
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Instant, nullable=False),
    *_texts("who", "role"),
    Column("action", String(40), nullable=False),
    *_texts("spec_hash", "question"),
    Column("cells", BigInteger, nullable=False),
    *_texts("format", "outcome", "reason"),
    Column("milliseconds", BigInteger, nullable=False),
    Column("request", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Index("audit_who_time", "who", "time"),
    Index("audit_time", "time"),
)

#: The last entry, in one row: so that entries missing at the end are noticed.
audit_head = Table(
    "audit_head",
    METADATA,
    Column("one", Integer, primary_key=True, autoincrement=False),
    Column("sequence", BigInteger, nullable=False),
    Column("hash", String(64), nullable=False),
    CheckConstraint("one = 1", name="audit_head_one"),
)

#: What was removed because its time was over.
audit_anchors = Table(
    "audit_anchors",
    METADATA,
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False),
    Column("removed", BigInteger, nullable=False),
    Column("time", Instant, nullable=False),
)

alarms = Table(
    "alarms",
    METADATA,
    Column("id", String(16), primary_key=True),
    *_texts("pattern", "who"),
    Column("score", Float(53), nullable=False),
    Column("explanation", Text, nullable=False),
    Column("first", Instant, nullable=False),
    Column("last", Instant, nullable=False, index=True),
    Column("count", BigInteger, nullable=False),
    Column("acknowledged_by", Text),
    Column("acknowledged", Instant),
    Index("alarms_who", "who", "pattern"),
)

feedback = Table(
    "feedback",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("time", Instant, nullable=False, index=True),
    *_texts("text", "contact", "question"),
    Column("read_by", Text),
    Column("read", Instant),
)

#: Which numbers are given out, one row for each census. Holds no count and no parameter.
served = Table(
    "served",
    METADATA,
    Column("series", Text, primary_key=True),
    *_texts("census", "reference_date", "data_version"),
    Column("key_version", BigInteger, nullable=False),
    Column("smallest_group", BigInteger),
    *_texts("method", "method_version"),
    # The fingerprints of the methods, by what they count.
    *_texts("settings", "secret_id", "package_version", "people", "store"),
    Column("looks", Integer, nullable=False),
    # The menus that were ever open, a line each: a revision passes over all of them.
    Column("menus", Text, nullable=False),
    Column("since", Instant, nullable=False),
)

#: What has happened to these numbers: opened, revised, drawn anew.
served_events = Table(
    "served_events",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("time", Instant, nullable=False),
    *_texts("series", "name"),
    Column("kind", String(40), nullable=False),
    Column("data_version", Text, nullable=False),
    Column("key_version", BigInteger, nullable=False),
    Column("smallest_group", BigInteger),
)

#: Tables that are worth a backup, each after those to which it refers. Sessions end with the
#: server that holds them, and a key of a day must not outlive it.
LASTING = (
    keys,
    accounts,
    tokens,
    saved_tables,
    audit_anchors,
    audit,
    audit_head,
    alarms,
    feedback,
    served,
    served_events,
)
FLEETING = (sessions, daily_keys)

# ---------------------------------------------------------------- what the audit does not allow

_APPEND_ONLY = "the audit is append-only"
# An entry may go only after an anchor has been set that speaks for it.
_IS_ANCHORED = "OLD.sequence <= COALESCE((SELECT max(sequence) FROM audit_anchors), 0)"

_SQLITE_TRIGGERS = tuple(
    f"CREATE TRIGGER {name} BEFORE {event} BEGIN SELECT RAISE(ABORT, '{_APPEND_ONLY}'); END"
    for name, event in (
        ("audit_update", "UPDATE ON audit"),
        ("audit_delete", f"DELETE ON audit WHEN NOT ({_IS_ANCHORED})"),
        ("audit_anchors_update", "UPDATE ON audit_anchors"),
        ("audit_anchors_delete", "DELETE ON audit_anchors"),
        ("audit_head_update", "UPDATE ON audit_head WHEN NEW.sequence <= OLD.sequence"),
        ("audit_head_delete", "DELETE ON audit_head"),
    )
)

_POSTGRESQL_TRIGGERS = (
    f"""
    CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '{_APPEND_ONLY}'; END $$
    """,
    f"""
    CREATE FUNCTION audit_refuse_unless_anchored() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF {_IS_ANCHORED} THEN RETURN OLD; END IF;
        RAISE EXCEPTION '{_APPEND_ONLY}';
    END $$
    """,
    "CREATE TRIGGER audit_update BEFORE UPDATE ON audit"
    " FOR EACH ROW EXECUTE FUNCTION audit_refuse()",
    "CREATE TRIGGER audit_delete BEFORE DELETE ON audit"
    " FOR EACH ROW EXECUTE FUNCTION audit_refuse_unless_anchored()",
    "CREATE TRIGGER audit_anchors_change BEFORE UPDATE OR DELETE ON audit_anchors"
    " FOR EACH ROW EXECUTE FUNCTION audit_refuse()",
    "CREATE TRIGGER audit_head_update BEFORE UPDATE ON audit_head"
    " FOR EACH ROW WHEN (NEW.sequence <= OLD.sequence) EXECUTE FUNCTION audit_refuse()",
    "CREATE TRIGGER audit_head_delete BEFORE DELETE ON audit_head"
    " FOR EACH ROW EXECUTE FUNCTION audit_refuse()",
    *(
        f"CREATE TRIGGER {name}_truncate BEFORE TRUNCATE ON {name}"
        " FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()"
        for name in ("audit", "audit_anchors", "audit_head")
    ),
)

# ---------------------------------------------------------------- versions


def _first(connection: Connection) -> None:
    """Version 1: all tables, the triggers, and an audit without entries."""
    METADATA.create_all(connection)
    postgresql = connection.dialect.name == "postgresql"
    for statement in _POSTGRESQL_TRIGGERS if postgresql else _SQLITE_TRIGGERS:
        connection.execute(text(statement))
    connection.execute(insert(audit_head).values(one=1, sequence=0, hash=FIRST_HASH))


def _second(connection: Connection) -> None:
    """Version 2: which numbers were given out. New databases have the tables already."""
    METADATA.create_all(connection, tables=[served, served_events])


Step = Callable[[Connection], None]
#: Step n leads from version n to version n + 1. Steps that were released are never changed.
STEPS: tuple[Step, ...] = (_first, _second)


def migrate(connection: Connection, *, where: str, steps: Sequence[Step] = STEPS) -> int:
    """Bring a database to the newest version, in one transaction.

    Args:
        connection: A connection that may write, at the beginning of its transaction.
        where: The name of the database, for messages.
        steps: What leads from each version to the next.

    Returns:
        The version that it had.

    Raises:
        InputError: It is of a newer version, or it holds tables that are not ours.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _SCHEMA_LOCK})
    names = set(inspect(connection).get_table_names())
    if version.name not in names:
        ours = sorted(names & set(METADATA.tables))
        if ours:
            raise InputError(
                f"{where} holds tables of another program ({', '.join(ours)})."
                " Give the table builder a database of its own."
            )
        version.create(connection)
        connection.execute(insert(version).values(version=0))
    before = connection.execute(select(version.c.version)).scalar_one()
    if before > len(steps):
        raise InputError(
            f"{where} was written by a newer version of sdcensus (its tables are of version"
            f" {before}, and this program knows version {len(steps)}). Install the newer version."
        )
    for step in steps[before:]:
        step(connection)
    if before < len(steps):
        connection.execute(update(version).values(version=len(steps)))
    return int(before)
