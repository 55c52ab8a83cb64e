"""Names for clients without an account, so that no address is ever stored.

A name is made from the address with the key of the day. When the day is over its key is gone from
the database, and nobody can tell any more which address was behind a name: not by trying all
addresses either.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import threading
from datetime import timedelta

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from sdcensus.web.database.link import Link, storable
from sdcensus.web.database.records import NO_ACCOUNT
from sdcensus.web.database.schema import daily_keys

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
                self._day, self._key = day, self._key_of(day, yesterday)
            key = self._key
        digest = hmac.new(key, one_spelling(address).encode("utf-8"), "sha256").hexdigest()
        return f"{NO_ACCOUNT}{digest[:_LENGTH]}"

    def _key_of(self, day: str, yesterday: str) -> bytes:
        asked = select(daily_keys.c.value).where(daily_keys.c.day == day)
        try:
            with self._link.writing() as connection:
                # The clock of another process may still be before midnight.
                connection.execute(delete(daily_keys).where(daily_keys.c.day < yesterday))
                kept = connection.execute(asked).scalar_one_or_none()
                if kept is not None:
                    return bytes(kept)
                made = secrets.token_bytes(32)
                connection.execute(insert(daily_keys).values(day=day, value=made))
                return made
        except IntegrityError:  # another process was faster
            with self._link.reading() as connection:
                return bytes(connection.execute(asked).scalar_one())


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
