"""Passwords: which are allowed, how they are kept, and how fast they may be tried.

Tokens that were verified a moment ago are remembered, so that not every request costs a hash.
"""

from __future__ import annotations

import base64
import hmac
import math
import secrets
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError

from sdcensus.errors import SpecError
from sdcensus.web.database.link import comparable
from sdcensus.web.database.records import Account

SHORTEST = 12
LONGEST = 1_000
_FEWEST_SIGNS = 5
# What people type when twelve characters are asked for.
_COMMON = ("password", "passwort", "contraseña", "motdepasse", "wachtwoord", "qwertyuiop", "azerty")


@dataclass(frozen=True, slots=True)
class Hashing:
    """How much work a guess costs: argon2id with the second recommendation of RFC 9106.

    Attributes:
        passes: How often the memory is gone through.
        memory: How much of it, in KiB.
        lanes: How many threads do it.
        at_once: How many of them may run at the same time, so that memory has a bound.
    """

    passes: int = 3
    memory: int = 65_536
    lanes: int = 4
    at_once: int = 2


class Hasher:
    """Hashes of passwords and of the secrets of tokens."""

    def __init__(self, hashing: Hashing) -> None:
        self._hasher = PasswordHasher(
            time_cost=hashing.passes,
            memory_cost=hashing.memory,
            parallelism=hashing.lanes,
            hash_len=32,
            salt_len=16,
            type=Type.ID,
        )
        self._places = threading.BoundedSemaphore(hashing.at_once)
        # Checked in the place of the hash of an account that does not exist: as much work, and
        # no password leads to it.
        costs = f"m={hashing.memory},t={hashing.passes},p={hashing.lanes}"
        self._nobody = f"$argon2id$v=19${costs}${_random_text(16)}${_random_text(32)}"

    def hash(self, text: str) -> str:
        """A hash with a salt of its own."""
        with self._places:
            return self._hasher.hash(text)

    def matches(self, text: str, hashed: str | None) -> bool:
        """Whether a text is the one that was hashed. The same work if there is no hash."""
        with self._places:
            try:
                self._hasher.verify(hashed or self._nobody, text)
            except (VerificationError, InvalidHashError):
                return False
        return hashed is not None

    def is_outdated(self, hashed: str) -> bool:
        """Whether a hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(hashed)


def _random_text(size: int) -> str:
    return base64.b64encode(secrets.token_bytes(size)).decode("ascii").rstrip("=")


def normal_password(password: str) -> str:
    """A password as it is hashed: in one spelling, whichever keyboard it was typed on."""
    return unicodedata.normalize("NFKC", password.encode("utf-8", "replace").decode("utf-8"))


def check_new_password(password: str, *, name: str) -> str:
    """A new password as it is hashed.

    Raises:
        SpecError: It is too short, or among the first that anyone would try.
    """
    normal = normal_password(password)
    if len(normal) < SHORTEST:
        raise SpecError(
            f"A password has at least {SHORTEST} characters. Four words that nobody else would put"
            " together are easy to remember."
        )
    if len(normal) > LONGEST:
        raise SpecError(f"A password has at most {LONGEST} characters.")
    if any(unicodedata.category(sign) in {"Cc", "Cs"} for sign in normal):
        raise SpecError("A password has no control characters, such as ends of lines.")
    if len(set(normal)) < _FEWEST_SIGNS:
        raise SpecError(f"A password has at least {_FEWEST_SIGNS} different characters.")
    plain = comparable(normal)
    for word in (comparable(name), *_COMMON):
        if len(word) >= 3 and word in plain and len(plain) - len(word) < SHORTEST - 4:
            raise SpecError(
                "This password is among the first that anyone would try: it is the name, or a"
                " common password, with little besides. Choose another one."
            )
    if _is_run(plain):
        raise SpecError("This password is a row of neighbours, such as 1234. Choose another one.")
    return normal


def _is_run(text: str) -> bool:
    """Whether almost every sign is followed by the next one, as in 123456789012 or abcdef."""
    steps = [ord(right) - ord(left) for left, right in pairwise(text)]
    return sum(step in (1, -1, 0) for step in steps) >= len(steps) - 1


# ---------------------------------------------------------------- how fast they may be tried


@dataclass(slots=True)
class _Failures:
    count: int
    last: float
    until: float = 0.0


@dataclass(slots=True)
class Patience:
    """How long a name must wait after failures. In memory: a restart forgets it.

    An attempt counts as a failure before it is checked, so that many at once are not free. Names
    that do not exist wait just as long.

    Attributes:
        free: So many failures cost no time.
        longest: The longest wait in seconds; short, since anyone can make a name wait. Sessions
            and tokens are not touched by it.
        forget: After so many seconds without a failure all is forgotten.
        most: For how many names this is remembered.
        clock: The time in seconds.
    """

    free: int = 5
    longest: int = 60
    forget: int = 3_600
    most: int = 10_000
    clock: Callable[[], float] = time.monotonic
    _names: OrderedDict[str, _Failures] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def attempt(self, name: str) -> int:
        """Count an attempt; the seconds to wait instead, if it is too early."""
        with self._lock:
            now = self.clock()
            failures = self._names.pop(name, None)
            if failures is None or now - failures.last > self.forget:
                failures = _Failures(0, now)
            self._names[name] = failures
            if len(self._names) > self.most:
                self._names.popitem(last=False)
            if now < failures.until:
                return math.ceil(failures.until - now)
            failures.count += 1
            failures.last = now
            over = failures.count - self.free
            if over >= 0:
                failures.until = now + min(2 ** min(over, 30), self.longest)
            return 0

    def succeeded(self, name: str) -> None:
        """Forget the failures of a name."""
        with self._lock:
            self._names.pop(name, None)


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
            for digest in [key for key, entry in self._entries.items() if concerned(entry)]:
                del self._entries[digest]

    def _digest(self, text: str) -> bytes:
        return hmac.digest(self._key, text.encode("ascii"), "sha256")
