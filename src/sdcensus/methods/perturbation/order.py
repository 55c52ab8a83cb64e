"""The order of the intervals of a perturbation table, scrambled by the office secret."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.model.perturbation.table import DeviationRow, PerturbationTable
from sdcensus.model.secret import Purpose, Secret, SubSecret

_WORDS = 1 << 64
#: A rest below this part of a piece stays with the piece before it: otherwise a probability of 0.4
#: that is one key more than two pieces of 0.2 would be shuffled quite differently.
_SLIVER = 1000


def scrambled(
    table: PerturbationTable,
    secret: Secret | SubSecret,
    *,
    key_version: int = 1,
    piece: float = 0.2,
) -> PerturbationTable:
    """The same probabilities, with intervals in an order that only holders of the secret know.

    Every interval wider than ``piece`` is cut into pieces of that width and a rest, and the pieces
    of each row are shuffled. Not one probability changes. The row of empty cells stays as it is.
    A rest below a thousandth of a piece is no piece of its own.

    The shuffle is Fisher's and Yates's, from the last piece down, for a row whose deviations stand
    in ascending order. A draw is SipHash-2-4 of two words, the number of the row and a counter
    from 0 on, under the key of purpose ``order``. For a number below ``n``, draws from the largest
    multiple of ``n`` on are passed over, and the rest of the division by ``n`` is taken: every
    order is equally likely. The order of the intervals that the table came with does not matter.

    Args:
        table: Any perturbation table.
        secret: The office secret, or the part of it for the order.
        key_version: The version of the series of published numbers.
        piece: The largest part of the keys that stays together, above 0 and at most 1.
    """
    width = _width(piece, table.modulus)
    key = secret.sub_key(Purpose.ORDER, key_version)
    rows = [table.rows[0]]
    for at in range(1, len(table.rows)):
        rows.append(_shuffled(_pieces(_ascending(table, at), width), _draws(key, at)))
    return replace(table, rows=tuple(rows))


def _width(piece: float, modulus: int) -> int:
    if not 0 < piece <= 1:
        raise SpecError("The pieces of a scrambled order are wider than 0 and at most 1.")
    # As it is written: 0.2 means a fifth, not the nearest binary fraction.
    width = math.floor(Fraction(str(piece)) * modulus)
    if width < 1:
        raise SpecError(
            f"Pieces of {piece} of the keys are narrower than one of {modulus} keys. Take wider"
            " ones; 0.2 is usual."
        )
    return width


def _ascending(table: PerturbationTable, row: int) -> list[tuple[int, int]]:
    """Each deviation of a row once, ascending, with all its keys."""
    keys: dict[int, int] = {}
    for value, width in zip(table.rows[row].deviations, table.rows[row].widths, strict=True):
        keys[value] = keys.get(value, 0) + width
    return sorted(keys.items())


def _pieces(intervals: list[tuple[int, int]], width: int) -> list[tuple[int, int]]:
    if len(intervals) == 1:
        return intervals
    pieces = []
    for value, keys in intervals:
        whole, rest = divmod(keys, width)
        own = [width] * whole
        if whole and rest * _SLIVER < width:
            own[-1] += rest
        else:
            own.append(rest)
        pieces += [(value, piece) for piece in own]
    return pieces


def _shuffled(pieces: list[tuple[int, int]], draws: Iterator[int]) -> DeviationRow:
    order = list(pieces)
    for at in range(len(order) - 1, 0, -1):
        other = _below(at + 1, draws)
        order[at], order[other] = order[other], order[at]
    return DeviationRow(tuple(value for value, _ in order), tuple(width for _, width in order))


def _below(limit: int, draws: Iterator[int]) -> int:
    """A number from 0 to below a limit, each equally likely."""
    fair = _WORDS - _WORDS % limit
    return next(draw for draw in draws if draw < fair) % limit


def _draws(key: bytes, row: int, batch: int = 32) -> Iterator[int]:
    counter = 0
    while True:
        words = np.empty((batch, 2), dtype=np.uint64)
        words[:, 0], words[:, 1] = row, np.arange(counter, counter + batch)
        yield from siphash24(key, words).tolist()
        counter += batch
