"""Sessions of browsers: a cookie that nobody guesses, of which only a hash is kept.

And names for clients without an account, so that no address is ever stored. A name is made from the
address with the key of the day. When the day is over its key is gone from the database, and nobody
can tell any more which address was behind a name: not by trying all addresses either.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
from datetime import timedelta

from sqlalchemy import delete, insert, or_, select, update

from sdcensus.errors import SpecError
from sdcensus.web.database.accounts import account_of
from sdcensus.web.database.link import Link, kept_key, storable
from sdcensus.web.database.records import NO_ACCOUNT, Account, Session, StartedSession
from sdcensus.web.database.schema import accounts, daily_keys, sessions

#: A session ends when nothing was asked for so long, and in any case after so long.
IDLE = timedelta(minutes=60)
LONGEST = timedelta(hours=12)
# That a session is used is noted once in this time only, since noting is writing.
_NOTED = timedelta(seconds=60)
_FORM = re.compile(r"[A-Za-z0-9_-]{43}")


class Sessions:
    """The sessions of one database."""

    def __init__(self, link: Link, *, idle: timedelta = IDLE, longest: timedelta = LONGEST) -> None:
        self._link, self._idle, self._longest = link, idle, longest

    def limit(self, *, idle: timedelta, longest: timedelta) -> None:
        """Say after how long sessions end: those that are going on by ``idle``, new ones by both.

        Args:
            idle: After how long without a request.
            longest: After how long in any case.
        """
        self._idle, self._longest = idle, longest

    def start(self, account: Account) -> StartedSession:
        """Begin a session of somebody whose password was right: always a new id.

        Raises:
            SpecError: The account is disabled.
        """
        identity = secrets.token_urlsafe(32)
        with self._link.writing() as connection:
            now = self._link.clock()
            disabled = connection.execute(
                select(accounts.c.disabled).where(accounts.c.id == account.id).with_for_update()
            ).one_or_none()
            if disabled is None or disabled.disabled is not None:
                raise SpecError(f"The account {account.name!r} is disabled.")
            expires = now + self._longest
            connection.execute(
                insert(sessions).values(
                    id_hash=_hash(identity),
                    account=account.id,
                    created=now,
                    last_seen=now,
                    expires=expires,
                )
            )
        return StartedSession(id=identity, csrf=_csrf(identity), account=account, expires=expires)

    def find(self, identity: str) -> Session | None:
        """The session of a cookie; None if there is none, or if it is over."""
        if not _FORM.fullmatch(identity):
            return None
        now = self._link.clock()
        hashed = _hash(identity)
        with self._link.reading() as connection:
            row = connection.execute(
                select(
                    *accounts.c,
                    sessions.c.created.label("started"),
                    sessions.c.last_seen,
                    sessions.c.expires,
                )
                .join(accounts, accounts.c.id == sessions.c.account)
                .where(sessions.c.id_hash == hashed)
            ).one_or_none()
        if row is None or row.disabled is not None:
            return None
        if row.expires <= now or row.last_seen + self._idle <= now:
            self.end(identity)
            return None
        if now - row.last_seen > _NOTED:
            with self._link.writing() as connection:
                connection.execute(
                    update(sessions).where(sessions.c.id_hash == hashed).values(last_seen=now)
                )
        return Session(
            csrf=_csrf(identity),
            account=account_of(row),
            created=row.started,
            expires=row.expires,
        )

    def csrf_matches(self, session: Session, text: str) -> bool:
        """Whether a request shows the token of its session, compared in constant time."""
        return hmac.compare_digest(session.csrf.encode("ascii"), text.encode("utf-8", "replace"))

    def end(self, identity: str) -> None:
        """End a session."""
        with self._link.writing() as connection:
            connection.execute(delete(sessions).where(sessions.c.id_hash == _hash(identity)))

    def sweep(self) -> int:
        """Remove the sessions that are over; how many there were."""
        with self._link.writing() as connection:
            now = self._link.clock()
            over = or_(sessions.c.expires <= now, sessions.c.last_seen <= now - self._idle)
            return connection.execute(delete(sessions).where(over)).rowcount


def _hash(identity: str) -> str:
    return hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()


def _csrf(identity: str) -> str:
    """The token of a session, made from its id, so that no database needs to keep it."""
    return hmac.new(identity.encode("ascii"), b"sdcensus csrf", "sha256").hexdigest()


_LENGTH = 16
#: The part of an address of version 6 that is one household's or one office's.
_HOUSEHOLD_BITS = 64


class Pseudonyms:
    """The names of today's clients."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._day, self._key = "", b""

    def of(self, address: str) -> str:
        """The name of a client for this day, such as ``~3f2a9c0d1b7e4a65``.

        All processes on one database give the same name, before and after a restart.
        """
        now = self._link.clock()
        day = now.date().isoformat()
        with self._lock:
            if day != self._day:
                yesterday = (now - timedelta(days=1)).date().isoformat()
                # The clock of another process may still be before midnight.
                with self._link.writing() as connection:
                    connection.execute(delete(daily_keys).where(daily_keys.c.day < yesterday))
                self._day, self._key = day, kept_key(self._link, daily_keys.c.day, day)
            key = self._key
        digest = hmac.new(key, one_spelling(address).encode("utf-8"), "sha256").hexdigest()
        return f"{NO_ACCOUNT}{digest[:_LENGTH]}"


def one_spelling(address: str) -> str:
    """An address as one client is recognised by it.

    Examples:
        >>> one_spelling("::ffff:192.0.2.7"), one_spelling("2001:db8::1:2:3")
        ('192.0.2.7', '2001:db8::/64')
    """
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return storable(address, longest=200)
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((int(known), _HOUSEHOLD_BITS), strict=False))
