"""Blanks until enough records state all that a record still states.

A record counts for another one only where it states the same: a blank of its own makes it count for
fewer, never for more. So giving a blank back never takes a companion from anybody, and values are
chosen from above: whoever is alone starts with every key blanked, and sets of keys that are cheap
to blank are tried first. All records that a set would leave alike move to it at once. Nothing
depends on the order of records.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.suppression.matches import projected

Integers = npt.NDArray[Any]
Bool = npt.NDArray[np.bool_]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]

#: Above so many records times sets of keys, only the sets that lift most are looked at.
_MOST_WORK = 400_000_000
_KEPT_SETS = 4


def stated_counts(codes: Int32, masks: UInt32, group: Int64 | None = None) -> Int64:
    """For each record how many state all that it states, and the same; itself among them.

    Args:
        codes: The code of each record (rows) for each key; anything where it is missing.
        masks: For each record the keys that are missing, as bits.
        group: The group of each record; only those of one group are alike.

    Examples:
        >>> codes = np.array([[0, 1], [0, 1], [0, 2], [1, 1]], dtype=np.int32)
        >>> stated_counts(codes, np.array([0, 0, 2, 0], dtype=np.uint32))
        array([2, 2, 3, 1])
    """
    return supports(codes, masks, masks, np.ones(masks.size, dtype=bool), group)


def supports(
    codes: Int32, masks: UInt32, targets: UInt32, asked: Bool, group: Int64 | None = None
) -> Int64:
    """How many records state all that some would state with other blanks.

    Args:
        codes, masks, group: As in ``stated_counts``.
        targets: The keys that each record would have missing.
        asked: The records that are asked about; 0 for others.
    """
    counts = np.zeros(masks.size, dtype=np.int64)
    for keys in np.unique(targets[asked]):
        about = asked & (targets == keys)
        rows = np.flatnonzero(about | (masks & ~keys == 0))
        cells = _cells_of(codes, rows, int(keys), group)
        inside = masks[rows] & ~keys == 0
        number = np.bincount(cells[inside], minlength=int(cells.max(initial=-1)) + 1)
        wanted = about[rows]
        counts[rows[wanted]] = number[cells[wanted]]
    return counts


def _cells_of(codes: Int32, rows: Int64, missing: int, group: Int64 | None) -> Int64:
    """The number of what each row states besides some keys."""
    columns = [codes[rows, key] for key in range(codes.shape[1]) if not missing >> key & 1]
    if group is not None:
        columns.insert(0, group[rows])
    if not columns:
        return np.zeros(rows.size, dtype=np.int64)
    return projected(np.stack(columns, axis=1))


def candidate_sets(codes: Int32, weights: Int64, k: int, group: Int64 | None) -> list[int]:
    """Sets of keys to blank, the cheapest first, and of two those that lift more records.

    Of many keys in a large file not all sets can be looked at: those are that lift most, and from
    these one key more.
    """
    width = codes.shape[1]
    rows = np.arange(codes.shape[0], dtype=np.int64)
    everything = (1 << width) - 1

    def lifted(keys: int) -> int:
        cells = _cells_of(codes, rows, keys, group)
        return int((np.bincount(cells)[cells] >= k).sum())

    if codes.shape[0] << width <= _MOST_WORK:
        lifts = {keys: lifted(keys) for keys in range(1 << width)}
    else:
        lifts, level = {0: 0, everything: codes.shape[0]}, [0]
        for _ in range(width - 1):
            wider = {keys | 1 << key for keys in level for key in range(width)} - set(level)
            measured = {keys: lifted(keys) for keys in sorted(wider)}
            lifts |= measured
            level = sorted(measured, key=lambda keys: (-measured[keys], keys))[:_KEPT_SETS]
    costs = {
        keys: sum(int(weights[key]) for key in range(width) if keys >> key & 1) for keys in lifts
    }
    return sorted(lifts, key=lambda keys: (costs[keys], -lifts[keys], keys))


def moved_down(
    codes: Int32,
    masks: UInt32,
    floor: UInt32,
    sets: Iterable[int],
    k: int,
    group: Int64 | None,
    kept: int = 0,
) -> bool:
    """Give blanks back: records move to sets of keys with which enough are alike.

    Args:
        codes, group: As in ``stated_counts``.
        masks: The keys that are missing; changed in place.
        floor: The keys of each record that stay missing.
        sets: The sets of keys that are tried, one after the other.
        k: How many should be alike.
        kept: Keys whose blanks are not given back.

    Returns:
        Whether anything was given back.
    """
    changed = False
    for number in sets:
        keys = np.uint32(number)
        movers = (masks & keys == keys) & (masks != keys) & (floor & ~keys == 0)
        if kept:
            movers &= masks & ~keys & np.uint32(kept) == 0
        if not movers.any():
            continue
        rows = np.flatnonzero(movers | (masks & ~keys == 0))
        cells = _cells_of(codes, rows, number, group)
        go = movers[rows] & (np.bincount(cells)[cells] >= k)
        if go.any():
            masks[rows[go]] = keys
            changed = True
    return changed


def single_steps(masks: UInt32, floor: UInt32) -> list[int]:
    """The sets of keys that are one blank less than a record has."""
    pairs = np.unique(np.stack([masks, masks & ~floor], axis=1), axis=0)
    steps = {
        int(mask) & ~(1 << key)
        for mask, free in pairs.tolist()
        for key in range(int(free).bit_length())
        if int(free) >> key & 1
    }
    return sorted(steps, key=lambda keys: (keys.bit_count(), keys))


def shared_blanks(masks: UInt32, given: UInt32, slots: Int32, number: int) -> UInt32:
    """The keys that each record has missing when a blank is one of all who share the value."""
    own = masks | given
    blanked = np.zeros(number, dtype=bool)
    shared = own.copy()
    for key in range(slots.shape[1]):
        bit = np.uint32(1 << key)
        has = (slots[:, key] >= 0) & (own & ~given & bit != 0)
        blanked[slots[has, key]] = True
        held = slots[:, key] >= 0
        shared[held] |= np.where(blanked[slots[held, key]], bit, np.uint32(0))
    return shared


def given_back(
    codes: Int32,
    masks: UInt32,
    given: UInt32,
    slots: Int32,
    members: Int64,
    member_starts: Int64,
    keys: Sequence[int],
    k: int,
    group: Int64,
) -> bool:
    """Give back blanks of values that records share, where all of them stay safe; whether any."""
    changed = False
    for key in keys:
        bit = np.uint32(1 << key)
        asked = (slots[:, key] >= 0) & (masks & ~given & bit != 0)
        if not asked.any():
            continue
        counts = supports(codes, masks, masks & ~bit, asked, group)
        counts += asked
        slot = np.ascontiguousarray(slots[:, key])
        _helped(codes, masks & ~bit, slot, members, member_starts, group, asked, counts)
        short = asked & (counts < k)
        bad = np.zeros(member_starts.size - 1, dtype=bool)
        bad[slots[short, key]] = True
        good = asked & ~bad[np.where(asked, slots[:, key], 0)]
        masks[good] &= ~bit
        changed = changed or bool(good.any())
    return changed


@compiled
def _helped(
    codes: Int32,
    masks: UInt32,
    slot: Int32,
    members: Int64,
    member_starts: Int64,
    group: Int64,
    asked: Bool,
    counts: Int64,
) -> None:
    """Add those who share a value and state all that a record states, besides itself."""
    for record in range(masks.size):
        if not asked[record]:
            continue
        for at in range(member_starts[slot[record]], member_starts[slot[record] + 1]):
            other = members[at]
            if other == record or group[other] != group[record] or masks[other] & ~masks[record]:
                continue
            alike = True
            for key in range(codes.shape[1]):
                stated = not (masks[record] >> np.uint32(key)) & np.uint32(1)
                if stated and codes[record, key] != codes[other, key]:
                    alike = False
                    break
            if alike:
                counts[record] += 1
