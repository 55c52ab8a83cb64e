"""Blanks where companions state what a record states: all groups, shared values, small groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.suppression.stated import (
    candidate_sets,
    given_back,
    moved_down,
    shared_blanks,
    single_steps,
    stated_counts,
)
from sdcensus.kernels.suppression.stated_search import fewer_blanks
from sdcensus.microdata.release.suppression_file import KeyedFile, closed_groups
from sdcensus.model.progress import Progress

Integers = npt.NDArray[Any]
Bool = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]

#: How often blanks of shared values are handed on before all of them are blanked.
_ROUNDS_OF_SHARING = 12
#: Up to so many records something cheaper is searched for, in all with so much work.
_SEARCHED, _SEARCH_WORK, _MOST_ROUNDS = 400, 1_200_000_000, 8000


def blank_stated(file: KeyedFile, weights: Int64, k: int, progress: Progress) -> None:
    """Blank values until ``k`` records state all that each record states.

    Masks and counts of the file are changed in place.
    """
    busy = np.zeros(file.bounds.size - 1, dtype=bool)
    busy[file.group[file.counts < k]] = True
    if busy.any():
        _blank_all(file, busy[file.group], weights, k, progress)
        _give_back(file, k)
        _search(file, busy, weights, k, progress)
        _give_back(file, k)
    file.counts[:] = stated_counts(file.codes, file.masks, file.group)
    progress("blanking keys", 1.0)


def _blank_all(file: KeyedFile, busy: Bool, weights: Int64, k: int, progress: Progress) -> None:
    """Blank values of the groups where somebody is alone, and of those who share these values."""
    sets = candidate_sets(file.codes[busy], weights, k, file.group[busy])
    shared_keys = np.uint32(sum(1 << key for key in _shared_keys(file)))
    every = file.given | _may_be_blank(file)
    floor = file.given.copy()
    masks, turn = file.masks, 0
    while True:
        progress("blanking keys", min(turn / _ROUNDS_OF_SHARING, 0.9))
        masks[:] = floor
        short = stated_counts(file.codes, floor, file.group) < k
        active = np.isin(file.group, np.unique(file.group[short]))
        if turn >= _ROUNDS_OF_SHARING:
            floor |= np.where(active, every & shared_keys, np.uint32(0))
        rows = np.flatnonzero(active)
        chosen = every[rows]
        moved_down(file.codes[rows], chosen, floor[rows], sets, k, file.group[rows])
        masks[rows] = chosen
        # A blank is one of all who share the value: the others choose anew, and have it blanked.
        shared = shared_blanks(masks, file.given, file.slots, file.slot_keys.size)
        if (shared == masks).all():
            return
        floor |= shared & shared_keys
        turn += 1


def _may_be_blank(file: KeyedFile) -> UInt32:
    bits = np.uint32(1) << np.arange(file.slots.shape[1], dtype=np.uint32)
    free: UInt32 = ((file.slots >= 0) * bits).sum(axis=1, dtype=np.uint32)
    return free


def _shared_keys(file: KeyedFile) -> list[int]:
    """Keys with a value that several records share."""
    return sorted(set(file.slot_keys[np.diff(file.member_starts) > 1].tolist()))


def _give_back(file: KeyedFile, k: int) -> None:
    """Give back every blank that nobody needs; what one gives back may help the next."""
    shared = _shared_keys(file)
    kept = sum(1 << key for key in shared)
    again = True
    while again:
        again = given_back(
            file.codes,
            file.masks,
            file.given,
            file.slots,
            file.members,
            file.member_starts,
            shared,
            k,
            file.group,
        )
        steps = single_steps(file.masks, file.given)
        if moved_down(file.codes, file.masks, file.given, steps, k, file.group, kept):
            again = True


def _search(file: KeyedFile, busy: Bool, weights: Int64, k: int, progress: Progress) -> None:
    """Look for something cheaper in small groups."""
    starts, stops = file.bounds[:-1], file.bounds[1:]
    small = np.flatnonzero(busy & closed_groups(file) & (stops - starts <= _SEARCHED))
    work = int(((stops - starts)[small] ** 2).sum()) * (1 << weights.size)
    rounds = min(_SEARCH_WORK // max(work, 1), _MOST_ROUNDS)
    columns = (
        file.codes,
        file.given,
        file.slots,
        file.slot_keys,
        file.members,
        file.member_starts,
    )
    for done, place in enumerate(small.tolist() if rounds else []):
        progress("looking for fewer blanks", done / small.size)
        fewer_blanks(
            columns,
            file.masks,
            int(starts[place]),
            int(stops[place]),
            weights,
            k,
            rounds,
        )
