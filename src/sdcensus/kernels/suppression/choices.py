"""Which values are blanked: the most records lifted for what they cost, then what is not needed.

A value that several records share, as members of a household share its tenure, is one slot: it is
blanked for all of them or for none. Everything is integers, and ties go to the record that comes
first: callers put records into an order that does not depend on the file's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.suppression.matches import matching, needed

Integers = npt.NDArray[Any]
Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]


@compiled
def change_mask(
    codes: Int32, masks: UInt32, counts: Int64, start: int, stop: int, record: int, mask: int
) -> None:
    """Give a record another mask; the counts of all records of its group follow."""
    before = masks[record]
    for other in range(start, stop):
        if other == record:
            continue
        masks[record] = before
        was = matching(codes, masks, record, other)
        masks[record] = mask
        now = matching(codes, masks, record, other)
        if now and not was:
            counts[record] += 1
            counts[other] += 1
        elif was and not now:
            counts[record] -= 1
            counts[other] -= 1
    masks[record] = mask


@compiled
def blank_slots(
    codes: Int32,
    masks: UInt32,
    counts: Int64,
    bounds: Int64,
    group: Int64,
    slots: Int32,
    members: Int64,
    member_starts: Int64,
    record: int,
    keys: int,
) -> None:
    """Blank keys of a record, and of all records that share their slots."""
    for key in range(codes.shape[1]):
        bit = np.uint32(1) << np.uint32(key)
        if not (np.uint32(keys) & bit):
            continue
        slot = slots[record, key]
        if slot < 0:
            continue
        for at in range(member_starts[slot], member_starts[slot + 1]):
            member = members[at]
            if masks[member] & bit:
                continue
            place = group[member]
            change_mask(
                codes,
                masks,
                counts,
                bounds[place],
                bounds[place + 1],
                member,
                masks[member] | bit,
            )


@compiled
def set_costs(weights: Int64) -> Int64:
    """What each set of keys costs."""
    costs = np.zeros(1 << weights.size, dtype=np.int64)
    for keys in range(costs.size):
        for key in range(weights.size):
            if keys >> key & 1:
                costs[keys] += weights[key]
    return costs


@compiled
def free_keys(masks: UInt32, slots: Int32, record: int) -> int:
    """The keys of a record that are neither missing nor kept from being blanked."""
    free = 0
    for key in range(slots.shape[1]):
        if slots[record, key] >= 0 and not (masks[record] >> np.uint32(key)) & np.uint32(1):
            free |= 1 << key
    return free


@compiled
def best_keys(
    codes: Int32,
    masks: UInt32,
    counts: Int64,
    start: int,
    stop: int,
    record: int,
    free: int,
    costs: Int64,
    k: int,
    gains: Int64,
    news: Int64,
) -> tuple[int, int, int]:
    """The keys of a record that lift most for their cost: keys, what they lift, what they cost.

    What is lifted is counted in missing companions: how many of all that records lack to ``k`` a
    blank gives them. ``free`` are the keys that may be blanked, ``costs`` what each set of keys
    costs, ``gains`` and ``news`` room for a number for each set.
    """
    sets = 1 << codes.shape[1]
    gains[:sets] = 0
    news[:sets] = 0
    for other in range(start, stop):
        if other == record:
            continue
        lacking = needed(codes, masks, record, other)
        if lacking == 0:
            continue
        news[lacking] += 1
        if counts[other] < k:
            gains[lacking] += 1
    for key in range(codes.shape[1]):
        bit = 1 << key
        for keys in range(sets):
            if keys & bit:
                gains[keys] += gains[keys ^ bit]
                news[keys] += news[keys ^ bit]
    deficit = max(k - counts[record], 0)
    best, best_gain, best_cost = 0, 0, 1
    keys = free
    while keys:
        gain = gains[keys] + min(deficit, news[keys])
        if gain:
            cost = costs[keys]
            ahead = gain * best_cost - best_gain * cost
            if ahead > 0 or (ahead == 0 and cost < best_cost):
                best, best_gain, best_cost = keys, gain, cost
        keys = (keys - 1) & free
    return best, best_gain, best_cost


@compiled
def _candidates(
    counts: Int64, touched: Bool, start: int, stop: int, k: int, below: int, most: int, out: Int64
) -> int:
    """Records that are looked at: all of a small group, else some below ``k`` and the touched."""
    chosen = 0
    step = max(below // most, 1)
    seen = 0
    for record in range(start, stop):
        short = counts[record] < k
        wanted = stop - start <= most or (short and seen % step == 0)
        if wanted or (not short and touched[record] and chosen < 2 * most):
            out[chosen] = record
            chosen += 1
        if short:
            seen += 1
    return chosen


@compiled
def blank_greedily(
    codes: Int32,
    masks: UInt32,
    counts: Int64,
    bounds: Int64,
    group: Int64,
    slots: Int32,
    members: Int64,
    member_starts: Int64,
    touched: Bool,
    place: int,
    weights: Int64,
    k: int,
    most: int,
) -> bool:
    """Blank values of one group of records until nobody has fewer than ``k`` alike.

    Args:
        codes, masks, counts: The records; masks and counts are changed in place.
        bounds: Where each group begins; records of a group lie side by side.
        group: The group of each record.
        slots: For each record and key its slot; -1 for a value that nobody may blank.
        members, member_starts: The records of each slot.
        touched: Records that have a blank.
        place: The group.
        weights: What each key costs.
        k: How many should be alike.
        most: At most so many records are looked at for each choice.

    Returns:
        Whether everybody has companions; if not, no blank can help.
    """
    start, stop = bounds[place], bounds[place + 1]
    gains = np.zeros(1 << codes.shape[1], dtype=np.int64)
    news = np.zeros(1 << codes.shape[1], dtype=np.int64)
    candidates = np.empty(stop - start, dtype=np.int64)
    costs = set_costs(weights)
    while True:
        below = 0
        for record in range(start, stop):
            if counts[record] < k:
                below += 1
        if below == 0:
            return True
        chosen = _candidates(counts, touched, start, stop, k, below, most, candidates)
        best_record, best, best_gain, best_cost = -1, 0, 0, 1
        for at in range(chosen):
            record = candidates[at]
            keys, gain, cost = best_keys(
                codes,
                masks,
                counts,
                start,
                stop,
                record,
                free_keys(masks, slots, record),
                costs,
                k,
                gains,
                news,
            )
            ahead = gain * best_cost - best_gain * cost
            if keys and (ahead > 0 or (ahead == 0 and cost < best_cost)):
                best_record, best, best_gain, best_cost = record, keys, gain, cost
        if best_record < 0:
            return False
        touched[best_record] = True
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
def take_back(
    codes: Int32,
    masks: UInt32,
    counts: Int64,
    bounds: Int64,
    group: Int64,
    members: Int64,
    member_starts: Int64,
    order: Int64,
    slot_keys: Int32,
    blanked: Bool,
    k: int,
) -> None:
    """Give back every blank that nobody needs, in an order.

    Giving one back only makes others more needed, so that one pass is enough.

    Args:
        codes, masks, counts, bounds, group, members, member_starts: As in ``blank_greedily``.
        order: The slots that are tried.
        slot_keys: The key of each slot.
        blanked: Which slots are blanked; changed in place.
        k: How many should be alike.
    """
    for slot in order:
        if not blanked[slot]:
            continue
        bit = np.uint32(1) << np.uint32(slot_keys[slot])
        first, last = member_starts[slot], member_starts[slot + 1]
        for at in range(first, last):
            member = members[at]
            place = group[member]
            change_mask(
                codes,
                masks,
                counts,
                bounds[place],
                bounds[place + 1],
                member,
                masks[member] & ~bit,
            )
        lawful = True
        for at in range(first, last):
            place = group[members[at]]
            for record in range(bounds[place], bounds[place + 1]):
                if counts[record] < k:
                    lawful = False
                    break
            if not lawful:
                break
        if lawful:
            blanked[slot] = False
            continue
        for at in range(first, last):
            member = members[at]
            place = group[member]
            change_mask(
                codes,
                masks,
                counts,
                bounds[place],
                bounds[place + 1],
                member,
                masks[member] | bit,
            )
