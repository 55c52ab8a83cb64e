"""The way to the database: opening it, transactions, and what to say when it fails."""

from __future__ import annotations

import base64
import secrets
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sqlalchemy import Column, Connection, Engine, create_engine, event, insert, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError

from sdcensus.errors import InputError, MissingExtra, OutputError
from sdcensus.session.office.private_files import is_private_file, make_private_file

Clock = Callable[[], datetime]

#: Seconds for which a transaction waits for another one.
PATIENCE = 10
_CONNECTIONS = 8
_SQLITE_HEAD = b"SQLite format 3\x00"
_POSTGRESQL = frozenset({"postgresql", "postgres", "postgresql+psycopg"})


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def random_id(bytes_of_chance: int = 10) -> str:
    """A text that nobody guesses, of small letters and digits, 8 of them for 5 bytes."""
    return base64.b32encode(secrets.token_bytes(bytes_of_chance)).decode("ascii").lower()


def storable(text: str, *, longest: int | None = None) -> str:
    """A text that every database can hold: no zero bytes, no halves of signs.

    Examples:
        >>> storable("a\\x00b\\ud800"), storable("abcdef", longest=3)
        ('a\\ufffdb?', 'abc\\u2026')
    """
    whole = (
        text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{REPLACEMENT CHARACTER}")
    )
    if longest is not None and len(whole) > longest:
        return f"{whole[:longest]}\N{HORIZONTAL ELLIPSIS}"
    return whole


def comparable(name: str) -> str:
    """A name as it is compared: in one spelling, without regard to large and small letters."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


@dataclass(frozen=True, slots=True)
class Link:
    """An open database.

    Attributes:
        engine: The pool of connections.
        shown: Where it is, without a password.
        file: The file of SQLite; None for PostgreSQL.
        clock: What time it is.
        secret: What no message may show.
    """

    engine: Engine
    shown: str
    file: Path | None
    clock: Clock
    secret: str

    def __repr__(self) -> str:
        return f"<Link to {self.shown}>"

    @property
    def is_postgresql(self) -> bool:
        """Whether a server holds the database."""
        return self.file is None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and writes nothing."""
        level = {"isolation_level": "REPEATABLE READ"} if self.is_postgresql else {}
        with self._explained(), self.engine.connect() as plain:
            connection = plain.execution_options(**level)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes; of several on SQLite each waits for the one before."""
        with self._explained(), self.engine.connect() as plain:
            connection = plain.execution_options(sdcensus_writes=True)
            with connection.begin():
                yield connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of libraries as ours. They may quote values and passwords, so none is shown."""
        try:
            yield
        except IntegrityError:
            raise
        except SQLAlchemyError as error:
            raise OutputError(
                f"{self.shown} cannot be read or written: {reason_of(error, self.secret)}. Check"
                " that the disk is not full or read-only, and that the server runs."
            ) from None

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def reason_of(error: Exception, secret: str) -> str:
    """The first line of what a database says, without statements, values or the password."""
    said = getattr(error, "orig", None) if isinstance(error, DBAPIError) else None
    text = str(said) if said is not None else "the database is too busy"
    line = next(
        (part.strip() for part in text.splitlines() if part.strip()),
        type(error).__name__,
    )
    for hidden in {secret, unquote(secret)} - {""}:
        line = line.replace(hidden, "***")
    return line.rstrip(".")[:300]


def open_link(where: str | Path, *, clock: Clock, must_exist: bool = False) -> Link:
    """Open a SQLite file or a PostgreSQL database; nothing is made in it yet.

    Raises:
        InputError: It is neither, or it does not exist.
        OutputError: The file cannot be made.
    """
    words = str(where)
    if "://" not in words:
        return _open_file(Path(words), clock, must_exist)
    scheme = words.partition("://")[0]
    if scheme in {"sqlite", "sqlite+pysqlite"}:
        path = words.partition("://")[2].partition("?")[0]
        if not path.strip("/") or ":memory:" in path:
            raise InputError("The accounts need a file or a server: give the path of a file.")
        return _open_file(Path(unquote(path.removeprefix("/"))), clock, must_exist)
    if scheme in _POSTGRESQL:
        return _open_server(words, clock)
    raise InputError(
        f"Databases of the kind {scheme[:40]!r} are not known. Give the path of a file, for SQLite,"
        " or postgresql://USER@HOST/DATABASE."
    )


