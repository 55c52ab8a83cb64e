"""The office secret, and the secrets for one purpose that are derived from it.

Both keep their bytes out of everything that shows, copies or stores objects: a log line, a
traceback with local variables, a notebook, a pickled task. Only methods with a long name give
bytes out. Losing the secret means that no later table can agree with the published ones; showing
it means that anyone can undo their protection.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NoReturn, final

from sdcensus.errors import Refused, SecretError

SHORTEST, LONGEST = 16, 64
SUB_KEY_BYTES = 16


class Purpose(StrEnum):
    """What a derived key is for; draws for different purposes are unrelated."""

    LOOKUP = "lookup"
    ORDER = "order"
    SWAP = "swap"
    PRAM = "pram"
    WEIGHTS = "weights"
    SAMPLE = "sample"
    IMPUTE = "impute"
    ROUND = "round"
    SAFE = "safe"
    COPY = "copy"
    ADJUST = "adjust"
    SMALL_COUNTS = "small-counts"


class _Confidential:
    """Bytes that are not shown, copied, pickled or changed."""

    # The bytes stand in a closure: tools that walk over attributes find a function.
    __slots__ = ("_bytes", "_id")
    _bytes: Callable[[], bytes]
    _id: str

    def __init__(self, material: bytes, identity: str) -> None:
        object.__setattr__(self, "_bytes", lambda: material)
        object.__setattr__(self, "_id", identity)

    @property
    def id(self) -> str:
        """Sixteen hex digits that tell office secrets apart and give nothing away."""
        return self._id

    # Having this and no __hash__, it cannot be hashed: a hash by value would give bytes away.
    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, _Confidential):
            return NotImplemented
        return hmac.compare_digest(self._bytes(), other._bytes())

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, specification: str) -> str:
        return repr(self)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A secret cannot be changed.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("A secret cannot be changed.")

    def __copy__(self) -> NoReturn:
        self._refuse("copied")

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        self._refuse("copied")

    def __reduce__(self) -> NoReturn:
        self._refuse("pickled")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        self._refuse("pickled")

    def __getstate__(self) -> NoReturn:
        self._refuse("pickled")

    def _refuse(self, what: str) -> NoReturn:
        raise Refused(
            f"A secret cannot be {what}. Give the path of its file to whoever needs it, and read "
            "it there."
        )


@final
class Secret(_Confidential):
    """The secret of a statistical office, from which all its keys are derived.

    Examples:
        >>> secret = Secret(bytes(range(32)))
        >>> secret
        <Secret id b7a551f2cc2b4dff>
        >>> secret.sub_key(Purpose.LOOKUP, 1).hex()
        'f36e418740ae2a6b26523bdc600882a0'
    """

    __slots__ = ()

    def __init__(self, material: bytes) -> None:
        """Take 16 to 64 random bytes."""
        if type(material) is not bytes:
            raise SecretError("A secret is made of bytes.")
        if not SHORTEST <= len(material) <= LONGEST:
            raise SecretError(f"A secret has {SHORTEST} to {LONGEST} bytes.")
        super().__init__(material, _derive(material, b"", "secret-id", 8).hex())

    def __repr__(self) -> str:
        """Only the id."""
        return f"<Secret id {self.id}>"

    def sub_key(self, purpose: Purpose, version: int) -> bytes:
        """The 16 bytes under which draws for one purpose are made; confidential.

        The version is that of the published numbers: another one is another series of draws.
        """
        return _derive(
            self._bytes(), _checked_version(version), Purpose(purpose).value, SUB_KEY_BYTES
        )

    def sub_secret(self, purpose: Purpose, version: int) -> SubSecret:
        """What a holder gets who may draw for one purpose only."""
        key = self.sub_key(purpose, version)
        return SubSecret(key, purpose=purpose, version=version, secret_id=self.id)

    def reveal_for_record_keys(self) -> bytes:
        """The bytes themselves, for the derivation of record keys and for the office's file."""
        return self._bytes()


@final
class SubSecret(_Confidential):
    """The key of one purpose and version, for those who must not hold the office secret.

    It answers ``sub_key`` like the office secret, for its own purpose and version only. Its
    ``id`` is that of the office secret, so that everything made with it can be compared.

    Examples:
        >>> Secret(bytes(range(32))).sub_secret(Purpose.LOOKUP, 1)
        <SubSecret lookup version 1 of secret b7a551f2cc2b4dff>
    """

    __slots__ = ("_purpose", "_version")
    _purpose: Purpose
    _version: int

    def __init__(self, key: bytes, *, purpose: Purpose, version: int, secret_id: str) -> None:
        """Take the 16 bytes that ``Secret.sub_key`` gave for the purpose and version."""
        if type(key) is not bytes or len(key) != SUB_KEY_BYTES:
            raise SecretError(f"A derived key has {SUB_KEY_BYTES} bytes.")
        _checked_version(version)
        super().__init__(key, secret_id)
        object.__setattr__(self, "_purpose", Purpose(purpose))
        object.__setattr__(self, "_version", version)

    def __repr__(self) -> str:
        """What it is for, and the id of the office secret."""
        return f"<SubSecret {self.purpose} version {self.version} of secret {self.id}>"

    def __eq__(self, other: object) -> bool:
        """Whether both are the same key of the same office secret."""
        if not isinstance(other, SubSecret):
            return NotImplemented
        same_kind = (self.id, self.purpose, self.version) == (
            other.id,
            other.purpose,
            other.version,
        )
        return same_kind and super().__eq__(other)

    @property
    def purpose(self) -> Purpose:
        """What may be drawn with it."""
        return self._purpose

    @property
    def version(self) -> int:
        """The version of the published numbers that it belongs to."""
        return self._version

    def sub_key(self, purpose: Purpose, version: int) -> bytes:
        """The 16 bytes of its own purpose and version; confidential."""
        if (purpose, version) != (self.purpose, self.version):
            raise SecretError(
                f"The secret at hand is for {self.purpose!s} version {self.version}; {purpose!s} "
                f"version {version} is needed. Ask the holder of the office secret for it."
            )
        return self._bytes()


def _checked_version(version: int) -> bytes:
    if type(version) is not int or version < 0:
        raise SecretError("The version of a key is a whole number, 0 or more.")
    return str(version).encode("ascii")


def _derive(material: bytes, message: bytes, person: str, size: int) -> bytes:
    return hashlib.blake2b(
        message, key=material, person=person.encode("ascii"), digest_size=size
    ).digest()
