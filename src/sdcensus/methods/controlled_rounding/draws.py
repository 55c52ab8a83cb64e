"""Numbers in a fixed sequence, by which a search tries one thing and then another.

They are no secret, and nothing that is published is drawn with them: the same input has the same
sequence, on every machine.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.perturbation.additivity import scattered

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Sequence:
    """A sequence of numbers, from a first one.

    Examples:
        >>> numbers = Sequence(1)
        >>> numbers.below(10, 5).tolist() == Sequence(1).below(10, 5).tolist()
        True
    """

    __slots__ = ("state",)

    def __init__(self, first: int) -> None:
        """Begin a sequence."""
        self.state = np.array([first], dtype=np.uint64)

    def words(self, size: int) -> UInt64:
        """The next words of the sequence."""
        with np.errstate(over="ignore"):
            counted = self.state + _GOLDEN * np.arange(1, size + 1, dtype=np.uint64)
            self.state += _GOLDEN * np.uint64(size)
            return scattered(counted)

    def below(self, most: int | Int64, size: int) -> Int64:
        """Whole numbers from 0 to below ``most``."""
        high = self.words(size) >> np.uint64(33)
        return (high % np.asarray(most).astype(np.uint64)).astype(np.int64)

    def shuffled(self, size: int) -> Int64:
        """The numbers from 0 to below ``size`` in another order."""
        return np.argsort(self.words(size), kind="stable")
