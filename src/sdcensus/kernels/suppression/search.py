"""A search for cheaper blanks in small files, where one blank more or less is seen.

Some blanks are given back, others chosen anew, what is not needed is given back, and what is not
dearer is kept. The search follows its own fixed sequence of numbers: nothing is drawn, and the same
records give the same blanks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.suppression.choices import (
    best_keys,
    blank_slots,
    change_mask,
    free_keys,
    set_costs,
)

Integers = npt.NDArray[Any]
Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]


@compiled
def next_number(state: npt.NDArray[np.uint64], below: int) -> int:
    """The next number of the sequence (xorshift), below a limit."""
    value = state[0]
    value ^= value << np.uint64(13)
    value ^= value >> np.uint64(7)
    value ^= value << np.uint64(17)
    state[0] = value
    return int(np.int64((value >> np.uint64(11)) % np.uint64(below)))


@compiled
def _give_back(
    codes: Int32,
    masks: UInt32,
    counts: Int64,
    start: int,
    stop: int,
    members: Int64,
    member_starts: Int64,
    slot: int,
    bit: int,
    back: bool,
) -> None:
    for at in range(member_starts[slot], member_starts[slot + 1]):
        member = members[at]
        mask = masks[member] & ~np.uint32(bit) if back else masks[member] | np.uint32(bit)
        change_mask(codes, masks, counts, start, stop, member, mask)


@compiled
def _blanked(
    masks: UInt32, given: UInt32, slots: Int32, start: int, stop: int, listed: Int64
) -> int:
    """List the slots that are blanked, each once, with their keys; how many there are."""
    number = 0
    for record in range(start, stop):
        for key in range(slots.shape[1]):
            bit = np.uint32(1) << np.uint32(key)
            if (masks[record] & bit) and not (given[record] & bit):
                slot = slots[record, key]
                known = False
                for at in range(number):
                    if listed[at] == slot:
                        known = True
                        break
                if not known:
                    listed[number] = slot
                    number += 1
    return number


@compiled
def _all_have(counts: Int64, start: int, stop: int, k: int) -> bool:
    lowest = counts[start]
    for record in range(start, stop):
        lowest = min(lowest, counts[record])
    return bool(lowest >= k)


@compiled
def _ruin(
    group_state: Any,
    number: int,
    back: int,
    state: npt.NDArray[np.uint64],
) -> None:
    """Give back some of the blanks that are listed."""
    codes, masks, counts, start, stop, slot_keys, members, member_starts, listed = group_state
    left = number
    for _ in range(min(back, number)):
        at = next_number(state, left)
        slot = listed[at]
        left -= 1
        listed[at] = listed[left]
        bit = 1 << slot_keys[slot]
        _give_back(codes, masks, counts, start, stop, members, member_starts, slot, bit, True)


@compiled
def _recreate(
    codes: Int32,
    masks: UInt32,
    counts: Int64,
    bounds: Int64,
    group: Int64,
    slots: Int32,
    members: Int64,
    member_starts: Int64,
    place: int,
    costs: Int64,
    k: int,
    noise: int,
    gains: Int64,
    news: Int64,
    state: npt.NDArray[np.uint64],
) -> None:
    """Blank greedily, with what records lift made larger by a number of the sequence."""
    start, stop = bounds[place], bounds[place + 1]
    while not _all_have(counts, start, stop, k):
        best_record, best, best_gain, best_cost = -1, 0, 0, 1
        for record in range(start, stop):
            free = free_keys(masks, slots, record)
            keys, gain, cost = best_keys(
                codes, masks, counts, start, stop, record, free, costs, k, gains, news
            )
            score = gain * (1000 + next_number(state, noise))
            if keys and score * best_cost > best_gain * cost:
                best_record, best, best_gain, best_cost = record, keys, score, cost
        if best_record < 0:
            return
        blank_slots(
            codes,
            masks,
            counts,
            bounds,
            group,
            slots,
            members,
            member_starts,
            best_record,
            best,
        )


@compiled
def _prune(
    group_state: Any,
    number: int,
    weights: Int64,
    k: int,
    state: npt.NDArray[np.uint64],
) -> int:
    """Give back what nobody needs, in the order of the sequence; what the others cost."""
    codes, masks, counts, start, stop, slot_keys, members, member_starts, listed = group_state
    cost = 0
    left = number
    while left:
        at = next_number(state, left)
        slot = listed[at]
        left -= 1
        listed[at] = listed[left]
        bit = 1 << slot_keys[slot]
        _give_back(codes, masks, counts, start, stop, members, member_starts, slot, bit, True)
        if not _all_have(counts, start, stop, k):
            _give_back(codes, masks, counts, start, stop, members, member_starts, slot, bit, False)
            cost += weights[slot_keys[slot]]
    return cost


@compiled
def cheaper_blanks(
    codes: Int32,
    masks: UInt32,
    counts: Int64,
    given: UInt32,
    bounds: Int64,
    group: Int64,
    slots: Int32,
    slot_keys: Int32,
    members: Int64,
    member_starts: Int64,
    place: int,
    weights: Int64,
    k: int,
    rounds: int,
) -> None:
    """Look for cheaper blanks of one group, all of whose slots lie in it.

    Args:
        codes, masks, counts, bounds, group, slots, members, member_starts, place, weights, k: As in
            ``choices.blank_greedily``; masks and counts are changed in place where it succeeds.
        given: The keys that were missing before anything was blanked.
        slot_keys: The key of each slot.
        rounds: How often something else is tried.
    """
    start, stop = bounds[place], bounds[place + 1]
    width = codes.shape[1]
    costs = set_costs(weights)
    gains = np.zeros(1 << width, dtype=np.int64)
    news = np.zeros(1 << width, dtype=np.int64)
    listed = np.empty((stop - start) * width + 1, dtype=np.int64)
    state = np.array([0x9E3779B97F4A7C15], dtype=np.uint64)
    kept_masks, kept_counts = masks[start:stop].copy(), counts[start:stop].copy()
    number = _blanked(masks, given, slots, start, stop, listed)
    kept_cost = 0
    for at in range(number):
        kept_cost += weights[slot_keys[listed[at]]]
    group_state = (codes, masks, counts, start, stop, slot_keys, members, member_starts, listed)
    for turn in range(rounds):
        number = _blanked(masks, given, slots, start, stop, listed)
        if number == 0:
            break
        back = number if turn % 16 == 15 else 1 + next_number(state, min(number, 6))
        _ruin(group_state, number, back, state)
        if next_number(state, 2):
            record = start + next_number(state, stop - start)
            keys = free_keys(masks, slots, record) & next_number(state, 1 << width)
            blank_slots(
                codes, masks, counts, bounds, group, slots, members, member_starts, record, keys
            )
        noise = 1 + next_number(state, 4) * 200
        _recreate(
            codes,
            masks,
            counts,
            bounds,
            group,
            slots,
            members,
            member_starts,
            place,
            costs,
            k,
            noise,
            gains,
            news,
            state,
        )
        number = _blanked(masks, given, slots, start, stop, listed)
        cost = _prune(group_state, number, weights, k, state)
        if _all_have(counts, start, stop, k) and cost <= kept_cost:
            kept_cost = cost
            kept_masks[:] = masks[start:stop]
            kept_counts[:] = counts[start:stop]
        else:
            masks[start:stop] = kept_masks
            counts[start:stop] = kept_counts
