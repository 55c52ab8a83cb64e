"""The nearest donor of each recipient, among donors that are sorted by class, rank and word."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

UInt64 = npt.NDArray[np.uint64]
Integers = npt.NDArray[Any]


@compiled
def nearest_donors(
    starts: Integers,
    ends: Integers,
    ranks: Integers,
    words: UInt64,
    donor_ranks: Integers,
    donor_words: UInt64,
    donors: Integers,
    uses: Integers,
    recipients: Integers,
    forbidden: Integers,
    combinations: Integers,
    chosen: Integers,
) -> None:
    """Give each recipient in turn the nearest donor of its class that is free and fits.

    Near is a donor whose rank differs little; of those that differ equally, the one whose word
    follows that of the recipient first, around the circle of all words.

    Args:
        starts: For each recipient where its class begins among the sorted donors.
        ends: Where it ends.
        ranks: Its rank; all 0 where ranks do not matter.
        words: Its random word.
        donor_ranks: The ranks of the donors, ascending within a class.
        donor_words: Their words, ascending within a rank.
        donors: Who they are.
        uses: For each donor how often it may still be used; counted down.
        recipients: For each recipient its row in ``forbidden``.
        forbidden: For each recipient which combinations of values it must not get.
        combinations: For each donor, for each rule, the number of its combination of values.
        chosen: The donor of each recipient, -1 for none. The result.
    """
    for at in range(starts.size):
        start, end, word, rank = starts[at], ends[at], words[at], ranks[at]
        chosen[at] = -1
        left_end = _first_rank(donor_ranks, start, end, rank)
        right_start = left_end
        while chosen[at] < 0 and (left_end > start or right_start < end):
            below = rank - donor_ranks[left_end - 1] if left_end > start else -1
            above = donor_ranks[right_start] - rank if right_start < end else -1
            low_start, high_end = left_end, right_start
            if below >= 0 and (above < 0 or below <= above):
                low_start = _first_rank(donor_ranks, start, left_end, rank - below)
            if above >= 0 and (below < 0 or above <= below):
                high_end = _first_rank(donor_ranks, right_start, end, rank + above + 1)
            chosen[at] = _first_fitting(
                low_start, left_end, right_start, high_end, word, donor_words, donors, uses,
                forbidden[recipients[at]], combinations,
            )  # fmt: skip
            left_end, right_start = low_start, high_end
        if chosen[at] >= 0:
            uses[chosen[at]] -= 1


@compiled
def _first_rank(ranks: Integers, start: int, end: int, rank: int) -> int:
    """The first place of an ascending stretch with at least that rank."""
    while start < end:
        middle = (start + end) // 2
        if ranks[middle] < rank:
            start = middle + 1
        else:
            end = middle
    return start


@compiled
def _first_word(words: UInt64, start: int, end: int, word: np.uint64) -> int:
    while start < end:
        middle = (start + end) // 2
        if words[middle] < word:
            start = middle + 1
        else:
            end = middle
    return start


@compiled
def _first_fitting(
    low_start: int,
    low_end: int,
    high_start: int,
    high_end: int,
    word: np.uint64,
    words: UInt64,
    donors: Integers,
    uses: Integers,
    forbidden: Integers,
    combinations: Integers,
) -> int:
    """Of two stretches sorted by word, merged around the circle, the first donor that will do."""
    low, low_left = _first_word(words, low_start, low_end, word), low_end - low_start
    high, high_left = _first_word(words, high_start, high_end, word), high_end - high_start
    while low_left > 0 or high_left > 0:
        low = low_start if low == low_end else low
        high = high_start if high == high_end else high
        take_low = high_left == 0 or (low_left > 0 and words[low] - word <= words[high] - word)
        if take_low:
            donor, low, low_left = donors[low], low + 1, low_left - 1
        else:
            donor, high, high_left = donors[high], high + 1, high_left - 1
        if uses[donor] > 0:
            fits = True
            for rule in range(combinations.shape[1]):
                if forbidden[combinations[donor, rule]]:
                    fits = False
                    break
            if fits:
                return int(donor)
    return -1
