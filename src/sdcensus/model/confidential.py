"""What must never leave the library by accident."""

from __future__ import annotations

from typing import NoReturn

from sdcensus.errors import Refused


class Confidential:
    """Base of types that hold true counts, keys or records.

    They show no content when printed, formatted or logged, and refuse to be copied into a
    stream: pickling one is how a true count would end up in a queue, a cache or a crash dump.
    """

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise Refused(f"A {type(self).__name__} is confidential and cannot be pickled or copied.")

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, specification: str) -> str:
        return format(repr(self), specification)
