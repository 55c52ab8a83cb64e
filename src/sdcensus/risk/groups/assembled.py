"""How many variables tables tell about single units, put together over all tables. Confidential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.keys.unit_sets import mark_few
from sdcensus.model.confidential import Confidential
from sdcensus.risk.groups.shown_cells import KindOfCells
from sdcensus.risk.groups.unit_records import CellsOfUnits

_WORD = 64


@dataclass(frozen=True, slots=True, repr=False)
class Assembled(Confidential):
    """Units by the number of variables that tables tell about them.

    Attributes:
        variables: How many variables there are in all.
        alone: For each number of variables (from 0), how many units stand alone in some cell that
            is broken down, so that these variables can be read off.
        grouped: The same for units in some such cell of two or three: the variables are known of
            the group, and of each of them where all have the same value.
    """

    variables: int
    alone: tuple[int, ...]
    grouped: tuple[int, ...]

    def __repr__(self) -> str:
        return "<Assembled: confidential>"

    @property
    def units(self) -> int:
        """How many units stand alone in some cell that is broken down."""
        return sum(self.alone[1:])

    @property
    def mean(self) -> float:
        """Of those, with how many variables on average."""
        total = sum(number * often for number, often in enumerate(self.alone))
        return total / self.units if self.units else 0.0

    def at_least(self, number: int) -> int:
        """How many units stand alone, with at least so many variables."""
        return sum(self.alone[max(number, 1) :])


class AssembledCounter:
    """Collects, for each unit, the variables that cells of few units tell about it."""

    __slots__ = ("_above", "_alone", "_grouped", "_lock", "_place", "_words")

    def __init__(self, units: int, variables: Sequence[str], *, above: int = 0) -> None:
        """Take the number of units, all variables, and the largest group that nothing divides."""
        self._above = above
        self._lock = Lock()
        self._place = {name: at for at, name in enumerate(variables)}
        self._words = -(-max(len(variables), 1) // _WORD)
        self._alone = np.zeros((self._words, units), dtype=np.uint64)
        self._grouped = np.zeros((self._words, units), dtype=np.uint64)

    def add(self, kind: KindOfCells, cells: CellsOfUnits) -> None:
        """Take the cells of one kind; one at a time, whoever calls."""
        places = [self._place[name] for name in kind.own | kind.finer]
        with self._lock:
            for word in range(self._words):
                bits = sum(1 << (at % _WORD) for at in places if at // _WORD == word)
                if bits:
                    mark_few(
                        cells.number,
                        cells.counts,
                        self._above,
                        np.uint64(bits),
                        self._alone[word],
                        self._grouped[word],
                    )

    def result(self) -> Assembled:
        """Units by the number of variables."""
        number = len(self._place)
        return Assembled(number, _histogram(self._alone, number), _histogram(self._grouped, number))


def _histogram(told: npt.NDArray[np.uint64], variables: int) -> tuple[int, ...]:
    bits = np.zeros(told.shape[1], dtype=np.int64)
    for word in told:
        bits += np.bitwise_count(word)
    return tuple(np.bincount(bits, minlength=variables + 1).tolist())
