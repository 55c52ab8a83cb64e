"""The database of a table builder, as one object."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from sqlalchemy import text, update

from sdcensus.errors import InputError, OutputError
from sdcensus.web.database.accounts import Accounts
from sdcensus.web.database.audit import AuditLog, enter
from sdcensus.web.database.backup import read_backup, write_backup
from sdcensus.web.database.link import Clock, Link, kept_key, open_link, utc_now
from sdcensus.web.database.notices import Alarms, FeedbackBox, SavedTables
from sdcensus.web.database.passwords import Hasher, Hashing, Patience, VerifiedTokens
from sdcensus.web.database.records import Action, Actor, Restored
from sdcensus.web.database.schema import keys, migrate, version
from sdcensus.web.database.served import Served
from sdcensus.web.database.sessions import IDLE, LONGEST, Pseudonyms, Sessions
from sdcensus.web.database.tokens import Tokens

_TOKEN_KEY = "tokens"


class Database:
    """Accounts, sessions, tokens, saved tables, audit, alarms and feedback.

    Attributes:
        accounts: Those whom the office knows.
        sessions: Their browsers.
        tokens: Their programs.
        saved: Questions that they keep.
        audit: What everybody asked for.
        pseudonyms: Names of those who have no account.
        alarms: What the watch has noticed.
        feedback: What people wrote to the office.
        served: Which numbers were given out.
    """

    def __init__(
        self,
        link: Link,
        *,
        hashing: Hashing = Hashing(),  # noqa: B008  (frozen)
        idle: timedelta = IDLE,
        longest: timedelta = LONGEST,
    ) -> None:
        self._link = link
        verified, hasher = VerifiedTokens(), Hasher(hashing)
        self._hasher, self._verified = hasher, verified
        self.accounts = Accounts(link, hasher, Patience(), verified)
        self.sessions = Sessions(link, idle=idle, longest=longest)
        self.tokens = Tokens(link, hasher, verified, _token_key(link))
        self.saved = SavedTables(link)
        self.audit = AuditLog(link)
        self.pseudonyms = Pseudonyms(link)
        self.alarms = Alarms(link)
        self.feedback = FeedbackBox(link)
        self.served = Served(link)

    @classmethod
    def open(
        cls,
        where: str | Path,
        *,
        hashing: Hashing = Hashing(),  # noqa: B008  (frozen)
        clock: Clock = utc_now,
        must_exist: bool = False,
        idle: timedelta = IDLE,
        longest: timedelta = LONGEST,
    ) -> Database:
        """Open a database, and make or renew its tables.

        Args:
            where: The path of a SQLite file, or ``postgresql://USER:PASSWORD@HOST/DATABASE``.
            hashing: How much work a guess of a password costs.
            clock: What time it is.
            must_exist: Refuse a file that does not exist, instead of making it.
            idle: After how long without a request a session ends.
            longest: After how long a session ends in any case.

        Raises:
            InputError: It is not a database, is of a newer version, or cannot be reached.
            OutputError: It cannot be written.
        """
        link = open_link(where, clock=clock, must_exist=must_exist)
        try:
            if link.is_postgresql:
                _reach(link)
            with link.writing() as connection:
                migrate(connection, where=link.shown)
            return cls(link, hashing=hashing, idle=idle, longest=longest)
        except BaseException:
            link.close()
            raise

    def __repr__(self) -> str:
        return f"<Database {self.shown}>"

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def shown(self) -> str:
        """Where the database is, without a password."""
        return self._link.shown

    def close(self) -> None:
        """Close all connections."""
        self._link.close()

    def check(self) -> None:
        """Write something and take it back, to see that it can be written.

        Raises:
            OutputError: It cannot.
        """
        with self._link.writing() as connection:
            connection.execute(update(version).values(version=version.c.version))
            connection.rollback()

    def backup(self, target: str | Path, *, by: Actor) -> Path:
        """Copy the database, while it is in use, to a new file that only its owner can read.

        Args:
            target: The file. PostgreSQL, and names that end with ``.jsonl``, give lines of JSON;
                SQLite otherwise gives a file of SQLite.
            by: Who makes the copy.
        """
        path = Path(target)
        write_backup(self._link, path)
        self._enter(by, Action.BACKUP, path.name)
        return path

    def restore(self, source: str | Path, *, by: Actor) -> Restored:
        """Fill this database, which must be empty, from a backup of either kind.

        Everybody has to log in again; passwords and tokens are those of the backup.

        Raises:
            InputError: The file is no backup, or is damaged.
            OutputError: This database is not empty.
        """
        path = Path(source)
        rows = read_backup(self._link, path)
        self.tokens = Tokens(self._link, self._hasher, self._verified, _token_key(self._link))
        proof = self.audit.verify()
        self._enter(by, Action.RESTORE, path.name)
        return Restored(rows, proof)

    def _enter(self, by: Actor, action: Action, about: str) -> None:
        with self._link.writing() as connection:
            enter(connection, by, action, self._link.clock(), about=about)


def _reach(link: Link) -> None:
    """Say at once, and as what it is, that a server does not answer."""
    try:
        with link.reading() as connection:
            connection.execute(text("SELECT 1"))
    except OutputError as error:
        reason = str(error).partition("cannot be read or written: ")[2].partition(". Check")[0]
        raise InputError(
            f"The database {link.shown} cannot be reached: {reason}. Check the address, the user"
            " and the password, and that the server runs."
        ) from None


def _token_key(link: Link) -> bytes:
    """The key of the checks in tokens; made when it is needed first."""
    return kept_key(link, keys.c.name, _TOKEN_KEY)
