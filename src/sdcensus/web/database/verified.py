"""Tokens that were verified a moment ago, so that not every request costs a hash."""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sdcensus.web.database.records import Account

#: For how many seconds a token counts as verified. A token that was revoked by another process
#: works for so long at most.
LIFETIME = 60.0
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Verified:
    token: str
    account: Account
    expires: datetime | None
    until: float


class VerifiedTokens:
    """A memory of verified tokens, under hashes with a key that only this process knows."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._entries: OrderedDict[bytes, _Verified] = OrderedDict()
        self._lock = threading.Lock()
        self._generation = 0

    @property
    def generation(self) -> int:
        """A number that grows whenever something is dropped."""
        with self._lock:
            return self._generation

    def find(self, text: str, now: datetime) -> Account | None:
        """The account of a token that was verified a moment ago."""
        digest = self._digest(text)
        with self._lock:
            entry = self._entries.get(digest)
            if entry is None:
                return None
            over = entry.expires is not None and entry.expires <= now
            if over or entry.until <= self._clock():
                del self._entries[digest]
                return None
            return entry.account

    def keep(
        self, text: str, token: str, account: Account, expires: datetime | None, generation: int
    ) -> None:
        """Remember a token, unless something was dropped since it was looked up."""
        digest = self._digest(text)
        with self._lock:
            if generation != self._generation:
                return
            self._entries[digest] = _Verified(token, account, expires, self._clock() + LIFETIME)
            self._entries.move_to_end(digest)
            while len(self._entries) > _MOST:
                self._entries.popitem(last=False)

    def drop_token(self, token: str) -> None:
        """Forget a token."""
        self._drop(lambda entry: entry.token == token)

    def drop_account(self, account: str) -> None:
        """Forget all tokens of an account."""
        self._drop(lambda entry: entry.account.id == account)

    def _drop(self, concerned: Callable[[_Verified], bool]) -> None:
        with self._lock:
            self._generation += 1
            for digest in [one for one, entry in self._entries.items() if concerned(entry)]:
                del self._entries[digest]

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode("ascii"), "sha256")
