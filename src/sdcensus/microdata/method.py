"""What a pre-tabular method is: frozen parameters in, changes of records out."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.microdata.changes import Changes
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter
from sdcensus.model.progress import Progress
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore

UInt64 = npt.NDArray[np.uint64]


class Draws(Confidential):
    """Random numbers for one purpose, as functions of who a record is about.

    The same record draws the same number whatever the order of the records, however many threads
    ask, and in every store that is derived from the first: digests of identity are kept.

    Args:
        key: The 16 bytes of the purpose, from the office secret.
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        # In a closure, as in the secret: tools that walk over attributes find a function.
        self._key: Callable[[], bytes] = lambda: key

    def __repr__(self) -> str:
        return "<Draws: confidential>"

    def words(self, digests: UInt64, *counters: int | UInt64) -> UInt64:
        """64 random bits for each record: SipHash-2-4 of its digest, followed by counters.

        Args:
            digests: The digests of the records.
            counters: What tells several draws for one record apart: the number of a variable, or
                a number for each record.
        """
        columns = [digests, *(np.broadcast_to(np.uint64(each), digests.shape) for each in counters)]
        return siphash24(self._key(), np.stack(columns, axis=1).astype(np.uint64))


@runtime_checkable
class PreTabularMethod(Protocol):
    """A way to change records before they are counted.

    A frozen dataclass: its fields are its parameters, those that ``takes`` declares, so that the
    command line, the help and the documentation follow from one table. It reads the store and
    answers with changes; it writes nothing, draws nothing but by ``draws``, and gives the same
    changes for the same records in any order.

    Attributes:
        name: The name under which users know it, and under which it is registered.
        version: Raised when the same parameters give other changes.
        summary: What it does, in one sentence.
        takes: What may be said about it.
        purpose: For which purpose it draws; ``None`` for a method that does not.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    summary: ClassVar[str]
    takes: ClassVar[tuple[Parameter, ...]]
    purpose: ClassVar[Purpose | None]

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """What it changes.

        Args:
            records: The store; read only.
            draws: Random numbers of its purpose; ``None`` without one.
            progress: Told how far it is.
        """
        ...
