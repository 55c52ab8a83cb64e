"""A search for fewer blanks in small files, where companions have to state what a record states.

Keys of some records are blanked, whoever is alone by that wholly, and blanks are given back in
another order of sets of keys; what is not dearer is kept. The sequence of numbers is fixed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.suppression.search import next_number

Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]

#: At first, blanks that are dearer by this part are borne.
_PART_BORNE = 8


@compiled
def _agree(codes: Int32, first: int, second: int, missing: int) -> bool:
    """Whether two records have the same in all keys but some."""
    for key in range(codes.shape[1]):
        if not missing >> key & 1 and codes[first, key] != codes[second, key]:
            return False
    return True


@compiled
def _companions(codes: Int32, masks: UInt32, start: int, stop: int, record: int, most: int) -> int:
    """How many state all that a record states, itself among them; counted up to a limit."""
    missing = int(masks[record])
    number = 0
    for other in range(start, stop):
        if int(masks[other]) & ~missing == 0 and _agree(codes, record, other, missing):
            number += 1
            if number >= most:
                break
    return number


@compiled
def _blank_keys(file: Any, masks: UInt32, record: int, keys: int) -> None:
    """Blank those keys of a record that may be, and of those who share the values."""
    _, _, slots, _, members, member_starts = file
    for key in range(slots.shape[1]):
        slot = slots[record, key]
        if slot >= 0 and keys >> key & 1:
            for at in range(member_starts[slot], member_starts[slot + 1]):
                masks[members[at]] |= np.uint32(1 << key)


@compiled
def _ruin(file: Any, masks: UInt32, start: int, stop: int, k: int, state: UInt64) -> None:
    """Blank keys of some records, then wholly all who are alone because of it."""
    codes = file[0]
    middle = start + next_number(state, stop - start)
    ignored = next_number(state, 1 << codes.shape[1])
    # All that are alike, or half of them; and few or many of the others.
    near_part, part = 1 + next_number(state, 2), (1 << next_number(state, 7)) // 2
    everything = (1 << codes.shape[1]) - 1
    keys = next_number(state, everything + 1)
    if next_number(state, 2):
        keys |= everything
    for record in range(start, stop):
        near = _agree(codes, middle, record, ignored)
        if (
            record == middle
            or (near and next_number(state, 2) < near_part)
            or (next_number(state, 32) < part)
        ):
            _blank_keys(file, masks, record, keys)
    again = True
    while again:
        again = False
        for record in range(start, stop):
            if _companions(codes, masks, start, stop, record, k) < k:
                before = masks[record]
                _blank_keys(file, masks, record, everything)
                again = again or masks[record] != before


@compiled
def _moved(
    file: Any, masks: UInt32, kept: UInt32, start: int, stop: int, record: int, missing: int, k: int
) -> bool:
    """Move all who would be alike with a record to a set of missing keys, if they are enough.

    Where somebody who shares a value would be alone by it, those move who share none.
    """
    codes, given = file[0], file[1]
    number = 0
    for other in range(start, stop):
        own = int(masks[other])
        inside = own & ~missing == 0
        mover = own & missing == missing and int(given[other]) & ~missing == 0
        if (inside or mover) and _agree(codes, record, other, missing):
            number += 1
    if number < k:
        return False
    for only_own in (False, True):
        kept[start:stop] = masks[start:stop]
        shared = _move(file, masks, kept, start, stop, record, missing, only_own)
        lawful = True
        for other in range(start, stop):
            if lawful and (shared or only_own) and masks[other] != kept[other]:
                lawful = _companions(codes, masks, start, stop, other, k) >= k
        if lawful:
            return bool(masks[record] != kept[record])
        masks[start:stop] = kept[start:stop]
    return False


@compiled
def _move(
    file: Any,
    masks: UInt32,
    kept: UInt32,
    start: int,
    stop: int,
    record: int,
    missing: int,
    only_own: bool,
) -> bool:
    """Give back what keeps records from a set of missing keys; whether others share any of it."""
    codes, given, slots, _, members, member_starts = file
    any_shared = False
    for other in range(start, stop):
        own = int(kept[other])
        if own == missing or own & missing != missing or int(given[other]) & ~missing:
            continue
        if not _agree(codes, record, other, missing):
            continue
        shared = False
        for key in range(codes.shape[1]):
            slot = slots[other, key]
            if (own & ~missing) >> key & 1 and member_starts[slot + 1] - member_starts[slot] > 1:
                shared = True
        any_shared = any_shared or shared
        if only_own and shared and other != record:
            continue
        for key in range(codes.shape[1]):
            if (own & ~missing) >> key & 1:
                slot = slots[other, key]
                for at in range(member_starts[slot], member_starts[slot + 1]):
                    masks[members[at]] &= ~np.uint32(1 << key)
    return any_shared


@compiled
def _returned(file: Any, masks: UInt32, start: int, stop: int, shift: int, k: int) -> bool:
    """Give back single values that several records share, where all of these stay safe."""
    codes, given, slots, _, members, member_starts = file
    changed = False
    for place in range(start, stop):
        record = start + (place + shift) % (stop - start)
        for key in range(codes.shape[1]):
            slot, bit = slots[record, key], np.uint32(1 << key)
            if slot < 0 or not masks[record] & ~given[record] & bit:
                continue
            first, last = member_starts[slot], member_starts[slot + 1]
            if last - first < 2 or members[first] != record:
                continue
            for at in range(first, last):
                masks[members[at]] &= ~bit
            lawful = True
            for at in range(first, last):
                if lawful and _companions(codes, masks, start, stop, members[at], k) < k:
                    lawful = False
            if lawful:
                changed = True
                continue
            for at in range(first, last):
                masks[members[at]] |= bit
    return changed


@compiled
def _descend(
    file: Any, masks: UInt32, kept: UInt32, start: int, stop: int, sets: Int64, shift: int, k: int
) -> None:
    """Give blanks back, set by set and from a record on, until nothing more can be."""
    given = file[1]
    again = True
    while again:
        again = False
        for missing in sets:
            for place in range(start, stop):
                record = start + (place + shift) % (stop - start)
                own = int(masks[record])
                if own == missing or own & missing != missing or int(given[record]) & ~missing:
                    continue
                if _moved(file, masks, kept, start, stop, record, missing, k):
                    again = True
        if _returned(file, masks, start, stop, shift, k):
            again = True


@compiled
def _cost(file: Any, masks: UInt32, start: int, stop: int, weights: Int64) -> int:
    """What all blanks cost; one that is shared costs once."""
    _, given, slots, _, members, member_starts = file
    cost = 0
    for record in range(start, stop):
        for key in range(slots.shape[1]):
            slot = slots[record, key]
            if slot < 0 or members[member_starts[slot]] != record:
                continue
            if (masks[record] & ~given[record]) >> np.uint32(key) & np.uint32(1):
                cost += weights[key]
    return cost


@compiled
def _lawful(file: Any, masks: UInt32, start: int, stop: int, k: int) -> bool:
    """Whether everybody has enough companions."""
    lawful = True
    for record in range(start, stop):
        if lawful and _companions(file[0], masks, start, stop, record, k) < k:
            lawful = False
    return lawful


@compiled
def _scored(weights: Int64, scores: Int64, state: UInt64) -> None:
    """In which order sets of keys are tried: by what they cost, with keys and sets worth more."""
    noise = 1 + next_number(state, 4) * 300
    fickle = next_number(state, 2)
    scores[:] = 0
    for key in range(weights.size):
        # A blank that others share is cheaper than it seems.
        weight = weights[key] * (1000 if fickle == 0 else 100 + next_number(state, 1900))
        for keys in range(scores.size):
            if keys >> key & 1:
                scores[keys] += weight
    for keys in range(scores.size):
        scores[keys] += scores[keys] * next_number(state, noise) // 1000 + next_number(state, 50)


@compiled
def fewer_blanks(
    file: Any,
    masks: UInt32,
    start: int,
    stop: int,
    weights: Int64,
    k: int,
    rounds: int,
) -> None:
    """Look for cheaper blanks of one group, all of whose values lie in it.

    Args:
        file: Codes, keys that were missing before, slots, their keys, members and where they begin,
            as ``choices.blank_greedily`` takes them.
        masks: The keys that are missing; changed in place where it succeeds.
        start, stop: The records of the group.
        weights: What each key costs.
        k: How many should be alike.
        rounds: How often something else is tried.
    """
    state = np.array([0x9E3779B97F4A7C15], dtype=np.uint64)
    kept = masks.copy()
    best = masks[start:stop].copy()
    best_cost = _cost(file, masks, start, stop, weights)
    current, current_cost = best.copy(), best_cost
    scores = np.empty(1 << weights.size, dtype=np.int64)
    for turn in range(rounds):
        if best_cost == 0:
            break
        _ruin(file, masks, start, stop, k, state)
        _scored(weights, scores, state)
        shift = next_number(state, stop - start)
        _descend(file, masks, kept, start, stop, np.argsort(scores), shift, k)
        cost = _cost(file, masks, start, stop, weights)
        # Something dearer may be the way to something cheaper; less and less of it is borne.
        borne = best_cost + best_cost * (rounds - turn) // (_PART_BORNE * rounds)
        if cost > borne or not _lawful(file, masks, start, stop, k):
            masks[start:stop] = current if current_cost <= borne else best
            continue
        current_cost = cost
        current[:] = masks[start:stop]
        if cost <= best_cost:
            best_cost = cost
            best[:] = current
    masks[start:stop] = best
