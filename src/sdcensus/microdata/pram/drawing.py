"""Drawing new codes for the records of a target, in pieces and by several threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.perturbation.lookup import PIECE, frozen, in_pieces
from sdcensus.kernels.perturbation.transitions import count_codes, move_codes, thresholds
from sdcensus.microdata.method import Draws
from sdcensus.microdata.pram.targets import Target
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.transition_matrix import TransitionMatrix
from sdcensus.store.census_store import CensusStore, check_codes

Int64 = npt.NDArray[np.int64]
Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Drawn(Confidential):
    """What was drawn for a target.

    Attributes:
        target, matrix: The target, and by which matrix it was drawn.
        totals: How many records each code had.
        rows: The rows of the records that get another code, ascending.
        before, after: Their codes.
    """

    target: Target
    matrix: TransitionMatrix
    totals: Int64
    rows: Int64
    before: Integers
    after: Integers

    def __repr__(self) -> str:
        return "<Drawn: confidential>"

    def transitions(self) -> Int64:
        """How many records went from each code to each other one, and how many stayed."""
        size = len(self.target.codes)
        pairs = self.before.astype(np.int64) * size + self.after
        counts = np.bincount(pairs, minlength=size * size).reshape(size, size).astype(np.int64)
        np.fill_diagonal(counts, self.totals - counts.sum(axis=1))
        return counts

    def without(self, kept: npt.NDArray[np.bool_]) -> Drawn:
        """The same without some of the changes."""
        if not kept.any():
            return self
        rest = ~kept
        return Drawn(
            self.target,
            self.matrix,
            self.totals,
            self.rows[rest],
            self.before[rest],
            self.after[rest],
        )


def totals_of(codes: Integers, size: int) -> Int64:
    """How many records each code has."""
    check_codes(codes, size)
    pieces = -(-codes.size // PIECE)
    counts = np.zeros((min(pieces, _COUNTERS), 4, size), dtype=np.int64)
    own = frozen(codes)

    def count(begin: int) -> None:
        # Pieces of one counter never run at the same time: they are counted by one call.
        for start in range(begin * PIECE, codes.size, len(counts) * PIECE):
            count_codes(own[start : start + PIECE], counts[begin])

    in_pieces(lambda start: count(start // PIECE), len(counts) * PIECE)
    totals: Int64 = counts.sum(axis=(0, 1))
    return totals


#: Threads that count at the same time, each for itself.
_COUNTERS = 4


def drawn(
    records: CensusStore, target: Target, matrix: TransitionMatrix, totals: Int64, draws: Draws
) -> Drawn:
    """Draw for every record of a target by its own random word."""
    codes = target.encoded(records)
    check_codes(codes, len(target.codes))
    digests = records.digests(target.entity)
    stay, ends = map(frozen, thresholds(matrix.weights))
    own = frozen(codes)
    pieces: list[Int64] = [np.zeros(0, np.int64)] * -(-codes.size // PIECE)
    afters: list[Integers] = [codes[:0]] * len(pieces)

    def draw(begin: int) -> None:
        block = own[begin : begin + PIECE]
        moved, new = np.empty(block.size, np.int64), np.empty(block.size, codes.dtype)
        words = target.words(draws, digests[begin : begin + PIECE])
        changed = move_codes(words, block, stay, ends, moved, new)
        pieces[begin // PIECE] = moved[:changed] + begin
        afters[begin // PIECE] = new[:changed].copy()

    in_pieces(draw, codes.size)
    rows = np.concatenate([np.zeros(0, np.int64), *pieces])
    return Drawn(target, matrix, totals, rows, codes[rows], np.concatenate([codes[:0], *afters]))