# ---------------------------------------------------------------- SQLite


def _open_file(path: Path, clock: Clock, must_exist: bool) -> Link:
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give the name of a file for the accounts.")
    if must_exist and not path.exists():
        raise InputError(
            f"{path} does not exist. Make it with:"
            f" sdcensus account add NAME --role staff --database {path}"
        )
    if not make_private_file(path):
        _check_head(path)
        _check_private(path)
    engine = create_engine(
        URL.create("sqlite", database=str(path.absolute())),
        connect_args={"timeout": PATIENCE},
        hide_parameters=True,
        pool_size=_CONNECTIONS,
        max_overflow=_CONNECTIONS,
        pool_timeout=PATIENCE,
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return Link(engine, str(path), path, clock, "")


def _check_head(path: Path) -> None:
    """Refuse a file of another kind before anything is written into it."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_SQLITE_HEAD))
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or type(error).__name__}."
        ) from None
    if head and head != _SQLITE_HEAD:
        raise InputError(f"{path} is not a database of SQLite. Give another name.")


def _check_private(path: Path) -> None:
    if not is_private_file(path):
        raise InputError(
            f"{path} holds hashes of passwords, and other users of this machine can read it. Take"
            f" that right from them first, for example with: chmod 600 {path}"
        )


def _prepare_sqlite(connection: Any, record: object) -> None:
    # Python's own module would begin transactions later than we mean them to.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {PATIENCE * 1000}")
    cursor.execute("PRAGMA journal_mode = WAL")
    # What was answered stands in the audit even after a power cut.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA trusted_schema = OFF")
    # Replacing a row is deleting it, and the audit must hear of that.
    cursor.execute("PRAGMA recursive_triggers = ON")
    # A key of a day that is over must not be left in a free page.
    cursor.execute("PRAGMA secure_delete = ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("sdcensus_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


# ---------------------------------------------------------------- PostgreSQL


def _open_server(words: str, clock: Clock) -> Link:
    try:
        url = make_url(words)
    except (ArgumentError, ValueError):
        raise InputError(
            "The URL of the database cannot be understood. It is written"
            " postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for an @ in the password."
        ) from None
    try:
        import psycopg  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtra("web", needed_for="A database of PostgreSQL") from None
    hidden = url.query.get("password", "")
    secret = str(url.password or (hidden if isinstance(hidden, str) else hidden[0]))
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={"connect_timeout": 5, "application_name": "sdcensus"},
        hide_parameters=True,
        pool_pre_ping=True,
        pool_size=_CONNECTIONS,
        max_overflow=_CONNECTIONS,
        pool_timeout=PATIENCE,
    )
    event.listen(engine, "connect", _prepare_postgresql)
    return Link(engine, _shown(url), None, clock, secret)


def _shown(url: URL) -> str:
    """A URL without its password and without its parameters, which may hold one."""
    plain = URL.create(
        "postgresql", username=url.username, host=url.host, port=url.port, database=url.database
    )
    return plain.render_as_string()


def _prepare_postgresql(connection: Any, record: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{PATIENCE}s'")
        cursor.execute("SET timezone = 'UTC'")
    connection.commit()


def kept_key(link: Link, names: Column[Any], name: str) -> bytes:
    """Random bytes that a table keeps under a name, as ``value``; made when needed first."""
    asked = select(names.table.c.value).where(names == name)
    with link.reading() as connection:
        kept = connection.execute(asked).scalar_one_or_none()
    if kept is not None:
        return bytes(kept)
    key = secrets.token_bytes(32)
    try:
        with link.writing() as connection:
            connection.execute(insert(names.table).values({names.name: name, "value": key}))
        return key
    except IntegrityError:  # another process was faster
        with link.reading() as connection:
            return bytes(connection.execute(asked).scalar_one())
