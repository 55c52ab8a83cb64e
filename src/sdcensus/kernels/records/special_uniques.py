"""Groups of records that look alike, split by one more variable: the steps of SUDA.

A partition holds groups of records that agree on some variables. Records that state all of them
are its members; those that leave one open and may belong there are lookalikes. Groups of one
record are taken out as they appear: with more variables they stay alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]

#: What a column says where a record states nothing that could be compared.
OPEN = -1


@compiled
def split_sizes(
    records: Integers,
    starts: Int64,
    members: Int64,
    values: Integers,
    is_valid: Mask,
    ends: Mask,
    likenesses: Integers,
    counts: Integers,
    alikes: Integers,
    closed: Integers,
    limit: int,
) -> tuple[int, int, int]:
    """How many records, groups and records alone a split gives.

    Args:
        records: Records group by group, members before lookalikes.
        starts: Where each group begins, and the end of the last.
        members: How many members each group has.
        values: The code of each record, or ``OPEN``.
        is_valid: For each code whether a record that leaves it open may have it.
        ends: For each record whether it leaves everything open that later splits look at.
        likenesses: For each record a number, from 0, that is the same for records which agree on
            this variable and on all that later splits look at: of lookalikes that agree, as many
            as ``limit`` are as good as all.
        counts, alikes, closed: For each code a zero; working room.
        limit: A group with so many lookalikes of which ``ends`` holds is dropped: nobody in it
            will ever be alone.
    """
    kept, groups, alone = 0, 0, 0
    touched = np.empty(counts.size, dtype=np.int64)
    chosen = np.empty(records.size, dtype=np.int32)
    stamps = np.zeros(likenesses.size + 1, dtype=np.int64)
    for group in range(members.size):
        own, end = _chosen(
            records, starts[group], starts[group] + members[group], starts[group + 1], values,
            likenesses, stamps, group, limit, chosen,
        )  # fmt: skip
        seen, wild, wild_closed = _tallied(
            chosen, own, end, values, ends, counts, alikes, closed, touched
        )
        for at in range(seen):
            code = touched[at]
            others = alikes[code] + (wild if is_valid[code] else 0)
            shut = closed[code] + (wild_closed if is_valid[code] else 0)
            if counts[code] == 1 and others == 0:
                alone += 1
            elif counts[code] > 0 and shut < limit:
                kept += counts[code] + others
                groups += 1
            counts[code], alikes[code], closed[code] = 0, 0, 0
    return kept, groups, alone


@compiled
def _chosen(
    records: Integers,
    start: int,
    own: int,
    end: int,
    values: Integers,
    likenesses: Integers,
    stamps: Int64,
    group: int,
    limit: int,
    chosen: Integers,
) -> tuple[int, int]:
    """The members of a group that state the code, then lookalikes without needless ones.

    How many members there are, and how many records in all. A stamp is the group and how many
    lookalikes of a kind it has so far.
    """
    filled = 0
    for at in range(start, own):
        if values[records[at]] >= 0:
            chosen[filled] = records[at]
            filled += 1
    stated = filled
    first = group * (limit + 1)
    for at in range(start, end):
        record = records[at]
        if at < own and values[record] >= 0:
            continue
        likeness = likenesses[record]
        stamp = max(stamps[likeness], first)
        if stamp - first < limit:
            stamps[likeness] = stamp + 1
            chosen[filled] = record
            filled += 1
    return stated, filled


@compiled
def _tallied(
    records: Integers,
    own: int,
    end: int,
    values: Integers,
    ends: Mask,
    counts: Integers,
    alikes: Integers,
    closed: Integers,
    touched: Int64,
) -> tuple[int, int, int]:
    """Count the codes of a group; how many codes there are, and how many records leave it open."""
    seen, wild, wild_closed = 0, 0, 0
    for at in range(end):
        record = records[at]
        code = values[record]
        if code < 0:
            wild += 1
            wild_closed += ends[record]
            continue
        if counts[code] == 0 and alikes[code] == 0:
            touched[seen] = code
            seen += 1
        if at < own:
            counts[code] += 1
        else:
            alikes[code] += 1
            closed[code] += ends[record]
    return seen, wild, wild_closed


@compiled
def split_groups(
    records: Integers,
    starts: Int64,
    members: Int64,
    values: Integers,
    is_valid: Mask,
    ends: Mask,
    likenesses: Integers,
    counts: Integers,
    alikes: Integers,
    closed: Integers,
    limit: int,
    new_records: Integers,
    new_starts: Int64,
    new_members: Int64,
    alone: Integers,
) -> None:
    """Split groups as ``split_sizes`` has counted them; the last four are the result."""
    filled, groups, singles = 0, 0, 0
    touched = np.empty(counts.size, dtype=np.int64)
    own_place = np.full(counts.size, -1, dtype=np.int64)
    alike_place = np.full(counts.size, -1, dtype=np.int64)
    new_starts[0] = 0
    chosen = np.empty(records.size, dtype=np.int32)
    stamps = np.zeros(likenesses.size + 1, dtype=np.int64)
    for group in range(members.size):
        own, end = _chosen(
            records, starts[group], starts[group] + members[group], starts[group + 1], values,
            likenesses, stamps, group, limit, chosen,
        )  # fmt: skip
        seen, wild, wild_closed = _tallied(
            chosen, own, end, values, ends, counts, alikes, closed, touched
        )
        for at in range(seen):
            code = touched[at]
            others = alikes[code] + (wild if is_valid[code] else 0)
            shut = closed[code] + (wild_closed if is_valid[code] else 0)
            if counts[code] == 1 and others == 0:
                own_place[code] = -2 - singles
                singles += 1
            elif counts[code] > 0 and shut < limit:
                own_place[code] = filled
                alike_place[code] = filled + counts[code]
                new_members[groups] = counts[code]
                filled += counts[code] + others
                groups += 1
                new_starts[groups] = filled
        for at in range(end):
            record = chosen[at]
            code = values[record]
            if code >= 0:
                if at < own and own_place[code] <= -2:
                    alone[-2 - own_place[code]] = record
                elif at < own and own_place[code] >= 0:
                    new_records[own_place[code]] = record
                    own_place[code] += 1
                elif at >= own and alike_place[code] >= 0:
                    new_records[alike_place[code]] = record
                    alike_place[code] += 1
        if wild > 0:
            _spread(chosen, end, values, is_valid, touched, seen, alike_place, new_records)
        for at in range(seen):
            code = touched[at]
            counts[code], alikes[code], closed[code] = 0, 0, 0
            own_place[code], alike_place[code] = -1, -1


@compiled
def _spread(
    records: Integers,
    end: int,
    values: Integers,
    is_valid: Mask,
    touched: Int64,
    seen: int,
    alike_place: Int64,
    new_records: Integers,
) -> None:
    """Records that leave a code open are lookalikes in every group where it is a valid one."""
    for at in range(end):
        record = records[at]
        if values[record] >= 0:
            continue
        for place in range(seen):
            code = touched[place]
            if is_valid[code] and alike_place[code] >= 0:
                new_records[alike_place[code]] = record
                alike_place[code] += 1


@compiled
def minimal_ones(
    alone: Integers, mask: int, heads: Integers, nexts: Integers, masks: Int64
) -> Mask:
    """For records that are alone on a set of variables whether they are so on no smaller set.

    Args:
        alone: The records.
        mask: The set, a bit for each variable.
        heads: For each record its last minimal set so far, ``OPEN`` for none.
        nexts: For each minimal set the one of the same record before it.
        masks: The minimal sets.
    """
    minimal = np.ones(alone.size, dtype=np.bool_)
    for at in range(alone.size):
        place = heads[alone[at]]
        while place >= 0:
            if masks[place] & mask == masks[place]:
                minimal[at] = False
                break
            place = nexts[place]
    return minimal
